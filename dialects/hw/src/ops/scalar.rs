//! `hw.scalar`: a number that is known when a program starts.

use crate::program;
use visa_ir::decl::{ClauseDecl, ClauseKind, OpDecl, Trait};
use visa_ir::diag::{Diagnostic, counted};
use visa_ir::effects::Effects;
use visa_ir::module::OpRef;
use visa_loops::MAX_TIMES;

/// `hw.scalar`.
#[visa_ir::view(Scalar)]
pub static SCALAR: OpDecl = OpDecl {
    name: "hw.scalar",
    summary: "a number that is known when a program starts",
    doc: "It is from 0 up to `count`, not included. Addresses of transfers move with it as with the index of a loop \
          around the whole program: the first numbers of `read_steps` and `write_steps` are for the scalars, in their \
          order, those after them for loops.",
    constraints: &[("C1", "`count` is 1 to 2^32")],
    clauses: &[
        ClauseDecl::lead("name", ClauseKind::Str, "The name that it is given by."),
        ClauseDecl::required("count", ClauseKind::Int, "How many numbers it may be."),
    ],
    traits: &[Trait::Inside("hw.program")],
    effects: Effects::Declares,
    verify: Some(|op, _| read(op).map(drop)),
    example: "hw.scalar \"position\", count 2048",
    ..OpDecl::BASE
};

/// The operations of this file.
pub static OPS: &[&OpDecl] = &[&SCALAR];

/// The scalar that the operation declares.
///
/// # Errors
/// C1.
pub(crate) fn read(op: OpRef<'_>) -> Result<program::Scalar, Diagnostic> {
    let op = Scalar::of(op)?;
    let (name, written) = (op.name()?.to_string(), op.count()?);
    let count = u64::try_from(written).ok().filter(|count| (1..=MAX_TIMES).contains(count));
    let count = count.ok_or_else(|| {
        let message = format!("{}, expected 1 to {MAX_TIMES}", counted(written, "number"));
        op.clause_error("C1", "count", message)
    })?;
    Ok(program::Scalar { name, count, span: op.span() })
}
