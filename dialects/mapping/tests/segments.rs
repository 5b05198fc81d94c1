//! Ragged transfers and given streams against enumeration: every element of the destination is written once, from
//! where the source has it, and otherwise only padding.

use std::collections::{BTreeMap, BTreeSet};
use visa_algebra::{Axes, Cell, Expr, Index, Map};
use visa_loops::Stride;
use visa_machine::Machine;
use visa_mapping::{
    DM, HBM, StreamOrder, Tensor, TensorKind, Transfer, TransferError, parse_tensor, transfer,
};
use visa_support::Random;

const SLICE: u64 = 512 << 10;

fn axes() -> Axes {
    let mut axes = Axes::new();
    for (name, size) in [("A", 15), ("B", 6), ("C", 8)] {
        axes.declare(name, size).expect("a name");
    }
    axes
}

fn tensor(kind: &'static TensorKind, text: &str) -> Tensor {
    let parsed = parse_tensor(kind, text).expect(text).into_any();
    parsed.downcast_ref::<Tensor>().expect(text).clone()
}

fn cells(map: &str) -> Vec<Cell> {
    let map = Map::new(&Expr::parse(map).expect(map), &axes()).expect(map);
    (0..map.size()).map(|position| map.cell(position).expect("a position")).collect()
}

/// The factors of A and B, whole or in parts that do not divide them, in any order.
fn factors(random: &mut Random) -> Vec<&'static str> {
    let a = [&["A"][..], &["A # 16 / 4", "A # 16 % 4"], &["A # 16 / 8", "A # 16 / 2 % 4", "A # 16 % 2"]];
    let b = [&["B"][..], &["B / 2", "B % 2"], &["B # 8 / 4", "B # 8 % 4"]];
    let mut all = [random.of(&a), random.of(&b)].concat();
    random.shuffle(&mut all);
    all
}

/// A side: HBM, or data memory with the first factors on slices.
struct Side {
    tensor: Tensor,
    slice: String,
    element: String,
    /// Number of slices and elements that it counts, padding included.
    positions: [u64; 2],
}

impl Side {
    fn new(random: &mut Random) -> Self {
        let factors = factors(random);
        let dm = random.below(2) == 0;
        let (slices, elements) = factors.split_at(if dm { random.below(factors.len() + 1) } else { 0 });
        let slice = format!("[[{}] # 256]", slices.join(", "));
        let slice = if slices.is_empty() { "[1 # 256]".to_owned() } else { slice };
        let element = format!("[{}, C]", elements.join(", ")).replace("[, ", "[");
        let tensor = match dm {
            true => tensor(&DM, &format!("i8, [1], [1 # 2], {slice}, {element}")),
            false => tensor(&HBM, &format!("i8, [1], {element}")),
        };
        let slice = if dm { slice } else { "[1]".to_owned() };
        let positions = [&slice, &element].map(|map| cells(map).len() as u64);
        Self { tensor, slice, element, positions }
    }

    /// Where each live index is.
    fn places(&self) -> BTreeMap<Index, i64> {
        let mut live = BTreeMap::new();
        let elements = cells(&self.element);
        let ids: Vec<_> = ["A", "B", "C"].iter().map(|name| axes().id(name).expect("declared")).collect();
        for (slice, outer) in (0_u64..).zip(cells(&self.slice)) {
            let Cell::Live(outer) = outer else { continue };
            for (at, inner) in (0_u64..).zip(&elements) {
                let Cell::Live(inner) = inner else { continue };
                let mut index = Index::new();
                for &id in &ids {
                    index.add(id, outer.get(id) + inner.get(id));
                }
                if ids.iter().all(|&id| index.get(id) < axes().size(id)) {
                    live.insert(index, i64::try_from(slice * SLICE + at).expect("an address"));
                }
            }
        }
        live
    }

    /// Returns true if a place is one of its positions, which may be padding.
    fn has(&self, place: i64) -> bool {
        let place = u64::try_from(place).expect("an address");
        place / SLICE < self.positions[0] && place % SLICE < self.positions[1]
    }
}

