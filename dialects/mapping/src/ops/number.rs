//! `tm.affine`: numbers that depend on the indices of loops, and which they are where an operation runs.

use super::control::{For, If, times};
use crate::affine::{Affine as Number, Term};
use crate::facts::DeclaredAxes;
use crate::index::{INDEX, INDICES, Index};
use crate::{Axes, scalar};
use std::ops::Range;
use visa_ir::decl::{ClauseDecl, ClauseKind, OpDecl, OperandDecl, make_type};
use visa_ir::diag::{Diagnostic, counted};
use visa_ir::effects::Effects;
use visa_ir::module::{OpRef, ValueDef, ValueId};
use visa_ir::verify::VerifyCx;
use visa_ir::view::ValueRef;
use visa_loops::{Condition, narrowed};

/// `tm.affine`.
#[visa_ir::view(Affine)]
pub static AFFINE: OpDecl = OpDecl {
    name: "tm.affine",
    summary: "A sum of indices of loops and of scalars, each times a factor.",
    doc: "`tm.affine %i, %j by [4, 1], plus 3` is 4 i + j + 3.",
    constraints: &[
        ("C1", "`by` has a factor for each operand"),
        ("C2", "the number fits a signed 64-bit integer in every iteration"),
    ],
    operands: &[OperandDecl::variadic("indices", INDICES)],
    clauses: &[
        ClauseDecl::required("by", ClauseKind::Ints, "the factor of each operand"),
        ClauseDecl::default("plus", ClauseKind::Int, "0", "what is added"),
    ],
    results: &["index"],
    effects: Effects::PURE,
    infer: Some(|op| Ok(vec![make_type(op.ctx, &INDEX, Index)])),
    verify: Some(verify_affine),
    example: "%k = tm.affine %i, %j by [4, 1], plus 3",
    ..OpDecl::BASE
};

/// The operations of this file.
pub static OPS: &[&OpDecl] = &[&AFFINE];

/// What a value of type `!tm.index` or `!tm.scalar` is, where `op` uses it: the branches around `op` narrow the
/// indices. A scalar may be any of its numbers. Where `op` never runs it is 0, with which nothing can be wrong.
///
/// # Errors
/// A number that does not fit 64 bits in some iteration, or a value that no operation here makes.
pub fn number(op: OpRef<'_>, value: ValueId, axes: &Axes) -> Result<Number, Diagnostic> {
    let number = anywhere(op, value, axes)?;
    let conditions = Conditions::around(op, axes)?;
    if conditions.all.is_empty() {
        return Ok(number);
    }
    Ok(conditions.narrowed(number).unwrap_or_default())
}

/// The numbers of some indices.
///
/// # Errors
/// As of [`number`].
pub(crate) fn numbers<'a>(
    op: OpRef<'_>,
    indices: impl Iterator<Item = ValueRef<'a>>,
    axes: &Axes,
) -> Result<Vec<Number>, Diagnostic> {
    indices.map(|index| number(op, index.id, axes)).collect()
}

/// A number that is written of `op`; 0 where that never runs, as all numbers are there.
///
/// # Errors
/// As of [`number`].
pub(crate) fn constant(op: OpRef<'_>, written: i64, axes: &Axes) -> Result<i64, Diagnostic> {
    Ok(if written == 0 || never_runs(op, axes)? { 0 } else { written })
}

/// Whether the branches around `op` never let it run.
///
/// # Errors
/// As of [`number`].
pub fn never_runs(op: OpRef<'_>, axes: &Axes) -> Result<bool, Diagnostic> {
    let conditions = Conditions::around(op, axes)?;
    Ok(!conditions.all.is_empty() && conditions.narrowed(Number::default()).is_none())
}

/// The number that a branch looks at, in all iterations of the loops around it, and where it must be: from the first
/// one on, and below the second one.
///
/// # Errors
/// As of [`number`].
pub fn condition(op: If<'_>, axes: &Axes) -> Result<(Number, [Option<i64>; 2]), Diagnostic> {
    Ok((anywhere(*op, op.number()?.id, axes)?, [op.from()?, op.below()?]))
}

