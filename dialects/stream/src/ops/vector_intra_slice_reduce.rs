//! `stream.vector_intra_slice_reduce`: the Reduce stage of the vector engine (books 22, 23).

use crate::branch::GIVES_NONE;
use crate::chain::{axes, check_first_slices, input, next};
use crate::forgotten::DropsAxes;
use crate::formula::{Formula, function};
use crate::lower::{LowerStage, StageCx};
use crate::ops::contract::slots;
use crate::planner::{Planner, StagePlan, planned};
use crate::raise::asked::{Along, SumsAlong};
use crate::raise::reduction::within_slice;
use crate::reduce::{Reduction, axis_of, padding_is_identity, reduction, row};
use crate::streams::VECTOR4;
use crate::valid_count::{Counting, Placement, counting};
use crate::vector::{Station, check_order, earlier, station};
use visa_algebra::{Axes, Expr};
use visa_engine::place::rngd;
use visa_engine::words::ReducedLanes;
use visa_hw::{ops as hw, valid_count as registers};
use visa_ir::decl::{ClauseDecl, ClauseKind, Interface, OpDecl, OperandDecl};
use visa_ir::diag::Diagnostic;
use visa_ir::effects::Effects;
use visa_ir::module::{OpRef, OpSpec};
use visa_ir::verify::VerifyCx;
use visa_loops::distance;
use visa_machine::Machine;
use visa_mapping::Tensor;
use visa_mapping::facts::check_mappings;
use visa_mapping::raise::{Raising, Semantics};
use visa_mapping::tensor::attrs::MAP;
use visa_numerics::{SliceReduceName, VectorStage};

/// `stream.vector_intra_slice_reduce`.
#[visa_ir::view(VectorIntraSliceReduce)]
pub static DECL: OpDecl = OpDecl {
    name: "stream.vector_intra_slice_reduce",
    summary: "Reduces an axis within each slice, 4 lanes wide.",
    doc: "Every factor of the axis leaves time and packet; the slices' part of it stays, and each slice reduces its \
          part (book 22). A packet that holds the axis is reduced by a tree, neighbours first, into its first lane; \
          packets then follow in time order. Padding of the axis takes no part: it counts as the identity element \
          of the operation. Either it is that element already, zeros of the fetch in a sum, or the Valid Count \
          Generator at the engine's entry leaves it out, as the mappings there tell it (book 23); if it cannot, the \
          message of C7 has the fix.",
    constraints: &[
        ("C1", "AddSat, Max and Min of i32, Add, Max and Min of f32 (book 22)"),
        ("C2", "`axis` is one axis that time or packet has (book 22)"),
        ("C3", "time is the stream's without the factors of the axis, and nothing else is missing (book 22)"),
        (
            "C4",
            "the packet is the stream's, or, where that holds the axis, nothing but the axis, and `1 # 4` (book \
             22)",
        ),
        (
            "C5",
            "at most 8 accumulator slots: positions of other factors inside the outermost factor of the axis in \
             time (book 22)",
        ),
        ("C6", "the stages follow the engine's order, and each is used once a pass (book 21)"),
        (
            "C7",
            "padding of the axis is the identity element, or a valid count excludes it (books 22, 23, 24)",
        ),
        ("C8", "with a valid count, the stream's slices begin with the first: it counts by slices (book 23)"),
    ],
    operands: &[OperandDecl::one("stream", &["stream.vector4"])],
    clauses: &[
        ClauseDecl::lead("op", ClauseKind::word::<SliceReduceName>(), "the function of two elements"),
        ClauseDecl::required("axis", ClauseKind::body::<Expr>(&MAP), "the axis that is reduced, as `[R]`"),
        ClauseDecl::required("time", ClauseKind::body::<Expr>(&MAP), "time without the axis").open(),
        ClauseDecl::required("packet", ClauseKind::body::<Expr>(&MAP), "the packet without the axis").open(),
    ],
    results: &["stream"],
    effects: Effects::PURE,
    infer: Some(|op| next(op, &VECTOR4, None)),
    verify: Some(verify),
    example: "%r = stream.vector_intra_slice_reduce Max %n axis [R], time [1], packet [1 # 4]",
    interfaces: &[
        Interface(&rngd::VECTOR),
        Interface(&Semantics(raised)),
        Interface(&Formula::Call(function)),
        Interface(&DropsAxes::BySum),
        Interface(&SumsAlong(|op, axes| Along::Named(axis_of(op, axes).into_iter().collect()))),
        Interface(&LowerStage(lower)),
        Interface(&Station(VectorStage::Reduce)),
        GIVES_NONE,
    ],
    ..OpDecl::BASE
};

/// The operations of this file.
pub static OPS: &[&OpDecl] = &[&DECL];

