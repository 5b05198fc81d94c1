//! What is wrong with these kernels is found after they are imported.
use furiosa_opt_std::prelude::*;

axes![A = 512, B = 32, D = 4, R = 2, Q = 8, E = 49152];

type Chip = m![1];
type Row = DmTensor<i32, Chip, m![1 # 2], m![A / 2], m![A % 2]>;
type Large = HbmTensor<i32, Chip, m![A, E]>;

mod helpers;

/// The transfer writes runs of one byte.
#[device(chip = 1)]
pub fn verify(ctx: &mut Context, x: &HbmTensor<i8, Chip, m![A, D]>) -> HbmTensor<i8, Chip, m![A, D]> {
    let y = x.to_dm::<m![1 # 2], m![A / 2], m![D, A % 2]>(&mut ctx.tdma);
    y.to_hbm(&mut ctx.tdma)
}

/// What is read before it is written, in another file.
#[device(chip = 1)]
pub fn shadow(ctx: &mut Context, x: &HbmTensor<i32, Chip, m![A]>) -> HbmTensor<i32, Chip, m![A]> {
    helpers::never_written(ctx)
}

/// More than data memory has, of two tensors together.
#[device(chip = 1)]
pub fn allocate(ctx: &mut Context, x: &HbmTensor<i32, Chip, m![A, E]>) -> (Large, Large) {
    let first = x.to_dm::<m![1 # 2], m![A / 2], m![A % 2, E]>(&mut ctx.tdma);
    let second = /* äöü */ x.to_dm::<m![1 # 2], m![A / 2], m![A % 2, E]>(&mut ctx.tdma);
    (first.to_hbm(&mut ctx.tdma), second.to_hbm(&mut ctx.tdma))
}

/// Both write the same.
#[device(chip = 1)]
pub fn twice(ctx: &mut Context, x: &HbmTensor<i32, Chip, m![A]>, out: &mut HbmTensor<i32, Chip, m![B, A]>) {
    let y: Row = x.to_dm(&mut ctx.tdma);
    y.view().to_hbm_view(&mut ctx.tdma, out.view_mut().tile::<m![B], 1, m![1 #{!} 32, A]>(3));
    y.view().to_hbm_view(&mut ctx.tdma, out.view_mut().tile::<m![B], 1, m![1 #{!} 32, A]>(3));
}

/// Other names for the same positions.
#[device(chip = 1)]
pub fn renamed(ctx: &mut Context, x: &HbmTensor<i32, Chip, m![Q]>) -> HbmTensor<i32, Chip, m![D, R]> {
    let y = x.to_dm::<m![1 # 2], m![Q / 2 # 256], m![Q % 2]>(&mut ctx.tdma);
    let z: DmTensor<i32, Chip, m![1 # 2], m![D # 256], m![R]> = unsafe { y.transmute() };
    z.to_hbm(&mut ctx.tdma)
}
