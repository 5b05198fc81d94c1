//! Redistributions that the vendor's crate does not have, one mistake in each.
use furiosa_opt_std::prelude::*;

axes![P = 4, Q = 4, L = 2, U = 2, R = 8, W = 8];

type Slice = m![1 # 256];
type OfChips = DmTensor<i32, m![P], m![1 # 2], Slice, m![Q, R, W]>;

#[device(chip = 4)]
pub fn swap_of_padding(
    device: &mut Device,
    v: &HbmTensor<i32, m![P], m![Q, R, W]>,
) -> HbmTensor<i32, m![P], m![Q, R, W]> {
    let d: OfChips = v.to_dm(&mut device.tdma);
    d.cluster_swap().to_dm::<m![Q, R, W]>(&mut device.tdma).to_hbm(&mut device.tdma)
}

#[device(chip = 4)]
pub fn past_the_axis(
    device: &mut Device,
    v: &HbmTensor<i32, m![P], m![Q, R, W]>,
) -> HbmTensor<i32, m![P], m![R, W]> {
    let d: OfChips = v.to_dm(&mut device.tdma);
    d.chip_slice::<m![Q], m![R, W]>([0, 1, 2, 4]).to_dm::<m![R, W]>(&mut device.tdma).to_hbm(&mut device.tdma)
}

#[device(chip = 4)]
pub fn keeps_the_axis(
    device: &mut Device,
    v: &HbmTensor<i32, m![P], m![Q, R, W]>,
) -> HbmTensor<i32, m![P], m![R, W]> {
    let d: OfChips = v.to_dm(&mut device.tdma);
    d.chip_slice::<m![Q], m![1 # 4, R, W]>([0, 1, 2, 3])
        .to_dm::<m![1 # 4, R, W]>(&mut device.tdma)
        .to_hbm(&mut device.tdma)
}

#[device(chip = 4)]
pub fn three_numbers(
    device: &mut Device,
    v: &HbmTensor<i32, m![P], m![Q, R, W]>,
) -> HbmTensor<i32, m![P], m![R, W]> {
    let d: OfChips = v.to_dm(&mut device.tdma);
    d.chip_slice::<m![Q], m![R, W]>([0, 1, 2]).to_dm::<m![R, W]>(&mut device.tdma).to_hbm(&mut device.tdma)
}

#[device(chip = 4)]
pub fn shuffled_late(
    device: &mut Device,
    v: &HbmTensor<i32, m![P], m![Q, R, W]>,
) -> HbmTensor<i32, m![P], m![R, W]> {
    let d: OfChips = v.to_dm(&mut device.tdma);
    d.chip_slice::<m![Q], m![R, W]>([0, 1, 2, 3])
        .chip_shuffle([1, 2, 3, 0])
        .to_dm::<m![R, W]>(&mut device.tdma)
        .to_hbm(&mut device.tdma)
}

#[device(chip = 4)]
pub fn shuffled_twice(
    device: &mut Device,
    v: &HbmTensor<i32, m![P], m![Q, R, W]>,
) -> HbmTensor<i32, m![P], m![Q, R, W]> {
    let d: OfChips = v.to_dm(&mut device.tdma);
    d.chip_shuffle([1, 2, 3, 0])
        .chip_shuffle([1, 2, 3, 0])
        .to_dm::<m![Q, R, W]>(&mut device.tdma)
        .to_hbm(&mut device.tdma)
}

#[device(chip = 4)]
pub fn inner_copy(
    device: &mut Device,
    v: &HbmTensor<i32, m![P], m![Q, R, W]>,
) -> HbmTensor<i32, m![P], m![Q, W]> {
    let d: OfChips = v.to_dm(&mut device.tdma);
    d.asymmetric_chip_slice::<m![R], m![Q, W]>(&mut device.sub, &[0, 1, 2, 3]).to_hbm(&mut device.tdma)
}

#[device(chip = 4)]
pub fn of_hbm(
    device: &mut Device,
    v: &HbmTensor<i32, m![P], m![Q, R, W]>,
) -> HbmTensor<i32, m![P], m![Q, R, W]> {
    v.chip_shuffle([1, 2, 3, 0]).to_hbm(&mut device.tdma)
}

#[device(chip = 4)]
pub fn to_hbm_at_once(
    device: &mut Device,
    v: &HbmTensor<i32, m![P], m![Q, R, W]>,
) -> HbmTensor<i32, m![P], m![Q, R, W]> {
    let d: OfChips = v.to_dm(&mut device.tdma);
    d.chip_shuffle([1, 2, 3, 0]).to_hbm(&mut device.tdma)
}
