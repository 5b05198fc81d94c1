//! `tm.affine`, `tm.select`: numbers that depend on the indices of loops, and which they are where an operation runs.

use super::control::{For, If, check_range, times};
use crate::facts::DeclaredAxes;
use crate::index::affine::{Affine, Term};
use crate::index::cases::{Bound, Case, Cases, Narrowing};
use crate::index::{INDEX, INDICES, Index};
use crate::tensor::scalar;
use std::collections::HashMap;
use std::slice::from_ref;
use visa_algebra::Axes;
use visa_ir::decl::{ClauseDecl, ClauseKind, OpDecl, OperandDecl, make_type};
use visa_ir::diag::{Diagnostic, counted};
use visa_ir::effects::Effects;
use visa_ir::module::{OpRef, ValueDef, ValueId};
use visa_ir::verify::VerifyCx;

/// `tm.affine`.
#[visa_ir::view(Sum)]
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
        ClauseDecl::default("plus", ClauseKind::Int, "0", "the summand"),
    ],
    results: &["index"],
    effects: Effects::PURE,
    infer: Some(|op| Ok(vec![make_type(op.ctx, &INDEX, Index)])),
    verify: Some(verify_affine),
    example: "%k = tm.affine %i, %j by [4, 1], plus 3",
    ..OpDecl::BASE
};

/// `tm.select`.
#[visa_ir::view(Select)]
pub static SELECT: OpDecl = OpDecl {
    name: "tm.select",
    summary: "One of two numbers, by where a third one is.",
    doc: "`tm.select %i, %a, %b from 1, below 4` is `%a` where `%i` is 1, 2 or 3, and `%b` elsewhere. It is used as \
          an index is. Each of the two is looked at where it is chosen: `%i` - 1 may be a tile under `from 1`.\n\n\
          A command that depends on it becomes one for each case, each in a branch.",
    constraints: &[("C1", "`from` or `below` is given, and `from` is less than `below`")],
    operands: &[
        OperandDecl::one("number", INDICES),
        OperandDecl::one("inside", INDICES),
        OperandDecl::one("outside", INDICES),
    ],
    clauses: &[
        ClauseDecl::optional("from", ClauseKind::Int, "the least number with which it is the first"),
        ClauseDecl::optional("below", ClauseKind::Int, "it is the first with less than this"),
    ],
    results: &["index"],
    effects: Effects::PURE,
    infer: Some(|op| Ok(vec![make_type(op.ctx, &INDEX, Index)])),
    verify: Some(verify_select),
    example: "%k = tm.select %i, %a, %b from 1, below 4",
    ..OpDecl::BASE
};

/// The operations of this file.
pub static OPS: &[&OpDecl] = &[&AFFINE, &SELECT];

/// The number of a value of type `!tm.index` or `!tm.scalar`, where `op` uses it: the branches around `op` narrow the
/// indices. A scalar may be any of its numbers. Where `op` never runs it is 0, which satisfies every constraint.
///
/// # Errors
/// A number that does not fit 64 bits in some iteration, too many cases, or a value that no operation here makes.
pub fn number(op: OpRef<'_>, value: ValueId, axes: &Axes) -> Result<Cases<Affine>, Diagnostic> {
    numbers(op, std::iter::once(value), axes)?.map(|numbers| Ok(numbers.first().cloned().unwrap_or_default()))
}

/// The numbers of some indices.
///
/// # Errors
/// As of [`number`].
pub(crate) fn numbers(
    op: OpRef<'_>,
    indices: impl Iterator<Item = ValueId>,
    axes: &Axes,
) -> Result<Cases<Vec<Affine>>, Diagnostic> {
    let all = everywhere(op, indices, axes)?;
    let count = all.first().map_or(0, Vec::len);
    let around = around(op, axes)?;
    let all = around.selected.join(&all, |(), numbers| numbers.clone());
    let narrow = |numbers: &Vec<Affine>, to: &Narrowing| numbers.iter().map(|number| to.of(number)).collect();
    let narrowed = all.within(&around.branches, narrow).bounded(op)?;
    Ok(match narrowed.first() {
        Some(_) => narrowed,
        None => Cases::always(vec![Affine::default(); count]),
    })
}

/// The consequence of numbers of `op` in each case; an error names its case.
///
/// # Errors
/// Those of `follows`.
pub(crate) fn in_each<T, U>(
    op: OpRef<'_>,
    cases: &Cases<T>,
    mut follows: impl FnMut(&T) -> Result<U, Diagnostic>,
) -> Result<Cases<U>, Diagnostic> {
    for case in cases.iter().filter(|case| !case.bounds.is_empty()) {
        let bounds: Vec<String> = case.bounds.iter().map(|bound| described(op, bound)).collect();
        let note = || format!("this is so where {}", bounds.join(" and "));
        follows(&case.what).map_err(|error| error.note(note(), None))?;
    }
    cases.map(follows)
}

