//! Transfers against enumeration: the loops are walked byte by byte, and each byte's cell on both sides is looked
//! up in the mappings.

use std::collections::BTreeSet;
use visa_algebra::{Axes, Cell, Expr, Map, PadKind};
use visa_loops::Stride;
use visa_machine::Machine;
use visa_mapping::transfer::padding::padded_axes;
use visa_mapping::{DM, HBM, SPM, Tensor, TensorKind, Transfer, parse_tensor, transfer};

const ROWS: u64 = 2;

/// A memory, and how it holds the rows.
#[derive(Clone, Copy)]
struct MemoryPosition {
    kind: &'static TensorKind,
    /// Bytes of its parts, slices or PEs.
    bytes: u64,
    /// Mappings before that of elements: where all rows are in one part, and where each is in its own.
    one: &'static str,
    each: Option<&'static str>,
}

impl MemoryPosition {
    const HBM: Self = Self { kind: &HBM, bytes: 1 << 40, one: "[1]", each: None };
    const DM: Self = Self {
        kind: &DM,
        bytes: 512 << 10,
        one: "[1], [1 # 2], [1 # 256]",
        each: Some("[1], [1 # 2], [A # 256]"),
    };
    const SPM: Self = Self {
        kind: &SPM,
        bytes: 4 << 10,
        one: "[1], [1 # 2], [1 # 4]",
        each: Some("[1], [1 # 2], [A # 4]"),
    };
}

/// The contents of one side of a transfer: rows of K elements, padded.
#[derive(Clone)]
struct Side {
    place: MemoryPosition,
    /// The mapping of a row.
    row: String,
    /// True if each row is in a separate part.
    apart: bool,
}

impl Side {
    /// All rows in one part.
    fn whole(place: MemoryPosition, row: &str) -> Self {
        Self { place, row: row.to_owned(), apart: false }
    }

    fn element(&self) -> String {
        if self.apart { format!("[{}]", self.row) } else { format!("[A, {}]", self.row) }
    }

    fn tensor(&self, dtype: &str) -> Tensor {
        let parts = if self.apart { self.place.each.unwrap() } else { self.place.one };
        let text = format!("{dtype}, {parts}, {}", self.element());
        let parsed = parse_tensor(self.place.kind, &text).unwrap().into_any();
        parsed.downcast_ref::<Tensor>().unwrap().clone()
    }
}

/// A transfer of rows.
struct Case {
    dtype: &'static str,
    bytes: u64,
    k: u64,
    source: Side,
    target: Side,
    /// True if padding moves along.
    padded: bool,
}

impl Case {
    fn axes(&self) -> Axes {
        let mut axes = Axes::new();
        axes.declare("A", ROWS).unwrap();
        axes.declare("K", self.k).unwrap();
        axes
    }

    /// The axes with the padding that both sides have.
    fn padded_axes(&self) -> Option<Axes> {
        let [from, to] = [&self.source, &self.target].map(|side| side.tensor(self.dtype));
        padded_axes(&from, &to, &self.axes())
    }

    fn transfer(&self) -> Transfer {
        let [from, to] = [&self.source, &self.target].map(|side| side.tensor(self.dtype));
        let axes = self.padded_axes().filter(|_| self.padded).unwrap_or_else(|| self.axes());
        let mut segments =
            transfer(&from, &to, &|_| false, None, false, &axes, &Machine::rngd()).expect("a transfer");
        assert_eq!(segments.len(), 1, "{} segments", segments.len());
        segments.remove(0)
    }

    /// The cells of a side's element mapping.
    fn cells(&self, side: &Side) -> Vec<Cell> {
        let map = Map::new(&Expr::parse(&side.element()).unwrap(), &self.axes()).unwrap();
        (0..map.size()).map(|position| map.cell(position).unwrap()).collect()
    }

    /// The contents of a byte of a side.
    fn cell(&self, side: &Side, cells: &[Cell], byte: u64) -> Cell {
        let (part, offset) = (byte / side.place.bytes, byte % side.place.bytes);
        let mut cell = cells[usize::try_from(offset / self.bytes).unwrap()].clone();
        if let (Cell::Live(index), true) = (&mut cell, side.apart) {
            index.add(self.axes().id("A").unwrap(), part);
        }
        cell
    }

    /// Checks every byte that is moved; gives how many are padding.
    fn check(&self) -> u64 {
        let names = || format!("{} -> {}", self.source.element(), self.target.element());
        let (source, target) = (self.cells(&self.source), self.cells(&self.target));
        let (mut written, mut live, mut padding) = (BTreeSet::new(), 0, 0);
        for (read, write) in walk(&self.transfer()) {
            assert!(written.insert(write), "{}: byte {write} is written twice", names());
            assert_eq!(read % self.bytes, write % self.bytes);
            match (self.cell(&self.source, &source, read), self.cell(&self.target, &target, write)) {
                (Cell::Live(from), Cell::Live(to)) => {
                    assert_eq!(from, to, "{}", names());
                    live += 1;
                }
                (Cell::Pad(from), Cell::Pad(to)) => {
                    let allowed = to == PadKind::Top || (from, to) == (PadKind::Zero, PadKind::Zero);
                    assert!(allowed, "{}", names());
                    padding += 1;
                }
                (from, to) => panic!("{}: {from:?} becomes {to:?}", names()),
            }
        }
        assert_eq!(live, ROWS * self.k * self.bytes, "{}", names());
        padding
    }
}

