//! Random gathers and scatters by index tensors, through lowering, interpreter and logical evaluator: tables in any
//! order, indices in HBM and scratchpad memory, results in every memory. What the verifier accepts must check.

use crate::kernels::{SLICES, machines, run_kernel};
use crate::transfers::{PES, spread};
use crate::{Settings, shared};
use std::path::Path;
use visa_support::Random;
use visa_support::kernel::{Digit, Kernel, bare};

/// V counts the rows of the table, T and U those that are chosen, and B is of both; D is a row. X and Y stand for
/// copies.
const AXES: &str = "V = 24, B = 2, T = 3, U = 4, D = 16, X = 2, Y = 4";

/// Rows of the table.
const ROWS: u64 = 24;

/// A kernel, with its indices in C order of their tensor.
struct Case {
    text: String,
    shape: Vec<u64>,
    indices: Vec<u64>,
    is_scatter: bool,
    /// Whether a scatter names a row twice.
    repeats: bool,
}

/// A layout: these digits in any order, mostly with whole rows, or halves of them, innermost.
fn layout(random: &mut Random, mut digits: Vec<Digit>) -> Vec<Digit> {
    let half = random.below(3) == 0;
    if half {
        digits.push(("D / 8".to_owned(), 2));
    }
    random.shuffle(&mut digits);
    digits.push(if half { ("D % 8".to_owned(), 8) } else { ("D".to_owned(), 16) });
    if random.below(8) == 0 {
        random.shuffle(&mut digits);
    }
    digits
}

fn digit(name: &str, size: u64) -> Digit {
    (name.to_owned(), size)
}

/// The axes of the index, one of them split now and then.
fn of_index(random: &mut Random, axes: &[(&str, u64)]) -> Vec<Digit> {
    let mut digits: Vec<Digit> = axes.iter().map(|&(name, size)| digit(name, size)).collect();
    if random.below(3) == 0 {
        digits.retain(|(name, _)| name != "U");
        digits.extend(
            axes.iter().filter(|(name, _)| *name == "U").flat_map(|_| [digit("U / 2", 2), digit("U % 2", 2)]),
        );
    }
    random.shuffle(&mut digits);
    digits
}

/// A line that moves what `from` says to a random memory as `%name`, whose operation starts with `to`.
fn moved(
    random: &mut Random,
    to: &str,
    name: &str,
    from: &str,
    mut digits: Vec<Digit>,
    slices: u64,
) -> String {
    let mut parts = |digits: &mut Vec<Digit>, room: u64, copies: Digit| spread(random, digits, room, copies);
    match to.rsplit('_').next() {
        Some("hbm") => {
            let element = layout(random, digits);
            format!("%{name} = tm.{to} {from} at 2097152, element [{}]", bare(&element))
        }
        Some("dm") => {
            let cluster = parts(&mut digits, 2, digit("X", 2));
            let slice = parts(&mut digits, slices, digit("Y", 4));
            let element = bare(&layout(random, digits));
            format!("%{name} = tm.{to} {from} at 4096, cluster {cluster}, slice {slice}, element [{element}]")
        }
        Some(_) | None => {
            let cluster = parts(&mut digits, 2, digit("X", 2));
            let pe = parts(&mut digits, PES, digit("Y", 4));
            let element = bare(&layout(random, digits));
            format!("%{name} = tm.{to} {from} at 1024, cluster {cluster}, pe {pe}, element [{element}]")
        }
    }
}

/// The rows that are chosen: for a scatter without repetition among those of one table.
fn rows(random: &mut Random, count: u64, is_scatter: bool, repeats: bool) -> Vec<u64> {
    if !is_scatter || repeats {
        return (0..count).map(|_| random.under(ROWS)).collect();
    }
    let mut all: Vec<u64> = (0..ROWS).collect();
    random.shuffle(&mut all);
    all.truncate(usize::try_from(count).expect("few indices"));
    all
}

