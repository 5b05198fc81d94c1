//! A module of `places.rs`.
use super::*;

pub fn never_written(ctx: &mut Context) -> HbmTensor<i32, Chip, m![A]> {
    let y = Row::new();
    y.to_hbm(&mut ctx.tdma)
}
