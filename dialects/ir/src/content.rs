//! The content of an operation as a number, for questions whose answer follows from the content alone
//! ([`Context::once`]).
//!
//! [`Context::once`]: crate::context::Context::once

use crate::context::{AttrId, TypeId};
use crate::decl::OpDecl;
use crate::module::{OpRef, ValueId};
use std::cell::Cell;
use std::convert::Infallible;
use std::hash::Hash;

/// Two operations of a context have the same content exactly if these numbers are equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Content(u32);

/// The content of an operation.
#[derive(PartialEq, Eq, Hash)]
struct ContentKey<O, E> {
    decl: *const OpDecl,
    /// By position in the declaration.
    clauses: Vec<(usize, AttrId)>,
    operands: Vec<O>,
    results: Vec<TypeId>,
    also: E,
}

/// The contents that a context has numbered.
#[derive(Default)]
struct Numbered(Cell<u32>);

/// The content of a declared operation: its declaration, its clauses, the types of its results, the result of
/// `operand` for each operand, and the value `also`.
pub fn content<O: Hash + Eq + 'static, E: Hash + Eq + 'static>(
    op: OpRef<'_>,
    operand: impl FnMut(ValueId) -> O,
    also: E,
) -> Option<Content> {
    let decl = op.decl()?;
    let position = |name: &str| decl.clauses.iter().position(|clause| clause.name == name);
    let said = ContentKey {
        decl,
        clauses: op
            .clauses()
            .iter()
            .filter_map(|clause| Some((position(&clause.name)?, clause.value)))
            .collect(),
        operands: op.operands().iter().copied().map(operand).collect(),
        results: op.results().iter().map(|&value| op.module.ty(value)).collect(),
        also,
    };
    Some(number(op, said))
}

/// The number of a content, a new number for a content that is new.
fn number<Q: Hash + Eq + 'static>(op: OpRef<'_>, said: Q) -> Content {
    let next = || {
        let numbered = op.ctx.data::<Numbered>();
        numbered.0.set(numbered.0.get() + 1);
        Ok::<_, Infallible>(Content(numbered.0.get()))
    };
    op.ctx.once(said, next).map_or_else(|never| match never {}, |content| *content)
}
