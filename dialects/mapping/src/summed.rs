//! The positions that a sum or a reduction of the tensor level goes through: a mapping, whose positions are its order.

use crate::error::mapping_error;
use std::sync::Arc;
use visa_algebra::{Axes, Expr};
use visa_ir::diag::{Diagnostic, counted};
use visa_ir::module::OpRef;

/// The axes that a mapping names, in the order of its text, each once. Aliases name none: the tensor level has none.
#[must_use]
pub fn named(map: &Expr) -> Vec<Arc<str>> {
    let mut names: Vec<Arc<str>> = Vec::new();
    for name in map.axis_names(&Axes::new()) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// C3: a tree is a power of two, and divides the positions.
pub(crate) fn check_tree(op: OpRef<'_>, over: &Expr, tree: i64, axes: &Axes) -> Result<(), Diagnostic> {
    let size = over.size(axes).map_err(|error| mapping_error(error, op.clause_span("over")))?;
    let width = u64::try_from(tree).ok().filter(|width| width.is_power_of_two());
    if width.is_some_and(|width| size.is_multiple_of(width)) {
        return Ok(());
    }
    let message =
        format!("a tree of {tree}, expected a power of two that divides {}", counted(size, "position"));
    Err(op.clause_error("C3", "tree", message))
}

/// C4: the axes of `keep` are summed.
pub(crate) fn check_kept(op: OpRef<'_>, over: &Expr, kept: Option<&Expr>) -> Result<(), Diagnostic> {
    let summed = named(over);
    let other = kept.and_then(|kept| named(kept).into_iter().find(|axis| !summed.contains(axis)));
    match other {
        Some(other) => {
            let message = format!("axis `{other}` is not in `over`: it stays in the result without `keep`");
            Err(op.clause_error("C4", "keep", message))
        }
        None => Ok(()),
    }
}
