//! Windows of an array: an image whose windows the fetch of a contraction reads, or a copy of each window.

use crate::array::{Array, Image};
use crate::read::Reader;
use crate::single::Move;
use crate::single::windows::viewed;
use std::sync::Arc;
use visa_algebra::{Axes, Expr};
use visa_ir::diag::Diagnostic;
use visa_ir::module::OpRef;
use visa_mapping::ops::contract;
use visa_mapping::ops::rename::Rearrange;
use visa_mapping::tensor::value::axis_list;

/// Axes of an array, and the terms that count their positions in the result.
type Slides = Vec<(Arc<str>, Expr)>;

impl Reader<'_> {
    /// Windows of an array in HBM. The fetch reads those that contractions alone read, along the innermost axis of
    /// the array, unless such a contraction has no plan. Others are copied.
    pub(super) fn windows(&mut self, op: Rearrange<'_>) -> Result<(), Diagnostic> {
        self.close()?;
        let result = op.results()[0];
        let users = self.module.uses(result);
        let fetched = users.iter().all(|user| {
            let copied = self.fallbacks.windows.contains(user);
            !copied && self.module.op(self.ctx, *user).is(&contract::DECL)
        });
        let number = self.number(*op, op.operands()[0])?;
        let (source, slides) = (self.arrays[number].clone(), slides(op)?);
        let image = image(&source, &slides, self.axes).filter(|_| fetched);
        match image {
            None if fetched => {
                let view = viewed(&source.layout(self.axes), &slides);
                let (name, axes) = (self.name(result), view.axis_names(self.axes));
                self.windows.insert(result, (number, Array { name, axes, view: Some(view), ..source }));
            }
            Some(image) => {
                let terms = image.outer.iter().chain([&image.windows]);
                let axes = terms.flat_map(|term| term.axis_names(self.axes)).collect();
                let name = self.name(result);
                self.windows.insert(result, (number, Array { name, axes, image: Some(image), ..source }));
            }
            None => {
                let out = self.copied(*op, &source, &slides)?;
                self.single(*op, Move::Windows { source, slides }, out, vec![number]);
            }
        }
        Ok(())
    }

    /// The array of copied windows: in the order in which the transfer reads the most elements at once, but for a
    /// result of the function, whose order is that of its type.
    fn copied(&self, op: OpRef<'_>, source: &Array, slides: &Slides) -> Result<Array, Diagnostic> {
        let result = op.results()[0];
        let typed = self.array(result, &self.name(result), op)?;
        if self.has_typed_order(result) {
            return Ok(typed);
        }
        let (mut outer, mut positions, mut filters, mut inner) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for axis in &source.axes {
            let Some((_, term)) = slides.iter().find(|(own, _)| own == axis) else {
                inner.push(Arc::clone(axis));
                continue;
            };
            let mut names = term.axis_names(self.axes);
            names.sort_by_key(|name| self.size(name));
            positions.extend(names.pop());
            filters.extend(names);
            // The axes before a window are outside of all windows.
            outer.append(&mut inner);
        }
        let windows = if inner.is_empty() { [filters, positions] } else { [positions, filters] };
        let axes = outer.into_iter().chain(windows.concat()).chain(inner).collect();
        Ok(Array { axes, ..typed })
    }
}

/// The terms of a rearrangement, one for each axis.
fn slides(op: Rearrange<'_>) -> Result<Slides, Diagnostic> {
    let refused = || {
        let message =
            "the planner has no step for `tm.rearrange` between other terms than axes and windows".to_owned();
        let fix =
            "write an axis for each term, as `from [Y, X], to [$(H:1, F:1), X]`; `tm.split` and `tm.merge` \
                   count axes otherwise"
                .to_owned();
        Diagnostic::error("plan-kernel", op.span(), message).fix(fix)
    };
    let (from, to) = (op.from()?, op.to()?);
    let from = axis_list(&from).map_err(|_| refused())?;
    let to = to.terms();
    let axis = |term: &Expr| matches!(term, Expr::Axis(_));
    let counts = |term: &&Expr| {
        axis(term) || term.slide().is_some_and(|terms| terms.iter().all(|(term, _)| axis(term)))
    };
    if from.len() != to.len() || !to.iter().all(counts) {
        return Err(refused());
    }
    Ok(from.into_iter().zip(to.into_iter().cloned()).collect())
}

/// The image in which the windows are those of an array; `None` if there are none along its innermost axis.
fn image(source: &Array, slides: &Slides, axes: &Axes) -> Option<Image> {
    let term = |axis: &Arc<str>| {
        let own = slides.iter().find(|(own, _)| own == axis);
        own.map_or_else(|| Expr::axis(axis), |(_, term)| term.clone())
    };
    let (row, outer) = source.axes.split_last()?;
    let outer: Vec<Expr> = outer.iter().map(term).collect();
    let windows = Some(term(row)).filter(|term| term.slide().is_some())?;
    let sliding = outer.iter().chain([&windows]).filter(|term| term.slide().is_some());
    let within = sliding.flat_map(|term| term.axis_names(axes)).collect();
    Some(Image { outer, row: Arc::clone(row), windows, within })
}
