use furiosa_opt_std::prelude::*;

axes![S = 256, K = 64, C = 8, D = 8, N = 8];

type Chip = m![1];
type Cluster = m![1 # 2];
type File = VrfTensor<f32, Chip, Cluster, m![S], m![K]>;

fn begun(device: &mut Device, x: &DmTensor<f32, Chip, Cluster, m![S], m![K]>) -> File {
    // What ends the block is another variable of that name.
    let file =
        device.sub.begin(x.view()).fetch::<m![K / 8], m![K % 8]>().collect::<m![K / 8], m![K % 8]>().to_vrf();
    let file = file.reshape::<Chip, Cluster, m![S], m![K]>();
    file
}

#[device(chip = 1)]
pub fn shadowed(device: &mut Device, x: &HbmTensor<f32, Chip, m![S, K]>) {
    let x: DmTensor<f32, Chip, Cluster, m![S], m![K]> = x.to_dm(&mut device.tdma);
    let file = begun(device, &x);
}

fn three(device: &mut Device, x: DmTensor<f32, Chip, Cluster, m![S], m![K]>) -> (File, m![K], m![K]) {
    // A tuple of two where three are wanted.
    let file =
        device.sub.begin(x.view()).fetch::<m![K / 8], m![K % 8]>().collect::<m![K / 8], m![K % 8]>().to_vrf();
    (file, x)
}

#[device(chip = 1)]
pub fn arity(device: &mut Device, x: &HbmTensor<f32, Chip, m![S, K]>) {
    let x: DmTensor<f32, Chip, Cluster, m![S], m![K]> = x.to_dm(&mut device.tdma);
    let file = three(device, x);
}

fn nothing(device: &mut Device, x: &DmTensor<f32, Chip, Cluster, m![S], m![K]>) -> File {
    // It does not end the block.
    let file =
        device.sub.begin(x.view()).fetch::<m![K / 8], m![K % 8]>().collect::<m![K / 8], m![K % 8]>().to_vrf();
    file;
}

#[device(chip = 1)]
pub fn unused(device: &mut Device, x: &HbmTensor<f32, Chip, m![S, K]>) {
    let x: DmTensor<f32, Chip, Cluster, m![S], m![K]> = x.to_dm(&mut device.tdma);
    nothing(device, &x);
}

#[device(chip = 1)]
pub fn open(device: &mut Device, x: &HbmTensor<f32, Chip, m![S, K]>) {
    let y = unsafe { std::mem::transmute(x) };
}

#[device(chip = 1)]
pub fn other_format(device: &mut Device, x: &HbmTensor<f32, Chip, m![S, K]>) {
    let y: &HbmTensor<i32, Chip, m![S, K]> = unsafe { std::mem::transmute(x) };
}

#[device(chip = 1)]
pub fn other_memory(device: &mut Device, x: &HbmTensor<f32, Chip, m![S, K]>) {
    let y: &DmTensor<f32, Chip, Cluster, m![S], m![K]> = unsafe { std::mem::transmute(x) };
}

#[device(chip = 1)]
pub fn of_number(device: &mut Device, x: &HbmTensor<f32, Chip, m![S, K]>) {
    let y: f32 = unsafe { std::mem::transmute(1u32) };
}

#[device(chip = 1)]
pub fn open_mappings(device: &mut Device, x: &HbmTensor<f32, Chip, m![S, K]>) {
    let y: &HbmTensor<f32, Chip, _> = unsafe { std::mem::transmute(x) };
}

/// No mapping of the file, and no type of what becomes of it: the device's own context does not say it.
#[device(chip = 1)]
pub fn untyped(device: &mut Device, x: &HbmTensor<f32, Chip, m![S, K]>) {
    let x: DmTensor<f32, Chip, Cluster, m![S], m![K]> = x.to_dm(&mut device.tdma);
    let file = device
        .main
        .begin(x.view())
        .fetch::<m![K / 8], m![K % 8]>()
        .collect::<m![K / 8], m![K % 8]>()
        .vector_init()
        .vector_final()
        .to_vrf(&mut device.sub);
}
