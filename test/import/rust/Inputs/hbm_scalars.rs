//! Numbers that a kernel reads from HBM.
use furiosa_opt_std::prelude::*;

axes![S = 256, G = 4, V = 8];

type Cluster = m![1 # 2];
type Groups = DmTensor<i32, m![1], Cluster, m![S], m![G, V]>;

/// The first n groups, and zeros.
#[device(chip = 1)]
pub fn first_groups(
    device: &mut Device,
    v: &HbmTensor<i32, m![1], m![S, G, V]>,
    n: &HbmScalar<usize>,
) -> HbmTensor<i32, m![1], m![S, G, V]> {
    let d: Groups = v.to_dm(&mut device.tdma);
    let mut r: Groups = DmTensor::new();
    r.view_mut().memset(0, &mut device.sub);
    let n = n.to_spm(&mut device.tdma);
    for g in 0..G::SIZE {
        if g < n {
            device
                .main
                .begin(d.view().tile::<m![G], 1, m![1 # 4, V]>(g))
                .fetch::<m![1], m![V]>()
                .collect::<m![1], m![V]>()
                .commit_trim::<m![V]>()
                .commit_view(r.view_mut().tile::<m![G], 1, m![1 #{!} 4, V]>(g));
        }
    }
    r.to_hbm(&mut device.tdma)
}

/// Group n.
#[device(chip = 1)]
pub fn one_group(
    device: &mut Device,
    v: &HbmTensor<i32, m![1], m![S, G, V]>,
    n: &HbmScalar<usize>,
) -> HbmTensor<i32, m![1], m![S, V]> {
    let d: Groups = v.to_dm(&mut device.tdma);
    let n = n.to_spm(&mut device.tdma);
    let r: DmTensor<i32, m![1], Cluster, m![S], m![V]> = device
        .main
        .begin(d.view().tile::<m![G], 1, m![1 # 4, V]>(n))
        .fetch::<m![1], m![V]>()
        .collect::<m![1], m![V]>()
        .commit_trim::<m![V]>()
        .commit();
    r.to_hbm(&mut device.tdma)
}

/// One if the number is true.
#[device(chip = 1)]
pub fn flag(device: &mut Device, on: HbmScalar<bool>) -> HbmTensor<i32, m![1], m![S, V]> {
    let mut r: DmTensor<i32, m![1], Cluster, m![S], m![V]> = DmTensor::new();
    r.view_mut().memset(0, &mut device.sub);
    if on.to_spm(&mut device.tdma) {
        r.view_mut().memset(1, &mut device.sub);
    }
    r.to_hbm(&mut device.tdma)
}
