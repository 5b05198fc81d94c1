use super::*;
pub const NONE: usize = 0;
#[device(chip = 1)]
pub fn copy(device: &mut Device, v: &HbmTensor<i32, m![1], m![V]>) -> HbmTensor<i32, m![1], m![V]> {
    let d: DmTensor<i32, m![1], m![1 # 2], m![1 # 256], m![V]> = v.to_dm(&mut device.tdma);
    d.to_hbm(&mut device.tdma)
}
