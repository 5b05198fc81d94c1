//! The mappings of a reduction within a slice (book 22): lanes hold the reduced axis, whose lanes become one, or
//! elements that stay apart.

use crate::cut::side_by_side;
use crate::region::layout::{LANES, Local};
use visa_algebra::{Expr, PadKind};

/// The dimensions of a reduction.
#[derive(Clone)]
pub struct ReducedLanes {
    /// The reduced axis.
    reduced: Local,
    /// The dimension of the lanes.
    lanes: Local,
    /// The other dimensions, slowest first.
    others: Vec<Local>,
    /// Number of their positions.
    steps: u64,
    /// True if the lanes hold the reduced axis.
    in_lanes: bool,
    /// True if memory holds the elements of a packet next to each other.
    are_neighbours: bool,
    /// True if memory holds each element in a group of 8 bytes.
    are_grouped: bool,
}

/// Least elements of a packet: 8 bytes (book 8).
const LEAST_PACKET: u64 = 2;
/// Latency of the fetch, the reduction and the commit.
const LATENCY: u64 = 4;

impl ReducedLanes {
    /// A reduction of dimension `at` of `local`, whose elements are in groups of 8 bytes if `are_grouped`.
    #[must_use]
    pub fn new(mut local: Vec<Local>, at: usize, in_lanes: bool, are_grouped: bool) -> Self {
        let are_neighbours = !are_grouped && (in_lanes == (at + 1 == local.len()) || local.len() == 1);
        let reduced = local.remove(at);
        let lanes = if in_lanes { Some(reduced.clone()) } else { local.pop() };
        let lanes = lanes.unwrap_or_else(|| Local::new(Expr::Literal(1), 1));
        let steps = local.iter().map(|own| own.size).product();
        Self { reduced, lanes, others: local, steps, in_lanes, are_neighbours, are_grouped }
    }

    /// The reduction of the same elements, where memory holds those of a packet next to each other.
    #[must_use]
    pub fn neighbours(&self) -> Self {
        Self { are_neighbours: true, ..self.clone() }
    }

    /// Number of rows that are apart in memory and that packets gather; `None` if there are none.
    #[must_use]
    pub fn rows(&self) -> Option<u64> {
        (!self.are_neighbours && !self.in_lanes && !self.are_grouped).then_some(self.lanes.size)
    }

    /// Cycles of the pipeline: the fetch or the reduction binds, or the results, the first of which waits for all its
    /// packets.
    #[must_use]
    pub fn cycles(&self) -> u64 {
        let (packets, lanes) = (self.lanes.size.div_ceil(LANES), self.lanes.size.min(LANES));
        let halves = if self.are_few() { 1 } else { 2 * packets };
        let (repeated, summed, results) =
            if self.in_lanes { (1, halves, 1) } else { (self.reduced.size, self.reduced.size, halves) };
        let accesses = if self.are_neighbours { 1 } else { lanes.next_multiple_of(LEAST_PACKET) };
        let (fetched, reduced) = (packets * accesses, halves);
        let waited = if summed > 1 { summed } else { 0 };
        (self.steps * repeated * fetched.max(reduced)).max(waited + self.steps * results) + LATENCY
    }

    /// The lanes, the reduced axis and the other dimensions.
    pub(super) fn apart(&self) -> (Local, Local, Vec<Local>) {
        (self.lanes.clone(), self.reduced.clone(), self.others.clone())
    }

    /// All dimensions but the lanes and the reduced one, around `inner`.
    fn time(&self, inner: impl IntoIterator<Item = Expr>) -> Expr {
        side_by_side(self.others.iter().map(|own| own.map.clone()).chain(inner))
    }

    /// Time and packet of the fetch. The reduced axis is innermost in time: it takes as few slots of the accumulator
    /// as possible. Padding is read one element at a time, as the elements are, where these are not neighbours.
    #[must_use]
    pub fn fetched(&self) -> [Expr; 2] {
        let least = self.lanes.size.next_multiple_of(LEAST_PACKET);
        let lanes = if self.are_neighbours { LANES } else { least.min(LANES) };
        let [outer, packet] = self.lanes.packets(lanes);
        let inside = if self.in_lanes { None } else { Some(self.reduced.map.clone()) };
        [self.time(std::iter::once(outer).chain(inside)), packet]
    }

    /// True if the lanes hold the reduced axis: a packet of results has one element.
    #[must_use]
    pub fn are_reduced(&self) -> bool {
        self.in_lanes
    }

    /// True if four lanes hold all elements of a packet.
    #[must_use]
    pub fn are_few(&self) -> bool {
        self.lanes.size <= LANES / 2
    }

    /// True if the upper lanes of a packet of results hold nothing.
    #[must_use]
    pub fn are_padded(&self) -> bool {
        self.in_lanes || self.are_few()
    }

    /// Time and packet of four lanes.
    #[must_use]
    pub fn narrowed(&self) -> [Expr; 2] {
        let [halves, half] = self.lanes.halves();
        if self.in_lanes {
            return [self.time([halves]), half];
        }
        let [outer, packet] = self.lanes.packets(LANES);
        let inner = if self.are_few() { Expr::Literal(1) } else { packet.stride(LANES / 2) };
        [self.time([outer, self.reduced.map.clone(), inner]), half]
    }

    /// Time and packet of the results, four lanes wide.
    #[must_use]
    pub fn reduced(&self) -> [Expr; 2] {
        if self.in_lanes {
            return [self.time([]), Expr::Literal(1).pad(LANES / 2, PadKind::Top)];
        }
        let [halves, half] = self.lanes.halves();
        [self.time([if self.are_few() { Expr::Literal(1) } else { halves }]), half]
    }

    /// Time and packet of the results, eight lanes wide.
    #[must_use]
    pub fn widened(&self) -> [Expr; 2] {
        if self.are_padded() {
            let [time, packet] = self.reduced();
            return [time, packet.pad(LANES, PadKind::Top)];
        }
        let [outer, packet] = self.lanes.packets(LANES);
        [self.time([outer]), packet]
    }
}
