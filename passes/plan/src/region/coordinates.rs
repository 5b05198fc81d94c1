//! Coordinates along an axis as values of a region. Where slices hold the axis whole, each of them counts. Otherwise
//! one slice counts, and each slice loads its part.

use crate::array::{Array, whole_groups};
use crate::cut::Part;
use crate::flow::Given;
use crate::memory::Transfers;
use crate::region::layout::LANES;
use crate::region::planned::PlannedRegion;
use crate::region::{Computation, Slot};
use crate::running::{Slices, counted, counted_layout, first_slice};
use crate::writer::{Writer, new};
use std::sync::Arc;
use visa_algebra::{Expr, PadKind};
use visa_ir::diag::Diagnostic;
use visa_mapping::ops::transfer::ToHbm;
use visa_mapping::{DM, Tensor};
use visa_stream::ops::commit::Commit;

/// Cycles of the fills of the lanes, and latencies of the pipelines.
const START: u64 = 21;
/// Latency of a pipeline without computation: its fetch, its collection in flits and its commit.
const LATENCY: u64 = 3;

/// The memory that holds counted coordinates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Holder {
    /// Data memory of all slices that compute.
    All,
    /// Data memory of one slice.
    One,
    /// HBM: iterations of the loop load their parts.
    Hbm,
}

/// The commands that count coordinates, in cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CountedCoordinates {
    /// The pipelines.
    pub cycles: u64,
    /// The store to HBM, of which iterations of a loop load their parts.
    pub stored: u64,
    /// The transfer with a slice's part; 0 if each slice counts.
    pub loaded: u64,
}

impl PlannedRegion<'_> {
    /// The memory that holds the coordinates along the axis of `array`.
    fn holder(&self, array: &Array) -> Holder {
        let rows = &self.layout.rows;
        let tiled = rows.tiles() > 1 && array.axes.first() == rows.group().axes.first();
        let divided = tiled || rows.count(Part::Cluster) * rows.count(Part::Slice) > 1;
        if !divided || !array.axes.iter().any(|axis| self.layout.is_row(axis)) {
            Holder::All
        } else if tiled {
            Holder::Hbm
        } else {
            Holder::One
        }
    }

    /// Cycles to count coordinates, and those of their transfers; `None` if no engine moves them.
    #[must_use]
    pub fn counted(&self, slot: Slot, prices: &Transfers<'_>) -> Option<CountedCoordinates> {
        let array = self.array(slot);
        let steps =
            self.layout.axes.id(array.axes.first()?).map(|id| self.layout.axes.size(id).div_ceil(LANES))?;
        let (stored, loaded) = match self.holder(array) {
            Holder::All => (0, 0),
            Holder::One => (0, self.spread(slot, prices)?),
            Holder::Hbm => {
                let source = self.counted_tensor(array)?;
                let stored = prices.store(array, None, &source, &array.tensor(self.layout.axes))?.cycles;
                (stored, self.load(slot, None, prices)?.cycles)
            }
        };
        let apart = if self.are_apart(array) { LANES * steps + LATENCY } else { 0 };
        Some(CountedCoordinates { cycles: 2 * steps + START + apart, stored, loaded })
    }

    /// The tensor of the slice that counts coordinates for all others.
    fn counted_tensor(&self, array: &Array) -> Option<Tensor> {
        let [cluster, slice] = first_slice(self.machine);
        let counted = counted_layout(array, self.layout.axes).ok()?;
        let element = if self.are_apart(array) { self.apart(array) } else { counted };
        let maps = vec![Expr::Literal(1), cluster, slice, element];
        Some(Tensor { kind: &DM, unit: None, dtype: array.dtype, maps })
    }

    /// Returns true if slices load a coordinate each: transfers write whole groups of 8 bytes, so a group has one.
    fn are_apart(&self, array: &Array) -> bool {
        self.holder(array) == Holder::One && self.layout.local(array).is_empty()
    }

    /// The layout of coordinates of which each is in a group of 8 bytes.
    fn apart(&self, array: &Array) -> Expr {
        let axes = array.axes.iter().map(|axis| Expr::axis(axis));
        let group = Expr::Literal(1).pad(whole_groups(1, array.dtype), PadKind::Top);
        self.dimension(axes.chain([group]))
    }

    /// Cycles to move parts of the coordinates from the slice that counts them to all others.
    fn spread(&self, slot: Slot, prices: &Transfers<'_>) -> Option<u64> {
        let array = self.array(slot);
        let source = self.counted_tensor(array)?;
        prices.load(None, &source, &self.in_memory(slot, self.layout.loaded(array))).map(|cost| cost.cycles)
    }

    /// Writes the coordinates that the region counts.
    pub(super) fn coordinates(&self, writer: &mut Writer<'_>) -> Result<Vec<(Slot, Given)>, Diagnostic> {
        let mut all = Vec::new();
        for operation in &self.region.operations {
            let Computation::Coordinates { counters } = &operation.computation else { continue };
            writer.part(&self.why_pipeline(operation));
            all.push((operation.result, self.counted_axis(writer, operation.result, counters)?));
        }
        Ok(all)
    }

    fn counted_axis(
        &self,
        writer: &mut Writer<'_>,
        slot: Slot,
        counters: &[Arc<str>; 2],
    ) -> Result<Given, Diagnostic> {
        let (array, axes) = (self.array(slot), self.layout.axes);
        let holder = self.holder(array);
        let slices: Slices = match holder {
            Holder::All => [self.layout.cluster(self.machine), self.slices(slot)],
            Holder::One | Holder::Hbm => first_slice(self.machine),
        };
        let slices = slices.map(|map| self.tidy(map));
        let mut tensor = counted(writer, array, counters, &slices, axes)?;
        if self.are_apart(array) {
            writer.comment("Transfers write whole groups of 8 bytes: each coordinate gets one.");
            let time = self.dimension(array.axes.iter().map(|axis| Expr::axis(axis)));
            let lane = Expr::Literal(1).pad(LANES, PadKind::Top);
            let source = (tensor, array.name.as_str());
            let stream = self.fetch_from(writer, source, (array.dtype, (None, None)), [&time, &lane])?;
            let op = new!(writer, Commit, [stream]).at_auto().element(self.apart(array));
            tensor = writer.value(op, &format!("{}_groups", array.name))?;
        }
        if holder == Holder::Hbm {
            let op = new!(writer, ToHbm, [tensor]).at_auto().element(array.layout(axes));
            tensor = writer.value(op, &array.name)?;
        }
        Ok(match holder {
            Holder::All => Given::Here(tensor),
            Holder::One | Holder::Hbm => Given::Stored(tensor),
        })
    }
}
