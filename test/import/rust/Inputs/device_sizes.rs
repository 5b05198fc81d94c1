//! Clusters and slices that are idle, and axes that are lost or doubled.
use furiosa_opt_std::prelude::*;

axes![S = 128, N = 2, D = 64, Half = 2, Q = 512, H = 64];

/// Two clusters, one of which is idle.
#[device(chip = 1)]
pub fn one_cluster(
    device: &mut Device,
    v: &HbmTensor<bf16, m![1], m![S, D]>,
) -> HbmTensor<bf16, m![1], m![S, D]> {
    let d: DmTensor<bf16, m![1], m![1], m![S # 256], m![D]> = v.to_dm(&mut device.tdma);
    d.to_hbm(&mut device.tdma)
}

/// The same on a device of one cluster.
#[device(chip = 1, pe = 4)]
pub fn one_of_one(
    device: &mut Device,
    v: &HbmTensor<bf16, m![1], m![S, D]>,
) -> HbmTensor<bf16, m![1], m![S, D]> {
    let d: DmTensor<bf16, m![1], m![1], m![S # 256], m![D]> = v.to_dm(&mut device.tdma);
    d.to_hbm(&mut device.tdma)
}

/// 128 slices of 256.
#[device(chip = 1)]
pub fn half_the_slices(
    device: &mut Device,
    v: &HbmTensor<bf16, m![1], m![S, D]>,
) -> HbmTensor<bf16, m![1], m![S, D]> {
    let d: DmTensor<bf16, m![1], m![1 # 2], m![S], m![D]> = v.to_dm(&mut device.tdma);
    d.to_hbm(&mut device.tdma)
}

/// 128 slices of 128.
#[device(chip = 1, pe = 2)]
pub fn all_slices(
    device: &mut Device,
    v: &HbmTensor<bf16, m![1], m![S, D]>,
) -> HbmTensor<bf16, m![1], m![S, D]> {
    let d: DmTensor<bf16, m![1], m![1], m![S], m![D]> = v.to_dm(&mut device.tdma);
    d.to_hbm(&mut device.tdma)
}

/// The destination has no H.
#[device(chip = 1)]
pub fn forgets(
    device: &mut Device,
    v: &HbmTensor<bf16, m![1], m![Q, H]>,
    out: &mut HbmTensor<bf16, m![1], m![Q]>,
) {
    let d: DmTensor<bf16, m![1], m![1 # 2], m![Q / 64 # 256], m![Q % 64]> = v.to_dm(&mut device.tdma);
    d.view().to_hbm_view(&mut device.tdma, out.view_mut());
}

/// N on clusters and in elements.
#[device(chip = 1)]
pub fn twice(device: &mut Device, v: &HbmTensor<bf16, m![1], m![N, D]>) -> HbmTensor<bf16, m![1], m![N, D]> {
    let d: DmTensor<bf16, m![1], m![Half], m![1 # 256], m![N, D]> = v.to_dm(&mut device.tdma);
    let d: DmTensor<bf16, m![1], m![N], m![1 # 256], m![N, D]> = unsafe { d.reshape() };
    d.to_hbm(&mut device.tdma)
}
