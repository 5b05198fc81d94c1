//! A scalar of any format.

/// A scalar as raw bits: integers extended to 32 bits by their sign, or by zeros if they have none; floats in the low
/// bits.
pub type Bits = u32;
