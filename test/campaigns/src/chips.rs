//! Random chains of what moves tensors between chips and fills them, through lowering, interpreter and logical
//! evaluator: shuffles, transfers with another chip mapping, fills of parts. What the verifier accepts must check.

use crate::kernels::{Feature, Kernels, SLICES};
use visa_support::Random;

/// A, B and C are on chips or not; D is a row.
const AXES: &str = "A = 2, B = 2, C = 4, D = 8";

/// Mappings of four chips, and what else has to be held.
const CHIPS: [(&str, &[&str]); 11] = [
    ("[C]", &["A", "B"]),
    ("[A, B]", &["C"]),
    ("[B, A]", &["C"]),
    ("[A, C % 2]", &["B", "C / 2"]),
    ("[C / 2, B]", &["A", "C % 2"]),
    ("[C % 2, C / 2]", &["A", "B"]),
    ("[A, 2]", &["B", "C"]),
    ("[4]", &["A", "B", "C"]),
    ("[A # 4]", &["B", "C"]),
    ("[1 # 4]", &["A", "B", "C"]),
    ("[C @ (1, 2, 3, 0)]", &["A", "B"]),
];

/// The tensor so far.
struct Held {
    name: String,
    in_dm: bool,
    chip: usize,
    /// What a slice or chip holds beside the row.
    outer: Vec<&'static str>,
}

/// Shuffled, and a row innermost.
fn element(random: &mut Random, rest: &[&'static str]) -> Vec<&'static str> {
    let mut rest = rest.to_vec();
    random.shuffle(&mut rest);
    rest
}

fn text(outer: &[&str], row: &str) -> String {
    let all: Vec<&str> = outer.iter().copied().chain([row]).collect();
    format!("[{}]", all.join(", "))
}

/// The order in which chips get their parts: any, or one that a rotation makes.
fn order(random: &mut Random) -> Vec<u64> {
    let mut by = vec![0, 1, 2, 3];
    if random.below(2) == 0 {
        by.rotate_left(random.below(4));
    } else {
        random.shuffle(&mut by);
    }
    by
}

/// The next operation as a line, and what it makes.
fn step(random: &mut Random, from: Held, number: u64, slices: u64) -> (String, Held) {
    let (at, name) = (if from.in_dm { number * 4096 } else { number << 20 }, format!("v{number}"));
    let source = &from.name;
    match random.below(4) {
        0 => {
            let line = format!("%{name} = tm.chip_shuffle %{source} by {:?}, at {at}", order(random));
            (line, Held { name, ..from })
        }
        1 if from.in_dm => {
            let row = random.of(&["D @ 4 = 4 # 8", "D = 2 # 8", "D @ 7 = 1 # 8", "D"]);
            let part = text(&from.outer, row);
            let line =
                format!("%{name} = stream.fill_view %{source} value {}, element {part}", random.under(9));
            (line, Held { name, ..from })
        }
        kind => {
            let chip = if random.below(3) == 0 { from.chip } else { random.below(CHIPS.len()) };
            let given = if chip == from.chip { String::new() } else { format!("chip {}, ", CHIPS[chip].0) };
            let mut outer = element(random, CHIPS[chip].1);
            let in_dm = kind != 3;
            let line = if in_dm {
                let spread: Vec<&str> = outer.drain(..random.below(outer.len() + 1)).collect();
                let slice =
                    if spread.is_empty() { "1".to_owned() } else { format!("[{}]", spread.join(", ")) };
                let at = number * 4096;
                format!(
                    "%{name} = tm.to_dm %{source} at {at}, {given}cluster [1 # 2], slice [{slice} # {slices}], \
                     element {}",
                    text(&outer, "D")
                )
            } else {
                format!(
                    "%{name} = tm.to_hbm %{source} at {}, {given}element {}",
                    number << 20,
                    text(&outer, "D")
                )
            };
            (line, Held { name, in_dm, chip, outer })
        }
    }
}

/// What is moved how, and what shows it. One in a hundred at least must have each and be accepted.
const FEATURES: &[Feature] = &[
    ("shuffled", &["chip_shuffle %"]),
    ("filled in part", &["fill_view %"]),
    ("moved between chips into DM", &["to_dm %x at 4096, chip"]),
    ("moved between chips into HBM", &["to_hbm %x at 1048576, chip"]),
    ("gathered from chips", &["chip [4]"]),
];

/// Random chains.
pub const KERNELS: Kernels =
    Kernels { name: "chips", slices: &SLICES, generate, features: FEATURES, one_in: 100 };

fn generate(random: &mut Random, slices: u64) -> String {
    let dtype = random.of(&["i32", "bf16", "u8", "f4e2m1"]);
    // All of the argument is on some chip.
    let chip = random.below(8);
    let outer = element(random, CHIPS[chip].1);
    let mut text_of = format!(
        "visa 1\ntm.axes [{AXES}]\ntm.func @k(%x: !tm.hbm<{dtype}, {}, {}>) at [0], chips 4 {{\n",
        CHIPS[chip].0,
        text(&outer, "D")
    );
    let mut held = Held { name: "x".to_owned(), in_dm: false, chip, outer };
    for number in 1..=1 + random.under(4) {
        let (line, next) = step(random, held, number, slices);
        text_of.push_str(&format!("  {line}\n"));
        held = next;
    }
    let result = format!("%r = tm.to_hbm %{} at 16777216, chip [C], element [A, B, D]", held.name);
    format!("{text_of}  {result}\n  tm.return %r\n}}\n")
}
