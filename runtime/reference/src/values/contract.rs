//! `tm.contract`: the sum of products, in its order.

use visa_algebra::{Axes, Index};
use visa_engine::words::ContractionKind;
use visa_ir::diag::Diagnostic;
use visa_ir::module::OpRef;
use visa_mapping::ops::contract::{Contract, accumulator};
use visa_numerics::{Bits, DType, SumOrder};

use crate::evaluate::Run;
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
    let (span, axes, over) = (op.span(), run.axes, op.over()?);
    let order = positions(&over, axes, span)?;
    // The summed axes are innermost in both operands, so that the sum runs through neighbouring elements.
    let names = over.axis_names(axes);
    let inner = |id| names.iter().any(|name| **name == *axes.name(id));
    let left = run.given(*op, 0)?.with_inner(inner, span)?;
    let right = run.given(*op, 1)?.with_inner(inner, span)?;
    let outputs = kept(union(&left, &right), &over, op.keep()?.as_deref(), axes, span)?;
    let factors = [left, right].map(|value| Factor::new(value, &outputs, &order, axes));
    let is_even = factors.iter().all(|factor| factor.is_even(&outputs));
    let tree = usize::try_from(op.tree()?).map_err(|_| op.error("C3", "a negative tree"))?;
    let sum = Sum::<T> { factors, tree, kind: op.kind()?, order: run.options.sum_order };
    Logical::where_defined(to, outputs, span, |at| if is_even { Some(sum.even(at)) } else { sum.ragged(at) })
}

/// A sum of products.
struct Sum<T> {
    factors: [Factor<T>; 2],
    /// Positions that are summed as a tree.
    tree: usize,
    kind: ContractionKind,
    order: SumOrder,
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
    /// The sum for an element of the result, where each position has both factors.
    fn even(&self, at: &[usize]) -> Bits {
        let [left, right] = self.factors.each_ref().map(|factor| factor.from(at));
        let mut sum = Accumulator::new(self.kind, self.order);
        let of = |step: usize, other: usize| {
            if step == PADDING { T::ZERO } else { left[step].product(right[other]) }
        };
        let [lefts, rights] = self.factors.each_ref().map(|factor| &factor.distances);
        if self.tree == 1 {
            lefts.iter().zip(rights).for_each(|(&step, &other)| sum.add(of(step, other)));
            return sum.total().bits();
        }
        let mut products = vec![T::ZERO; self.tree];
        for (lefts, rights) in lefts.chunks(self.tree).zip(rights.chunks(self.tree)) {
            for ((product, &step), &other) in products.iter_mut().zip(lefts).zip(rights) {
                *product = of(step, other);
            }
            sum.add_packet(&mut products);
        }
        sum.total().bits()
    }

    /// The same where some positions have none, or an undefined one; then the sum is undefined.
    fn ragged(&self, at: &[usize]) -> Option<Bits> {
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
        Some(sum.total().bits())
    }
}

impl<T: Number> Factor<T> {
    fn new(value: Logical, outputs: &[Axis], order: &[Option<Index>], axes: &Axes) -> Self {
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
        let numbers = value.elements().iter().map(|&bits| T::operand(value.dtype, bits)).collect();
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
