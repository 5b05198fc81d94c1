//! Policy for the reuse of bytes: memory is there to be used, so a tensor gets separate bytes as long as there are
//! any.
//!
//! Commands of the three contexts run side by side, and a command waits for an earlier one that reads or writes the
//! bytes it writes (book 28). Bytes that two tensors share cause such a wait, even if neither is needed any more;
//! separate bytes do not.

use super::pack::{Buffer, Effort, Packing, apart, live_bytes, pack_within};
use super::tensors::Reach;

/// Policy for the reuse of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reuse {
    /// Only where the tensors do not fit side by side, and then as late as possible.
    Needed,
    /// Wherever it saves memory.
    Always,
}

/// An alignment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Room {
    /// Every buffer is at a multiple of this number of bytes.
    Multiple(u64),
    /// Each is at a multiple of the power of two that it fits in, from `least` to `most` bytes.
    Whole {
        /// The least multiple.
        least: u64,
        /// The most.
        most: u64,
    },
}

impl Room {
    /// The alignment of a buffer of `bytes` bytes.
    fn of(self, bytes: u64) -> u64 {
        match self {
            Self::Multiple(align) => align,
            Self::Whole { least, most } => {
                bytes.checked_next_power_of_two().map_or(most, |own| own.clamp(least, most))
            }
        }
    }
}

/// Places for the buffers of a memory of `capacity` bytes. `reaches` has for each buffer the extent of reads beyond
/// it, which has to be memory. `roomy` are alignments, coarsest first, that are better than those the buffers demand,
/// where there is room. In order:
///
/// 1. all buffers disjoint, and disjoint from bytes that are read beyond others, at each of the `roomy` alignments,
///    then at the demanded one;
/// 2. bytes used again once the buffer that held them has not been needed for as many operations as possible;
/// 3. bytes used again as soon as possible.
///
/// `None` if nothing of this fits.
#[must_use]
pub fn place(
    buffers: &[Buffer],
    reaches: &[Reach],
    capacity: u64,
    roomy: &[Room],
    reuse: Reuse,
) -> Option<Packing> {
    let within = Within::new(buffers, reaches, capacity);
    if reuse == Reuse::Always {
        return within.pack(buffers, Effort::LEAST);
    }
    let mut alignments = roomy.iter().copied().chain([Room::Multiple(1)]);
    let kept_apart = alignments.clone().find_map(|align| {
        let widened = widened(&aligned(buffers, align), reaches);
        let packing = apart(&widened).filter(|packing| packing.peak <= capacity)?;
        Some(narrowed(packing, &widened, buffers, reaches))
    });
    kept_apart.or_else(|| alignments.find_map(|align| latest(&aligned(buffers, align), &within)))
}

/// The least memory that was found for buffers with their reaches, for any capacity: its end.
#[must_use]
pub fn least(buffers: &[Buffer], reaches: &[Reach]) -> Option<u64> {
    let within = Within::new(buffers, reaches, u64::MAX);
    within.pack(buffers, Effort::LEAST)?.peak.checked_add(within.after)
}

/// The buffers at those multiples, if they are multiples of the alignments that the buffers demand.
fn aligned(buffers: &[Buffer], room: Room) -> Vec<Buffer> {
    let at = |buffer: &Buffer| {
        let (align, demanded) = (room.of(buffer.bytes), buffer.align);
        if align.is_multiple_of(demanded.max(1)) { align } else { demanded }
    };
    buffers.iter().map(|buffer| Buffer { align: at(buffer), ..*buffer }).collect()
}

/// The bytes in front of a buffer that keep reads before it out of others, a multiple of its alignment.
fn front(buffer: &Buffer, reach: Reach) -> u64 {
    let free = buffer.fixed.is_none();
    let whole = reach.before.checked_next_multiple_of(buffer.align.max(1)).unwrap_or(u64::MAX);
    if free { whole } else { 0 }
}

