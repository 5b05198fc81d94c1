//! Numbers of engines that the kernel computes while it runs: none is a constant.
use furiosa_opt_std::prelude::*;

axes![A = 512];

type Chip = m![1];
type Row<D> = DmTensor<D, Chip, m![1 # 2], m![A / 2], m![A % 2]>;
type Out<D> = HbmTensor<D, Chip, m![A]>;

#[device(chip = 1)]
pub fn call(ctx: &mut Context, input: &Out<bf16>) -> Out<bf16> {
    let mut x: Row<bf16> = input.to_dm(&mut ctx.tdma);
    x.view_mut().memset(bf16::from_f32(1.0), &mut ctx.sub);
    x.to_hbm(&mut ctx.tdma)
}

#[device(chip = 1)]
pub fn cast(ctx: &mut Context, input: &Out<bf16>) -> Out<bf16> {
    let mut x: Row<bf16> = input.to_dm(&mut ctx.tdma);
    x.view_mut().memset(<m![A]>::SIZE as f32, &mut ctx.sub);
    x.to_hbm(&mut ctx.tdma)
}

#[device(chip = 1)]
pub fn in_sum(ctx: &mut Context, input: &Out<bf16>) -> Out<bf16> {
    let mut x: Row<bf16> = input.to_dm(&mut ctx.tdma);
    x.view_mut().memset(1.0 + (2 as f32), &mut ctx.sub);
    x.to_hbm(&mut ctx.tdma)
}

#[device(chip = 1)]
pub fn variable(ctx: &mut Context, input: &Out<bf16>) -> Out<bf16> {
    let mut x: Row<bf16> = input.to_dm(&mut ctx.tdma);
    let one = bf16::from_f32(1.0);
    x.view_mut().memset(one, &mut ctx.sub);
    x.to_hbm(&mut ctx.tdma)
}

fn filled(ctx: &mut Context, x: &mut Row<bf16>, value: bf16) {
    x.view_mut().memset(value, &mut ctx.sub);
}

#[device(chip = 1)]
pub fn argument(ctx: &mut Context, input: &Out<bf16>) -> Out<bf16> {
    let mut x: Row<bf16> = input.to_dm(&mut ctx.tdma);
    filled(ctx, &mut x, bf16::from_f32(1.0));
    x.to_hbm(&mut ctx.tdma)
}

#[device(chip = 1)]
pub fn index(ctx: &mut Context, input: &Out<i32>) -> Out<i32> {
    let mut x: Row<i32> = input.to_dm(&mut ctx.tdma);
    for i in 0..2 {
        x = ctx
            .main
            .begin(x.view())
            .fetch::<m![1], m![A % 2]>()
            .collect::<m![1], m![A % 2 # 8]>()
            .vector_init()
            .vector_intra_slice_tag(TagMode::Zero)
            .vector_fxp(FxpBinaryOp::AddFxp, i)
            .vector_final()
            .commit_trim::<m![A % 2]>()
            .commit();
    }
    x.to_hbm(&mut ctx.tdma)
}

#[device(chip = 1)]
pub fn chosen(ctx: &mut Context, input: &Out<i32>) -> Out<i32> {
    let mut x: Row<i32> = input.to_dm(&mut ctx.tdma);
    for i in 0..2 {
        let c: i32 = if i == 1 { 1 } else { 2 };
        x = ctx
            .main
            .begin(x.view())
            .fetch::<m![1], m![A % 2]>()
            .collect::<m![1], m![A % 2 # 8]>()
            .vector_init()
            .vector_intra_slice_tag(TagMode::Zero)
            .vector_fxp(FxpBinaryOp::AddFxp, c)
            .vector_final()
            .commit_trim::<m![A % 2]>()
            .commit();
    }
    x.to_hbm(&mut ctx.tdma)
}

#[device(chip = 1)]
pub fn element(ctx: &mut Context, input: &Out<i32>) -> Out<i32> {
    let mut x: Row<i32> = input.to_dm(&mut ctx.tdma);
    for i in 0..2 {
        let all = [1, 2];
        x = ctx
            .main
            .begin(x.view())
            .fetch::<m![1], m![A % 2]>()
            .collect::<m![1], m![A % 2 # 8]>()
            .vector_init()
            .vector_intra_slice_tag(TagMode::Zero)
            .vector_fxp(FxpBinaryOp::AddFxp, all[i])
            .vector_final()
            .commit_trim::<m![A % 2]>()
            .commit();
    }
    x.to_hbm(&mut ctx.tdma)
}

#[device(chip = 1)]
pub fn assigned(ctx: &mut Context, input: &Out<i32>) -> Out<i32> {
    let mut x: Row<i32> = input.to_dm(&mut ctx.tdma);
    for i in 0..2 {
        let mut c = 0;
        c += i;
        x = ctx
            .main
            .begin(x.view())
            .fetch::<m![1], m![A % 2]>()
            .collect::<m![1], m![A % 2 # 8]>()
            .vector_init()
            .vector_intra_slice_tag(TagMode::Zero)
            .vector_fxp(FxpBinaryOp::AddFxp, c)
            .vector_final()
            .commit_trim::<m![A % 2]>()
            .commit();
    }
    x.to_hbm(&mut ctx.tdma)
}

#[device(chip = 1)]
pub fn in_branches(ctx: &mut Context, input: &Out<i32>) -> Out<i32> {
    let mut x: Row<i32> = input.to_dm(&mut ctx.tdma);
    for i in 0..2 {
        x = ctx
            .main
            .begin(x.view())
            .fetch::<m![1], m![A % 2]>()
            .collect::<m![1], m![A % 2 # 8]>()
            .vector_init()
            .vector_intra_slice_tag(TagMode::Zero)
            .vector_fxp(FxpBinaryOp::AddFxp, Branched::imm(TagGuard::all(), i))
            .vector_final()
            .commit_trim::<m![A % 2]>()
            .commit();
    }
    x.to_hbm(&mut ctx.tdma)
}
