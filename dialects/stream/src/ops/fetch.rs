//! `stream.fetch`: the fetch engine reads data memory into packets (book 08).

use crate::adapter::Adapter;
use crate::adapter_clauses::adapter;
use crate::chain::{axes, check_first_slices, ends, next, packet_bytes};
use crate::lift;
use crate::lower::loops::program;
use crate::lower::{LowerStage, StageCx, address, origin};
use crate::mask::{Mask, Reading};
use crate::ops::begin_interleaved;
use crate::pad::Pad;
use crate::plan::Plan;
use crate::planner::{Planner, StagePlan, planned};
use crate::raise::result;
use crate::streams::FETCH;
use std::rc::Rc;
use visa_algebra::{Axes, Expr};
use visa_engine::place::rngd;
use visa_ir::decl::{ClauseDecl, ClauseKind, Interface, OpDecl, OperandDecl};
use visa_ir::diag::{Diagnostic, counted};
use visa_ir::effects::{Effects, Target, reads};
use visa_ir::module::{OpRef, OpSpec, TypeId, ValueId};
use visa_ir::verify::VerifyCx;
use visa_ir::view;
use visa_loops::Program;
use visa_mapping::facts::check_mappings;
use visa_mapping::ops::cast::SubtractZero;
use visa_mapping::ops::gather::Lookup;
use visa_mapping::raise::{Raising, Semantics};
use visa_mapping::tensor::attrs::{DTYPE, MAP};
use visa_mapping::{Dim, Tensor, Unit};
use visa_numerics::{DType, pattern};
use visa_sequencer::access::{self, AccessError, Accessor};
use visa_sequencer::ops::stages;

