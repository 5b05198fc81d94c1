//! One engine of a pipeline at a time: from a stream operation to its seq or hw counterpart.

use crate::access::{self, AccessError, Accessor};
use crate::{address, origin};
use std::rc::Rc;
use visa_hw::valid_count as hw;
use visa_ir::context::Attr;
use visa_ir::decl::OpDecl;
use visa_ir::diag::{Diagnostic, counted};
use visa_ir::module::{OpRef, OpSpec, ValueId};
use visa_ir::view::{self, Text, required};
use visa_loops::{Entry, Program};
use visa_mapping::address::Moving;
use visa_mapping::facts::mapping_error;
use visa_mapping::{Dim, Tensor, Unit, operand};
use visa_numerics::{Bits, DType, VectorStage, default_mode, pattern};
use visa_stream::adapter::Adapter;
use visa_stream::branch::BranchMode;
use visa_stream::chain::{ends, flit_bytes, packet_bytes};
use visa_stream::fill::Fill;
pub use visa_stream::lower::{LowerStage, StageCx};
use visa_stream::mask::Mask;
use visa_stream::ops::begin::CONTEXT;
use visa_stream::ops::commit::CommitPlan;
use visa_stream::ops::commit_packed::{CommitPacked, Packing};
use visa_stream::ops::commit_tile::TilePlan;
use visa_stream::ops::commit_view::PartPlan;
use visa_stream::ops::contract::{Accumulate, Accumulation, Align, AlignPlan, TreeDepth};
use visa_stream::ops::fetch::{Fetch, FetchPlan};
use visa_stream::ops::fill::FillPlan;
use visa_stream::ops::fill_view::FillViewPlan;
use visa_stream::ops::store::{ToTrf, ToVrf};
use visa_stream::ops::switch::Switch;
use visa_stream::ops::vector_alu::RegisterReads;
use visa_stream::ops::vector_intra_slice_reduce::{self as intra_slice, ReducePlan};
use visa_stream::ops::{self, begin_interleaved, contract, fetch, vector_filter};
use visa_stream::pad::Pad;
use visa_stream::plan::{self, Plan, TimeLoop};
use visa_stream::reduce::Reduction;
use visa_stream::semantics::ContractionKind;
use visa_stream::snoop::Snooping;
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
    (&ops::vector_reinterpret::DECL, reinterpret),
    (&ops::commit::DECL, commit),
    (&ops::commit_view::DECL, commit_view),
    (&ops::commit_tile::DECL, commit_tile),
    (&ops::commit_packed::DECL, lower_commit_packed),
    (&ops::fill::DECL, fill),
    (&ops::fill_view::DECL, fill_view),
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

/// What `op` becomes outside of the loops around it, with which tiles would move.
///
/// # Errors
/// As of [`lower`].
pub fn lower_alone(cx: &StageCx<'_>, op: OpRef<'_>) -> Result<Option<OpSpec>, Diagnostic> {
    match op.is(&ops::commit_tile::DECL) {
        true => write_loops_at(cx, op, &cx.plan::<TilePlan>(op)?.0, &Moving::default()).map(Some),
        false => lower(cx, op),
    }
}

/// The context that runs the pipeline that starts so. One that does not say it is generate mode, a command of the
/// sub context (book 09).
///
/// # Errors
/// If it says it in another way than with a word.
pub fn context(first: OpRef<'_>) -> Result<Rc<str>, Diagnostic> {
    let says = first.decl().is_some_and(|decl| decl.clause(CONTEXT).is_some());
    if says { required::<Text>(&first, CONTEXT) } else { Ok("sub".into()) }
}

fn loops(cx: &StageCx<'_>, spec: OpSpec, elements: Program) -> OpSpec {
    cx.body(spec, "loops", &visa_sequencer::PROGRAM, elements)
}

/// The program of a plan for a tensor that is at `base`, in elements.
pub fn program(plan: &Plan, base: i64) -> Program {
    let mut entries: Vec<_> = plan.loops.iter().map(|step| step.entry.clone()).collect();
    if entries.is_empty() {
        entries.push(Entry::new(1, 1));
    }
    Program { entries, packet: plan.packet, base: base.saturating_add(plan.base) }
}

fn nothing(_: &StageCx<'_>, _: OpRef<'_>) -> Result<Option<OpSpec>, Diagnostic> {
    Ok(None)
}

