//! Making a program fit the sequencer's entries (book 07).

use crate::error::SeqError;
use crate::limits::{SequencerLimits, check_entries};
use crate::merge::{merged, split_entry};
use crate::program::{Loop, PairedProgram, Program};

impl Program {
    /// The same addresses in as few entries as the sequencer has, each within its limit: merges
    /// everything, then splits entries above the limit into exact factors. An error (S1, S2) where
    /// that does not suffice. The innermost factor stays a multiple of the packet.
    pub fn fit(&self, limits: &SequencerLimits) -> Result<Self, SeqError> {
        let fitted = Self { entries: fitted(&self.entries, self.packet, limits), ..self.clone() };
        first_error(check_entries(&fitted.entries, self.packet, &fitted, limits))?;
        Ok(fitted)
    }
}

impl PairedProgram {
    /// [`Program::fit`] for both sides.
    pub fn fit(&self, limits: &SequencerLimits) -> Result<Self, SeqError> {
        let fitted = Self { entries: fitted(&self.entries, self.packet, limits), ..self.clone() };
        first_error(check_entries(&fitted.entries, self.packet, &fitted, limits))?;
        Ok(fitted)
    }
}

fn first_error(errors: Vec<SeqError>) -> Result<(), SeqError> {
    errors.into_iter().next().map_or(Ok(()), Err)
}

/// Merged entries, those above the limit split where they have fitting factors.
fn fitted<const SIDES: usize, L: Loop<SIDES>>(
    entries: &[L],
    packet: u64,
    limits: &SequencerLimits,
) -> Vec<L> {
    let merged = merged(entries);
    let pieces = |index: usize| {
        split_entry(&merged, index, packet, limits.limit).unwrap_or_else(|| vec![merged[index].clone()])
    };
    (0..merged.len()).flat_map(pieces).collect()
}
