// Arguments that are arrays, and structures with parameters: each part is an argument.
use furiosa_opt_std::prelude::*;
axes![N = 2, S = 256, V = 8];
#[derive(DeviceSend)]
pub struct Part<'a, D: Scalar> {
    pub w: &'a HbmTensor<D, m![1], m![S, V]>,
}
#[derive(DeviceSend)]
pub struct All<'a, const K: usize> {
    pub layers: [Part<'a, i32>; K],
}
// out[n] = layer n.
#[device(chip = 1)]
pub fn stacked(device: &mut Device, model: &All<'_, 2>, out: &mut HbmTensor<i32, m![1], m![N, S, V]>) {
    for i in 0..2 {
        let d: DmTensor<i32, m![1], m![1 # 2], m![S], m![V]> = model.layers[i].w.to_dm(&mut device.tdma);
        d.view().to_hbm_view(&mut device.tdma, out.view_mut().tile::<m![N], 1, m![1 #{!} 2, S, V]>(i));
    }
}
// The second of two tensors.
#[device(chip = 1)]
pub fn second(
    device: &mut Device,
    both: [&HbmTensor<i32, m![1], m![S, V]>; 2],
) -> HbmTensor<i32, m![1], m![S, V]> {
    let d: DmTensor<i32, m![1], m![1 # 2], m![S], m![V]> = both[1].to_dm(&mut device.tdma);
    d.to_hbm(&mut device.tdma)
}
