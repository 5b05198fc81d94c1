//! Operations on normal forms: common factors, complements, compositions and inverses.

pub(crate) mod common;
pub(crate) mod complement;
pub(crate) mod compose;
pub(crate) mod inverse;
