use furiosa_opt_std::prelude::*;
axes![V = 2048];
#[device(chip = 1)]
pub fn copy(device: &mut Device, v: &HbmTensor<i32, m![1], m![V]>) -> HbmTensor<i32, m![1], m![V]> {
    let d: DmTensor<i32, m![1], m![1 # 2], m![V / 8], m![V % 8]> = v.to_dm(&mut device.tdma);
    d.to_hbm(&mut device.tdma)
}
fn main() {}