/// `stream.fetch`.
#[visa_ir::view(Fetch)]
pub static DECL: OpDecl = OpDecl {
    name: "stream.fetch",
    summary: "Reads each slice's elements as packets, in any order that a sequencer can walk.",
    doc: "Every time step delivers a packet to each slice. An axis that the tensor does not depend on is broadcast; \
          padding is read beyond the tensor (over-fetch). A gathered term, `R @ (3, 1, 5)`, is read by an offset \
          table (book 07, indirect access). Of a skewed axis `B' = B - A` with A on chips, clusters or slices, each \
          of these starts at its own address (book 08, 32).\n\n\
          A lift does the same for copies: where the tensor has copies in chips, clusters or slices, `chip`, \
          `cluster` and `slice` may name parts of axes that its elements have. Each of these then reads its part \
          of the copy that it holds, and time goes over the other parts.\n\n\
          The fetch adapter works on each element, in this order: zero padding is masked; with `table`, an element \
          becomes the value that a `tm.table` has for it; with `dtype`, it is converted, from the table's format if \
          there is one; the zero point is subtracted, and the result wraps.\n\n\
          Masked positions are zero, regardless of memory; with `pad lowest` or `pad highest` the least or greatest \
          number of the tensor's format, converted with the others: the identity of a maximum or minimum (book 22). \
          A padded term such as `B # 92 {left 0} # 96 {0}`, best under an alias, may be cut into time and packet \
          anywhere: `{P} / 32` and `{P} % 32`. Its parts then count its positions, up to the end of the pipeline or \
          to where the zeros at the end are forgotten. A sliding term, `$(W:1, F:1)` of a `tm.window`, is read as \
          one in the same way; the aligner takes it apart.",
    constraints: &[
        ("C1", "the output packet is a multiple of 8 bytes (book 08)"),
        (
            "C2",
            "the machine's fetch adapter has the conversion: RNGD's i4 to i5 and i32, i8 to i9 and i32, i16 to \
             i32, f8e4m3, f8e5m2, f16 and bf16 to f32, f32 to bf16; RNGD-S's also i4 and i16 to i9, f8e4m3 and \
             f8e5m2 to bf16 (book 08)",
        ),
        ("C3", "the slice holds every element asked for, in radices that agree (book 07)"),
        (
            "C4",
            "of two interleaved tensors, the axis between them is the innermost term of time: packets alternate \
             (book 08)",
        ),
        ("C5", "`table` names a `tm.table` for the tensor's format; tables belong to main (book 08)"),
        (
            "C6",
            "zero points are subtracted after a conversion of an integer of up to 8 bits to a wider one, and are \
             in the range of the latter; one for each of two interleaved tensors, or one for all (book 08)",
        ),
        (
            "C7",
            "one term slides or has zero padding; its elements are evenly spaced in memory, it is cut into the \
             innermost loop of the packet and at most one loop around that, or stands whole in one loop, and the \
             cut parts are whole axes (book 08)",
        ),
        (
            "C8",
            "masked are, in the first iteration of that loop, at most all of the innermost one on the left, and \
             in the last iteration on the right as many, but at most 255 x 4 bits; or, without padding on the \
             left and with at most 8 iterations, any number on the right of each (book 08)",
        ),
        ("C9", "the main context masks, in packets of at most 256 bytes (book 08)"),
        ("C10", "padding before the elements is read from the slice's memory, masked or not (book 08)"),
        (
            "C11",
            "zero padding is zero after the adapter: some number of the tensor's format becomes zero by the \
             table and every zero point (book 08: pad_value)",
        ),
        (
            "C12",
            "`pad` masks something; and the least or greatest number of the tensor's format stays that after the \
             adapter: no table, an exact conversion, no zero point that makes it wrap (book 08, 22)",
        ),
        ("C13", "where slices read from different addresses, the stream's begin with the first (book 08)"),
        (
            "C14",
            "`chip`, `cluster` and `slice` have the coordinates that the tensor has there; only copies get others, \
             and each slice's part starts a multiple of 8 bytes into the tensor (book 08)",
        ),
    ],
    operands: &[OperandDecl::one("stream", &["stream.begin"])],
    clauses: &[
        ClauseDecl::optional("table", ClauseKind::Symbol, "look each element up in this table"),
        ClauseDecl::optional("dtype", ClauseKind::body::<DType>(&DTYPE), "convert elements to this format"),
        ClauseDecl::optional(
            "zero_points",
            ClauseKind::Ints,
            "subtract this from each converted element; `[n]`, or `[n, m]` of two interleaved tensors",
        ),
        ClauseDecl::optional("pad", ClauseKind::word::<Pad>(), "value of masked padding: `zero` if absent"),
        ClauseDecl::optional(
            "chip",
            ClauseKind::body::<Expr>(&MAP),
            "chips of the stream, if copies get parts",
        ),
        ClauseDecl::optional("cluster", ClauseKind::body::<Expr>(&MAP), "clusters, if copies get parts"),
        ClauseDecl::optional("slice", ClauseKind::body::<Expr>(&MAP), "slices, if copies get parts"),
        ClauseDecl::required("time", ClauseKind::body::<Expr>(&MAP), "mapping of the time steps").open(),
        ClauseDecl::required("packet", ClauseKind::body::<Expr>(&MAP), "mapping of the elements of a packet")
            .open(),
    ],
    results: &["stream"],
    effects: Effects::Are(&[reads(Target::Memory("tm.dm"))]),
    infer: Some(infer),
    verify: Some(verify),
    example: "%f = stream.fetch %b time [J / 16], packet [J % 16]",
    interfaces: &[Interface(&rngd::FETCH), Interface(&Semantics(raised)), Interface(&LowerStage(lower))],
    ..OpDecl::BASE
};

/// The operations of this file.
pub static OPS: &[&OpDecl] = &[&DECL];

fn infer(op: OpRef<'_>) -> Result<Vec<TypeId>, Diagnostic> {
    next(op, &FETCH, Fetch::of(op)?.dtype()?.map(|dtype| *dtype))
}

fn verify(op: OpRef<'_>, cx: &VerifyCx<'_>) -> Result<(), Diagnostic> {
    check_mappings(op, &axes(cx).0)?;
    match planned::<FetchPlan>(op, cx)?.plan.starts.is_empty() {
        true => Ok(()),
        false => check_first_slices(op, cx, "C13"),
    }
}

