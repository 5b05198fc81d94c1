//! The algebra of mapping expressions, for anything that needs to know where a tensor's elements are.
//!
//! A mapping such as `[A / 8, B % 4 # 16]` gives every position of a buffer the coordinates of one element, or
//! padding (book 03). This crate parses mappings and decides questions about them. It knows no IR: its errors are
//! plain values ([`MapError`]), and its only inputs are texts, numbers and other mappings.
//!
//! ```
//! use visa_algebra::{Axes, Equality, Expr, divide_exact, equal, place_expr};
//!
//! let mut axes = Axes::new();
//! axes.declare("A", 32)?;
//! axes.declare("B", 4)?;
//! let split = Expr::parse("[A / 8, A % 8, B]")?;
//! let whole = Expr::parse("[A, B]")?;
//! assert_eq!(split.size(&axes)?, 128);
//! assert_eq!(equal(&split, &whole, &axes), Equality::Equal);
//!
//! // How to walk a buffer in which B is major to read A as the major part: 32 steps of 1, each with 4 of 32.
//! let buffer = Expr::parse("[B, A]")?;
//! let stream = place_expr(&whole, &axes, 1).expect("small");
//! let buffer = place_expr(&buffer, &axes, 1).expect("small");
//! let none_free = |_| false;
//! assert!(divide_exact(&stream, &buffer, &none_free, &axes).is_ok());
//! # Ok::<(), visa_algebra::MapError>(())
//! ```
//!
//! # Decisions
//!
//! | question | asked by |
//! |---|---|
//! | What does position `i` hold? | [`map`], [`Map`], which give a [`Cell`] |
//! | What is the normal form? | [`digits()`], which gives [`Digits`] or the reason why there is none |
//! | Do two mappings hold the same? | [`equal()`], [`decide`], which give an [`Equality`] |
//! | May one replace the other? | [`refines`], which gives a [`Refinement`] |
//! | How is a stream read from a buffer? | [`divide()`], [`divide_exact`], [`divide_across`]: a [`Division`] |
//! | The same where indices are gathered? | [`Gathers`] makes mappings that [`divide()`] takes |
//! | Where is each digit? | [`place()`], [`place_expr`], which give a [`Placement`] |
//! | Which position holds an index? | [`inverse()`], which gives an [`Inverse`] |
//! | What do two share, and what is left? | [`common()`], [`complement()`] |
//! | What is one after another? | [`compose()`] |
//! | Which text is canonical? | [`normalize`], [`rebuild()`] |
//!
//! Every answer is exact. Where a question would take more than a bound allows ([`MAX_SIZE`], [`MAX_NODES`],
//! [`ENUMERATION_BOUND`]), the answer is an error or unknown, never a guess; [`effort`] counts the steps taken.
//!
//! # Where things are
//!
//! `expr` is the expression, the axes and the text; `meaning` the cells of a mapping and its normal form; `equality`
//! decides equality; `factors` the operations on digits; `division` the division of a stream by a buffer.

mod division;
mod effort;
mod equality;
mod error;
mod expr;
mod factors;
mod limits;
mod meaning;

pub use division::across::{Divide, divide_across, loops_of};
pub use division::divide::{
    DivideError, Division, Movement, Step, digit_text, divide, divide_exact, step_digit, step_text,
};
pub use division::gather::{Gathers, MAX_PICKS, is_gathered};
pub use effort::{count_effort, effort};
pub use equality::equal::{
    ENUMERATION_BOUND, Equality, Refinement, Tier, decide, equal, first_missing, first_unlike, refines,
};
pub use equality::normal::normalize;
pub use equality::opaque::{Opaque, equal_streams, without_zeros};
pub use equality::runs::{MAX_RUN_NODES, MAX_RUN_STEPS};
pub use error::{MapError, quote};
pub use expr::axes::{Axes, AxisId, AxisUse, MAX_AXES, Skew};
pub use expr::skew::{Crossing, crossings, skewed_among, skewed_names};
pub use expr::{Expr, MAX_SHARED, PadKind, Side};
pub use factors::common::{FactorError, common};
pub use factors::complement::{ComplementError, complement};
pub use factors::compose::compose;
pub use factors::inverse::{Inverse, inverse};
pub use limits::{MAX_DEPTH, MAX_NODES, MAX_SIZE};
pub use meaning::carry::{Carries, Views, cuts_unevenly, joined};
pub use meaning::cell::{Cell, Index, Map, describe, map};
pub use meaning::digits::{Digit, Digits, DigitsError, Offset, Ragged, digits};
pub use meaning::padded::{Padded, padded_terms};
pub use meaning::placement::{MAX_CHOICES, PlacedDigit, Placement, place, place_expr, times};
pub use meaning::rebuild::{digit_expr, rebuild};
