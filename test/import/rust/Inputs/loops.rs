//! Loops: over tiles, written out where a number is needed, and tensors that are changed and stay.
use furiosa_opt_std::prelude::*;

axes![A = 512, B = 32];

type Chip = m![1];

/// A row of each column at a time: a loop over an index.
#[device(chip = 1)]
pub fn turned(ctx: &mut Context, input: &HbmTensor<i8, Chip, m![A, B]>) -> HbmTensor<i8, Chip, m![B, A]> {
    let mut output = HbmTensor::<i8, Chip, m![B, A]>::new();
    for b in 0..<m![B]>::SIZE {
        let from = input.view().tile::<m![B], 1, m![A, 1 # 32]>(b);
        let to = output.view_mut().tile::<m![B], 1, m![1 #{!} 32, A]>(b);
        from.to_hbm_view(&mut ctx.tdma, to);
    }
    output
}

/// A loop whose index is needed: it is written out, and so is one over numbers.
#[device(chip = 1)]
pub fn steps(ctx: &mut Context, input: &HbmTensor<i32, Chip, m![A]>) -> HbmTensor<i32, Chip, m![A]> {
    let mut x: DmTensor<i32, Chip, m![1 # 2], m![A / 2], m![A % 2]> = input.to_dm(&mut ctx.tdma);
    for step in 0..3 {
        if step != 1 {
            x = plus(ctx, &x, 20);
        }
    }
    for amount in [1, 260] {
        x = plus(ctx, &x, amount);
    }
    x.to_hbm(&mut ctx.tdma)
}

fn plus(
    ctx: &mut Context,
    x: &DmTensor<i32, Chip, m![1 # 2], m![A / 2], m![A % 2]>,
    amount: i32,
) -> DmTensor<i32, Chip, m![1 # 2], m![A / 2], m![A % 2]> {
    ctx.main
        .begin(x.view())
        .fetch::<m![1], m![A % 2]>()
        .collect::<m![1], m![A % 2 # 8]>()
        .vector_init()
        .vector_intra_slice_tag(TagMode::Zero)
        .vector_fxp(FxpBinaryOp::AddFxp, amount)
        .vector_final()
        .commit_trim::<m![A % 2]>()
        .commit()
}

/// An argument that is changed.
#[device(chip = 1)]
pub fn copied(ctx: &mut Context, from: &HbmTensor<i32, Chip, m![A]>, to: &mut HbmTensor<i32, Chip, m![A]>) {
    let x: DmTensor<i32, Chip, m![1 # 2], m![A / 2], m![A % 2]> = from.to_dm(&mut ctx.tdma);
    x.view().to_hbm_view(&mut ctx.tdma, to.view_mut());
}