/// The reads, masks and conversions of a fetch.
pub struct FetchPlan {
    /// The loops over one tensor.
    pub plan: Plan,
    /// The masked elements.
    pub mask: Option<Mask>,
    /// The stages of the adapter.
    pub adapter: Adapter,
    /// The axis between two interleaved tensors.
    pub between: Option<Rc<Expr>>,
}

impl StagePlan for FetchPlan {
    fn make(planner: &Planner<'_>, op: OpRef<'_>) -> Result<Self, Diagnostic> {
        let (source, result) = ends(op)?;
        let adapter = adapter(op)?;
        check_packet(op, &result, planner)?;
        let (time, free) = (own_time(op, &result, planner.axes)?, planner.free(op, 0));
        let reading = Reading::new(&source, &result, time, &free, planner.axes, planner.machine);
        let (plan, mask) = reading.plan().map_err(|refused| refused.at(op))?;
        check_pad(op, &adapter, mask.is_some())?;
        check_parts(op, &plan, source.dtype, planner.machine.limits.fetch_align)?;
        Ok(Self { plan, mask, adapter, between: begin_interleaved::axis_of(op)? })
    }
}

/// C1.
fn check_packet(op: OpRef<'_>, result: &Tensor, planner: &Planner<'_>) -> Result<(), Diagnostic> {
    let bytes = packet_bytes(op, result, planner.axes)?;
    let align = planner.machine.limits.fetch_align;
    if bytes.is_multiple_of(align) {
        return Ok(());
    }
    let packet = result.dim(Dim::Packet);
    let message = format!(
        "packet `{packet}` of `{}` has {}, expected a multiple of {align}",
        result.dtype,
        counted(bytes, "byte")
    );
    let padded = result.dtype.elements(bytes.next_multiple_of(align));
    let fix = format!("pad the packet to {} (`# {padded}`)", counted(padded, "element"));
    Err(op.clause_error("C1", "packet", message).fix(Some(fix)))
}

/// C14: the parts of copies start at addresses from which an engine reads.
fn check_parts(op: OpRef<'_>, plan: &Plan, dtype: DType, align: u64) -> Result<(), Diagnostic> {
    let Some(clause) = lift::clause(op) else { return Ok(()) };
    let bits = |start: i64| start.saturating_mul(i64::from(dtype.bits()));
    let align_bits = (align * 8).cast_signed();
    let Some(start) = plan.distances().into_iter().find(|start| bits(*start) % align_bits != 0) else {
        return Ok(());
    };
    let message = format!(
        "a part starts {} of `{dtype}` after another, expected a multiple of {align} bytes (book 08)",
        counted(start.unsigned_abs(), "element")
    );
    Err(op.clause_error("C14", clause, message))
}

/// C11 and C12: masked padding can have its value.
fn check_pad(op: OpRef<'_>, adapter: &Adapter, masks: bool) -> Result<(), Diagnostic> {
    let pad = Pad::of(Fetch::of(op)?)?;
    if !masks {
        return match op.attr("pad") {
            Some(_) => Err(op.clause_error(
                "C12",
                "pad",
                "nothing is masked: time and packet have no `{0}`".to_owned(),
            )),
            None => Ok(()),
        };
    }
    if adapter.masked(pad).is_some() {
        return Ok(());
    }
    if pad == Pad::Zero {
        let message = "zero padding is not zero after the table and the zero points: no number becomes zero by \
                       all of them";
        return Err(op.clause_error("C11", "packet", message.to_owned()));
    }
    let message = format!(
        "the {pad} number of `{}` is another after the table, the conversion and the zero points",
        adapter.from
    );
    Err(op.clause_error("C12", "pad", message))
}

/// The time of one tensor: that of the stream, but for the axis between two interleaved ones. C4.
fn own_time(op: OpRef<'_>, result: &Tensor, axes: &Axes) -> Result<Expr, Diagnostic> {
    let time = result.dim(Dim::Time);
    match begin_interleaved::axis_of(op)? {
        Some(axis) => begin_interleaved::without_axis(&axis, &time, axes)
            .map_err(|why| op.clause_error("C4", "time", why)),
        None => Ok(time),
    }
}

