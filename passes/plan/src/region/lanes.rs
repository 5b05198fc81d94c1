//! The mappings of a reduction within a slice (book 22): lanes hold the reduced axis, whose lanes become one, or
//! elements that stay apart.

use crate::cut::side_by_side;
use crate::region::layout::{LANES, Local};
use visa_algebra::{Expr, PadKind};

/// The dimensions of a reduction.
pub struct ReducedLanes {
    /// The reduced axis.
    reduced: Local,
    /// The dimension of the lanes.
    lanes: Local,
    /// The other dimensions, slowest first.
    others: Vec<Expr>,
    /// True if the lanes hold the reduced axis.
    in_lanes: bool,
}

impl ReducedLanes {
    /// A reduction of dimension `at` of `local`.
    #[must_use]
    pub fn new(mut local: Vec<Local>, at: usize, in_lanes: bool) -> Self {
        let reduced = local.remove(at);
        let lanes = if in_lanes { Some(reduced.clone()) } else { local.pop() };
        let lanes = lanes.unwrap_or_else(|| Local::new(Expr::Literal(1), 1));
        Self { reduced, lanes, others: local.into_iter().map(|own| own.map).collect(), in_lanes }
    }

    fn time(&self, inner: impl IntoIterator<Item = Expr>) -> Expr {
        side_by_side(self.others.iter().cloned().chain(inner))
    }

    /// Time and packet of the fetch. The reduced axis is innermost in time: it takes as few slots of the accumulator
    /// as possible.
    #[must_use]
    pub fn fetched(&self) -> [Expr; 2] {
        let [outer, packet] = self.lanes.packets(LANES);
        let inside = if self.in_lanes { None } else { Some(self.reduced.map.clone()) };
        [self.time(std::iter::once(outer).chain(inside)), packet]
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
