//! Conditions on the index of a loop.
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

/// Every row is that before it; the first one comes from elsewhere.
#[device(chip = 1)]
pub fn shifted(
    ctx: &mut Context,
    x: &HbmTensor<i32, Chip, m![M, N]>,
    first: &HbmTensor<i32, Chip, m![N]>,
) -> HbmTensor<i32, Chip, m![M, N]> {
    let mut out = HbmTensor::<i32, Chip, m![M, N]>::new();
    for i in 0..<m![M]>::SIZE {
        let to = out.view_mut().tile::<m![M], 1, m![1 #{!} 8, N]>(i);
        if i == 0 {
            first.view().to_hbm_view(&mut ctx.tdma, to);
        } else {
            let before = x.view().tile::<m![M], 1, m![1 # 8, N]>(i - 1);
            before.to_hbm_view(&mut ctx.tdma, to);
        }
    }
    out
}

/// One row is left out: what is not it are two ranges.
#[device(chip = 1)]
pub fn all_but_one(
    ctx: &mut Context,
    x: &HbmTensor<i32, Chip, m![M, N]>,
    y: &mut HbmTensor<i32, Chip, m![M, N]>,
) {
    for i in 0..8 {
        let is_third = i == 3;
        if !is_third {
            let from = x.view().tile::<m![M], 1, m![1 # 8, N]>(i);
            from.to_hbm_view(&mut ctx.tdma, y.view_mut().tile::<m![M], 1, m![1 #{!} 8, N]>(i));
        }
    }
}

/// Blocks under the diagonal of two indices, in some of the rows.
#[device(chip = 1)]
pub fn under(ctx: &mut Context, x: &HbmTensor<i32, Chip, m![M, N]>, y: &mut HbmTensor<i32, Chip, m![M, N]>) {
    for i in 0..8 {
        for j in 0..8 {
            if 2 * i < 14 && i > j && i >= 2 {
                let from =
                    x.view().tile::<m![M], 1, m![1 # 8, N]>(i).tile::<m![N / 2], 1, m![1 # 8, N % 2]>(j);
                let to = y.view_mut().tile::<m![M], 1, m![1 #{!} 8, N]>(i);
                from.to_hbm_view(&mut ctx.tdma, to.tile::<m![N / 2], 1, m![1 #{!} 8, N % 2]>(j));
            }
        }
    }
}

/// Each arm writes a tensor of its own.
#[device(chip = 1)]
pub fn two_outputs(
    ctx: &mut Context,
    input: &HbmTensor<i32, Chip, m![W]>,
) -> (HbmTensor<i32, Chip, m![W]>, HbmTensor<i32, Chip, m![W]>) {
    let x: Row = input.to_dm(&mut ctx.tdma);
    let mut one = HbmTensor::<i32, Chip, m![W]>::new();
    let mut two = HbmTensor::<i32, Chip, m![W]>::new();
    for i in 0..2 {
        if i == 0 {
            plus(ctx, &x, 1).view().to_hbm_view(&mut ctx.tdma, one.view_mut());
        } else {
            plus(ctx, &x, 2).view().to_hbm_view(&mut ctx.tdma, two.view_mut());
        }
    }
    (one, two)
}

/// Both arms give a tensor.
#[device(chip = 1)]
pub fn value(
    ctx: &mut Context,
    input: &HbmTensor<i32, Chip, m![W]>,
    out: &mut HbmTensor<i32, Chip, m![M, W]>,
) {
    let x: Row = input.to_dm(&mut ctx.tdma);
    for i in 0..8 {
        let y = if i < 2 { plus(ctx, &x, 10) } else { plus(ctx, &x, 20) };
        y.view().to_hbm_view(&mut ctx.tdma, out.view_mut().tile::<m![M], 1, m![1 #{!} 8, W]>(i));
    }
}

/// Both arms give a number: the last row comes first, then every other one in order.
#[device(chip = 1)]
pub fn turned(ctx: &mut Context, x: &HbmTensor<i32, Chip, m![M, N]>) -> HbmTensor<i32, Chip, m![M, N]> {
    let mut out = HbmTensor::<i32, Chip, m![M, N]>::new();
    for i in 0..8 {
        let at = if i == 0 {
            7
        } else if i == 1 || i == 2 {
            2 - i
        } else {
            i - 1
        };
        let from = x.view().tile::<m![M], 1, m![1 # 8, N]>(at);
        from.to_hbm_view(&mut ctx.tdma, out.view_mut().tile::<m![M], 1, m![1 #{!} 8, N]>(i));
    }
    out
}

/// What is true in all iterations is no branch, and what never is, is not looked at.
#[device(chip = 1)]
pub fn always(ctx: &mut Context, x: &HbmTensor<i32, Chip, m![M, N]>) -> HbmTensor<i32, Chip, m![M, N]> {
    let mut out = HbmTensor::<i32, Chip, m![M, N]>::new();
    for i in 0..8 {
        if i < 8 && !(i + 1 == 9) {
            let from = x.view().tile::<m![M], 1, m![1 # 8, N]>(i);
            from.to_hbm_view(&mut ctx.tdma, out.view_mut().tile::<m![M], 1, m![1 #{!} 8, N]>(i));
        } else {
            panic!("never")
        }
    }
    out
}
