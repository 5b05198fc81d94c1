//! Typed construction of operations, the counterpart of [`mod@crate::view`]. The declaration of an operation
//! generates a builder ([`macro@crate::view`]): `Fetch::build(op).dtype(dtype).loops(program).spec()`. A clause that
//! does not exist, or a value of the wrong kind, does not compile. A missing clause is reported by the verifier.
//!
//! A clause that takes a word takes a value of its enum ([`words!`](crate::words)):
//!
//! ```
//! use visa_ir::context::Context;
//! use visa_ir::decl::{ClauseDecl, ClauseKind, OpDecl};
//! use visa_ir::module::Module;
//! use visa_ir::print::{Form, print_op};
//! use visa_ir::span::Span;
//!
//! visa_ir::words! {
//!     pub enum Part { Full = "full", Half = "half" }
//! }
//!
//! #[visa_ir::view(Load)]
//! static LOAD: OpDecl = OpDecl {
//!     name: "my.load",
//!     clauses: &[
//!         ClauseDecl::lead("part", ClauseKind::word::<Part>(), "The part that is loaded."),
//!         ClauseDecl::required("rows", ClauseKind::Int, "Its rows."),
//!     ],
//!     ..OpDecl::BASE
//! };
//!
//! let ctx = Context::new(&[]);
//! let mut module = Module::default();
//! let load = Load::build_at(&ctx, Span::default()).part(Part::Half).rows(8).spec();
//! let load = module.append(module.body(), load);
//! assert_eq!(print_op(&ctx, &module, load, Form::Pretty).trim(), "my.load half, rows 8");
//! ```
//!
//! A value of another kind does not compile:
//!
//! ```compile_fail,E0308
//! # use visa_ir::context::Context;
//! # use visa_ir::decl::{ClauseDecl, ClauseKind, OpDecl};
//! # use visa_ir::span::Span;
//! # #[visa_ir::view(Load)]
//! # static LOAD: OpDecl = OpDecl {
//! #     name: "my.load",
//! #     clauses: &[ClauseDecl::required("rows", ClauseKind::Int, "Its rows.")],
//! #     ..OpDecl::BASE
//! # };
//! # let ctx = Context::new(&[]);
//! let load = Load::build_at(&ctx, Span::default()).rows("eight").spec();
//! ```
//!
//! Nor does a word as text, or a word of another clause:
//!
//! ```compile_fail,E0308
//! # use visa_ir::context::Context;
//! # use visa_ir::decl::{ClauseDecl, ClauseKind, OpDecl};
//! # use visa_ir::span::Span;
//! # visa_ir::words! { pub enum Part { Full = "full", Half = "half" } }
//! # #[visa_ir::view(Load)]
//! # static LOAD: OpDecl = OpDecl {
//! #     name: "my.load",
//! #     clauses: &[ClauseDecl::lead("part", ClauseKind::word::<Part>(), "The part that is loaded.")],
//! #     ..OpDecl::BASE
//! # };
//! # let ctx = Context::new(&[]);
//! let load = Load::build_at(&ctx, Span::default()).part("half").spec();
//! ```
//!
//! ```compile_fail,E0308
//! # use visa_ir::context::Context;
//! # use visa_ir::decl::{ClauseDecl, ClauseKind, OpDecl};
//! # use visa_ir::span::Span;
//! # visa_ir::words! { pub enum Part { Full = "full", Half = "half" } }
//! # #[visa_ir::view(Load)]
//! # static LOAD: OpDecl = OpDecl {
//! #     name: "my.load",
//! #     clauses: &[ClauseDecl::lead("part", ClauseKind::word::<Part>(), "The part that is loaded.")],
//! #     ..OpDecl::BASE
//! # };
//! visa_ir::words! {
//!     enum Engine { Tensor = "tensor", Pcie = "pcie" }
//! }
//! # let ctx = Context::new(&[]);
//! let load = Load::build_at(&ctx, Span::default()).part(Engine::Pcie).spec();
//! ```
//!
//! Nor does a word that the clause lacks:
//!
//! ```compile_fail,E0599
//! # use visa_ir::context::Context;
//! # use visa_ir::decl::{ClauseDecl, ClauseKind, OpDecl};
//! # use visa_ir::span::Span;
//! # visa_ir::words! { pub enum Part { Full = "full", Half = "half" } }
//! # #[visa_ir::view(Load)]
//! # static LOAD: OpDecl = OpDecl {
//! #     name: "my.load",
//! #     clauses: &[ClauseDecl::lead("part", ClauseKind::word::<Part>(), "The part that is loaded.")],
//! #     ..OpDecl::BASE
//! # };
//! # let ctx = Context::new(&[]);
//! let load = Load::build_at(&ctx, Span::default()).part(Part::Quarter).spec();
//! ```

use crate::context::{Attr, Context};
use crate::decl::{ClauseDecl, OpDecl};
use crate::module::{OpRef, OpSpec, TypeId, ValueId};
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

    /// An operation with the name, the clauses, the span and the location of `op`.
    #[must_use]
    pub fn copied(op: OpRef<'c>) -> Self {
        Self { ctx: op.ctx, spec: OpSpec::copied(op) }
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

    /// Sets a clause to an attribute, unless that is the clause's declared default.
    #[must_use]
    pub fn attr_unless_default(self, clause: &'static str, value: Attr) -> Self {
        let declared = self.spec.decl().and_then(|decl| decl.clause(clause));
        let default = declared.and_then(ClauseDecl::default_value);
        let is_default = default.is_some_and(|default| default.generic() == value.generic());
        if is_default { self } else { self.attr(clause, value) }
    }

    /// Sets a flag, if `present`.
    #[must_use]
    pub fn flag(self, clause: &'static str, present: bool) -> Self {
        if present { self.attr(clause, Attr::Unit) } else { self }
    }

    /// Appends a result of type `ty`, called `name` if that is still free when printed.
    #[must_use]
    pub fn result(self, ty: TypeId, name: Option<Rc<str>>) -> Self {
        Self { spec: self.spec.result(ty, name), ..self }
    }

    /// The finished operation.
    #[must_use]
    pub fn spec(self) -> OpSpec {
        self.spec
    }
}
