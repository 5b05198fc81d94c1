//! The inverse of a mapping: from an index to a position that holds it.
//!
//! *Law.* Let f be a mapping with digits and g its inverse. For each live position i, `f(g(f(i))) = f(i)`; and
//! `g(f(i)) = i` where f has no broadcast digit and no two digits of an axis overlap, for then each index has one
//! place. g is partial: an index that f does not hold has no position.
//!
//! Lowering reads a buffer f in the order of a stream s by walking `g . s` (book 07): [`crate::divide()`] finds it
//! as loops.

use crate::meaning::cell::Index;
use crate::meaning::digits::Digits;
use crate::meaning::placement::{Placement, place};

/// From an index to a position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inverse(Placement);

/// The inverse of a mapping.
#[must_use]
pub fn inverse(map: &Digits) -> Inverse {
    Inverse(place(map, 1))
}

impl Inverse {
    /// The position that holds the index; the first one where overlapping digits or a broadcast hold it several
    /// times.
    #[must_use]
    pub fn position(&self, index: &Index) -> Option<u64> {
        self.0.address(index).and_then(|address| u64::try_from(address).ok())
    }
}
