//! Typed construction of operations, the counterpart of [`mod@crate::view`]. The declaration of an operation
//! generates a builder ([`macro@crate::view`]): `Fetch::build(op).dtype(dtype).loops(program).spec()`. A clause that
//! does not exist, or a value of the wrong kind, does not compile. A missing clause is reported by the verifier.

use crate::context::{Attr, Context};
use crate::decl::{Body, BodyDef, OpDecl};
use crate::module::{OpRef, OpSpec, ValueId};
use crate::span::Span;
use std::rc::Rc;

/// A view whose declaration generates a builder.
pub trait View {
    /// The builder.
    type Builder<'c>: From<NewOp<'c>> + Into<NewOp<'c>>;
}

/// An operation under construction. Generated builders wrap it; their setters call its methods.
#[derive(Clone)]
pub struct NewOp<'c> {
    ctx: &'c Context,
    spec: OpSpec,
}

impl<'c> NewOp<'c> {
    /// An operation that replaces `origin`, with its span and its location.
    #[must_use]
    pub fn from(decl: &'static OpDecl, origin: OpRef<'c>) -> Self {
        Self { ctx: origin.ctx, spec: OpSpec::at(decl, origin) }
    }

    /// An operation that is written at `span`.
    #[must_use]
    pub fn written(decl: &'static OpDecl, ctx: &'c Context, span: Span) -> Self {
        Self { ctx, spec: OpSpec::new(decl, span) }
    }

    /// Appends operands.
    #[must_use]
    pub fn operands(self, operands: impl IntoIterator<Item = ValueId>) -> Self {
        Self { spec: self.spec.operands(operands), ..self }
    }

    /// Sets a clause to an attribute.
    #[must_use]
    pub fn attr(self, clause: &'static str, value: Attr) -> Self {
        let value = self.ctx.attr(value);
        Self { spec: self.spec.clause(clause, value), ..self }
    }

    /// Sets a clause to a dialect attribute.
    #[must_use]
    pub fn body<T: Body>(self, clause: &'static str, def: &'static BodyDef, value: Rc<T>) -> Self {
        self.attr(clause, Attr::Body(def, value))
    }

    /// Sets a flag, if `present`.
    #[must_use]
    pub fn flag(self, clause: &'static str, present: bool) -> Self {
        if present { self.attr(clause, Attr::Unit) } else { self }
    }

    /// The finished operation.
    #[must_use]
    pub fn spec(self) -> OpSpec {
        self.spec
    }
}
