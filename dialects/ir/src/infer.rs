//! Result types of operations, worked out once for each combination of operand types and clauses: the parser and
//! every run of the verifier ask for the same few, over and over.

use crate::context::{AttrId, Context, TypeId};
use crate::decl::{InferFn, OpDecl, Trait};
use crate::diag::Diagnostic;
use crate::module::{Module, OpRef};
use crate::open;
use rustc_hash::FxBuildHasher as Fast;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

/// Inputs of inference: the declaration, the types of the operands, and the explicit clauses.
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

/// The result types of `op`, as the `infer` of its declaration gives them; unknown where they depend on an open
/// clause.
///
/// # Errors
/// The error of the inference for the operation.
pub fn result_types(
    op: OpRef<'_>,
    decl: &'static OpDecl,
    infer: InferFn,
) -> Result<Rc<[TypeId]>, Diagnostic> {
    // An operation with any number of results passes on the types of its operands, known or not.
    if open::untyped(op) && !decl.has(Trait::AnyResults) {
        return Ok(vec![open::unknown(op.ctx); decl.results.len()].into());
    }
    if decl.has(Trait::InfersFromModule) {
        return infer(op).map(Into::into);
    }
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

/// Infers every result type of a module again, from the first operation to the last: types follow from clauses and
/// operands.
///
/// # Errors
/// The error of the inference for an operation; none for a module that verified before.
pub fn infer_all(ctx: &Context, module: &mut Module) -> Result<(), Diagnostic> {
    for id in module.walk_all() {
        let op = module.op(ctx, id);
        let Some(decl) = op.decl() else { continue };
        let results = decl.infer.map(|infer| result_types(op, decl, infer)).transpose()?;
        let arguments = decl.arguments.map(|arguments| arguments(op)).transpose()?;
        let body = op.regions().first().map_or(&[][..], |&block| module.args(block));
        let typed: Vec<_> = op.results().iter().zip(results.iter().flat_map(|types| types.iter())).collect();
        let typed = typed.into_iter().chain(body.iter().zip(arguments.iter().flatten()));
        let typed: Vec<_> = typed.map(|(&value, &ty)| (value, ty)).collect();
        typed.into_iter().for_each(|(value, ty)| module.set_type(value, ty));
    }
    Ok(())
}
