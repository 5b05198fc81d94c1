//! One engine of a pipeline at a time: from a stream operation to its seq or hw counterpart.

use crate::lower::access::{self, element_bytes};
use crate::lower::origin;
use std::rc::Rc;
use visa_ir::context::Attr;
use visa_ir::diag::Diagnostic;
use visa_ir::module::{OpRef, OpSpec};
use visa_mapping::{Dim, Expr, Pace, Tensor, Unit, operand};
use visa_numerics::DType;
use visa_sequencer::{Entry, Program, Stride};
use visa_stream::commit::Write;
pub use visa_stream::lower::{LowerStage, StageCx};
use visa_stream::ops::{commit_view, contract, vector};
use visa_stream::plan::{self, Plan};
use visa_stream::snoop;

type LowerFn = fn(&StageCx<'_>, OpRef<'_>) -> Result<Option<OpSpec>, Diagnostic>;

/// The operations of `stream`, in pipeline order.
const STAGES: &[(&str, LowerFn)] = &[
    ("stream.begin", nothing),
    ("stream.fetch", fetch),
    ("stream.switch", switch),
    ("stream.collect", collect),
    ("stream.to_trf", to_trf),
    ("stream.to_vrf", to_vrf),
    ("stream.align", align),
    ("stream.contract", contract),
    ("stream.accumulate", accumulate),
    ("stream.vector_init", nothing),
    ("stream.vector_branch", nothing),
    ("stream.vector_fxp", vector_fxp),
    ("stream.vector_final", nothing),
    ("stream.cast", cast),
    ("stream.commit", commit),
    ("stream.commit_view", commit_view),
];

/// What `op` becomes.
///
/// # Errors
/// If it cannot be lowered.
pub fn lower(cx: &StageCx<'_>, op: OpRef<'_>) -> Result<Option<OpSpec>, Diagnostic> {
    if let Some(LowerStage(lower)) = op.decl().and_then(|decl| decl.interface()) {
        return lower(cx, op);
    }
    match STAGES.iter().find(|(name, _)| *name == op.name()) {
        Some((_, lower)) => lower(cx, op),
        None => {
            let message =
                format!("`{}` has no lowering: its declaration lacks the `LowerStage` interface", op.name());
            Err(Diagnostic::error("lower-to-seq", op.span(), message))
        }
    }
}

fn loops(cx: &StageCx<'_>, spec: OpSpec, plan: &Plan, base: i64) -> OpSpec {
    cx.body(spec, "loops", &visa_sequencer::PROGRAM, program(plan, base))
}

/// What a loop of a plan is in a program.
pub fn stride(pace: &Pace) -> Stride {
    match pace {
        Pace::Even(stride) => Stride::Fixed(*stride),
        Pace::Table(table) => Stride::Table(table.clone()),
    }
}

/// The program of a plan for a tensor that stands at `base`, in elements.
pub fn program(plan: &Plan, base: i64) -> Program {
    let mut entries: Vec<_> =
        plan.loops.iter().map(|step| Entry { limit: step.limit, stride: stride(&step.pace) }).collect();
    if entries.is_empty() {
        entries.push(Entry::new(1, 1));
    }
    Program { entries, packet: plan.packet, base: base.saturating_add(plan.base) }
}

fn types(op: OpRef<'_>) -> Result<(Rc<Tensor>, Rc<Tensor>), Diagnostic> {
    let result = op.result_type::<Tensor>(0);
    operand(op, 0).zip(result).ok_or_else(|| op.error("C0", "no tensor type"))
}

fn nothing(_: &StageCx<'_>, _: OpRef<'_>) -> Result<Option<OpSpec>, Diagnostic> {
    Ok(None)
}

fn fetch(cx: &StageCx<'_>, op: OpRef<'_>) -> Result<Option<OpSpec>, Diagnostic> {
    let (source, result) = types(op)?;
    let (element, free) = (source.dim(Dim::Packet), cx.free(op, 0));
    let plan = plan::fetch(&element, &result.dim(Dim::Time), &result.dim(Dim::Packet), &free, cx.axes)
        .map_err(|why| op.clause_error("C3", "time", why))?;
    let tensor = op.operand_def(0).and_then(|begin| begin.operands().first());
    let base = cx.base(tensor, &source);
    let (to, sub) = ((source.dtype != result.dtype).then_some(result.dtype), result.unit == Some(Unit::Sub));
    origin::check(op, &plan, base, element_bytes(source.dtype), |program| {
        access::fetch(program, source.dtype, to, sub, cx.machine)
    })?;
    let mut spec = cx.body(cx.spec("seq.fetch", op)?, "dtype", &visa_sequencer::DTYPE, source.dtype);
    if source.dtype != result.dtype {
        spec = cx.body(spec, "to", &visa_sequencer::DTYPE, result.dtype);
    }
    Ok(Some(loops(cx, spec, &plan, base)))
}