fn verify(op: OpRef<'_>, cx: &VerifyCx<'_>) -> Result<(), Diagnostic> {
    let axes = &axes(cx).0;
    check_mappings(op, axes)?;
    check_order(op, VectorStage::Reduce, "C6")?;
    if let Some(first) = earlier(op).find(|&earlier| earlier.is(&DECL)) {
        let message = "a pass reduces once within the slice";
        let fix = "commit and start another pass".to_owned();
        return Err(op.error("C6", message).note("it reduces here", Some(first.span())).fix(Some(fix)));
    }
    match planned::<ReducePlan>(op, cx)?.counting {
        Some(_) => check_first_slices(op, cx, "C8"),
        None => Ok(()),
    }
}

/// A reduction, and how it leaves padding out.
pub struct ReducePlan {
    /// The reduction.
    pub reduction: Reduction,
    /// The counts of the Valid Count Generator; `None` if no element has to be left out.
    pub counting: Option<Counting>,
}

impl StagePlan for ReducePlan {
    fn make(planner: &Planner<'_>, op: OpRef<'_>) -> Result<Self, Diagnostic> {
        let reduction = reduction(op, planner.axes)?;
        let counting = valid_count(op, &reduction, planner.axes, planner.machine)?;
        Ok(Self { reduction, counting })
    }
}

/// The operation that enters the block of stages that `op` is in: where the Valid Count Generator works.
fn entry(op: OpRef<'_>) -> Option<OpRef<'_>> {
    earlier(op).find(|&earlier| station(earlier) == Some(VectorStage::Branch))
}

/// The configuration of the Valid Count Generator for `op`; `None` where nothing has to be left out. C7.
fn valid_count(
    op: OpRef<'_>,
    reduction: &Reduction,
    axes: &Axes,
    machine: &Machine,
) -> Result<Option<Counting>, Diagnostic> {
    let Some(entry) = entry(op).and_then(|entry| entry.result_type::<Tensor>(0)) else { return Ok(None) };
    if padding_is_identity(op, reduction, axes)? {
        return Ok(None);
    }
    let wide = machine.limits.vector_lanes;
    let trimmed = earlier(op).any(|earlier| earlier.is(&crate::ops::vector_lanes::TRIM_DECL));
    let lanes = if trimmed { wide / 2 } else { wide };
    let placement = Placement { entry: &entry, axis: reduction.axis, lanes, axes, machine };
    counting(&placement).map_err(|refusal| op.clause_error("C7", "axis", refusal.message).fix(refusal.fix))
}

/// The reduction within the slice of a pipeline, if it has one.
#[must_use]
pub fn in_chain<'a>(chain: &[OpRef<'a>]) -> Option<OpRef<'a>> {
    chain.iter().copied().find(|op| op.is(&DECL))
}

/// Returns true if the Valid Count Generator is before `op`: the entry of the block in which `reduce` is.
#[must_use]
pub fn enters(op: OpRef<'_>, reduce: OpRef<'_>) -> bool {
    entry(reduce).is_some_and(|entry| entry.id == op.id)
}

/// Operand 0 without the part of the axis that time and packet hold.
fn raised(cx: &mut Raising<'_>, op: OpRef<'_>) -> Result<(), Diagnostic> {
    let (row, axis) = (row(op, &*input(op)?)?, axis_of(op, cx.axes)?);
    within_slice(cx, op, row, axis)
}

fn lower(cx: &StageCx<'_>, op: OpRef<'_>) -> Result<Option<OpSpec>, Diagnostic> {
    let reduce = cx.plan::<ReducePlan>(op)?;
    let Reduction { loops, tree, .. } = &reduce.reduction;
    let lowered = hw::vector_reduce::VectorReduce::build(op)
        .op(VectorIntraSliceReduce::of(op)?.op()?)
        .lanes(if *tree { ReducedLanes::Tree } else { ReducedLanes::Apart })
        .slots(slots(op, loops)?);
    Ok(Some(lowered.spec()))
}

/// Lowers the Valid Count Generator in front of `op`, if a reduction of the pipeline `chain` requires it there.
///
/// # Errors
/// C7 of the reduction.
pub fn lower_valid_count(
    cx: &StageCx<'_>,
    op: OpRef<'_>,
    chain: &[OpRef<'_>],
) -> Result<Option<OpSpec>, Diagnostic> {
    let Some(reduce) = in_chain(chain).filter(|&reduce| enters(op, reduce)) else {
        return Ok(None);
    };
    let Some(counting) = cx.plan::<ReducePlan>(reduce)?.counting.clone() else { return Ok(None) };
    let (counters, packet, gates) = valid_count_registers(counting);
    let lowered = hw::vector_valid_count::VectorValidCount::build(reduce)
        .counters(counters)
        .packet(packet.map(distance))
        .gates(Some(gates).filter(|gates| !gates.0.is_empty()));
    Ok(Some(lowered.spec()))
}

/// The registers of the Valid Count Generator: counters, valid elements along the packet dimension, gates.
#[must_use]
pub fn valid_count_registers(counting: Counting) -> (registers::Counters, Option<u64>, registers::Gates) {
    (registers::Counters(counting.counters), counting.packet, registers::Gates(counting.gates))
}
