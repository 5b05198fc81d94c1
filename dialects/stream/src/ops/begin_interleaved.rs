//! `stream.begin_interleaved`: two tensors in data memory enter the main context as one (book 08).

use crate::chain::{axes, check_same, input, with_dims};
use crate::formula::Formula;
use crate::lower::NOTHING;
use crate::plan::{Loop, Plan, PlanError, digits_of};
use crate::raise::{chosen, result};
use crate::streams::BEGIN;
use std::collections::BTreeMap;
use visa_algebra::{Axes, Expr, normalize};
use visa_engine::place::rngd;
use visa_ir::decl::{ClauseDecl, ClauseKind, Interface, OpDecl, OperandDecl};
use visa_ir::diag::{Diagnostic, counted};
use visa_ir::effects::Effects;
use visa_ir::module::{OpRef, TypeId};
use visa_ir::verify::VerifyCx;
use visa_loops::Entry;
use visa_mapping::facts::{Introduces, check_mappings};
use visa_mapping::ops::constant::Coordinate;
use visa_mapping::raise::{Raising, Semantics};
use visa_mapping::tensor::attrs::MAP;
use visa_mapping::{Dim, Tensor, Unit, operand};

/// `stream.begin_interleaved`.
#[visa_ir::view(BeginInterleaved)]
pub static DECL: OpDecl = OpDecl {
    name: "stream.begin_interleaved",
    summary: "Starts a pipeline of the main context on two tensors of the same mappings, which take turns.",
    doc: "The stream is one tensor with one more axis, of size 2: at its first coordinate it is the first tensor, \
          at its second the second (book 08). The fetch keeps that axis innermost in time, and takes packets of \
          both alternately.",
    constraints: &[
        ("C1", "the context is main (book 08)"),
        ("C2", "two tensors are interleaved, no more (book 08)"),
        (
            "C3",
            "both have the same number format, and the same chip, cluster, slice and element mapping (book 08)",
        ),
        ("C4", "`axis` is an axis of 2 positions that the tensors do not have"),
    ],
    operands: &[OperandDecl::variadic("tensors", &["tm.dm"])],
    clauses: &[
        ClauseDecl::lead("context", ClauseKind::word::<Unit>(), "which context runs the pipeline: main"),
        ClauseDecl::required(
            "axis",
            ClauseKind::body::<Expr>(&MAP),
            "the axis that numbers the tensors, as `[I]`",
        ),
    ],
    results: &["stream"],
    effects: Effects::PURE,
    infer: Some(infer),
    verify: Some(verify),
    example: "%b = stream.begin_interleaved main %lhs, %rhs axis [I]",
    interfaces: &[
        Interface(&rngd::NONE),
        Interface(&Semantics(raised)),
        Interface(&Formula::CallOnAll(|_| String::new())),
        Interface(&NOTHING),
        Interface(&Introduces(&["axis"])),
    ],
    ..OpDecl::BASE
};

/// The operations of this file.
pub static OPS: &[&OpDecl] = &[&DECL];

fn infer(op: OpRef<'_>) -> Result<Vec<TypeId>, Diagnostic> {
    let source = input(op)?;
    let time = (*BeginInterleaved::of(op)?.axis()?).clone();
    let given = [(Dim::Time, time), (Dim::Packet, source.dim(Dim::Element))];
    with_dims(op, &BEGIN, Some(Unit::Main), source.dtype, &given, &source)
}

/// The name of the axis between the two tensors.
fn axis_name(op: OpRef<'_>) -> Result<std::sync::Arc<str>, Diagnostic> {
    let axis = BeginInterleaved::of(op)?.axis()?;
    match &*axis {
        Expr::Axis(name) => Ok(name.clone()),
        Expr::Literal(_)
        | Expr::Alias(_)
        | Expr::Pair(_)
        | Expr::Outer(_)
        | Expr::Pad { .. }
        | Expr::Resize { .. }
        | Expr::Stride { .. }
        | Expr::Modulo { .. }
        | Expr::Slice { .. }
        | Expr::Gather { .. }
        | Expr::Slide(_) => {
            Err(op.clause_error("C4", "axis", format!("`{axis}` is no axis: expected one such as `[I]`")))
        }
    }
}

