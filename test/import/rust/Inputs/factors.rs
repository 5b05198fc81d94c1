// Factors of mappings that are mappings: an axis, a quotient, a parameter.
use furiosa_opt_std::prelude::*;
axes![V = 2048, Eight = 8, Three = 3];
type Part = m![V / 256];
fn moved<E: M>(device: &mut Device, v: &HbmTensor<i32, m![1], m![V]>) -> HbmTensor<i32, m![1], m![V]> {
    let d: DmTensor<i32, m![1], m![1 # 2], m![V / E], m![V % E]> = v.to_dm(&mut device.tdma);
    d.to_hbm(&mut device.tdma)
}
#[device(chip = 1)]
pub fn by_axis(device: &mut Device, v: &HbmTensor<i32, m![1], m![V]>) -> HbmTensor<i32, m![1], m![V]> {
    let d: DmTensor<i32, m![1], m![1 # 2], m![V / Eight], m![V % Eight]> = v.to_dm(&mut device.tdma);
    d.to_hbm(&mut device.tdma)
}
#[device(chip = 1)]
pub fn by_quotient(device: &mut Device, v: &HbmTensor<i32, m![1], m![V]>) -> HbmTensor<i32, m![1], m![V]> {
    let d: DmTensor<i32, m![1], m![1 # 2], m![V / (V / 256)], m![V % Part]> = v.to_dm(&mut device.tdma);
    d.to_hbm(&mut device.tdma)
}
#[device(chip = 1)]
pub fn by_size(device: &mut Device, v: &HbmTensor<i32, m![1], m![V]>) -> HbmTensor<i32, m![1], m![V]> {
    let d: DmTensor<i32, m![1], m![1 # 2], m![V / { Eight::SIZE }], m![V % { 4 + 4 }]> =
        v.to_dm(&mut device.tdma);
    d.to_hbm(&mut device.tdma)
}
#[device(chip = 1)]
pub fn by_parameter(device: &mut Device, v: &HbmTensor<i32, m![1], m![V]>) -> HbmTensor<i32, m![1], m![V]> {
    moved::<m![Eight]>(device, v)
}
