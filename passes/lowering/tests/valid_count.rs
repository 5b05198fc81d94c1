//! The configuration of the Valid Count Generator that is derived from mappings, run by the hardware's function,
//! against the live cells of the mappings (books 23, 24): every accepted case is right, and every case that the book
//! supports is accepted.

use proptest::prelude::*;
use visa_algebra::{Axes, Cell, Expr, Map};
use visa_hw::valid_count::ValidCount;
use visa_machine::Machine;
use visa_mapping::{Tensor, parse_tensor};
use visa_stream::VECTOR;
use visa_stream::ops::vector_intra_slice_reduce::valid_count_registers;
use visa_stream::valid_count::{Counting, Placement, Refusal, counting};

/// A stream at the engine's entry in which an axis R of `size` elements is to be reduced.
#[derive(Clone, Debug)]
struct Case {
    size: u64,
    slice: String,
    time: String,
    packet: String,
}

impl Case {
    fn new(size: u64, slice: &str, time: &str, packet: &str) -> Self {
        Self { size, slice: slice.to_owned(), time: time.to_owned(), packet: packet.to_owned() }
    }

    fn axes(&self) -> Axes {
        let mut axes = Axes::new();
        for (name, size) in [("R", self.size), ("X", 2), ("Y", 4), ("A", 3), ("Z", 5)] {
            axes.declare(name, size).expect("a size");
        }
        axes
    }

    fn counting(&self, axes: &Axes, lanes: u64) -> Result<Option<Counting>, Refusal> {
        let text = format!("main, f32, [1], [1 # 2], {}, {}, {}", self.slice, self.time, self.packet);
        let body =
            parse_tensor(&VECTOR, &text).unwrap_or_else(|error| panic!("{text}: {error:?}")).into_any();
        let entry: &Tensor = body.downcast_ref().expect("a tensor");
        let axis = axes.id("R").expect("declared");
        counting(&Placement { entry, axis, lanes, axes, machine: &Machine::rngd() })
    }

    /// For each live slice: its number, and for each time step how many lanes below `lanes` are live; `None` where
    /// they are no prefix. A packet without R is live as a whole.
    fn live(&self, axes: &Axes, lanes: u64) -> Vec<(u64, Vec<Option<u64>>)> {
        let axis = axes.id("R").expect("declared");
        let map = |text: &str| {
            let map: Expr = Expr::parse(text).unwrap_or_else(|error| panic!("{text}: {error:?}"));
            Map::new(&map, axes).unwrap_or_else(|error| panic!("{text}: {error:?}"))
        };
        let coordinate = |map: &Map, at: u64| match map.cell(at) {
            Some(Cell::Live(index)) => Some(index.get(axis)),
            Some(Cell::Shared(_) | Cell::Pad(_)) | None => None,
        };
        let (slice, time, packet) = (map(&self.slice), map(&self.time), map(&self.packet));
        let holds = self.packet.contains('R');
        let count = |at: u64, step: u64| {
            let base = coordinate(&slice, at)? + coordinate(&time, step).unwrap_or(self.size);
            if !holds {
                return Some(if base < self.size { lanes } else { 0 });
            }
            let live = |lane: &u64| coordinate(&packet, *lane).is_some_and(|lane| base + lane < self.size);
            let leading = (0..lanes).take_while(live).count() as u64;
            ((0..lanes).filter(live).count() as u64 == leading).then_some(leading)
        };
        let live = (0..slice.size()).filter(|&at| coordinate(&slice, at).is_some());
        live.map(|at| (at, (0..time.size()).map(|step| count(at, step)).collect())).collect()
    }

    /// Returns true if a cluster has as many slices.
    fn fits(&self) -> bool {
        let slices = Expr::parse(&self.slice).ok().and_then(|map| map.size(&self.axes()).ok());
        slices.is_some_and(|slices| slices <= Machine::rngd().topology.slices_per_cluster)
    }

    /// Checks the derived configuration; returns true if it was accepted.
    fn check(&self, lanes: u64) -> bool {
        let axes = self.axes();
        let Ok(found) = self.counting(&axes, lanes) else { return false };
        let generator = found.map(|counting| {
            let (counters, packet, gates) = valid_count_registers(counting);
            ValidCount { counters, packet, gates }
        });
        for (slice, steps) in self.live(&axes, lanes) {
            let counts = match &generator {
                Some(generator) => generator.counts(slice, 8).into_iter().map(u64::from).collect(),
                None => vec![8; steps.len()],
            };
            assert_eq!(counts.len(), steps.len(), "{self:?}: packets");
            for (step, (found, live)) in counts.into_iter().zip(steps).enumerate() {
                assert_eq!(
                    Some(found.min(lanes)),
                    live,
                    "{self:?}: slice {slice}, step {step}, {generator:?}"
                );
            }
        }
        true
    }
}

