// `#[unroll]` writes out each iteration.
use furiosa_opt_std::prelude::*;
axes![S = 256, N = 4, V = 8];
#[device(chip = 1)]
pub fn rolled(
    device: &mut Device,
    v: &HbmTensor<i32, m![1], m![N, S, V]>,
    out: &mut HbmTensor<i32, m![1], m![N, S, V]>,
) {
    for i in 0..4 {
        let d: DmTensor<i32, m![1], m![1 # 2], m![S], m![V]> =
            v.view().tile::<m![N], 1, m![1 # 4, S, V]>(i).to_dm(&mut device.tdma);
        d.view().to_hbm_view(&mut device.tdma, out.view_mut().tile::<m![N], 1, m![1 #{!} 4, S, V]>(i));
    }
}
#[device(chip = 1)]
pub fn unrolled(
    device: &mut Device,
    v: &HbmTensor<i32, m![1], m![N, S, V]>,
    out: &mut HbmTensor<i32, m![1], m![N, S, V]>,
) {
    #[unroll]
    for i in 0..4 {
        let d: DmTensor<i32, m![1], m![1 # 2], m![S], m![V]> =
            v.view().tile::<m![N], 1, m![1 # 4, S, V]>(i).to_dm(&mut device.tdma);
        d.view().to_hbm_view(&mut device.tdma, out.view_mut().tile::<m![N], 1, m![1 #{!} 4, S, V]>(i));
    }
}
