//! Gathers and scatters as version 0.10 spells them.
use furiosa_opt_std::prelude::*;

axes![Rows = 64, Copies = 2, Wide = 128, Picks = 32];

type Cluster = m![1 # 2];
type Slice = m![Picks # 256];

/// Picked by the distance of a row in bytes.
#[device(chip = 1)]
pub fn by_offsets(
    device: &mut Device,
    table: &HbmTensor<i32, m![1], m![Rows, Wide]>,
    at: &HbmTensor<i32, m![1], m![Picks]>,
) -> HbmTensor<i32, m![1], m![Picks, Wide]> {
    let picked: DmTensor<i32, m![1], Cluster, Slice, m![Wide]> =
        table.gather::<m![Rows], m![Wide]>().by_byte_offsets::<m![Picks]>(at).to_dm(&mut device.tdma);
    picked.to_hbm(&mut device.tdma)
}

/// Picked by the number of a row, and the type in the call.
#[device(chip = 1)]
pub fn by_numbers(
    device: &mut Device,
    table: &HbmTensor<i32, m![1], m![Rows, Wide]>,
    at: &HbmTensor<i32, m![1], m![Picks]>,
) -> HbmTensor<i32, m![1], m![Picks, Wide]> {
    let at: DmTensor<i32, m![1], Cluster, m![1 # 256], m![Picks]> = at.to_dm(&mut device.tdma);
    let at: SpmTensor<i32, m![1], Cluster, m![1 # 4], m![Picks]> = at.to_spm(&mut device.tdma);
    table
        .gather::<m![Rows], m![Wide]>()
        .by_positions::<m![Picks]>(&at)
        .to_dm::<Cluster, Slice, m![Wide]>(&mut device.tdma)
        .to_hbm(&mut device.tdma)
}

/// Picked along two axes of the table together.
#[device(chip = 1)]
pub fn along_two_axes(
    device: &mut Device,
    table: &HbmTensor<i32, m![1], m![Copies, Rows, Wide]>,
    at: &HbmTensor<i32, m![1], m![Picks]>,
) -> HbmTensor<i32, m![1], m![Picks, Wide]> {
    let picked: DmTensor<i32, m![1], Cluster, Slice, m![Wide]> =
        table.gather::<m![Copies, Rows], m![Wide]>().by_byte_offsets::<m![Picks]>(at).to_dm(&mut device.tdma);
    picked.to_hbm(&mut device.tdma)
}

/// As many rows as the kernel is given; the others are picked as well.
#[device(chip = 1)]
pub fn a_prefix(
    device: &mut Device,
    table: &HbmTensor<i32, m![1], m![Rows, Wide]>,
    at: &HbmTensor<i32, m![1], m![Picks]>,
    count: &HbmScalar<i32>,
) -> HbmTensor<i32, m![1], m![Picks, Wide]> {
    let count = count.to_spm(&mut device.tdma);
    let picked: DmTensor<i32, m![1], Cluster, Slice, m![Wide]> = table
        .gather::<m![Rows], m![Wide]>()
        .by_byte_offsets::<m![Picks]>(at)
        .sparse_prefix(count)
        .to_dm(&mut device.tdma);
    picked.to_hbm(&mut device.tdma)
}

/// Rows of half the length without a name.
#[device(chip = 1)]
pub fn unnamed(
    device: &mut Device,
    table: &HbmTensor<i32, m![1], m![Rows, Wide]>,
    at: &HbmTensor<i32, m![1], m![Picks]>,
) -> HbmTensor<i32, m![1], m![Picks, Wide = 64]> {
    let halves: &HbmTensor<i32, m![1], m![128, Wide = 64]> = unsafe { std::mem::transmute(table) };
    let picked: DmTensor<i32, m![1], Cluster, Slice, m![Wide = 64]> = halves.dma_gather_scaled(at);
    picked.to_hbm(&mut device.tdma)
}

#[device(chip = 1)]
pub fn scattered(
    device: &mut Device,
    rows: &HbmTensor<i32, m![1], m![Picks, Wide]>,
    at: &HbmTensor<i32, m![1], m![Picks]>,
    table: &mut HbmTensor<i32, m![1], m![Rows, Wide]>,
) {
    let rows: DmTensor<i32, m![1], Cluster, Slice, m![Wide]> = rows.to_dm(&mut device.tdma);
    table
        .view_mut()
        .scatter::<m![Rows], m![Wide]>()
        .by_byte_offsets::<m![Picks]>(at.view())
        .from_dm(&mut device.tdma, rows);
}

#[device(chip = 1)]
pub fn scattered_by_numbers(
    device: &mut Device,
    rows: &HbmTensor<i32, m![1], m![Picks, Wide]>,
    at: &HbmTensor<i32, m![1], m![Picks]>,
    table: &mut HbmTensor<i32, m![1], m![Rows, Wide]>,
) {
    let rows: DmTensor<i32, m![1], Cluster, Slice, m![Wide]> = rows.to_dm(&mut device.tdma);
    let at: DmTensor<i32, m![1], Cluster, m![1 # 256], m![Picks]> = at.to_dm(&mut device.tdma);
    let at: SpmTensor<i32, m![1], Cluster, m![1 # 4], m![Picks]> = at.to_spm(&mut device.tdma);
    table
        .view_mut()
        .scatter::<m![Rows], m![Wide]>()
        .by_positions::<m![Picks]>(&at)
        .from_dm_view(&mut device.tdma, rows.view());
}