/// The buffers with the bytes that are read beyond them. Fixed ones do not change: they may start nearer to 0 than
/// they are read beyond.
fn widened(buffers: &[Buffer], reaches: &[Reach]) -> Vec<Buffer> {
    let wide = |(buffer, reach): (&Buffer, &Reach)| {
        let before = front(buffer, *reach);
        Buffer { bytes: buffer.bytes.saturating_add(before).saturating_add(reach.after), ..*buffer }
    };
    buffers.iter().zip(reaches).map(wide).collect()
}

/// The packing of the buffers without the bytes that are read beyond them.
fn narrowed(wide: Packing, widened: &[Buffer], buffers: &[Buffer], reaches: &[Reach]) -> Packing {
    let fronts = widened.iter().zip(reaches).map(|(buffer, reach)| front(buffer, *reach));
    let addresses: Vec<u64> =
        wide.addresses.iter().zip(fronts).map(|(address, front)| address + front).collect();
    let free = buffers.iter().zip(&addresses).filter(|(buffer, _)| buffer.fixed.is_none());
    let peak = free.map(|(buffer, address)| address + buffer.bytes).max().unwrap_or(0);
    Packing { addresses, peak }
}

/// A memory that is short: bytes that are read beyond a buffer may be another buffer, but must be memory.
struct Within {
    /// Bytes at the start of the memory that no buffer takes.
    before: u64,
    /// Bytes at its end.
    after: u64,
    capacity: u64,
}

impl Within {
    fn new(buffers: &[Buffer], reaches: &[Reach], capacity: u64) -> Self {
        let free = || buffers.iter().zip(reaches).filter(|(buffer, _)| buffer.fixed.is_none());
        Self {
            before: free().map(|(_, reach)| reach.before).max().unwrap_or(0),
            after: free().map(|(_, reach)| reach.after).max().unwrap_or(0),
            capacity,
        }
    }

    fn pack(&self, buffers: &[Buffer], effort: Effort) -> Option<Packing> {
        // No packing of the free buffers takes less: of those that cannot fit, none is looked for.
        let free: Vec<Buffer> = buffers.iter().filter(|buffer| buffer.fixed.is_none()).copied().collect();
        if live_bytes(&free).checked_add(self.after)? > self.capacity {
            return None;
        }
        let guard = Buffer { bytes: self.before, align: 1, live: (0, usize::MAX), fixed: Some(0) };
        let guarded: Vec<_> = buffers.iter().copied().chain([guard]).collect();
        let mut packing = pack_within(&guarded, effort)?;
        packing.addresses.pop();
        (packing.peak.checked_add(self.after)? <= self.capacity).then_some(packing)
    }
}

/// Most pairs of buffers that the search for a longer rest looks at, of each rest.
const REST_STEPS: usize = 1 << 18;

/// Most buffers that longer rests are tried for: placing more of them once takes seconds.
const MOST_RESTED: usize = 4096;

/// The packing in which bytes rest as long as possible before they are used again: the more operations are between,
/// the less likely the new command comes while the old one still runs. The longest rest is found by halving, as if
/// buffers that fit with a long rest always fitted with a shorter one; a search that finds a little less memory with
/// the longer rest only ends at a shorter one.
fn latest(buffers: &[Buffer], within: &Within) -> Option<Packing> {
    let rested = |rest: usize| {
        let later =
            |buffer: &Buffer| Buffer { live: (buffer.live.0, buffer.live.1.saturating_add(rest)), ..*buffer };
        let enough = within.capacity.saturating_sub(within.after);
        // A longer rest saves waits, not memory: it is not worth as long a search.
        let steps = if rest == 0 { Effort::LEAST.steps } else { REST_STEPS };
        within.pack(&buffers.iter().map(later).collect::<Vec<_>>(), Effort { enough, steps })
    };
    let mut best = rested(0)?;
    if buffers.len() > MOST_RESTED {
        return Some(best);
    }
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
