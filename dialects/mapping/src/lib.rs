//! Mapping expressions and the tm dialect.
//!
//! A mapping says what each position of a buffer holds (book 03). This half of the crate is the
//! algebra: the expression and its text ([`Expr`]), the declared axes ([`Axes`]), the readable meaning
//! ([`map`], [`Map`]), the digit normal form ([`digits()`]) and equality ([`equal()`]).

mod axes;
mod cell;
mod digits;
mod equal;
mod error;
mod expr;
mod parse;

pub use axes::{Axes, AxisId, MAX_AXES, MAX_SIZE};
pub use cell::{Cell, Index, Map, describe, map};
pub use digits::{Digit, Digits, DigitsError, Ragged, digits};
pub use equal::{ENUMERATION_BOUND, Equality, equal};
pub use error::{MapError, nearest};
pub use expr::{Expr, PadKind};
pub use parse::{MAX_DEPTH, MAX_NODES};
