//! `stream.commit`: the commit engine writes data memory (book 09).

use crate::chain::{axes, check_stored, ends, given, input, with_dims};
use crate::commit::{Write, check_aligned, zeros_kept};
use crate::lower::{LowerStage, loops};
use crate::pipeline;
use crate::plan::Plan;
use crate::planner::{Planner, StagePlan, planned};
use visa_algebra::{Axes, Expr, Index, describe, first_missing};
use visa_engine::place::rngd;
use visa_ir::decl::{ClauseDecl, ClauseKind, Interface, OpDecl, OperandDecl};
use visa_ir::diag::Diagnostic;
use visa_ir::effects::{Effects, Target, allocates, writes};
use visa_ir::module::{OpRef, TypeId};
use visa_ir::verify::VerifyCx;
use visa_mapping::error::mapping_error;
use visa_mapping::facts::address::{THEN, check_addresses, further};
use visa_mapping::facts::{check_mappings, machine};
use visa_mapping::ops::transfer::check_dimension;
use visa_mapping::raise::Semantics;
use visa_mapping::raise::moves::same;
use visa_mapping::tensor::attrs::MAP;
use visa_mapping::{DM, Dim, Tensor};

/// `stream.commit`.
#[visa_ir::view(Commit)]
pub static DECL: OpDecl = OpDecl {
    name: "stream.commit",
    summary: "Ends a pipeline: writes each slice's elements to data memory.",
    doc: "Keeps the leading 8, 16, 24 or 32 bytes of each flit and writes them in any order that a sequencer can \
          walk. How many bytes are kept and how they are cut into writes follows from the element mapping. Zero \
          padding that the stream has from its fetch, and `element` has in the same words, is written along as \
          zeros. A gathered term of time writes by an offset table: `[R @ (2, 0, 1)]` into `[R]` restores an order \
          that was changed by a read (book 07). Only slices that hold something are written; `slice` leaves out \
          more of them (slice bitmap).",
    constraints: &[
        ("C1", "the address is a multiple of 8 and the tensor fits a slice (book 04, 09)"),
        (
            "C2",
            "8, 16, 24 or 32 leading bytes of a flit are kept; every live element of the result is written once, \
             and nothing else but its don't-care padding (book 09, 33)",
        ),
        (
            "C3",
            "`slice` has a position for each slice of a cluster, and the stream holds in every live one the same \
             (book 09)",
        ),
        ("C4", "the elements are not i5 or i9, whose sideband bit data memory does not hold (book 19)"),
    ],
    operands: &[OperandDecl::accepting("stream", pipeline::after!(&rngd::COMMIT))],
    clauses: &[
        ClauseDecl::required("at", ClauseKind::Int, "address in every slice, in bytes").open_address(),
        THEN,
        ClauseDecl::optional(
            "slice",
            ClauseKind::body::<Expr>(&MAP),
            "mapping of the written slices: a part of the stream's",
        ),
        ClauseDecl::required(
            "element",
            ClauseKind::body::<Expr>(&MAP),
            "the layout within a slice, in elements",
        )
        .open(),
    ],
    results: &["tensor"],
    effects: Effects::Are(&[allocates(Target::Memory("tm.dm")), writes(Target::Memory("tm.dm"))]),
    infer: Some(infer),
    verify: Some(verify),
    example: "%y = stream.commit %n at 8192, element [1 # 4]",
    interfaces: &[
        Interface(&rngd::COMMIT),
        Interface(&Semantics(same)),
        Interface(&LowerStage(|cx, op| loops::commit(cx, op, &cx.plan::<CommitPlan>(op)?.0))),
    ],
    ..OpDecl::BASE
};

/// The operations of this file.
pub static OPS: &[&OpDecl] = &[&DECL];

fn infer(op: OpRef<'_>) -> Result<Vec<TypeId>, Diagnostic> {
    let source = input(op)?;
    let given = given(op, &[Dim::Slice, Dim::Element]);
    with_dims(op, &DM, None, source.dtype, &given, &source)
}

fn verify(op: OpRef<'_>, cx: &VerifyCx<'_>) -> Result<(), Diagnostic> {
    let axes = &axes(cx).0;
    check_mappings(op, axes)?;
    let source = input(op)?;
    let Some(result) = op.result_type::<Tensor>(0) else { return Ok(()) };
    check_stored(op, &source, "C4")?;
    let machine = machine(op);
    let at = Commit::of(op)?.at_unless_auto()?;
    let mut all = std::iter::once(at).chain(further(op));
    all.try_for_each(|at| check_aligned(op, at, machine.limits.commit_stride_align, "C1"))?;
    check_addresses(op, &result, at, machine.memory.dm_bytes_per_slice, axes, "C1")?;
    check_slices(op, &source, &result, axes, "C3")?;
    planned::<CommitPlan>(op, cx).map(drop)
}

/// The loops of a write into a new tensor.
pub struct CommitPlan(pub Plan);

impl StagePlan for CommitPlan {
    fn make(planner: &Planner<'_>, op: OpRef<'_>) -> Result<Self, Diagnostic> {
        let (source, result) = ends(op)?;
        let write = Write {
            element: &result.dim(Dim::Element),
            time: &source.dim(Dim::Time),
            packet: &source.dim(Dim::Packet),
            dtype: result.dtype,
            unit: source.unit,
            sizes: &planner.machine.limits.commit_sizes,
            axes: planner.axes,
            zeros: zeros_kept(op)?,
            into: None,
        };
        write.plan().map(Self).map_err(|why| op.clause_error("C2", "element", why))
    }
}

/// Checks the slice bitmap: the written data, a stream or a part of a tensor, is the same in every slice that is live
/// in `result`.
pub(crate) fn check_slices(
    op: OpRef<'_>,
    source: &Tensor,
    result: &Tensor,
    axes: &Axes,
    constraint: &str,
) -> Result<(), Diagnostic> {
    check_dimension(op, result, Dim::Slice, machine(op).topology.slices_per_cluster, axes, constraint)?;
    let (kept, held) = (result.dim(Dim::Slice), source.dim(Dim::Slice));
    let missing = first_missing(&kept, &Index::new(), &held, 0, axes);
    let Some(at) = missing.map_err(|error| mapping_error(error, op.clause_span("slice")))? else {
        return Ok(());
    };
    let cell = |map: &Expr| describe(visa_algebra::map(map, axes, at).as_ref(), axes);
    let whose = if source.kind.stream { "stream's" } else { "tensor's" };
    let message = format!(
        "`{kept}` holds {} in slice {at}, where the {whose} `{held}` holds {}",
        cell(&kept),
        cell(&held)
    );
    Err(op.clause_error(constraint, "slice", message))
}
