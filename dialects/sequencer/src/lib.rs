//! Sequencer programs: nested loops over addresses (book 07), as the fetch, commit, DMA and TRF
//! sequencers run them (book 08, 09, 10, 18).
//!
//! Everything here is independent of the IR: a [`Program`] is a value with a text form, an address
//! sequence, rewrites that keep that sequence, and the hardware's limits as rules S1 to S5.

mod addresses;
mod error;
mod limits;
mod merge;
mod program;
mod retile;
mod sizes;
mod text;

pub use addresses::Addresses;
pub use error::{SeqError, code};
pub use limits::{SequencerLimits, check, check_paired};
pub use program::{Entry, PairedEntry, PairedProgram, Program};
pub use sizes::{CommitSize, commit_size, contiguous, contiguous_paired, fetch_size};
pub use text::MAX_TEXT_ENTRIES;
