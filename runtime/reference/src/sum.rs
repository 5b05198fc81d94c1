//! The elements of a contraction's result. The positions of each product's factors are computed once, as distances in
//! the two operands: an index is a sum of the contributions of the result's index, the step of time and the member of
//! the packet, and so is its distance. Along a tracked axis that is not so: there the coordinates are added first.

use std::collections::BTreeMap;

use visa_algebra::{AxisId, Index};
use visa_ir::diag::Diagnostic;
use visa_numerics::{Bits, DType, SumOrder};
use visa_stream::semantics::ContractionKind;

use crate::contraction::{Contraction, Group, Part};
use crate::layout::Stride;
use crate::order::{Accumulator, Number};
use crate::tensor::{Axis, Logical, saturated};

/// The result of a contraction.
pub(crate) fn contract(contraction: &Contraction<'_>, order: SumOrder) -> Result<Logical, Diagnostic> {
    let dtype = contraction.pair.left.dtype;
    let evaluate = match dtype.accumulator().map(DType::is_float) {
        Some(true) => Sum::evaluate::<f32>,
        Some(false) => Sum::evaluate::<i32>,
        None => {
            let message = format!("{dtype} cannot enter a contraction");
            return Err(Diagnostic::error("contraction", contraction.span, message));
        }
    };
    let parts = contraction.parts()?;
    let steps = contraction.steps(&parts)?;
    let groups = contraction.groups()?;
    let outputs = contraction.outputs(&parts)?;
    // The summed axes are innermost in both operands, so that the sum runs through neighbouring elements.
    let summed = |id: AxisId| parts.iter().any(|part| part.id == id && part.sums());
    let left = contraction.pair.left.with_inner(summed, contraction.span)?;
    let right = contraction.pair.right.with_inner(summed, contraction.span)?;
    let sum = Sum::new(&left, &right, &parts, &outputs, &steps, &groups);
    evaluate(&sum, contraction, outputs, order)
}

/// The distances in the two factors for one contribution to an index.
struct Term {
    /// Elements of the left operand.
    left: usize,
    /// Elements of the right operand.
    right: usize,
    /// Its coordinates along the axes of [`Sum::tracked`].
    at: Vec<usize>,
}

/// An axis along which a product's factors are found by the sum of its coordinates: contributions may pass its end
/// together, into padding, or an operand's elements are at no even distances.
struct Tracked {
    /// Its index among the result's axes, if it is one.
    output: Option<usize>,
    end: usize,
    left: Stride,
    right: Stride,
}

/// A contraction with all distances worked out.
struct Sum<'a> {
    left: &'a Logical,
    right: &'a Logical,
    /// The packets in time order.
    steps: Vec<Term>,
    /// The members of each group, by the group's coordinates along the result's axes.
    groups: BTreeMap<Vec<usize>, Vec<Option<Term>>>,
    /// The result's axes, each with the distances of its neighbours in both operands.
    outputs: Vec<(&'a Part, usize, usize)>,
    tracked: Vec<Tracked>,
}

impl<'a> Sum<'a> {
    fn new(
        left: &'a Logical,
        right: &'a Logical,
        parts: &'a [Part],
        outputs: &[Axis],
        steps: &[Index],
        groups: &[Group],
    ) -> Self {
        let strides = |operand: &Logical| operand.strides(parts.iter().map(|part| part.id));
        let (lefts, rights) = (strides(left), strides(right));
        let is_tracked = |&at: &usize| {
            lefts[at].is_ranked() || rights[at].is_ranked() || passes_end(&parts[at], steps, groups)
        };
        let tracked: Vec<usize> = (0..parts.len()).filter(is_tracked).collect();
        let linear = |strides: &[Stride], at: &[usize]| -> usize {
            strides.iter().zip(at).map(|(stride, coordinate)| stride.linear() * coordinate).sum()
        };
        let term = |index: &Index| {
            let at: Vec<usize> = parts.iter().map(|part| coordinate(index, part.id)).collect();
            let own = tracked.iter().map(|&part| at[part]).collect();
            Term { left: linear(&lefts, &at), right: linear(&rights, &at), at: own }
        };
        let terms = |group: &Group| group.members.iter().map(|member| member.as_ref().map(term)).collect();
        let mut by_place = BTreeMap::new();
        for group in groups {
            let place: Vec<usize> = outputs.iter().map(|axis| coordinate(&group.index, axis.id)).collect();
            // Groups that differ only along axes on which no operand depends have the same members.
            by_place.entry(place).or_insert_with(|| terms(group));
        }
        let output = |axis: &Axis| {
            let at = parts.iter().position(|part| part.id == axis.id)?;
            Some((&parts[at], lefts[at].linear(), rights[at].linear()))
        };
        let track = |&at: &usize| Tracked {
            output: outputs.iter().position(|axis| axis.id == parts[at].id),
            end: parts[at].end,
            left: lefts[at].clone(),
            right: rights[at].clone(),
        };
        Self {
            left,
            right,
            steps: steps.iter().map(term).collect(),
            groups: by_place,
            outputs: outputs.iter().filter_map(output).collect(),
            tracked: tracked.iter().map(track).collect(),
        }
    }

