//! Folds: the results of an operation are existing values, or the operation has a simpler form.

use super::Rewriter;
use crate::diag::Diagnostic;
use crate::infer::result_types;
use crate::module::{AttrId, OpId, OpRef, ValueId};

/// Result of folding an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fold {
    /// Its results are these values, one for each; the operation goes.
    Values(Vec<ValueId>),
    /// It stays, with these clauses; `None` removes one.
    Clauses(Vec<(&'static str, Option<AttrId>)>),
}

/// The fold of an operation, if there is one. It reads the operation, its clauses and its operands, and changes
/// nothing.
pub type FoldFn = fn(OpRef<'_>) -> Option<Fold>;

/// Folds an operation. Returns whether anything changed.
///
/// # Errors
/// If the fold changes a type: a mistake in the declaration. Nothing has changed then.
pub fn fold(rewriter: &mut Rewriter<'_>, id: OpId) -> Result<bool, Diagnostic> {
    let op = rewriter.op(id);
    let Some((decl, fold)) = op.decl().and_then(|decl| Some((decl, decl.fold?))) else { return Ok(false) };
    let wrong = |error: Diagnostic| Diagnostic {
        code: "fold".into(),
        message: format!("the fold of `{}` gives {}", decl.name, error.message),
        ..error
    };
    match fold(op) {
        None => Ok(false),
        // A value that stands for itself, as in a loop of unreachable operations, is no fold.
        Some(Fold::Values(values)) if values.iter().any(|value| op.results().contains(value)) => Ok(false),
        Some(Fold::Values(values)) => rewriter.replace(id, &values).map(|()| true).map_err(wrong),
        Some(Fold::Clauses(clauses)) => {
            let own = |name: &str| {
                op.clauses().iter().find(|clause| clause.name == name).map(|clause| clause.value)
            };
            let old: Vec<_> = clauses.iter().map(|&(name, _)| (name, own(name))).collect();
            if old == clauses {
                return Ok(false);
            }
            set(rewriter, id, &clauses);
            check_inferred(rewriter.op(id))
                .map(|()| true)
                .inspect_err(|_| set(rewriter, id, &old))
                .map_err(wrong)
        }
    }
}

fn set(rewriter: &mut Rewriter<'_>, op: OpId, clauses: &[(&'static str, Option<AttrId>)]) {
    clauses.iter().for_each(|&(name, value)| rewriter.set_clause(op, name, value));
}

/// Checks that the results have the types that follow from the clauses.
fn check_inferred(op: OpRef<'_>) -> Result<(), Diagnostic> {
    let Some((decl, infer)) = op.decl().and_then(|decl| Some((decl, decl.infer?))) else { return Ok(()) };
    let types = result_types(op, decl, infer)?;
    let changed = op.results().iter().zip(&*types).find(|(result, ty)| op.module.ty(**result) != **ty);
    let Some((&result, &ty)) = changed else { return Ok(()) };
    let (found, wanted) = (op.ctx.type_text(ty), op.ctx.type_text(op.module.ty(result)));
    let message = format!("clauses whose result has type `{found}` in place of `{wanted}`");
    Err(Diagnostic::error("fold", op.span(), message))
}