/// A bound as people write it.
fn described(op: OpRef<'_>, Bound { number, from, below }: &Bound) -> String {
    let term = |term: &Term| {
        let name = op.module.value_name(term.index).map_or("", |name| name);
        if term.factor == 1 { format!("%{name}") } else { format!("{} %{name}", term.factor) }
    };
    let base = (number.base != 0 || number.terms.is_empty()).then(|| number.base.to_string());
    let sum: Vec<String> = number.terms.iter().map(term).chain(base).collect();
    let from = from.map(|from| format!("at least {from}"));
    let below = below.map(|below| format!("less than {below}"));
    let range: Vec<String> = from.into_iter().chain(below).collect();
    format!("`{}` is {}", sum.join(" + "), range.join(" and "))
}

/// A number that is written of `op`; 0 where that never runs, as all numbers are there.
///
/// # Errors
/// As of [`number`].
pub(crate) fn constant(op: OpRef<'_>, written: i64, axes: &Axes) -> Result<i64, Diagnostic> {
    Ok(if written == 0 || never_runs(op, axes)? { 0 } else { written })
}

/// Returns true if the branches around `op` never let it run.
///
/// # Errors
/// As of [`number`].
pub fn never_runs(op: OpRef<'_>, axes: &Axes) -> Result<bool, Diagnostic> {
    let around = around(op, axes)?;
    Ok(around.selected.within(&around.branches, |(), _| ()).first().is_none())
}

/// The cases in which a command runs: those of its operands, limited to those in which the branches around it let it
/// run. Known bounds of a branch are not repeated, unless its own number has several cases.
///
/// # Errors
/// As of [`number`].
pub fn cases<T>(op: OpRef<'_>, of: &Cases<T>, axes: &Axes) -> Result<Vec<Vec<Bound>>, Diagnostic> {
    let around = around(op, axes)?;
    let all = around.selected.join(of, |(), _| ());
    let all = all.within(&around.branches, |(), _| ()).bounded(op)?;
    Ok(all.iter().map(|case| case.bounds.clone()).collect())
}

/// The cases of an operation's operands in which it runs, with all known bounds of its branches.
///
/// # Errors
/// As of [`number`].
pub(crate) fn runs<T: Clone>(op: OpRef<'_>, of: &Cases<T>, axes: &Axes) -> Result<Cases<T>, Diagnostic> {
    let around = around(op, axes)?;
    let all = Cases::under_all(around.branches).join(&around.selected, |(), ()| ());
    Ok(all.join(of, |(), what| what.clone()))
}

/// Where the number of a branch must be, in all iterations of the loops around it.
///
/// # Errors
/// As of [`number`].
pub fn condition(op: If<'_>, axes: &Axes) -> Result<Cases<Bound>, Diagnostic> {
    let (from, below) = (op.from()?, op.below()?);
    let bound = |number: &Affine| Ok(Bound { number: number.clone(), from, below });
    anywhere(*op, op.number()?.id, axes)?.map(bound)
}

/// The numbers of values of type `!tm.index` or `!tm.scalar` in all iterations of the loops around them.
///
/// # Errors
/// As of [`number`].
pub(crate) fn everywhere(
    op: OpRef<'_>,
    indices: impl Iterator<Item = ValueId>,
    axes: &Axes,
) -> Result<Cases<Vec<Affine>>, Diagnostic> {
    let mut all = Cases::always(Vec::new());
    for index in indices {
        let next = anywhere(op, index, axes)?;
        all = all.join(&next, |known, next| [known, from_ref(next)].concat()).bounded(op)?;
    }
    Ok(all)
}

/// The branches around an operation.
struct Around {
    /// Where their numbers are that have one case.
    branches: Vec<Bound>,
    /// The cases of the others in which it runs.
    selected: Cases<()>,
}

fn around(op: OpRef<'_>, axes: &Axes) -> Result<Around, Diagnostic> {
    let mut around = Around { branches: Vec::new(), selected: Cases::always(()) };
    for branch in op.ancestors().filter_map(If::cast) {
        let condition = condition(branch, axes)?;
        match condition.iter().as_slice() {
            [Case { bounds, what }] if bounds.is_empty() => around.branches.push(what.clone()),
            _ => around.selected = around.selected.join(&condition.held(), |(), ()| ()).bounded(op)?,
        }
    }
    Ok(around)
}

