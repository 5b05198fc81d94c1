// Arguments whose parts are not those of HBM, and an index past the array.
use furiosa_opt_std::prelude::*;
axes![S = 256, V = 8];
pub struct Named<'a> {
    pub w: &'a HbmTensor<i32, m![1], m![S, V]>,
    pub name: &'a str,
}
#[device(chip = 1)]
pub fn with_text(device: &mut Device, all: &[Named<'_>; 2]) -> HbmTensor<i32, m![1], m![S, V]> {
    let d: DmTensor<i32, m![1], m![1 # 2], m![S], m![V]> = all[0].w.to_dm(&mut device.tdma);
    d.to_hbm(&mut device.tdma)
}
#[device(chip = 1)]
pub fn past(
    device: &mut Device,
    both: [&HbmTensor<i32, m![1], m![S, V]>; 2],
) -> HbmTensor<i32, m![1], m![S, V]> {
    let d: DmTensor<i32, m![1], m![1 # 2], m![S], m![V]> = both[2].to_dm(&mut device.tdma);
    d.to_hbm(&mut device.tdma)
}
#[device(chip = 1)]
pub fn endless(
    device: &mut Device,
    all: &[&HbmTensor<i32, m![1], m![S, V]>],
) -> HbmTensor<i32, m![1], m![S, V]> {
    let d: DmTensor<i32, m![1], m![1 # 2], m![S], m![V]> = all[0].to_dm(&mut device.tdma);
    d.to_hbm(&mut device.tdma)
}