    fn evaluate<T: Number>(
        &self,
        contraction: &Contraction<'_>,
        outputs: Vec<Axis>,
        order: SumOrder,
    ) -> Result<Logical, Diagnostic> {
        let numbers = |tensor: &Logical| -> Vec<T> {
            tensor.elements().iter().map(|&bits| T::operand(tensor.dtype, bits)).collect()
        };
        let (left, right) = (numbers(self.left), numbers(self.right));
        let reduction = contraction.reduction;
        let whole = self.left.is_whole() && self.right.is_whole();
        Logical::where_defined(contraction.result.dtype, outputs, contraction.span, |at| {
            (whole || self.is_defined(at)).then(|| self.element(&left, &right, at, (reduction, order)))
        })
    }

    /// Returns true if all elements are defined that enter the element of the result at a coordinate vector.
    fn is_defined(&self, at: &[usize]) -> bool {
        let outer: Vec<usize> = self.outputs.iter().zip(at).map(|((part, ..), &at)| part.outer[at]).collect();
        let group: Vec<usize> = at.iter().zip(&outer).map(|(at, outer)| at - outer).collect();
        let base = self.base(&outer);
        let defined = |step: &Term, member: &Term| {
            let factors = self.factors(&base, step, member);
            factors.is_none_or(|(left, right)| self.left.is_defined(left) && self.right.is_defined(right))
        };
        let members = || self.groups.get(&group).into_iter().flatten().flatten();
        self.steps.iter().all(|step| members().all(|member| defined(step, member)))
    }

    /// The element of the result at a coordinate vector.
    fn element<T: Number>(
        &self,
        left: &[T],
        right: &[T],
        at: &[usize],
        (reduction, order): (ContractionKind, SumOrder),
    ) -> Bits {
        let outer: Vec<usize> = self.outputs.iter().zip(at).map(|((part, ..), &at)| part.outer[at]).collect();
        let group: Vec<usize> = at.iter().zip(&outer).map(|(at, outer)| at - outer).collect();
        let Some(members) = self.groups.get(&group) else { return T::ZERO.bits() };
        let base = self.base(&outer);
        let mut products = vec![T::ZERO; members.len()];
        let mut sum = Accumulator::new(reduction, order);
        let is_even = self.tracked.is_empty();
        for step in &self.steps {
            let (in_left, in_right) = (base.left + step.left, base.right + step.right);
            for (product, member) in products.iter_mut().zip(members) {
                *product = match member {
                    Some(member) if is_even => {
                        left[in_left + member.left].product(right[in_right + member.right])
                    }
                    Some(member) => {
                        let factors = self.factors(&base, step, member);
                        factors.map_or(T::ZERO, |(in_left, in_right)| left[in_left].product(right[in_right]))
                    }
                    None => T::ZERO,
                };
            }
            sum.add_packet(&mut products);
        }
        sum.total().bits()
    }

    fn base(&self, outer: &[usize]) -> Term {
        let mut base = Term { left: 0, right: 0, at: Vec::new() };
        for ((_, left, right), at) in self.outputs.iter().zip(outer) {
            base.left += left * at;
            base.right += right * at;
        }
        base.at = self.tracked.iter().map(|axis| axis.output.map_or(0, |output| outer[output])).collect();
        base
    }

    /// The distances of a product's factors in both operands, `None` for padding.
    fn factors(&self, base: &Term, step: &Term, member: &Term) -> Option<(usize, usize)> {
        let (mut left, mut right) =
            (base.left + step.left + member.left, base.right + step.right + member.right);
        for (at, axis) in self.tracked.iter().enumerate() {
            let coordinate = base.at[at] + step.at[at] + member.at[at];
            if coordinate >= axis.end {
                return None;
            }
            left += axis.left.ranked_offset(coordinate)?;
            right += axis.right.ranked_offset(coordinate)?;
        }
        Some((left, right))
    }
}

/// Returns true if the contributions of place, time and packet may pass the end of the axis together.
fn passes_end(part: &Part, steps: &[Index], groups: &[Group]) -> bool {
    let outer = part.outer.iter().max().copied().unwrap_or(0);
    let step = steps.iter().map(|index| coordinate(index, part.id)).max().unwrap_or(0);
    let members = groups.iter().flat_map(|group| group.members.iter().flatten());
    let member = members.map(|index| coordinate(index, part.id)).max().unwrap_or(0);
    outer.saturating_add(step).saturating_add(member) >= part.end
}

/// A coordinate of a mapping's cell, which is on an axis that was checked to be short.
fn coordinate(index: &Index, axis: AxisId) -> usize {
    saturated(index.get(axis))
}
