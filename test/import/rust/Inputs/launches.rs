// Launches as 0.8 to 0.10 write them: their results, the method of the device, and tensors that get the results.
use furiosa_opt_std::prelude::*;
axes![V = 2048];
type X = HbmTensor<i32, m![1], m![V]>;
type D = DmTensor<i32, m![1], m![1 # 2], m![V / 8], m![V % 8]>;
#[device(chip = 1)]
pub fn step(device: &mut Device, v: &X) -> X {
    let d: D = v.to_dm(&mut device.tdma);
    d.to_hbm(&mut device.tdma)
}
#[device(chip = 1)]
pub fn pair(device: &mut Device, v: &X) -> (X, X) {
    let d: D = v.to_dm(&mut device.tdma);
    (d.to_hbm(&mut device.tdma), d.to_hbm(&mut device.tdma))
}
#[device(chip = 1)]
pub fn wrong_operand(device: &mut Device, v: &X, w: &X) -> X {
    let d: D = v.to_dm(&mut device.tdma);
    d.to_hbm(&mut device.tdma)
}
pub async fn unwrapped(device: &mut Device, v: &X) -> X {
    let once = launch(step, (&mut *device, v)).await.unwrap();
    let (left, _right) = launch(pair, (&mut *device, &once)).await.expect("a pair");
    launch(step, (device, &left)).await.unwrap()
}
async fn inner(device: &mut Device, v: &X) -> Result<X, Error> {
    Ok(launch(step, (device, v)).await?)
}
pub async fn tried(device: &mut Device, v: &X) -> Result<X, Error> {
    let once = inner(&mut *device, v).await?;
    Ok(launch(step, (device, &once)).await?)
}
pub async fn method(device: &mut Device, v: &X) -> X {
    let once = device.launch(step, (v,)).submit().await.unwrap();
    device.launch(step, (&once,)).await.unwrap()
}
pub async fn into(device: &mut Device, v: &X) -> X {
    let mut out = launch(step, (&mut *device, v)).await.unwrap();
    launch(step, (&mut *device, &out)).output(&mut out).await.unwrap();
    out
}
pub async fn too_many(device: &mut Device, v: &X) -> X {
    device.launch(step, (v, v)).await.unwrap()
}
pub async fn of_a_tensor(device: &mut Device, v: &X) -> X {
    v.launch(step, (v,)).await.unwrap()
}
pub async fn into_another(device: &mut Device, v: &X) -> X {
    let mut out = launch(step, (&mut *device, v)).await.unwrap();
    launch(pair, (device, v)).output(&mut out).await.unwrap();
    out
}
pub async fn into_an_argument(device: &mut Device, v: &X, out: &mut X) {
    launch(step, (device, v)).output(out).await.unwrap();
}
