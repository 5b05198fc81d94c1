//! `tm.for`, `tm.yield`, `tm.affine`: loops, what they carry, and numbers that depend on their indices.

use crate::affine::Affine as Number;
use crate::attrs::MAP;
use crate::error::mapping_error;
use crate::facts::DeclaredAxes;
use crate::keeps_axes::KeepsAxes;
use crate::{Axes, Expr, scalar};
use std::fmt;
use std::rc::Rc;
use visa_ir::decl::{
    Body, BodyDef, BodyError, ClauseDecl, ClauseKind, Interface, OpDecl, OperandDecl, Trait, make_type,
};
use visa_ir::diag::{Diagnostic, counted};
use visa_ir::effects::Effects;
use visa_ir::module::{OpRef, TypeId, ValueDef, ValueId};
use visa_ir::open::is_unknown;
use visa_ir::verify::VerifyCx;
use visa_ir::view::ValueRef;
use visa_loops::MAX_TIMES;

/// `!tm.index`.
pub static INDEX: BodyDef = BodyDef {
    name: "tm.index",
    syntax: "",
    doc: "A number that is known in each iteration of the loops around it: a loop's index, or what `tm.affine` makes \
          of indices.",
    parse: |text| match text.trim() {
        "" => Ok(Rc::new(Index) as Rc<dyn Body>),
        text => Err(BodyError::new("index", format!("found `{text}`, expected nothing: `!tm.index`"))),
    },
    ..BodyDef::BASE
};

/// The body of `!tm.index`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Index;

impl fmt::Display for Index {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        Ok(())
    }
}

/// The types of numbers that say where a tile is.
pub(crate) const INDICES: &[&str] = &["tm.index", "tm.scalar"];

const MEMORIES: &[&str] = &["tm.hbm", "tm.dm", "tm.spm"];

/// `tm.for`.
#[visa_ir::view(For)]
pub static FOR: OpDecl = OpDecl {
    name: "tm.for",
    summary: "A loop: runs its body a number of times, and carries tensors from one iteration to the next.",
    doc: "`tm.for [M / 32]` has an iteration for each position of that dimension, `tm.for [8]` has eight. The body's \
          first argument is the index, from 0 on. Each of the others is a carried tensor: the operand in \
          the first iteration, what `tm.yield` gave in the one before in all others. The results are what the last \
          iteration gave. So a tensor is filled tile by tile: `tm.to_tile` takes the carried tensor and gives it as \
          it is from then on.\n\n\
          A carried tensor has one place: it is yielded where the operand is. What the body places, it places anew \
          in each iteration.",
    constraints: &[
        ("C1", "there are 1 to 2^32 iterations (ours: the interpreter runs each of them)"),
        ("C2", "what the body yields has the types of the operands"),
        ("C3", "what the body yields is where the operand is"),
        ("C4", "neither is a view"),
    ],
    operands: &[OperandDecl::variadic("initial", MEMORIES)],
    clauses: &[ClauseDecl::lead(
        "over",
        ClauseKind::body::<Expr>(&MAP),
        "the dimension whose positions it goes through",
    )],
    traits: &[Trait::Function, Trait::AnyResults, Trait::EndsWith("tm.yield")],
    effects: Effects::OfBody,
    infer: Some(|op| Ok(types(op, op.operands()))),
    arguments: Some(|op| {
        Ok(std::iter::once(make_type(op.ctx, &INDEX, Index)).chain(types(op, op.operands())).collect())
    }),
    verify: Some(verify_for),
    interfaces: &[Interface(&KeepsAxes)],
    example: "%r = tm.for [4](%i, %acc) %x {\n  tm.yield %acc\n}",
    ..OpDecl::BASE
};

/// `tm.yield`.
#[visa_ir::view(Yield)]
pub static YIELD: OpDecl = OpDecl {
    name: "tm.yield",
    summary: "Ends the body of a loop: gives the carried tensors for the next iteration.",
    operands: &[OperandDecl::variadic("values", MEMORIES)],
    traits: &[Trait::Terminator, Trait::Inside("tm.for")],
    effects: Effects::PURE,
    example: "tm.yield %acc",
    ..OpDecl::BASE
};

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
pub static OPS: &[&OpDecl] = &[&FOR, &YIELD, &AFFINE];

