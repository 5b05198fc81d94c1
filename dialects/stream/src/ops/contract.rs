//! `stream.align`, `stream.contract`, `stream.accumulate`: the contraction engine (book 15 to 19).

use crate::chain::{
    self, axes, check_place, check_same, coarse_in_places, ends, flit_bytes, input, main_only, next,
    packet_bytes, positions, with_dims,
};
use crate::forgotten::DropsAxes;
use crate::formula::Formula;
use crate::lower::loops::accessed;
use crate::lower::{LowerStage, StageCx};
use crate::ops::fill_padding::check_summed;
use crate::ops::store::ToTrf;
use crate::pad::Pad;
use crate::padding::padding_kept;
use crate::pipeline;
use crate::plan::{self, Plan, Shared, TimeLoop};
use crate::planner::{Planner, StagePlan, planned};
use crate::raise::asked::{Along, SumsAlong};
use crate::raise::contraction;
use crate::shift::{Shifts, Windows};
use crate::streams::{ACCUMULATE, ALIGN, CONTRACT};
use std::collections::BTreeSet;
use std::sync::Arc;
use visa_algebra::{
    Axes, AxisId, Digits, Expr, Opaque, PadKind, Padded, Placement, padded_terms, place, without_zeros,
};
use visa_engine::place::rngd;
use visa_engine::words::{AccumulatorOrder, ContractionKind, RegionName};
use visa_hw::ops as hw;
use visa_ir::decl::{ClauseDecl, ClauseKind, Interface, OpDecl, OperandDecl};
use visa_ir::diag::{Diagnostic, counted};
use visa_ir::effects::{Effects, Target, reads};
use visa_ir::module::{OpRef, OpSpec, TypeId};
use visa_ir::verify::VerifyCx;
use visa_loops::{Entry, Program, distance};
use visa_machine::Machine;
use visa_mapping::error::mapping_error;
use visa_mapping::facts::{check_mappings, machine, written};
use visa_mapping::ops::transfer::free_axes;
use visa_mapping::raise::Semantics;
use visa_mapping::tensor::attrs::MAP;
use visa_mapping::{Dim, Tensor, operand};
use visa_numerics::DType;
use visa_sequencer::access::Accessor;
use visa_sequencer::ops::stages;

/// `stream.align`.
#[visa_ir::view(Align)]
pub static ALIGN_DECL: OpDecl = OpDecl {
    name: "stream.align",
    summary: "Pairs the stream with a tensor in the register file.",
    doc: "The stream adapter collects one or two flits into a packet of 64 bytes (one flit is padded with zeros), \
          gives it to every row, and repeats it along axes of time that only the register file has. In the dual \
          context a flit is such a packet, and one is collected (book 17: 96 bytes of buffer). The TRF sequencer \
          reads the register file in the same order (book 16, 17, 18).\n\n\
          Of a stream that slides, `$(W:1, F:1)`, it collects up to three flits and emits a packet for each F, \
          shifted by as many elements: time `[..., F]`, packet `[W # 32]` (shift-reuse, book 15). The packet may \
          split F too: of `$(W:2, F:1)` with |F| = 4, time `[..., F / 2]` and packet `[W, F % 2]`.",
    constraints: &[
        ("C1", "the format can enter the contraction: i4, i5, i8, i9, f8e4m3, f8e5m2 or bf16 (book 19)"),
        ("C2", "the packet has 64 bytes (book 17)"),
        (
            "C3",
            "[time, packet] is the stream's, one or two flits a packet (one of 64 bytes in the dual context), with \
             time broadcast innermost (book 17)",
        ),
        ("C4", "both operands lie in the same chips, clusters and slices, in the same format (book 16)"),
        (
            "C5",
            "the register file holds every element that the packet reads, contiguous within the packet (book 18). \
             If only its chips, clusters and slices divide an axis, as `cluster [L / 64]` does, each place reads \
             the same elements below their least step, and repeats its content (ours)",
        ),
        ("C6", "main context only (book 12)"),
        (
            "C7",
            "of a stream that slides, each window is in one to three flits, in the dual context one, and [time, \
            packet] is the stream's time, then one loop of shifts by whole bytes, then time broadcast; the \
            packet's elements stand as in the window, and each index of it is taken once (book 15, 17)",
        ),
        (
            "C8",
            "masked padding of the stream is zero, and zeros that the packet claims are zeros of the stream or of \
             the register file, or those after a single flit (book 15, 17)",
        ),
    ],
    operands: &[
        OperandDecl::accepting("stream", pipeline::after!(&rngd::ALIGN)),
        OperandDecl::one("weights", &["tm.trf"]),
    ],
    clauses: &[
        ClauseDecl::required(
            "time",
            ClauseKind::body::<Expr>(&MAP),
            "mapping of the computation's time steps",
        )
        .open(),
        ClauseDecl::required(
            "packet",
            ClauseKind::body::<Expr>(&MAP),
            "mapping of the elements of the 64-byte packet",
        )
        .open(),
    ],
    results: &["pair"],
    effects: Effects::Are(&[reads(Target::Operand("weights"))]),
    infer: Some(infer_align),
    verify: Some(verify_align),
    example: "%p = stream.align %c, %w time [J / 32], packet [J % 32]",
    interfaces: &[
        Interface(&rngd::ALIGN),
        Interface(&Semantics(contraction::align)),
        Interface(&Formula::Product),
        Interface(&LowerStage(lower_align)),
    ],
    ..OpDecl::BASE
};

