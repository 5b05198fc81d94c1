//! Conditions on the index of a loop that no branch can say: the loop is written out.
use furiosa_opt_std::prelude::*;

axes![W = 1024, M = 8, N = 16];

type Chip = m![1];
type Row = DmTensor<i32, Chip, m![1 # 2], m![W / 4], m![W % 4]>;

fn plus(ctx: &mut Context, x: &Row, amount: i32) -> Row {
    ctx.main
        .begin(x.view())
        .fetch::<m![1], m![W % 4]>()
        .collect::<m![1], m![W % 4 # 8]>()
        .vector_init()
        .vector_intra_slice_tag(TagMode::Zero)
        .vector_fxp(FxpBinaryOp::AddFxp, amount)
        .vector_final()
        .commit_trim::<m![W % 4]>()
        .commit()
}

/// A remainder is no range.
#[device(chip = 1)]
pub fn remainder(ctx: &mut Context, input: &HbmTensor<i32, Chip, m![W]>) -> HbmTensor<i32, Chip, m![W]> {
    let mut x: Row = input.to_dm(&mut ctx.tdma);
    for i in 0..4 {
        if i % 2 == 0 {
            x = plus(ctx, &x, 1);
        }
    }
    x.to_hbm(&mut ctx.tdma)
}

/// A variable of the host takes another tensor.
#[device(chip = 1)]
pub fn assigned(ctx: &mut Context, input: &HbmTensor<i32, Chip, m![W]>) -> HbmTensor<i32, Chip, m![W]> {
    let mut x: Row = input.to_dm(&mut ctx.tdma);
    for i in 0..4 {
        if i == 3 {
            x = plus(ctx, &x, 1);
        }
    }
    x.to_hbm(&mut ctx.tdma)
}

/// One arm gives a tensor that was there before.
#[device(chip = 1)]
pub fn there_before(
    ctx: &mut Context,
    input: &HbmTensor<i32, Chip, m![W]>,
    out: &mut HbmTensor<i32, Chip, m![M, W]>,
) {
    let x: Row = input.to_dm(&mut ctx.tdma);
    let y = plus(ctx, &x, 5);
    for i in 0..2 {
        let z = if i == 0 { &x } else { &y };
        z.view().to_hbm_view(&mut ctx.tdma, out.view_mut().tile::<m![M], 1, m![1 #{!} 8, W]>(i));
    }
}

/// What the vector engine adds is part of its command: a constant, which the index is not.
#[device(chip = 1)]
pub fn immediate(
    ctx: &mut Context,
    input: &HbmTensor<i32, Chip, m![W]>,
    out: &mut HbmTensor<i32, Chip, m![M, W]>,
) {
    let x: Row = input.to_dm(&mut ctx.tdma);
    for i in 0..2 {
        let amount = if i == 1 { 1 } else { 2 };
        plus(ctx, &x, amount)
            .view()
            .to_hbm_view(&mut ctx.tdma, out.view_mut().tile::<m![M], 1, m![1 #{!} 8, W]>(i));
    }
}

/// The loop ends before its range does.
#[device(chip = 1)]
pub fn ends(
    ctx: &mut Context,
    input: &HbmTensor<i32, Chip, m![M, N]>,
    out: &mut HbmTensor<i32, Chip, m![M, N]>,
) {
    for i in 0..8 {
        if i == 2 {
            break;
        }
        let from = input.view().tile::<m![M], 1, m![1 # 8, N]>(i);
        from.to_hbm_view(&mut ctx.tdma, out.view_mut().tile::<m![M], 1, m![1 #{!} 8, N]>(i));
    }
}

/// The kernel stops in an iteration that there is.
#[device(chip = 1)]
pub fn stops(ctx: &mut Context, input: &HbmTensor<i32, Chip, m![W]>) -> HbmTensor<i32, Chip, m![W]> {
    for i in 0..4 {
        if i == 3 {
            panic!("at the end");
        }
    }
    input.to_hbm(&mut ctx.tdma)
}

/// Too many iterations to write out.
#[device(chip = 1)]
pub fn too_many(ctx: &mut Context, input: &HbmTensor<i32, Chip, m![W]>) -> HbmTensor<i32, Chip, m![W]> {
    let mut x: Row = input.to_dm(&mut ctx.tdma);
    for i in 0..5000 {
        if i % 2 == 0 {
            x = plus(ctx, &x, 1);
        }
    }
    x.to_hbm(&mut ctx.tdma)
}
