//! `tm.for`, `tm.if`, `tm.yield`: loops and branches, and the tensors that go through them.

use crate::error::mapping_error;
use crate::facts::DeclaredAxes;
use crate::index::{INDEX, INDICES, Index};
use crate::interfaces::KeepsAxes;
use crate::tensor::attrs::MAP;
use crate::tensor::memories::CARRIED;
use crate::tensor::value::Value;
use visa_algebra::{Axes, Expr};
use visa_ir::decl::{ClauseDecl, ClauseKind, Interface, OpDecl, OperandDecl, Trait, make_type};
use visa_ir::diag::{Diagnostic, counted};
use visa_ir::effects::Effects;
use visa_ir::module::{OpRef, TypeId, ValueId};
use visa_ir::open::is_unknown;
use visa_ir::verify::VerifyCx;
use visa_loops::MAX_TIMES;

/// `tm.for`.
#[visa_ir::view(For)]
pub static FOR: OpDecl = OpDecl {
    name: "tm.for",
    summary: "A loop: runs its body a number of times, and carries tensors from one iteration to the next.",
    doc: "`tm.for [M / 32]` has an iteration for each position of that dimension, `tm.for [8]` has eight. The \
          body's first argument is the index, from 0 on. Each of the others is a carried tensor: the operand in the \
          first iteration, the operand of the previous `tm.yield` in all others. The results are those of the last \
          iteration gave. So a tensor is filled tile by tile: `tm.to_tile` takes the carried tensor and gives it as \
          it is from then on.\n\n\
          A carried tensor has one place: it is yielded at the operand's address. Tensors that the body places are \
          placed again in each iteration. At the tensor level it carries values, which are in no place.",
    constraints: &[
        ("C1", "there are 1 to 2^32 iterations (ours: the interpreter runs each of them)"),
        ("C2", "the yielded values have the types of the operands"),
        ("C3", "the yielded values are at the operands' addresses"),
        ("C4", "neither is a view"),
    ],
    operands: &[OperandDecl::variadic("initial", CARRIED)],
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

/// `tm.if`.
#[visa_ir::view(If)]
pub static IF: OpDecl = OpDecl {
    name: "tm.if",
    summary: "A branch: runs its body where a number is in a range.",
    doc: "`tm.if %i, %x from 1, below 4` runs its body in iterations 1, 2 and 3 of the loop whose index `%i` is. \
          The number is an index, a scalar, or a result of `tm.affine`. A result is the operand of `tm.yield` if \
          the body has run, and else the unchanged operand `%x`. The body puts its results at the operand's \
          address, with `tm.to_tile` or as a new tensor at the same address.\n\n\
          Inside, an index is known to be in its range: under `from 1` there is a tile number `%i` - 1. Each index \
          of a sum is narrowed by itself. The alternative to the body is a second branch, with `from` and `below` \
          the other way round.",
    constraints: &[
        ("C1", "`from` or `below` is given, and `from` is less than `below`"),
        ("C2", "the yielded values have the types of the tensors"),
        ("C3", "the yielded values are at the tensors' addresses"),
        ("C4", "neither is a view"),
    ],
    operands: &[OperandDecl::one("number", INDICES), OperandDecl::variadic("initial", CARRIED)],
    clauses: &[
        ClauseDecl::optional("from", ClauseKind::Int, "the least number with which the body runs"),
        ClauseDecl::optional("below", ClauseKind::Int, "the body runs with less than this"),
    ],
    traits: &[Trait::Region, Trait::AnyResults, Trait::EndsWith("tm.yield")],
    effects: Effects::OfBody,
    infer: Some(|op| Ok(types(op, initial(op)))),
    verify: Some(verify_if),
    interfaces: &[Interface(&KeepsAxes)],
    example: "%r = tm.if %i, %x from 1, below 4 {\n  tm.yield %x\n}",
    ..OpDecl::BASE
};

/// `tm.yield`.
#[visa_ir::view(Yield)]
pub static YIELD: OpDecl = OpDecl {
    name: "tm.yield",
    summary: "Ends the body of a loop or a branch: gives the tensors as they are after it.",
    operands: &[OperandDecl::variadic("values", CARRIED)],
    traits: &[Trait::Terminator, Trait::InsideOneOf(&["tm.for", "tm.if"])],
    effects: Effects::PURE,
    example: "tm.yield %acc",
    ..OpDecl::BASE
};

/// The operations of this file.
pub static OPS: &[&OpDecl] = &[&FOR, &IF, &YIELD];

fn types(op: OpRef<'_>, values: &[ValueId]) -> Vec<TypeId> {
    values.iter().map(|&value| op.module.ty(value)).collect()
}

/// Number of iterations of a loop.
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

/// A tensor that goes through a loop or a branch. All of these are in one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Carried {
    /// The value before the loop or branch.
    pub initial: ValueId,
    /// The value at the start of a loop's body.
    pub argument: Option<ValueId>,
    /// The value at the end of the body.
    pub yielded: Option<ValueId>,
    /// The value afterwards.
    pub result: Option<ValueId>,
}

