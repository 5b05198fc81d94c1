//! Transfers between memories.

use visa_engine::Space;
use visa_engine::shadow::{Marker, ShadowLog};
use visa_hw::program::{Dma, DmaPart};

use crate::error::RunError;
use crate::memory::{ChipMemory, Chunk, Memories, PAGE_BYTES, Scatter, SliceParts};
use crate::runs::Runs;

/// Runs a transfer in program order: PCIe once, its loops count the chips; the tensor DMA on every chip alike
/// (book 10).
pub(crate) fn run(
    dma: &Dma,
    memories: &mut Memories,
    op: u32,
    log: Option<&ShadowLog>,
) -> Result<(), RunError> {
    let runs = dma.parts.iter().map(|part| runs(dma, part, memories)).collect::<Result<Vec<_>, _>>()?;
    let chips = if dma.pcie { 1 } else { memories.chips.len() };
    let mut chunk = Chunk::default();
    for chip in 0..chips {
        let (from, to) = (ChipMemory { space: dma.from, chip }, ChipMemory { space: dma.to, chip });
        for copy in runs.iter().flat_map(Runs::copies) {
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

fn runs(dma: &Dma, part: &DmaPart, memories: &Memories) -> Result<Runs, RunError> {
    // Within one memory a later packet may read the bytes that an earlier one wrote, so packets stay whole there.
    let piece = if dma.from == dma.to { part.loops.packet } else { PAGE_BYTES as u64 };
    let capacity = [memories.capacity(dma.from, dma.pcie), memories.capacity(dma.to, dma.pcie)];
    Runs::new(&part.loops, piece, capacity)
}

/// The transfer slice by slice, if it is one from HBM to slices that can be cut so.
pub(crate) fn by_slices(dma: &Dma, memories: &Memories) -> Result<Option<Scatter>, RunError> {
    let [part] = &dma.parts[..] else { return Ok(None) };
    if dma.pcie || dma.from != Space::HBM || dma.to != Space::DM {
        return Ok(None);
    }
    let runs = runs(dma, part, memories)?;
    let slices = memories.chips.first().map_or(0, Vec::len);
    let cut = by_slice(&runs, slices, memories.dm_bytes_per_slice);
    Ok(cut.map(|(parts, inner)| Scatter { parts, copies: runs.relative(inner) }))
}

/// Most parts that a transfer is cut into, and most copies of a part: both are listed.
const MAX_LISTED: u64 = 1 << 16;

/// The writes of a transfer into each of `slices` slices of `bytes` bytes, as parts of the loops from some number on:
/// the fewest outer loops are split off so that no part leaves its slice. `None` if there are too many parts.
fn by_slice(runs: &Runs, slices: usize, bytes: u64) -> Option<(Vec<SliceParts>, usize)> {
    let few = runs.splits().filter(|&(_, parts, copies)| parts <= MAX_LISTED && copies <= MAX_LISTED);
    few.map(|(inner, ..)| inner).find_map(|inner| {
        let extent = runs.written(inner)?;
        let mut parts = vec![SliceParts::default(); slices];
        for (read, write) in runs.starts(inner) {
            let (first, last) =
                (write.checked_add_signed(extent.start)?, write.checked_add_signed(extent.end - 1)?);
            let part = parts.get_mut((first / bytes) as usize).filter(|_| first / bytes == last / bytes)?;
            // A part may write below its start, in a slice before that.
            part.starts.push((read, write.wrapping_sub(first / bytes * bytes)));
            part.end = part.end.max(last % bytes + 1);
        }
        Some((parts, inner))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A slice, the starts of its parts, and where its last write ends.
    type Written = (usize, Vec<(u64, u64)>, u64);

    fn parts(text: &str) -> Option<Vec<Written>> {
        let runs = Runs::new(&text.parse().unwrap(), 1 << 16, [1 << 20, 1 << 20]).unwrap();
        let (parts, _) = by_slice(&runs, 4, 64)?;
        let used = parts.into_iter().enumerate().filter(|(_, part)| !part.starts.is_empty());
        Some(used.map(|(slice, part)| (slice, part.starts, part.end)).collect())
    }

    #[test]
    fn a_transfer_is_cut_at_slices() {
        // Slices are 64 bytes apart: the outer loop goes from slice to slice, the second one stays in it.
        let found = parts("[2 : 8 -> 64, 3 : 100 -> 16, 8 : 1 -> 1] : 8 @ 5 -> 72");
        assert_eq!(found, Some(vec![(1, vec![(5, 8)], 48), (2, vec![(13, 8)], 48)]));
        // The inner loop does: each packet is a part, in program order for its slice.
        let found = parts("[2 : 100 -> 16, 2 : 8 -> 64, 8 : 1 -> 1] : 8");
        assert_eq!(found, Some(vec![(0, vec![(0, 0), (100, 16)], 24), (1, vec![(8, 0), (108, 16)], 24)]));
        // A packet across the border belongs to no slice, and there is no fifth slice.
        assert_eq!(parts("[2 : 16 -> 16, 16 : 1 -> 1] : 16 @ 0 -> 56"), None);
        assert_eq!(parts("[5 : 16 -> 64, 16 : 1 -> 1] : 16"), None);
    }
}