/// `stream.contract`.
#[visa_ir::view(Contract)]
pub static CONTRACT_DECL: OpDecl = OpDecl {
    name: "stream.contract",
    summary: "Multiplies element by element and sums within each packet by the reduction tree.",
    doc: "Sums are widened: integers to i32, f8 and bf16 to f32. Each level of the tree adds neighbours (book 19, \
          docs/numerics.md). With `op max` the tree takes the greatest of the products instead, and so does the \
          accumulator after it.",
    constraints: &[
        (
            "C1",
            "the packet is summed in groups of 2^n elements, n up to the depth of the tree: 7 for i4 and i5, 6 \
             for i8, i9 and f8, 5 for bf16 (book 19)",
        ),
        ("C2", "at most 32 sums a row; where nothing is summed, the first 32 products of a packet (book 19)"),
        ("C3", "`op max` is for a single row, and no padding is in its groups: a zero would count (book 19)"),
        (
            "C4",
            "with `over`, the packet's summed factors belong to its axes (ours: it limits the sums of a choice of \
             mappings)",
        ),
    ],
    operands: &[OperandDecl::accepting("pair", pipeline::after!(&rngd::CONTRACT))],
    clauses: &[
        ClauseDecl::default(
            "op",
            ClauseKind::word::<ContractionKind>(),
            "add",
            "reduction of products, in the packet and over time",
        ),
        ClauseDecl::optional(
            "over",
            ClauseKind::body::<Expr>(&MAP),
            "the axes that are summed, in the packet and over time, each whole; if absent, all axes that the \
             mappings leave out",
        ),
        ClauseDecl::required("packet", ClauseKind::body::<Expr>(&MAP), "mapping of the sums of a row").open(),
    ],
    results: &["sums"],
    effects: Effects::PURE,
    infer: Some(infer_contract),
    verify: Some(verify_contract),
    example: "%t = stream.contract %p packet [1]",
    interfaces: &[
        Interface(&rngd::CONTRACT),
        Interface(&Semantics(|cx, op| contraction::sum_packet(cx, op, reduction(op)?))),
        Interface(&Formula::Call(greatest)),
        Interface(&DropsAxes::BySum),
        Interface(&LowerStage(lower_contract)),
    ],
    ..OpDecl::BASE
};