fn lower_fetch(cx: &StageCx<'_>, op: OpRef<'_>) -> Result<Option<OpSpec>, Diagnostic> {
    let ((source, result), fetch) = (ends(op)?, cx.plan::<FetchPlan>(op)?);
    let (plan, mask) = placed(cx, op, &fetch, &source)?;
    let elements = program(&plan.0, plan.1);
    let from = source.dtype;
    let accessor = Accessor::Fetch {
        to: (from != result.dtype).then_some(result.dtype),
        unit: result.unit.unwrap_or(Unit::Main),
        mask: mask.clone(),
    };
    if let Err(error) = accessor.clone().known(cx.ctx, &elements, from) {
        let refused = origin::refused(op, &plan.0, from, &error);
        return Err(match in_main(&accessor, &error, &elements, from, cx) {
            Some(fix) => refused.fix(fix),
            None => refused,
        });
    }
    let mut spec = cx.body(cx.spec("seq.fetch", op)?, "dtype", &visa_sequencer::DTYPE, from);
    if let Some(mask) = mask {
        spec = cx.body(spec, "mask", &visa_sequencer::MASK, mask);
    }
    let spec = loops(cx, adapter_registers(cx, spec, &fetch.adapter), elements);
    let address = address::moving(cx, op, view::operand(&begin(op)?, 0, "tensor")?)?;
    let spec = address::steps(op, spec, "steps", &address);
    let Some(starts) = starts(&plan.0) else { return Ok(Some(spec)) };
    access::starts(&starts, from).map_err(|error| error.diagnostic(op.span()))?;
    Ok(Some(cx.body(spec, "starts", &visa_sequencer::PROGRAM, starts)))
}

