//! `tm.contract`: the sum of products, in its order.

use visa_algebra::{Axes, Index};
use visa_engine::words::ContractionKind;
use visa_ir::diag::Diagnostic;
use visa_ir::module::OpRef;
use visa_mapping::ops::contract::{Contract, accumulator};
use visa_numerics::{DType, SumOrder};

use crate::evaluate::Run;
use crate::interval::{End, Interval};
use crate::layout::{Stride, offset};
use crate::order::{Accumulator, Number};
use crate::tensor::{Axis, Logical, union};
use crate::values::sum::{Reach, Reached, kept, positions};

/// The contraction of two operands.
pub(crate) fn contract(run: &Run<'_>, op: OpRef<'_>) -> Result<Logical, Diagnostic> {
    let op = Contract::of(op)?;
    let dtype = run.given(*op, 0)?.dtype;
    match accumulator(dtype) {
        Some(to) if to.is_float() => summed::<f32>(run, op, to),
        Some(to) => summed::<i32>(run, op, to),
        None => Err(op.error("C1", format!("{dtype} cannot enter a contraction"))),
    }
}

/// The contraction, its numbers accumulated as `T`.
fn summed<T: Number>(run: &Run<'_>, op: Contract<'_>, to: DType) -> Result<Logical, Diagnostic> {
    let operands = [vec![run.given(*op, 0)?], vec![run.given(*op, 1)?]];
    let numbers = |value: &[Logical]| {
        let [value] = value else { return Vec::new() };
        value.elements().iter().map(|&bits| T::operand(value.dtype, bits)).collect()
    };
    let (sum, outputs) = Sum::new(run, op, operands, numbers)?;
    Logical::where_defined(to, outputs, op.span(), |at| sum.at(at).map(T::bits))
}

/// The least and the greatest results of a contraction of floats, in any order of its sum. Each operand is one
/// value, or the least and the greatest that it may be.
///
/// # Errors
/// Those of the contraction.
pub(crate) fn bounds(
    run: &Run<'_>,
    op: OpRef<'_>,
    operands: [Vec<&Logical>; 2],
) -> Result<[Logical; 2], Diagnostic> {
    let op = Contract::of(op)?;
    let dtype = operands[0][0].dtype;
    let to =
        accumulator(dtype).ok_or_else(|| op.error("C1", format!("{dtype} cannot enter a contraction")))?;
    let (sum, outputs) = Sum::new(run, op, operands, Interval::of_values)?;
    let terms = sum.factors[0].added.len();
    let [low, high] = [End::Low, End::High].map(|end| {
        let bits = |total: Interval| total.rounded(terms, end);
        Logical::where_defined(to, outputs.clone(), op.span(), |at| sum.at(at).map(bits))
    });
    Ok([low?, high?])
}

/// A sum of products.
struct Sum<T> {
    factors: [Factor<T>; 2],
    /// Positions that are summed as a tree.
    tree: usize,
    kind: ContractionKind,
    order: SumOrder,
    /// True if every position has a defined number in both factors.
    is_even: bool,
}

/// The distance of a position that is padding.
const PADDING: usize = usize::MAX;

/// An operand: its numbers, and where each position finds its element.
struct Factor<T> {
    value: Logical,
    numbers: Vec<T>,
    strides: Vec<Stride>,
    reach: Reach,
    /// The coordinates that each position adds; nothing for padding.
    added: Vec<Option<Vec<usize>>>,
    /// The distance of each position's number; [`PADDING`] for padding.
    distances: Vec<usize>,
}

impl<T: Number> Sum<T> {
    /// A sum, and the axes of its results. An operand is one or several values with the same axes; `numbers` makes the
    /// numbers of their elements.
    fn new(
        run: &Run<'_>,
        op: Contract<'_>,
        operands: [Vec<&Logical>; 2],
        numbers: impl Fn(&[Logical]) -> Vec<T>,
    ) -> Result<(Self, Vec<Axis>), Diagnostic> {
        let (span, axes, over) = (op.span(), run.axes, op.over()?);
        let order = positions(&over, axes, span)?;
        // The summed axes are innermost in both operands, so that the sum runs through neighbouring elements.
        let names = over.axis_names(axes);
        let inner = |id| names.iter().any(|name| **name == *axes.name(id));
        let inner_last = |values: Vec<&Logical>| {
            values.into_iter().map(|value| value.with_inner(inner, span)).collect::<Result<Vec<_>, _>>()
        };
        let [left, right] = operands.map(inner_last);
        let (left, right) = (left?, right?);
        let outputs = kept(union(&left[0], &right[0]), &over, op.keep()?.as_deref(), axes, span)?;
        let factors = [left, right].map(|values| {
            let numbers = numbers(&values);
            Factor::new(
                values.into_iter().next().expect("an operand has a value"),
                numbers,
                &outputs,
                &order,
                axes,
            )
        });
        let is_even = factors.iter().all(|factor| factor.is_even(&outputs));
        let tree = usize::try_from(op.tree()?).map_err(|_| op.error("C3", "a negative tree"))?;
        Ok((Self { factors, tree, kind: op.kind()?, order: run.options.sum_order, is_even }, outputs))
    }

