//! `stream.commit_packed`: the sub context writes the elements that counts mark as valid, without gaps (book 09, valid
//! count packing).

use crate::chain::{axes, check_same, check_stored, ends, input, packet_bytes, positions, with_dims};
use crate::commit::check_aligned;
use crate::forgotten::DropsAxes;
use crate::formula::Formula;
use crate::lower::{LowerStage, StageCx, address};
use crate::ops::vector_filter;
use crate::pipeline;
use crate::plan::digits_of;
use crate::planner::{Planner, StagePlan, planned};
use crate::raise::{by_id, constant, result};
use crate::streams::FILTERED;
use std::collections::BTreeMap;
use std::rc::Rc;
use visa_algebra::{Axes, Cell, Expr};
use visa_engine::place::rngd;
use visa_hw::ops as hw;
use visa_ir::decl::{ClauseDecl, ClauseKind, Interface, OpDecl, OperandDecl};
use visa_ir::diag::{Diagnostic, counted};
use visa_ir::effects::{Effects, Target, allocates, reads, writes};
use visa_ir::module::{OpRef, OpSpec, TypeId};
use visa_ir::verify::VerifyCx;
use visa_loops::{Entry, Program, distance};
use visa_mapping::facts::{Introduces, check_mappings, machine};
use visa_mapping::ops::func::check_place;
use visa_mapping::ops::sequence::Pack;
use visa_mapping::raise::{Raising, Semantics};
use visa_mapping::tensor::attrs::MAP;
use visa_mapping::{DM, Dim, Tensor, Unit, operand};
use visa_numerics::{Bits, DType, Guards};

/// `stream.commit_packed`.
#[visa_ir::view(CommitPacked)]
pub static DECL: OpDecl = OpDecl {
    name: "stream.commit_packed",
    summary: "Ends a pipeline: writes the elements of each flit that counts or a filter keep, one after the \
              other.",
    doc: "The count of each flit is the number of its leading elements to keep: from none, for a count below 0, to \
          all live ones. They are written without gaps, in the order of the stream, each slice by itself (book 09, \
          valid count packing). The result has one axis, the number of the element in that order; beyond the kept \
          elements, it is undefined.\n\n\
          After `stream.vector_filter` there are no counts: the elements of each flit that the filter keeps are \
          written (book 35, section 2.3).\n\n\
          Writes have 8 bytes; the last one is filled up with zeros.",
    constraints: &[
        ("C1", "with counts the context is sub (book 09); without them the stream comes out of a filter"),
        (
            "C2",
            "counts are i32, in the stream's chips, clusters and slices; one for each time step, in their order, \
             or one for all, as `[1 # 2]`",
        ),
        (
            "C3",
            "time has no padding; a packet is one flit at most; its live elements, of whole bytes each and not i5 \
             or i9, are its first",
        ),
        (
            "C4",
            "`element` is an axis that stream and counts do not have, of a multiple of 8 bytes, with room for \
             every live element",
        ),
        ("C5", "the address is a multiple of 8 and the tensor fits a slice (book 04, 09)"),
    ],
    operands: &[
        OperandDecl::accepting("stream", pipeline::after!(&rngd::PACK)),
        OperandDecl::optional("counts", &["tm.dm"]),
    ],
    clauses: &[
        ClauseDecl::required("at", ClauseKind::Int, "address in every slice, in bytes").open_address(),
        ClauseDecl::required(
            "element",
            ClauseKind::body::<Expr>(&MAP),
            "the axis that numbers the kept elements, as `[P]`",
        ),
    ],
    results: &["tensor"],
    effects: Effects::Are(&[
        reads(Target::Operand("counts")),
        allocates(Target::Memory("tm.dm")),
        writes(Target::Memory("tm.dm")),
    ]),
    infer: Some(infer),
    verify: Some(verify),
    example: "%y = stream.commit_packed %c, %n at 4096, element [P]",
    interfaces: &[
        Interface(&rngd::PACK),
        Interface(&Semantics(raised)),
        Interface(&Formula::Call(|_| Some("pack".to_owned()))),
        Interface(&DropsAxes::BySelection),
        Interface(&LowerStage(lower)),
        Interface(&Introduces(&["element"])),
    ],
    ..OpDecl::BASE
};

/// The operations of this file.
pub static OPS: &[&OpDecl] = &[&DECL];

/// The registers of the packing commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packing {
    /// Live elements of a packet.
    pub most: u64,
    /// Elements from the count of a packet to that of the next; 0 where one count holds for all. None after a
    /// filter.
    pub stride: Option<u64>,
    /// Elements that the result has room for.
    pub room: u64,
}

fn infer(op: OpRef<'_>) -> Result<Vec<TypeId>, Diagnostic> {
    let source = input(op)?;
    let element = (*CommitPacked::of(op)?.element()?).clone();
    with_dims(op, &DM, None, source.dtype, &[(Dim::Element, element)], &source)
}

