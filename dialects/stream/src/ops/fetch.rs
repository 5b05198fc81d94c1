//! `stream.fetch`: the fetch engine reads data memory into packets (book 08).

use crate::chain::{axes, input, next, packet_bytes};
use crate::meaning::Meaning;
use crate::FETCH;
use crate::mask::Fetch;
use visa_ir::decl::{ClauseDecl, ClauseKind, Interface, OpDecl, OperandDecl};
use visa_ir::diag::Diagnostic;
use visa_ir::module::{OpRef, TypeId};
use visa_ir::verify::VerifyCx;
use visa_mapping::attrs::{DTYPE, MAP};
use visa_mapping::facts::{check_mappings, machine};
use visa_mapping::ops::transfer::free_axes;
use visa_mapping::{Dim, Tensor};
use visa_numerics::{DType, FETCH_CASTS, cast_targets, fetch_cast};

/// `stream.fetch`.
pub static DECL: OpDecl = OpDecl {
    name: "stream.fetch",
    summary: "Reads each slice's elements as packets, in any order that a sequencer can walk.",
    doc: "Every time step delivers a packet to each slice. An axis that the tensor does not depend on is broadcast; padding \
          is read beyond the tensor (over-fetch). With `dtype`, the fetch adapter converts each element.\n\n\
          Zero padding is masked: its positions are zero, whatever memory holds. A padded term such as \
          `B # 92 {left 0} # 96 {0}`, best under an alias, may be cut into time and packet anywhere: `{P} / 32` and `{P} % 32`. \
          Its parts then count its positions, up to the end of the pipeline or to where the zeros behind are forgotten.",
    constraints: &[
        ("C1", "the output packet is a multiple of 8 bytes (book 08)"),
        ("C2", "the fetch adapter converts i8 to i32, bf16 to f32 and f32 to bf16 (book 08)"),
        ("C3", "the slice holds every element asked for, in radices that agree (book 07)"),
        ("C4", "one term has zero padding; its elements are evenly spaced in memory, it is cut into the innermost loop of the packet and at most one loop around that, or stands whole in one loop, and what is cut are whole axes (book 08)"),
        ("C5", "masked are, in the first iteration of that loop, at most all of the innermost one on the left, and in the last iteration on the right as many, but at most 255 x 4 bits; or, without padding on the left and with at most 8 iterations, any number on the right of each (book 08)"),
        ("C6", "the main context masks, in packets of at most 256 bytes (book 08)"),
        ("C7", "padding before the elements is read from the slice's memory, masked or not (book 08)"),
    ],
    operands: &[OperandDecl::one("stream", &["stream.begin"])],
    clauses: &[
        ClauseDecl::optional("dtype", ClauseKind::Body(&DTYPE), "convert elements to this format"),
        ClauseDecl::required("time", ClauseKind::Body(&MAP), "what each time step holds"),
        ClauseDecl::required("packet", ClauseKind::Body(&MAP), "what each element of a packet holds"),
    ],
    results: &["stream"],
    infer: Some(infer),
    verify: Some(verify),
    example: "%f = stream.fetch %b time [J / 16], packet [J % 16]",
    interfaces: &[Interface(&Meaning::Same)],    ..OpDecl::BASE
};

/// The operations of this file.
pub static OPS: &[&OpDecl] = &[&DECL];

fn infer(op: OpRef<'_>) -> Result<Vec<TypeId>, Diagnostic> {
    next(op, &FETCH, op.body::<DType>("dtype").map(|dtype| *dtype))
}

fn verify(op: OpRef<'_>, cx: &VerifyCx<'_>) -> Result<(), Diagnostic> {
    let axes = &axes(cx).0;
    check_mappings(op, axes)?;
    let source = input(op)?;
    let Some(result) = op.result_type::<Tensor>(0) else { return Ok(()) };
    if source.dtype != result.dtype && fetch_cast(source.dtype, result.dtype).is_none() {
        let targets: Vec<_> = cast_targets(FETCH_CASTS, source.dtype).map(DType::name).collect();
        let message = format!("the fetch adapter does not convert {} to {}; it converts {} to `{}`", source.dtype, result.dtype, source.dtype, targets.join("`, `"));
        return Err(op.clause_error("C2", "dtype", message));
    }
    let bytes = packet_bytes(op, &result, axes)?;
    let align = machine(op.ctx).limits.fetch_align;
    if !bytes.is_multiple_of(align) {
        let packet = result.dim(Dim::Packet);
        let message = format!("packet `{packet}` of `{}` has {bytes} bytes, expected a multiple of {align}", result.dtype);
        let padded = bytes.next_multiple_of(align) / result.element_bytes();
        let fix = format!("pad the packet to {padded} elements (`# {padded}`)");
        return Err(op.clause_error("C1", "packet", message).fix(Some(fix)));
    }
    let (free, machine) = (free_axes(op, cx, 0), machine(op.ctx));
    let fetch = Fetch::new(&source, &result, &free, axes, &machine);
    fetch.plan().map(drop).map_err(|refused| refused.at(op))
}
