//! Transfers against enumeration: the loops are walked byte by byte, and each byte's cell on both sides is looked
//! up in the mappings.

use std::collections::BTreeSet;
use visa_loops::Stride;
use visa_machine::Machine;
use visa_mapping::{Axes, Cell, DM, Expr, HBM, Map, PadKind, Tensor, Transfer, parse_tensor, transfer};

const ROWS: u64 = 2;

/// Rows of K elements, padded on both sides.
struct Case {
    dtype: &'static str,
    bytes: u64,
    k: u64,
    /// The element mapping in HBM.
    source: String,
    /// The element mapping in data memory, under slices along A or not.
    target: String,
    in_slices: bool,
}

impl Case {
    fn axes(&self) -> Axes {
        let mut axes = Axes::new();
        axes.declare("A", ROWS).unwrap();
        axes.declare("K", self.k).unwrap();
        axes
    }

    fn transfer(&self) -> Transfer {
        let slice = if self.in_slices { "[A # 256]" } else { "[1 # 256]" };
        let from = parse_tensor(&HBM, &format!("{}, [1], {}", self.dtype, self.source)).unwrap().into_any();
        let text = format!("{}, [1], [1 # 2], {slice}, {}", self.dtype, self.target);
        let to = parse_tensor(&DM, &text).unwrap().into_any();
        let (from, to) = (from.downcast_ref::<Tensor>().unwrap(), to.downcast_ref::<Tensor>().unwrap());
        transfer(from, to, &|_| false, &self.axes(), &Machine::rngd()).unwrap()
    }

    /// The cells of an element mapping.
    fn cells(&self, element: &str) -> Vec<Cell> {
        let map = Map::new(&Expr::parse(element).unwrap(), &self.axes()).unwrap();
        (0..map.size()).map(|position| map.cell(position).unwrap()).collect()
    }

    /// Checks every byte that is moved; gives how many are padding.
    fn check(&self) -> u64 {
        let slice_bytes = Machine::rngd().memory.dm_bytes_per_slice;
        let axes = self.axes();
        let row = axes.id("A").unwrap();
        let (source, target) = (self.cells(&self.source), self.cells(&self.target));
        let (mut written, mut live, mut padding) = (BTreeSet::new(), 0, 0);
        for (read, write) in walk(&self.transfer()) {
            assert!(written.insert(write), "{}: byte {write} is written twice", self.target);
            let cell = |cells: &[Cell], byte: u64| cells[usize::try_from(byte / self.bytes).unwrap()].clone();
            assert_eq!(read % self.bytes, write % self.bytes);
            match (cell(&source, read), cell(&target, write % slice_bytes)) {
                (Cell::Live(from), Cell::Live(mut to)) => {
                    if self.in_slices {
                        to.add(row, write / slice_bytes);
                    }
                    assert_eq!(from, to, "{} -> {}", self.source, self.target);
                    live += 1;
                }
                (Cell::Pad(from), Cell::Pad(to)) => {
                    let allowed = to == PadKind::Top || (from, to) == (PadKind::Zero, PadKind::Zero);
                    assert!(allowed, "{} -> {}", self.source, self.target);
                    padding += 1;
                }
                (from, to) => panic!("{} -> {}: {from:?} becomes {to:?}", self.source, self.target),
            }
        }
        assert_eq!(live, ROWS * self.k * self.bytes, "{} -> {}", self.source, self.target);
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

#[test]
fn padding_moves_along_where_it_must_and_may() {
    for (dtype, bytes) in [("i8", 1), ("bf16", 2), ("f32", 4)] {
        for k in [1, 3, 4, 5, 8, 9] {
            for (source, target) in pairs(k, 10) {
                for (from, to) in
                    [("", ""), ("", " {0}"), (" {0}", " {0}"), (" {0}", ""), ("", " {!}"), (" {!}", "")]
                {
                    for in_slices in [false, true] {
                        let row = |size: u64, kind: &str| format!("K # {size}{kind}");
                        let target_row = row(target, to);
                        let case = Case {
                            dtype,
                            bytes,
                            k,
                            source: format!("[A, {}]", row(source, from)),
                            target: if in_slices {
                                format!("[{target_row}]")
                            } else {
                                format!("[A, {target_row}]")
                            },
                            in_slices,
                        };
                        assert_eq!(
                            case.check(),
                            expected(k * bytes, source * bytes, target * bytes, from, to)
                        );
                    }
                }
            }
        }
    }
}

/// Sizes of rows on both sides.
fn pairs(k: u64, most: u64) -> impl Iterator<Item = (u64, u64)> {
    (k..=most).flat_map(move |source| (k..=most).map(move |target| (source, target)))
}

/// Bytes of padding that move along: to the next 8 bytes of each row, if both sides have them and the destination
/// takes what the source holds.
fn expected(row: u64, source: u64, target: u64, from: &str, to: &str) -> u64 {
    let filled = row.next_multiple_of(8);
    let takes = to.is_empty() || (from, to) == (" {0}", " {0}");
    if filled <= source && filled <= target && takes { ROWS * (filled - row) } else { 0 }
}

#[test]
fn elements_of_the_source_are_no_padding() {
    // The destination's padding is where the source has K = 5.
    let case = Case {
        dtype: "bf16",
        bytes: 2,
        k: 8,
        source: "[A, K]".to_owned(),
        target: "[A, K = 5 # 8]".to_owned(),
        in_slices: false,
    };
    let moved = walk(&case.transfer());
    assert_eq!(moved.len() as u64, ROWS * 5 * 2);
}

#[test]
fn padding_moves_along_from_the_same_start_only() {
    let case = |target: &str| Case {
        dtype: "bf16",
        bytes: 2,
        k: 8,
        source: "[A, K @ 1 # 8]".to_owned(),
        target: target.to_owned(),
        in_slices: false,
    };
    // K = 1 to 7 and one of padding, on both sides.
    assert_eq!(walk(&case("[A, K @ 1 # 8]").transfer()).len() as u64, ROWS * 8 * 2);
    // K = 2 to 7; what follows is K = 0 of the next row.
    assert_eq!(walk(&case("[A, K @ 2 # 8]").transfer()).len() as u64, ROWS * 6 * 2);
}
