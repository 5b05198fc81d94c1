//! Numbers of type `index`: sums of the indices of loops.

use melior::ir::Type;
use visa_ir::module::OpRef;
use visa_mapping::ops::number::{Select, Sum};

use crate::export::mlir::builder::{Builder, Parts, Val};
use crate::export::mlir::refusals::Export;
use crate::export::scope::Scope;

/// `arith.cmpi`'s cases of signed numbers.
const LESS: i64 = 2;
const AT_LEAST: i64 = 5;

/// A number times a factor.
pub(crate) fn scaled<'c>(builder: Builder<'c, '_>, index: Val<'c>, factor: i64) -> Export<Val<'c>> {
    match factor {
        1 => Ok(index),
        factor => {
            let ty = Type::index(builder.context);
            builder.op("arith.muli", &[index, builder.index(factor)?], ty)
        }
    }
}

/// The sum of numbers.
pub(crate) fn sum<'c>(builder: Builder<'c, '_>, terms: &[Val<'c>], plus: i64) -> Export<Val<'c>> {
    let ty = Type::index(builder.context);
    let constant = (plus != 0 || terms.is_empty()).then(|| builder.index(plus)).transpose()?;
    let mut terms = terms.iter().copied().chain(constant);
    let first = terms.next().map_or_else(|| builder.index(0), Ok)?;
    terms.try_fold(first, |sum, term| builder.op("arith.addi", &[sum, term], ty))
}

/// `tm.affine`.
pub(crate) fn affine<'c>(scope: &Scope<'c, '_>, op: OpRef<'_>) -> Export<Val<'c>> {
    let view = Sum::of(op)?;
    let by = view.by()?;
    let term = |(&value, &factor): (&_, &i64)| scaled(scope.builder, scope.index(op, value)?, factor);
    let terms = op.operands().iter().zip(&*by).map(term).collect::<Export<Vec<_>>>()?;
    sum(scope.builder, &terms, view.plus()?)
}

/// `tm.select`.
pub(crate) fn select<'c>(scope: &Scope<'c, '_>, op: OpRef<'_>) -> Export<Val<'c>> {
    let view = Select::of(op)?;
    let [number, inside, outside] = [view.number()?, view.inside()?, view.outside()?].map(|value| value.id);
    let condition = in_range(scope, scope.index(op, number)?, view.from()?, view.below()?)?;
    let (inside, outside) = (scope.index(op, inside)?, scope.index(op, outside)?);
    scope.builder.op("arith.select", &[condition, inside, outside], Type::index(scope.builder.context))
}

/// True where a number is at least `from` and less than `below`.
pub(crate) fn in_range<'c>(
    scope: &Scope<'c, '_>,
    number: Val<'c>,
    from: Option<i64>,
    below: Option<i64>,
) -> Export<Val<'c>> {
    let builder = scope.builder;
    let bool = melior::ir::r#type::IntegerType::new(builder.context, 1).into();
    let compare = |case: i64, end: i64| {
        let attributes = &[("predicate", builder.case(case))];
        let operands = &[number, builder.index(end)?];
        builder.one("arith.cmpi", Parts { operands, attributes, results: &[bool], ..Parts::default() })
    };
    match (from, below) {
        (Some(from), Some(below)) => {
            let both = [compare(AT_LEAST, from)?, compare(LESS, below)?];
            builder.op("arith.andi", &both, bool)
        }
        (Some(from), None) => compare(AT_LEAST, from),
        (None, Some(below)) => compare(LESS, below),
        (None, None) => {
            let yes = melior::ir::attribute::IntegerAttribute::new(bool, 1).into();
            builder.constant(yes, bool)
        }
    }
}