fn switch(cx: &StageCx<'_>, op: OpRef<'_>) -> Result<Option<OpSpec>, Diagnostic> {
    let topology = op.word("topology").unwrap_or_default();
    let mut spec = cx.word(cx.spec("hw.switch", op)?, "topology", &topology);
    if &*topology == "custom" {
        let (source, result) = types(op)?;
        let (free, slices) = (cx.free(op, 0), cx.machine.topology.slices_per_cluster);
        let switch =
            snoop::Switch { op, source: &source, result: &result, free: &free, axes: cx.axes, slices };
        let snoop::Snooping { ring, rows } = switch.snooping()?;
        spec = cx.int(spec, "ring", ring as u64);
        return Ok(Some(cx.body(spec, "snoop", &visa_hw::snoop::SNOOP, visa_hw::snoop::Snoop { rows })));
    }
    for clause in ["slice1", "slice0", "time0"] {
        if let Some(value) = op.int(clause) {
            spec = spec.clause(clause, cx.ctx.attr(Attr::Int(value)));
        }
    }
    Ok(Some(spec))
}

fn collect(cx: &StageCx<'_>, op: OpRef<'_>) -> Result<Option<OpSpec>, Diagnostic> {
    let (source, _) = types(op)?;
    let bytes = source.dim_bytes(Dim::Packet, cx.axes).unwrap_or(0);
    let flits = bytes.div_ceil(cx.machine.limits.flit_bytes);
    Ok(Some(cx.int(cx.spec("hw.collect", op)?, "flits", flits)))
}

fn to_trf(cx: &StageCx<'_>, op: OpRef<'_>) -> Result<Option<OpSpec>, Diagnostic> {
    let (_, result) = types(op)?;
    let spec = cx.word(cx.spec("hw.store_trf", op)?, "region", &op.word("at").unwrap_or_default());
    let spec = cx.int(spec, "rows", result.dim(Dim::Row).size(cx.axes).unwrap_or(1));
    Ok(Some(cx.int(spec, "row_bytes", result.dim_bytes(Dim::Element, cx.axes).unwrap_or(0))))
}

fn to_vrf(cx: &StageCx<'_>, op: OpRef<'_>) -> Result<Option<OpSpec>, Diagnostic> {
    let at = cx.ctx.attr(Attr::Int(op.int("at").unwrap_or(0)));
    Ok(Some(cx.spec("hw.store_vrf", op)?.clause("at", at)))
}

fn align(cx: &StageCx<'_>, op: OpRef<'_>) -> Result<Option<OpSpec>, Diagnostic> {
    let (source, result) = types(op)?;
    let weights = operand(op, 1).ok_or_else(|| op.error("C0", "no register-file operand"))?;
    let alignment = contract::alignment(op, &source, &result, &cx.free(op, 0), cx.axes, cx.machine)?;
    let (element, free) = (weights.dim(Dim::Element), cx.free(op, 1));
    let plan =
        plan::register_read(&element, &result.dim(Dim::Time), &result.dim(Dim::Packet), &free, cx.axes)
            .map_err(|why| op.clause_error("C5", "time", why))?;
    origin::check(op, &plan, 0, element_bytes(source.dtype), |program| access::align(program, cx.machine))?;
    let half = op.operand_def(1).and_then(|store| store.word("at")).unwrap_or_else(|| "full".into());
    let mut spec = cx.body(cx.spec("seq.align", op)?, "dtype", &visa_sequencer::DTYPE, source.dtype);
    spec = cx.word(spec, "region", &half);
    spec = cx.int(spec, "flits", alignment.flits);
    spec = cx.int(spec, "repeat", alignment.repeat);
    spec = cx.int(spec, "rows", weights.dim(Dim::Row).size(cx.axes).unwrap_or(1));
    Ok(Some(loops(cx, spec, &plan, 0)))
}

fn contract(cx: &StageCx<'_>, op: OpRef<'_>) -> Result<Option<OpSpec>, Diagnostic> {
    let (source, result) = types(op)?;
    let deepest = source.dtype.tree_depth().unwrap_or(0);
    let depth = plan::tree_depth(&source.dim(Dim::Packet), &result.dim(Dim::Packet), deepest, cx.axes)
        .map_err(|why| op.clause_error("C1", "packet", why))?;
    let spec = cx.body(cx.spec("hw.contract", op)?, "dtype", &visa_hw::attrs::DTYPE, source.dtype);
    Ok(Some(cx.int(spec, "depth", u64::from(depth))))
}

