//! An address that no transfer can write to.
use furiosa_visa_std::prelude::*;

axes![I = 256, J = 64];

#[device(chip = 1)]
fn odd(ctx: &mut Context, x: &HbmTensor<i32, m![1], m![I, J]>) -> HbmTensor<i32, m![1], m![I, J]> {
    let x = x.to_dm::<m![1 # 2], m![I], m![J]>(&mut ctx.tdma, 4);
    x.to_hbm(&mut ctx.tdma, 0)
}
