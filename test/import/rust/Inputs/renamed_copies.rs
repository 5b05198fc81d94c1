//! Copies that slices hold get the name of an axis, and copies with a name lose it.
use furiosa_opt_std::prelude::*;

axes![N = 8, D = 256, Copies = 256];

type Chip = m![1];
type Cluster = m![1 # 2];
type Rows = m![N, 1 # 32];

fn added<S: M>(
    device: &mut Device,
    x: &DmTensor<i32, Chip, Cluster, S, m![D]>,
    row: &DmTensor<i32, Chip, Cluster, S, m![D]>,
) -> DmTensor<i32, Chip, Cluster, S, m![D]> {
    let row: VrfTensor<i32, Chip, Cluster, S, m![D]> = device
        .sub
        .begin(row.view())
        .fetch::<m![D / 8], m![D % 8]>()
        .collect::<m![D / 8], m![D % 8]>()
        .to_vrf();
    device
        .main
        .begin(x.view())
        .fetch::<m![D / 8], m![D % 8]>()
        .collect::<m![D / 8], m![D % 8]>()
        .vector_init()
        .vector_intra_slice_tag(TagMode::Zero)
        .vector_fxp(FxpBinaryOp::AddFxp, &row)
        .vector_final()
        .commit_trim::<m![D % 8]>()
        .commit()
}

/// out[n, d] = x[n, d] + row[d]: the copies of the row are counted by N.
#[device(chip = 1)]
pub fn named(
    device: &mut Device,
    x: &HbmTensor<i32, Chip, m![N, D]>,
    row: &HbmTensor<i32, Chip, m![D]>,
) -> HbmTensor<i32, Chip, m![N, D]> {
    let copies: DmTensor<i32, Chip, Cluster, m![8, 1 # 32], m![D]> = row.to_dm(&mut device.tdma);
    let row: DmTensor<i32, Chip, Cluster, Rows, m![D]> = unsafe { copies.reshape() };
    let x: DmTensor<i32, Chip, Cluster, Rows, m![D]> = x.to_dm(&mut device.tdma);
    added(device, &x, &row).to_hbm(&mut device.tdma)
}

/// out[n, d] = 2 x[n, d], by way of copies along `Copies`, of which one is kept.
#[device(chip = 1)]
pub fn hidden(device: &mut Device, x: &HbmTensor<i32, Chip, m![N, D]>) -> HbmTensor<i32, Chip, m![N, D]> {
    let x: DmTensor<i32, Chip, Cluster, m![N, D / 8], m![D % 8]> = x.to_dm(&mut device.tdma);
    let all: DmTensor<i32, Chip, Cluster, m![N, Copies % 32], m![D]> = device
        .main
        .begin(x.view())
        .fetch::<m![1], m![D % 8]>()
        .switch::<m![N, Copies % 32], m![D / 8]>(SwitchConfig::Broadcast1 { slice1: 32, slice0: 1 })
        .collect::<m![D / 8], m![D % 8]>()
        .commit_trim::<m![D % 8]>()
        .commit();
    let one: DmTensor<i32, Chip, Cluster, Rows, m![D]> = unsafe { all.reshape() };
    added(device, &one, &one).to_hbm(&mut device.tdma)
}
