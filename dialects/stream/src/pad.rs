//! What the masked padding of a stream holds (book 08: pad_value; book 22: padding by the identity element).
//!
//! Padding with `{0}` in the type of a stream is masked by its fetch: these positions hold a number of the fetch's
//! choice, zero unless its `pad` clause says otherwise. The type says where they are, the fetch what they are; so
//! what takes a reduction of them, or puts them where a type can only say zero, asks here.

use crate::ops::fetch;
use crate::ops::{cast, collect, switch};
use std::fmt;
use visa_ir::diag::Diagnostic;
use visa_ir::module::OpRef;
use visa_mapping::{Axes, Tensor, padded_terms};

/// The number in masked padding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pad {
    /// Zero: nothing to a sum.
    Zero,
    /// No greater than any other of its format, negative infinity where there is one: nothing to a maximum.
    Lowest,
    /// No less than any other of its format, infinity where there is one: nothing to a minimum.
    Highest,
}

/// The words of a fetch's `pad` clause.
pub const PADS: &[&str] = &["zero", "lowest", "highest"];

impl fmt::Display for Pad {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Zero => "zero",
            Self::Lowest => "lowest",
            Self::Highest => "highest",
        })
    }
}

impl Pad {
    /// What a `stream.fetch` masks with.
    #[must_use]
    pub fn of(fetch: OpRef<'_>) -> Self {
        match fetch.word("pad").as_deref() {
            Some("lowest") => Self::Lowest,
            Some("highest") => Self::Highest,
            Some(_) | None => Self::Zero,
        }
    }
}

/// What masked padding of the stream that `op` takes still holds: engines between it and the fetch only move
/// packets, or, if it is zero, convert. None if something else has changed it.
#[must_use]
pub fn padding_kept(op: OpRef<'_>) -> Option<Pad> {
    let moves = |engine: OpRef<'_>| engine.is(&switch::DECL) || engine.is(&collect::DECL);
    let converts = |engine: OpRef<'_>| engine.is(&cast::DECL);
    let (mut engine, mut converted) = (op.operand_def(0), false);
    while let Some(before) = engine.filter(|engine| moves(*engine) || converts(*engine)) {
        converted |= converts(before);
        engine = before.operand_def(0);
    }
    let pad = Pad::of(engine.filter(|engine| engine.is(&fetch::DECL))?);
    (!converted || pad == Pad::Zero).then_some(pad)
}

/// Checks that what `result` calls zero padding is zero in the stream that `op` takes.
///
/// # Errors
/// If it is another number.
pub fn check_zeros(op: OpRef<'_>, result: &Tensor, constraint: &str, axes: &Axes) -> Result<(), Diagnostic> {
    let Some(pad @ (Pad::Lowest | Pad::Highest)) = padding_kept(op) else { return Ok(()) };
    let maps: Vec<_> = result.maps.iter().collect();
    let terms = padded_terms(&maps, axes).unwrap_or_default();
    let Some(term) = terms.into_iter().find(|term| term.zero) else { return Ok(()) };
    let message = format!("`{}` claims zeros, but the stream's fetch masks with `pad {pad}`", term.text);
    let fix = "leave `{0}` out, or `pad` at the fetch".to_owned();
    Err(op.error(constraint, message).fix(Some(fix)))
}
