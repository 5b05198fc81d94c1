//! Regions that a command reads and writes, and conflicts between those of two commands.
//!
//! A footprint may name too much, never too little: loops with gaps count as the range from their first byte to their
//! last. Commands may then wait where they need not.

use std::ops::Range;

use visa_engine::{Access, Space};
use visa_hw::program::{CHIP_STRIDE, Command, CommandKind, Dma, Exec, PlacedStage};
use visa_loops::{Entry, PairedProgram, Program, Steps};
use visa_machine::{Machine, Medium};

use crate::report::Why;
use crate::tables::table_read;

/// Addresses of one memory, the same on every chip.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Region {
    pub(crate) space: Space,
    pub(crate) write: bool,
    pub(crate) bytes: Range<u64>,
    /// The slices whose memory it is, of scratchpad memory the PEs; host memory and HBM are one memory, "slice" 0.
    pub(crate) slices: Vec<Range<u64>>,
}

impl Region {
    fn meets(&self, other: &Self) -> bool {
        self.space == other.space
            && overlap(&self.bytes, &other.bytes)
            && self.slices.iter().any(|mine| other.slices.iter().any(|theirs| overlap(mine, theirs)))
    }
}

fn overlap(a: &Range<u64>, b: &Range<u64>) -> bool {
    a.start.max(b.start) < a.end.min(b.end)
}

/// The hazards that order `later` after `earlier`, in the order of [`Why`].
pub(crate) fn hazards(earlier: &[Region], later: &[Region]) -> Vec<Why> {
    let mut found = Vec::new();
    for before in earlier {
        for after in later {
            let why = match (before.write, after.write) {
                (false, false) => continue,
                (true, false) => Why::Raw,
                (false, true) => Why::War,
                (true, true) => Why::Waw,
            };
            if !found.contains(&why) && before.meets(after) {
                found.push(why);
            }
        }
    }
    found.sort();
    found
}

/// The regions of a run in an iteration of the loops around it: every active slice touches the same addresses, but
/// where a slice bitmap leaves slices out.
pub(crate) fn exec_regions(exec: &Exec, indices: &[u64], machine: &Machine) -> Vec<Region> {
    let region = |stage: &PlacedStage, access: Access| {
        let moved = stage.steps.at(indices);
        let bytes =
            access.range.start.saturating_add_signed(moved)..access.range.end.saturating_add_signed(moved);
        let touched = stage.stored_slices().filter(|_| access.write).unwrap_or(&exec.slices);
        let moved = |slice: usize| (slice as u64).saturating_add_signed(exec.steps.at(indices));
        let slices = touched.iter().map(|range| moved(range.start)..moved(range.end)).collect();
        Region { space: access.space, write: access.write, bytes, slices }
    };
    let slices = exec.slices.iter().map(|range| range.start as u64..range.end as u64);
    let table = table_read(exec, machine).map(|bytes| Region {
        space: Space::DM,
        write: false,
        bytes,
        slices: slices.collect(),
    });
    let stages = exec
        .stages
        .iter()
        .flat_map(|stage| stage.accesses().into_iter().map(move |access| region(stage, access)));
    stages.chain(table).collect()
}

/// The regions of a transfer: two of each part.
pub(crate) fn dma_regions(dma: &Dma, machine: &Machine) -> Vec<Region> {
    let sides =
        dma.programs().flat_map(|loops| [(dma.from, false, loops.read()), (dma.to, true, loops.write())]);
    let sides = sides.map(|(space, write, side)| {
        let chips = dma.pcie && space == Space::DM;
        region(space, write, &if chips { on_a_chip(side) } else { side }, machine)
    });
    sides.collect()
}

/// Region that a command touches with one of its addresses.
#[derive(Clone, Debug)]
pub(crate) struct Side {
    /// In all iterations of the loops around it.
    all: Region,
    /// Its movement with each of them.
    steps: Steps,
    /// True if it moves within each slice that it touches, and not from slice to slice, or the other way round: then a
    /// move changes regions of one step alike.
    evenly: bool,
    /// Distance in addresses of the slices that it touches.
    unit: i64,
}

impl Side {
    /// Returns true if it is data memory.
    pub(crate) fn is_data_memory(&self) -> bool {
        self.all.space == Space::DM
    }

    /// Number of slices by which it moves in an iteration of the loop at a depth, without its alternating offsets;
    /// `None` if that is not the same after each.
    pub(crate) fn slices_apart(&self, depth: usize) -> Option<i64> {
        let step = self.steps.of(depth);
        self.evenly.then(|| if step % self.unit == 0 { step / self.unit } else { 0 })
    }

    /// Returns true if two commands may meet with these in some pair of iterations, and one of them writes. False
    /// positives are possible.
    pub(crate) fn may_meet(&self, other: &Self) -> bool {
        (self.all.write || other.all.write) && self.all.meets(&other.all)
    }

