//! Random gathers and scatters by index tensors, through lowering, interpreter and logical evaluator: tables in any
//! order, indices in HBM and scratchpad memory, results in every memory. What the verifier accepts must check.

use crate::kernels::{SLICES, machines, run_kernel};
use crate::settings::Settings;
use crate::shared;
use crate::transfers::{PES, spread};
use std::path::Path;
use visa_support::Random;
use visa_support::kernel::{Digit, Kernel, bare};

/// V counts the rows of the table, T and U those that are chosen, and B is of both; D is a row. X and Y stand for
/// copies.
const AXES: &str = "V = 24, B = 2, T = 3, U = 4, D = 16, X = 2, Y = 4";

/// Rows of the table.
const ROWS: u64 = 24;

/// A kernel, with its indices in C order of their tensor.
pub(crate) struct Case {
    pub(crate) text: String,
    pub(crate) dtype: &'static str,
    /// The axes of the index.
    pub(crate) index: Vec<(&'static str, u64)>,
    pub(crate) indices: Vec<u64>,
    /// Difference of the indices of two rows.
    pub(crate) unit: u64,
    /// The layout of the table, and of the result.
    pub(crate) table: String,
    pub(crate) result: String,
    /// The layout of the rows that are scattered.
    pub(crate) scattered: Option<String>,
    /// Whether a scatter names a row twice.
    repeats: bool,
}

impl Case {
    /// Elements along each axis of the index.
    fn shape(&self) -> Vec<u64> {
        self.index.iter().map(|(_, size)| *size).collect()
    }
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
    let mut parts =
        |digits: &mut Vec<Digit>, room: u64, copies: Digit| spread(random, digits, room, copies).0;
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

/// What a kernel is like.
struct Shape {
    dtype: &'static str,
    /// Bytes of an element.
    bytes: u64,
    is_scatter: bool,
    repeats: bool,
    /// The axes of the index, B first if it is one of them.
    axes: Vec<(&'static str, u64)>,
    /// The table's layout.
    table: Vec<Digit>,
    /// Whether the index is in scratchpad memory.
    in_spm: bool,
}

impl Shape {
    fn draw(random: &mut Random, shadow: bool) -> Self {
        let (dtype, bytes) = random.of(&[("i8", 1), ("bf16", 2), ("f32", 4)]);
        let is_scatter = random.below(2) == 0;
        let repeats = is_scatter && !shadow && random.below(4) == 0;
        let mut axes = vec![("T", 3), ("U", 4)];
        axes.truncate(1 + random.below(2));
        let in_common = random.below(3) == 0;
        if in_common {
            axes.insert(0, ("B", 2));
        }
        let padded = random.below(6) == 0;
        let mut of_table = vec![if padded { digit("V # 32", 32) } else { digit("V", ROWS) }];
        if in_common || random.below(3) == 0 {
            of_table.push(digit("B", 2));
        }
        let table = layout(random, of_table);
        Self { dtype, bytes, is_scatter, repeats, axes, table, in_spm: random.below(2) == 0 }
    }

    /// Whether index and table have an axis in common.
    fn in_common(&self) -> bool {
        self.axes.iter().any(|(name, _)| *name == "B")
    }

    /// Whether the table has more than one set of rows.
    fn has_b(&self) -> bool {
        self.table.iter().any(|(name, _)| name == "B")
    }

    /// What an index counts from row to row.
    fn unit(&self) -> u64 {
        let after = self.table.iter().skip_while(|(name, _)| !name.starts_with('V')).skip(1);
        if self.in_spm { 1 } else { after.map(|(_, size)| size).product::<u64>() * self.bytes }
    }

    /// The indices: for a scatter without repetition among those of one table.
    fn indices(&self, random: &mut Random) -> Vec<u64> {
        let of_one: u64 = self.axes.iter().filter(|(name, _)| *name != "B").map(|(_, size)| size).product();
        let of_table = |random: &mut Random| -> Vec<u64> {
            if !self.is_scatter || self.repeats {
                return (0..of_one).map(|_| random.under(ROWS)).collect();
            }
            let mut all: Vec<u64> = (0..ROWS).collect();
            random.shuffle(&mut all);
            all.into_iter().zip(0..of_one).map(|(row, _)| row).collect()
        };
        let tables = if self.in_common() { 2 } else { 1 };
        let rows = (0..tables).flat_map(|_| of_table(random));
        rows.map(|row| row * self.unit()).collect()
    }