impl Carried {
    /// The values after `initial`, in the order in which they replace each other.
    pub fn later(self) -> impl Iterator<Item = ValueId> {
        [self.argument, self.yielded, self.result].into_iter().flatten()
    }
}

/// The tensors that go through an operation; none if it is neither a loop nor a branch.
#[must_use]
pub fn carried(op: OpRef<'_>) -> Vec<Carried> {
    let carried = |(number, &initial): (usize, &ValueId)| Carried {
        initial,
        argument: arguments(op).get(number).copied(),
        yielded: yielded(op).get(number).copied(),
        result: op.results().get(number).copied(),
    };
    initial(op).iter().enumerate().map(carried).collect()
}

/// Returns true if an operation is a loop or a branch.
#[must_use]
pub fn carries(op: OpRef<'_>) -> bool {
    op.is(&FOR) || op.is(&IF)
}

/// The tensors that a loop or a branch is given.
#[must_use]
pub fn initial(op: OpRef<'_>) -> &[ValueId] {
    match (op.is(&FOR), op.is(&IF)) {
        (true, _) => op.operands(),
        (false, true) => op.operands().get(1..).unwrap_or_default(),
        (false, false) => &[],
    }
}

/// The values that the body of a loop or a branch yields.
#[must_use]
pub fn yielded(op: OpRef<'_>) -> &[ValueId] {
    let end = op.regions().first().and_then(|&block| op.module.ops(block).last());
    end.map_or(&[], |&end| op.other(end).operands())
}

/// The arguments of a loop's body that are carried.
#[must_use]
pub fn arguments(op: OpRef<'_>) -> &[ValueId] {
    op.regions().first().and_then(|&block| op.module.args(block).get(1..)).unwrap_or_default()
}

fn verify_for(op: OpRef<'_>, cx: &VerifyCx<'_>) -> Result<(), Diagnostic> {
    times(For::of(op)?, &cx.analysis::<DeclaredAxes>().0)?;
    check_yielded(op, "loop")
}

fn verify_if(op: OpRef<'_>, _: &VerifyCx<'_>) -> Result<(), Diagnostic> {
    let branch = If::of(op)?;
    check_range(op, branch.from()?, branch.below()?)?;
    check_yielded(op, "branch")
}

/// C1 of a branch and of a selection.
pub(crate) fn check_range(op: OpRef<'_>, from: Option<i64>, below: Option<i64>) -> Result<(), Diagnostic> {
    match (from, below) {
        (None, None) => {
            let fix = "write `from 1` for numbers that are at least 1, `below 1` for less".to_owned();
            Err(op.error("C1", "neither `from` nor `below` is given").fix(fix))
        }
        (Some(from), Some(below)) if from >= below => {
            let message = format!("no number is at least {from} and less than {below}");
            Err(op.clause_error("C1", "below", message))
        }
        (Some(_), _) | (None, Some(_)) => Ok(()),
    }
}

/// C2 of a loop and of a branch.
fn check_yielded(op: OpRef<'_>, around: &str) -> Result<(), Diagnostic> {
    let (given, wanted) = (yielded(op), initial(op));
    let end = op.regions().first().and_then(|&block| op.module.ops(block).last().copied());
    let span = end.map_or(op.span(), |end| op.other(end).span());
    let refuse = |message: String| Diagnostic { span, ..op.error("C2", message) };
    if given.len() != wanted.len() {
        let (given, wanted) = (counted(given.len(), "value"), counted(wanted.len(), "carried tensor"));
        return Err(refuse(format!("the body yields {given}, the {around} has {wanted}")));
    }
    for (given, wanted) in types(op, given).into_iter().zip(types(op, wanted)) {
        let known = ![given, wanted].iter().any(|ty| is_unknown(op.ctx, *ty));
        if given != wanted && known && !same_value(op, given, wanted) {
            let (given, wanted) = (op.ctx.type_text(given), op.ctx.type_text(wanted));
            return Err(refuse(format!("the body yields `{given}`, the {around} carries `{wanted}`")));
        }
    }
    Ok(())
}

/// Returns true if two types of values have the same axes, in any order.
fn same_value(op: OpRef<'_>, given: TypeId, wanted: TypeId) -> bool {
    let values = [given, wanted].map(|ty| op.ctx.type_value::<Value>(ty));
    let [Some(given), Some(wanted)] = values else { return false };
    let has_all = || wanted.axes.iter().all(|axis| given.has(axis));
    given.dtype == wanted.dtype && given.axes.len() == wanted.axes.len() && has_all()
}
