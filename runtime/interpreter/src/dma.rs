//! Transfers between memories.

use visa_hw::program::Dma;
use visa_hw::taint::{Marker, TaintLog};

use crate::error::RunError;
use crate::memory::{Chunk, Memories, PAGE_BYTES, Place};
use crate::runs::Runs;

/// Runs a transfer: PCIe once, its loops count the chips; the tensor DMA on every chip alike (book 10).
pub(crate) fn run(
    dma: &Dma,
    memories: &mut Memories,
    op: u32,
    log: Option<&TaintLog>,
) -> Result<(), RunError> {
    // Within one memory a later packet may read what an earlier one wrote, so packets stay whole there.
    let piece = if dma.from == dma.to { dma.loops.packet } else { PAGE_BYTES as u64 };
    let capacity = [memories.capacity(dma.from, dma.pcie), memories.capacity(dma.to, dma.pcie)];
    let runs = Runs::new(&dma.loops, piece, capacity)?;
    let chips = if dma.pcie { 1 } else { memories.chips.len() };
    let mut chunk = Chunk::default();
    for chip in 0..chips {
        let (from, to) = (Place { space: dma.from, chip }, Place { space: dma.to, chip });
        for copy in runs.copies() {
            chunk.clear();
            memories.read(from, copy.read, copy.length, &mut chunk);
            if let Some(log) = log {
                Marker::new(log, op).through_all(&mut chunk.marks);
            }
            memories.write(to, copy.write, &chunk)?;
        }
    }
    Ok(())
}