    /// The digits of what is moved by the index, but for those of a row.
    fn of_rows(&self, random: &mut Random) -> Vec<Digit> {
        let mut digits = of_index(random, &self.axes);
        if self.has_b() && !self.in_common() {
            digits.push(digit("B", 2));
        }
        digits
    }
}

/// A random gather or scatter; without repeated rows under `shadow`.
pub(crate) fn generate(random: &mut Random, slices: u64, shadow: bool) -> Case {
    let shape = Shape::draw(random, shadow);
    let indices = shape.indices(random);
    let array: Vec<Digit> = shape.axes.iter().map(|&(name, size)| digit(name, size)).collect();
    let kernel = Kernel::new(AXES).argument("t", shape.dtype, &bare(&shape.table), 0).argument(
        "i",
        "i32",
        &bare(&array),
        1 << 18,
    );
    let (kernel, index) = if shape.in_spm { staged(random, kernel, &shape) } else { (kernel, "i") };
    let memory = random.of(&["hbm", "dm", "spm"]);
    let (text, result, scattered) = match shape.is_scatter {
        true => scattered(random, kernel, &shape, (index, memory), slices),
        false => gathered(random, kernel, &shape, (index, memory), slices),
    };
    let (unit, table) = (shape.unit(), bare(&shape.table));
    let Shape { dtype, repeats, axes, .. } = shape;
    Case { text, dtype, index: axes, indices, unit, table, result, scattered, repeats }
}

/// Brings the index to scratchpad memory, by an order in HBM in which it has runs of 8 bytes mostly.
fn staged(random: &mut Random, kernel: Kernel, shape: &Shape) -> (Kernel, &'static str) {
    let mut own = of_index(random, &shape.axes);
    let cluster = spread(random, &mut own, 2, digit("X", 2)).0;
    let pe = spread(random, &mut own, PES, digit("Y", 4)).0;
    let order = bare(&own_order(&own, &shape.axes));
    let kernel = kernel.line(&format!("%s = tm.to_hbm %i at {}, element [{order}]", 1 << 19));
    let own = bare(&own);
    let line = format!("%n = tm.to_spm %s at 64, cluster {cluster}, pe {pe}, element [{own}]");
    (kernel.line(&line), "n")
}

/// The text of a kernel, and the layouts of its result and of the rows that it scatters.
type Written = (String, String, Option<String>);

fn gathered(
    random: &mut Random,
    kernel: Kernel,
    shape: &Shape,
    (index, memory): (&str, &str),
    slices: u64,
) -> Written {
    let digits = shape.of_rows(random);
    let result = format!("{}, D", bare(&digits));
    let from = format!("%t, %{index} along [V],");
    let line = moved(random, &format!("gather_to_{memory}"), "c", &from, digits, slices);
    (kernel.line(&line).returns("c", 1 << 22, &result), result, None)
}

fn scattered(
    random: &mut Random,
    kernel: Kernel,
    shape: &Shape,
    (index, memory): (&str, &str),
    slices: u64,
) -> Written {
    let mut digits = shape.of_rows(random);
    // Rows that lack an axis of the index are the same along it.
    if shape.axes.len() > 1 && !shape.in_common() && random.below(3) == 0 {
        digits.retain(|(name, _)| !name.starts_with('U'));
    }
    let rows = bare(&layout(random, digits.clone()));
    let line = moved(random, &format!("to_{memory}"), "r", "%x", digits, slices);
    let result = if shape.has_b() { "B, V, D" } else { "V, D" };
    let text = kernel
        .argument("x", shape.dtype, &rows, 1 << 20)
        .line(&line)
        .line(&format!("%c = tm.scatter %r, %{index}, %t along [V]"))
        .returns("c", 1 << 22, result);
    (text, result.to_owned(), Some(rows))
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
    std::fs::write(&file, npy(&case.shape(), &case.indices)).expect("a file");
    let title = format!("rows, seed {seed}, case {number}, indices {:?}", case.indices);
    let argument = format!("i={}", file.to_string_lossy());
    let accepted = run_kernel(&title, &case.text, &machine.to_string_lossy(), shadow, &["--arg", &argument]);
    std::fs::remove_file(&file).expect("the file");
    accepted.then_some(usize::from(case.scattered.is_some()) + usize::from(case.repeats))
}