/// What a fetch's stream begins with.
fn begin(op: OpRef<'_>) -> Result<OpRef<'_>, Diagnostic> {
    Fetch::of(op)?.stream()?.made_by().ok_or_else(|| op.error("C0", "no beginning"))
}

/// The loops of a fetch over the tensors where they are, and its mask.
fn placed(
    cx: &StageCx<'_>,
    op: OpRef<'_>,
    fetch: &FetchPlan,
    source: &Tensor,
) -> Result<((Plan, i64), Option<visa_loops::Mask>), Diagnostic> {
    let FetchPlan { plan, mask, adapter, between } = fetch;
    let mask = mask.clone().map(|mask| Ok::<_, Diagnostic>(mask_registers(mask, masked(op, adapter)?)));
    let mask = mask.transpose()?;
    let begin = begin(op)?;
    let first = view::operand(&begin, 0, "tensor")?;
    let base = address::in_elements(cx, op, first)?;
    check_start(op, plan, address::least_in_elements(cx, op, first)?, source.dtype)?;
    let Some(axis) = between else { return Ok(((plan.clone(), base), mask)) };
    let other = view::operand(&begin, 1, "tensor")?;
    let second = address::in_elements(cx, op, other)?;
    check_start(op, plan, address::least_in_elements(cx, op, other)?, source.dtype)?;
    if !address::moving(cx, op, first)?.moves_like(&address::moving(cx, op, other)?) {
        let message = "the two tensors move differently with the loops around the fetch".to_owned();
        return Err(begin.error("C0", message).fix("cut both into tiles of the same distance".to_owned()));
    }
    let mask = mask.map(|mask| mask.below(plan.time().len()));
    let plan = begin_interleaved::alternating(plan.clone(), axis, second.saturating_sub(base));
    Ok(((plan, base), mask))
}

/// The bits in data memory of what masked elements become.
fn masked(op: OpRef<'_>, adapter: &Adapter) -> Result<u64, Diagnostic> {
    let bits = adapter.masked(Pad::of(Fetch::of(op)?)?).ok_or_else(|| {
        op.clause_error("C12", "pad", "no number of data memory becomes what the padding is masked with")
    })?;
    Ok(u64::from(pattern(adapter.from, bits)))
}

/// The way out for a fetch of the sub context that the main context could do.
fn in_main(
    accessor: &Accessor,
    error: &AccessError,
    elements: &Program,
    from: DType,
    cx: &StageCx<'_>,
) -> Option<String> {
    let &Accessor::Fetch { to, unit: Unit::Sub, mask: None } = accessor else { return None };
    if !error.is_size(access::FETCH_SIZE) {
        return None;
    }
    let main =
        Accessor::Fetch { to, unit: Unit::Main, mask: None }.accesses(elements, from, cx.machine).ok()?;
    let size = counted(main.program.packet, "byte");
    Some(format!("begin the pipeline in `main`, which may fetch {size} at a time"))
}

/// How many elements past the base each slice starts, if they differ.
fn starts(plan: &Plan) -> Option<Program> {
    let program = Program { entries: plan.starts.clone(), packet: 1, base: 0 };
    (!plan.starts.is_empty()).then_some(program)
}

/// What an operation reads of each tensor in data memory that it fetches: the tensor, and the bytes from the first
/// to one past the last, counted as its address is. Nothing for what is no fetch, for one that has no plan, and for
/// a tensor that has no address.
#[must_use]
pub fn reads(cx: &StageCx<'_>, op: OpRef<'_>) -> Vec<(ValueId, (i64, i64))> {
    if !op.is(&fetch::DECL) {
        return Vec::new();
    }
    let (Ok((source, _)), Ok(fetch)) = (ends(op), cx.plan::<FetchPlan>(op)) else { return Vec::new() };
    let plan = &fetch.plan;
    let bytes = |elements: i64| elements.saturating_mul(i64::from(source.dtype.bits()));
    let extent = |tensor: &ValueId| {
        let base = address::in_elements(cx, op, op.value(*tensor)).ok()?;
        let address = address::moving(cx, op, op.value(*tensor)).ok()?;
        let (least, most) = address.range()?;
        let (start, end) = program(plan, base).extent().ok()?;
        let end = end.saturating_add(plan.furthest());
        // 4-bit elements share bytes.
        let (start, end) = (bytes(start).div_euclid(8), bytes(end).saturating_add(7).div_euclid(8));
        Some((*tensor, (start + (least - address.base()), end + (most - address.base()))))
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

/// The registers of the stages after the mask.
fn adapter_registers(cx: &StageCx<'_>, mut spec: OpSpec, adapter: &Adapter) -> OpSpec {
    if let Some(table) = &adapter.table {
        spec = cx.body(spec, "table", &visa_sequencer::TABLE, table.clone());
    }
    if let Some(row) = adapter.cast {
        spec = cx.body(spec, "to", &visa_sequencer::DTYPE, row.to);
    }
    if !adapter.zero.is_empty() {
        let zero: Vec<i64> = adapter.zero.iter().copied().map(i64::from).collect();
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
    let op = Switch::of(op)?;
    let topology = op.topology()?;
    let mut spec = cx.word(cx.spec("hw.switch", *op)?, "topology", &topology);
    if &*topology == "custom" {
        let Snooping { ring, rows } = &*cx.plan::<Snooping>(*op)?;
        spec = cx.int(spec, "ring", *ring as u64);
        let rows = rows.clone();
        return Ok(Some(cx.body(spec, "snoop", &visa_hw::snoop::SNOOP, visa_hw::snoop::Snoop { rows })));
    }
    for (clause, value) in [("slice1", op.slice1()?), ("slice0", op.slice0()?), ("time0", op.time0()?)] {
        if let Some(value) = value {
            spec = spec.clause(clause, cx.ctx.attr(Attr::Int(value)));
        }
    }
    Ok(Some(spec))
}

fn collect(cx: &StageCx<'_>, op: OpRef<'_>) -> Result<Option<OpSpec>, Diagnostic> {
    let (source, result) = ends(op)?;
    let flit = flit_bytes(&source, cx.machine);
    let spec =
        cx.int(cx.spec("hw.collect", op)?, "flits", packet_bytes(op, &source, cx.axes)?.div_ceil(flit));
    let whole = packet_bytes(op, &result, cx.axes)? == flit;
    Ok(Some(if whole { spec } else { spec.clause("halves", cx.ctx.attr(Attr::Unit)) }))
}

fn to_trf(cx: &StageCx<'_>, op: OpRef<'_>) -> Result<Option<OpSpec>, Diagnostic> {
    let (_, result) = ends(op)?;
    let spec = cx.word(cx.spec("hw.store_trf", op)?, "region", &ToTrf::of(op)?.at()?);
    let spec = cx.int(spec, "rows", positions(cx, op, &result, Dim::Row)?);
    let row_bytes = result.bytes(positions(cx, op, &result, Dim::Element)?);
    let row_bytes =
        row_bytes.ok_or_else(|| op.clause_error("C3", "element", "too many elements to count"))?;
    Ok(Some(cx.int(spec, "row_bytes", row_bytes)))
}

/// The positions of a dimension of what `op` takes or gives.
fn positions(cx: &StageCx<'_>, op: OpRef<'_>, tensor: &Tensor, dim: Dim) -> Result<u64, Diagnostic> {
    tensor.dim(dim).size(cx.axes).map_err(|error| mapping_error(error, op.clause_span(dim.name())))
}

fn to_vrf(cx: &StageCx<'_>, op: OpRef<'_>) -> Result<Option<OpSpec>, Diagnostic> {
    let at = cx.ctx.attr(Attr::Int(ToVrf::of(op)?.at()?));
    Ok(Some(cx.spec("hw.store_vrf", op)?.clause("at", at)))
}

fn align(cx: &StageCx<'_>, op: OpRef<'_>) -> Result<Option<OpSpec>, Diagnostic> {
    let (source, _) = ends(op)?;
    let file = Align::of(op)?.weights()?;
    let weights = file.of_type::<Tensor>()?;
    let AlignPlan { shifts, read } = &*cx.plan::<AlignPlan>(op)?;
    let elements = accessed(cx, op, (read, 0), source.dtype, Accessor::Align)?;
    let store = visa_mapping::view::origin(op, file.id);
    let store = store.ok_or_else(|| op.error("C0", "nothing stores its register-file operand"))?;
    // An open half may become the whole file.
    let half = ToTrf::of(store)?.at_unless_auto()?.unwrap_or_else(|| "full".into());
    let mut spec = cx.body(cx.spec("seq.align", op)?, "dtype", &visa_sequencer::DTYPE, source.dtype);
    spec = cx.word(spec, "region", &half);
    spec = cx.int(spec, "flits", shifts.flits);
    if shifts.count > 0 {
        spec = cx.int(cx.int(spec, "shifts", shifts.count), "distance", shifts.distance);
    }
    spec = cx.int(spec, "repeat", shifts.repeat);
    spec = cx.int(spec, "rows", positions(cx, op, &weights, Dim::Row)?);
    Ok(Some(loops(cx, spec, elements)))
}

fn contract(cx: &StageCx<'_>, op: OpRef<'_>) -> Result<Option<OpSpec>, Diagnostic> {
    let ((source, _), depth) = (ends(op)?, cx.plan::<TreeDepth>(op)?.0);
    let spec = cx.body(cx.spec("hw.contract", op)?, "dtype", &visa_hw::attrs::DTYPE, source.dtype);
    let spec = kind(cx, spec, op)?;
    Ok(Some(cx.int(spec, "depth", u64::from(depth))))
}

/// The clause of a contraction that is no sum.
fn kind(cx: &StageCx<'_>, spec: OpSpec, op: OpRef<'_>) -> Result<OpSpec, Diagnostic> {
    Ok(match contract::reduction(op)? {
        ContractionKind::Add => spec,
        ContractionKind::Max => cx.word(spec, "op", "max"),
    })
}

fn accumulate(cx: &StageCx<'_>, op: OpRef<'_>) -> Result<Option<OpSpec>, Diagnostic> {
    let (source, _) = ends(op)?;
    let slots = slots(op, &cx.plan::<Accumulation>(op)?.0)?;
    let mut spec = cx.word(cx.spec("hw.accumulate", op)?, "kind", &Accumulate::of(op)?.mode()?);
    spec = kind(cx, spec, op)?;
    spec = cx.int(spec, "rows", positions(cx, op, &source, Dim::Row)?);
    spec = cx.int(spec, "columns", positions(cx, op, &source, Dim::Packet)?);
    Ok(Some(spec.clause("slots", cx.ctx.body_attr(&visa_hw::attrs::PROGRAM, slots))))
}

/// The slot of each step: loops that are summed stay on theirs, the others number them in the order they come out.
fn slots(op: OpRef<'_>, loops: &[TimeLoop]) -> Result<Program, Diagnostic> {
    let mut entries = Vec::new();
    let mut slots = 1_i64;
    for time in loops.iter().rev() {
        let stride = if time.summed { 0 } else { slots };
        if !time.summed {
            let more = i64::try_from(time.limit).ok().and_then(|limit| slots.checked_mul(limit));
            slots = more.ok_or_else(|| op.error("C0", "the steps of its time are too many to count"))?;
        }
        entries.push(Entry::new(time.limit, stride));
    }
    if entries.is_empty() {
        entries.push(Entry::new(1, 1));
    }
    entries.reverse();
    let mut slots = Program { entries, packet: 1, base: 0 };
    slots.merge();
    Ok(slots)
}

fn reduce(cx: &StageCx<'_>, op: OpRef<'_>) -> Result<Option<OpSpec>, Diagnostic> {
    let reduce = cx.plan::<ReducePlan>(op)?;
    let Reduction { row, loops, tree, .. } = &reduce.reduction;
    let spec = cx.word(cx.spec("hw.vector_reduce", op)?, "op", row.name);
    let spec = cx.word(spec, "lanes", if *tree { "tree" } else { "apart" });
    Ok(Some(spec.clause("slots", cx.ctx.body_attr(&visa_hw::attrs::PROGRAM, slots(op, loops)?))))
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
    let Some(counting) = cx.plan::<ReducePlan>(reduce)?.counting.clone() else { return Ok(None) };
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
    let (source, _) = ends(op)?;
    Ok(Some(match visa_stream::branch::mode(op)? {
        // Ids are 0 unless something sets them.
        BranchMode::Unconditional => return Ok(None),
        BranchMode::AxisToggle(axis) => {
            let toggles = visa_stream::branch::toggles(op, &source, &axis, cx.axes)?;
            let pairs = toggles.iter().flat_map(|toggle| [toggle.apart, toggle.limit]);
            let pairs: Result<Vec<i64>, _> = pairs.map(i64::try_from).collect();
            let pairs = pairs.map_err(|_| op.error("C0", "its axis is too long to toggle along"))?;
            start("toggle")?.clause("toggle", cx.ctx.attr(Attr::Ints(pairs.into())))
        }
        BranchMode::ValidCount => start("valid_count")?,
        BranchMode::Comparison(comparisons) => {
            let comparisons = comparisons.try_map(|bits| Ok::<_, Diagnostic>(bits.cast_signed()))?;
            cx.body(start("comparison")?, "compare", &visa_sequencer::COMPARISONS, comparisons)
        }
        BranchMode::RegisterFile => {
            let program = vector_operand(cx, op, 1)?;
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
            false => cx.body(spec, loops, &visa_sequencer::PROGRAM, vector_operand(cx, op, at + 1)?),
        };
    }
    Ok(Some(spec))
}

fn filter(cx: &StageCx<'_>, op: OpRef<'_>) -> Result<Option<OpSpec>, Diagnostic> {
    let keep = vector_filter::kept(op)?.try_map(|bits| Ok::<_, Diagnostic>(bits.cast_signed()))?;
    let spec = cx.body(cx.spec("hw.filter", op)?, "keep", &visa_sequencer::GUARDS, keep);
    let (source, _) = ends(op)?;
    let digits = plan::digits_of(&source.dim(Dim::Packet), cx.axes).map_err(|why| op.error("C3", why))?;
    let lanes = cx.machine.limits.vector_lanes;
    let live = digits.live_count().ok_or_else(|| op.error("C3", "no count of the packet's live elements"))?;
    Ok(Some(if live < lanes { cx.int(spec, "lanes", live) } else { spec }))
}

/// How operand `index` is read from the vector register file.
fn vector_operand(cx: &StageCx<'_>, op: OpRef<'_>, index: usize) -> Result<Program, Diagnostic> {
    let reads = cx.plan::<RegisterReads>(op)?;
    let plan = reads.of(index).ok_or_else(|| op.error("C0", "no register file"))?;
    let base = address::in_elements(cx, op, view::operand(&op, index, "register file")?)?;
    accessed(cx, op, (plan, base), DType::I32, Accessor::Vector)
}

/// The program of a plan for a tensor at `base`, if there are accesses that run it.
fn accessed(
    cx: &StageCx<'_>,
    op: OpRef<'_>,
    (plan, base): (&Plan, i64),
    dtype: DType,
    accessor: Accessor,
) -> Result<Program, Diagnostic> {
    let elements = program(plan, base);
    match accessor.known(cx.ctx, &elements, dtype) {
        Ok(_) => Ok(elements),
        Err(error) => Err(origin::refused(op, plan, dtype, &error)),
    }
}

fn cast(cx: &StageCx<'_>, op: OpRef<'_>) -> Result<Option<OpSpec>, Diagnostic> {
    let (_, result) = ends(op)?;
    Ok(Some(cx.body(cx.spec("hw.cast", op)?, "dtype", &visa_hw::attrs::DTYPE, result.dtype)))
}

fn reinterpret(cx: &StageCx<'_>, op: OpRef<'_>) -> Result<Option<OpSpec>, Diagnostic> {
    let (_, result) = ends(op)?;
    let spec = cx.spec("hw.vector_reinterpret", op)?;
    Ok(Some(cx.body(spec, "dtype", &visa_hw::attrs::DTYPE, result.dtype)))
}

fn commit(cx: &StageCx<'_>, op: OpRef<'_>) -> Result<Option<OpSpec>, Diagnostic> {
    write_loops(cx, op, &cx.plan::<CommitPlan>(op)?.0)
}

fn commit_view(cx: &StageCx<'_>, op: OpRef<'_>) -> Result<Option<OpSpec>, Diagnostic> {
    write_loops(cx, op, &cx.plan::<PartPlan>(op)?.0)
}

fn commit_tile(cx: &StageCx<'_>, op: OpRef<'_>) -> Result<Option<OpSpec>, Diagnostic> {
    let address = address::written(cx, op)?;
    write_loops_at(cx, op, &cx.plan::<TilePlan>(op)?.0, &address).map(Some)
}

fn fill(cx: &StageCx<'_>, op: OpRef<'_>) -> Result<Option<OpSpec>, Diagnostic> {
    fill_loops(cx, op, &cx.plan::<FillPlan>(op)?.0, ops::fill::number(op)?)
}

fn fill_view(cx: &StageCx<'_>, op: OpRef<'_>) -> Result<Option<OpSpec>, Diagnostic> {
    fill_loops(cx, op, &cx.plan::<FillViewPlan>(op)?.0, ops::fill_view::number(op)?)
}

/// The fill that writes 32 bits over and over in these loops.
fn fill_loops(
    cx: &StageCx<'_>,
    op: OpRef<'_>,
    plan: &Fill,
    number: Bits,
) -> Result<Option<OpSpec>, Diagnostic> {
    let address = address::moving(cx, op, view::result(&op, 0, "tensor")?)?;
    let distances: Vec<i64> = address.distances().collect();
    let loops = plan
        .at(address.base(), &distances, cx.machine)
        .map_err(|why| op.clause_error("C4", "element", why))?;
    let spec = cx.int(cx.spec("hw.fill", op)?, "value", u64::from(number));
    let spec = cx.body(spec, "loops", &visa_hw::attrs::PROGRAM, loops);
    Ok(Some(address::steps(op, spec, "steps", &address)))
}

/// The commit that writes in these loops.
fn write_loops(cx: &StageCx<'_>, op: OpRef<'_>, plan: &Plan) -> Result<Option<OpSpec>, Diagnostic> {
    let address = address::moving(cx, op, view::result(&op, 0, "tensor")?)?;
    write_loops_at(cx, op, plan, &address).map(Some)
}

/// The commit that writes in these loops from an address on, in bytes.
fn write_loops_at(
    cx: &StageCx<'_>,
    op: OpRef<'_>,
    plan: &Plan,
    address: &Moving,
) -> Result<OpSpec, Diagnostic> {
    let (source, _) = ends(op)?;
    let base = address.base().saturating_mul(8) / i64::from(source.dtype.bits());
    let accessor = Accessor::Commit { unit: source.unit.unwrap_or(Unit::Main) };
    let elements = accessed(cx, op, (plan, base), source.dtype, accessor)?;
    let spec = cx.body(cx.spec("seq.commit", op)?, "dtype", &visa_sequencer::DTYPE, source.dtype);
    Ok(address::steps(op, loops(cx, spec, elements), "steps", address))
}

fn lower_commit_packed(cx: &StageCx<'_>, op: OpRef<'_>) -> Result<Option<OpSpec>, Diagnostic> {
    let (_, result) = ends(op)?;
    let packing = cx.plan::<Packing>(op)?;
    let commit = CommitPacked::of(op)?;
    let run = Entry::new(packing.room.saturating_mul(result.dtype.align()), 1);
    let base = address::of(cx, op, commit.result_tensor()?)?;
    let loops = Program { entries: vec![run], packet: cx.machine.limits.commit_size_sub, base };
    let mut spec = cx.int(cx.spec("hw.commit_packed", op)?, "most", packing.most);
    if let Some(stride) = packing.stride {
        let counts = commit.counts().ok_or_else(|| op.error("C1", "no counts"))?;
        spec = spec.clause("counts", cx.ctx.attr(Attr::Int(address::of(cx, op, counts)?)));
        spec = cx.int(spec, "stride", stride * DType::I32.align());
    }
    Ok(Some(cx.body(spec, "loops", &visa_hw::attrs::PROGRAM, loops)))
}
