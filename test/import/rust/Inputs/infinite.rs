// f32::INFINITY as the immediate operand of a logic or clip operation (a mask of the exponent bits; "no bound").
// Expected: imports and runs; out = 2^floor(log2 v) for positive v.
use furiosa_opt_std::prelude::*;
axes![V = 2048];
#[device(chip = 1)]
pub fn exponent(ctx: &mut Context, v: &HbmTensor<f32, m![1], m![V]>) -> HbmTensor<f32, m![1], m![V]> {
    let d: DmTensor<f32, m![1], m![1 # 2], m![V / 8], m![V % 8]> = v.to_dm(&mut ctx.tdma);
    let r: DmTensor<f32, m![1], m![1 # 2], m![V / 8], m![V % 8]> = ctx
        .main
        .begin(d.view())
        .fetch::<m![1], m![V % 8]>()
        .collect::<m![1], m![V % 8]>()
        .vector_init()
        .vector_intra_slice_tag(TagMode::Zero)
        .vector_logic(LogicBinaryOpF32::BitAnd, f32::INFINITY)
        .vector_final()
        .commit_trim::<m![V % 8]>()
        .commit();
    r.to_hbm(&mut ctx.tdma)
}
