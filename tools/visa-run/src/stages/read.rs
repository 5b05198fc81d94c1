//! Read: the trace or the schedule that a flag names.

use crate::compare::{self, Foreign};
use crate::console::{Console, Outcome};

/// Most bytes of a trace or a schedule that is compared with.
const MAX_COMPARED_BYTES: u64 = 1 << 28;

/// Reads a trace or a schedule; `code` is that of errors.
pub(crate) fn read_compared(code: &str, name: &str, console: &mut Console<'_>) -> Outcome<Foreign> {
    let bytes = console.io.read(name, MAX_COMPARED_BYTES);
    let bytes = bytes.map_err(|why| console.stop("cannot-read", format!("cannot read `{name}`: {why}")))?;
    let foreign = compare::read(&String::from_utf8_lossy(&bytes));
    foreign.map_err(|why| console.stop(code, format!("`{name}`: {why}")))
}
