//! Tables of offsets: S6.

use crate::error::{SeqError, code};
use crate::program::Loop;
use crate::stride::Stride;
use visa_words::counted;

/// S6 of one entry.
pub(crate) fn check_table<const SIDES: usize, L: Loop<SIDES>>(entry: &L) -> Option<SeqError> {
    let counts = entry.strides().into_iter().filter_map(Stride::table).map(|table| table.len() as u64);
    let wrong = counts.filter(|&count| count != entry.limit()).last()?;
    let message = format!(
        "the table of an entry of {} has {wrong} offsets, expected one for each iteration",
        counted(entry.limit(), "iteration")
    );
    Some(SeqError::new(code::TABLE, message).with_fix(format!("write {wrong} for {}", entry.limit())))
}