    /// Returns true if the distance between the two is the same in every iteration of the loop at a depth, as often as
    /// the alternating offsets of both begin again ([`Steps::period`]).
    pub(crate) fn moves_like(&self, other: &Self, depth: usize) -> bool {
        let (own, theirs) = (self.steps.of(depth), other.steps.of(depth));
        own == theirs && (own == 0 || self.evenly && other.evenly)
    }
}

/// Regions that a command touches in all iterations of the loops around it; `loops` has their numbers of iterations.
pub(crate) fn sides(command: &Command, loops: &[u64], machine: &Machine) -> Vec<Side> {
    let side = |space: Space, write: bool, program: &Program, steps: &Steps| {
        let (moved, around) = reach(steps, loops);
        let entries = around.into_iter().chain(program.entries.iter().cloned()).collect();
        let base = program.base.wrapping_add(moved);
        let all = region(space, write, &Program { entries, base, ..program.clone() }, machine);
        let unit = unit(space, machine);
        let evenly = steps.each.iter().all(|step| step.by % unit == 0) || all.bytes.end < unit.unsigned_abs();
        Side { all, steps: steps.clone(), evenly, unit }
    };
    match &command.kind {
        CommandKind::Loop(_) | CommandKind::Launch(_) => Vec::new(),
        CommandKind::Dma(dma) => {
            let [read, write] = &dma.steps;
            let chips = |space: Space, side: Program| {
                if dma.pcie && space == Space::DM { on_a_chip(side) } else { side }
            };
            let both = |loops: &PairedProgram| {
                let (reads, writes) = (chips(dma.from, loops.read()), chips(dma.to, loops.write()));
                [side(dma.from, false, &reads, read), side(dma.to, true, &writes, write)]
            };
            dma.programs().flat_map(both).collect()
        }
        CommandKind::Indexed(transfer) => {
            let [read, write, index] = &transfer.steps;
            vec![
                side(transfer.index, false, &transfer.indices, index),
                side(transfer.from, false, &transfer.reads(), read),
                side(transfer.to, true, &transfer.writes(), write),
            ]
        }
        CommandKind::Exec(exec) => {
            let moving =
                exec.stages.iter().flat_map(|stage| stage.accesses().into_iter().map(move |_| &stage.steps));
            let moved = moving.zip(exec_regions(exec, &[], machine));
            moved.map(|(steps, all)| run_side(all, steps, &exec.steps, loops, machine)).collect()
        }
    }
}

/// Offset of addresses in the first iteration of some loops, and loops over their offsets from there.
fn reach(steps: &Steps, loops: &[u64]) -> (i64, Vec<Entry>) {
    let all: Vec<_> = loops.iter().map(|&times| 0..times).collect();
    steps.reach(&all)
}

/// Region that a stage touches that moves by `bytes`, and with its run by `slices`. Slices count as in addresses of
/// transfers.
fn run_side(mut all: Region, bytes: &Steps, slices: &Steps, loops: &[u64], machine: &Machine) -> Side {
    let widen = |range: &mut Range<u64>, steps: &Steps| {
        let (first, entries) = reach(steps, loops);
        let moves = Program { entries, packet: 1, base: first.wrapping_sub(steps.at(&[])) };
        let (least, past) = moves.extent().unwrap_or((i64::MIN, i64::MAX));
        range.start = range.start.saturating_add_signed(least);
        range.end = range.end.saturating_add_signed(past - 1);
    };
    widen(&mut all.bytes, bytes);
    all.slices.iter_mut().for_each(|range| widen(range, slices));
    let evenly = (0..loops.len()).all(|depth| bytes.of(depth) == 0 || slices.of(depth) == 0);
    let unit = unit(all.space, machine);
    Side { steps: bytes.with(slices, unit), all, evenly, unit }
}

/// The bytes of a memory that addresses count one after the other, of a chip's, a slice's or a PE's.
fn unit(space: Space, machine: &Machine) -> i64 {
    match space {
        Space::HOST => i64::MAX,
        Space::HBM => CHIP_STRIDE,
        // A PE and a slice have 2^24 bytes each at most.
        Space::Memory(medium) => medium.bytes(machine).cast_signed(),
        Space::Trf | Space::Vrf => machine.memory.dm_bytes_per_slice.cast_signed(),
    }
}

/// Region that a side of a transfer touches.
pub(crate) fn region(space: Space, write: bool, side: &Program, machine: &Machine) -> Region {
    let (units, bytes) = fold(side, unit(space, machine));
    let slices = if space.medium().is_some_and(Medium::is_sram) { units } else { 0..1 };
    Region { space, write, bytes, slices: vec![slices] }
}

