// Rust of the host part: associated constants, traits with constants, methods, enumerations in `match`, `if let`,
// `rev`, `step_by`, destructuring.
use furiosa_opt_std::prelude::*;
axes![S = 256, N = 4, V = 8];
type D = DmTensor<i32, m![1], m![1 # 2], m![S], m![V]>;
struct Sizes;
impl Sizes {
    const STEP: i32 = 9;
    const TWICE: i32 = Self::STEP * 2;
}
trait Amount {
    const AMOUNT: i32;
    fn amount(&self) -> i32 {
        Self::AMOUNT
    }
}
impl Amount for Sizes {
    const AMOUNT: i32 = 7;
}
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Plain,
    By(i32),
    Sum { left: i32, right: i32 },
}
impl Kind {
    fn amount(self) -> i32 {
        match self {
            Kind::Plain => 0,
            Kind::By(own) if own > 100 => 100,
            Self::By(own) => own,
            Kind::Sum { left, right } => left + right,
        }
    }
}
struct Config {
    kind: Kind,
    pair: (i32, [i32; 3]),
    last: Option<i32>,
}
impl Config {
    fn new(kind: Kind) -> Self {
        Self { kind, pair: (1, [2, 3, 4]), last: Some(5) }
    }
    fn total(&self) -> i32 {
        let Self { kind, pair: (first, [second, .., third]), last } = self;
        let mut sum = kind.amount() + first + second + third;
        if let Some(last) = last {
            sum += last;
        }
        let Some(_) = *last else { return 0 };
        sum
    }
}
fn plus(device: &mut Device, d: &D, n: i32) -> D {
    device
        .main
        .begin(d.view())
        .fetch::<m![1], m![V]>()
        .collect::<m![1], m![V]>()
        .vector_init()
        .vector_intra_slice_tag(TagMode::Zero)
        .vector_fxp(FxpBinaryOp::AddFxp, n)
        .vector_final()
        .commit_trim::<m![V]>()
        .commit()
}
// 18 + 7 + 7 = 32.
#[device(chip = 1)]
pub fn constants(
    device: &mut Device,
    v: &HbmTensor<i32, m![1], m![S, V]>,
) -> HbmTensor<i32, m![1], m![S, V]> {
    let d: D = v.to_dm(&mut device.tdma);
    let r = plus(device, &d, Sizes::TWICE + <Sizes as Amount>::AMOUNT + Sizes.amount());
    r.to_hbm(&mut device.tdma)
}
// (3 + 4) + 1 + 2 + 4 + 5 = 19, and 100 + 12 = 112: together 131.
#[device(chip = 1)]
pub fn matched(device: &mut Device, v: &HbmTensor<i32, m![1], m![S, V]>) -> HbmTensor<i32, m![1], m![S, V]> {
    let d: D = v.to_dm(&mut device.tdma);
    let sums = [Kind::Sum { left: 3, right: 4 }, Kind::By(1000)].map(|kind| Config::new(kind).total());
    let r = plus(device, &d, sums.iter().sum::<i32>());
    r.to_hbm(&mut device.tdma)
}
// Iterations 3, 1 of (0..4).rev().step_by(2): 3 * 10 + 1 = 31; then 0, 2 of step_by: 31 + 2 = 33; enumerate:
// 0 * 5 + 1 * 6 = 6: 39.
#[device(chip = 1)]
pub fn counted(device: &mut Device, v: &HbmTensor<i32, m![1], m![S, V]>) -> HbmTensor<i32, m![1], m![S, V]> {
    let d: D = v.to_dm(&mut device.tdma);
    let mut number = 0;
    for i in (0..4).rev().step_by(2) {
        number = number * 10 + i;
    }
    for i in (0..4).step_by(2) {
        number += i;
    }
    for (at, own) in [5, 6].into_iter().enumerate() {
        number += at as i32 * own;
    }
    let r = plus(device, &d, number);
    r.to_hbm(&mut device.tdma)
}
// Tiles backwards: out[3 - n] = v[n], a loop whose index is a number.
#[device(chip = 1)]
pub fn backwards(
    device: &mut Device,
    v: &HbmTensor<i32, m![1], m![N, S, V]>,
    out: &mut HbmTensor<i32, m![1], m![N, S, V]>,
) {
    for (n, to) in (0..4).zip((0..4).rev()) {
        let d: D = v.view().tile::<m![N], 1, m![1 # 4, S, V]>(n).to_dm(&mut device.tdma);
        d.view().to_hbm_view(&mut device.tdma, out.view_mut().tile::<m![N], 1, m![1 #{!} 4, S, V]>(to));
    }
}
