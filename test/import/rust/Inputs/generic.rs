// Generic kernels: the file's launches, or the entry, choose their parameters.
use furiosa_opt_std::prelude::*;
axes![P = 256, Small = 8, Large = 64, N = 16];
#[device(chip = 1)]
pub fn through<X: AxisName>(
    device: &mut Device,
    v: &HbmTensor<i32, m![1], m![P, X]>,
) -> HbmTensor<i32, m![1], m![P, X]> {
    let d: DmTensor<i32, m![1], m![1 # 2], m![P], m![X]> = v.to_dm(&mut device.tdma);
    d.to_hbm(&mut device.tdma)
}
#[device(chip = 1)]
pub fn shifted<D: Scalar, E: M, const BY: i32>(
    device: &mut Device,
    v: &HbmTensor<D, m![1], E>,
) -> HbmTensor<D, m![1], E> {
    let d: DmTensor<D, m![1], m![1 # 2], m![1 # 256], E> = v.to_dm(&mut device.tdma);
    let r: DmTensor<D, m![1], m![1 # 2], m![1 # 256], E> = device
        .main
        .begin(d.view())
        .fetch::<m![{ E } / 8], m![{ E } % 8]>()
        .collect::<m![{ E } / 8], m![{ E } % 8]>()
        .vector_init()
        .vector_intra_slice_tag(TagMode::Zero)
        .vector_fxp(FxpBinaryOp::AddFxp, BY)
        .vector_final()
        .commit_trim::<m![{ E } % 8]>()
        .commit();
    r.to_hbm(&mut device.tdma)
}
#[device(chip = 1)]
pub fn alone<X: AxisName>(
    device: &mut Device,
    v: &HbmTensor<i32, m![1], m![P, X]>,
) -> HbmTensor<i32, m![1], m![P, X]> {
    let d: DmTensor<i32, m![1], m![1 # 2], m![P], m![X]> = v.to_dm(&mut device.tdma);
    d.to_hbm(&mut device.tdma)
}
pub async fn both(
    device: &mut Device,
    v: &HbmTensor<i32, m![1], m![P, Small]>,
    w: &HbmTensor<i32, m![1], m![P, Large]>,
) -> (HbmTensor<i32, m![1], m![P, Small]>, HbmTensor<i32, m![1], m![P, Large]>) {
    let once = launch(through, (&mut *device, v)).await;
    let twice = launch(through, (&mut *device, &once)).await;
    (twice, launch(through, (device, w)).await)
}
pub async fn by_five(device: &mut Device, v: &HbmTensor<i32, m![1], m![N]>) -> HbmTensor<i32, m![1], m![N]> {
    launch(shifted::<i32, m![N], 5>, (device, v)).await
}
pub async fn open(device: &mut Device, v: &HbmTensor<i32, m![1], m![N]>) -> HbmTensor<i32, m![1], m![N]> {
    launch(shifted, (device, v)).await
}
