// Types that are their own parts: in an alias, through another one, and in the default of a parameter.
use furiosa_opt_std::prelude::*;

axes![A = 512];

type Itself<D> = Itself<D>;
type There = Back<i32>;
type Back<D> = (D, There);
struct Default<T, U = Default<T>>(T, U);

type In = HbmTensor<i32, m![1], m![A]>;

#[device(chip = 1)]
pub fn itself(ctx: &mut Context, input: &In) -> In {
    let x: Itself<i32> = input.to_dm(&mut ctx.tdma);
    x.to_hbm(&mut ctx.tdma)
}

#[device(chip = 1)]
pub fn there(ctx: &mut Context, input: &In) -> In {
    let x: There = input.to_dm(&mut ctx.tdma);
    x.to_hbm(&mut ctx.tdma)
}

#[device(chip = 1)]
pub fn default(ctx: &mut Context, input: &In) -> In {
    let x: Default<i32> = input.to_dm(&mut ctx.tdma);
    x.to_hbm(&mut ctx.tdma)
}
