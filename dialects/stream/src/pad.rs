//! What the masked padding of a stream holds (book 08: pad_value; book 22: padding by the identity element).
//!
//! Padding with `{0}` in the type of a stream is masked by its fetch: these positions hold a number of the fetch's
//! choice, zero unless its `pad` clause says otherwise. The type says where they are, the fetch what they are; so
//! what takes a reduction of them, or puts them where a type can only say zero, asks here.

use crate::ops::fetch::Fetch;
use std::fmt;
use visa_ir::diag::Diagnostic;

/// The number in masked padding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pad {
    /// Zero: nothing to a sum.
    Zero,
    /// No greater than any other of its format, negative infinity where there is one: nothing to a maximum.
    Lowest,
    /// No less than any other of its format, infinity where there is one: nothing to a minimum.
    Highest,
}

/// The words of a fetch's `pad` clause.
pub const PADS: &[&str] = &["zero", "lowest", "highest"];

impl fmt::Display for Pad {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Zero => "zero",
            Self::Lowest => "lowest",
            Self::Highest => "highest",
        })
    }
}

impl Pad {
    /// What a `stream.fetch` masks with.
    ///
    /// # Errors
    /// If its clause is no word.
    pub fn of(fetch: Fetch<'_>) -> Result<Self, Diagnostic> {
        Ok(match fetch.pad()?.as_deref() {
            Some("lowest") => Self::Lowest,
            Some("highest") => Self::Highest,
            Some(_) | None => Self::Zero,
        })
    }
}