/// `stream.accumulate`.
#[visa_ir::view(Accumulate)]
pub static ACCUMULATE_DECL: OpDecl = OpDecl {
    name: "stream.accumulate",
    summary: "Sums over the time loops that the result leaves out.",
    doc: "Partial sums are added in the order of time. `interleaved` puts one sum of each row into a flit: time \
          is [kept time, packet], the packet is the row padded to 8. `sequential` puts sums of one row into a \
          flit: time is [kept time, row, outer packet], the packet has 8 of its sums (book 19).",
    constraints: &[
        (
            "C1",
            "the kept time loops are those of the input, in order (book 19); padding that is summed is zero, and \
             nothing to the reduction",
        ),
        ("C2", "the rest of [time, packet] is as the mode orders it (book 19)"),
        (
            "C3",
            "buffer: interleaved align_up(row, 8) x inner <= 1024 and inner <= 128; sequential align_up(packet, 32) \
             x inner <= 1024 and inner <= 32, inner being the part within the outermost summed loop (book 19)",
        ),
        ("C4", "if the contraction has `over`, its axes are left out whole, and no others (ours)"),
    ],
    operands: &[OperandDecl::accepting("sums", pipeline::after!(&rngd::ACCUMULATE))],
    clauses: &[
        ClauseDecl::lead("mode", ClauseKind::word::<AccumulatorOrder>(), "how sums are put into flits")
            .open(),
        ClauseDecl::required("time", ClauseKind::body::<Expr>(&MAP), "mapping of the flits").open(),
        ClauseDecl::required("packet", ClauseKind::body::<Expr>(&MAP), "mapping of the elements of a flit")
            .open(),
    ],
    results: &["stream"],
    effects: Effects::PURE,
    infer: Some(infer_accumulate),
    verify: Some(verify_accumulate),
    example: "%a = stream.accumulate interleaved %t time [1], packet [1 # 8]",
    interfaces: &[
        Interface(&rngd::ACCUMULATE),
        Interface(&Semantics(contraction::sum_time)),
        Interface(&DropsAxes::BySum),
        Interface(&SumsAlong(along)),
        Interface(&LowerStage(lower_accumulate)),
    ],
    ..OpDecl::BASE
};

/// The operations of this file.
pub static OPS: &[&OpDecl] = &[&ALIGN_DECL, &CONTRACT_DECL, &ACCUMULATE_DECL];

fn infer_align(op: OpRef<'_>) -> Result<Vec<TypeId>, Diagnostic> {
    let source = input(op)?;
    let row = operand(op, 1).map_or(Expr::Literal(1), |weights| weights.dim(Dim::Row));
    let mut given = vec![(Dim::Row, row)];
    given.extend(chain::given(op, &[Dim::Time, Dim::Packet]));
    with_dims(op, &ALIGN, source.unit, source.dtype, &given, &source)
}

fn infer_contract(op: OpRef<'_>) -> Result<Vec<TypeId>, Diagnostic> {
    let source = input(op)?;
    next(op, &CONTRACT, source.dtype.accumulator())
}

fn infer_accumulate(op: OpRef<'_>) -> Result<Vec<TypeId>, Diagnostic> {
    next(op, &ACCUMULATE, None)
}

fn verify_align(op: OpRef<'_>, cx: &VerifyCx<'_>) -> Result<(), Diagnostic> {
    main_only(op, "C6")?;
    let axes = &axes(cx).0;
    check_mappings(op, axes)?;
    let (source, Some(weights)) = (input(op)?, operand(op, 1)) else { return Ok(()) };
    let Some(result) = op.result_type::<Tensor>(0) else { return Ok(()) };
    check_formats(op, &source, &weights)?;
    check_place(op, "C4", (&weights, &free_axes(op, cx, 1)), &source, axes)?;
    if let Some(pad @ (Pad::Lowest | Pad::Highest)) = padding_kept(op)? {
        let message = format!("the stream's fetch masks with `pad {pad}`, and products of that are not zero");
        return Err(op.error("C8", message).fix(Some("leave `pad` out at the fetch".to_owned())));
    }
    let width = machine(op).limits.mac_width_bytes;
    let bytes = packet_bytes(op, &result, axes)?;
    if bytes != width {
        let packet = result.dim(Dim::Packet);
        let elements = result.dtype.elements(width);
        let message = format!(
            "packet `{packet}` of `{}` has {}, expected {width}",
            result.dtype,
            counted(bytes, "byte")
        );
        return Err(op.clause_error("C2", "packet", message).fix(Some(format!(
            "give it {}, padded if need be (`# {elements}`)",
            counted(elements, "element")
        ))));
    }
    planned::<AlignPlan>(op, cx).map(drop)
}

/// Alignment of stream and register file.
pub struct AlignPlan {
    /// Configuration of the stream adapter.
    pub shifts: Shifts,
    /// Reads of the register file.
    pub read: Plan,
}

impl StagePlan for AlignPlan {
    fn make(planner: &Planner<'_>, op: OpRef<'_>) -> Result<Self, Diagnostic> {
        let (source, result) = ends(op)?;
        let weights = operand(op, 1).ok_or_else(|| op.error("C0", "no register-file operand"))?;
        let Planner { axes, machine, .. } = *planner;
        let shifts = alignment(op, &source, &result, &planner.free(op, 0), axes, machine)?;
        let read = register_read(op, &source, &weights, &result, &planner.free(op, 1), axes)?;
        Ok(Self { shifts, read })
    }
}

