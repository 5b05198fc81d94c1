//! Distribution of a transfer's loops over engines (book 10, "DMA Command Syntax").

use crate::program::PairedProgram;
use std::ops::Range;

/// Engines that follow each other and have the same loops: the outermost ones count the engines.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct EnginePart {
    /// The engines, counted through the PEs of a chip's clusters.
    pub engines: Range<u64>,
    /// The loops of all of them.
    pub loops: PairedProgram,
}

/// The loops of each engine. An engine that is in several parts runs them one after the other, in their order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct EngineTable(
    /// The parts.
    pub Vec<EnginePart>,
);

impl EnginePart {
    /// Number of engines.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.engines.end.saturating_sub(self.engines.start)
    }

    /// Number of the outermost loops that count the engines. `None` if no outermost loops have as many iterations
    /// together as there are engines.
    #[must_use]
    pub fn engine_loops(&self) -> Option<usize> {
        let mut iterations = 1_u64;
        let outer = self.loops.entries.iter().map(|entry| {
            iterations = iterations.saturating_mul(entry.limit);
            iterations
        });
        let count = self.count();
        std::iter::once(1).chain(outer).position(|iterations| iterations == count)
    }
}

/// Loops that follow each other: the segments of a transfer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Segments(
    /// The loops of each.
    pub Vec<PairedProgram>,
);

impl PairedProgram {
    /// The loops from number `outer` on, from where an iteration of those before begins. Iterations are counted from
    /// the innermost of these, and addresses modulo 2^64.
    #[must_use]
    pub fn iteration(&self, outer: usize, iteration: u64) -> Self {
        let (outer, inner) = self.entries.split_at(outer);
        let mut own = Self { entries: inner.to_vec(), ..self.clone() };
        let mut rest = iteration;
        for entry in outer.iter().rev().filter(|entry| entry.limit > 0) {
            own.read_base = own.read_base.wrapping_add(entry.read.offset(rest % entry.limit));
            own.write_base = own.write_base.wrapping_add(entry.write.offset(rest % entry.limit));
            rest /= entry.limit;
        }
        own
    }
}
