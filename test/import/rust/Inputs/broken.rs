use furiosa_opt_std::prelude::*;

axes![A = 512];

#[device(chip = 1)]
pub fn no_type(ctx: &mut Context, input: &HbmTensor<i32, m![1], m![A]>) -> HbmTensor<i32, m![1], m![A]> {
    let x = input.to_dm(&mut ctx.tdma);
    x.to_hbm(&mut ctx.tdma)
}

#[device(chip = 1)]
pub fn no_such_method(
    ctx: &mut Context,
    input: &HbmTensor<i32, m![1], m![A]>,
) -> HbmTensor<i32, m![1], m![A]> {
    input.sort(&mut ctx.tdma)
}

#[device(chip = 1)]
pub fn endless(ctx: &mut Context, input: &HbmTensor<i32, m![1], m![A]>) -> HbmTensor<i32, m![1], m![A]> {
    loop {}
}

fn again(n: usize) -> usize {
    again(n + 1)
}

#[device(chip = 1)]
pub fn deep(ctx: &mut Context, input: &HbmTensor<i32, m![1], m![A]>) -> HbmTensor<i32, m![1], m![A]> {
    let n = again(0);
    input.to_hbm(&mut ctx.tdma)
}

#[device(chip = 1)]
pub fn generic<S: M>(ctx: &mut Context, input: &HbmTensor<i32, m![1], S>) -> HbmTensor<i32, m![1], S> {
    input.to_hbm(&mut ctx.tdma)
}

#[device(chip = 1)]
pub fn no_axis(ctx: &mut Context, input: &HbmTensor<i32, m![1], m![Q]>) -> HbmTensor<i32, m![1], m![Q]> {
    input.to_hbm(&mut ctx.tdma)
}

macro_rules! forever {
    ($n:expr) => {
        forever!($n)
    };
}

#[device(chip = 1)]
pub fn expands(ctx: &mut Context, input: &HbmTensor<i32, m![1], m![A]>) -> HbmTensor<i32, m![1], m![A]> {
    forever!(1);
    input.to_hbm(&mut ctx.tdma)
}

#[device(chip = 1)]
pub fn sums_bits(ctx: &mut Context, input: &HbmTensor<i32, m![1], m![A]>) -> HbmTensor<i32, m![1], m![A]> {
    let n: usize = 1 / 0;
    input.to_hbm(&mut ctx.tdma)
}
