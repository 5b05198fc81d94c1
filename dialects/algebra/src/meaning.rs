//! What a mapping holds at each position, and its normal form.

pub(crate) mod carry;
pub(crate) mod cell;
pub(crate) mod digits;
pub(crate) mod padded;
pub(crate) mod placement;
pub(crate) mod rebuild;