/// Book 23's rows, in its order, with smaller X.
#[test]
fn the_quick_reference() {
    for (case, supported) in [
        (Case::new(17, "[X, R # 24 / 3]", "[R # 24 % 3]", "[Y # 8]"), true),
        (Case::new(12, "[X]", "[R # 16]", "[Y # 8]"), true),
        (Case::new(5, "[X, R # 8 % 4]", "[R # 8 / 4]", "[1 # 8]"), true),
        (Case::new(14, "[X, R # 20 % 4]", "[R # 20 / 4]", "[1 # 8]"), false),
        (Case::new(14, "[X, R # 16 % 4]", "[R # 16 / 4]", "[1 # 8]"), true),
        (Case::new(13, "[X, R # 16 / 2 % 4, R # 16 / 8]", "[R # 16 % 2]", "[1 # 8]"), false),
        (Case::new(13, "[X, R # 16 / 8, R # 16 / 2 % 4]", "[R # 16 % 2]", "[1 # 8]"), true),
        (Case::new(13, "[R # 16 / 8, X, R # 16 / 2 % 4]", "[R # 16 % 2]", "[1 # 8]"), true),
        (Case::new(13, "[X, R # 16 / 2 % 4]", "[R # 16 / 8, R # 16 % 2]", "[1 # 8]"), false),
        (Case::new(13, "[X, R # 16 / 4]", "[R # 16 % 4]", "[1 # 8]"), true),
        (Case::new(45, "[Y]", "[R # 48 / 8 % 2, X, R # 48 / 16, R # 48 % 8]", "[Y # 8]"), true),
        (Case::new(3, "[X]", "[1]", "[R # 8]"), true),
        (Case::new(19, "[X]", "[R # 24 / 8]", "[R # 24 % 8]"), true),
        (Case::new(19, "[X]", "[R # 24 % 8]", "[R # 24 / 8 # 8]"), false),
        (Case::new(19, "[X]", "[R # 24 / 4]", "[[R # 24 % 4, X] # 8]"), false),
        (Case::new(7, "[X]", "[R # 8 / 4]", "[R # 8 % 4 # 8]"), true),
        (Case::new(24, "[X]", "[R / 8]", "[R % 8]"), true),
        (Case::new(45, "[R # 64 / 8]", "[1]", "[R # 64 % 8]"), false),
        (Case::new(13, "[R # 32 / 8]", "[R # 32 / 4 % 2]", "[R # 32 % 4 # 8]"), false),
        // No bits of the slice number state where a slice is along R, unless nothing is below.
        (Case::new(13, "[R # 16 / 4, A]", "[R # 16 % 4]", "[1 # 8]"), false),
        (Case::new(13, "[A, R # 16 / 4]", "[R # 16 % 4]", "[1 # 8]"), true),
        // Book 24, degenerate cases: no partial packet, and one packet for all.
        (Case::new(40, "[R # 64 / 8]", "[1]", "[R # 64 % 8]"), true),
        (Case::new(24, "[R # 64 / 16]", "[R # 64 / 8 % 2]", "[R # 64 % 8]"), true),
        (Case::new(5, "[R # 16 / 8]", "[1]", "[R # 16 % 8]"), true),
    ] {
        assert_eq!(case.check(8), supported, "{case:?}");
    }
}

/// Parts of R, innermost first, by their sizes: `R # n / stride % size`.
fn parts(padded: u64, sizes: &[u64]) -> Vec<String> {
    let mut stride = 1;
    let part = |&size: &u64| {
        let text = format!("R # {padded} / {stride} % {size}");
        stride *= size;
        text
    };
    sizes.iter().map(part).collect()
}

fn group(terms: &[String]) -> String {
    if terms.is_empty() { "[1]".to_owned() } else { format!("[{}]", terms.join(", ")) }
}

