//! What the masked padding of a stream holds (book 08: pad_value; book 22: padding by the identity element).
//!
//! Padding with `{0}` in the type of a stream is masked by its fetch: these positions hold a number of the fetch's
//! choice, zero unless its `pad` clause says otherwise. The type says where they are, the fetch what they are; so
//! what takes a reduction of them, or puts them where a type can only say zero, asks here.

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
    /// What a `stream.fetch` masks with.
    ///
    /// # Errors
    /// If its clause is no word.
    pub fn of(fetch: Fetch<'_>) -> Result<Self, Diagnostic> {
        Ok(fetch.pad()?.unwrap_or(Self::Zero))
    }
}
