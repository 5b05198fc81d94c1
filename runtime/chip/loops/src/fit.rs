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

    /// The same addresses as two programs, one after the other, where an entry of the merged program is above the
    /// limit and has no fitting factors: the most of its iterations that entries count together, in multiples of
    /// `whole` if it is the innermost, and the rest. `None` if there is no such entry, or it has an offset table.
    #[must_use]
    pub fn cut(&self, limits: &SequencerLimits, whole: u64) -> Option<[Self; 2]> {
        let mut merged = self.clone();
        merged.merge();
        let last = merged.entries.len().checked_sub(1)?;
        let unfit = |at: &usize| split_entry(&merged.entries, *at, self.packet, limits.limit).is_none();
        let at = (0..=last).find(unfit)?;
        let [read, write] = merged.entries[at].fixed()?;
        let limit = merged.entries[at].limit;
        let before = most_counted(limit, limits.limit, if at == last { whole.max(1) } else { 1 })?;
        let far = |stride: i64| stride.checked_mul(i64::try_from(before).ok()?);
        let (mut first, mut rest) = (merged.clone(), merged);
        first.entries[at].limit = before;
        rest.entries[at].limit = limit - before;
        rest.read_base = rest.read_base.checked_add(far(read)?)?;
        rest.write_base = rest.write_base.checked_add(far(write)?)?;
        Some([first, rest])
    }
}

/// The most iterations below `limit` that nested entries of at most `most` count together, the innermost a multiple
/// of `whole`. `None` if there are none.
fn most_counted(limit: u64, most: u64, whole: u64) -> Option<u64> {
    let mut inner = most / whole * whole;
    while most > 1 && inner > 0 && limit / inner > most {
        inner = inner.checked_mul(most)?;
    }
    let counted = limit.checked_div(inner)?.checked_mul(inner)?;
    (0 < counted && counted < limit).then_some(counted)
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