/// Any placement of the parts of R: to slices, time and packet in any order, other axes between them.
fn anywhere() -> impl Strategy<Value = Case> {
    let sizes = prop::collection::vec(prop_oneof![Just(2_u64), Just(2), Just(3), Just(4), Just(8)], 1..5);
    (sizes, prop::collection::vec((0..7_u32, any::<u16>()), 8), 0.0..1.0_f64, 0..4_u32).prop_map(
        |(sizes, places, live, other)| {
            let padded: u64 = sizes.iter().product();
            let size = ((padded as f64 * live) as u64 + 1).min(padded);
            let (mut slice, mut time, mut packet) = (Vec::new(), Vec::new(), None);
            for (at, part) in parts(padded, &sizes).into_iter().enumerate() {
                let (place, order) = places[at];
                match place {
                    0..3 => slice.push((order, part)),
                    3 if packet.is_none() && sizes[at] <= 8 => packet = Some(part),
                    4 if packet.is_none() && at == 0 => packet = Some(part),
                    _ => time.push((order, part)),
                }
            }
            for (name, (place, order)) in ["X", "Y", "Z"].into_iter().zip(&places[5..]) {
                if *place < 3 {
                    time.push((*order, name.to_owned()))
                } else {
                    slice.push((*order, name.to_owned()))
                }
            }
            let ordered = |mut terms: Vec<(u16, String)>| {
                terms.sort();
                group(&terms.into_iter().map(|(_, term)| term).collect::<Vec<_>>())
            };
            let alone = if other == 0 { "[A # 8]" } else { "[1 # 8]" };
            let packet = packet.map_or(alone.to_owned(), |part| format!("[{part} # 8]"));
            Case::new(size, &ordered(slice), &ordered(time), &packet)
        },
    )
}

/// Cases that the book supports, of any size.
fn supported() -> impl Strategy<Value = Case> {
    let two = || prop_oneof![Just(1_u64), Just(2), Just(4), Just(8)];
    (0..6_u32, two(), 1_u64..7, 1_u64..5, 0.0..1.0_f64).prop_map(|(kind, slices, steps, more, live)| {
        let least = |padded: u64| ((padded as f64 * live) as u64 + 1).min(padded);
        let cut =
            |padded: u64, inner: u64| (format!("R # {padded} / {inner}"), format!("R # {padded} % {inner}"));
        match kind {
            // Time alone, its parts in any order.
            0 => {
                let padded = steps * more;
                let (outer, inner) = cut(padded, more);
                Case::new(least(padded), "[X, Y]", &format!("[{inner}, X, {outer}]"), "[Y # 8]")
            }
            // Slices outside time, in two parts.
            1 => {
                let padded = 2 * slices * steps;
                let (_, time) = cut(padded, steps);
                let slice =
                    format!("[R # {padded} / {}, X, R # {padded} / {steps} % {slices}]", slices * steps);
                Case::new(least(padded), &slice, &format!("[Y, {time}]"), "[A # 8]")
            }
            // Slices inside time, which has no step too many.
            2 => {
                let size = (steps - 1) * slices + least(slices);
                let (outer, inner) = cut(steps * slices, slices);
                Case::new(size, &format!("[X, {inner}]"), &format!("[{outer}, Y]"), "[1 # 8]")
            }
            // Packet, with time or without.
            3 => {
                let padded = steps * slices;
                let (outer, inner) = cut(padded, slices);
                Case::new(least(padded), "[X]", &format!("[Y, {outer}]"), &format!("[{inner} # 8]"))
            }
            4 => {
                let padded = steps * more * 8;
                let time = format!("[R # {padded} / 8 % {steps}, X, R # {padded} / {}]", 8 * steps);
                Case::new(least(padded), "[Y]", &time, &format!("[R # {padded} % 8]"))
            }
            // Slices and packets, none of them partial.
            _ => {
                let (outer, inner) = cut(slices * 8, 8);
                Case::new(8 * least(slices), &format!("[X, {outer}]"), "[Y]", &format!("[{inner}]"))
            }
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn what_is_accepted_is_right(case in anywhere(), narrow in any::<bool>()) {
        // A stream is trimmed only where nothing is lost.
        let four = narrow && !case.packet.contains("% 8 #");
        if case.fits() {
            case.check(if four { 4 } else { 8 });
        }
    }

    #[test]
    fn what_the_book_supports_is_accepted(case in supported()) {
        prop_assume!(case.fits());
        prop_assert!(case.check(8), "{:?}: {:?}", case, case.counting(&case.axes(), 8));
    }
}