fn verify(op: OpRef<'_>, cx: &VerifyCx<'_>) -> Result<(), Diagnostic> {
    let axes = &axes(cx).0;
    check_mappings(op, axes)?;
    let (machine, at) = (machine(op), CommitPacked::of(op)?.at_unless_auto()?);
    let Some(result) = op.result_type::<Tensor>(0) else { return Ok(()) };
    check_aligned(op, at, machine.limits.commit_stride_align, "C5")?;
    check_place(op, "at", &result, at, machine.memory.dm_bytes_per_slice, axes, "C5")?;
    planned::<Packing>(op, cx).map(drop)
}

impl StagePlan for Packing {
    fn make(planner: &Planner<'_>, op: OpRef<'_>) -> Result<Self, Diagnostic> {
        packing(op, planner.axes)
    }
}

/// The configuration of the commit engine. C1 to C4.
fn packing(op: OpRef<'_>, axes: &Axes) -> Result<Packing, Diagnostic> {
    let (source, counts) = (input(op)?, operand(op, 1));
    check_counted(op, &source, counts.is_some())?;
    let stride = counts.as_ref().map(|counts| count_stride(op, &source, counts, axes)).transpose()?;
    let most = live(op, &source, axes)?;
    let time = positions(op, Dim::Time, &source.dim(Dim::Time), axes)?;
    let room = room(op, &source, counts.as_deref(), time.saturating_mul(most), axes)?;
    Ok(Packing { most, stride, room })
}

/// C1.
fn check_counted(op: OpRef<'_>, source: &Tensor, counted: bool) -> Result<(), Diagnostic> {
    let filtered = source.is(&FILTERED);
    if counted && filtered {
        return Err(op
            .error("C1", "counts after a filter, which has its own")
            .fix(Some("leave out the counts".to_owned())));
    }
    if !counted && !filtered {
        let message = "neither counts nor a filter select the kept elements";
        let fix = "add counts, a `!tm.dm` of i32, or filter the stream: `stream.vector_filter`";
        return Err(op.error("C1", message).fix(Some(fix.to_owned())));
    }
    if counted && source.unit != Some(Unit::Sub) {
        let context = source.unit.unwrap_or(Unit::Main);
        let message = format!("valid count packing in the {context} context, which does not have it");
        let error = op.error("C1", message);
        return Err(error.fix(Some("begin the pipeline with `stream.begin sub`".to_owned())));
    }
    Ok(())
}

/// The filter before `op`, and the guards of its preserved elements.
fn filter(op: OpRef<'_>) -> Result<Option<Guards<Bits>>, Diagnostic> {
    op.operand_def(0).filter(|before| before.is(&vector_filter::DECL)).map(vector_filter::kept).transpose()
}

/// C2.
fn count_stride(op: OpRef<'_>, source: &Tensor, counts: &Tensor, axes: &Axes) -> Result<u64, Diagnostic> {
    if counts.dtype != DType::I32 {
        return Err(op.error("C2", format!("counts are `{}`, expected `{}`", counts.dtype, DType::I32)));
    }
    for dim in [Dim::Chip, Dim::Cluster, Dim::Slice] {
        check_same(op, "C2", dim.name(), &counts.dim(dim), &source.dim(dim), axes).map_err(|mut error| {
            error.message = format!("counts in other {}s: {}", dim.name(), error.message);
            error
        })?;
    }
    let (element, time) = (counts.dim(Dim::Element), source.dim(Dim::Time));
    let digits = digits_of(&element, axes).map_err(|why| op.error("C2", why))?;
    if digits.live_count() == Some(1) && matches!(digits.cell(0), Some(Cell::Live(index)) if index.is_empty())
    {
        return Ok(0);
    }
    let steps = positions(op, Dim::Time, &time, axes)?;
    let held = positions(op, Dim::Element, &element, axes)?;
    if held < steps {
        let message = format!(
            "counts `{element}` have {}, time `{time}` has {}",
            counted(held, "position"),
            counted(steps, "step")
        );
        return Err(op.error("C2", message));
    }
    let first = if held == steps { element } else { element.resize(steps) };
    check_same(op, "C2", "counts", &first, &time, axes)?;
    Ok(1)
}

/// C3: the live elements of a packet.
fn live(op: OpRef<'_>, source: &Tensor, axes: &Axes) -> Result<u64, Diagnostic> {
    let (time, packet) = (source.dim(Dim::Time), source.dim(Dim::Packet));
    let digits = |map: &Expr| digits_of(map, axes).map_err(|why| op.error("C3", why));
    let steps = digits(&time)?;
    if steps.live_count() != Some(steps.size()) {
        return Err(op.error("C3", format!("time `{time}` has padding, for which there would be counts")));
    }
    let (bytes, flit) = (packet_bytes(op, source, axes)?, machine(op).limits.flit_bytes);
    if bytes > flit {
        return Err(op.error(
            "C3",
            format!("packet `{packet}` has {}, expected at most one flit of {flit}", counted(bytes, "byte")),
        ));
    }
    check_stored(op, source, "C3")?;
    let held = digits(&packet)?;
    let live = (0..held.size()).take_while(|&at| matches!(held.cell(at), Some(Cell::Live(_)))).count() as u64;
    if held.live_count() != Some(live) {
        return Err(op.error("C3", format!("packet `{packet}` has padding before live elements")));
    }
    if !source.dtype.bits().is_multiple_of(8) {
        return Err(op.error(
            "C3",
            format!("elements of {}, expected whole bytes", counted(source.dtype.bits(), "bit")),
        ));
    }
    Ok(live)
}

