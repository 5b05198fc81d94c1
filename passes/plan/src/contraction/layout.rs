//! The cuts of the four groups of a contraction that a choice makes, and the tensors that follow from them.

use crate::array::{Array, PACKET, whole_groups};
use crate::contraction::{Choice, Contraction, Gather, Mode, Promotion, Role, SumOrder};
use crate::cut::{Cut, Group, Part, Parts, side_by_side, tidy};
use std::sync::Arc;
use visa_algebra::{Axes, Expr, PadKind};
use visa_machine::{Machine, Unit};
use visa_numerics::DType;

/// Bytes of a packet of the contraction (book 17).
pub const PACKET_BYTES: u64 = 64;
/// Bytes of a flit (book 14).
pub const FLIT_BYTES: u64 = 32;
/// Elements of a flit of sums (book 19).
pub const SUMS: u64 = PACKET;
/// Most sums of a row in a packet (book 19).
pub const MOST_COLUMNS: u64 = 32;

/// The cuts of the groups, and the sizes of packets.
#[derive(Clone, Debug)]
pub struct Layout {
    /// Axes of both operands and the result.
    pub batch: Cut,
    /// Free axes of the stationary operand.
    pub rows: Cut,
    /// Free axes of the streamed operand.
    pub stream: Cut,
    /// Summed axes.
    pub sum: Cut,
    /// Elements of a flit of the stream.
    pub flit: u64,
    /// Elements of a packet of the contraction.
    pub packet: u64,
    /// Positions of the sum that a slice loads of the stream, with the padding to whole packets.
    pub depth: u64,
}

/// The parts of a cut that other parts of the chip hold when an operand is loaded; the last one of the stream alone.
const ELSEWHERE: [Part; 3] = [Part::Cluster, Part::Slice, Part::Share];

/// Elements of `dtype` in `bytes` bytes.
#[must_use]
pub fn elements(bytes: u64, dtype: DType) -> u64 {
    bytes * 8 / u64::from(dtype.bits())
}

impl Layout {
    /// The cuts of a choice; `None` if it cuts something into more parts than it has positions, or does not fit the
    /// engines.
    #[must_use]
    pub fn new(problem: &Contraction, choice: &Choice) -> Option<Self> {
        let dtype = problem.dtype();
        let packet = elements(PACKET_BYTES, dtype);
        let flit = elements(if choice.unit == Unit::Dual { PACKET_BYTES } else { FLIT_BYTES }, dtype);
        let batch = batch(&problem.batch, choice)?;
        let rows = rows(&problem.free[choice.stationary], choice)?;
        let stream = stream(&problem.free[1 - choice.stationary], choice, flit, packet)?;
        let sum = sum(problem, choice, packet)?;
        // Where steps of a sum are between those of the packets and their columns, parts of a tile with padding carry
        // into each other (book 03).
        let steps =
            stream.padded() / (stream.count(Part::Packet) * choice.clusters(Role::Stream) * choice.stream);
        let summed = sum.padded() / choice.sum > 1;
        if is_ragged(&stream) && choice.mode != Mode::Tree && summed && steps > 1 || !sum.is_even() {
            return None;
        }
        // The Transpose Engine exchanges whole matrices.
        let whole = choice.mode != Mode::Blocks || stream.padded() == stream.size();
        if !stream.has_whole_rows() || !whole {
            return None;
        }
        // Each slice adds several results of the batch, without padding.
        let evenly = problem.batch.size.is_multiple_of(choice.batch * choice.share_batch);
        if problem.adds_batch() && !(evenly && batch.count(Part::Time) > 1) {
            return None;
        }
        // The Transpose Engine exchanges columns in the order of time, and rings are within it.
        if choice.transposed && choice.share_batch > 1 {
            return None;
        }
        let depth = match (choice.mode, sum.count(Part::Time)) {
            (Mode::Columns | Mode::Blocks, depth) => depth,
            (Mode::Tree, depth) if depth <= flit => flit,
            (Mode::Tree, depth) => depth.next_multiple_of(packet),
        };
        Some(Self { batch, rows, stream, sum, flit, packet, depth })
    }

    /// Returns true if all iterations of a loop read the same of the stream, which is loaded before it.
    #[must_use]
    pub fn loads_stream_once(&self) -> bool {
        self.rows.tiles() > 1 && self.stream.tiles() == 1
    }

