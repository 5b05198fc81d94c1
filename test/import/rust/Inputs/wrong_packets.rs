//! Packets that the transpose engine does not take whole, and groups that are too long.
use furiosa_opt_std::prelude::*;

axes![P = 256, High = 4, Wide = 16, Twelve = 12, More = 24, Two = 2, V = 264];

/// 12 elements.
#[device(chip = 1)]
pub fn twelve(
    device: &mut Device,
    v: &HbmTensor<bf16, m![1], m![P, High, Twelve]>,
) -> HbmTensor<bf16, m![1], m![P, Twelve, High]> {
    let d: DmTensor<bf16, m![1], m![1 # 2], m![P], m![High, Twelve]> = v.to_dm(&mut device.tdma);
    let t: DmTensor<bf16, m![1], m![1 # 2], m![P], m![Twelve, High # 8]> = device
        .main
        .begin(d.view())
        .fetch::<m![High], m![Twelve]>()
        .collect::<m![High], m![Twelve # 16]>()
        .transpose::<m![Twelve], m![High # 16]>()
        .commit_trim::<m![High # 8]>()
        .commit();
    t.to_hbm(&mut device.tdma)
}

/// 24 elements.
#[device(chip = 1)]
pub fn more(
    device: &mut Device,
    v: &HbmTensor<i8, m![1], m![P, High, More]>,
) -> HbmTensor<i8, m![1], m![P, More, High]> {
    let d: DmTensor<i8, m![1], m![1 # 2], m![P], m![High, More]> = v.to_dm(&mut device.tdma);
    let t: DmTensor<i8, m![1], m![1 # 2], m![P], m![More, High # 8]> = device
        .main
        .begin(d.view())
        .fetch::<m![High], m![More]>()
        .collect::<m![High], m![More # 32]>()
        .transpose::<m![More], m![High # 32]>()
        .commit_trim::<m![High # 8]>()
        .commit();
    t.to_hbm(&mut device.tdma)
}

/// After a switch.
#[device(chip = 1)]
pub fn switched(
    device: &mut Device,
    v: &HbmTensor<bf16, m![1], m![P, High, Wide]>,
) -> HbmTensor<bf16, m![1], m![P, Wide, High]> {
    let d: DmTensor<bf16, m![1], m![1 # 2], m![P], m![High, Wide]> = v.to_dm(&mut device.tdma);
    let t: DmTensor<bf16, m![1], m![1 # 2], m![P], m![Wide, High # 8]> = device
        .main
        .begin(d.view())
        .fetch::<m![High], m![Wide]>()
        .switch::<m![P], m![High]>(SwitchConfig::Forwarding {})
        .collect::<m![High], m![Wide]>()
        .transpose::<m![Wide], m![High # 16]>()
        .commit_trim::<m![High # 8]>()
        .commit();
    t.to_hbm(&mut device.tdma)
}

/// A group of 264 elements.
#[device(chip = 1)]
pub fn in_groups(
    device: &mut Device,
    p: &HbmTensor<i32, m![1], m![P, V]>,
    q: &HbmTensor<i32, m![1], m![P, V]>,
) -> HbmTensor<i32, m![1], m![P, V]> {
    let p: DmTensor<i32, m![1], m![1 # 2], m![P], m![V]> = p.to_dm(&mut device.tdma);
    let q: DmTensor<i32, m![1], m![1 # 2], m![P], m![V]> = q.to_dm(&mut device.tdma);
    let r: DmTensor<i32, m![1], m![1 # 2], m![P], m![V]> = device
        .main
        .begin_interleaved::<Two, _, _, _, _, _>(p.view(), q.view())
        .fetch::<m![Two, V / 8], m![V % 8]>()
        .collect::<m![Two, V / 8], m![V % 8]>()
        .vector_init()
        .vector_intra_slice_unzip::<Two, m![V / 8]>()
        .vector_clip_zip(ClipBinaryOpI32::AddFxp)
        .vector_final()
        .commit_trim::<m![V % 8]>()
        .commit();
    r.to_hbm(&mut device.tdma)
}