    /// The sum for an element of the result; `None` if it is undefined.
    fn at(&self, at: &[usize]) -> Option<T> {
        if self.is_even { Some(self.even(at)) } else { self.ragged(at) }
    }

    /// The same where each position has both factors.
    fn even(&self, at: &[usize]) -> T {
        let [left, right] = self.factors.each_ref().map(|factor| factor.from(at));
        let mut sum = Accumulator::new(self.kind, self.order);
        let of = |step: usize, other: usize| {
            if step == PADDING { T::ZERO } else { left[step].product(right[other]) }
        };
        let [lefts, rights] = self.factors.each_ref().map(|factor| &factor.distances);
        if self.tree == 1 {
            lefts.iter().zip(rights).for_each(|(&step, &other)| sum.add(of(step, other)));
            return sum.total();
        }
        let mut products = vec![T::ZERO; self.tree];
        for (lefts, rights) in lefts.chunks(self.tree).zip(rights.chunks(self.tree)) {
            for ((product, &step), &other) in products.iter_mut().zip(lefts).zip(rights) {
                *product = of(step, other);
            }
            sum.add_packet(&mut products);
        }
        sum.total()
    }

    /// The same where some positions have none, or an undefined one; then the sum is undefined.
    fn ragged(&self, at: &[usize]) -> Option<T> {
        let mut sum = Accumulator::new(self.kind, self.order);
        let bases = self.factors.each_ref().map(|factor| factor.reach.base(at));
        let mut products = Vec::with_capacity(self.tree);
        let mut place = Vec::new();
        for first in (0..self.factors[0].added.len()).step_by(self.tree) {
            products.clear();
            for position in first..first + self.tree {
                let [left, right] = &self.factors;
                let left = left.number(&bases[0], position, &mut place)?;
                let right = right.number(&bases[1], position, &mut place)?;
                products.push(left.zip(right).map_or(T::ZERO, |(left, right)| left.product(right)));
            }
            sum.add_packet(&mut products);
        }
        Some(sum.total())
    }
}

impl<T: Number> Factor<T> {
    fn new(value: Logical, numbers: Vec<T>, outputs: &[Axis], order: &[Option<Index>], axes: &Axes) -> Self {
        let reach = Reach::new(&value, outputs, axes);
        let strides = value.strides(value.axes.iter().map(|axis| axis.id));
        let added: Vec<Option<Vec<usize>>> =
            order.iter().map(|index| index.as_ref().map(|index| reach.added(index))).collect();
        let held = |added: &Vec<usize>| {
            let own = value.axes.iter().zip(added);
            own.into_iter().all(|(axis, &at)| axis.held.get(at) == Some(&true))
        };
        // A position without an element in the first place is only looked at where sums are ragged.
        let distance = |added: &Option<Vec<usize>>| match added {
            Some(added) if held(added) => offset(&strides, added),
            Some(_) | None => PADDING,
        };
        let distances = added.iter().map(distance).collect();
        Self { numbers, strides, reach, added, distances, value }
    }

    /// Returns true if every position has a defined number, from every element of the result.
    fn is_even(&self, outputs: &[Axis]) -> bool {
        self.value.is_whole() && self.reach.is_even(outputs, self.added.iter().flatten())
    }

    /// The numbers from the one on that an element of the result starts at.
    fn from(&self, at: &[usize]) -> &[T] {
        &self.numbers[offset(&self.strides, &self.reach.base(at))..]
    }

    /// The number at a position; `Some(None)` for padding, `None` for an undefined one.
    fn number(&self, base: &[usize], position: usize, at: &mut Vec<usize>) -> Option<Option<T>> {
        let Some(added) = &self.added[position] else { return Some(None) };
        match self.reach.element(base, added, at) {
            Reached::Padding => Some(None),
            Reached::Undefined => None,
            Reached::Held => {
                let place = offset(&self.strides, at);
                self.value.is_defined(place).then(|| Some(self.numbers[place]))
            }
        }
    }
}