/// Operand 0, each element looked up, converted, and its zero point subtracted.
fn raised(cx: &mut Raising<'_>, op: OpRef<'_>) -> Result<(), Diagnostic> {
    let (to, adapter) = (result(op)?, adapter(op)?);
    let mut known = cx.held(op, 0, &to)?;
    if let Some(table) = adapter.table {
        let spec = Lookup::build(op, [known.value]).table(table).spec();
        known = cx.emit(spec, known.held)?;
    }
    known = cx.cast(op, known, to.dtype)?;
    if !adapter.zero.is_empty() {
        // One zero point is for all coordinates.
        let axis = adapter.axis.filter(|_| adapter.zero.len() > 1).map(|name| Expr::axis(&name));
        let points: Vec<i64> = adapter.zero.iter().map(|&zero| zero.into()).collect();
        let spec = SubtractZero::build(op, [known.value]).points(points).along(axis).spec();
        known = cx.emit(spec, known.held)?;
    }
    cx.bind(op, known)
}

fn lower(cx: &StageCx<'_>, op: OpRef<'_>) -> Result<Option<OpSpec>, Diagnostic> {
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
    let address = address::moving(cx, op, view::operand(&begin(op)?, 0, "tensor")?)?;
    let starts = starts(&plan.0);
    if let Some(starts) = &starts {
        access::starts(starts, from).map_err(|error| error.diagnostic(op.span()))?;
    }
    let adapter = &fetch.adapter;
    let zero: Vec<i64> = adapter.zero.iter().copied().map(i64::from).collect();
    let lowered = stages::Fetch::build(op)
        .dtype(from)
        .mask(mask)
        .table(adapter.table.clone())
        .to(adapter.cast.map(|row| row.to))
        .zero(Some(zero).filter(|zero| !zero.is_empty()))
        .loops(elements)
        .starts(starts)
        .steps(address::steps(op, &address));
    Ok(Some(lowered.spec()))
}

/// The beginning of a fetch's pipeline.
fn begin(op: OpRef<'_>) -> Result<OpRef<'_>, Diagnostic> {
    Fetch::of(op)?.stream()?.made_by().ok_or_else(|| op.error("C0", "no beginning"))
}

/// The loops of a fetch over its tensors at their addresses, and its mask.
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

/// The value of masked elements, as bits in data memory.
fn masked(op: OpRef<'_>, adapter: &Adapter) -> Result<u64, Diagnostic> {
    let bits = adapter.masked(Pad::of(Fetch::of(op)?)?).ok_or_else(|| {
        op.clause_error("C12", "pad", "no number of data memory becomes the mask value of the padding")
    })?;
    Ok(u64::from(pattern(adapter.from, bits)))
}

/// The fix for a fetch of the sub context that the main context supports.
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

/// The start of each slice in elements after the base, if the slices differ.
fn starts(plan: &Plan) -> Option<Program> {
    let program = Program { entries: plan.starts.clone(), packet: 1, base: 0 };
    (!plan.starts.is_empty()).then_some(program)
}

/// The byte range that a fetch reads of each tensor in data memory: the address of the first byte, and the address
/// after the last. Empty if `op` is not a fetch or has no plan; tensors without an address are left out.
#[must_use]
pub fn read_ranges(cx: &StageCx<'_>, op: OpRef<'_>) -> Vec<(ValueId, (i64, i64))> {
    if !op.is(&DECL) {
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

/// The registers of a mask whose elements become `value`, given as bits in data memory.
#[must_use]
pub fn mask_registers(mask: Mask, value: u64) -> visa_loops::Mask {
    let Mask { dim, left, by, valid } = mask;
    visa_loops::Mask { dim, left, by, valid, value }
}

/// Checks C10: padding before the elements is read from addresses of the slice's memory. Only a padded term makes a
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
