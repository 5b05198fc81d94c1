//! Indices of arrays of tensors: a loop's own, and a choice by it.
use furiosa_opt_std::prelude::*;

axes![A = 64];

type T = HbmTensor<i32, m![1], m![A]>;
type D = DmTensor<i32, m![1], m![1], m![1 # 64], m![A]>;

#[device(chip = 1, pe = 1)]
pub fn own(device: &mut Device, first: &T, second: &T) -> (T, T) {
    let inputs = [first, second];
    let mut outputs = [T::new(), T::new()];
    for i in 0..2 {
        let d: D = inputs[1 - i].to_dm(&mut device.tdma);
        let out: T = d.to_hbm(&mut device.tdma);
        outputs[i] = out;
    }
    let [one, other] = outputs;
    (one, other)
}

#[device(chip = 1, pe = 1)]
pub fn branched(device: &mut Device, first: &T, second: &T) {
    let inputs = [first, second];
    for i in 0..2 {
        let _: D = inputs[if i == 0 { 0 } else { 1 }].to_dm(&mut device.tdma);
    }
}

#[device(chip = 1, pe = 1)]
pub fn matched(device: &mut Device, first: &T, second: &T) {
    let inputs = [first, second];
    for i in 0..2 {
        let _: D = inputs[(match i {
            0 => 1,
            _ => 0,
        })]
        .to_dm(&mut device.tdma);
    }
}

/// Numbers have any index.
#[device(chip = 1, pe = 1)]
pub fn numbers(device: &mut Device, first: &T, second: &T) -> (T, T) {
    let inputs = [first, second];
    let mut outputs = [T::new(), T::new()];
    for i in 0..2 {
        let at = [1, 0][if i == 0 { 0 } else { 1 }];
        let d: D = inputs[at].to_dm(&mut device.tdma);
        let out: T = d.to_hbm(&mut device.tdma);
        outputs[i] = out;
    }
    let [one, other] = outputs;
    (one, other)
}
