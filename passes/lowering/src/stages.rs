//! One engine of a pipeline at a time: from a stream operation to its seq or hw counterpart.

use crate::{access, origin};
use std::rc::Rc;
use visa_hw::valid_count as hw;
use visa_ir::context::Attr;
use visa_ir::decl::OpDecl;
use visa_ir::diag::{Diagnostic, counted};
use visa_ir::module::{OpRef, OpSpec, ValueId};
use visa_loops::{Entry, Program, Stride};
use visa_mapping::{Dim, Pace, Tensor, Unit, operand};
use visa_numerics::{DType, VectorStage, default_mode, pattern};
use visa_stream::adapter::{Adapter, adapter};
use visa_stream::branch::BranchMode;
use visa_stream::commit::{Write, zeros_kept};
pub use visa_stream::lower::{LowerStage, StageCx};
use visa_stream::mask::{Mask, Reading};
use visa_stream::meaning::ContractionKind;
use visa_stream::ops::vector_intra_slice_reduce as intra_slice;
use visa_stream::ops::{
    self, begin_interleaved, commit_packed, commit_view, contract, fetch, vector_alu, vector_filter,
};
use visa_stream::pad::Pad;
use visa_stream::plan::{self, Plan, TimeLoop};
use visa_stream::reduce::{Reduction, reduction};
use visa_stream::snoop;
use visa_stream::valid_count::Counting;
use visa_stream::vector::Arguments;

type LowerFn = fn(&StageCx<'_>, OpRef<'_>) -> Result<Option<OpSpec>, Diagnostic>;

/// The operations of `stream`, in pipeline order.
const STAGES: &[(&OpDecl, LowerFn)] = &[
    (&ops::begin::DECL, nothing),
    (&ops::begin_interleaved::DECL, nothing),
    (&ops::fetch::DECL, lower_fetch),
    (&ops::switch::DECL, switch),
    (&ops::collect::DECL, collect),
    (&ops::store::TO_TRF, to_trf),
    (&ops::store::TO_VRF, to_vrf),
    (&ops::contract::ALIGN_DECL, align),
    (&ops::contract::CONTRACT_DECL, contract),
    (&ops::contract::ACCUMULATE_DECL, accumulate),
    (&ops::vector_branch::DECL, branch),
    (&ops::vector_alu::LOGIC_DECL, alu),
    (&ops::vector_alu::FXP_DECL, alu),
    (&ops::vector_alu::FXP_TO_FP_DECL, alu),
    (&ops::vector_alu::FP_DECL, alu),
    (&ops::vector_alu::FP_DIV_DECL, alu),
    (&ops::vector_alu::FP_TO_FXP_DECL, alu),
    (&ops::vector_alu::CLIP_DECL, alu),
    (&ops::vector_filter::DECL, filter),
    (&intra_slice::DECL, reduce),
    (&ops::cast::DECL, cast),
    (&ops::commit::DECL, commit),
    (&ops::commit_view::DECL, commit_view),
    (&ops::commit_packed::DECL, lower_commit_packed),
];

