//! Reductions of the vector engine within a slice and between slices, over indices that the generator knows.

use super::array::{Array, axes_of};
use super::intent::{Intent, SLICES};
use super::numbers::{greatest, least, on_floats, sum};
use visa_numerics::DType;
use visa_support::Random;
use visa_support::kernel::{Digit, Kernel, bare, list, mapping};

/// A function of two elements: its name, its format and its bits.
type Operation = (&'static str, DType, fn(u32, u32) -> u32);

/// The functions of reductions between slices.
const OPERATIONS: [Operation; 8] = [
    ("Add", DType::F32, |x, y| sum(true, x, y)),
    ("Max", DType::F32, greatest),
    ("Min", DType::F32, least),
    ("Mul", DType::F32, |x, y| on_floats([x, y], |[x, y]| x * y)),
    ("Add", DType::I32, u32::wrapping_add),
    ("AddSat", DType::I32, |x, y| (x as i32).saturating_add(y as i32) as u32),
    ("Max", DType::I32, |x, y| (x as i32).max(y as i32) as u32),
    ("Min", DType::I32, |x, y| (x as i32).min(y as i32) as u32),
];

/// Returns true if a reduction within a slice has it.
fn within(operation: &Operation) -> bool {
    !matches!((operation.0, operation.1), ("Mul", _) | ("Add", DType::I32))
}

fn size(axis: &str) -> u64 {
    match axis {
        "P" => SLICES / 4,
        "Q" => 4,
        "E" => 8,
        "R" => 6,
        _ => 3,
    }
}

fn digit(text: &str, size: u64) -> Digit {
    (text.to_owned(), size)
}

/// A kernel that loads `x`, narrows or not, reduces, and stores the result with the axes of `result`.
fn kernel(dtype: DType, time: &[Digit], reduced: &str, commit: &str, result: &str) -> String {
    let (memory, time) = (bare(&[time, &[digit("E", 8)]].concat()), mapping(time));
    let axes = format!("P = {}, Q = 4, X = 4, E = 8, R = 6, T = 3", SLICES / 4);
    Kernel::new(&axes)
        .argument("x", &dtype.to_string(), &format!("P, Q, {memory}"), 0)
        .to_dm("d", "x", 0, "P, Q", &memory)
        .line("%0 = stream.begin main %d")
        .line(&format!("%1 = stream.fetch %0 time {time}, packet [E]"))
        .line(&format!("%2 = stream.collect %1 time {time}, packet [E]"))
        .line("%3 = stream.vector_init %2")
        .lines(reduced)
        .line("%v = stream.vector_final %last")
        .line(&format!("%y = stream.commit %v at 8192, element {commit}"))
        .returns("y", 1 << 29, result)
}

/// Steps of time: T and R, whole or in parts, in any order, and the order of R in time.
fn steps(random: &mut Random) -> (Vec<Digit>, Vec<u64>) {
    let parts: u64 = random.of(&[1, 2, 3]);
    let mut time = match parts {
        1 => vec![digit("R", 6)],
        _ => vec![digit(&format!("R / {parts}"), 6 / parts), digit(&format!("R % {parts}"), parts)],
    };
    time.extend((random.below(2) == 0).then(|| digit("T", 3)));
    random.shuffle(&mut time);
    let at = |text: &str| time.iter().position(|(digit, _)| digit == text);
    let low_first = parts > 1 && at(&format!("R % {parts}")) < at(&format!("R / {parts}"));
    let order = match low_first {
        true => (0..parts).flat_map(|low| (0..6 / parts).map(move |high| high * parts + low)).collect(),
        false => (0..6).collect(),
    };
    (time, order)
}

/// A reduction of Q, which is on slices: in their order.
pub(super) fn between_slices(random: &mut Random) -> Intent {
    let (name, dtype, apply) = random.of(&OPERATIONS);
    let (time, _) = steps(random);
    let reduced = format!(
        "%4 = stream.vector_inter_slice_reduce {name} %3 slice [P, 1 # 4], time {}
         %last = stream.vector_branch unconditional %4",
        mapping(&time)
    );
    let inside = bare(&time);
    let text = kernel(dtype, &time, &reduced, &format!("[{inside}, E]"), &format!("P, {inside}, E"));
    Intent::new(text, move |random| {
        let axes = |first: &str| axes_of(&format!("{first}, {inside}, E"), size);
        let x = Array::random(random, dtype, axes("P, Q"));
        let result = Array::of(dtype, axes("P"), |point| {
            let all: Option<Vec<u32>> = (0..4).map(|q| x.at(&point.with("Q", q))).collect();
            all?.into_iter().reduce(apply)
        });
        (vec![("x", x)], result)
    })
}

/// A reduction within a slice: of R, which is in time, or of E, which is in packets.
pub(super) fn within_slices(random: &mut Random) -> Intent {
    let within: Vec<Operation> = OPERATIONS.iter().copied().filter(within).collect();
    let (name, dtype, apply) = random.of(&within);
    let (time, order) = steps(random);
    let in_packet = random.below(2) == 0;
    let mut left = time.clone();
    if !in_packet {
        left.retain(|(text, _)| text == "T");
    }
    let outer = list(&left.iter().map(|(text, _)| text).collect::<Vec<_>>());
    let split = format!(
        "%4 = stream.vector_branch unconditional %3
         %5 = stream.vector_split %4 time [{}, E / 4], packet [E % 4]",
        bare(&time)
    );
    let reduced = match in_packet {
        true => format!(
            "{split}
             %6 = stream.vector_intra_slice_reduce {name} %5 axis [E], time [{outer}], packet [1 # 4]
             %last = stream.vector_pad %6 packet [1 # 8]"
        ),
        false => format!(
            "{split}
             %6 = stream.vector_intra_slice_reduce {name} %5 axis [R], time [{outer}, E / 4], packet [E % 4]
             %last = stream.vector_concat %6 time [{outer}], packet [E]"
        ),
    };
    let packet = if in_packet { "1 # 8" } else { "E" };
    let result = if in_packet { format!("P, Q, {outer}") } else { format!("P, Q, {outer}, E") };
    let text = kernel(dtype, &time, &reduced, &format!("[{outer}, {packet}]"), &result);
    Intent::new(text, move |random| {
        let x = Array::random(random, dtype, axes_of(&format!("P, Q, {}, E", bare(&time)), size));
        let tree = |at: &dyn Fn(u64) -> Option<u32>, first: u64| {
            let pair = |first: u64| Some(apply(at(first)?, at(first + 1)?));
            Some(apply(pair(first)?, pair(first + 2)?))
        };
        let reduced = Array::of(dtype, axes_of(&result, size), |point| {
            if in_packet {
                let at = |e: u64| x.at(&point.with("E", e));
                return Some(apply(tree(&at, 0)?, tree(&at, 4)?));
            }
            let all: Option<Vec<u32>> = order.iter().map(|&r| x.at(&point.with("R", r))).collect();
            all?.into_iter().reduce(apply)
        });
        (vec![("x", x)], reduced)
    })
}