    /// Number of times that loops load the stream.
    #[must_use]
    pub fn stream_loads(&self) -> u64 {
        if self.loads_stream_once() { 1 } else { self.rows.tiles() * self.stream.tiles() }
    }

    /// The cut of the free axes of an operand.
    #[must_use]
    pub fn free(&self, operand: usize, choice: &Choice) -> &Cut {
        if operand == choice.stationary { &self.rows } else { &self.stream }
    }

    /// The mapping of the two clusters.
    #[must_use]
    pub fn cluster(&self, machine: &Machine) -> Expr {
        let parts = [&self.batch, &self.rows, &self.stream].map(|cut| cut.part(Part::Cluster));
        padded(side_by_side(parts), machine.topology.clusters_per_chip, 1)
    }

    /// The mapping of the slices during the computation.
    #[must_use]
    pub fn slices(&self, choice: &Choice, machine: &Machine) -> Expr {
        let [batch, sum, stream, rows] =
            [&self.batch, &self.sum, &self.stream, &self.rows].map(|cut| cut.part(Part::Slice));
        on_slices(outer(batch, sum, stream, choice), rows, choice, machine)
    }

    /// The cuts of the result, in the order of its axes.
    #[must_use]
    pub fn results(&self, problem: &Contraction) -> Vec<&Cut> {
        let batch = (!problem.adds_batch()).then_some(&self.batch);
        let mut cuts: Vec<&Cut> = batch.into_iter().chain([&self.rows, &self.stream]).collect();
        cuts.sort_by_key(|cut| position(&problem.out, cut));
        cuts
    }

    /// The cuts of the sums that an operand of the epilogue has, in the order of its axes.
    #[must_use]
    pub fn held_of(&self, array: &Array) -> Vec<&Cut> {
        let mut cuts = [&self.batch, &self.rows, &self.stream].map(|cut| (position(array, cut), cut));
        cuts.sort_by_key(|(position, _)| *position);
        cuts.into_iter().filter_map(|(position, cut)| position.map(|_| cut)).collect()
    }

    /// The mapping of the slices of the result, or of those after they have `collected` results of each other.
    #[must_use]
    pub fn result_slices(
        &self,
        problem: &Contraction,
        choice: &Choice,
        collected: bool,
        machine: &Machine,
    ) -> Expr {
        let batch = if problem.adds_batch() && choice.batch > 1 {
            Expr::Literal(1).pad(choice.batch, PadKind::Top)
        } else {
            self.batch.part(Part::Slice)
        };
        self.summed_slices((choice, batch), collected, machine)
    }

    /// The mapping of the slices after the sum between slices, in which `batch` counts those of the batch.
    fn summed_slices(&self, (choice, batch): (&Choice, Expr), collected: bool, machine: &Machine) -> Expr {
        let freed = match choice.promotion {
            _ if choice.sum == 1 => Expr::Literal(1),
            Promotion::None => Expr::Literal(1).pad(choice.sum, PadKind::Top),
            Promotion::Stream => self.stream.part(Part::Promoted),
            Promotion::Reuse | Promotion::Row => self.rows.part(Part::Promoted),
        };
        let [stream, rows] = [&self.stream, &self.rows].map(|cut| cut.part(Part::Slice));
        let digit = Expr::Literal(Self::gathered(choice).0);
        let [freed, stream, rows] = match choice.gather {
            Gather::Promoted if collected => [digit, stream, rows],
            Gather::Stream if collected => [freed, digit, rows],
            Gather::Rows if collected => [freed, stream, digit],
            Gather::None | Gather::Own | Gather::Promoted | Gather::Stream | Gather::Rows => {
                [freed, stream, rows]
            }
        };
        on_slices(outer(batch, freed, stream, choice), rows, choice, machine)
    }

    /// The number of slices that a slice collects results of, and of those inside each of them: slice1 and slice0 of
    /// book 13.
    #[must_use]
    pub fn gathered(choice: &Choice) -> (u64, u64) {
        match choice.gather {
            Gather::None | Gather::Own => (1, 1),
            Gather::Rows => (choice.rows, if choice.sum_inside { choice.sum } else { 1 }),
            Gather::Stream if choice.sum_inside => (choice.stream, choice.sum * choice.rows),
            Gather::Promoted if choice.sum_inside => (choice.sum, 1),
            Gather::Stream if choice.shares_zeros() => (choice.stream, choice.sum * choice.rows),
            Gather::Stream => (choice.stream, choice.rows),
            Gather::Promoted if choice.shares_zeros() => (choice.sum, choice.rows),
            Gather::Promoted => (choice.sum, choice.stream * choice.rows),
        }
    }