/// What a value of type `!tm.index` or `!tm.scalar` is in all iterations of the loops around it.
///
/// # Errors
/// As of [`number`].
pub(crate) fn everywhere(op: OpRef<'_>, value: ValueId, axes: &Axes) -> Result<Number, Diagnostic> {
    anywhere(op, value, axes)
}

/// The conditions under which an operation runs.
struct Conditions {
    /// The indices that they depend on, with one term each.
    terms: Vec<Term>,
    all: Vec<Condition>,
}

impl Conditions {
    /// Those of the branches around `op`.
    fn around(op: OpRef<'_>, axes: &Axes) -> Result<Self, Diagnostic> {
        let mut found = Self { terms: Vec::new(), all: Vec::new() };
        for branch in op.ancestors().filter_map(If::cast) {
            let (number, [from, below]) = condition(branch, axes)?;
            let factors = found.factors(&number);
            let mut condition = Condition::new(factors, from, below);
            let base = i128::from(number.base);
            condition.range = condition.range.start - base..condition.range.end - base;
            found.all.push(condition);
        }
        Ok(found)
    }

    /// The factor of each index that is known so far, and of those that the number is the first to depend on.
    fn factors(&mut self, number: &Number) -> Vec<i64> {
        for term in &number.terms {
            if !self.terms.iter().any(|known| known.index == term.index) {
                self.terms.push(*term);
            }
        }
        let factor = |known: &Term| number.terms.iter().find(|term| term.index == known.index);
        self.terms.iter().map(|known| factor(known).map_or(0, |term| term.factor)).collect()
    }

    /// The number where the conditions hold; nothing if that is nowhere.
    fn narrowed(&self, mut number: Number) -> Option<Number> {
        let times: Vec<u64> = self.terms.iter().map(|term| term.first + term.times).collect();
        let ranges: Vec<Range<u64>> = narrowed(&times, &self.all)?;
        for (known, range) in self.terms.iter().zip(ranges) {
            for term in number.terms.iter_mut().filter(|term| term.index == known.index) {
                (term.first, term.times) = (range.start, range.end - range.start);
            }
        }
        Some(number)
    }
}

/// What a value is in all iterations of the loops around it.
fn anywhere(op: OpRef<'_>, value: ValueId, axes: &Axes) -> Result<Number, Diagnostic> {
    if let Some(count) = scalar::count(op.ctx, op.module.ty(value), axes, op.span())? {
        return Ok(Number::index(value, count));
    }
    let made = match op.module.def(value) {
        ValueDef::Argument(block, _) => op.module.block_parent(block),
        ValueDef::Result(made, _) => Some(made),
    };
    let unknown = || op.error("C0", format!("the index is neither a loop's nor of `{}`", AFFINE.name));
    let made = op.other(made.ok_or_else(unknown)?);
    match (Affine::cast(made), For::cast(made)) {
        (Some(op), _) => sum(op, axes),
        (None, Some(op)) => Ok(Number::index(value, times(op, axes)?)),
        (None, None) => Err(unknown()),
    }
}

fn sum(op: Affine<'_>, axes: &Axes) -> Result<Number, Diagnostic> {
    let overflow = || op.error("C2", "in some iteration the number does not fit 64 bits".to_owned());
    let mut sum = Number::constant(op.plus()?);
    for (&index, &factor) in op.operands().iter().zip(&*op.by()?) {
        let scaled = anywhere(*op, index, axes)?.times(factor);
        sum = scaled.and_then(|scaled| sum.plus(&scaled)).ok_or_else(overflow)?;
    }
    sum.range().map(|_| sum).ok_or_else(overflow)
}

fn verify_affine(op: OpRef<'_>, cx: &VerifyCx<'_>) -> Result<(), Diagnostic> {
    let view = Affine::of(op)?;
    let (factors, operands) = (view.by()?.len(), op.operands().len());
    if factors != operands {
        let (factors, operands) = (counted(factors, "factor"), counted(operands, "operand"));
        return Err(op.clause_error("C1", "by", format!("{factors} for {operands}")));
    }
    match op.results().first() {
        Some(&index) => anywhere(op, index, &cx.analysis::<DeclaredAxes>().0).map(drop),
        None => Ok(()),
    }
}
