//! Which bytes are used again, and when: memory is there to be used, so a tensor gets bytes of its own as long as there are any.
//!
//! Commands of the three contexts run side by side, and a command waits for an earlier one that reads or writes the bytes it
//! writes (book 28). Bytes that two tensors share are such a wait, even if neither is needed any more; bytes of their own are not.

use super::pack::{Buffer, Packing, apart, pack};

/// How eagerly bytes are used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reuse {
    /// Only where the tensors do not fit side by side, and then as late as possible.
    Needed,
    /// Wherever it saves memory.
    Always,
}

/// Places for the buffers of a memory of `capacity` bytes. `roomy` are alignments, coarsest first, that are better than what
/// the buffers demand, where there is room. In order:
///
/// 1. all buffers apart, at each of the `roomy` alignments, then at the demanded one;
/// 2. bytes used again once the buffer that held them has not been needed for as many operations as possible;
/// 3. bytes used again as soon as possible.
///
/// `None` if nothing of this fits.
#[must_use]
pub fn place(buffers: &[Buffer], capacity: u64, roomy: &[u64], reuse: Reuse) -> Option<Packing> {
    let fits = |packing: Option<Packing>| packing.filter(|packing| packing.peak <= capacity);
    if reuse == Reuse::Always {
        return fits(pack(buffers));
    }
    let alignments = roomy.iter().copied().chain([1]);
    let apart = alignments.clone().find_map(|align| fits(apart(&aligned(buffers, align))));
    apart.or_else(|| {
        alignments.filter(|&align| align < COARSE).find_map(|align| latest(&aligned(buffers, align), &fits))
    })
}

/// An alignment that only keeps buffers far apart: with memory short, there is no room for it.
pub const COARSE: u64 = 4096;

fn aligned(buffers: &[Buffer], align: u64) -> Vec<Buffer> {
    buffers.iter().map(|buffer| Buffer { align: buffer.align.max(align), ..*buffer }).collect()
}

/// The packing in which bytes rest as long as possible before they are used again: the more operations lie between, the less likely
/// the new command comes while the old one still runs. The longest rest is found by halving, as if what fits with a long rest
/// always fitted with a shorter one; a search that finds a little less memory with the longer rest only ends at a shorter one.
fn latest(buffers: &[Buffer], fits: &dyn Fn(Option<Packing>) -> Option<Packing>) -> Option<Packing> {
    let rested = |rest: usize| {
        let later =
            |buffer: &Buffer| Buffer { live: (buffer.live.0, buffer.live.1.saturating_add(rest)), ..*buffer };
        fits(pack(&buffers.iter().map(later).collect::<Vec<_>>()))
    };
    let mut best = rested(0)?;
    let (mut done, mut over) = (0, buffers.iter().map(|buffer| buffer.live.1).max().unwrap_or(0) + 1);
    while over - done > 1 {
        let middle = done + (over - done) / 2;
        match rested(middle) {
            Some(packing) => (best, done) = (packing, middle),
            None => over = middle,
        }
    }
    Some(best)
}
