//! Axes by `Ident`.
use furiosa_opt_std::prelude::*;

axes![A = 8, B = 2, V = 2048, G = 2];

type X = HbmTensor<i32, m![1], m![V]>;
type D = DmTensor<i32, m![1], m![1 # 2], m![V / 8], m![V % 8]>;

/// Two tensors in one stream, and their sum.
#[device(chip = 1)]
pub fn pairs(ctx: &mut Context, x: &X, y: &X) -> X {
    let x: D = x.to_dm(&mut ctx.tdma);
    let y: D = y.to_dm(&mut ctx.tdma);
    let z: D = ctx
        .main
        .begin_interleaved::<G, _, _, _, _, _>(x.view(), y.view())
        .fetch::<m![G], m![V % 8]>()
        .collect::<m![G], m![V % 8]>()
        .vector_init()
        .vector_intra_slice_unzip::<{ Ident::G }, m![1 # 2], m![1]>()
        .vector_fxp_zip(FxpBinaryOp::AddFxp)
        .vector_final()
        .commit();
    z.to_hbm(&mut ctx.tdma)
}

fn toggled(
    ctx: &mut Context,
    x: &HbmTensor<i32, m![1], m![B, A]>,
    mode: TagMode,
) -> HbmTensor<i32, m![1], m![B, A]> {
    let x: DmTensor<i32, m![1], m![1 # 2], m![1 # 256], m![B, A]> = x.to_dm(&mut ctx.tdma);
    let y: DmTensor<i32, m![1], m![1 # 2], m![1 # 256], m![B, A]> = ctx
        .main
        .begin(x.view())
        .fetch::<m![B], m![A]>()
        .collect::<m![B], m![A]>()
        .vector_init()
        .vector_intra_slice_tag(mode)
        .vector_fxp(FxpBinaryOp::AddFxp, 100)
        .vector_final()
        .commit();
    y.to_hbm(&mut ctx.tdma)
}

#[device(chip = 1)]
pub fn by_ident(ctx: &mut Context, x: &HbmTensor<i32, m![1], m![B, A]>) -> HbmTensor<i32, m![1], m![B, A]> {
    toggled(ctx, x, TagMode::AxisToggle { axis: Ident::B })
}

#[device(chip = 1)]
pub fn of_none(ctx: &mut Context, x: &HbmTensor<i32, m![1], m![B, A]>) -> HbmTensor<i32, m![1], m![B, A]> {
    toggled(ctx, x, TagMode::AxisToggle { axis: Ident::Q })
}
