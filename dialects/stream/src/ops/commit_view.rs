//! `stream.commit_view`: the commit engine overwrites a part of a tensor in data memory (book 09).

use crate::chain::{axes, given, input};
use crate::commit::{Whole, Write, zeros_kept};
use crate::lower::{LowerStage, loops};
use crate::ops::commit::check_slices;
use crate::pipeline;
use crate::plan::Plan;
use crate::planner::{Planner, StagePlan, planned};
use crate::raise::asked::WritesPart;
use crate::raise::result;
use visa_algebra::{Axes, Expr, Index, describe, first_missing};
use visa_engine::place::rngd;
use visa_ir::decl::{ClauseDecl, ClauseKind, Interface, OpDecl, OperandDecl};
use visa_ir::diag::{Diagnostic, counted};
use visa_ir::effects::{Effects, Target, writes};
use visa_ir::module::{OpRef, TypeId};
use visa_ir::verify::VerifyCx;
use visa_machine::Machine;
use visa_mapping::error::mapping_error;
use visa_mapping::facts::{Introduces, check_mappings, machine};
use visa_mapping::raise::moves::overwritten;
use visa_mapping::raise::{Raising, Semantics};
use visa_mapping::tensor::attrs::MAP;
use visa_mapping::view::part_start;
use visa_mapping::{DM, Dim, Tensor, make, operand, view};

/// `stream.commit_view`.
#[visa_ir::view(CommitView)]
pub static DECL: OpDecl = OpDecl {
    name: "stream.commit_view",
    summary: "Ends a pipeline: overwrites a part of a tensor in data memory.",
    doc: "The result is `tensor` with the elements that `element` holds replaced by the stream's. It has the \
          address of `tensor`: if anything still needs `tensor` after this operation, the pipeline itself \
          included, it overlaps the result and is refused. The part has the tensor's own indices, and pads inner \
          terms to the tensor's sizes, like `tm.slice`: `[A @ 1024, B]` of `[A, B]`, `[A, B @ 8 = 8 # 32]` of \
          `[A, B = 32]`. Only slices that the stream holds are written; `slice` leaves out more of them (slice \
          bitmap).",
    constraints: &[
        ("C1", "`tensor` is no view, and has the stream's number format"),
        (
            "C2",
            "`tensor` holds, at every live position of the part, the same index; so do its chip, cluster and \
             slice mappings for the stream's",
        ),
        ("C3", "the part starts a multiple of 8 bytes into the tensor (book 09)"),
        (
            "C4",
            "8, 16, 24 or 32 leading bytes of a flit are kept; every live element of the part is written once, \
             and nothing else but the tensor's don't-care padding (book 09, 33)",
        ),
        (
            "C5",
            "`slice` has a position for each slice of a cluster, and the stream holds in every live one the same \
             (book 09)",
        ),
    ],
    operands: &[
        OperandDecl::accepting("stream", pipeline::after!(&rngd::COMMIT)),
        OperandDecl::one("tensor", &["tm.dm"]),
    ],
    clauses: &[
        ClauseDecl::optional(
            "slice",
            ClauseKind::body::<Expr>(&MAP),
            "mapping of the written slices: a part of the stream's",
        ),
        ClauseDecl::required(
            "element",
            ClauseKind::body::<Expr>(&MAP),
            "the part's layout within a slice, in elements",
        ),
    ],
    results: &["tensor"],
    effects: Effects::Are(&[writes(Target::Operand("tensor"))]),
    infer: Some(infer),
    verify: Some(verify),
    example: "%z = stream.commit_view %n, %y element [A @ 1024, B]",
    interfaces: &[
        Interface(&rngd::COMMIT),
        Interface(&Semantics(raised)),
        Interface(&WritesPart(part)),
        Interface(&LowerStage(|cx, op| loops::commit(cx, op, &cx.plan::<PartPlan>(op)?.0))),
        Interface(&Introduces(&["slice", "element"])),
    ],
    ..OpDecl::BASE
};

/// The operations of this file.
pub static OPS: &[&OpDecl] = &[&DECL];

fn whole(op: OpRef<'_>) -> Result<std::rc::Rc<Tensor>, Diagnostic> {
    operand(op, 1).ok_or_else(|| op.error("C1", "operand 1 is no tensor"))
}

fn infer(op: OpRef<'_>) -> Result<Vec<TypeId>, Diagnostic> {
    Ok(vec![make(op.ctx, (*whole(op)?).clone())])
}

