//! Numbers of engines that are constants.
use furiosa_opt_std::prelude::*;

axes![A = 512];

type Chip = m![1];
type Row<D> = DmTensor<D, Chip, m![1 # 2], m![A / 4 # 256], m![A % 4]>;
type Out<D> = HbmTensor<D, Chip, m![A]>;

#[device(chip = 1)]
pub fn in_block(ctx: &mut Context, input: &Out<bf16>) -> Out<bf16> {
    let mut x: Row<bf16> = input.to_dm(&mut ctx.tdma);
    x.view_mut().memset(const { bf16::from_f32(1.0) }, &mut ctx.sub);
    x.to_hbm(&mut ctx.tdma)
}

const ONE: f32 = <m![A]>::SIZE as f32;

#[device(chip = 1)]
pub fn named(ctx: &mut Context, input: &Out<bf16>) -> Out<bf16> {
    let mut x: Row<bf16> = input.to_dm(&mut ctx.tdma);
    x.view_mut().memset(ONE, &mut ctx.sub);
    x.to_hbm(&mut ctx.tdma)
}

#[device(chip = 1)]
pub fn shadowed(ctx: &mut Context, input: &Out<bf16>) -> Out<bf16> {
    let mut x: Row<bf16> = input.to_dm(&mut ctx.tdma);
    let one = <m![A]>::SIZE as f32;
    let one = 2.0;
    x.view_mut().memset(one, &mut ctx.sub);
    x.to_hbm(&mut ctx.tdma)
}

#[device(chip = 1)]
pub fn size(ctx: &mut Context, input: &Out<i32>) -> Out<i32> {
    let mut x: Row<i32> = input.to_dm(&mut ctx.tdma);
    for i in 0..2 {
        x = ctx
            .main
            .begin(x.view())
            .fetch::<m![1], m![A % 4]>()
            .collect::<m![1], m![A % 4 # 8]>()
            .vector_init()
            .vector_intra_slice_tag(TagMode::Zero)
            .vector_fxp(FxpBinaryOp::AddFxp, <m![A]>::SIZE as i32 - 2)
            .vector_final()
            .commit_trim::<m![A % 4]>()
            .commit();
    }
    x.to_hbm(&mut ctx.tdma)
}
