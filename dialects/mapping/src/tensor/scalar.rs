//! `!tm.scalar`: a number that is known when a kernel starts.

use crate::error::mapping_error;
use crate::tensor::map_error;
use std::fmt;
use std::rc::Rc;
use visa_algebra::{Axes, Expr};
use visa_ir::context::Context;
use visa_ir::decl::{Body, BodyDef};
use visa_ir::diag::{Diagnostic, counted};
use visa_ir::module::TypeId;
use visa_ir::span::Span;
use visa_loops::MAX_TIMES;

/// `!tm.scalar<[S]>`.
pub static SCALAR: BodyDef = BodyDef {
    name: "tm.scalar",
    syntax: "DIMENSION",
    doc: "A number that is known when a kernel starts: a position of the dimension. It is used as the index of a \
          loop is.",
    parse: |text| {
        let of = Expr::parse(text).map_err(|error| map_error(error, 0))?;
        Ok(Rc::new(Scalar { of }) as Rc<dyn Body>)
    },
    symbols: Some(|body, with| {
        let of = body.as_any().downcast_ref::<Scalar>()?.of.renamed(with)?;
        Some(Rc::new(Scalar { of }) as Rc<dyn Body>)
    }),
    ..BodyDef::BASE
};

/// The body of `!tm.scalar`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scalar {
    /// The dimension that it is a position of.
    pub of: Expr,
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.of.fmt(f)
    }
}

/// Returns true if a type is that of a scalar.
#[must_use]
pub fn is_scalar(ctx: &Context, ty: TypeId) -> bool {
    ctx.type_value::<Scalar>(ty).is_some()
}

/// Number of values of a scalar, counted from 0 on; `None` if the type is no scalar's.
///
/// # Errors
/// A mapping that is wrong, or more than 2^32 positions.
pub fn count(ctx: &Context, ty: TypeId, axes: &Axes, span: Span) -> Result<Option<u64>, Diagnostic> {
    let Some(scalar) = ctx.type_value::<Scalar>(ty) else { return Ok(None) };
    let count = scalar.of.size(axes).map_err(|error| mapping_error(error, span))?;
    if count <= MAX_TIMES {
        return Ok(Some(count));
    }
    let message = format!(
        "a scalar is one of {} of `{}`, expected {MAX_TIMES} at most",
        counted(count, "position"),
        scalar.of
    );
    Err(Diagnostic::error("tm.scalar", span, message))
}
