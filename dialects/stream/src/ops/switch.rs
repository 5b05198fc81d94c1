//! `stream.switch`: the switch engine moves packets between slices (book 13).

use crate::chain::{axes, check_first_slices, check_skewed, input, next, with_dims};
use crate::held::FreeParts;
use crate::lower::{LowerStage, StageCx};
use crate::pipeline;
use crate::planner::planned;
use crate::snoop::Snooping;
use crate::streams::SWITCH;
use crate::topology::{Topology, same, same_slices};
use visa_algebra::Expr;
use visa_engine::place::rngd;
use visa_engine::words::TopologyName;
use visa_hw::ops as hw;
use visa_hw::snoop::Snoop;
use visa_ir::decl::{ClauseDecl, ClauseKind, Interface, OpDecl, OperandDecl};
use visa_ir::diag::{Diagnostic, counted};
use visa_ir::effects::Effects;
use visa_ir::module::{OpRef, OpSpec, TypeId};
use visa_ir::verify::VerifyCx;
use visa_loops::distance;
use visa_mapping::error::mapping_error;
use visa_mapping::facts::{check_mappings, machine, written};
use visa_mapping::ops::transfer::{check_dimension, free_axes};
use visa_mapping::raise::{Semantics, moves};
use visa_mapping::tensor::attrs::MAP;
use visa_mapping::{Dim, Tensor};

/// `stream.switch`.
#[visa_ir::view(Switch)]
pub static DECL: OpDecl = OpDecl {
    name: "stream.switch",
    summary: "Redistributes packets between slices by a topology.",
    doc: "The topology reads the slices as [slice2, slice1, slice0] and computes slice | time (book 13), outermost \
          first. A number stands for a broadcast; axes that the tensor does not depend on and that the stream does \
          not hold yet may replace it. Axes that it holds keep the position that the topology gives them, also if \
          the tensor does not depend on them:\n\n\
          | topology | time before | slice after | time after |\n\
          |---|---|---|---|\n\
          | `forwarding` | time | as before | as before |\n\
          | `broadcast01` | [time1, time0] | [slice2, n1, n0] | [time1, slice1, time0, slice0] |\n\
          | `broadcast1` | time | [slice2, n1, slice0] | [time, slice1] |\n\
          | `transpose` | time | [slice2, slice0, slice1] | time |\n\
          | `inter_transpose` | [time2, time1, time0] | [slice2, time1, slice0] | [time2, time0, slice1] |\n\
          | `transposed_broadcast1` | time | [slice2, n0, slice1] | [time, slice0] |\n\
          | `custom` | time | any | [time, moved part] |\n\n\
          The result's mappings follow; `slice` and `time` may write them differently. A `custom` switch requires \
          them, and its ring size and snoop bitmap follow: a slice outputs, for each time step, a packet of each \
          slice that it snoops, in the order of the slices. Its bitmap has to be written to registers, while DMA \
          and the sub context wait.\n\n\
          Packets pass through unchanged. Without a switch, packets stay in their slice: go straight to \
          `stream.collect`.",
    constraints: &[
        (
            "C1",
            "sizes of rings and of their parts are powers of two and divide the slices; time0, for \
             inter_transpose slice1 x time0, divides time (book 13)",
        ),
        (
            "C2",
            "the slice mapping has 256 positions, and holds the topology's result, or don't-care padding (book 13)",
        ),
        ("C3", "the time mapping holds the topology's result (book 13)"),
        (
            "C4",
            "a topology has its own parameters: slice1 and slice0, time0 for broadcast01 and inter_transpose, \
             ring for custom, none for forwarding; custom has slice and time written (book 13)",
        ),
        (
            "C5",
            "custom: time is the time before, with the part that moves from the slices innermost (book 13)",
        ),
        ("C6", "custom: the part that moves into time keeps the order that it has in the slices (book 13)"),
        ("C7", "custom: every slice receives the packet of some slice, in every step"),
        (
            "C8",
            "custom: every slice's packets arrive somewhere; only the part that moves into time may be cut, not all \
             of it (book 13)",
        ),
        ("C9", "custom: a slice receives a packet once"),
        ("C10", "custom: the ring is as large as the way of the packets needs (book 13)"),
        ("C11", "the stream's slices begin with the first: rings are of certain slices (book 13)"),
    ],
    operands: &[OperandDecl::accepting("stream", pipeline::after!(&rngd::SWITCH))],
    clauses: &[
        ClauseDecl::lead("topology", ClauseKind::word::<TopologyName>(), "how packets travel").open(),
        ClauseDecl::optional("slice1", ClauseKind::Int, "outer ring slices").open(),
        ClauseDecl::optional("slice0", ClauseKind::Int, "inner ring slices").open(),
        ClauseDecl::optional(
            "time0",
            ClauseKind::Int,
            "time steps between the two moved parts, or inside the one that moves",
        )
        .open(),
        ClauseDecl::optional(
            "ring",
            ClauseKind::Int,
            "slices of a custom ring; the smallest that does if absent",
        )
        .open(),
        ClauseDecl::optional("slice", ClauseKind::body::<Expr>(&MAP), "mapping of the slices afterwards")
            .open(),
        ClauseDecl::optional("time", ClauseKind::body::<Expr>(&MAP), "mapping of the time steps afterwards")
            .open(),
    ],
    results: &["stream"],
    effects: Effects::PURE,
    infer: Some(infer),
    verify: Some(verify),
    example: "%s = stream.switch broadcast01 %f slice1 256, slice0 1, time0 1, slice [I], time [1 # 256]",
    interfaces: &[
        Interface(&rngd::SWITCH),
        Interface(&Semantics(moves::same)),
        Interface(&LowerStage(lower)),
    ],
    ..OpDecl::BASE
};

