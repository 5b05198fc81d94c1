//! Loop programs: nested loops over addresses (book 07), as the fetch, commit, DMA and TRF
//! sequencers run them (book 08, 09, 10, 18).
//!
//! A [`Program`] is a value, independent of the IR, with a text form, an address
//! sequence, rewrites that keep that sequence, and the hardware's limits as rules S1 to S6.

mod addresses;
mod condition;
mod contain;
mod dependence;
mod engines;
mod error;
mod fit;
mod limits;
mod mask;
mod merge;
mod overlap;
mod program;
mod retile;
mod sizes;
mod steps;
mod stride;
mod table;
mod text;

pub use addresses::Addresses;
pub use condition::{Condition, iterations, narrowed, some_iteration};
pub use contain::{contains, may_contain};
pub use dependence::{Moving, Pairs, meet};
pub use engines::{EnginePart, EngineTable, Segments};
pub use error::{SeqError, code};
pub use limits::{MAX_TIMES, SequencerLimits, check, check_paired};
pub use mask::{Mask, innermost};
pub use overlap::{MAX_SUMS, first_overlap, overlap, overlap_within};
pub use program::{Entry, PairedEntry, PairedProgram, Program};
pub use sizes::{CommitSize, commit_size, contiguous, contiguous_paired, dma_packet, fetch_size, misaligned};
pub use steps::{Step, Steps, gcd, lcm};
pub use stride::{Stride, distance};
pub use text::{MAX_TEXT_ENTRIES, MAX_TEXT_PARTS, MAX_TURNS};
