//! `stream.fetch`: the fetch engine reads data memory into packets (book 08).

use crate::FETCH;
use crate::adapter::Adapter;
use crate::adapter_clauses::adapter;
use crate::chain::{axes, check_first_slices, ends, next, packet_bytes};
use crate::mask::{Mask, Reading};
use crate::ops::begin_interleaved;
use crate::pad::{PADS, Pad};
use crate::plan::Plan;
use crate::planner::{Planner, StagePlan, planned};
use crate::semantics::Semantics;
use std::rc::Rc;
use visa_engine::place::rngd;
use visa_ir::decl::{ClauseDecl, ClauseKind, Interface, OpDecl, OperandDecl};
use visa_ir::diag::{Diagnostic, counted};
use visa_ir::effects::{Effects, Target, reads};
use visa_ir::module::{OpRef, TypeId};
use visa_ir::verify::VerifyCx;
use visa_mapping::attrs::{DTYPE, MAP};
use visa_mapping::facts::check_mappings;
use visa_mapping::{Axes, Dim, Expr, Tensor};
use visa_numerics::DType;

/// `stream.fetch`.
#[visa_ir::view(Fetch)]
pub static DECL: OpDecl = OpDecl {
    name: "stream.fetch",
    summary: "Reads each slice's elements as packets, in any order that a sequencer can walk.",
    doc: "Every time step delivers a packet to each slice. An axis that the tensor does not depend on is \
          broadcast; padding is read beyond the tensor (over-fetch). A gathered term, `R @ (3, 1, 5)`, is read by \
          an offset table (book 07, indirect access). Of a skewed axis `B' = B - A` with A on chips, clusters or \
          slices, each of these starts at its own address (book 08, 32).\n\nThe fetch adapter works on each \
          element, in this order: zero padding is masked; with `table`, an element becomes the value that a \
          `tm.table` has for it; with `dtype`, it is converted, from the table's format if there is one; the zero \
          point is subtracted, and the result wraps.\n\n\
          Masked positions are zero, whatever memory holds; with `pad lowest` or `pad highest` the least or \
          greatest number of the tensor's format, converted with the others: the identity of a maximum or minimum \
          (book 22). A padded term such as `B # 92 {left 0} # 96 {0}`, best under an alias, may be cut into time \
          and packet anywhere: `{P} / 32` and `{P} % 32`. Its parts then count its positions, up to the end of \
          the pipeline or to where the zeros at the end are forgotten. A sliding term, `$(W:1, F:1)` of a \
          `tm.window`, is read as one in the same way; the aligner takes it apart.",
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
             innermost loop of the packet and at most one loop around that, or stands whole in one loop, and what \
             is cut are whole axes (book 08)",
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
        ClauseDecl::optional(
            "pad",
            ClauseKind::Word(PADS),
            "what masked padding holds: `zero` unless it says so",
        ),
        ClauseDecl::required("time", ClauseKind::body::<Expr>(&MAP), "what each time step holds").open(),
        ClauseDecl::required("packet", ClauseKind::body::<Expr>(&MAP), "what each element of a packet holds")
            .open(),
    ],
    results: &["stream"],
    effects: Effects::Are(&[reads(Target::Memory("tm.dm"))]),
    infer: Some(infer),
    verify: Some(verify),
    example: "%f = stream.fetch %b time [J / 16], packet [J % 16]",
    interfaces: &[Interface(&rngd::FETCH), Interface(&Semantics::Fetch(adapter))],
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

/// What a fetch reads, masks and makes of the elements.
pub struct FetchPlan {
    /// The loops over one tensor.
    pub plan: Plan,
    /// Which elements are masked.
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

/// C11 and C12: masked padding can be what it is to be.
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
