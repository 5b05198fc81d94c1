//! One engine of a pipeline at a time: from a stream operation to its seq or hw counterpart.

use crate::lower::access::{self, AccessError, element_bytes};
use std::rc::Rc;
use visa_ir::context::Attr;
use visa_ir::diag::Diagnostic;
use visa_ir::module::{OpRef, OpSpec};
use visa_mapping::{Dim, Expr, Tensor, Unit, operand};
use visa_sequencer::{Entry, Program, SeqError};
use visa_stream::commit::{Write, zeros_kept};
pub use visa_stream::lower::{LowerStage, StageCx};
use visa_stream::mask::{Fetch, Mask};
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

/// The program of a plan for a tensor that stands at `base`, in elements.
fn program(plan: &Plan, base: i64) -> Program {
    let mut entries: Vec<_> = plan.loops.iter().map(|&(limit, stride)| Entry { limit, stride }).collect();
    if entries.is_empty() {
        entries.push(Entry { limit: 1, stride: 1 });
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
    let free = cx.free(op, 0);
    let fetch = Fetch::new(&source, &result, &free, cx.axes, cx.machine);
    let (plan, mask) = fetch.plan().map_err(|refused| refused.at(op))?;
    let tensor = op.operand_def(0).and_then(|begin| begin.operands().first());
    let base = cx.base(tensor, &source);
    let mask =
        mask.map(|Mask { dim, left, by, valid }| visa_sequencer::Mask { dim, left, by, valid, value: 0 });
    check_start(op, &plan, base, source.element_bytes())?;
    check_fetch(cx, op, (&program(&plan, base), mask.as_ref()), (&source, &result), &fetch)?;
    let mut spec = cx.body(cx.spec("seq.fetch", op)?, "dtype", &visa_sequencer::DTYPE, source.dtype);
    if source.dtype != result.dtype {
        spec = cx.body(spec, "to", &visa_sequencer::DTYPE, result.dtype);
    }
    if let Some(mask) = mask {
        spec = cx.body(spec, "mask", &visa_sequencer::MASK, mask);
    }
    Ok(Some(loops(cx, spec, &plan, base)))
}

/// C7: what is read before the elements of a padded term must be memory of the slice. Only such a term makes a fetch start
/// before its tensor.
fn check_start(op: OpRef<'_>, plan: &Plan, base: i64, element_bytes: u64) -> Result<(), Diagnostic> {
    let bytes = |elements: i64| elements.saturating_mul(i64::try_from(element_bytes).unwrap_or(i64::MAX));
    let first = bytes(base.saturating_add(plan.base));
    if first >= 0 {
        return Ok(());
    }
    let message =
        format!("padding before the elements is read from address {first} on, where no memory is (book 08)");
    let fix = format!("place the tensor at {} or higher", bytes(plan.base.saturating_neg()));
    Err(op.clause_error("C7", "packet", message).fix(Some(fix)))
}

/// Refuses what no sequencer runs (book 07) here, where the factors of the stream have their names.
fn check_fetch(
    cx: &StageCx<'_>,
    op: OpRef<'_>,
    (program, mask): (&Program, Option<&visa_sequencer::Mask>),
    (source, result): (&Tensor, &Tensor),
    fetch: &Fetch<'_>,
) -> Result<(), Diagnostic> {
    let refuse = |error: &SeqError| {
        Diagnostic::error(format!("seq-{}", error.code), op.span(), error.message.clone())
            .note(format!("before merging, in elements: {}", fetch.factors().join(", ")), None)
            .fix(error.fix.clone())
    };
    let bytes = program.to_bytes(element_bytes(source.dtype)).map_err(|error| refuse(&error))?;
    let to = (source.dtype != result.dtype).then_some(result.dtype);
    let sub = result.unit == Some(Unit::Sub);
    let accesses = match mask {
        Some(mask) => access::masked_fetch(&bytes, mask, source.dtype, to, cx.machine).map(drop),
        None => access::fetch(&bytes, source.dtype, to, sub, cx.machine).map(drop),
    };
    match accesses {
        Ok(()) => Ok(()),
        Err(AccessError::Sequencer(error)) => Err(refuse(&error)),
        Err(AccessError::Size(message)) => Err(Diagnostic::error("fetch-size", op.span(), message)),
    }
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
        entries.push(Entry { limit: time.limit, stride });
    }
    if entries.is_empty() {
        entries.push(Entry { limit: 1, stride: 1 });
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
        inner.0 = lanes;
    }
    plan.packet = lanes;
    let spec = cx.word(cx.spec("seq.vector", op)?, "op", &name);
    Ok(Some(loops(cx, spec, &plan, cx.base(op.operands().get(1), &file))))
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
        zeros: zeros_kept(op),
        into: None,
    };
    let plan = write.plan().map_err(|why| op.clause_error("C2", "element", why))?;
    let spec = cx.body(cx.spec("seq.commit", op)?, "dtype", &visa_sequencer::DTYPE, source.dtype);
    Ok(Some(loops(cx, spec, &plan, cx.base(op.results().first(), &result))))
}

fn commit_view(cx: &StageCx<'_>, op: OpRef<'_>) -> Result<Option<OpSpec>, Diagnostic> {
    let (source, result) = types(op)?;
    let plan = commit_view::plan(op, &source, &result, cx.axes, cx.machine)?;
    let spec = cx.body(cx.spec("seq.commit", op)?, "dtype", &visa_sequencer::DTYPE, source.dtype);
    Ok(Some(loops(cx, spec, &plan, cx.base(op.results().first(), &result))))
}
