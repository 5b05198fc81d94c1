//! The content of a stream's masked padding (book 08: pad_value; book 22: padding by the identity element).
//!
//! Padding with `{0}` in the type of a stream is masked by its fetch: these positions hold a number of the fetch's
//! choice, zero unless its `pad` clause specifies another. The type gives their positions, the fetch their value.
//! Operations that reduce them, or put them in a type that can only express zero, look the value up here.

use crate::ops::fetch::Fetch;
use visa_ir::diag::Diagnostic;
use visa_ir::words;

words! {
    /// The number in masked padding.
    pub enum Pad {
        /// Zero: nothing to a sum.
        Zero = "zero",
        /// No greater than any other of its format, negative infinity where there is one: nothing to a maximum.
        Lowest = "lowest",
        /// No less than any other of its format, infinity where there is one: nothing to a minimum.
        Highest = "highest",
    }
}

impl Pad {
    /// The mask value of a `stream.fetch`.
    ///
    /// # Errors
    /// If its clause is no word.
    pub fn of(fetch: Fetch<'_>) -> Result<Self, Diagnostic> {
        Ok(fetch.pad()?.unwrap_or(Self::Zero))
    }
}
