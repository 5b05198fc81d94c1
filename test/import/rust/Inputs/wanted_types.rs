//! Types of tensors that follow from the context alone. The comment of each kernel has the first number of its result,
//! of an input that begins with 0.
use furiosa_opt_std::prelude::*;

axes![T = 2048];

type Chip = m![1];
type Given = HbmTensor<i32, Chip, m![T]>;
type Row = DmTensor<i32, Chip, m![1 # 2], m![T / 8], m![T % 8]>;

macro_rules! plus {
    ($device:expr, $x:expr, $n:expr) => {
        $device
            .main
            .begin($x.view())
            .fetch::<m![1], m![T % 8]>()
            .collect::<m![1], m![T % 8]>()
            .vector_init()
            .vector_intra_slice_tag(TagMode::Zero)
            .vector_fxp(FxpBinaryOp::AddFxp, $n)
            .vector_final()
            .commit_trim::<m![T % 8]>()
            .commit()
    };
}

fn optional(device: &mut Device, x: &Row) -> Option<Row> {
    Some(plus!(device, x, 1))
}

fn fallible(device: &mut Device, x: &Row) -> Result<Row, i32> {
    let y = optional(device, x).ok_or(7)?;
    Ok(plus!(device, y, 2))
}

fn early(device: &mut Device, x: &Row, now: bool) -> (Row, i32) {
    if now {
        return (plus!(device, x, 3), 4);
    }
    (plus!(device, x, 5), 6)
}

struct Two {
    a: Row,
    b: Row,
}

struct One(Row);

impl Two {
    const STEP: i32 = 10;

    fn new(device: &mut Device, x: &Given) -> Self {
        let a = x.to_dm(&mut device.tdma);
        let b = plus!(device, a, Self::STEP);
        Self { a, b }
    }

    fn step<const N: usize>(&mut self, device: &mut Device) -> One {
        for _ in 0..N {
            self.a = plus!(device, self.b, 2);
        }
        One(plus!(device, self.a, 1))
    }

    fn take(&self, device: &mut Device, row: &Row) -> Row {
        plus!(device, row, 1)
    }
}

/// 1
#[device(chip = 1)]
pub fn in_some(device: &mut Device, x: &Given) -> Given {
    let r: Row = x.to_dm(&mut device.tdma);
    optional(device, &r).unwrap().to_hbm(&mut device.tdma)
}

/// 1 + 2
#[device(chip = 1)]
pub fn in_ok(device: &mut Device, x: &Given) -> Given {
    let r: Row = x.to_dm(&mut device.tdma);
    fallible(device, &r).expect("a row").to_hbm(&mut device.tdma)
}

/// 3 + 4, and 5
#[device(chip = 1)]
pub fn returned(device: &mut Device, x: &Given) -> Given {
    let r: Row = x.to_dm(&mut device.tdma);
    let (r, n) = early(device, &r, true);
    let s: Row = plus!(device, r, n);
    early(device, &s, false).0.to_hbm(&mut device.tdma)
}

/// 10 + 2 + 1: each of three steps begins with the second row.
#[device(chip = 1)]
pub fn in_fields(device: &mut Device, x: &Given) -> Given {
    let mut two = Two::new(device, x);
    let One(r) = two.step::<3>(device);
    r.to_hbm(&mut device.tdma)
}

/// 6 + 1
#[device(chip = 1)]
pub fn in_a_method(device: &mut Device, x: &Given) -> Given {
    let two = Two { a: x.to_dm(&mut device.tdma), b: x.to_dm(&mut device.tdma) };
    let r = plus!(device, two.a, 6);
    two.take(device, &r).to_hbm(&mut device.tdma)
}

/// 2 times 8
#[device(chip = 1)]
pub fn in_a_closure(device: &mut Device, x: &Given) -> Given {
    let r: Row = x.to_dm(&mut device.tdma);
    let mut twice = |x: &Row, n: i32| -> Row {
        let y: Row = plus!(device, x, n);
        plus!(device, y, n)
    };
    let s = twice(&r, 8);
    s.to_hbm(&mut device.tdma)
}

/// 0 + 1 + 2
#[device(chip = 1)]
pub fn in_an_array(device: &mut Device, x: &Given) -> Given {
    let r: Row = x.to_dm(&mut device.tdma);
    let all: [Row; 3] = std::array::from_fn(|i| plus!(device, r, i as i32));
    let more = core::array::from_fn::<Row, 2usize, _>(|i| plus!(device, all[i + 1], 1));
    more[1].to_hbm(&mut device.tdma)
}

/// The variable gets its type from both branches.
#[device(chip = 1)]
pub fn declared(device: &mut Device, x: &Given) -> Given {
    let r: Row;
    let first = x.to_dm(&mut device.tdma);
    if Two::STEP > 5 {
        r = plus!(device, first, 9);
    } else {
        r = first;
    }
    r.to_hbm(&mut device.tdma)
}
