use furiosa_opt_std::prelude::*;

axes![T = 2048];

type Chip = m![1];
type Given = HbmTensor<i32, Chip, m![T]>;
type Row = DmTensor<i32, Chip, m![1 # 2], m![T / 8], m![T % 8]>;

#[device(chip = 1)]
pub fn of_an_argument(device: &mut Device, x: &Given, y: &mut Given) {
    let r: Row = x.to_dm(&mut device.tdma);
    *y = r.to_hbm(&mut device.tdma);
}

#[device(chip = 1)]
pub fn of_a_view(device: &mut Device, x: &Given) -> Given {
    let mut r: Row = x.to_dm(&mut device.tdma);
    let s = &mut r;
    *s = 5;
    r.to_hbm(&mut device.tdma)
}

struct Two {
    a: i32,
    b: i32,
}

#[device(chip = 1)]
pub fn of_a_structure(device: &mut Device, x: &Given) -> Given {
    let (mut a, mut b) = (0, 0);
    Two { a, b } = Two { a: 1, b: 2 };
    let r: Row = x.to_dm(&mut device.tdma);
    r.to_hbm(&mut device.tdma)
}

#[device(chip = 1)]
pub fn of_too_many(device: &mut Device, x: &Given) -> Given {
    let (mut a, mut b) = (1, 2);
    let all = [1, 2, 3];
    [a, b] = all;
    let r: Row = x.to_dm(&mut device.tdma);
    r.to_hbm(&mut device.tdma)
}

#[device(chip = 1)]
pub fn without_length(device: &mut Device, x: &Given) -> Given {
    let all = std::array::from_fn(|i| i);
    let r: Row = x.to_dm(&mut device.tdma);
    r.to_hbm(&mut device.tdma)
}

#[device(chip = 1)]
pub fn of_nothing(device: &mut Device, x: &Given) -> Given {
    unheard = 5;
    let r: Row = x.to_dm(&mut device.tdma);
    r.to_hbm(&mut device.tdma)
}
