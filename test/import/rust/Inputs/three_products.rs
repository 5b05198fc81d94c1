// A multiplication on the fused unit beside one on the first multiplier: three multiplications fit one pass
// (Mul0, Fma, Mul1), as the vendor's FpMulAlu has three. Expected: verifies and runs; out = v * 2 * 3 * 5.
use furiosa_opt_std::prelude::*;
axes![V = 1024];
#[device(chip = 1)]
pub fn thrice(ctx: &mut Context, v: &HbmTensor<f32, m![1], m![V]>) -> HbmTensor<f32, m![1], m![V]> {
    let d: DmTensor<f32, m![1], m![1 # 2], m![V / 4], m![V % 4 # 8]> = v.to_dm(&mut ctx.tdma);
    let r: DmTensor<f32, m![1], m![1 # 2], m![V / 4], m![V % 4]> = ctx
        .main
        .begin(d.view())
        .fetch::<m![1], m![V % 4 # 8]>()
        .collect::<m![1], m![V % 4 # 8]>()
        .vector_init()
        .vector_intra_slice_tag(TagMode::Zero)
        .vector_narrow_trim::<m![V % 4]>()
        .vector_fp_binary(FpBinaryOp::MulF(FpMulAlu::Fma), 2f32)
        .vector_fp_binary(FpBinaryOp::MulF(FpMulAlu::Mul0), 3f32)
        .vector_fp_binary(FpBinaryOp::MulF(FpMulAlu::Mul1), 5f32)
        .vector_widen_pad::<m![V % 4 # 8]>()
        .vector_final()
        .commit_trim::<m![V % 4]>()
        .commit();
    r.to_hbm(&mut ctx.tdma)
}
