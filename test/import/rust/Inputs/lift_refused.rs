// Lifts that are not: out of order, twice, after a conversion, without their time, of a stream that was not fetched.
use furiosa_opt_std::prelude::*;
axes![A = 128, H = 2, L = 2, V = 8];
type Copies = DmTensor<i8, m![1], m![2], m![A, 2], m![H, L, V]>;
type Spread = DmTensor<i8, m![1], m![L], m![A, H], m![V]>;
#[device(chip = 1)]
pub fn slices_first(
    device: &mut Device,
    x: &HbmTensor<i8, m![1], m![A, H, L, V]>,
) -> HbmTensor<i8, m![1], m![A, H, L, V]> {
    let copies: Copies = x.to_dm(&mut device.tdma);
    let fetched =
        device.main.begin(copies.view()).fetch::<m![H, L], m![V]>().fetch_slice_lift::<m![A, H], m![L]>();
    let spread: Spread = fetched
        .fetch_cluster_lift::<m![L], m![1]>()
        .collect::<m![1], m![V # 32]>()
        .commit_trim::<m![V]>()
        .commit();
    spread.to_hbm(&mut device.tdma)
}
#[device(chip = 1)]
pub fn twice(
    device: &mut Device,
    x: &HbmTensor<i8, m![1], m![A, H, L, V]>,
) -> HbmTensor<i8, m![1], m![A, H, L, V]> {
    let copies: Copies = x.to_dm(&mut device.tdma);
    let fetched =
        device.main.begin(copies.view()).fetch::<m![H, L], m![V]>().fetch_cluster_lift::<m![L], m![H]>();
    let spread: Spread = fetched
        .fetch_cluster_lift::<m![L], m![H]>()
        .collect::<m![1], m![V # 32]>()
        .commit_trim::<m![V]>()
        .commit();
    spread.to_hbm(&mut device.tdma)
}
#[device(chip = 1)]
pub fn converted(
    device: &mut Device,
    x: &HbmTensor<i8, m![1], m![A, H, L, V]>,
) -> HbmTensor<i32, m![1], m![A, H, L, V]> {
    let copies: Copies = x.to_dm(&mut device.tdma);
    let fetched = device.main.begin(copies.view()).fetch::<m![H, L], m![V]>().fetch_cast::<i32>();
    let spread: DmTensor<i32, m![1], m![L], m![A, H], m![V]> = fetched
        .fetch_cluster_lift::<m![L], m![H]>()
        .collect::<m![H], m![V]>()
        .commit_trim::<m![V]>()
        .commit();
    spread.to_hbm(&mut device.tdma)
}
#[device(chip = 1)]
pub fn timeless(
    device: &mut Device,
    x: &HbmTensor<i8, m![1], m![A, H, L, V]>,
) -> HbmTensor<i8, m![1], m![A, H, L, V]> {
    let copies: Copies = x.to_dm(&mut device.tdma);
    let fetched =
        device.main.begin(copies.view()).fetch::<m![H, L], m![V]>().fetch_cluster_lift::<m![L], _>();
    let spread: Spread = fetched.collect::<m![1], m![V # 32]>().commit_trim::<m![V]>().commit();
    spread.to_hbm(&mut device.tdma)
}
#[device(chip = 1)]
pub fn collected(
    device: &mut Device,
    x: &HbmTensor<i8, m![1], m![A, H, L, V]>,
) -> HbmTensor<i8, m![1], m![A, H, L, V]> {
    let copies: Copies = x.to_dm(&mut device.tdma);
    let collected =
        device.main.begin(copies.view()).fetch::<m![H, L], m![V]>().collect::<m![H, L], m![V # 32]>();
    let spread: Spread = collected.fetch_cluster_lift::<m![L], m![H]>().commit_trim::<m![V]>().commit();
    spread.to_hbm(&mut device.tdma)
}
// The fetch itself is refused: slices hold H already, and 4 bytes are no start of a read.
#[device(chip = 1)]
pub fn not_copies(
    device: &mut Device,
    x: &HbmTensor<i8, m![1], m![A, H, L, V]>,
) -> HbmTensor<i8, m![1], m![A, L, V]> {
    let held: DmTensor<i8, m![1], m![1 # 2], m![A, H], m![L, V]> = x.to_dm(&mut device.tdma);
    let spread: DmTensor<i8, m![1], m![1 # 2], m![A, L], m![V]> = device
        .main
        .begin(held.view())
        .fetch::<m![L], m![V]>()
        .fetch_slice_lift::<m![A, L], m![1]>()
        .collect::<m![1], m![V # 32]>()
        .commit_trim::<m![V]>()
        .commit();
    spread.to_hbm(&mut device.tdma)
}
