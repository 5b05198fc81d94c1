//! State of a fetch's masked padding further down the pipeline.

use crate::ops::fetch::Fetch;
use crate::ops::{cast, collect, switch};
use crate::pad::Pad;
use visa_algebra::{Axes, padded_terms};
use visa_ir::diag::Diagnostic;
use visa_ir::module::OpRef;
use visa_mapping::Tensor;
use visa_mapping::error::mapping_error;

/// The value of masked padding in the stream that `op` takes: engines between it and the fetch only move packets, or,
/// if it is zero, convert. `None` if another engine has changed it.
///
/// # Errors
/// If the fetch's mask clause cannot be read.
pub fn padding_kept(op: OpRef<'_>) -> Result<Option<Pad>, Diagnostic> {
    let moves = |engine: OpRef<'_>| engine.is(&switch::DECL) || engine.is(&collect::DECL);
    let converts = |engine: OpRef<'_>| engine.is(&cast::DECL);
    let (mut engine, mut converted) = (op.operand_def(0), false);
    while let Some(before) = engine.filter(|engine| moves(*engine) || converts(*engine)) {
        converted |= converts(before);
        engine = before.operand_def(0);
    }
    let pad = engine.and_then(Fetch::cast).map(Pad::of).transpose()?;
    Ok(pad.filter(|pad| !converted || *pad == Pad::Zero))
}

/// Checks that the zero padding of `result` is zero in the stream that `op` takes.
///
/// # Errors
/// If it is another number.
pub fn check_zeros(op: OpRef<'_>, result: &Tensor, constraint: &str, axes: &Axes) -> Result<(), Diagnostic> {
    let Some(pad @ (Pad::Lowest | Pad::Highest)) = padding_kept(op)? else { return Ok(()) };
    let maps: Vec<_> = result.maps.iter().collect();
    let terms = padded_terms(&maps, axes).map_err(|error| mapping_error(error, op.span()))?;
    let Some(term) = terms.into_iter().find(|term| term.zero) else { return Ok(()) };
    let message = format!("`{}` claims zeros, but the stream's fetch masks with `pad {pad}`", term.text);
    let fix = "leave `{0}` out, or `pad` at the fetch".to_owned();
    Err(op.error(constraint, message).fix(Some(fix)))
}
