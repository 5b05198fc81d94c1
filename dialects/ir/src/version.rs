//! The version of the text.

/// The version of the text that this crate writes; it reads this one and earlier ones.
pub const VERSION: u32 = 1;
