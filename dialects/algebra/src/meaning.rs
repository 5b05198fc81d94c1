//! The cells of a mapping, and its normal form.

pub(crate) mod carry;
pub(crate) mod cell;
pub(crate) mod digits;
pub(crate) mod padded;
pub(crate) mod placement;
pub(crate) mod rebuild;