/// The TRF sequencer's reads of the register file for the computation. If the register file holds the zeros that the
/// packet claims, they are read: the stream has anything there, and the products are zero (book 15, the case of stride
/// and dilation 2).
///
/// # Errors
/// C5, and C8 for zeros that neither operand has.
fn register_read(
    op: OpRef<'_>,
    source: &Tensor,
    weights: &Tensor,
    result: &Tensor,
    free: &dyn Fn(AxisId) -> bool,
    axes: &Axes,
) -> Result<Plan, Diagnostic> {
    let wrong = |error: visa_algebra::MapError| mapping_error(error, op.clause_span("packet"));
    let zeros = |maps: &[&Expr]| -> Result<Vec<Padded>, Diagnostic> {
        Ok(padded_terms(maps, axes).map_err(wrong)?.into_iter().filter(|term| term.zero).collect())
    };
    let (element, time, packet) = (weights.dim(Dim::Element), result.dim(Dim::Time), result.dim(Dim::Packet));
    let streamed = zeros(&[&source.dim(Dim::Time), &source.dim(Dim::Packet)])?;
    let (held, mut claimed) = (zeros(&[&element])?, zeros(&[&packet])?);
    claimed.retain(|term| streamed.iter().all(|own| own.term != term.term));
    // After a single flit the adapter puts zeros itself (book 17).
    let flit = source.dtype.elements(flit_bytes(source, &machine(op)));
    let whole = packet.expanded(axes).map_err(wrong)?;
    claimed.retain(|term| term.term != whole || term.left > 0 || term.live != flit);
    if let Some(term) = claimed.iter().find(|term| held.iter().all(|own| own.term != term.term)) {
        let message = format!(
            "`{}` of packet `{packet}` is zero neither in the stream nor in the register file",
            term.text
        );
        let fix = "mask it at the fetch of either: its packet has the same term".to_owned();
        return Err(op.clause_error("C8", "packet", message).fix(Some(fix)));
    }
    let opaque = Opaque::new(claimed.clone(), axes);
    let view = |map: &Expr| opaque.view(map).map_err(wrong);
    let own: Vec<AxisId> = claimed.iter().filter_map(|term| opaque.axis(term)).collect();
    let free = |axis: AxisId| !own.contains(&axis) && free(axis);
    plan::register_read(
        &view(&element)?,
        &view(&time)?,
        &view(&packet)?,
        &free,
        (Shared::Repeated, &coarse_in_places(weights, axes)),
        &opaque.axes,
    )
    .map_err(|why| op.clause_error("C5", "time", why))
}

fn check_formats(op: OpRef<'_>, source: &Tensor, weights: &Tensor) -> Result<(), Diagnostic> {
    if source.dtype.accumulator().is_none() {
        let able: Vec<_> =
            DType::all().filter(|dtype| dtype.accumulator().is_some()).map(DType::name).collect();
        let message =
            format!("`{}` cannot enter the contraction, which takes `{}`", source.dtype, able.join("`, `"));
        let fix = (source.dtype == DType::F32).then(|| "convert at the fetch: `dtype bf16`".to_owned());
        return Err(op.error("C1", message).fix(fix));
    }
    if source.dtype == weights.dtype {
        return Ok(());
    }
    let message = format!("the stream is `{}`, the register file `{}`", source.dtype, weights.dtype);
    let fix = [(source, weights), (weights, source)].into_iter().find_map(|(wide, narrow)| {
        let is_widened = machine(op).fetch_cast(narrow.dtype, wide.dtype).is_some();
        is_widened.then(|| {
            let side = if std::ptr::eq(narrow, weights) { "register file" } else { "stream" };
            format!("fetch the tensor of the {side} as `{0}`, too: `dtype {0}`", wide.dtype)
        })
    });
    Err(op.error("C4", message).fix(fix))
}

/// Finds the flits, shifts and repetitions by which the stream adapter turns the stream into the computation.
///
/// # Errors
/// If none do.
fn alignment(
    op: OpRef<'_>,
    source: &Tensor,
    result: &Tensor,
    free: &dyn Fn(AxisId) -> bool,
    axes: &Axes,
    machine: &Machine,
) -> Result<Shifts, Diagnostic> {
    let found = Expr::pair([result.dim(Dim::Time), result.dim(Dim::Packet)]);
    let (time, packet) = (source.dim(Dim::Time), source.dim(Dim::Packet));
    let slides = |why: String| {
        let message =
            format!("`{found}` is no shift of the stream's time `{time}`, packet `{packet}`: {why}");
        op.clause_error("C7", "time", message)
    };
    if let Some(windows) = Windows::new(source, result, axes).map_err(slides)? {
        let flit = flit_bytes(source, machine);
        let most = machine.limits.shift_buffer_bytes / flit;
        let shifts = windows.shifts(free, source.dtype.elements(flit), most).map_err(slides)?;
        return whole_bytes(shifts, source.dtype).map_err(slides);
    }
    joined(op, source, result, free, axes, machine)
}