fn generate(random: &mut Random, slices: u64, shadow: bool) -> Case {
    let (dtype, bytes) = random.of(&[("i8", 1), ("bf16", 2), ("f32", 4)]);
    let is_scatter = random.below(2) == 0;
    let repeats = is_scatter && !shadow && random.below(4) == 0;
    let in_common = random.below(3) == 0;
    let mut axes = vec![("T", 3), ("U", 4)];
    axes.truncate(1 + random.below(2));
    if in_common {
        axes.push(("B", 2));
    }
    let padded = random.below(6) == 0;
    let mut of_table = vec![digit(if padded { "V # 32" } else { "V" }, if padded { 32 } else { ROWS })];
    if in_common || random.below(3) == 0 {
        of_table.push(digit("B", 2));
    }
    let has_b = of_table.len() > 1;
    let table = layout(random, of_table);
    let after = table.iter().skip_while(|(name, _)| !name.starts_with('V')).skip(1);
    let distance = after.map(|(_, size)| size).product::<u64>() * bytes;
    let in_spm = random.below(2) == 0;
    // Of the array of indices B is the outermost axis: rows of one table follow each other.
    let array: Vec<&(&str, u64)> = axes
        .iter()
        .filter(|(name, _)| *name == "B")
        .chain(axes.iter().filter(|(name, _)| *name != "B"))
        .collect();
    let of_one: u64 = array.iter().filter(|(name, _)| *name != "B").map(|(_, size)| size).product();
    let tables = if in_common { 2 } else { 1 };
    let chosen = (0..tables).flat_map(|_| rows(random, of_one, is_scatter, repeats)).collect::<Vec<_>>();
    let unit = if in_spm { 1 } else { distance };
    let element: Vec<Digit> = array.iter().map(|&&(name, size)| digit(name, size)).collect();
    let mut kernel = Kernel::new(AXES).argument("t", dtype, &bare(&table), 0).argument(
        "i",
        "i32",
        &bare(&element),
        1 << 18,
    );
    let mut index = "i".to_owned();
    if in_spm {
        let mut own = of_index(random, &axes);
        let cluster = spread(random, &mut own, 2, digit("X", 2));
        let pe = spread(random, &mut own, PES, digit("Y", 4));
        // A whole number of 8 bytes, and a padding that moves along.
        let line = format!("%s = tm.to_hbm %i at {}, element [{}]", 1 << 19, bare(&own_order(&own, &axes)));
        kernel = kernel
            .line(&line)
            .line(&format!("%n = tm.to_spm %s at 64, cluster {cluster}, pe {pe}, element [{}]", bare(&own)));
        index = "n".to_owned();
    }
    let mut of_rows = of_index(random, &axes);
    if has_b && !in_common {
        of_rows.push(digit("B", 2));
    }
    let memory = random.of(&["hbm", "dm", "spm"]);
    let result: String;
    if is_scatter {
        // One axis of the index may be missing: its rows are then the same.
        if axes.len() > 1 && !in_common && random.below(3) == 0 {
            of_rows.retain(|(name, _)| !name.starts_with('U'));
        }
        let given = layout(random, of_rows.clone());
        kernel = kernel.argument("x", dtype, &bare(&given), 1 << 20);
        kernel = kernel.line(&moved(random, &format!("to_{memory}"), "r", "%x", of_rows, slices));
        kernel = kernel.line(&format!("%c = tm.scatter %r, %{index}, %t along [V]"));
        result = if has_b { "B, V, D".to_owned() } else { "V, D".to_owned() };
    } else {
        let from = format!("%t, %{index} along [V],");
        let all = of_rows.clone();
        kernel = kernel.line(&moved(random, &format!("gather_to_{memory}"), "c", &from, of_rows, slices));
        result = format!("{}, D", bare(&all));
    }
    let indices = chosen.iter().map(|row| row * unit).collect();
    let shape = array.iter().map(|&&(_, size)| size).collect();
    let text = kernel.returns("c", 1 << 22, &result);
    Case { text, shape, indices, is_scatter, repeats }
}