/// C4: the elements that the result has room for.
fn room(
    op: OpRef<'_>,
    source: &Tensor,
    counts: Option<&Tensor>,
    needed: u64,
    axes: &Axes,
) -> Result<u64, Diagnostic> {
    let refuse = |message: String| Err(op.clause_error("C4", "element", message));
    let element = CommitPacked::of(op)?.element()?;
    let Expr::Axis(name) = &*element else {
        return refuse(format!("`{element}` is no axis: expected one such as `[P]`"));
    };
    if axes.id(name).is_some_and(|id| axes.skew(id).is_some()) {
        return refuse(format!("axis `{name}` is skewed"));
    }
    if counts.into_iter().chain([source]).any(|tensor| tensor.axis_names(axes).contains(name)) {
        return refuse(format!("axis `{name}` is one of the stream's or the counts', expected another"));
    }
    let (room, width) = (positions(op, Dim::Element, &element, axes)?, source.dtype.align());
    let align = machine(op).limits.commit_size_sub;
    if room < needed {
        return refuse(format!(
            "axis `{name}` has {}, expected {needed} or more: that many elements may be kept",
            counted(room, "position")
        ));
    }
    if !room.saturating_mul(width).is_multiple_of(align) {
        return refuse(format!(
            "axis `{name}` has {} of {}, expected a multiple of {}",
            counted(room, "position"),
            counted(width, "byte"),
            counted(align, "byte")
        ));
    }
    Ok(room)
}

/// The preserved elements of operand 0, by the counts in operand 1 or by a filter's guards, numbered along the axis of
/// `element`.
fn raised(cx: &mut Raising<'_>, op: OpRef<'_>) -> Result<(), Diagnostic> {
    let lacking = || op.error("C0", "an operand is no tensor");
    let stream = operand(op, 0).ok_or_else(lacking)?;
    cx.depends_on_open(op, &[Dim::Slice, Dim::Time, Dim::Packet]);
    let known = cx.held(op, 0, &stream)?;
    let (kept, counts) = match filter(op)? {
        Some(guards) => {
            let entry = |id: u8| guards.slot(id).is_some().into();
            let kept = match cx.ids(op, 0) {
                Some(ids) => by_id(cx, op, &ids, entry)?,
                None => constant(cx, op, DType::I32, entry(0))?,
            };
            (kept, false)
        }
        None => (cx.held(op, 1, &*operand(op, 1).ok_or_else(lacking)?)?, true),
    };
    let element = result(op)?.dim(Dim::Element);
    if !matches!(element, Expr::Axis(_)) {
        return Err(op.clause_error("C4", "element", format!("`{element}` is no axis")));
    }
    let outer = [Dim::Chip, Dim::Cluster, Dim::Slice].map(|dim| stream.dim(dim));
    let spec = Pack::build(op, [known.value, kept.value])
        .outer(Rc::new(Expr::pair(outer)))
        .steps(Rc::new(stream.dim(Dim::Time)))
        .within(Rc::new(stream.dim(Dim::Packet)))
        .to(element)
        .counts(counts)
        .spec();
    let known = cx.emit(spec, BTreeMap::new())?;
    cx.bind(op, known)
}

fn lower(cx: &StageCx<'_>, op: OpRef<'_>) -> Result<Option<OpSpec>, Diagnostic> {
    let (_, result) = ends(op)?;
    let packing = cx.plan::<Packing>(op)?;
    let commit = CommitPacked::of(op)?;
    let run = Entry::new(packing.room.saturating_mul(result.dtype.align()), 1);
    let base = address::of(cx, op, commit.result_tensor()?)?;
    let loops = Program { entries: vec![run], packet: cx.machine.limits.commit_size_sub, base };
    let counts = match packing.stride {
        Some(_) => {
            let counts = commit.counts().ok_or_else(|| op.error("C1", "no counts"))?;
            Some(address::of(cx, op, counts)?)
        }
        None => None,
    };
    let lowered = hw::commit_packed::CommitPacked::build(op)
        .most(distance(packing.most))
        .counts(counts)
        .stride(packing.stride.map(|stride| distance(stride * DType::I32.align())))
        .loops(loops)
        .slices(cx.bitmap);
    Ok(Some(lowered.spec()))
}
