//! Variables that change from one iteration to the next, and what must hold.
use furiosa_opt_std::prelude::*;

axes![A = 512, B = 32];

/// The place is counted on: written out.
#[device(chip = 1)]
pub fn counted_on(
    ctx: &mut Context,
    input: &HbmTensor<i8, m![1], m![B, A]>,
) -> HbmTensor<i8, m![1], m![B, A]> {
    let mut output = HbmTensor::<i8, m![1], m![B, A]>::new();
    let mut at = 0;
    for _ in 0..2 {
        let from = input.view().tile::<m![B], 16, m![B = 16 # 32, A]>(at);
        let to = output.view_mut().tile::<m![B], 16, m![B = 16 #{!} 32, A]>(at);
        from.to_hbm_view(&mut ctx.tdma, to);
        at += 16;
    }
    assert_eq!(at, <m![B]>::SIZE);
    output
}

/// A tensor takes the place of another one, three times.
#[device(chip = 1)]
pub fn again(ctx: &mut Context, input: &HbmTensor<f32, m![1], m![A]>) -> HbmTensor<f32, m![1], m![A]> {
    let mut x: DmTensor<f32, m![1], m![1 # 2], m![A / 2], m![A % 2]> = input.to_dm(&mut ctx.tdma);
    for _ in 0..3 {
        x = scaled(ctx, &x, 1.0 / 3.0);
    }
    x.to_hbm(&mut ctx.tdma)
}

fn scaled(
    ctx: &mut Context,
    x: &DmTensor<f32, m![1], m![1 # 2], m![A / 2], m![A % 2]>,
    by: f32,
) -> DmTensor<f32, m![1], m![1 # 2], m![A / 2], m![A % 2]> {
    ctx.main
        .begin(x.view())
        .fetch::<m![1], m![A % 2]>()
        .collect::<m![1], m![A % 2 # 8]>()
        .vector_init()
        .vector_intra_slice_tag(TagMode::Zero)
        .vector_narrow_trim::<m![A % 2 # 4]>()
        .vector_fp_binary(FpBinaryOp::MulF(FpMulAlu::Mul0), by)
        .vector_widen_pad::<m![A % 2 # 8]>()
        .vector_final()
        .commit_trim::<m![A % 2]>()
        .commit()
}

/// An integer that does not fit what it is cast to.
#[device(chip = 1)]
pub fn cast(ctx: &mut Context, input: &HbmTensor<i8, m![1], m![A]>) -> HbmTensor<i8, m![1], m![A]> {
    const { assert!(300usize as u8 == 44, "as the language has it") };
    assert_ne!(-1.5f32 as i8, 0);
    input.to_hbm(&mut ctx.tdma)
}
