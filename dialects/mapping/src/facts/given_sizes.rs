//! Sizes of axes that are given from outside and replace those that a module declares: one text serves a test and a
//! model.

use crate::ops::func::AxesOp;
use crate::tensor::attrs::{AxisSize, AxisSizes, SIZES};
use visa_algebra::Axes;
use visa_ir::context::Context;
use visa_ir::diag::{Diagnostic, nearest};
use visa_ir::infer::infer_all;
use visa_ir::module::{Module, OpId};
use visa_ir::span::Span;

/// The sizes, each in indices, by the names of their axes.
#[derive(Clone, Debug, Default)]
pub struct GivenSizes(Vec<(String, u64)>);

impl GivenSizes {
    /// The sizes of axes of a module.
    #[must_use]
    pub fn new(sizes: Vec<(String, u64)>) -> Self {
        Self(sizes)
    }

    /// Reads texts such as `M=256`.
    ///
    /// # Errors
    /// A text that is not `NAME=SIZE`, a name or a size that no axis can have, an axis that is named twice.
    pub fn parse(texts: &[String]) -> Result<Self, Diagnostic> {
        let mut axes = Axes::new();
        let mut given = Vec::new();
        for text in texts {
            let refused =
                |why: String| Diagnostic::error("axis", Span::default(), format!("--axis {text}: {why}"));
            let Some((name, size)) = text.split_once('=') else {
                return Err(refused("expected NAME=SIZE, as in M=256".to_owned()));
            };
            let (name, size) = (name.trim(), size.trim());
            let Ok(size) = size.parse() else {
                return Err(refused(format!("found size `{size}`, expected an integer below 2^62")));
            };
            axes.declare(name, size).map_err(|error| refused(error.message))?;
            given.push((name.to_owned(), size));
        }
        Ok(Self(given))
    }

    /// Gives the axes of a module these sizes. Types are inferred again; the verifier reports the types that then do
    /// not fit.
    ///
    /// # Errors
    /// An axis that the module does not declare, or declares as a difference of others.
    pub fn apply(&self, ctx: &Context, module: &mut Module) -> Result<(), Vec<Diagnostic>> {
        if self.0.is_empty() {
            return Ok(());
        }
        let mut declared: Vec<(OpId, AxisSizes)> = Vec::new();
        for &id in module.ops(module.body()) {
            if let Some(Ok(sizes)) = AxesOp::cast(module.op(ctx, id)).map(|op| op.sizes()) {
                declared.push((id, (*sizes).clone()));
            }
        }
        let refused: Vec<Diagnostic> = self
            .0
            .iter()
            .filter_map(|(name, size)| resize(ctx, module, &mut declared, (name, *size)).err())
            .collect();
        if !refused.is_empty() {
            return Err(refused);
        }
        for (id, sizes) in declared {
            module.set_clause(id, "sizes", Some(ctx.body_attr(&SIZES, sizes)));
        }
        infer_all(ctx, module).map_err(|error| vec![error])
    }
}

/// Changes the size of one axis in the declaration.
fn resize(
    ctx: &Context,
    module: &Module,
    declared: &mut [(OpId, AxisSizes)],
    (name, size): (&str, u64),
) -> Result<(), Diagnostic> {
    let found = declared.iter_mut().find_map(|(id, sizes)| {
        let entry = sizes.0.iter_mut().find(|(own, _)| own == name)?;
        Some((*id, &mut entry.1))
    });
    match found {
        Some((_, own @ AxisSize::Size(_))) => {
            *own = AxisSize::Size(size);
            Ok(())
        }
        Some((id, AxisSize::Skew(of, by))) => {
            let message =
                format!("--axis {name}={size}: `{name}` is `{of} - {by}`, which has the size of `{of}`");
            let span = module.op(ctx, id).clause_span("sizes");
            Err(Diagnostic::error("axis", span, message).fix(format!("give `{of}` a size")))
        }
        None => {
            let message = format!("--axis {name}={size}: no axis is called `{name}`");
            let names = declared.iter().flat_map(|(_, sizes)| &sizes.0).map(|(own, _)| own.as_str());
            let near = nearest(name, names).map(|near| format!("did you mean `{near}`?"));
            let span = declared.first().map(|(id, _)| module.op(ctx, *id).clause_span("sizes"));
            Err(Diagnostic::error("axis", span.unwrap_or_default(), message).fix(near))
        }
    }
}