    /// The mapping of the slices that compute the epilogue.
    #[must_use]
    pub fn computing_slices(&self, choice: &Choice, machine: &Machine) -> Expr {
        self.summed_slices((choice, self.batch.part(Part::Slice)), false, machine)
    }

    /// The mapping of the slices into which the streamed operand is loaded.
    #[must_use]
    pub fn loaded_slices(&self, choice: &Choice, machine: &Machine) -> Expr {
        if choice.share == 1 {
            return self.slices(choice, machine);
        }
        let [copies, _] = ring(self.rows.part(Part::Slice), choice);
        let [batch, sum, stream] = [&self.batch, &self.sum, &self.stream].map(|cut| cut.part(Part::Slice));
        if choice.shares_zeros() {
            return around_rings(
                [batch, stream, Expr::Literal(1), copies],
                self.zeros(choice),
                choice,
                machine,
            );
        }
        around_rings([batch, sum, stream, copies], self.share(), choice, machine)
    }

    /// The mapping of the slices into which whole rows of the streamed operand are loaded.
    #[must_use]
    pub fn slices_of_rows(&self, choice: &Choice, machine: &Machine) -> Expr {
        let [copies, _] = ring(self.rows.part(Part::Slice), choice);
        let [batch, stream] = [&self.batch, &self.stream].map(|cut| cut.part(Part::Slice));
        let outer = [batch, Expr::Literal(1), stream, copies];
        around_rings(outer, self.row_members(choice), choice, machine)
    }

    /// Positions of the sum, or of a piece of it that a slice loads, in a row of the register file: whole flits.
    #[must_use]
    pub fn row_depth(&self, mode: Mode, flit: u64) -> u64 {
        match mode {
            Mode::Columns | Mode::Blocks => {
                let (group, depth) = (self.sum.group(), self.depth * self.sum.count(Part::Share));
                let whole = depth.next_multiple_of(flit);
                // Padding of several axes ends after whole positions of the slowest one.
                let within = group.size / group.slowest.max(1);
                let ends =
                    (whole..=whole + within * flit).step_by(usize::try_from(flit).unwrap_or(usize::MAX));
                ends.into_iter().find(|end| *end == depth || end.is_multiple_of(within)).unwrap_or(whole)
            }
            Mode::Tree => self.depth.next_multiple_of(flit),
        }
    }

    /// The positions of the batch that a slice computes.
    #[must_use]
    pub fn held_batch(&self) -> Expr {
        side_by_side(self.batch.rest(&[Part::Cluster, Part::Slice]))
    }

    /// The number of these.
    #[must_use]
    pub fn batches(&self) -> u64 {
        self.batch.count(Part::Share) * self.batch.count(Part::Time)
    }

    /// The mapping of the slices of a ring that load different parts of the stream.
    #[must_use]
    pub fn share(&self) -> Expr {
        side_by_side([&self.batch, &self.stream, &self.sum].map(|cut| cut.part(Part::Share)))
    }

    /// The mapping of all slices that divide a padded sum, with zeros where they hold nothing.
    fn zeros(&self, choice: &Choice) -> Expr {
        let parts = self.sum.group().mapping().stride(self.sum.count(Part::Time));
        parts.pad(choice.sum * choice.share, PadKind::Zero)
    }

    /// The summed positions that a ring exchanges, slowest first: the slices of the ring, and those that each loads.
    #[must_use]
    pub fn exchanged(&self, choice: &Choice) -> [Expr; 2] {
        let (share, steps) = (self.share(), self.sum.part(Part::Time));
        if !choice.shares_zeros() {
            return [share, steps];
        }
        // Slices without positions of the sum send zeros.
        let share = if choice.sum == 1 { self.zeros(choice) } else { share };
        [share, self.sum.group().mapping().modulo(self.sum.count(Part::Time))]
    }