/// What `op` becomes.
///
/// # Errors
/// If it cannot be lowered.
pub fn lower(cx: &StageCx<'_>, op: OpRef<'_>) -> Result<Option<OpSpec>, Diagnostic> {
    if let Some(LowerStage(lower)) = op.decl().and_then(|decl| decl.interface()) {
        return lower(cx, op);
    }
    match STAGES.iter().find(|(decl, _)| op.is(decl)) {
        Some((_, lower)) => lower(cx, op),
        None => {
            let message = format!("`{op}` has no lowering: its declaration lacks the `LowerStage` interface");
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

fn lower_fetch(cx: &StageCx<'_>, op: OpRef<'_>) -> Result<Option<OpSpec>, Diagnostic> {
    let (source, result) = types(op)?;
    let free = cx.free(op, 0);
    let fetch =
        Reading::new(&source, &result, fetch::own_time(op, &result, cx.axes)?, &free, cx.axes, cx.machine);
    let (mut plan, mask) = fetch.plan().map_err(|refused| refused.at(op))?;
    let tensors = op.operand_def(0).map_or(&[][..], |begin| begin.operands());
    let base = cx.base(tensors.first(), &source);
    let adapter = adapter(op)?;
    let value = u64::from(pattern(adapter.from, adapter.masked(Pad::of(op)).unwrap_or(0)));
    let mut mask = mask.map(|mask| mask_registers(mask, value));
    check_start(op, &plan, base, source.dtype)?;
    if let Some(axis) = begin_interleaved::axis_of(op) {
        let second = cx.base(tensors.get(1), &source);
        check_start(op, &plan, second, source.dtype)?;
        let distance = second.saturating_sub(base);
        mask = mask.map(|mask| mask.below(plan.time().len()));
        plan = begin_interleaved::alternating(plan, &axis, distance);
    }
    let sub = result.unit == Some(Unit::Sub);
    let to = (adapter.from != result.dtype).then_some(result.dtype);
    let (from, elements) = (source.dtype, program(&plan, base));
    match &mask {
        Some(mask) => origin::check(op, &plan, from, elements.in_bytes_apart(from), |program| {
            access::masked_fetch(program, mask, from, to, cx.machine).map(|(program, _)| program)
        })?,
        None => origin::check(op, &plan, from, elements.in_bytes(from), |program| {
            access::fetch(program, from, to, sub, cx.machine)
        })
        .map_err(|error| {
            let main = elements.in_bytes(from).ok().filter(|_| sub && error.code == access::FETCH_SIZE);
            let main = main.and_then(|program| access::fetch(&program, from, to, false, cx.machine).ok());
            match main.map(|program| counted(program.packet, "byte")) {
                Some(size) => {
                    error.fix(format!("begin the pipeline in `main`, which may fetch {size} at a time"))
                }
                None => error,
            }
        })?,
    }
    let mut spec = cx.body(cx.spec("seq.fetch", op)?, "dtype", &visa_sequencer::DTYPE, source.dtype);
    if let Some(mask) = mask {
        spec = cx.body(spec, "mask", &visa_sequencer::MASK, mask);
    }
    let spec = loops(cx, adapter_registers(cx, spec, adapter), &plan, base);
    let Some(starts) = starts(&plan) else { return Ok(Some(spec)) };
    access::starts(&starts, from).map_err(|error| error.diagnostic(op.span()))?;
    Ok(Some(cx.body(spec, "starts", &visa_sequencer::PROGRAM, starts)))
}

/// How many elements behind the base each slice starts, if they differ.
fn starts(plan: &Plan) -> Option<Program> {
    let entries = plan.starts.iter().map(|(limit, pace)| Entry { limit: *limit, stride: stride(pace) });
    let program = Program { entries: entries.collect(), packet: 1, base: 0 };
    (!plan.starts.is_empty()).then_some(program)
}

/// What an operation reads of each tensor in data memory that it fetches: the tensor, and the bytes from the first
/// to one past the last, counted as its address is. Nothing for what is no fetch, and for one that has no plan.
#[must_use]
pub fn reads(cx: &StageCx<'_>, op: OpRef<'_>) -> Vec<(ValueId, (i64, i64))> {
    let Ok((source, result)) = types(op) else { return Vec::new() };
    let time = if op.is(&fetch::DECL) { fetch::own_time(op, &result, cx.axes).ok() } else { None };
    let free = cx.free(op, 0);
    let fetch = |time| Reading::new(&source, &result, time, &free, cx.axes, cx.machine).plan().ok();
    let Some((plan, _)) = time.and_then(fetch) else { return Vec::new() };
    let bytes = |elements: i64| elements.saturating_mul(i64::from(source.dtype.bits()));
    let extent = |tensor: &ValueId| {
        let (start, end) = program(&plan, cx.base(Some(tensor), &source)).extent().ok()?;
        let end = end.saturating_add(plan.furthest());
        // 4-bit elements share bytes.
        Some((*tensor, (bytes(start).div_euclid(8), bytes(end).saturating_add(7).div_euclid(8))))
    };
    let tensors = op.operand_def(0).map_or(&[][..], |begin| begin.operands());
    tensors.iter().filter_map(extent).collect()
}

/// The registers of a mask whose elements become `value`, the bits of a number in data memory.
#[must_use]
pub fn mask_registers(mask: Mask, value: u64) -> visa_loops::Mask {
    let Mask { dim, left, by, valid } = mask;
    visa_loops::Mask { dim, left, by, valid, value }
}

/// The registers of the stages behind the mask.
fn adapter_registers(cx: &StageCx<'_>, mut spec: OpSpec, adapter: Adapter) -> OpSpec {
    if let Some(table) = adapter.table {
        spec = cx.body(spec, "table", &visa_sequencer::TABLE, table);
    }
    if let Some(row) = adapter.cast {
        spec = cx.body(spec, "to", &visa_sequencer::DTYPE, row.to);
    }
    if !adapter.zero.is_empty() {
        let zero: Vec<i64> = adapter.zero.into_iter().map(i64::from).collect();
        spec = spec.clause("zero", cx.ctx.attr(Attr::Ints(zero.into())));
    }
    spec
}

/// C10: what is read before the elements of a padded term must be memory of the slice. Only such a term makes a
/// fetch start before its tensor.
fn check_start(op: OpRef<'_>, plan: &Plan, base: i64, dtype: DType) -> Result<(), Diagnostic> {
    let bytes = |elements: i64| elements.saturating_mul(i64::from(dtype.bits())).div_euclid(8);
    let first = bytes(base.saturating_add(plan.base));
    if first >= 0 {
        return Ok(());
    }
    let message =
        format!("padding before the elements is read from address {first} on, where no memory is (book 08)");
    let fix = format!("place the tensor at {} or higher", bytes(plan.base).saturating_neg());
    Err(op.clause_error("C10", "packet", message).fix(Some(fix)))
}

fn switch(cx: &StageCx<'_>, op: OpRef<'_>) -> Result<Option<OpSpec>, Diagnostic> {
    let topology = op.word("topology").unwrap_or_default();
    let mut spec = cx.word(cx.spec("hw.switch", op)?, "topology", &topology);
    if &*topology == "custom" {
        let (source, result) = types(op)?;
        let (free, slices) = (cx.free(op, 0), cx.machine.topology.slices_per_cluster);
        let switch =
            snoop::Exchange { op, source: &source, result: &result, free: &free, axes: cx.axes, slices };
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
    let shifts = contract::alignment(op, &source, &result, &cx.free(op, 0), cx.axes, cx.machine)?;
    let plan = contract::register_read(op, &source, &weights, &result, &cx.free(op, 1), cx.axes)?;
    let bytes = program(&plan, 0).in_bytes(source.dtype);
    origin::check(op, &plan, source.dtype, bytes, |program| access::align(program, cx.machine))?;
    let half = op.operand_def(1).and_then(|store| store.word("at")).unwrap_or_else(|| "full".into());
    let mut spec = cx.body(cx.spec("seq.align", op)?, "dtype", &visa_sequencer::DTYPE, source.dtype);
    spec = cx.word(spec, "region", &half);
    spec = cx.int(spec, "flits", shifts.flits);
    if shifts.count > 0 {
        spec = cx.int(cx.int(spec, "shifts", shifts.count), "distance", shifts.distance);
    }
    spec = cx.int(spec, "repeat", shifts.repeat);
    spec = cx.int(spec, "rows", weights.dim(Dim::Row).size(cx.axes).unwrap_or(1));
    Ok(Some(loops(cx, spec, &plan, 0)))
}

fn contract(cx: &StageCx<'_>, op: OpRef<'_>) -> Result<Option<OpSpec>, Diagnostic> {
    let (source, result) = types(op)?;
    let deepest = source.dtype.tree_depth().unwrap_or(0);
    let depth = plan::tree_depth(&source.dim(Dim::Packet), &result.dim(Dim::Packet), deepest, cx.axes)
        .map_err(|why| op.clause_error("C1", "packet", why))?;
    let spec = cx.body(cx.spec("hw.contract", op)?, "dtype", &visa_hw::attrs::DTYPE, source.dtype);
    let spec = kind(cx, spec, op);
    Ok(Some(cx.int(spec, "depth", u64::from(depth))))
}

/// The clause of a contraction that is no sum.
fn kind(cx: &StageCx<'_>, spec: OpSpec, op: OpRef<'_>) -> OpSpec {
    match contract::reduction(op) {
        ContractionKind::Add => spec,
        ContractionKind::Max => cx.word(spec, "op", "max"),
    }
}

fn accumulate(cx: &StageCx<'_>, op: OpRef<'_>) -> Result<Option<OpSpec>, Diagnostic> {
    let (source, result) = types(op)?;
    let slots = slots(&contract::accumulation(op, &source, &result, cx.axes)?);
    let size = |dim: Dim| source.dim(dim).size(cx.axes).unwrap_or(1);
    let mut spec = cx.word(cx.spec("hw.accumulate", op)?, "kind", &op.word("mode").unwrap_or_default());
    spec = kind(cx, spec, op);
    spec = cx.int(spec, "rows", size(Dim::Row));
    spec = cx.int(spec, "columns", size(Dim::Packet));
    Ok(Some(spec.clause("slots", cx.ctx.body_attr(&visa_hw::attrs::PROGRAM, slots))))
}

/// The slot of each step: loops that are summed stay on theirs, the others number them in the order they come out.
fn slots(loops: &[TimeLoop]) -> Program {
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
    slots
}

fn reduce(cx: &StageCx<'_>, op: OpRef<'_>) -> Result<Option<OpSpec>, Diagnostic> {
    let Reduction { row, loops, tree, .. } = reduction(op, cx.axes)?;
    let spec = cx.word(cx.spec("hw.vector_reduce", op)?, "op", row.name);
    let spec = cx.word(spec, "lanes", if tree { "tree" } else { "apart" });
    Ok(Some(spec.clause("slots", cx.ctx.body_attr(&visa_hw::attrs::PROGRAM, slots(&loops)))))
}

/// The Valid Count Generator in front of `op`, if a reduction of its pipeline needs it there.
///
/// # Errors
/// C7 of the reduction.
pub fn valid_count(
    cx: &StageCx<'_>,
    op: OpRef<'_>,
    chain: &[OpRef<'_>],
) -> Result<Option<OpSpec>, Diagnostic> {
    let Some(reduce) = intra_slice::in_chain(chain).filter(|&reduce| intra_slice::enters(op, reduce)) else {
        return Ok(None);
    };
    let reduction = reduction(reduce, cx.axes)?;
    let Some(counting) = intra_slice::valid_count(reduce, &reduction, cx.axes, cx.machine)? else {
        return Ok(None);
    };
    let (counters, packet, gates) = valid_count_registers(counting);
    let spec = cx.spec("hw.vector_valid_count", reduce)?;
    let mut spec = spec.clause("counters", cx.ctx.body_attr(&visa_hw::attrs::COUNTERS, counters));
    if let Some(packet) = packet {
        spec = cx.int(spec, "packet", packet);
    }
    if !gates.0.is_empty() {
        spec = spec.clause("gates", cx.ctx.body_attr(&visa_hw::attrs::GATES, gates));
    }
    Ok(Some(spec))
}

/// The registers of the Valid Count Generator: counters, valid elements along the packet dimension, gates.
#[must_use]
pub fn valid_count_registers(counting: Counting) -> (hw::Counters, Option<u64>, hw::Gates) {
    (hw::Counters(counting.counters), counting.packet, hw::Gates(counting.gates))
}

fn branch(cx: &StageCx<'_>, op: OpRef<'_>) -> Result<Option<OpSpec>, Diagnostic> {
    let start = |mode: &str| Ok::<_, Diagnostic>(cx.word(cx.spec("hw.vector_branch", op)?, "mode", mode));
    let (source, _) = types(op)?;
    Ok(Some(match visa_stream::branch::mode(op)? {
        // Ids are 0 unless something sets them.
        BranchMode::Unconditional => return Ok(None),
        BranchMode::AxisToggle(axis) => {
            let toggles = visa_stream::branch::toggles(op, &source, &axis, cx.axes)?;
            let pairs = toggles.iter().flat_map(|toggle| [toggle.apart, toggle.limit]);
            let pairs: Vec<i64> = pairs.map(|number| i64::try_from(number).unwrap_or(i64::MAX)).collect();
            start("toggle")?.clause("toggle", cx.ctx.attr(Attr::Ints(pairs.into())))
        }
        BranchMode::ValidCount => start("valid_count")?,
        BranchMode::Comparison(comparisons) => {
            let comparisons = comparisons.try_map(|bits| Ok::<_, Diagnostic>(bits.cast_signed()))?;
            cx.body(start("comparison")?, "compare", &visa_sequencer::COMPARISONS, comparisons)
        }
        BranchMode::RegisterFile => {
            let file = operand(op, 1).ok_or_else(|| op.error("C1", "no register file"))?;
            let program = vector_operand(cx, op, 1, &file)?;
            cx.body(cx.spec("seq.vector_branch", op)?, "loops", &visa_sequencer::PROGRAM, program)
        }
    }))
}

fn alu(cx: &StageCx<'_>, op: OpRef<'_>) -> Result<Option<OpSpec>, Diagnostic> {
    let (row, Arguments { mode, constants, guards, write_back, .. }) =
        visa_stream::vector::configuration(op)?;
    let values: Vec<_> = (1..op.operands().len()).filter_map(|index| operand(op, index)).collect();
    let file = values.iter().any(|value| !value.kind.stream);
    let mut spec = cx.spec(if file { "seq.vector" } else { "hw.vector" }, op)?;
    spec = cx.word(spec, "op", row.name);
    if row.stage != VectorStage::Fxp {
        spec = cx.word(spec, "stage", row.stage.name());
    }
    if *mode != *default_mode(row.apply.arity()) {
        spec = cx.word(spec, "mode", mode.name);
    }
    for (clause, constant) in ["constant", "constant1"].into_iter().zip(constants) {
        if let Some(bits) = constant {
            spec = spec.clause(clause, cx.ctx.attr(Attr::Int(i64::from(bits.cast_signed()))));
        }
    }
    for (clause, guards) in [("when", guards), ("write_back", write_back)] {
        if let Some(guards) = guards {
            let guards = guards.try_map(|bits| Ok::<_, Diagnostic>(bits.cast_signed()))?;
            spec = cx.body(spec, clause, &visa_sequencer::GUARDS, guards);
        }
    }
    for (at, value) in values.iter().enumerate() {
        let [loops, stash] = if at == 0 { ["loops", "stash"] } else { ["loops1", "stash1"] };
        spec = match value.kind.stream {
            true => spec.clause(stash, cx.ctx.attr(Attr::Unit)),
            false => cx.body(spec, loops, &visa_sequencer::PROGRAM, vector_operand(cx, op, at + 1, value)?),
        };
    }
    Ok(Some(spec))
}

fn filter(cx: &StageCx<'_>, op: OpRef<'_>) -> Result<Option<OpSpec>, Diagnostic> {
    let keep = vector_filter::kept(op)?.try_map(|bits| Ok::<_, Diagnostic>(bits.cast_signed()))?;
    let spec = cx.body(cx.spec("hw.filter", op)?, "keep", &visa_sequencer::GUARDS, keep);
    let (source, _) = types(op)?;
    let digits = plan::digits_of(&source.dim(Dim::Packet), cx.axes).map_err(|why| op.error("C3", why))?;
    let lanes = cx.machine.limits.vector_lanes;
    let live = digits.live_count().unwrap_or(lanes);
    Ok(Some(if live < lanes { cx.int(spec, "lanes", live) } else { spec }))
}

/// How operand `index` is read from the vector register file.
fn vector_operand(
    cx: &StageCx<'_>,
    op: OpRef<'_>,
    index: usize,
    file: &Tensor,
) -> Result<Program, Diagnostic> {
    let (source, _) = types(op)?;
    let mut plan = vector_alu::register_read(op, file, &source, &cx.free(op, index), cx.axes)?;
    // A packet is read whole; lanes beyond the live ones read on into what follows and are padding.
    let lanes = vector_alu::lanes(op);
    if let Some(inner) = plan.loops.last_mut() {
        inner.limit = lanes;
    }
    plan.packet = lanes;
    let base = cx.base(op.operands().get(index), file);
    let elements = program(&plan, base);
    let bytes = elements.in_bytes(DType::I32);
    origin::check(op, &plan, DType::I32, bytes, |program| access::vector(program, cx.machine))?;
    Ok(elements)
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
        dtype: result.dtype,
        unit: source.unit,
        sizes: &cx.machine.limits.commit_sizes,
        axes: cx.axes,
        zeros: zeros_kept(op),
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
    let bytes = program(plan, base).in_bytes(source.dtype);
    origin::check(op, plan, source.dtype, bytes, |program| access::commit(program, sub, cx.machine))?;
    let spec = cx.body(cx.spec("seq.commit", op)?, "dtype", &visa_sequencer::DTYPE, source.dtype);
    Ok(Some(loops(cx, spec, plan, base)))
}

fn lower_commit_packed(cx: &StageCx<'_>, op: OpRef<'_>) -> Result<Option<OpSpec>, Diagnostic> {
    let (_, result) = types(op)?;
    let packing = commit_packed::packing(op, cx.axes)?;
    let address =
        |value: Option<&ValueId>| value.and_then(|value| cx.addresses.get(value)).copied().unwrap_or(0);
    let counts = u64::try_from(address(op.operands().get(1))).unwrap_or(0);
    let run = Entry::new(packing.room.saturating_mul(result.dtype.align()), 1);
    let base = address(op.results().first());
    let loops = Program { entries: vec![run], packet: cx.machine.limits.commit_size_sub, base };
    let mut spec = cx.int(cx.spec("hw.commit_packed", op)?, "most", packing.most);
    if let Some(stride) = packing.stride {
        spec = cx.int(spec, "counts", counts);
        spec = cx.int(spec, "stride", stride * DType::I32.align());
    }
    Ok(Some(cx.body(spec, "loops", &visa_hw::attrs::PROGRAM, loops)))
}
