// Lifts: each chip, cluster or slice fetches its part of the copy that it holds.
use furiosa_opt_std::prelude::*;
axes![A = 128, Q = 4, L = 2, V = 8];
// out[a, q, v] = v[a, q, v]: the copies hold Q / 2, and time goes over Q % 2.
#[device(chip = 1)]
pub fn by_slice(
    device: &mut Device,
    x: &HbmTensor<i32, m![1], m![A, Q, V]>,
) -> HbmTensor<i32, m![1], m![A, Q, V]> {
    let copies: DmTensor<i32, m![1], m![1 # 2], m![A, 2], m![Q, V]> = x.to_dm(&mut device.tdma);
    let spread: DmTensor<i32, m![1], m![1 # 2], m![A, Q / 2], m![Q % 2, V]> = device
        .main
        .begin(copies.view())
        .fetch::<m![Q], m![V]>()
        .fetch_slice_lift::<m![A, Q / 2], m![Q % 2]>()
        .collect::<m![Q % 2], m![V]>()
        .commit_trim::<m![V]>()
        .commit();
    spread.to_hbm(&mut device.tdma)
}
// out[l, a, v] = 3 x[a, l, v] as i32.
#[device(chip = 1)]
pub fn by_cluster(
    device: &mut Device,
    x: &HbmTensor<i8, m![1], m![A, L, V]>,
) -> HbmTensor<i32, m![1], m![L, A, V]> {
    let copies: DmTensor<i8, m![1], m![2], m![A, 1 # 2], m![L, V]> = x.to_dm(&mut device.tdma);
    let spread: DmTensor<i32, m![1], m![L], m![A, 1 # 2], m![V]> = device
        .main
        .begin(copies.view())
        .fetch::<m![L], m![V]>()
        .fetch_cluster_lift::<m![L], m![1]>()
        .fetch_cast::<i32>()
        .collect::<m![1], m![V]>()
        .vector_init()
        .vector_intra_slice_tag(TagMode::Zero)
        .vector_fxp(FxpBinaryOp::MulInt, 3)
        .vector_final()
        .commit_trim::<m![V]>()
        .commit();
    spread.to_hbm(&mut device.tdma)
}
// All three dimensions, in one read.
#[device(chip = 4)]
pub fn by_all(
    device: &mut Device,
    x: &HbmTensor<i32, m![4], m![A, Q, L, V]>,
) -> HbmTensor<i32, m![Q], m![L, A, V]> {
    let copies: DmTensor<i32, m![4], m![2], m![A, 2], m![Q, L, V]> = x.to_dm(&mut device.tdma);
    let spread: DmTensor<i32, m![Q], m![L], m![A, V / 4], m![V % 4]> = device
        .main
        .begin(copies.view())
        .fetch::<m![Q, L, V / 4], m![V % 4]>()
        .fetch_chip_lift::<m![Q], m![L, V / 4]>()
        .fetch_cluster_lift::<m![L], m![V / 4]>()
        .fetch_slice_lift::<m![A, V / 4], m![1]>()
        .collect::<m![1], m![V % 4 # 8]>()
        .commit_trim::<m![V % 4]>()
        .commit();
    spread.to_hbm(&mut device.tdma)
}