fn walk(transfer: &Transfer) -> Vec<(i64, i64)> {
    let mut all = vec![(transfer.read_base, transfer.write_base)];
    for step in &transfer.loops {
        let Stride::Fixed(read) = step.read else { panic!("a table") };
        let iterations = i64::try_from(step.limit).expect("few");
        let each = |&(from, to): &(i64, i64)| {
            (0..iterations).map(move |at| (from + at * read, to + at * step.write)).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(each).collect();
    }
    all
}

fn order(random: &mut Random) -> Option<StreamOrder> {
    if random.below(2) == 0 {
        return None;
    }
    let factors = factors(random);
    let (engines, time) = factors.split_at(random.below(3).min(factors.len()));
    let map = |factors: &[&str]| Expr::parse(&format!("[{}]", factors.join(", "))).expect("a mapping");
    let engines = if engines.is_empty() { Expr::Literal(1) } else { map(engines) };
    let time = (random.below(2) == 0 && !time.is_empty()).then(|| map(time));
    let packet = (random.below(2) == 0).then(|| map(&["C"]));
    Some(StreamOrder { engines, time, packet })
}

/// The engine of each iteration of the loops that count engines is the one that `engines` has for the elements moved.
fn check_engines(segment: &Transfer, order: &StreamOrder, live: &BTreeMap<i64, Index>) {
    let given = segment.given.as_ref().expect("a given stream");
    let map = Map::new(&order.engines, &axes()).expect("engines");
    let of_engine: Vec<Cell> = (0..map.size()).map(|at| map.cell(at).expect("a position")).collect();
    let inner = segment.loops[given.engine_loops..].iter().map(|step| step.limit).product::<u64>();
    let walked = walk(segment);
    assert_eq!(walked.len() as u64, inner * given.engines.len() as u64);
    for (at, (_, write)) in walked.iter().enumerate() {
        let engine = given.engines[at / usize::try_from(inner).expect("few")];
        let Some(index) = live.get(write) else { continue };
        let Cell::Live(own) = &of_engine[usize::try_from(engine).expect("few")] else {
            panic!("engine {engine} has padding")
        };
        // The part of an axis that an engine has is where its first element is, and on from there.
        for name in ["A", "B"] {
            let id = axes().id(name).expect("declared");
            assert!(own.get(id) <= index.get(id), "engine {engine} moves {index:?}, which is before {own:?}");
        }
    }
}

#[test]
fn every_element_is_moved_once() {
    let mut random = Random(0x5e9);
    let (mut moved, mut several, mut streams) = (0, 0, 0);
    for _ in 0..400 {
        let (from, to) = (Side::new(&mut random), Side::new(&mut random));
        let order = order(&mut random);
        let names = format!("{} {} -> {} {}", from.slice, from.element, to.slice, to.element);
        let found =
            transfer(&from.tensor, &to.tensor, &|_| false, order.as_ref(), false, &axes(), &Machine::rngd());
        let segments = match found {
            Ok(segments) => segments,
            // Some layouts have no digits, and some orders no loops.
            Err(_) => continue,
        };
        let (held, wanted) = (from.places(), to.places());
        let by_place: BTreeMap<i64, Index> =
            wanted.iter().map(|(index, &place)| (place, index.clone())).collect();
        let mut written = BTreeSet::new();
        for (read, write) in segments.iter().flat_map(walk) {
            assert!(written.insert(write), "{names}: {write} is written twice");
            match by_place.get(&write) {
                Some(index) => assert_eq!(held.get(index), Some(&read), "{names}: {index:?}"),
                None => assert!(to.has(write), "{names}: {write} is not of the destination"),
            }
        }
        assert!(wanted.values().all(|place| written.contains(place)), "{names}: something is left out");
        if let Some(order) = &order {
            segments.iter().for_each(|segment| check_engines(segment, order, &by_place));
            streams += 1;
        }
        moved += 1;
        several += u64::from(segments.len() > 1);
    }
    assert!(
        moved > 100 && several > 20 && streams > 30,
        "{moved} moved, {several} in parts, {streams} given"
    );
}

fn segments(from: &str, to: &str, engines: Option<&str>) -> Result<Vec<Transfer>, TransferError> {
    let order = engines.map(|engines| StreamOrder {
        engines: Expr::parse(engines).expect(engines),
        time: None,
        packet: None,
    });
    let (from, to) = (tensor(&DM, from), tensor(&HBM, to));
    transfer(&from, &to, &|_| false, order.as_ref(), false, &axes(), &Machine::rngd())
}

/// Book 10, example 6: 15 rows in fours are three whole fours, two rows, and one.
#[test]
fn whole_blocks_come_first() {
    let from = "i8, [1], [1 # 2], [A # 16 / 4 # 256], [A # 16 % 2, A # 16 / 2 % 2, C]";
    let found = segments(from, "i8, [1], [A, C]", Some("[A # 16 / 4]")).expect("a transfer");
    let engines: Vec<&[u64]> =
        found.iter().map(|one| &one.given.as_ref().expect("given").engines[..]).collect();
    assert_eq!(engines, [&[0, 1, 2][..], &[3], &[3]]);
    assert_eq!(found.iter().map(|one| one.write_base).collect::<Vec<_>>(), [0, 96, 112]);
}

/// 64 segments, and one more: A is read in an order in which no two rows follow each other.
#[test]
fn there_are_so_many_segments() {
    let rows = |count: u64| {
        let mut axes = Axes::new();
        axes.declare("A", count).expect("a name");
        axes.declare("C", 8).expect("a name");
        // Each power of two is a separate block: a ragged end is cut once for each bit that is set.
        let bits: Vec<String> = (0..7).map(|bit| format!("A # 128 / {} % 2", 1_u64 << bit)).collect();
        let from = tensor(&HBM, &format!("i8, [1], [{}, C]", bits.join(", ")));
        let to = tensor(&HBM, "i8, [1], [A, C]");
        transfer(&from, &to, &|_| false, None, false, &axes, &Machine::rngd()).map(|found| found.len())
    };
    assert_eq!(rows(128).expect("whole"), 1);
    assert_eq!(rows(127).expect("ragged"), 7);
    assert_eq!(rows(65).expect("ragged"), 2);
}
