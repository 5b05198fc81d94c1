use crate::absent::{Part, Wide};
use furiosa_opt_std::prelude::*;
#[device(chip = 1)]
pub fn wide(device: &mut Device, v: &HbmTensor<i32, m![1], m![Wide]>) -> HbmTensor<i32, m![1], m![Wide]> {
    let d: DmTensor<i32, m![1], m![1 # 2], m![Wide / 8], m![Wide % 8]> = v.to_dm(&mut device.tdma);
    d.to_hbm(&mut device.tdma)
}
#[device(chip = 1)]
pub fn wider(device: &mut Device, v: &HbmTensor<i32, m![1], m![Wide]>) -> HbmTensor<i32, m![1], m![Wide]> {
    let d: DmTensor<i32, m![1], m![1 # 2], m![Wide / 8], m![Wide % 8]> = v.to_dm(&mut device.tdma);
    d.to_hbm(&mut device.tdma)
}