/// The numbers of some values in all iterations of the loops around them.
type Known = HashMap<ValueId, Cases<Affine>>;

/// The number of a value in all iterations of the loops around it. Each number that it is made of is computed once,
/// and before it, regardless of the number of its uses.
fn anywhere(op: OpRef<'_>, value: ValueId, axes: &Axes) -> Result<Cases<Affine>, Diagnostic> {
    let (mut known, mut left) = (Known::new(), vec![value]);
    while let Some(&next) = left.last() {
        let made = maker(op, next).filter(|made| made.is(&AFFINE) || made.is(&SELECT));
        let of = made.map_or(&[][..], |made| made.operands());
        let missing = of.iter().copied().filter(|value| !known.contains_key(value));
        let before = left.len();
        left.extend(missing);
        if left.len() == before {
            left.pop();
            known.insert(next, one(op, next, axes, &known)?);
        }
    }
    taken(op, value, &known).cloned()
}

/// The operation that makes a value, or has it in its body.
fn maker(op: OpRef<'_>, value: ValueId) -> Option<OpRef<'_>> {
    let made = match op.module.def(value) {
        ValueDef::Argument(block, _) => op.module.block_parent(block),
        ValueDef::Result(made, _) => Some(made),
    };
    made.map(|made| op.other(made))
}

fn unknown(op: OpRef<'_>) -> Diagnostic {
    let message = format!("the index is neither a loop's nor of `{}` or `{}`", AFFINE.name, SELECT.name);
    op.error("C0", message)
}

/// A number that is known.
fn taken<'a>(op: OpRef<'_>, value: ValueId, known: &'a Known) -> Result<&'a Cases<Affine>, Diagnostic> {
    known.get(&value).ok_or_else(|| unknown(op))
}

/// The number of a value, where the numbers that it is made of are known.
fn one(op: OpRef<'_>, value: ValueId, axes: &Axes, known: &Known) -> Result<Cases<Affine>, Diagnostic> {
    if let Some(count) = scalar::count(op.ctx, op.module.ty(value), axes, op.span())? {
        return Ok(Cases::always(Affine::index(value, count)));
    }
    let made = maker(op, value).ok_or_else(|| unknown(op))?;
    match (Sum::cast(made), Select::cast(made), For::cast(made)) {
        (Some(op), _, _) => sum(op, known),
        (None, Some(op), _) => selected(op, known),
        (None, None, Some(op)) => Ok(Cases::always(Affine::index(value, times(op, axes)?))),
        (None, None, None) => Err(unknown(op)),
    }
}

fn sum(op: Sum<'_>, known: &Known) -> Result<Cases<Affine>, Diagnostic> {
    let overflow = || op.error("C2", "in some iteration the number does not fit 64 bits".to_owned());
    let mut sum = Cases::always(Affine::constant(op.plus()?));
    for (&index, &factor) in op.operands().iter().zip(&*op.by()?) {
        let plus = |sum: &Affine, index: &Affine| index.times(factor).and_then(|scaled| sum.plus(&scaled));
        let sums = sum.join(taken(*op, index, known)?, plus).bounded(*op)?;
        sum = sums.map(|sum| sum.clone().ok_or_else(overflow))?;
    }
    sum.map(|sum| sum.range().map(|_| sum.clone()).ok_or_else(overflow))
}

fn selected(op: Select<'_>, known: &Known) -> Result<Cases<Affine>, Diagnostic> {
    let (from, below) = (op.from()?, op.below()?);
    let [by, inside, outside] =
        [op.number()?, op.inside()?, op.outside()?].map(|value| taken(*op, value.id, known));
    let (inside, outside) = (inside?, outside?);
    let way = by?.map(|number| {
        let bound = Bound { number: number.clone(), from, below };
        Ok::<_, Diagnostic>(Cases::select(&bound, inside, outside))
    })?;
    way.flat().bounded(*op)
}

fn verify_select(op: OpRef<'_>, cx: &VerifyCx<'_>) -> Result<(), Diagnostic> {
    let view = Select::of(op)?;
    check_range(op, view.from()?, view.below()?)?;
    match op.results().first() {
        Some(&index) => anywhere(op, index, &cx.analysis::<DeclaredAxes>().0).map(drop),
        None => Ok(()),
    }
}

fn verify_affine(op: OpRef<'_>, cx: &VerifyCx<'_>) -> Result<(), Diagnostic> {
    let view = Sum::of(op)?;
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
