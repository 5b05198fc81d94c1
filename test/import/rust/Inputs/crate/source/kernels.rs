// A crate whose root `[lib]` names. A module is missing, an axis has no size, and a `use` leads nowhere.
use furiosa_opt_std::prelude::*;
#[rustfmt::skip] pub mod absent;
pub mod inner;
pub mod lost;
axes![V = 2048, Bad = inner::NONE];
#[device(chip = 1)]
pub fn copy(device: &mut Device, v: &HbmTensor<i32, m![1], m![V]>) -> HbmTensor<i32, m![1], m![V]> {
    let d: DmTensor<i32, m![1], m![1 # 2], m![V / 8], m![V % 8]> = v.to_dm(&mut device.tdma);
    d.to_hbm(&mut device.tdma)
}
#[device(chip = 1)]
pub fn bad(device: &mut Device, v: &HbmTensor<i32, m![1], m![V, Bad]>) -> HbmTensor<i32, m![1], m![V, Bad]> {
    let d: DmTensor<i32, m![1], m![1 # 2], m![V / 8], m![V % 8, Bad]> = v.to_dm(&mut device.tdma);
    d.to_hbm(&mut device.tdma)
}
