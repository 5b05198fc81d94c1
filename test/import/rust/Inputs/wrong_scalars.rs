//! Numbers in HBM that no kernel of visa takes.
use furiosa_opt_std::prelude::*;

axes![S = 256, V = 8];

type Cluster = m![1 # 2];

#[device(chip = 1)]
pub fn real(device: &mut Device, x: &HbmScalar<f32>) -> HbmTensor<i32, m![1], m![S, V]> {
    let mut r: DmTensor<i32, m![1], Cluster, m![S], m![V]> = DmTensor::new();
    r.view_mut().memset(0, &mut device.sub);
    r.to_hbm(&mut device.tdma)
}

#[device(chip = 1)]
pub fn unused(device: &mut Device, n: &HbmScalar<i32>) -> HbmTensor<i32, m![1], m![S, V]> {
    let mut r: DmTensor<i32, m![1], Cluster, m![S], m![V]> = DmTensor::new();
    r.view_mut().memset(0, &mut device.sub);
    r.to_hbm(&mut device.tdma)
}

#[device(chip = 1)]
pub fn no_number(device: &mut Device, n: &HbmScalar<m![S]>) -> HbmTensor<i32, m![1], m![S, V]> {
    let mut r: DmTensor<i32, m![1], Cluster, m![S], m![V]> = DmTensor::new();
    r.view_mut().memset(0, &mut device.sub);
    r.to_hbm(&mut device.tdma)
}