/// The part as a tensor by itself.
///
/// # Errors
/// If an operand is no tensor.
pub fn part(op: OpRef<'_>) -> Result<Tensor, Diagnostic> {
    let source = input(op)?;
    Tensor::build(&DM, None, source.dtype, &given(op, &[Dim::Slice, Dim::Element]), &source)
        .map_err(|dim| op.error("C2", format!("the {dim} mapping is not known")))
}

fn verify(op: OpRef<'_>, cx: &VerifyCx<'_>) -> Result<(), Diagnostic> {
    let axes = &axes(cx).0;
    check_mappings(op, axes)?;
    let (source, whole) = (input(op)?, whole(op)?);
    if op.operand_def(1).is_some_and(|def| view::kind(def).is_some()) {
        let error = op.error("C1", "the tensor is a view: elements outside of the view would change too");
        return Err(error.fix(Some("commit into the view's source, with the part as `element`".to_owned())));
    }
    if source.dtype != whole.dtype {
        return Err(op.error("C1", format!("the stream is `{}`, the tensor `{}`", source.dtype, whole.dtype)));
    }
    let part = part(op)?;
    check_slices(op, &source, &part, axes, "C5")?;
    for dim in [Dim::Chip, Dim::Cluster, Dim::Slice] {
        check_held(op, &part.dim(dim), &whole.dim(dim), 0, axes)?;
    }
    let machine = machine(op);
    // The write is checked position by position. A tensor that does not fit its memory is refused where it is made.
    if whole.dim_bytes(Dim::Element, axes).is_none_or(|bytes| bytes > machine.memory.dm_bytes_per_slice) {
        return Ok(());
    }
    planned::<PartPlan>(op, cx).map(drop)
}

/// The loops of a write into a part of a tensor, from the tensor's first element on.
pub struct PartPlan(pub Plan);

impl StagePlan for PartPlan {
    fn make(planner: &Planner<'_>, op: OpRef<'_>) -> Result<Self, Diagnostic> {
        plan(op, &*input(op)?, &*whole(op)?, planner.axes, planner.machine).map(Self)
    }
}

/// C2: `whole` holds the content of `part` at a position `start` positions further.
pub(crate) fn check_held(
    op: OpRef<'_>,
    part: &Expr,
    whole: &Expr,
    start: u64,
    axes: &Axes,
) -> Result<(), Diagnostic> {
    let missing = first_missing(part, &Index::new(), whole, start, axes);
    let Some(at) = missing.map_err(|error| mapping_error(error, op.clause_span("element")))? else {
        return Ok(());
    };
    let cell = |map: &Expr, at: u64| describe(visa_algebra::map(map, axes, at).as_ref(), axes);
    let (ours, theirs) = (cell(part, at), cell(whole, start + at));
    let message = format!(
        "`{part}` holds {ours} at position {at}, but `{whole}` holds {theirs} {} further",
        counted(start, "position")
    );
    Err(op.clause_error("C2", "element", message))
}

/// C2 to C4.
fn plan(
    op: OpRef<'_>,
    source: &Tensor,
    whole: &Tensor,
    axes: &Axes,
    machine: &Machine,
) -> Result<Plan, Diagnostic> {
    let (part, whole) = (part(op)?.dim(Dim::Element), whole.dim(Dim::Element));
    let start = part_start(&part, &whole, axes).map_err(|why| op.clause_error("C2", "element", why))?;
    check_held(op, &part, &whole, start, axes)?;
    let (bits, align) =
        (start.saturating_mul(u64::from(source.dtype.bits())), machine.limits.commit_stride_align);
    let bytes = bits / 8;
    if !bits.is_multiple_of(align * 8) {
        let message = format!(
            "`{part}` starts {} into `{whole}`, expected a multiple of {align} (book 09)",
            counted(bytes, "byte")
        );
        return Err(op.clause_error("C3", "element", message));
    }
    let write = Write {
        element: &part,
        time: &source.dim(Dim::Time),
        packet: &source.dim(Dim::Packet),
        dtype: source.dtype,
        unit: source.unit,
        sizes: &machine.limits.commit_sizes,
        axes,
        zeros: zeros_kept(op)?,
        into: Some(Whole { element: &whole, start }),
    };
    write.plan().map_err(|why| op.clause_error("C4", "element", why))
}

/// Operand 1, the elements of a part of it replaced by those of operand 0.
fn raised(cx: &mut Raising<'_>, op: OpRef<'_>) -> Result<(), Diagnostic> {
    let (part, to) = (part(op)?, result(op)?);
    let (new, old) = (cx.held(op, 0, &part)?, cx.held(op, 1, &to)?);
    overwritten(cx, op, new, old, &part)
}