fn accumulate(cx: &StageCx<'_>, op: OpRef<'_>) -> Result<Option<OpSpec>, Diagnostic> {
    let (source, result) = types(op)?;
    let loops = contract::accumulation(op, &source, &result, cx.axes)?;
    let mut entries = Vec::new();
    let mut slots = 1_i64;
    for time in loops.iter().rev() {
        let stride = if time.summed { 0 } else { slots };
        if !time.summed {
            slots = slots.saturating_mul(i64::try_from(time.limit).unwrap_or(i64::MAX));
        }
        entries.push(Entry::new(time.limit, stride));
    }
    if entries.is_empty() {
        entries.push(Entry::new(1, 1));
    }
    entries.reverse();
    let mut slots = Program { entries, packet: 1, base: 0 };
    slots.merge();
    let size = |dim: Dim| source.dim(dim).size(cx.axes).unwrap_or(1);
    let mut spec = cx.word(cx.spec("hw.accumulate", op)?, "kind", &op.word("mode").unwrap_or_default());
    spec = cx.int(spec, "rows", size(Dim::Row));
    spec = cx.int(spec, "columns", size(Dim::Packet));
    Ok(Some(spec.clause("slots", cx.ctx.body_attr(&visa_hw::attrs::PROGRAM, slots))))
}

fn vector_fxp(cx: &StageCx<'_>, op: OpRef<'_>) -> Result<Option<OpSpec>, Diagnostic> {
    let (source, _) = types(op)?;
    let name = op.word("op").unwrap_or_default();
    if let Some(bits) = vector::constant(op)? {
        let spec = cx.word(cx.spec("hw.vector", op)?, "op", &name);
        return Ok(Some(spec.clause("constant", cx.ctx.attr(Attr::Int(i64::from(bits.cast_signed()))))));
    }
    let file = operand(op, 1).ok_or_else(|| op.error("C2", "no second argument"))?;
    let (time, packet): (Expr, Expr) = (source.dim(Dim::Time), source.dim(Dim::Packet));
    let mut plan = plan::register_read(&file.dim(Dim::Element), &time, &packet, &cx.free(op, 1), cx.axes)
        .map_err(|why| op.error("C5", why))?;
    // A flit is read whole; lanes beyond the live ones read on into what follows and are padding.
    let lanes = cx.machine.limits.vector_lanes;
    if let Some(inner) = plan.loops.last_mut() {
        inner.limit = lanes;
    }
    plan.packet = lanes;
    let base = cx.base(op.operands().get(1), &file);
    origin::check(op, &plan, base, element_bytes(DType::I32), |program| access::vector(program, cx.machine))?;
    let spec = cx.word(cx.spec("seq.vector", op)?, "op", &name);
    Ok(Some(loops(cx, spec, &plan, base)))
}

fn cast(cx: &StageCx<'_>, op: OpRef<'_>) -> Result<Option<OpSpec>, Diagnostic> {
    let (_, result) = types(op)?;
    Ok(Some(cx.body(cx.spec("hw.cast", op)?, "dtype", &visa_hw::attrs::DTYPE, result.dtype)))
}

fn commit(cx: &StageCx<'_>, op: OpRef<'_>) -> Result<Option<OpSpec>, Diagnostic> {
    let (source, result) = types(op)?;
    let write = Write {
        element: &result.dim(Dim::Element),
        time: &source.dim(Dim::Time),
        packet: &source.dim(Dim::Packet),
        element_bytes: result.element_bytes(),
        unit: source.unit,
        sizes: &cx.machine.limits.commit_sizes,
        axes: cx.axes,
        into: None,
    };
    let plan = write.plan().map_err(|why| op.clause_error("C2", "element", why))?;
    write_loops(cx, op, &plan, (&source, &result))
}

fn commit_view(cx: &StageCx<'_>, op: OpRef<'_>) -> Result<Option<OpSpec>, Diagnostic> {
    let (source, result) = types(op)?;
    let plan = commit_view::plan(op, &source, &result, cx.axes, cx.machine)?;
    write_loops(cx, op, &plan, (&source, &result))
}

/// The commit that writes in these loops.
fn write_loops(
    cx: &StageCx<'_>,
    op: OpRef<'_>,
    plan: &Plan,
    (source, result): (&Tensor, &Tensor),
) -> Result<Option<OpSpec>, Diagnostic> {
    let base = cx.base(op.results().first(), result);
    let sub = source.unit == Some(Unit::Sub);
    origin::check(op, plan, base, element_bytes(source.dtype), |program| {
        access::commit(program, sub, cx.machine)
    })?;
    let spec = cx.body(cx.spec("seq.commit", op)?, "dtype", &visa_sequencer::DTYPE, source.dtype);
    Ok(Some(loops(cx, spec, plan, base)))
}
