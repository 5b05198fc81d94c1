//! `stream.vector_inter_slice_reduce`: the inter-slice block of the vector engine (book 25).

use crate::chain::{axes, check_first_slices, input, next};
use crate::forgotten::DropsAxes;
use crate::formula::{Formula, function};
use crate::inter_slice::{InterSlice, Reduction};
use crate::lower::{LowerStage, StageCx};
use crate::planner::planned;
use crate::raise::asked::{Along, SumsAlong};
use crate::raise::reduction::between_slices;
use crate::streams::INTER;
use crate::vector::{earlier, stage_before};
use std::collections::BTreeSet;
use visa_algebra::{Axes, AxisId, Expr};
use visa_engine::place::rngd;
use visa_hw::ops as hw;
use visa_ir::decl::{ClauseDecl, ClauseKind, Interface, OpDecl, OperandDecl};
use visa_ir::diag::Diagnostic;
use visa_ir::effects::Effects;
use visa_ir::module::{OpRef, OpSpec};
use visa_ir::verify::VerifyCx;
use visa_loops::distance;
use visa_mapping::facts::{check_mappings, machine, written};
use visa_mapping::ops::transfer::{check_dimension, free_axes};
use visa_mapping::raise::Semantics;
use visa_mapping::tensor::attrs::MAP;
use visa_mapping::{Dim, Tensor};
use visa_numerics::{ReduceName, ReduceOp, VectorStage, reduce_op, reduce_ops};

/// `stream.vector_inter_slice_reduce`.
#[visa_ir::view(VectorInterSliceReduce)]
pub static DECL: OpDecl = OpDecl {
    name: "stream.vector_inter_slice_reduce",
    summary: "Reduces a factor of the slices to one.",
    doc: "A factor of the slice mapping is reduced where the result's holds something else in its place (book \
          25). With slice [A, R] and time [C], n slices in R:\n\n\
          | rule | slice after | time after | each slice of a group ends up with |\n\
          |---|---|---|---|\n\
          | dummy | [A, 1 # n] | [C] | the first slice the result, the others nothing that counts |\n\
          | broadcast | [A, X] | [C] | the result; X is an axis that the tensor does not depend on, or a number |\n\
          | promotion | [A, C] | [1] | its part of the result: C, of n positions, leaves time |\n\n\
          Elements are reduced in the order of the slices, the group's first slice first (docs/numerics.md). \
          Chip, cluster and packet stay.\n\n\
          It comes first in a pass, and then `stream.vector_branch` may follow, or after the stages of 8 lanes, \
          and then only `stream.vector_final` follows.",
    constraints: &[
        (
            "C1",
            "the operation works on the stream's format: Add, AddSat, Max, Min on i32; Add, Max, Min, Mul on f32 \
             (book 25)",
        ),
        ("C2", "the slice mapping has 256 positions (book 25)"),
        (
            "C3",
            "the content of a reduced factor's slices afterwards follows one of the three rules (book 25)",
        ),
        ("C4", "some factor of the slices is reduced"),
        ("C5", "every slice of a group holds elements: padding would be reduced with them"),
        (
            "C6",
            "time is as before, without the promoted part: one factor of it, which keeps its size (book 25)",
        ),
        (
            "C7",
            "it comes first, or after branch, logic, fxp, fxp_to_fp, widen, fp_to_fxp or clip, once a pass \
             (book 25)",
        ),
        (
            "C8",
            "with `over`, its axes are gone from slices, time and packet, and no others are reduced (ours: it \
             limits the reductions of a choice of mappings)",
        ),
        ("C9", "the stream's slices begin with the first: groups are of certain slices (book 25)"),
    ],
    operands: &[OperandDecl::one("stream", &["stream.init", "stream.vector"])],
    clauses: &[
        ClauseDecl::lead("op", ClauseKind::word::<ReduceName>(), "how two elements become one"),
        ClauseDecl::optional(
            "over",
            ClauseKind::body::<Expr>(&MAP),
            "the axes that are reduced, the part of each that slices hold; if absent, all axes that the mappings \
             leave out",
        ),
        ClauseDecl::required("slice", ClauseKind::body::<Expr>(&MAP), "mapping of the slices afterwards")
            .open(),
        ClauseDecl::optional(
            "time",
            ClauseKind::body::<Expr>(&MAP),
            "mapping of the time steps afterwards; as before if absent",
        )
        .open(),
    ],
    results: &["stream"],
    effects: Effects::PURE,
    infer: Some(|op| next(op, &INTER, None)),
    verify: Some(verify),
    example: "%r = stream.vector_inter_slice_reduce Add %i slice [A / 8, 1 # 4]",
    interfaces: &[
        Interface(&rngd::VECTOR),
        Interface(&Semantics(|cx, op| between_slices(cx, op, reduction(op)?))),
        Interface(&Formula::Call(function)),
        Interface(&DropsAxes::BySum),
        Interface(&SumsAlong(|op, axes| over(op, axes).map_or(Along::LackingInSlices, Along::Named))),
        Interface(&LowerStage(lower)),
    ],
    ..OpDecl::BASE
};

