//! The operations that plans may use.

use visa_machine::Unit;

/// The operations that plans may use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Vocabulary {
    /// All of the memory level.
    #[default]
    Visa,
    /// Those of the vendor's Rust, which has no dual context, and does not choose the DMA engines of a transfer.
    Rust,
}

impl Vocabulary {
    /// The contexts of contractions.
    #[must_use]
    pub fn contexts(self) -> &'static [Unit] {
        match self {
            Self::Visa => &[Unit::Main, Unit::Dual],
            Self::Rust => &[Unit::Main],
        }
    }

    /// Returns true if a transfer may have a `queue`.
    #[must_use]
    pub fn has_queues(self) -> bool {
        self == Self::Visa
    }
}
