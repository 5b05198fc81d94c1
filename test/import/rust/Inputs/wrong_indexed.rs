//! Gathers and scatters that the vendor's crate does not have, one mistake in each.
use furiosa_opt_std::prelude::*;

axes![Rows = 64, Wide = 128, Picks = 32];

type Table = HbmTensor<i32, m![1], m![Rows, Wide]>;
type Index = HbmTensor<i32, m![1], m![Picks]>;
type Picked = DmTensor<i32, m![1], m![1 # 2], m![Picks # 256], m![Wide]>;
type Out = HbmTensor<i32, m![1], m![Picks, Wide]>;

#[device(chip = 1)]
pub fn positions_in_hbm(device: &mut Device, table: &Table, at: &Index) -> Out {
    let picked: Picked =
        table.gather::<m![Rows], m![Wide]>().by_positions::<m![Picks]>(at).to_dm(&mut device.tdma);
    picked.to_hbm(&mut device.tdma)
}

#[device(chip = 1)]
pub fn without_index(device: &mut Device, table: &Table, at: &Index) -> Out {
    let picked: Picked = table.gather::<m![Rows], m![Wide]>().to_dm(&mut device.tdma);
    picked.to_hbm(&mut device.tdma)
}

#[device(chip = 1)]
pub fn two_indices(device: &mut Device, table: &Table, at: &Index) -> Out {
    let picked: Picked = table
        .gather::<m![Rows], m![Wide]>()
        .by_byte_offsets::<m![Picks]>(at)
        .by_byte_offsets::<m![Picks]>(at)
        .to_dm(&mut device.tdma);
    picked.to_hbm(&mut device.tdma)
}

#[device(chip = 1)]
pub fn no_axis(device: &mut Device, table: &Table, at: &Index) -> Out {
    let picked: Picked = table.gather().by_byte_offsets::<m![Picks]>(at).to_dm(&mut device.tdma);
    picked.to_hbm(&mut device.tdma)
}

#[device(chip = 1)]
pub fn no_type(device: &mut Device, table: &Table, at: &Index) -> Out {
    table
        .gather::<m![Rows], m![Wide]>()
        .by_byte_offsets::<m![Picks]>(at)
        .to_dm(&mut device.tdma)
        .to_hbm(&mut device.tdma)
}

#[device(chip = 1)]
pub fn prefix_of_a_scatter(
    device: &mut Device,
    rows: &Out,
    at: &Index,
    table: &mut Table,
    count: &HbmScalar<i32>,
) {
    let count = count.to_spm(&mut device.tdma);
    let rows: Picked = rows.to_dm(&mut device.tdma);
    table
        .view_mut()
        .scatter::<m![Rows], m![Wide]>()
        .by_byte_offsets::<m![Picks]>(at.view())
        .sparse_prefix(count)
        .from_dm(&mut device.tdma, rows);
}
