//! Results in data memory, kernels that are loaded first, and macros that print.
use furiosa_opt_std::prelude::*;

axes![V = 2048];

type X = HbmTensor<i32, m![1], m![V]>;
type D = DmTensor<i32, m![1], m![1 # 2], m![V / 8], m![V % 8]>;

#[device(chip = 1)]
pub fn put(device: &mut Device, v: &X) -> D {
    println!("{} elements", 2048);
    let half = dbg!(V::SIZE / 2);
    assert!(half == 1024, "not {}", half);
    v.to_dm(&mut device.tdma)
}

#[device(chip = 1)]
pub fn get(device: &mut Device, d: &D) -> X {
    d.to_hbm(&mut device.tdma)
}

#[device(chip = 1)]
pub fn fill(device: &mut Device, v: &X, d: &mut D) {
    v.view().to_dm_view(&mut device.tdma, d.view_mut());
}

/// A tensor that stays in data memory between two launches.
pub async fn stays(device: &mut Device, v: &X) -> Result<X, Error> {
    let get = get.load(device)?;
    println!("loaded");
    let d = launch(put, (&mut *device, v)).await?;
    assert_eq!(1 + 1, 2);
    Ok(launch(get, (device, &d)).await?)
}

/// One that the caller has.
pub async fn kept(device: &mut Device, v: &X, d: &mut D) -> X {
    launch(fill, (&mut *device, v, &mut *d)).await.unwrap();
    launch(get, (device, &*d)).await.unwrap()
}

/// What is loaded is no kernel.
pub async fn no_kernel(device: &mut Device, v: &X) -> X {
    let number = 1;
    launch(number, (device, v)).await.unwrap()
}

/// Loaded without a device.
pub async fn without_device(device: &mut Device, v: &X) -> X {
    let get = put.load().unwrap();
    launch(get, (device, v)).await.unwrap()
}
