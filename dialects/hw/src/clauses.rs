//! Checks of clauses' values: numbers in range, or a diagnostic.

use std::rc::Rc;
use visa_engine::words::ContractionKind;
use visa_ir::diag::Diagnostic;
use visa_ir::module::OpRef;
use visa_machine::Machine;

/// Interface of an operation that specifies the number of processing elements for the operations inside it.
pub(crate) struct Pes(pub(crate) fn(OpRef<'_>) -> Result<Option<i64>, Diagnostic>);

/// The machine whose limits hold for an operation: the one given to the context, or RNGD, with as many processing
/// elements as the program around the operation has.
#[must_use]
pub fn machine(op: OpRef<'_>) -> Rc<Machine> {
    let pes = |op: OpRef<'_>| op.decl()?.interface::<Pes>().map(|pes| (pes.0)(op));
    let pes = std::iter::once(op).chain(op.ancestors()).find_map(pes);
    // The operation that has them reports a number that is wrong.
    op.ctx.data::<Machine>().device_or_whole(pes.and_then(Result::ok).flatten())
}

/// The value of a clause that may be absent, where `constraint` wants it.
pub(crate) fn given<T>(
    op: OpRef<'_>,
    constraint: &str,
    (clause, value): (&str, Option<T>),
) -> Result<T, Diagnostic> {
    value.ok_or_else(|| op.error(constraint, format!("there is no `{clause}`")))
}

/// The number of a clause, which `constraint` wants to be at least `least`.
pub(crate) fn at_least(
    op: OpRef<'_>,
    constraint: &str,
    (clause, value): (&str, i64),
    least: u64,
) -> Result<u64, Diagnostic> {
    let found = u64::try_from(value).ok().filter(|&value| value >= least);
    found.ok_or_else(|| {
        let message = format!("`{clause}` is {value}, expected at least {least}");
        op.clause_error(constraint, clause, message)
    })
}

/// The number of a clause, which `constraint` wants to be one of `choices`.
pub(crate) fn one_of(
    op: OpRef<'_>,
    constraint: &str,
    (clause, value): (&str, i64),
    choices: &[u64],
) -> Result<u64, Diagnostic> {
    let value = at_least(op, constraint, (clause, value), 0)?;
    if choices.contains(&value) {
        return Ok(value);
    }
    let message = format!("`{clause}` is {value}, expected one of {}", list(choices));
    Err(op.clause_error(constraint, clause, message))
}

/// Numbers, for a message.
pub(crate) fn list(numbers: &[u64]) -> String {
    numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")
}

/// Returns true if the greatest is taken instead of a sum.
pub(crate) fn takes_max(op: ContractionKind) -> bool {
    match op {
        ContractionKind::Add => false,
        ContractionKind::Max => true,
    }
}
