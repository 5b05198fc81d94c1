//! Packets of 16 elements that are transposed, and tensors that alternate in groups.
use furiosa_opt_std::prelude::*;

axes![P = 256, High = 4, Rows = 8, Wide = 16, Two = 2, V = 256, A = 4, B = 64, Long = 264];

/// Doubled packing of 16 bits.
#[device(chip = 1)]
pub fn turn_16(
    device: &mut Device,
    v: &HbmTensor<bf16, m![1], m![P, High, Wide]>,
) -> HbmTensor<bf16, m![1], m![P, Wide, High]> {
    let d: DmTensor<bf16, m![1], m![1 # 2], m![P], m![High, Wide]> = v.to_dm(&mut device.tdma);
    let t: DmTensor<bf16, m![1], m![1 # 2], m![P], m![Wide, High]> = device
        .main
        .begin(d.view())
        .fetch::<m![High], m![Wide]>()
        .collect::<m![High], m![Wide]>()
        .transpose::<m![Wide], m![High # 16]>()
        .commit_trim::<m![High]>()
        .commit();
    t.to_hbm(&mut device.tdma)
}

/// Doubled packing of 8 bits.
#[device(chip = 1)]
pub fn turn_8(
    device: &mut Device,
    v: &HbmTensor<i8, m![1], m![P, Rows, Wide]>,
) -> HbmTensor<i8, m![1], m![P, Wide, Rows]> {
    let d: DmTensor<i8, m![1], m![1 # 2], m![P], m![Rows, Wide]> = v.to_dm(&mut device.tdma);
    let t: DmTensor<i8, m![1], m![1 # 2], m![P], m![Wide, Rows]> = device
        .main
        .begin(d.view())
        .fetch::<m![Rows], m![Wide]>()
        .collect::<m![Rows], m![Wide # 32]>()
        .transpose::<m![Wide], m![Rows # 32]>()
        .commit_trim::<m![Rows]>()
        .commit();
    t.to_hbm(&mut device.tdma)
}

/// Two tensors that alternate after groups of 256 elements, the most.
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

/// The same in groups of 64 elements, inside of other time.
#[device(chip = 1)]
pub fn in_groups_inside(
    device: &mut Device,
    p: &HbmTensor<i32, m![1], m![P, A, B]>,
    q: &HbmTensor<i32, m![1], m![P, A, B]>,
) -> HbmTensor<i32, m![1], m![P, A, B]> {
    let p: DmTensor<i32, m![1], m![1 # 2], m![P], m![A, B]> = p.to_dm(&mut device.tdma);
    let q: DmTensor<i32, m![1], m![1 # 2], m![P], m![A, B]> = q.to_dm(&mut device.tdma);
    let r: DmTensor<i32, m![1], m![1 # 2], m![P], m![A, B]> = device
        .main
        .begin_interleaved::<Two, _, _, _, _, _>(p.view(), q.view())
        .fetch::<m![A, Two, B / 8], m![B % 8]>()
        .collect::<m![A, Two, B / 8], m![B % 8]>()
        .vector_init()
        .vector_intra_slice_unzip::<Two, m![A, B / 8]>()
        .vector_clip_zip(ClipBinaryOpI32::AddFxp)
        .vector_final()
        .commit_trim::<m![B % 8]>()
        .commit();
    r.to_hbm(&mut device.tdma)
}

/// One tensor after the other, without the vector engine: nothing waits, so that groups are of any size.
#[device(chip = 1)]
pub fn one_after_the_other(
    device: &mut Device,
    p: &HbmTensor<i32, m![1], m![P, Long]>,
    q: &HbmTensor<i32, m![1], m![P, Long]>,
) -> HbmTensor<i32, m![1], m![P, Two, Long]> {
    let p: DmTensor<i32, m![1], m![1 # 2], m![P], m![Long]> = p.to_dm(&mut device.tdma);
    let q: DmTensor<i32, m![1], m![1 # 2], m![P], m![Long]> = q.to_dm(&mut device.tdma);
    let r: DmTensor<i32, m![1], m![1 # 2], m![P], m![Two, Long]> = device
        .main
        .begin_interleaved::<Two, _, _, _, _, _>(p.view(), q.view())
        .fetch::<m![Two, Long / 8], m![Long % 8]>()
        .collect::<m![Two, Long / 8], m![Long % 8]>()
        .commit_trim::<m![Long % 8]>()
        .commit();
    r.to_hbm(&mut device.tdma)
}

/// The same, where only the collect has other time.
#[device(chip = 1)]
pub fn split_packets(
    device: &mut Device,
    p: &HbmTensor<i32, m![1], m![P, Long]>,
    q: &HbmTensor<i32, m![1], m![P, Long]>,
) -> HbmTensor<i32, m![1], m![P, Two, Long]> {
    let p: DmTensor<i32, m![1], m![1 # 2], m![P], m![Long]> = p.to_dm(&mut device.tdma);
    let q: DmTensor<i32, m![1], m![1 # 2], m![P], m![Long]> = q.to_dm(&mut device.tdma);
    let r: DmTensor<i32, m![1], m![1 # 2], m![P], m![Two, Long]> = device
        .main
        .begin_interleaved::<Two, _, _, _, _, _>(p.view(), q.view())
        .fetch::<m![Two], m![Long]>()
        .collect::<m![Two, Long / 8], m![Long % 8]>()
        .commit_trim::<m![Long % 8]>()
        .commit();
    r.to_hbm(&mut device.tdma)
}
