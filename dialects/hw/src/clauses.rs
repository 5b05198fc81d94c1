//! Reading clauses: values that are there and in range, or a diagnostic.

use std::rc::Rc;
use visa_ir::decl::Body;
use visa_ir::diag::Diagnostic;
use visa_ir::module::OpRef;
use visa_machine::Machine;

/// The machine whose limits hold.
pub(crate) fn machine(op: OpRef<'_>) -> Rc<Machine> {
    op.ctx.data()
}

/// Whether the operation is in the sub context of the Tensor Unit.
pub(crate) fn in_sub_context(op: OpRef<'_>) -> bool {
    op.parent().and_then(|exec| exec.word("context")).is_some_and(|context| &*context == "sub")
}

fn missing(op: OpRef<'_>, clause: &str) -> Diagnostic {
    let message = format!("`{op}` needs its clause `{clause}`");
    Diagnostic::error("missing-clause", op.span(), message)
}

/// A dialect attribute.
pub(crate) fn body<T: Body>(op: OpRef<'_>, clause: &str) -> Result<Rc<T>, Diagnostic> {
    op.body(clause).ok_or_else(|| missing(op, clause))
}

/// A word or a string.
pub(crate) fn word(op: OpRef<'_>, clause: &str) -> Result<Rc<str>, Diagnostic> {
    op.word(clause).ok_or_else(|| missing(op, clause))
}

/// A number that `constraint` wants to be at least `least`.
pub(crate) fn at_least(op: OpRef<'_>, constraint: &str, clause: &str, least: u64) -> Result<u64, Diagnostic> {
    let value = op.int(clause).ok_or_else(|| missing(op, clause))?;
    let found = u64::try_from(value).ok().filter(|&value| value >= least);
    found.ok_or_else(|| {
        let message = format!("`{clause}` is {value}, expected at least {least}");
        op.clause_error(constraint, clause, message)
    })
}

/// A number that `constraint` wants to be one of `choices`.
pub(crate) fn one_of(
    op: OpRef<'_>,
    constraint: &str,
    clause: &str,
    choices: &[u64],
) -> Result<u64, Diagnostic> {
    let value = at_least(op, constraint, clause, 0)?;
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

/// The clause kind of what a contraction makes of its products.
pub(crate) const REDUCTION: &[&str] = &["add", "max"];

/// Whether the greatest is taken instead of a sum.
pub(crate) fn takes_max(op: OpRef<'_>) -> Result<bool, Diagnostic> {
    Ok(&*word(op, "op")? == "max")
}
