use furiosa_opt_std::prelude::*;

axes![A = 4096];

type Chip = m![1];
type Both = m![A / 2048];
type Slice = m![A / 8 % 256];
type Element = m![A % 8];
type One = m![1 # 2];
type Wide = m![A / 16];
type Sixteen = m![A % 16];

/// `lhs * rhs`, through HBM from both clusters to one, and loaded with `third`, which no command needs before.
#[device(chip = 1)]
pub fn hop(
    ctx: &mut Context,
    third: &HbmTensor<bf16, Chip, m![A]>,
    lhs: &HbmTensor<bf16, Chip, m![A]>,
    rhs: &HbmTensor<bf16, Chip, m![A]>,
) -> HbmTensor<bf16, Chip, m![A]> {
    let third: DmTensor<bf16, Chip, One, Wide, Sixteen> = third.to_dm(&mut ctx.tdma);
    let third_vrf: VrfTensor<f32, Chip, One, Wide, Sixteen> = ctx
        .sub
        .begin(third.view())
        .fetch::<m![1], Sixteen>()
        .fetch_cast::<f32>()
        .collect::<m![A / 8 % 2], m![A % 8]>()
        .to_vrf();
    let lhs: DmTensor<bf16, Chip, Both, Slice, Element> = lhs.to_dm(&mut ctx.tdma);
    let rhs: DmTensor<bf16, Chip, Both, Slice, Element> = rhs.to_dm(&mut ctx.tdma);
    let rhs_vrf: VrfTensor<f32, Chip, Both, Slice, Element> = ctx
        .sub
        .begin(rhs.view())
        .fetch::<m![1], Element>()
        .fetch_cast::<f32>()
        .collect::<m![1], Element>()
        .to_vrf();
    let product: DmTensor<bf16, Chip, Both, Slice, Element> = ctx
        .main
        .begin(lhs.view())
        .fetch::<m![1], Element>()
        .fetch_cast::<f32>()
        .collect::<m![1], Element>()
        .vector_init()
        .vector_intra_slice_tag(TagMode::Zero)
        .vector_narrow_split::<m![A / 4 % 2], m![A % 4]>()
        .vector_fp_binary(FpBinaryOp::MulF(FpMulAlu::Mul0), &rhs_vrf)
        .vector_widen_concat::<m![1], Element>()
        .vector_final()
        .cast::<bf16, m![A % 8 # 16]>()
        .commit_trim::<Element>()
        .commit();
    let hop: HbmTensor<bf16, Chip, m![A]> = product.to_hbm(&mut ctx.tdma);
    let again: DmTensor<bf16, Chip, One, Wide, Sixteen> = hop.to_dm(&mut ctx.tdma);
    let sum: DmTensor<bf16, Chip, One, Wide, Sixteen> = ctx
        .main
        .begin(again.view())
        .fetch::<m![1], Sixteen>()
        .fetch_cast::<f32>()
        .collect::<m![A / 8 % 2], m![A % 8]>()
        .vector_init()
        .vector_intra_slice_tag(TagMode::Zero)
        .vector_narrow_split::<m![A / 4 % 4], m![A % 4]>()
        .vector_fp_binary(FpBinaryOp::MulF(FpMulAlu::Mul0), &third_vrf)
        .vector_widen_concat::<m![A / 8 % 2], m![A % 8]>()
        .vector_final()
        .cast::<bf16, m![A % 8 # 16]>()
        .commit_trim::<m![A % 8]>()
        .commit();
    sum.to_hbm(&mut ctx.tdma)
}