/// Shifts by whole bytes.
fn whole_bytes(shifts: Shifts, dtype: DType) -> Result<Shifts, String> {
    let bits = shifts.distance.saturating_mul(u64::from(dtype.bits()));
    if bits.is_multiple_of(8) {
        return Ok(shifts);
    }
    Err(format!(
        "a shift of {} of `{dtype}` ends in the middle of a byte",
        counted(shifts.distance, "element")
    ))
}

/// [`alignment`] without shifts.
fn joined(
    op: OpRef<'_>,
    source: &Tensor,
    result: &Tensor,
    free: &dyn Fn(AxisId) -> bool,
    axes: &Axes,
    machine: &Machine,
) -> Result<Shifts, Diagnostic> {
    let refuse = |why: String| op.clause_error("C3", "time", why);
    // A sum takes elements; whether the padding between them is zero is the fetch's affair.
    let read = |map: &Expr| {
        let elements = without_zeros(map, axes).map_err(|error| refuse(error.message))?;
        plan::digits_of(&elements, axes).map_err(refuse)
    };
    let (time, packet) = (source.dim(Dim::Time), source.dim(Dim::Packet));
    let whole = result.dtype.elements(machine.limits.mac_width_bytes);
    let two_fit = 2 * flit_bytes(source, machine) <= machine.limits.mac_width_bytes;
    let two = read(&Expr::pair([time.clone(), packet.clone()]))?;
    let one = read(&Expr::pair([time.clone(), packet.clone().pad(whole, PadKind::Top)]))?;
    let inner = read(&result.dim(Dim::Packet))?;
    let outer = read(&result.dim(Dim::Time))?;
    let digits: Vec<_> = outer.iter().copied().collect();
    let start = |digits: &[&Digits]| -> Vec<_> {
        let all = digits.iter().fold(Placement::default(), |all, digits| all.join(place(digits, 1)));
        all.origin.into_iter().filter(|offset| !free(offset.axis)).collect()
    };
    let starts = start(&[&inner, &outer]);
    let mut repeat = 1;
    for tiled in 0..=digits.len() {
        let mut head = inner.clone().without_offset();
        for digit in &digits[tiled..] {
            head = Digits::concat(&Digits::of(*digit), &head).map_err(|error| refuse(error.to_string()))?;
        }
        for (flits, wanted) in [(2, &two), (1, &one)] {
            if flits > 1 && !two_fit {
                continue;
            }
            if head == wanted.clone().without_offset() && starts == start(&[wanted]) {
                return Ok(Shifts { flits, repeat, count: 0, distance: 0 });
            }
        }
        match digits.get(tiled) {
            Some(digit) if digit.axis.is_none_or(free) => repeat *= digit.extent,
            Some(_) | None => break,
        }
    }
    let found = Expr::pair([result.dim(Dim::Time), result.dim(Dim::Packet)]);
    let flits = if two_fit { "one or two flits" } else { "one flit" };
    Err(refuse(format!(
        "`{found}` is not the stream's time `{time}`, packet `{packet}` with {flits} a packet"
    )))
}

/// Depth of the adder tree.
pub struct TreeDepth(pub u32);

impl StagePlan for TreeDepth {
    fn make(planner: &Planner<'_>, op: OpRef<'_>) -> Result<Self, Diagnostic> {
        let (source, result) = ends(op)?;
        let deepest = deepest(op, &source)?;
        plan::tree_depth(&source.dim(Dim::Packet), &result.dim(Dim::Packet), deepest, planner.axes)
            .map(Self)
            .map_err(|why| op.clause_error("C1", "packet", why))
    }
}

/// Number of levels of the tree for elements of the stream's format. C1.
fn deepest(op: OpRef<'_>, source: &Tensor) -> Result<u32, Diagnostic> {
    let message = || format!("`{}` does not enter the reduction tree", source.dtype);
    source.dtype.tree_depth().ok_or_else(|| op.error("C1", message()))
}

