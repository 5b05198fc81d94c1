//! Tensors that stay in data memory between launches.
use furiosa_opt_std::prelude::*;

axes![S = 256, V = 8];

type Kept = DmTensor<i32, m![1], m![1 # 2], m![S], m![V]>;

#[device(chip = 1)]
pub fn keep(device: &mut Device, v: &HbmTensor<i32, m![1], m![S, V]>, kept: &mut Kept) {
    v.view().to_dm_view(&mut device.tdma, kept.view_mut());
}

#[device(chip = 1)]
pub fn give(device: &mut Device, kept: &Kept) -> HbmTensor<i32, m![1], m![S, V]> {
    kept.to_hbm(&mut device.tdma)
}

#[device(chip = 1)]
pub fn one_more(device: &mut Device, kept: &mut Kept) {
    let sum: Kept = device
        .main
        .begin(kept.view())
        .fetch::<m![1], m![V]>()
        .collect::<m![1], m![V]>()
        .vector_init()
        .vector_intra_slice_tag(TagMode::Zero)
        .vector_fxp(FxpBinaryOp::AddFxp, 1)
        .vector_final()
        .commit_trim::<m![V]>()
        .commit();
    sum.view().to_dm_view(&mut device.tdma, kept.view_mut());
}
