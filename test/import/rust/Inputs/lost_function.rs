//! A function and an axis that a `use` does not bring in.
use furiosa_opt_std::prelude::*;

mod shapes {
    use crate::gone::*;

    pub fn half(x: usize) -> usize {
        halved(x)
    }
}
use crate::nothing::here;

axes![K = 2048];

type X = HbmTensor<i8, m![1], m![K]>;
type D = DmTensor<i8, m![1], m![1 # 2], m![K / 8], m![K % 8]>;

#[device(chip = 1)]
pub fn called(ctx: &mut Context, x: &X) -> X {
    here(3);
    let d: D = x.to_dm(&mut ctx.tdma);
    d.to_hbm(&mut ctx.tdma)
}

#[device(chip = 1)]
pub fn by_all(ctx: &mut Context, x: &X) -> X {
    shapes::half(3);
    let d: D = x.to_dm(&mut ctx.tdma);
    d.to_hbm(&mut ctx.tdma)
}

#[device(chip = 1)]
pub fn nowhere(ctx: &mut Context, x: &X) -> X {
    unheard(3);
    let d: D = x.to_dm(&mut ctx.tdma);
    d.to_hbm(&mut ctx.tdma)
}