/// The operations of this file.
pub static OPS: &[&OpDecl] = &[&DECL];

/// The stages that it may follow (book 25).
const AFTER: [VectorStage; 7] = [
    VectorStage::Branch,
    VectorStage::Logic,
    VectorStage::Fxp,
    VectorStage::FxpToFp,
    VectorStage::Widen,
    VectorStage::FpToFxp,
    VectorStage::Clip,
];

/// The operation that two elements are reduced by: C1.
fn reduction(op: OpRef<'_>) -> Result<&'static ReduceOp, Diagnostic> {
    let (name, dtype) = (VectorInterSliceReduce::of(op)?.op()?, input(op)?.dtype);
    reduce_op(name, dtype).ok_or_else(|| {
        let able: Vec<_> =
            reduce_ops().filter(|row| row.name == name).map(|row| format!("`{}`", row.dtype)).collect();
        op.clause_error(
            "C1",
            "op",
            format!("`{name}` works on {}, the stream is `{dtype}`", able.join(" and ")),
        )
    })
}

fn verify(op: OpRef<'_>, cx: &VerifyCx<'_>) -> Result<(), Diagnostic> {
    let axes = &axes(cx).0;
    check_mappings(op, axes)?;
    check_first_slices(op, cx, "C9")?;
    reduction(op)?;
    check_place(op)?;
    let source = input(op)?;
    let Some(result) = op.result_type::<Tensor>(0) else { return Ok(()) };
    check_dimension(op, &result, Dim::Slice, machine(op).topology.slices_per_cluster, axes, "C2")?;
    let free = free_axes(op, cx, 0);
    planned::<InterSlice>(op, cx)?;
    check_over(&Reduction { op, source: &source, result: &result, free: &free, axes })
}

/// The axes that `op` reduces, if it lists them.
#[must_use]
pub fn over(op: OpRef<'_>, axes: &Axes) -> Option<BTreeSet<AxisId>> {
    written(op, "over").map(|over| ids(&over, axes))
}

fn ids(map: &Expr, axes: &Axes) -> BTreeSet<AxisId> {
    map.axis_names(axes).iter().filter_map(|name| axes.id(name)).collect()
}

/// C8.
fn check_over(reduction: &Reduction<'_>) -> Result<(), Diagnostic> {
    let Reduction { op, result, axes, .. } = *reduction;
    let Some(over) = over(op, axes) else { return Ok(()) };
    if let Some(&extra) = reduction.axes()?.difference(&over).next() {
        let over: Vec<&str> = over.iter().map(|&axis| axes.name(axis)).collect();
        let message = format!(
            "axis `{}` is reduced, which `over [{}]` does not name",
            axes.name(extra),
            over.join(", ")
        );
        return Err(op.clause_error("C8", "slice", message));
    }
    for dim in [Dim::Slice, Dim::Time, Dim::Packet] {
        let map = result.dim(dim);
        if let Some(&left) = ids(&map, axes).intersection(&over).next() {
            let (name, dim) = (axes.name(left), dim.name());
            let message =
                format!("axis `{name}` is to be reduced (`over`), but {dim} `{map}` keeps some of it");
            return Err(op
                .clause_error("C8", "over", message)
                .fix(Some(format!("leave `{name}` out of {dim}"))));
        }
    }
    Ok(())
}

/// C7.
fn check_place(op: OpRef<'_>) -> Result<(), Diagnostic> {
    if let Some(first) = of_pass(op) {
        let fix = "commit and start another pass for one of them".to_owned();
        let error = op.error("C7", "slices are reduced a second time in this pass");
        return Err(error.note("they are reduced here", Some(first.span())).fix(Some(fix)));
    }
    match stage_before(op) {
        Some(stage) if !AFTER.contains(&stage) => {
            Err(op.error("C7", format!("slices cannot be reduced after the stage {stage}")))
        }
        Some(_) | None => Ok(()),
    }
}

/// The inter-slice reduction that the pass begins with, before `op`.
fn of_pass(op: OpRef<'_>) -> Option<OpRef<'_>> {
    earlier(op).last()?.operand_def(0).filter(|first| first.is(&DECL))
}

/// Returns true if `op`, an inter-slice reduction, follows stages of its pass.
#[must_use]
pub fn stands_last(op: OpRef<'_>) -> bool {
    op.is(&DECL) && earlier(op).next().is_some()
}

fn lower(cx: &StageCx<'_>, op: OpRef<'_>) -> Result<Option<OpSpec>, Diagnostic> {
    let InterSlice { bits, promotion } = &*cx.plan::<InterSlice>(op)?;
    let promotion = promotion.as_ref();
    let lowered = hw::vector_inter_reduce::VectorInterReduce::build(op)
        .op(VectorInterSliceReduce::of(op)?.op()?)
        .bits(distance(*bits))
        .parts(promotion.map(|promotion| distance(promotion.parts)))
        .packets(promotion.map(|promotion| distance(promotion.packets)))
        .width(promotion.map(|promotion| distance(promotion.width)));
    Ok(Some(lowered.spec()))
}