fn types(op: OpRef<'_>, values: &[ValueId]) -> Vec<TypeId> {
    values.iter().map(|&value| op.module.ty(value)).collect()
}

/// How many iterations a loop has.
///
/// # Errors
/// C1.
pub fn times(op: For<'_>, axes: &Axes) -> Result<u64, Diagnostic> {
    let over = op.over()?;
    let times = over.size(axes).map_err(|error| mapping_error(error, op.clause_span("over")))?;
    if times <= MAX_TIMES {
        return Ok(times);
    }
    let message = format!("`{over}` has {}, at most {MAX_TIMES} are run", counted(times, "position"));
    Err(op.clause_error("C1", "over", message))
}

/// What a value of type `!tm.index` or `!tm.scalar` is, where `op` uses it. A scalar may be any of its numbers.
///
/// # Errors
/// A number that does not fit 64 bits in some iteration, or a value that no operation here makes.
pub fn number(op: OpRef<'_>, value: ValueId, axes: &Axes) -> Result<Number, Diagnostic> {
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

fn sum(op: Affine<'_>, axes: &Axes) -> Result<Number, Diagnostic> {
    let overflow = || op.error("C2", "in some iteration the number does not fit 64 bits".to_owned());
    let mut sum = Number::constant(op.plus()?);
    for (&index, &factor) in op.operands().iter().zip(&*op.by()?) {
        let scaled = number(*op, index, axes)?.times(factor);
        sum = scaled.and_then(|scaled| sum.plus(&scaled)).ok_or_else(overflow)?;
    }
    sum.range().map(|_| sum).ok_or_else(overflow)
}

/// What a loop's body yields.
#[must_use]
pub fn yielded(op: OpRef<'_>) -> &[ValueId] {
    let end = op.regions().first().and_then(|&block| op.module.ops(block).last());
    end.map_or(&[], |&end| op.other(end).operands())
}

/// The arguments of a loop's body that are carried.
#[must_use]
pub fn carried(op: OpRef<'_>) -> &[ValueId] {
    op.regions().first().and_then(|&block| op.module.args(block).get(1..)).unwrap_or_default()
}

fn verify_for(op: OpRef<'_>, cx: &VerifyCx<'_>) -> Result<(), Diagnostic> {
    times(For::of(op)?, &cx.analysis::<DeclaredAxes>().0)?;
    let (given, wanted) = (yielded(op), op.operands());
    let end = op.regions().first().and_then(|&block| op.module.ops(block).last().copied());
    let span = end.map_or(op.span(), |end| op.other(end).span());
    let refuse = |message: String| Diagnostic { span, ..op.error("C2", message) };
    if given.len() != wanted.len() {
        let (given, wanted) = (counted(given.len(), "value"), counted(wanted.len(), "carried tensor"));
        return Err(refuse(format!("the body yields {given}, the loop has {wanted}")));
    }
    for (given, wanted) in types(op, given).into_iter().zip(types(op, wanted)) {
        let known = ![given, wanted].iter().any(|ty| is_unknown(op.ctx, *ty));
        if given != wanted && known {
            let (given, wanted) = (op.ctx.type_text(given), op.ctx.type_text(wanted));
            return Err(refuse(format!("the body yields `{given}`, the loop carries `{wanted}`")));
        }
    }
    Ok(())
}

fn verify_affine(op: OpRef<'_>, cx: &VerifyCx<'_>) -> Result<(), Diagnostic> {
    let view = Affine::of(op)?;
    let (factors, operands) = (view.by()?.len(), op.operands().len());
    if factors != operands {
        let (factors, operands) = (counted(factors, "factor"), counted(operands, "operand"));
        return Err(op.clause_error("C1", "by", format!("{factors} for {operands}")));
    }
    match op.results().first() {
        Some(&index) => number(op, index, &cx.analysis::<DeclaredAxes>().0).map(drop),
        None => Ok(()),
    }
}