/// The addresses of a side of PCIe without the chips that they count.
fn on_a_chip(mut side: Program) -> Program {
    side.entries.retain(|entry| entry.stride.divided(CHIP_STRIDE).is_none());
    side.base = side.base.rem_euclid(CHIP_STRIDE);
    side
}

/// Takes the addresses of `side` apart into multiples of `unit` and offsets below it. Exact (but for gaps) where the
/// loops themselves separate so; otherwise the offsets may be any.
fn fold(side: &Program, unit: i64) -> (Range<u64>, Range<u64>) {
    let (mut outer, mut inner) = (side.clone(), side.clone());
    outer.entries.clear();
    inner.entries.clear();
    for entry in &side.entries {
        match entry.stride.divided(unit) {
            Some(stride) => outer.entries.push(Entry { stride, ..entry.clone() }),
            None => inner.entries.push(entry.clone()),
        }
    }
    (outer.base, inner.base) = (side.base.div_euclid(unit), side.base.rem_euclid(unit));
    let is_empty = side.entries.iter().any(|entry| entry.limit == 0);
    match (outer.extent(), inner.extent(), side.extent()) {
        _ if is_empty => (0..0, 0..0),
        (Ok(units), Ok(offsets), _) if offsets.0 >= 0 && offsets.1 <= unit => {
            (unsigned(units), unsigned(offsets))
        }
        (_, _, Ok((from, to))) => {
            let units = (from.div_euclid(unit), (to - 1).div_euclid(unit) + 1);
            (unsigned(units), unsigned((0, unit)))
        }
        (_, _, Err(_)) => (0..u64::MAX, 0..u64::MAX),
    }
}

/// The part of a range that is not negative.
fn unsigned((from, to): (i64, i64)) -> Range<u64> {
    from.max(0).cast_unsigned()..to.max(0).cast_unsigned()
}

#[cfg(test)]
mod tests {
    use std::slice;

    use super::*;

    fn folded(text: &str, unit: i64) -> (Range<u64>, Range<u64>) {
        fold(&text.parse().unwrap(), unit)
    }

    fn region(space: Space, write: bool, bytes: Range<u64>, slices: Range<u64>) -> Region {
        Region { space, write, bytes, slices: vec![slices] }
    }

    #[test]
    fn loops_over_slices_separate_from_loops_within() {
        // 4 slices from slice 2, 16 bytes each from byte 100.
        assert_eq!(folded("[4 : 1000, 16 : 1] : 16 @ 2100", 1000), (2..6, 100..116));
        assert_eq!(folded("[16 : 1, 4 : -1000] : 1 @ 5100", 1000), (2..6, 100..116));
        assert_eq!(folded("[1000 : 1] : 8 @ 3000", 1000), (3..4, 0..1000));
    }

    #[test]
    fn a_run_across_slices_takes_them_whole() {
        assert_eq!(folded("[1001 : 1] : 1 @ 3000", 1000), (3..5, 0..1000));
        assert_eq!(folded("[2 : 1500, 8 : 1] : 8 @ 0", 1000), (0..2, 0..1000));
        // The last byte is the last of its slice.
        assert_eq!(folded("[3 : 40, 48 : 1] : 8", 64), (0..2, 0..64));
    }

    #[test]
    fn no_step_touches_nothing_and_no_extent_everything() {
        assert_eq!(folded("[0 : 1] : 1 @ 5", 10), (0..0, 0..0));
        let far = "[9223372036854775807 : 9223372036854775807] : 1";
        assert_eq!(folded(far, 10), (0..u64::MAX, 0..u64::MAX));
    }

    #[test]
    fn regions_meet_only_in_the_same_bytes_of_the_same_slices() {
        let write = region(Space::DM, true, 0..64, 0..256);
        let meets = |space, bytes, slices| {
            !hazards(slice::from_ref(&write), &[region(space, false, bytes, slices)]).is_empty()
        };
        assert!(meets(Space::DM, 63..64, 255..256));
        assert!(!meets(Space::DM, 64..65, 0..256));
        assert!(!meets(Space::DM, 0..64, 256..512));
        assert!(!meets(Space::Trf, 0..64, 0..256));
        assert!(!meets(Space::DM, 8..8, 0..256));
    }

    #[test]
    fn hazards_by_kind() {
        let read = [region(Space::HBM, false, 0..8, 0..1)];
        let write = [region(Space::HBM, true, 0..8, 0..1)];
        assert_eq!(hazards(&read, &read), []);
        assert_eq!(hazards(&write, &read), [Why::Raw]);
        assert_eq!(hazards(&read, &write), [Why::War]);
        assert_eq!(hazards(&[read, write.clone()].concat(), &write), [Why::War, Why::Waw]);
    }
}