    /// The parts of cuts that other slices hold when an operand is loaded.
    #[must_use]
    pub fn elsewhere(choice: &Choice, operand: usize) -> &'static [Part] {
        if operand == choice.stationary { &ELSEWHERE[..2] } else { &ELSEWHERE }
    }

    /// The terms of an operand's data memory, slowest first: the order of the array, with rows of whole groups of 8
    /// bytes.
    #[must_use]
    pub fn loaded(&self, problem: &Contraction, choice: &Choice, operand: usize, axes: &Axes) -> Expr {
        let array = &problem.operands[operand];
        if let Some(image) = &array.image {
            return self.image(array, image, choice, axes);
        }
        let free = self.free(operand, choice);
        let cuts = [&self.batch, free, &self.sum];
        let elsewhere = Self::elsewhere(choice, operand);
        let held = |cut: &Cut| match operand == choice.stationary {
            _ if !choice.shares_zeros() || !std::ptr::eq(cut, &self.sum) => side_by_side(cut.rest(elsewhere)),
            // The fetch makes zeros of the padding.
            true if choice.sum == 1 => cut.group().mapping(),
            true => side_by_side(cut.rest(elsewhere)),
            false => self.exchanged(choice)[1].clone(),
        };
        // A fetch masks elements that are evenly spaced.
        let masked = choice.padded || choice.mode == Mode::Tree && self.depth != self.sum.count(Part::Time);
        let mut terms: Vec<(Option<usize>, Expr)> = Vec::new();
        for cut in cuts {
            let (last, map) = (position(array, cut), held(cut));
            let group = cut.group();
            // Packets read the batch and the sum in their own orders.
            let crossed = std::ptr::eq(cut, free) && is_crossed(array, group);
            let apart = crossed || !masked && is_interleaved(array, group);
            if !apart || group.row.is_some() || cut.padded() != cut.size() {
                terms.push((last, map));
                continue;
            }
            let tidied = tidy(&map, axes);
            let of_axis = |term: &Expr| match &term.axis_names(axes)[..] {
                [axis] => array.position(axis),
                [] | [_, _, ..] => last,
            };
            terms.extend(tidied.terms().into_iter().map(|term| (of_axis(term), term.clone())));
        }
        terms.sort_by_key(|(position, _)| *position);
        let mut terms: Vec<Expr> = terms.into_iter().map(|(_, term)| term).collect();
        // The array has no padding between its last axes either.
        match terms.pop_if(|last| array.joined > 1 && matches!(last, Expr::Pair(_))) {
            Some(row) => in_memory_around(terms, row, array.dtype, axes),
            None => in_memory(terms, array.dtype, axes),
        }
    }
}

/// Returns true if other axes of an array are between those of a group.
fn is_interleaved(array: &Array, group: &Group) -> bool {
    let at = || group.axes.iter().filter_map(|axis| array.position(axis));
    let span = at().min().zip(at().max());
    span.is_some_and(|(first, last)| last - first + 1 > at().count())
}

/// Returns true if an array has the axes of a group in another order.
fn is_crossed(array: &Array, group: &Group) -> bool {
    !group.axes.iter().filter_map(|axis| array.position(axis)).is_sorted()
}

/// Number of equal pieces of `depth` positions that are masked one by one; one if whole packets need no mask. `None`
/// if pieces of at most a packet are no mappings.
fn pieces(group: &Group, depth: u64, packet: u64) -> Option<u64> {
    if depth.is_multiple_of(packet) {
        return Some(1);
    }
    let least = depth.div_ceil(packet);
    let counts =
        |count: &u64| depth.is_multiple_of(*count) && (*count == 1 || group.has_whole(depth / count));
    (least..=depth).find(counts)
}

/// The dimension `terms` in data memory, slowest first, whose innermost term fills whole groups of 8 bytes.
#[must_use]
pub fn in_memory(terms: impl IntoIterator<Item = Expr>, dtype: DType, axes: &Axes) -> Expr {
    let mut terms: Vec<Expr> = terms.into_iter().filter(|term| !matches!(term, Expr::Literal(1))).collect();
    let last = match terms.pop().unwrap_or(Expr::Literal(1)) {
        Expr::Pair(inner) if inner.len() > 1 => {
            terms.extend(inner);
            terms.pop().unwrap_or(Expr::Literal(1))
        }
        single => single,
    };
    in_memory_around(terms, last, dtype, axes)
}