fn verify_contract(op: OpRef<'_>, cx: &VerifyCx<'_>) -> Result<(), Diagnostic> {
    let axes = &axes(cx).0;
    check_mappings(op, axes)?;
    let source = input(op)?;
    let Some(result) = op.result_type::<Tensor>(0) else { return Ok(()) };
    let (packet, sums) = (source.dim(Dim::Packet), result.dim(Dim::Packet));
    let depth = planned::<TreeDepth>(op, cx)?.0;
    let (count, most) = (positions(op, Dim::Packet, &sums, axes)?, machine(op).limits.accumulator_columns);
    if count > most {
        return Err(op.clause_error(
            "C2",
            "packet",
            format!("`{sums}` has {} a row, at most {most}", counted(count, "sum")),
        ));
    }
    let made = positions(op, Dim::Packet, &packet, axes)? >> depth;
    if depth > 0 && made > most {
        let message =
            format!("sums of {} of packet `{packet}` are {made} a row, at most {most}", 1_u64 << depth);
        let fix =
            "sum more of the packet, or nothing: without a sum its first 32 products are kept".to_owned();
        return Err(op.clause_error("C2", "packet", message).fix(Some(fix)));
    }
    check_over(op, &moved_along(&packet.clone().modulo(1 << depth), axes), axes)?;
    match reduction(op)? {
        ContractionKind::Add => Ok(()),
        ContractionKind::Max => check_max(op, &source, &sums, axes),
    }
}

/// The axes along which an accumulation and its contraction sum.
fn along(op: OpRef<'_>, axes: &Axes) -> Along {
    match over(op, axes) {
        Some(names) => Along::Named(names.iter().filter_map(|name| axes.id(name)).collect()),
        None => Along::Lacking,
    }
}

/// The axes that the contraction `op`, or the one before an accumulation, is to sum, if it lists them.
#[must_use]
pub fn over(op: OpRef<'_>, axes: &Axes) -> Option<BTreeSet<Arc<str>>> {
    Some(axes_of(&*written(*contraction(op)?, "over")?, axes))
}

