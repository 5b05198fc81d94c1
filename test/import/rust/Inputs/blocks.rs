use furiosa_opt_std::prelude::*;

axes![A = 64];

type Chip = m![1];
type Cluster = m![1 # 2];
type Slice = m![1 # 256];

#[device(chip = 1)]
pub fn scaled(
    ctx: &mut Context,
    x: &HbmTensor<f32, Chip, m![A]>,
    s: &HbmTensor<f32, Chip, m![A / 16]>,
) -> HbmTensor<f32, Chip, m![A]> {
    let x = x.to_dm::<Cluster, Slice, m![A]>(&mut ctx.tdma);
    let s: DmTensor<f32, Chip, Cluster, Slice, m![A / 16 # 8]> = s.to_dm(&mut ctx.tdma);
    let s: VrfTensor<f32, Chip, Cluster, Slice, m![A / 16 # 8]> =
        ctx.sub.begin(s.view()).fetch::<m![1], m![A / 16 # 8]>().collect::<m![1], m![A / 16 # 8]>().to_vrf();
    let y: DmTensor<f32, Chip, Cluster, Slice, m![A]> = ctx
        .main
        .begin(x.view())
        .fetch::<m![A / 8], m![A % 8]>()
        .collect::<m![A / 8], m![A % 8]>()
        .vector_init()
        .vector_intra_slice_tag(TagMode::Zero)
        .vector_narrow_split::<m![A / 4], m![A % 4]>()
        .vector_fp_binary(FpBinaryOp::MulF(FpMulAlu::Mul0), &s)
        .vector_widen_concat::<m![A / 8], m![A % 8]>()
        .vector_final()
        .commit_trim::<m![A % 8]>()
        .commit();
    y.to_hbm(&mut ctx.tdma)
}

pub async fn twice(
    ctx: &mut Context,
    x: &HbmTensor<f32, Chip, m![A]>,
    s: &HbmTensor<f32, Chip, m![A / 16]>,
) -> HbmTensor<f32, Chip, m![A]> {
    let y = launch(scaled, (&mut *ctx, x, s)).await;
    launch(scaled, (&mut *ctx, &y, s)).await
}
