//! Whether two mappings hold the same, and the text that stands for all that do.

pub(crate) mod equal;
pub(crate) mod normal;
pub(crate) mod opaque;
pub(crate) mod runs;
