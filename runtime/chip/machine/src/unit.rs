//! The contexts of the Tensor Unit.

use visa_words::words;

words! {
    /// A context of the Tensor Unit: it runs one pipeline at a time (books 12, 28).
    pub enum Unit {
        /// The one that computes.
        Main = "main",
        /// The one that prefetches.
        Sub = "sub",
        /// Both as one, whose flits have twice the bytes (book 08: dual channel mode).
        Dual = "dual",
    }
}

impl Unit {
    /// Returns true if it has the engines that compute: all but the sub context.
    #[must_use]
    pub const fn computes(self) -> bool {
        match self {
            Self::Main | Self::Dual => true,
            Self::Sub => false,
        }
    }
}
