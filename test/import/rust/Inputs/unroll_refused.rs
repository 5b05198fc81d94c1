// `#[unroll]` of a range that only the device knows, and of an empty one.
use furiosa_opt_std::prelude::*;
axes![S = 256, N = 4, V = 8];
#[device(chip = 1)]
pub fn of_an_argument(
    device: &mut Device,
    v: &HbmTensor<i32, m![1], m![N, S, V]>,
    n: usize,
    out: &mut HbmTensor<i32, m![1], m![N, S, V]>,
) {
    #[unroll]
    for i in 0..n {
        let d: DmTensor<i32, m![1], m![1 # 2], m![S], m![V]> =
            v.view().tile::<m![N], 1, m![1 # 4, S, V]>(i).to_dm(&mut device.tdma);
        d.view().to_hbm_view(&mut device.tdma, out.view_mut().tile::<m![N], 1, m![1 #{!} 4, S, V]>(i));
    }
}
#[device(chip = 1)]
pub fn empty(
    device: &mut Device,
    v: &HbmTensor<i32, m![1], m![N, S, V]>,
    out: &mut HbmTensor<i32, m![1], m![N, S, V]>,
) {
    #[unroll]
    for i in 3..1 {
        let d: DmTensor<i32, m![1], m![1 # 2], m![S], m![V]> =
            v.view().tile::<m![N], 1, m![1 # 4, S, V]>(i).to_dm(&mut device.tdma);
        d.view().to_hbm_view(&mut device.tdma, out.view_mut().tile::<m![N], 1, m![1 #{!} 4, S, V]>(i));
    }
}