/// The dimension `terms` in data memory around `last`, which is padded to whole groups of 8 bytes.
#[must_use]
pub fn in_memory_around(
    terms: impl IntoIterator<Item = Expr>,
    last: Expr,
    dtype: DType,
    axes: &Axes,
) -> Expr {
    let last = match last.size(axes).map(|size| (size, whole_groups(size, dtype))) {
        Ok((size, whole)) if size < whole => last.pad(whole, PadKind::Top),
        Ok(_) | Err(_) => last,
    };
    tidy(&side_by_side(terms.into_iter().chain([last])), axes)
}

/// The position of the last axis of a cut in an array.
#[must_use]
pub fn position(array: &Array, cut: &Cut) -> Option<usize> {
    cut.group().axes.iter().filter_map(|axis| array.position(axis)).max()
}

/// Returns true if the tiles of a cut end with padding.
#[must_use]
pub fn is_ragged(cut: &Cut) -> bool {
    cut.tiles() > 1 && cut.padded() != cut.size()
}

/// The cut of the axes of both operands and the result.
fn batch(group: &Arc<Group>, choice: &Choice) -> Option<Cut> {
    let (cluster, slices) = ((Part::Cluster, choice.clusters(Role::Batch)), (Part::Slice, choice.batch));
    let share = (Part::Share, choice.share_batch);
    match group.row {
        // Slices divide rows evenly: the last axis has padding up to a power of two.
        Some(_) => filled(group, 1, &[cluster, share], Part::Time, &[slices]),
        None => filled(group, 1, &[cluster, slices, share], Part::Time, &[]),
    }
}

/// The cut of the axes of the rows.
fn rows(group: &Arc<Group>, choice: &Choice) -> Option<Cut> {
    let (tiles, cluster) = (choice.row_tiles, (Part::Cluster, choice.clusters(Role::Rows)));
    let slices = (Part::Slice, choice.rows);
    let freed = |from: Promotion| (Part::Promoted, if choice.promotion == from { choice.sum } else { 1 });
    let (reused, promoted) = (freed(Promotion::Reuse), freed(Promotion::Row));
    let row = (Part::Row, choice.row / promoted.1);
    // One part has the name, in front of the rows or in front of their repetitions.
    match (choice.promotion == Promotion::Row, choice.neighbours) {
        (true, true) => filled(group, tiles, &[cluster], Part::Reuse, &[promoted, row, slices]),
        (true, false) => filled(group, tiles, &[cluster, slices], Part::Reuse, &[promoted, row]),
        (false, true) => filled(group, tiles, &[cluster, reused], Part::Reuse, &[row, slices]),
        (false, false) => filled(group, tiles, &[cluster, slices, reused], Part::Reuse, &[row]),
    }
}

/// The cut of the streamed axes.
fn stream(group: &Arc<Group>, choice: &Choice, flit: u64, packet: u64) -> Option<Cut> {
    let tiles = choice.stream_tiles;
    let (cluster, slices) = ((Part::Cluster, choice.clusters(Role::Stream)), (Part::Slice, choice.stream));
    let freed = if choice.promotion == Promotion::Stream { choice.sum } else { 1 };
    let share = (Part::Share, choice.share_stream());
    let promoted = (Part::Promoted, freed);
    match choice.mode {
        Mode::Tree if choice.transposed => {
            filled(group, tiles, &[cluster, slices, promoted], Part::Time, &[share])
        }
        Mode::Tree => filled(group, tiles, &[cluster, slices, share, promoted], Part::Time, &[]),
        Mode::Columns | Mode::Blocks => {
            if !group.slowest.is_multiple_of(tiles) {
                return None;
            }
            let outer = [cluster, slices, share, promoted];
            let around: u64 = outer.iter().map(|(_, count)| count).product();
            let columns = match (group.size / tiles).div_ceil(around) {
                _ if choice.mode == Mode::Blocks => SUMS,
                few if few <= SUMS => SUMS,
                many if many <= flit.min(MOST_COLUMNS) => many.next_multiple_of(SUMS),
                many => many.next_multiple_of(flit.min(MOST_COLUMNS)).min(packet.min(MOST_COLUMNS)),
            };
            let columns = group.row.map_or(columns, |row| columns.min(row));
            filled(group, tiles, &outer, Part::Time, &[(Part::Packet, columns)])
        }
    }
}

