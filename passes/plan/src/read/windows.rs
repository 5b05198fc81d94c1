//! Windows of an array: an image whose windows the fetch of a contraction reads, a view that loads read, or a copy of
//! each window.

use crate::array::{Array, Image};
use crate::contraction::layout::{FLIT_BYTES, elements};
use crate::read::Reader;
use crate::read::relabels::Exchange;
use crate::single::Move;
use crate::single::windows::viewed;
use std::sync::Arc;
use visa_algebra::{Axes, Expr};
use visa_ir::diag::Diagnostic;
use visa_ir::module::{OpRef, ValueId};
use visa_mapping::ops::rename::Rearrange;
use visa_mapping::ops::{contract, map, reduce};
use visa_mapping::tensor::value::axis_list;

/// Axes of an array, and the terms that count their positions in the result.
type Slides = Vec<(Arc<str>, Expr)>;

impl Reader<'_> {
    /// Windows of an array in HBM. Contractions and regions read them in the array, unless they have no plan that
    /// does: the fetch of contractions those along the innermost axis, loads all others. Where one of them would read
    /// windows along the innermost axis otherwise, another axis is innermost in a copy of the array. Other operations
    /// read copies of the windows.
    pub(super) fn windows(&mut self, op: Rearrange<'_>) -> Result<(), Diagnostic> {
        self.close()?;
        let (result, slides) = (op.results()[0], slides(op)?);
        let number = self.number(*op, op.operands()[0])?;
        let image = image(&self.arrays[number], &slides, self.axes);
        let digits = self.digits(&slides);
        if let Some(digits) = digits.as_ref().filter(|digits| image.is_none() || self.are_single(digits)) {
            return self.exchange(*op, digits);
        }
        let users: Vec<OpRef<'_>> =
            self.module.uses(result).iter().map(|user| self.module.op(self.ctx, *user)).collect();
        let reads = |user: &OpRef<'_>| {
            let computes = [&contract::DECL, &map::DECL, &reduce::DECL].into_iter().any(|decl| user.is(decl));
            let copies = self.fallbacks.windows.contains(&user.id);
            computes && (!copies || self.fallbacks.products.contains(&user.id))
        };
        if !users.iter().all(reads) {
            let turns = users.iter().any(|user| self.fallbacks.images.contains(&user.id));
            return self.copy_windows(op, number, slides, turns && image.is_some());
        }
        let fetches = |user: &OpRef<'_>| {
            let turned = self.fallbacks.images.contains(&user.id) && !self.is_ordered(*user);
            user.is(&contract::DECL) && !turned && !self.fallbacks.products.contains(&user.id)
        };
        if let Some(image) = image.as_ref().filter(|_| users.iter().all(fetches)) {
            let terms = image.outer.iter().chain([&image.windows]);
            let axes = terms.flat_map(|term| term.axis_names(self.axes)).collect();
            let (name, source) = (self.name(result), self.arrays[number].clone());
            let image = Some(image.clone());
            self.windows.insert(result, (number, Array { name, axes, image, ..source }));
            return Ok(());
        }
        let number = if image.is_some() { self.turned(*op, number, &slides) } else { number };
        let source = self.arrays[number].clone();
        if let Some(digits) = digits {
            let number = self.in_digits(*op, number, &digits);
            self.known.insert(result, number);
            return Ok(());
        }
        let view = viewed(&source.layout(self.axes), &slides);
        let (name, axes) = (self.name(result), view.axis_names(self.axes));
        self.windows.insert(result, (number, Array { name, axes, view: Some(view), ..source }));
        Ok(())
    }

    /// Copies each window within HBM; `turns` if other axes are innermost in the image.
    fn copy_windows(
        &mut self,
        op: Rearrange<'_>,
        number: usize,
        slides: Slides,
        turns: bool,
    ) -> Result<(), Diagnostic> {
        let number = if turns { self.turned(*op, number, &slides) } else { number };
        let source = self.arrays[number].clone();
        let out = self.copied(*op, &source, &slides)?;
        self.single(*op, Move::Windows { source, slides }, out, vec![number]);
        Ok(())
    }

    /// The number of an image with axes inside of windows innermost; its own if it has no other axes.
    fn turned(&mut self, op: OpRef<'_>, number: usize, slides: &Slides) -> usize {
        let axes = self.with_windows_outside(number, slides);
        axes.map_or(number, |axes| self.reordered(op, number, axes, 1))
    }

    /// The axes whose digits each of the windows are, if they neither overlap nor leave positions between them.
    fn digits(&self, slides: &Slides) -> Option<Vec<Exchange>> {
        let digits = |(axis, term): &(Arc<str>, Expr)| {
            let terms = match term.slide() {
                Some(terms) => terms.to_vec(),
                None => vec![(term.clone(), 1)],
            };
            let named = |(term, step): (Expr, u64)| {
                let Expr::Axis(name) = term else { return None };
                Some((self.size(&name), step, name))
            };
            let mut terms: Vec<(u64, u64, Arc<str>)> = terms.into_iter().map(named).collect::<Option<_>>()?;
            // Axes of one position have any step.
            terms.sort_by_key(|(size, step, _)| (*size > 1, *step));
            let mut count = 1;
            for (size, step, _) in &terms {
                if *size > 1 && *step != count {
                    return None;
                }
                count *= size;
            }
            let digits = terms.into_iter().rev().map(|(.., name)| name).collect();
            (count == self.size(axis)).then(|| (vec![Arc::clone(axis)], digits))
        };
        slides.iter().map(digits).collect()
    }

    /// Returns true if each axis has one digit of more than one position at most.
    fn are_single(&self, digits: &[Exchange]) -> bool {
        digits.iter().all(|(_, digits)| self.long(digits).len() <= 1)
    }

    /// The number of an array whose axes are counted by their digits.
    fn in_digits(&mut self, op: OpRef<'_>, number: usize, digits: &[Exchange]) -> usize {
        let (mut before, mut after, mut axes) = (Vec::new(), Vec::new(), Vec::new());
        for axis in &self.arrays[number].axes {
            let own = digits.iter().find(|(from, _)| from.contains(axis));
            let own = own.map_or_else(|| vec![Arc::clone(axis)], |(_, to)| to.clone());
            before.push(Expr::axis(axis));
            after.push(Expr::pair(own.iter().map(|digit| Expr::axis(digit))));
            axes.extend(own);
        }
        self.under(op, number, [before, after], ("windows", axes))
    }

    /// The axes of an array with those inside of windows last; `None` if there are none.
    fn with_windows_outside(&self, number: usize, slides: &Slides) -> Option<Vec<Arc<str>>> {
        let axes = &self.arrays[number].axes;
        let slide =
            |axis: &&Arc<str>| slides.iter().any(|(own, term)| own == *axis && term.slide().is_some());
        let first = axes.iter().position(|axis| slide(&axis))?;
        let (outside, within) = axes.split_at(first);
        let (windows, others): (Vec<_>, Vec<_>) = within.iter().partition(slide);
        // The last axis outside of the windows is inside, if no other one is.
        let inner =
            if others.is_empty() { outside.iter().rposition(|axis| self.size(axis) > 1)? } else { first };
        let (outside, inside) = outside.split_at(inner);
        let inside = inside.iter().chain(others);
        Some(outside.iter().chain(windows).chain(inside).cloned().collect())
    }

    /// Returns true if an operation is a sum in an explicit order.
    fn is_ordered(&self, user: OpRef<'_>) -> bool {
        contract::Contract::of(user).is_ok_and(|sum| self.is_free(sum).is_ok_and(|free| !free))
    }

    /// The array of an operand of a contraction with its summed axes in the order of the sum, if the contraction has
    /// one, or in that of the windows of the other operand: last if those end with a flit of them at least, else
    /// first.
    pub(super) fn in_order_of_windows(
        &mut self,
        op: OpRef<'_>,
        number: usize,
        (windows, summed): (ValueId, &[Arc<str>]),
    ) -> usize {
        let Some((_, windows)) = self.windows.get(&windows) else { return number };
        let order: Vec<Arc<str>> = match self.is_ordered(op) {
            true => summed.to_vec(),
            false if windows.view.is_none() => return number,
            false => windows.axes.iter().filter(|axis| summed.contains(axis)).cloned().collect(),
        };
        let own = &self.arrays[number].axes;
        let (within, outside): (Vec<_>, Vec<_>) = own.iter().cloned().partition(|axis| summed.contains(axis));
        if self.long(&within) == self.long(&order) {
            return number;
        }
        let last = order.iter().rfind(|axis| self.size(axis) > 1).map_or(1, |axis| self.size(axis));
        let ends_with_flits = last >= elements(FLIT_BYTES, self.arrays[number].dtype);
        if ends_with_flits || self.is_ordered(op) {
            let joined = if ends_with_flits { 1 } else { order.len() };
            self.reordered(op, number, [outside, order].concat(), joined)
        } else {
            self.reordered(op, number, [order, outside].concat(), 1)
        }
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
