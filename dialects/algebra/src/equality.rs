//! Equality of two mappings, and the text that stands for all equal ones.

pub(crate) mod equal;
pub(crate) mod normal;
pub(crate) mod opaque;
pub(crate) mod runs;
