//! Tensors that are named by an address alone, at bytes of a tensor that they are not.
use furiosa_opt_std::prelude::*;

axes![V = 2048];

type Chip = m![1];
type Cluster = m![1 # 2];
type Words = DmTensor<i32, Chip, Cluster, m![V / 8], m![V % 8]>;

#[device(chip = 1)]
pub fn other_format(ctx: &mut Context, v: &HbmTensor<i32, Chip, m![V]>) -> HbmTensor<f32, Chip, m![V]> {
    let d: Words = v.to_dm(&mut ctx.tdma, 0);
    let floats: DmTensor<f32, Chip, Cluster, m![V / 8], m![V % 8]> = unsafe { DmTensor::from_addr(0) };
    floats.to_hbm(&mut ctx.tdma, 0)
}

#[device(chip = 1)]
pub fn other_size(ctx: &mut Context, v: &HbmTensor<i32, Chip, m![V]>) -> HbmTensor<i32, Chip, m![V = 1024]> {
    let d: Words = v.to_dm(&mut ctx.tdma, 0);
    let half: DmTensor<i32, Chip, Cluster, m![V / 8], m![V % 8 = 4]> = unsafe { DmTensor::from_addr(0) };
    half.to_hbm(&mut ctx.tdma, 0)
}

/// The last word of `d`, and what follows it.
#[device(chip = 1)]
pub fn last_word(ctx: &mut Context, v: &HbmTensor<i32, Chip, m![V]>) -> HbmTensor<i32, Chip, m![V]> {
    let d: Words = v.to_dm(&mut ctx.tdma, 0);
    let after: Words = unsafe { DmTensor::from_addr(28) };
    after.to_hbm(&mut ctx.tdma, 0)
}

/// The view under other names is no tensor that can be written.
#[device(chip = 1)]
pub fn written_as(ctx: &mut Context, v: &HbmTensor<i32, Chip, m![V]>) -> HbmTensor<i32, Chip, m![V]> {
    let d: Words = v.to_dm(&mut ctx.tdma, 0);
    let mut pairs: DmTensor<i32, Chip, Cluster, m![V % 256], m![V / 256]> = unsafe { DmTensor::from_addr(0) };
    let e: DmTensor<i32, Chip, Cluster, m![V % 256], m![V / 256]> = pairs.to_dm(&mut ctx.tdma, 64);
    e.view().to_dm_view(&mut ctx.tdma, pairs.view_mut());
    d.to_hbm(&mut ctx.tdma, 0)
}

#[device(chip = 1)]
pub fn no_number(ctx: &mut Context) -> HbmTensor<i32, Chip, m![V]> {
    let d: Words = unsafe { DmTensor::from_addr(TrfAddress::Full) };
    d.to_hbm(&mut ctx.tdma, 0)
}

#[device(chip = 1)]
pub fn no_address(ctx: &mut Context) -> HbmTensor<i32, Chip, m![V]> {
    let d: Words = unsafe { DmTensor::from_addr() };
    d.to_hbm(&mut ctx.tdma, 0)
}
