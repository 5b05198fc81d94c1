// Factors that are no numbers, and one that leaves elements out.
use furiosa_opt_std::prelude::*;
axes![V = 2048, Three = 3];
#[device(chip = 1)]
pub fn unknown(device: &mut Device, v: &HbmTensor<i32, m![1], m![V]>) -> HbmTensor<i32, m![1], m![V]> {
    let d: DmTensor<i32, m![1], m![1 # 2], m![V / Other], m![V % 8]> = v.to_dm(&mut device.tdma);
    d.to_hbm(&mut device.tdma)
}
#[device(chip = 1)]
pub fn by_three(device: &mut Device, v: &HbmTensor<i32, m![1], m![V]>) -> HbmTensor<i32, m![1], m![V]> {
    let d: DmTensor<i32, m![1], m![1 # 2], m![V / 8], m![V % Three]> = v.to_dm(&mut device.tdma);
    d.to_hbm(&mut device.tdma)
}
