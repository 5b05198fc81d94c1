//! The commands of a plan of a contraction in cycles, and the cycles of all of them together.

use crate::contraction::layout::Layout;
use crate::memory::next_to;
use visa_cost::TransferCost;

/// The commands of an iteration, in cycles.
#[derive(Clone, Copy, Debug, Default)]
pub struct Parts {
    /// The load of the stationary operand.
    pub rows: u64,
    /// The load of the streamed operand.
    pub stream: u64,
    /// The fills of both operands beyond the end of the sum, the stationary one first.
    pub fills: [u64; 2],
    /// True if slices that load nothing of the stream are filled, next to its load.
    pub fills_apart: bool,
    /// The loads of the epilogue's operands into data memory.
    pub operands: u64,
    /// The loads of the vector register file, which follow these.
    pub vectors: u64,
    /// The load of the register file.
    pub weights: u64,
    /// The pipeline that puts the stream in another order before.
    pub ordered: u64,
    /// The pipeline.
    pub compute: u64,
    /// The pipelines after it that compute the epilogue of sums between slices.
    pub epilogue: u64,
    /// The store.
    pub store: u64,
    /// Cycles in which the priced loads keep HBM busy.
    pub hbm: LoadCycles,
}

/// Cycles of each of the loads.
#[derive(Clone, Copy, Debug, Default)]
pub struct LoadCycles {
    /// Of the stationary operand.
    pub rows: u64,
    /// Of the streamed operand.
    pub stream: u64,
    /// Of the epilogue's operands.
    pub operands: u64,
}

impl Parts {
    /// Cycles of all iterations, with loads and stores in parallel to pipelines where loops permit it.
    #[must_use]
    pub fn total(&self, layout: &Layout) -> u64 {
        let (rows, columns) = (layout.rows.tiles(), layout.stream.tiles());
        let tiles = rows * columns;
        let loads = rows * self.rows + layout.stream_loads() * self.stream + tiles * self.operands;
        let moved = (loads + (tiles - 1) * self.store).max(loads + self.last(layout)) + self.store;
        let computed = rows * self.weights + tiles * self.pipelines();
        let [filled_rows, filled_stream] = self.fills;
        if tiles == 1 {
            let weighed = self.rows + filled_rows + self.weights;
            let streamed = self.filled(self.rows, self.rows + self.stream).max(weighed);
            return self
                .finished([streamed + self.ordered, weighed], self.rows + self.stream + self.operands);
        }
        // The first load of the register file runs in parallel with that of the stream.
        let loaded = (filled_rows + self.weights).max(self.stream + filled_stream + self.operands);
        let ends = self.rows + loaded.saturating_sub(self.weights) + self.store;
        moved.max(computed + ends)
    }

    /// The end of the fill of the streamed operand, if the loads of both operands end at `rows` and at `stream`. One
    /// context fills both.
    fn filled(&self, rows: u64, stream: u64) -> u64 {
        let [filled_rows, filled_stream] = self.fills;
        let free = if filled_rows == 0 { 0 } else { rows + filled_rows };
        if self.fills_apart { stream.max(free + filled_stream) } else { stream.max(free) + filled_stream }
    }

    /// The end of a kernel without loops, whose operands are in data memory and the register file after `streamed`
    /// cycles, the register file after `weighed`, and the epilogue's in data memory after `loaded`.
    fn finished(&self, [streamed, weighed]: [u64; 2], loaded: u64) -> u64 {
        let end = if self.epilogue == 0 {
            // One context loads both register files.
            let vectors = if self.vectors == 0 { 0 } else { loaded.max(weighed) + self.vectors };
            streamed.max(vectors) + self.compute
        } else {
            // Sums between slices need no operands of the epilogue.
            (streamed + self.compute).max(loaded) + self.vectors + self.epilogue
        };
        end + self.store
    }

    /// Cycles of the pipelines of an iteration, without the load of the rows.
    #[must_use]
    pub fn pipelines(&self) -> u64 {
        self.vectors + self.ordered + self.compute + self.epilogue
    }

    /// Cycles of the pipelines of the last iteration, which no load overlaps.
    fn last(&self, layout: &Layout) -> u64 {
        self.pipelines() + if layout.rows.tiles() > 1 { self.weights } else { 0 }
    }

    /// Cycles of all iterations if transfers are divided among the queues of two clusters: `queued` has the cycles of
    /// the transfers with the engines of one cluster each. HBM serves both queues one after the other.
    ///
    /// Without loops, one queue has the streamed operand and the other one the remaining loads. In loops, one queue
    /// has the loads and the other one the stores.
    #[must_use]
    pub fn in_queues(&self, queued: &Self, layout: &Layout, startup: u64) -> u64 {
        let (rows, columns) = (layout.rows.tiles(), layout.stream.tiles());
        let tiles = rows * columns;
        let moved = |transfer: u64| transfer.saturating_sub(startup);
        if tiles == 1 {
            let rows = TransferCost { cycles: queued.rows, hbm: queued.hbm.rows };
            let stream = TransferCost { cycles: queued.stream, hbm: queued.hbm.stream };
            let operands = TransferCost { cycles: queued.operands, hbm: queued.hbm.operands };
            let streamed = next_to(stream, rows, rows.cycles);
            let operands = next_to(operands, stream, streamed.saturating_sub(rows.cycles));
            let stream = self.filled(rows.cycles, streamed);
            let loaded = rows.cycles + operands;
            let weighed = rows.cycles + self.fills[0] + self.weights;
            return self.finished([stream.max(weighed) + self.ordered, weighed], loaded);
        }
        let streams = layout.stream_loads();
        let loads = rows * queued.rows + streams * queued.stream + tiles * queued.operands;
        let memory = rows * moved(self.rows)
            + streams * moved(self.stream)
            + tiles * (moved(self.operands) + moved(self.store));
        let computed = rows * self.weights + tiles * self.pipelines();
        let [filled_rows, filled_stream] = self.fills;
        let loaded = (filled_rows + self.weights).max(queued.stream + filled_stream + queued.operands);
        let ends = queued.rows + loaded.saturating_sub(self.weights) + queued.store;
        let busiest = loads.max(tiles * queued.store).max(memory);
        (busiest.max(loads + self.last(layout)) + queued.store).max(computed + ends)
    }
}
