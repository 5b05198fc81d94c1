//! Windows of an image, for a contraction: a convolution.

use crate::array::{Array, Image};
use crate::read::{Reader, unplanned};
use std::sync::Arc;
use visa_algebra::Expr;
use visa_ir::diag::Diagnostic;
use visa_mapping::ops::contract;
use visa_mapping::ops::rename::Rearrange;
use visa_mapping::tensor::value::axis_list;

impl Reader<'_> {
    /// Windows of an array in HBM that contractions alone read.
    pub(super) fn windows(&mut self, op: Rearrange<'_>) -> Result<(), Diagnostic> {
        self.close()?;
        let result = op.results()[0];
        let contracts = |user: &_| self.module.op(self.ctx, *user).is(&contract::DECL);
        if !self.module.uses(result).iter().all(contracts) {
            let message = "the planner has no step for `tm.rearrange` that a contraction does not read";
            let fix = "use `tm.split` or `tm.merge`, or read the windows by a contraction alone".to_owned();
            return Err(Diagnostic::error("plan-kernel", op.span(), message.to_owned()).fix(fix));
        }
        let number = self.number(*op, op.operands()[0])?;
        let source = self.arrays[number].clone();
        let image = self.image(op, &source)?;
        let terms = image.outer.iter().chain([&image.windows]);
        let axes = terms.flat_map(|term| term.axis_names(self.axes)).collect();
        let name = self.name(result);
        self.windows.insert(result, (number, Array { name, axes, image: Some(image), ..source }));
        Ok(())
    }

    /// The image that a rearrangement reads windows of.
    fn image(&self, op: Rearrange<'_>, source: &Array) -> Result<Image, Diagnostic> {
        let refused = || {
            let message = format!(
                "the planner has no step for `tm.rearrange` whose last axis `{}` has no windows, or whose windows \
                 have padding",
                source.axes.last().map_or("", |axis| axis)
            );
            let fix =
                "let windows slide along the innermost axis of the image, as `[X]` to `[$(W:1, F:1)]`; \
                       `tm.extend` adds zeros around it"
                    .to_owned();
            Diagnostic::error("plan-kernel", op.span(), message).fix(fix)
        };
        let (from, to) = (op.from()?, op.to()?);
        let from = axis_list(&from).map_err(|_| refused())?;
        let to = to.terms();
        let slides = |term: &Expr| matches!(term, Expr::Slide(_));
        let plain = |term: &Expr| matches!(term, Expr::Axis(_));
        if from.len() != to.len() || !to.iter().all(|term| slides(term) || plain(term)) {
            return Err(refused());
        }
        let term = |axis: &Arc<str>| {
            from.iter().position(|own| own == axis).map_or_else(|| Expr::axis(axis), |at| to[at].clone())
        };
        let mut outer: Vec<Expr> = source.axes.iter().map(term).collect();
        let windows = outer.pop().filter(slides).ok_or_else(refused)?;
        let row = source.axes.last().cloned().ok_or_else(|| unplanned(*op, "an image without a row"))?;
        let sliding = outer.iter().chain([&windows]).filter(|term| slides(term));
        let within = sliding.flat_map(|term| term.axis_names(self.axes)).collect();
        Ok(Image { outer, row, windows, within })
    }
}