fn verify(op: OpRef<'_>, cx: &VerifyCx<'_>) -> Result<(), Diagnostic> {
    let axes = &axes(cx).0;
    check_mappings(op, axes)?;
    if BeginInterleaved::of(op)?.context()? != Unit::Main {
        let error = op.clause_error("C1", "context", "tensors are interleaved in the main context only");
        return Err(error.fix(Some("write `main`, or begin a pipeline for each tensor".to_owned())));
    }
    let (2, Some(lhs), Some(rhs)) = (op.operands().len(), operand(op, 0), operand(op, 1)) else {
        let message =
            format!("{} tensor(s), expected two: a fetch interleaves at most two", op.operands().len());
        return Err(op.error("C2", message));
    };
    if lhs.dtype != rhs.dtype {
        return Err(
            op.error("C3", format!("the first tensor is `{}`, the second `{}`", lhs.dtype, rhs.dtype))
        );
    }
    for dim in [Dim::Chip, Dim::Cluster, Dim::Slice, Dim::Element] {
        check_same(op, "C3", dim.name(), &rhs.dim(dim), &lhs.dim(dim), axes).map_err(|mut error| {
            error.message = format!("the {} mappings are not the same: {}", dim.name(), error.message);
            error
        })?;
    }
    check_axis(op, &[&lhs, &rhs], axes)
}

/// C4.
fn check_axis(op: OpRef<'_>, tensors: &[&Tensor], axes: &Axes) -> Result<(), Diagnostic> {
    let name = axis_name(op)?;
    let refuse = |message: String| Err(op.clause_error("C4", "axis", message));
    match axes.id(&name) {
        Some(id) if axes.skew(id).is_some() => refuse(format!("axis `{name}` is skewed")),
        Some(id) if axes.size(id) != 2 => refuse(format!(
            "axis `{name}` has {}, expected 2: one for each tensor",
            counted(axes.size(id), "position")
        )),
        Some(_) | None if tensors.iter().any(|tensor| tensor.axis_names(axes).contains(&name)) => {
            refuse(format!("axis `{name}` is one of the tensors' own, expected another of size 2"))
        }
        Some(_) | None => Ok(()),
    }
}

/// The axis between the two tensors that a fetch reads alternately; `None` if it reads one.
///
/// # Errors
/// If two tensors begin the pipeline without an axis.
pub fn axis_of(fetch: OpRef<'_>) -> Result<Option<std::rc::Rc<Expr>>, Diagnostic> {
    fetch.operand_def(0).and_then(BeginInterleaved::cast).map(|begin| begin.axis()).transpose()
}

/// The rest of `time` without `axis`, which must be innermost in it and whole.
///
/// # Errors
/// If it is not.
pub fn without_axis(axis: &Expr, time: &Expr, axes: &Axes) -> Result<Expr, PlanError> {
    // As it is written, so that padded and gathered terms, which are no digits, may be before the axis.
    if let Expr::Pair(terms) = time
        && let Some((last, outer)) = terms.split_last()
        && last == axis
    {
        return Ok(Expr::pair(outer.iter().cloned()));
    }
    let (whole, digits) = (digits_of(axis, axes)?, digits_of(time, axes)?);
    if digits.iter().next() != whole.iter().next() {
        return Err(format!(
            "time `{time}` does not end in `{axis}`: packets of the two tensors alternate (book 08)"
        ));
    }
    normalize(&time.clone().stride(whole.size()), axes).map_err(|error| error.message)
}

/// The loops of a fetch of one tensor, with a step to the other, `distance` elements further, after each packet.
#[must_use]
pub fn alternating(mut plan: Plan, axis: &Expr, distance: i64) -> Plan {
    let time = plan.time().len();
    plan.loops.insert(
        time,
        Loop { entry: Entry::new(2, distance), factor: axis.to_string().trim_matches(['[', ']']).to_owned() },
    );
    plan
}

/// Operand 0 at the first coordinate along the axis, operand 1 at the second.
fn raised(cx: &mut Raising<'_>, op: OpRef<'_>) -> Result<(), Diagnostic> {
    let to = result(op)?;
    let (first, second) = (cx.held(op, 0, &to)?, cx.held(op, 1, &to)?);
    let axis = Expr::axis(&axis_name(op)?);
    let index = cx.emit(Coordinate::build(op).axis(axis).spec(), BTreeMap::new())?;
    let known = chosen(cx, op, &index, [&second, &first])?;
    cx.bind(op, known)
}
