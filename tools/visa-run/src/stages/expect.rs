//! Expect: the results compared with the files of `--expect`.

use crate::console::{Console, Outcome};
use crate::data::{self, Array, Tolerance};
use crate::flags::Flags;
use crate::ports::Ports;
use crate::ran::{Masks, Tensors, undefined};
use crate::stages::arguments;
use visa_ir::diag::{Diagnostic, Severity};
use visa_ir::span::Span;

/// Checks every `--expect`. Returns true if all hold.
pub(crate) fn expectations(
    ports: &Ports,
    results: &Tensors,
    masks: &Masks,
    flags: &Flags,
    console: &mut Console<'_>,
) -> Outcome<bool> {
    let expects = arguments::by_name("expect", &flags.expects, ports, false, console)?;
    let tolerance = Tolerance { ulps: flags.ulps, bound: flags.tolerance };
    let mut held = true;
    for port in &ports.results {
        let Some(file) = expects.get(&port.name) else { continue };
        let flag = format!("--expect {}", port.name);
        let expected = Array::read_npy(&console.io.path(file), flags.memory);
        let expected = expected.map_err(|error| console.stop("expect", format!("{flag}: {error}")))?;
        let defined = masks.get(&port.name);
        let result = data::Elements {
            dtype: port.dtype,
            shape: &port.shape,
            bytes: &results[&port.name],
            defined: defined.map(Vec::as_slice),
        };
        if let Some(defined) = defined {
            let (count, total) = (undefined(defined), defined.len());
            let message =
                format!("{flag}={file}: {count} of {total} elements are undefined and are not compared");
            console.note(Severity::Warning, "expect", message);
        }
        if let Err(mismatch) = data::compare(&result, &expected, tolerance) {
            held = false;
            let message = format!("{flag}={file}: {mismatch}");
            console.emit_about(None, &[Diagnostic::error("expect", Span::default(), message)]);
        }
    }
    Ok(held)
}
