//! Assignments through references to tensors, to several places, and of fields. The comment of each kernel has the
//! first number of its result, of an input that begins with 0.
use furiosa_opt_std::prelude::*;

axes![T = 2048];

type Chip = m![1];
type Given = HbmTensor<i32, Chip, m![T]>;
type Row = DmTensor<i32, Chip, m![1 # 2], m![T / 8], m![T % 8]>;

fn add(device: &mut Device, x: &Row, n: i32) -> Row {
    device
        .main
        .begin(x.view())
        .fetch::<m![1], m![T % 8]>()
        .collect::<m![1], m![T % 8]>()
        .vector_init()
        .vector_intra_slice_tag(TagMode::Zero)
        .vector_fxp(FxpBinaryOp::AddFxp, n)
        .vector_final()
        .commit_trim::<m![T % 8]>()
        .commit()
}

fn add_to(device: &mut Device, x: &mut Row, n: i32) {
    *x = add(device, x, n);
}

struct Two {
    a: Row,
    b: Row,
}

impl Two {
    fn step(&mut self, device: &mut Device) {
        self.a = add(device, &self.b, 100);
    }
}

/// 1 + 2 = 3
#[device(chip = 1)]
pub fn by_reference(device: &mut Device, x: &Given) -> Given {
    let mut r: Row = x.to_dm(&mut device.tdma);
    add_to(device, &mut r, 1);
    add_to(device, &mut r, 2);
    r.to_hbm(&mut device.tdma)
}

/// 3 times 1
#[device(chip = 1)]
pub fn in_a_loop(device: &mut Device, x: &Given) -> Given {
    let mut r: Row = x.to_dm(&mut device.tdma);
    for _ in 0..3 {
        add_to(device, &mut r, 1);
    }
    r.to_hbm(&mut device.tdma)
}

/// 100 + 1
#[device(chip = 1)]
pub fn of_fields(device: &mut Device, x: &Given) -> Given {
    let mut two = Two { a: x.to_dm(&mut device.tdma), b: x.to_dm(&mut device.tdma) };
    two.step(device);
    add_to(device, &mut two.a, 1);
    two.a.to_hbm(&mut device.tdma)
}

/// The second row begins with 5, and gets 10.
#[device(chip = 1)]
pub fn of_elements(device: &mut Device, x: &Given) -> Given {
    let a: Row = x.to_dm(&mut device.tdma);
    let b = add(device, &a, 5);
    let mut all = [a, b];
    for r in all.iter_mut() {
        *r = add(device, r, 10);
    }
    all[1].to_hbm(&mut device.tdma)
}

/// `a` gets 1 in the first and in the third iteration.
#[device(chip = 1)]
pub fn of_a_choice(device: &mut Device, x: &Given) -> Given {
    let mut a: Row = x.to_dm(&mut device.tdma);
    let mut b = add(device, &a, 5);
    for i in 0..3 {
        let r = if i % 2 == 0 { &mut a } else { &mut b };
        *r = add(device, r, 1);
    }
    a.to_hbm(&mut device.tdma)
}

/// `a` has 5 after the exchange, and `b` 0: 5 + 20.
#[device(chip = 1)]
pub fn swapped(device: &mut Device, x: &Given) -> Given {
    let mut a: Row = x.to_dm(&mut device.tdma);
    let mut b = add(device, &a, 5);
    std::mem::swap(&mut a, &mut b);
    drop(b);
    add(device, &a, 20).to_hbm(&mut device.tdma)
}

/// The old content, 0, and 1.
#[device(chip = 1)]
pub fn replaced(device: &mut Device, x: &Given) -> Given {
    let mut a: Row = x.to_dm(&mut device.tdma);
    let b = add(device, &a, 5);
    let old = std::mem::replace(&mut a, b);
    add(device, &old, 1).to_hbm(&mut device.tdma)
}

/// 7 + 1 + 1
#[device(chip = 1)]
pub fn in_an_option(device: &mut Device, x: &Given) -> Given {
    let mut held: Option<Row> = None;
    let a: Row = x.to_dm(&mut device.tdma);
    held = Some(add(device, &a, 7));
    if let Some(r) = held.as_mut() {
        *r = add(device, r, 1);
    }
    if let Some(r) = &mut held {
        *r = add(device, r, 1);
    }
    held.unwrap().to_hbm(&mut device.tdma)
}

/// Fibonacci numbers: (1, 2), (2, 3), (3, 5), (5, 8); and the rows change places: 8 + 40.
#[device(chip = 1)]
pub fn several(device: &mut Device, x: &Given) -> Given {
    let (mut a, mut b) = (1, 2);
    for _ in 0..3 {
        (a, b) = (b, a + b);
    }
    let first: Row = x.to_dm(&mut device.tdma);
    let (mut one, mut other) = (add(device, &first, 30), add(device, &first, 40));
    [one, .., other] = [other, first, one];
    drop(other);
    add(device, &one, b).to_hbm(&mut device.tdma)
}

/// A row that stays in data memory gets 2 as a whole.
#[device(chip = 1)]
pub fn of_resident(device: &mut Device, x: &mut Row) {
    *x = add(device, x, 2);
}