/// The digits of an index in an order in which a transfer into scratchpad memory has its runs.
fn own_order(inner: &[Digit], axes: &[(&str, u64)]) -> Vec<Digit> {
    let whole = |name: &str| inner.iter().any(|(own, _)| own == name);
    let mut outer: Vec<Digit> = axes
        .iter()
        .filter(|(name, _)| !whole(name))
        .flat_map(|&(name, size)| match name {
            "U" if inner.iter().any(|(own, _)| own.starts_with("U ")) => {
                let halves = [digit("U / 2", 2), digit("U % 2", 2)];
                halves.into_iter().filter(|(half, _)| !whole(half)).collect::<Vec<_>>()
            }
            _ => vec![digit(name, size)],
        })
        .collect();
    outer.extend(inner.iter().cloned());
    outer
}

/// An array of `i32` as a file of NumPy.
fn npy(shape: &[u64], elements: &[u64]) -> Vec<u8> {
    let shape = shape.iter().map(|extent| format!("{extent},")).collect::<String>();
    let header = format!("{{'descr': '<i4', 'fortran_order': False, 'shape': ({shape}), }}");
    let header = format!("{header:<117}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend(u16::try_from(header.len()).expect("a short header").to_le_bytes());
    bytes.extend(header.bytes());
    let values = elements.iter().map(|&element| i32::try_from(element).expect("an index"));
    bytes.extend(values.flat_map(i32::to_le_bytes));
    bytes
}

/// What has been accepted of each kind.
const KINDS: [&str; 3] = ["gathers", "scatters", "scatters that name a row twice"];

/// Runs so many kernels of a seed; one in four asks shadow mode as well, where no scatter names a row twice. One in
/// five at least must be legal, and one in a hundred of each kind.
///
/// # Panics
/// If a kernel breaks a promise, or if the kernels show too little.
pub fn run(settings: &Settings<'_>) {
    let Settings { count, seed, .. } = *settings;
    let folder = tempfile::tempdir().expect("a temporary folder");
    let machines = machines(folder.path(), &SLICES);
    let shares = shared::each_core(|numbers| {
        let mut accepted = [0_u64; KINDS.len()];
        for number in numbers.take_while(|number| *number < count) {
            let size = if number % 64 == 0 { 2 } else { 0 };
            if let Some(kind) = run_case(folder.path(), &machines[size], SLICES[size], (seed, number)) {
                accepted[kind] += 1;
            }
        }
        accepted
    });
    let sum = |kind: usize| shares.iter().map(|share| share[kind]).sum::<u64>();
    let found: Vec<u64> = (0..KINDS.len()).map(sum).collect();
    println!("rows, seed {seed}: {} of {count} accepted and checked", found.iter().sum::<u64>());
    assert!(found.iter().sum::<u64>() >= count / 5, "seed {seed}: {found:?} of {count} are legal");
    for (name, found) in KINDS.iter().zip(&found) {
        println!("  {found} {name}");
        assert!(*found >= count / 100, "seed {seed}: only {found} of {count} are {name}");
    }
}

/// Runs one kernel; which kind it is, if it was accepted.
fn run_case(folder: &Path, machine: &Path, slices: u64, (seed, number): (u64, u64)) -> Option<usize> {
    let mut random = Random::of_case(seed, number);
    let shadow = number.is_multiple_of(4);
    let case = generate(&mut random, slices, shadow);
    let file = folder.join(format!("{number}.npy"));
    std::fs::write(&file, npy(&case.shape, &case.indices)).expect("a file");
    let title = format!("rows, seed {seed}, case {number}, indices {:?}", case.indices);
    let argument = format!("i={}", file.to_string_lossy());
    let accepted = run_kernel(&title, &case.text, &machine.to_string_lossy(), shadow, &["--arg", &argument]);
    std::fs::remove_file(&file).expect("the file");
    accepted.then_some(usize::from(case.is_scatter) + usize::from(case.repeats))
}
