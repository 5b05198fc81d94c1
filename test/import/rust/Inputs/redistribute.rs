//! Redistributions between chips and clusters.
use furiosa_opt_std::prelude::*;

axes![P = 4, Q = 4, L = 2, U = 2, R = 8, W = 8];

type Slice = m![1 # 256];
type OfChips = DmTensor<i32, m![P], m![1 # 2], Slice, m![Q, R, W]>;
type OfClusters = DmTensor<i32, m![1], m![L], Slice, m![U, R, W]>;

/// Chip t has v[t + 1].
#[device(chip = 4)]
pub fn rotated(
    device: &mut Device,
    v: &HbmTensor<i32, m![P], m![Q, R, W]>,
) -> HbmTensor<i32, m![P], m![Q, R, W]> {
    let d: OfChips = v.to_dm(&mut device.tdma);
    d.chip_shuffle([1, 2, 3, 0]).to_dm::<m![Q, R, W]>(&mut device.tdma).to_hbm(&mut device.tdma)
}

/// Chip t has v[t + 1, 3 - t].
#[device(chip = 4)]
pub fn rotated_parts(
    device: &mut Device,
    v: &HbmTensor<i32, m![P], m![Q, R, W]>,
) -> HbmTensor<i32, m![P], m![R, W]> {
    let d: OfChips = v.to_dm(&mut device.tdma);
    d.view()
        .chip_shuffle([1, 2, 3, 0])
        .chip_slice::<m![Q], m![R, W]>([3, 2, 1, 0])
        .to_dm::<m![R, W]>(&mut device.tdma)
        .to_hbm(&mut device.tdma)
}

/// Chip t has v[t, 3 - t]: a part of its own tensor.
#[device(chip = 4)]
pub fn own_parts(
    device: &mut Device,
    v: &HbmTensor<i32, m![P], m![Q, R, W]>,
) -> HbmTensor<i32, m![P], m![R, W]> {
    let d: OfChips = v.to_dm(&mut device.tdma);
    d.chip_slice::<m![Q], m![R, W]>([3, 2, 1, 0]).to_dm::<m![R, W]>(&mut device.tdma).to_hbm(&mut device.tdma)
}

/// The same by the sub context.
#[device(chip = 4)]
pub fn copied_parts(
    device: &mut Device,
    v: &HbmTensor<i32, m![P], m![Q, R, W]>,
) -> HbmTensor<i32, m![P], m![R, W]> {
    let d: OfChips = v.to_dm(&mut device.tdma);
    d.asymmetric_chip_slice::<m![Q], m![R, W]>(&mut device.sub, &[3, 2, 1, 0]).to_hbm(&mut device.tdma)
}

/// Chip t has v[t, 3 - t, 2 t, W], in a tile of a tensor of zeros.
#[device(chip = 4)]
pub fn placed(
    device: &mut Device,
    v: &HbmTensor<i32, m![P], m![Q, R, W]>,
) -> HbmTensor<i32, m![P], m![U, W]> {
    let d: OfChips = v.to_dm(&mut device.tdma);
    let mut both: DmTensor<i32, m![P], m![1 # 2], Slice, m![U, W]> = DmTensor::new();
    both.view_mut().memset(0, &mut device.sub);
    d.chip_slice::<m![Q], m![R, W]>([3, 2, 1, 0])
        .chip_slice::<m![R], m![W]>([0, 2, 4, 6])
        .to_dm_view(&mut device.tdma, both.view_mut().tile::<m![U], 1, m![1 #{!} 2, W]>(1));
    both.to_hbm(&mut device.tdma)
}

/// Cluster l has v[1 - l].
#[device(chip = 1)]
pub fn swapped(
    device: &mut Device,
    v: &HbmTensor<i32, m![1], m![L, U, R, W]>,
) -> HbmTensor<i32, m![1], m![L, U, R, W]> {
    let d: OfClusters = v.to_dm(&mut device.tdma);
    d.cluster_swap().to_dm::<m![U, R, W]>(&mut device.tdma).to_hbm(&mut device.tdma)
}

/// Cluster l has v[1 - l, 1 - l].
#[device(chip = 1)]
pub fn swapped_parts(
    device: &mut Device,
    v: &HbmTensor<i32, m![1], m![L, U, R, W]>,
) -> HbmTensor<i32, m![1], m![L, R, W]> {
    let d: OfClusters = v.to_dm(&mut device.tdma);
    d.cluster_swap()
        .cluster_slice::<m![U], m![R, W]>([1, 0])
        .to_dm::<m![R, W]>(&mut device.tdma)
        .to_hbm(&mut device.tdma)
}

/// Cluster l has v[l, 1 - l], by the sub context.
#[device(chip = 1)]
pub fn copied_by_clusters(
    device: &mut Device,
    v: &HbmTensor<i32, m![1], m![L, U, R, W]>,
) -> HbmTensor<i32, m![1], m![L, R, W]> {
    let d: OfClusters = v.to_dm(&mut device.tdma);
    d.asymmetric_cluster_slice::<m![U], m![R, W]>(&mut device.sub, &[1, 0]).to_hbm(&mut device.tdma)
}

/// Chip t, cluster l has v[t + 1, 1 - l, 3 - t, l]: all four steps.
#[device(chip = 4)]
pub fn all_steps(
    device: &mut Device,
    v: &HbmTensor<i32, m![P], m![L, Q, U, W]>,
) -> HbmTensor<i32, m![P], m![L, W]> {
    let d: DmTensor<i32, m![P], m![L], Slice, m![Q, U, W]> = v.to_dm(&mut device.tdma);
    d.chip_shuffle([1, 2, 3, 0])
        .cluster_swap()
        .chip_slice::<m![Q], m![U, W]>([3, 2, 1, 0])
        .cluster_slice::<m![U], m![W]>([0, 1])
        .to_dm::<m![W]>(&mut device.tdma)
        .to_hbm(&mut device.tdma)
}

/// The parts are transposed on their way.
#[device(chip = 1)]
pub fn reordered(
    device: &mut Device,
    v: &HbmTensor<i32, m![1], m![L, U, R, W]>,
) -> HbmTensor<i32, m![1], m![L, U, R, W]> {
    let d: OfClusters = v.to_dm(&mut device.tdma);
    d.cluster_swap().to_dm::<m![R, U, W]>(&mut device.tdma).to_hbm(&mut device.tdma)
}