/// The operations of this file.
pub static OPS: &[&OpDecl] = &[&DECL];

fn infer(op: OpRef<'_>) -> Result<Vec<TypeId>, Diagnostic> {
    let (slice, time) = (written(op, "slice"), written(op, "time"));
    if slice.is_some() && time.is_some() {
        return next(op, &SWITCH, None);
    }
    let source = input(op)?;
    // A custom switch without its mappings is refused by `Topology::read`.
    let Some(topology) = Topology::read(op, machine(op).topology.slices_per_cluster)? else {
        return next(op, &SWITCH, None);
    };
    let made = topology.result(&source.dim(Dim::Slice), &source.dim(Dim::Time));
    let slice = slice.map_or(made.0, |slice| (*slice).clone());
    let time = time.map_or(made.1, |time| (*time).clone());
    with_dims(op, &SWITCH, source.unit, source.dtype, &[(Dim::Slice, slice), (Dim::Time, time)], &source)
}

fn verify(op: OpRef<'_>, cx: &VerifyCx<'_>) -> Result<(), Diagnostic> {
    let axes = &axes(cx).0;
    check_mappings(op, axes)?;
    check_first_slices(op, cx, "C11")?;
    let source = input(op)?;
    let Some(result) = op.result_type::<Tensor>(0) else { return Ok(()) };
    let slices = machine(op).topology.slices_per_cluster;
    let topology = Topology::read(op, slices)?;
    let (slice, time) = (source.dim(Dim::Slice), source.dim(Dim::Time));
    if let Some(topology) = &topology {
        let steps = time.size(axes).map_err(|error| mapping_error(error, op.clause_span("time")))?;
        let step = topology.time_step();
        if !steps.is_multiple_of(step) {
            let divisor = if step == topology.time0 {
                "time0 does".to_owned()
            } else {
                format!("slice1 x time0 = {step} does")
            };
            let message = format!("{divisor} not divide the {} of `{time}`", counted(steps, "time step"));
            return Err(op.clause_error("C1", "time0", message));
        }
    }
    check_dimension(op, &result, Dim::Slice, slices, axes, "C2")?;
    let free = free_axes(op, cx, 0);
    let Some(topology) = topology else {
        check_skewed(op, "C5", "time", [&source, &result], axes)?;
        return planned::<Snooping>(op, cx).map(drop);
    };
    let made = topology.result(&slice, &time);
    let refuse = |constraint: &'static str, dim: Dim| {
        move |why: String| op.clause_error(constraint, dim.name(), format!("{} mapping: {why}", dim.name()))
    };
    let (slices_found, time_found) = (result.dim(Dim::Slice), result.dim(Dim::Time));
    same_slices(&slices_found, &made.0, &free, axes).map_err(refuse("C2", Dim::Slice))?;
    same(&time_found, &made.1, &free, axes).map_err(refuse("C3", Dim::Time))?;
    let held = FreeParts::of(&slice, &time, &free, axes);
    held.check_slices(&slices_found, &made.0).map_err(refuse("C2", Dim::Slice))?;
    held.check_time(&time_found, &made.1).map_err(refuse("C3", Dim::Time))
}

fn lower(cx: &StageCx<'_>, op: OpRef<'_>) -> Result<Option<OpSpec>, Diagnostic> {
    let op = Switch::of(op)?;
    let topology = op.topology()?;
    let lowered = hw::switch::Switch::build(*op).topology(topology);
    Ok(Some(match topology {
        TopologyName::Custom => {
            let Snooping { ring, rows } = &*cx.plan::<Snooping>(*op)?;
            let rows = rows.clone();
            lowered.ring(Some(distance(*ring as u64))).snoop(Some(Snoop { rows })).spec()
        }
        TopologyName::Forwarding
        | TopologyName::Broadcast01
        | TopologyName::Broadcast1
        | TopologyName::Transpose
        | TopologyName::InterTranspose
        | TopologyName::TransposedBroadcast1 => {
            lowered.slice1(op.slice1()?).slice0(op.slice0()?).time0(op.time0()?).spec()
        }
    }))
}