/// The cut of the summed axes.
fn sum(problem: &Contraction, choice: &Choice, packet: u64) -> Option<Cut> {
    let group = &problem.sum;
    let share = choice.share_sum;
    if choice.padded {
        let held = group.size.div_ceil(choice.sum * share);
        let held = if choice.mode == Mode::Tree { held.next_multiple_of(packet) } else { held };
        return Some(Cut::new(
            group,
            1,
            &[(Part::Slice, choice.sum), (Part::Share, share), (Part::Time, held)],
        ));
    }
    if !group.size.is_multiple_of(choice.sum * share) {
        return None;
    }
    let held = group.size / (choice.sum * share);
    let pieces = match choice.mode {
        Mode::Columns | Mode::Blocks => 1,
        Mode::Tree if choice.sum * share == 1 && (held <= packet || group.has_whole(packet)) => 1,
        Mode::Tree => pieces(group, held, packet)?,
    };
    // In trees, the order of the sum permits padding at its end alone: inside, other positions would be neighbours.
    let is_cut = choice.sum * share * pieces > 1;
    if choice.mode == Mode::Blocks && !held.is_multiple_of(packet / SUMS) {
        return None;
    }
    let whole = choice.mode == Mode::Columns || (held / pieces).is_multiple_of(packet);
    if problem.order != SumOrder::Free && is_cut && !whole {
        return None;
    }
    let parts =
        [(Part::Slice, choice.sum), (Part::Share, share), (Part::Piece, pieces), (Part::Time, held / pieces)];
    Some(Cut::new(group, 1, &parts))
}

/// The slices around the rows, slowest first.
fn outer(batch: Expr, sum: Expr, stream: Expr, choice: &Choice) -> [Expr; 3] {
    if choice.shares_zeros() { [batch, stream, sum] } else { [batch, sum, stream] }
}

/// A mapping of the used slices as one of all slices of a cluster.
fn on_slices(outer: [Expr; 3], rows: Expr, choice: &Choice, machine: &Machine) -> Expr {
    if choice.sum_inside {
        let [batch, sum, stream] = outer;
        return around_rings([batch, stream, rows, Expr::Literal(1)], sum, choice, machine);
    }
    if choice.share == 1 || !choice.spread {
        let [first, second, third] = outer;
        return around_rings([first, second, third, rows], Expr::Literal(1), choice, machine);
    }
    let ([copies, members], [first, second, third]) = (ring(rows, choice), outer);
    around_rings([first, second, third, copies], members, choice, machine)
}

/// The rings among the slices that divide the rows, and the slices of a ring.
fn ring(rows: Expr, choice: &Choice) -> [Expr; 2] {
    if choice.rows == choice.share {
        return [Expr::Literal(1), rows];
    }
    [rows.clone().stride(choice.share), rows.modulo(choice.share)]
}

/// A mapping of the used slices as one of all slices of a cluster: the unused ones are around the rings, or last.
fn around_rings(outer: [Expr; 4], ring: Expr, choice: &Choice, machine: &Machine) -> Expr {
    let (all, used) = (machine.topology.slices_per_cluster, choice.slices());
    if choice.spread && used < all {
        let unused = Expr::Literal(1).pad(choice.apart(machine), PadKind::Top);
        return side_by_side(outer.into_iter().chain([unused, ring]));
    }
    padded(side_by_side(outer.into_iter().chain([ring])), all, used)
}

/// A mapping of `used` positions of `all`.
fn padded(map: Expr, all: u64, used: u64) -> Expr {
    if used == all { map } else { map.pad(all, PadKind::Top) }
}

/// A cut with `outer` and `inner` parts, in which `part` takes the rest; `None` if the others have more positions than
/// the group, by more than padding to one position each.
fn filled(
    group: &Arc<Group>,
    tiles: u64,
    outer: &[(Part, u64)],
    part: Part,
    inner: &[(Part, u64)],
) -> Option<Cut> {
    let of = |parts: &[(Part, u64)]| parts.iter().map(|(_, count)| count).product::<u64>();
    if !group.slowest.is_multiple_of(tiles) {
        return None;
    }
    let (around, within, size) = (of(outer), of(inner), group.size / tiles);
    if around > 1 && around > size.div_ceil(within).next_power_of_two() {
        return None;
    }
    let rest = size.div_ceil(around * within);
    let parts: Parts = outer.iter().chain(&[(part, rest)]).chain(inner).copied().collect();
    Some(Cut::of(group, tiles, parts))
}
