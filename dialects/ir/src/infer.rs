//! Result types of operations, worked out once for each combination of operand types and clauses: the parser and every
//! run of the verifier ask for the same few, over and over.

use crate::context::{AttrId, TypeId};
use crate::decl::{InferFn, OpDecl};
use crate::diag::Diagnostic;
use crate::hash::Fast;
use crate::module::OpRef;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

/// What inference may depend on: the declaration, the types of the operands, and the clauses that are there.
#[derive(PartialEq, Eq, Hash)]
struct Key {
    decl: *const OpDecl,
    operands: Vec<TypeId>,
    /// By position in the declaration.
    clauses: Vec<(usize, AttrId)>,
}

/// The result types found so far; part of a context.
#[derive(Default)]
pub(crate) struct Inferred(RefCell<HashMap<Key, Rc<[TypeId]>, Fast>>);

/// The result types of `op`, as the `infer` of its declaration gives them.
pub(crate) fn result_types(
    op: OpRef<'_>,
    decl: &'static OpDecl,
    infer: InferFn,
) -> Result<Rc<[TypeId]>, Diagnostic> {
    let attr = |name| op.clauses().iter().find(|clause| clause.name == name).map(|clause| clause.value);
    let clauses = decl.clauses.iter().enumerate();
    let key = Key {
        decl,
        operands: op.operands().iter().map(|&operand| op.module.ty(operand)).collect(),
        clauses: clauses.filter_map(|(index, clause)| Some((index, attr(clause.name)?))).collect(),
    };
    let known = op.ctx.inferred.0.borrow().get(&key).cloned();
    if let Some(types) = known {
        return Ok(types);
    }
    let types: Rc<[TypeId]> = infer(op)?.into();
    op.ctx.inferred.0.borrow_mut().insert(key, types.clone());
    Ok(types)
}