/// Every byte that a transfer reads, and where it writes it.
fn walk(transfer: &Transfer) -> Vec<(u64, u64)> {
    let mut all = vec![(transfer.read_base, transfer.write_base)];
    for step in &transfer.loops {
        let Stride::Fixed(read) = step.read else { panic!("a table") };
        let iterations = i64::try_from(step.limit).unwrap();
        let each = |(from, to): &(i64, i64)| {
            let (from, to) = (*from, *to);
            (0..iterations).map(move |at| (from + at * read, to + at * step.write)).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(each).collect();
    }
    all.into_iter()
        .map(|(read, write)| (u64::try_from(read).unwrap(), u64::try_from(write).unwrap()))
        .collect()
}

/// Where rows are read, and where they are written: one in five of the pairs, others each time.
fn places(time: usize) -> Vec<[(MemoryPosition, bool); 2]> {
    let sources = [
        (MemoryPosition::HBM, false),
        (MemoryPosition::DM, true),
        (MemoryPosition::SPM, false),
        (MemoryPosition::SPM, true),
    ];
    let targets = [
        (MemoryPosition::DM, false),
        (MemoryPosition::DM, true),
        (MemoryPosition::SPM, false),
        (MemoryPosition::SPM, true),
        (MemoryPosition::HBM, false),
    ];
    let all = sources.iter().flat_map(|source| targets.map(|target| [*source, target]));
    all.skip(time % 5).step_by(5).collect()
}

#[test]
fn padding_moves_along_where_it_must_and_may() {
    let mut time = 0;
    for (dtype, bytes) in [("i8", 1), ("bf16", 2), ("f32", 4)] {
        for k in [1, 3, 4, 5, 8, 9] {
            for (source, target) in pairs(k, 10) {
                for (from, to) in
                    [("", ""), ("", " {0}"), (" {0}", " {0}"), (" {0}", ""), ("", " {!}"), (" {!}", "")]
                {
                    time += 1;
                    for [read, written] in places(time) {
                        let side = |(place, apart): (MemoryPosition, bool), size: u64, kind: &str| Side {
                            place,
                            row: format!("K # {size}{kind}"),
                            apart,
                        };
                        let (source_side, target_side) =
                            (side(read, source, from), side(written, target, to));
                        let case =
                            Case { dtype, bytes, k, source: source_side, target: target_side, padded: false };
                        // HBM is written byte by byte.
                        let group = if std::ptr::eq(written.0.kind, &HBM) { 1 } else { 8 };
                        let padding = expected(k * bytes, source * bytes, target * bytes, group, (from, to));
                        assert_eq!(case.check(), padding);
                    }
                }
            }
        }
    }
}

#[test]
fn padded_transfers_fill_the_rows_of_hbm() {
    let kinds = [("", ""), ("", " {0}"), (" {0}", ""), ("", " {!}"), (" {!}", ""), (" {left}", "")];
    let places = [(MemoryPosition::HBM, false), (MemoryPosition::DM, true), (MemoryPosition::DM, false)];
    for (k, (source, target)) in [1, 3, 8].into_iter().flat_map(|k| pairs(k, 12).map(move |pair| (k, pair))) {
        for ((from, to), (place, apart)) in
            kinds.into_iter().flat_map(|kind| places.map(|place| (kind, place)))
        {
            let side = Side { place, row: format!("K # {source}{from}"), apart };
            let hbm = Side::whole(MemoryPosition::HBM, &format!("K # {target}{to}"));
            let case = Case { dtype: "bf16", bytes: 2, k, source: side, target: hbm, padded: true };
            let moves = from.is_empty() && to.is_empty() && source >= target;
            assert_eq!(case.padded_axes().is_some(), moves, "{from} {source} -> {to} {target}");
            if moves {
                assert_eq!(case.check(), ROWS * (target - k) * 2);
            }
        }
    }
}

/// Sizes of rows on both sides.
fn pairs(k: u64, most: u64) -> impl Iterator<Item = (u64, u64)> {
    (k..=most).flat_map(move |source| (k..=most).map(move |target| (source, target)))
}

/// Bytes of padding that move along: to the end of a group of each row, if both sides have them and the destination
/// takes the contents of the source.
fn expected(row: u64, source: u64, target: u64, group: u64, (from, to): (&str, &str)) -> u64 {
    let filled = row.next_multiple_of(group);
    let takes = to.is_empty() || (from, to) == (" {0}", " {0}");
    if filled <= source && filled <= target && takes { ROWS * (filled - row) } else { 0 }
}

/// Rows of 8 elements of bf16 from HBM into data memory.
fn rows(source: &str, target: &str) -> Case {
    let (source, target) =
        (Side::whole(MemoryPosition::HBM, source), Side::whole(MemoryPosition::DM, target));
    Case { dtype: "bf16", bytes: 2, k: 8, source, target, padded: false }
}

#[test]
fn elements_of_the_source_are_no_padding() {
    // The destination's padding is where the source has K = 5.
    let moved = walk(&rows("K", "K = 5 # 8").transfer());
    assert_eq!(moved.len() as u64, ROWS * 5 * 2);
}

#[test]
fn padding_moves_along_from_the_same_start_only() {
    // K = 1 to 7 and one of padding, on both sides.
    assert_eq!(walk(&rows("K @ 1 # 8", "K @ 1 # 8").transfer()).len() as u64, ROWS * 8 * 2);
    // K = 2 to 7; the next element is K = 0 of the next row.
    assert_eq!(walk(&rows("K @ 1 # 8", "K @ 2 # 8").transfer()).len() as u64, ROWS * 6 * 2);
}