/// The contraction that `op` is, or the one before it.
fn contraction(op: OpRef<'_>) -> Option<Contract<'_>> {
    Contract::cast(op).or_else(|| Contract::cast(op.operand_def(0)?))
}

fn axes_of(map: &Expr, axes: &Axes) -> BTreeSet<Arc<str>> {
    map.axis_names(axes).into_iter().collect()
}

/// The axes along which the elements of a mapping move; where it has no digits, since it cuts through padding, all
/// that it names.
fn moved_along(map: &Expr, axes: &Axes) -> BTreeSet<Arc<str>> {
    let elements = without_zeros(map, axes).ok().and_then(|elements| plan::digits_of(&elements, axes).ok());
    let Some(digits) = elements else { return axes_of(map, axes) };
    digits.axes().into_keys().map(|axis| axes.name(axis).into()).collect()
}

/// C4: axes that are summed are among those that are to be.
fn check_over(op: OpRef<'_>, summed: &BTreeSet<Arc<str>>, axes: &Axes) -> Result<(), Diagnostic> {
    let Some(over) = over(op, axes) else { return Ok(()) };
    let Some(extra) = summed.iter().find(|axis| !over.contains(*axis)) else { return Ok(()) };
    let clause = if op.is(&CONTRACT_DECL) { "packet" } else { "time" };
    let over: Vec<&str> = over.iter().map(|axis| &**axis).collect();
    let message = format!("axis `{extra}` is summed, which `over [{}]` does not name", over.join(", "));
    Err(op.clause_error("C4", clause, message))
}

/// C4 of `stream.accumulate`.
fn check_left_out(op: OpRef<'_>, source: &Tensor, result: &Tensor, axes: &Axes) -> Result<(), Diagnostic> {
    let Some(over) = over(op, axes) else { return Ok(()) };
    let held = |tensor: &Tensor| -> BTreeSet<Arc<str>> {
        let dims = [Dim::Row, Dim::Time, Dim::Packet];
        dims.into_iter().flat_map(|dim| axes_of(&tensor.dim(dim), axes)).collect()
    };
    let kept = held(result);
    if let Some(left) = over.iter().find(|axis| kept.contains(*axis)) {
        let message = format!("axis `{left}` is to be summed (`over`), but the result keeps some of it");
        return Err(op
            .clause_error("C4", "time", message)
            .fix(Some(format!("leave `{left}` out of time and packet"))));
    }
    let summed = held(source).into_iter().filter(|axis| !kept.contains(axis)).collect();
    check_over(op, &summed, axes)
}

/// The reduction of products in `stream.contract`, or in the one before a `stream.accumulate`.
///
/// # Errors
/// If there is no contraction.
pub fn reduction(op: OpRef<'_>) -> Result<ContractionKind, Diagnostic> {
    let contraction = contraction(op).ok_or_else(|| op.error("C0", "no contraction"))?;
    contraction.op()
}

/// The function of `stream.contract` in a formula, which leaves a sum out.
fn greatest(op: OpRef<'_>) -> Option<String> {
    matches!(reduction(op), Ok(ContractionKind::Max)).then(|| "max".to_owned())
}

/// C3 of `stream.contract`.
fn check_max(op: OpRef<'_>, source: &Tensor, sums: &Expr, axes: &Axes) -> Result<(), Diagnostic> {
    let (row, packet) = (source.dim(Dim::Row), source.dim(Dim::Packet));
    let rows = positions(op, Dim::Row, &row, axes)?;
    if rows != 1 {
        let message =
            format!("`op max` with {}, `{row}`: only row 0 takes maxima (book 19)", counted(rows, "row"));
        let fix = "give the register file `row [1]`, and the other rows in time".to_owned();
        return Err(op.clause_error("C3", "op", message).fix(Some(fix)));
    }
    let live = |map: &Expr| plan::digits_of(map, axes).ok().and_then(|digits| digits.live_count());
    let depth = plan::tree_depth(&packet, sums, deepest(op, source)?, axes);
    let whole = depth.ok().zip(live(sums)).map(|(depth, sums)| sums << depth);
    if whole.is_some() && whole == live(&packet) {
        return Ok(());
    }
    let message = format!(
        "`op max` over padding of packet `{packet}`, which is no element: a zero would be the greatest of \
         negative products"
    );
    Err(op.clause_error("C3", "op", message))
}

/// The time loops of an accumulation.
pub struct Accumulation(pub Vec<TimeLoop>);

impl StagePlan for Accumulation {
    fn make(planner: &Planner<'_>, op: OpRef<'_>) -> Result<Self, Diagnostic> {
        let (source, result) = ends(op)?;
        accumulation(op, &source, &result, planner.axes).map(Self)
    }
}

/// Returns true if a packet out holds one sum of each row.
fn is_interleaved(order: AccumulatorOrder) -> bool {
    match order {
        AccumulatorOrder::Interleaved => true,
        AccumulatorOrder::Sequential => false,
    }
}

/// The time loops of an accumulation and the sums each step has.
///
/// # Errors
/// If the result's mappings do not follow from the mode and the input.
fn accumulation(
    op: OpRef<'_>,
    source: &Tensor,
    result: &Tensor,
    axes: &Axes,
) -> Result<Vec<TimeLoop>, Diagnostic> {
    let interleaved = is_interleaved(Accumulate::of(op)?.mode()?);
    let (row, packet) = (source.dim(Dim::Row), source.dim(Dim::Packet));
    let size = |map: &Expr| map.size(axes).map_err(|error| op.clause_error("C2", "packet", error.message));
    let lanes = machine(op).limits.vector_lanes;
    let (inner, wanted) = if interleaved {
        let columns = size(&packet)?;
        check_same(op, "C2", "packet", &result.dim(Dim::Packet), &row.pad(lanes, PadKind::Top), axes)?;
        (columns, packet)
    } else {
        let columns = size(&packet)?;
        let whole = columns.next_multiple_of(lanes);
        let padded = if whole == columns { packet } else { packet.pad(whole, PadKind::Top) };
        let all = Expr::pair([row.clone(), padded]);
        check_same(op, "C2", "packet", &result.dim(Dim::Packet), &all.clone().modulo(lanes), axes)?;
        (size(&row)? * whole / lanes, all.stride(lanes))
    };
    let time = result.dim(Dim::Time);
    if !size(&time)?.is_multiple_of(inner) {
        return Err(op.clause_error(
            "C2",
            "time",
            format!("time `{time}` must end with `{wanted}` ({})", counted(inner, "step")),
        ));
    }
    check_same(op, "C2", "time", &time.clone().modulo(inner), &wanted, axes)?;
    let kept =
        plan::digits_of(&time.stride(inner), axes).map_err(|why| op.clause_error("C1", "time", why))?;
    plan::accumulation(&source.dim(Dim::Time), &kept, axes).map_err(|why| op.clause_error("C1", "time", why))
}

fn verify_accumulate(op: OpRef<'_>, cx: &VerifyCx<'_>) -> Result<(), Diagnostic> {
    let axes = &axes(cx).0;
    check_mappings(op, axes)?;
    let source = input(op)?;
    let Some(result) = op.result_type::<Tensor>(0) else { return Ok(()) };
    let loops = &planned::<Accumulation>(op, cx)?.0;
    check_left_out(op, &source, &result, axes)?;
    let is_max = reduction(op)? == ContractionKind::Max;
    check_summed(op, &source, is_max, axes)?;
    let Some(outermost) = loops.iter().position(|time| time.summed) else { return Ok(()) };
    let steps: u64 = loops[outermost..].iter().filter(|time| !time.summed).map(|time| time.limit).product();
    let size = |dim: Dim| positions(op, dim, &source.dim(dim), axes);
    let interleaved = is_interleaved(Accumulate::of(op)?.mode()?);
    let buffer = machine(op).accumulator(interleaved, size(Dim::Row)?, size(Dim::Packet)?, steps);
    if buffer.fits() {
        return Ok(());
    }
    let rule = if interleaved { "align_up(row, 8) x inner" } else { "align_up(packet, 32) x inner" };
    let message = format!(
        "{} lie within the outermost summed time loop (at most {}); {rule} = {} of {} slots",
        counted(buffer.inner, "sum"),
        buffer.most,
        buffer.used(),
        buffer.slots
    );
    Err(op.clause_error("C3", "time", message))
}

fn lower_align(cx: &StageCx<'_>, op: OpRef<'_>) -> Result<Option<OpSpec>, Diagnostic> {
    let (source, _) = ends(op)?;
    let file = Align::of(op)?.weights()?;
    let weights = file.of_type::<Tensor>()?;
    let AlignPlan { shifts, read } = &*cx.plan::<AlignPlan>(op)?;
    let elements = accessed(cx, op, (read, 0), source.dtype, Accessor::Align)?;
    let store = visa_mapping::view::origin(op, file.id);
    let store = store.ok_or_else(|| op.error("C0", "nothing stores its register-file operand"))?;
    // An open half may become the whole file.
    let half = ToTrf::of(store)?.at_unless_auto()?.unwrap_or(RegionName::Full);
    let shifted = (shifts.count > 0).then(|| [shifts.count, shifts.distance].map(distance));
    let lowered = stages::Align::build(op)
        .dtype(source.dtype)
        .region(half)
        .flits(distance(shifts.flits))
        .shifts(shifted.map(|[count, _]| count))
        .distance(shifted.map(|[_, elements]| elements))
        .repeat(distance(shifts.repeat))
        .rows(distance(positions(op, Dim::Row, &weights.dim(Dim::Row), cx.axes)?))
        .loops(elements);
    Ok(Some(lowered.spec()))
}

fn lower_contract(cx: &StageCx<'_>, op: OpRef<'_>) -> Result<Option<OpSpec>, Diagnostic> {
    let ((source, _), depth) = (ends(op)?, cx.plan::<TreeDepth>(op)?.0);
    let lowered = hw::contract::Contract::build(op).dtype(source.dtype).op_unless_default(reduction(op)?);
    Ok(Some(lowered.depth(i64::from(depth)).spec()))
}

fn lower_accumulate(cx: &StageCx<'_>, op: OpRef<'_>) -> Result<Option<OpSpec>, Diagnostic> {
    let (source, _) = ends(op)?;
    let slots = slots(op, &cx.plan::<Accumulation>(op)?.0)?;
    let count = |dim| positions(op, dim, &source.dim(dim), cx.axes).map(distance);
    let lowered = hw::accumulate::Accumulate::build(op)
        .kind(Accumulate::of(op)?.mode()?)
        .op_unless_default(reduction(op)?)
        .rows(count(Dim::Row)?)
        .columns(count(Dim::Packet)?)
        .slots(slots);
    Ok(Some(lowered.spec()))
}

/// The slot of each step: loops that are summed stay on theirs, the others number them in the order they come out.
pub(crate) fn slots(op: OpRef<'_>, loops: &[TimeLoop]) -> Result<Program, Diagnostic> {
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
