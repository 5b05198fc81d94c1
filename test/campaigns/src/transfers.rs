//! Random chains of transfers between HBM, data memory and scratchpad memory, through lowering, interpreter and
//! logical evaluator: each puts a tensor into another order, over other clusters, slices and PEs. What the
//! verifier accepts must check.

use crate::kernels::{Feature, Kernels, SLICES};
use visa_support::Random;
use visa_support::kernel::{Digit, Kernel, bare};

/// A, B and C are spread and put in order, in halves of four though B has three; D is a row, which mostly stays whole;
/// T and U stand for copies.
const AXES: &str = "A = 4, B = 3, C = 3, D = 16, T = 2, U = 4";

/// Engines of a chip.
const ENGINES: u64 = 8;

/// PEs of a cluster.
pub(crate) const PES: u64 = 4;

/// A memory that a transfer reads or writes.
#[derive(Clone, Copy)]
enum Memory {
    Hbm,
    Dm,
    Spm,
}

impl Memory {
    const ALL: [Self; 3] = [Self::Hbm, Self::Dm, Self::Spm];

    /// What names of tensors in it start with.
    fn letter(self) -> char {
        match self {
            Self::Hbm => 'h',
            Self::Dm => 'd',
            Self::Spm => 's',
        }
    }

    /// The address of the tensor that step `step` makes there, which does not overlap that of the step before.
    fn address(self, step: u64) -> u64 {
        match self {
            Self::Hbm => (step + 1) << 20,
            Self::Dm => step % 2 * 8192,
            Self::Spm => step % 2 * 2048,
        }
    }
}

/// The axes A, B and C, each whole or split, in any order. What comes in or goes out has B `whole`.
fn digits(random: &mut Random, whole: bool) -> Vec<Digit> {
    let mut all = vec![("C".to_owned(), 3)];
    for (axis, padded, size) in [("A", "A", 4), ("B", "B # 4", 3)] {
        if random.below(2) == 0 || whole && axis == "B" {
            all.push((axis.to_owned(), size));
        } else {
            all.extend([(format!("{padded} / 2"), 2), (format!("{padded} % 2"), 2)]);
        }
    }
    random.shuffle(&mut all);
    all
}

/// Moves some digits into the parts of a cluster or chip, of which there are `room`, or `copies` of all. The mapping,
/// and what is in it.
pub(crate) fn spread(
    random: &mut Random,
    digits: &mut Vec<Digit>,
    room: u64,
    copies: Digit,
) -> (String, Vec<Digit>) {
    let (mut own, mut left) = (Vec::new(), room);
    digits.retain(|digit| {
        let taken = digit.1 <= left && random.below(2) == 0;
        if taken {
            left /= digit.1;
            own.push(digit.clone());
        }
        !taken
    });
    if own.is_empty() && random.below(4) == 0 {
        own.push(copies);
    }
    (format!("[[{}] # {room}]", bare(&own)), own)
}

/// The layout of one memory: the digits, and mostly whole rows innermost.
fn element(random: &mut Random, mut digits: Vec<Digit>) -> String {
    let row = if random.below(8) == 0 { "D # 20" } else { "D" };
    digits.push((row.to_owned(), 16));
    if random.below(8) == 0 {
        random.shuffle(&mut digits);
    }
    bare(&digits)
}

/// The stream of a transfer that moves rows of `digits`: some go to engines, the others follow in any order.
fn stream(random: &mut Random, mut digits: Vec<Digit>) -> String {
    random.shuffle(&mut digits);
    let (mut engines, mut left) = (Vec::new(), ENGINES);
    digits.retain(|digit| {
        let taken = digit.1 <= left && random.below(2) == 0;
        if taken {
            left /= digit.1;
            engines.push(digit.clone());
        }
        !taken
    });
    let mut text = format!(", engines [{}]", bare(&engines));
    if random.below(2) == 0 {
        text.push_str(&format!(", time [{}]", bare(&digits)));
        if random.below(2) == 0 {
            text.push_str(", packet [D]");
        }
    }
    text
}

/// A transfer of `from` as a line, and the name of what it makes.
fn transfer(random: &mut Random, from: &str, step: u64, slices: u64) -> (String, String) {
    let to = random.of(&Memory::ALL);
    let (name, at) = (format!("{}{step}", to.letter()), to.address(step));
    let (mut digits, mut counted) = (digits(random, false), Vec::new());
    let mut parts = |digits: &mut Vec<Digit>, room: u64, copies: (&str, u64)| {
        let (map, own) = spread(random, digits, room, (copies.0.to_owned(), copies.1));
        counted.extend(own);
        map
    };
    let line = match to {
        Memory::Hbm => format!("%{name} = tm.to_hbm %{from} at {at}, "),
        Memory::Dm => {
            let cluster = parts(&mut digits, 2, ("T", 2));
            let slice = parts(&mut digits, slices, ("U", 4));
            format!("%{name} = tm.to_dm %{from} at {at}, cluster {cluster}, slice {slice}, ")
        }
        Memory::Spm => {
            let cluster = parts(&mut digits, 2, ("T", 2));
            let pe = parts(&mut digits, PES, ("U", 4));
            format!("%{name} = tm.to_spm %{from} at {at}, cluster {cluster}, pe {pe}, ")
        }
    };
    counted.extend(digits.iter().cloned());
    let element = element(random, digits);
    let stream = if random.below(3) == 0 { stream(random, counted) } else { String::new() };
    (format!("{line}element [{element}]{stream}"), name)
}

/// The pairs of memories, and what shows them. One in a hundred at least must have each and be accepted.
const FEATURES: &[Feature] = &[
    ("HBM to HBM", &["to_hbm %h"]),
    ("HBM to DM", &["to_dm %h"]),
    ("HBM to SPM", &["to_spm %h"]),
    ("DM to HBM", &["to_hbm %d"]),
    ("DM to DM", &["to_dm %d"]),
    ("DM to SPM", &["to_spm %d"]),
    ("SPM to HBM", &["to_hbm %s"]),
    ("SPM to DM", &["to_dm %s"]),
    ("SPM to SPM", &["to_spm %s"]),
    ("copied", &["[[T]", "[[U]"]),
    ("padded", &["D # 20"]),
    ("given engines", &["engines"]),
    ("given order", &["time"]),
    ("given packets", &["packet"]),
];

/// Random chains of transfers.
pub const KERNELS: Kernels =
    Kernels { name: "transfers", slices: &SLICES, generate, features: FEATURES, one_in: 100 };

/// A kernel that moves `h`: its text, and the layouts of argument and result.
pub(crate) struct Chain {
    pub(crate) text: String,
    pub(crate) dtype: &'static str,
    pub(crate) argument: String,
    pub(crate) result: String,
}

/// A random chain.
pub(crate) fn draw(random: &mut Random, slices: u64) -> Chain {
    let dtype = random.of(&["i4", "i8", "bf16", "f32"]);
    let array = digits(random, true);
    let argument = element(random, array);
    let mut kernel = Kernel::new(AXES).argument("h", dtype, &argument, 0);
    let mut from = "h".to_owned();
    for step in 0..1 + random.under(4) {
        let (line, made) = transfer(random, &from, step, slices);
        (kernel, from) = (kernel.line(&line), made);
    }
    let result = format!("{}, D", bare(&digits(random, true)));
    Chain { text: kernel.returns(&from, 1 << 24, &result), dtype, argument, result }
}

fn generate(random: &mut Random, slices: u64) -> String {
    draw(random, slices).text
}
