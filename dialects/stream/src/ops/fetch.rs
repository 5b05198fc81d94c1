//! `stream.fetch`: the fetch engine reads data memory into packets (book 08).

use crate::chain::{axes, input, next, packet_bytes};
use crate::meaning::Meaning;
use crate::{FETCH, plan};
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
          is read beyond the tensor (over-fetch). A gathered term, `R @ (3, 1, 5)`, is read by an offset table (book 07, indirect \
          access). With `dtype`, the fetch adapter converts each element.",
    constraints: &[
        ("C1", "the output packet is a multiple of 8 bytes (book 08)"),
        ("C2", "the fetch adapter converts i8 to i32, bf16 to f32 and f32 to bf16 (book 08)"),
        ("C3", "the slice holds every element asked for, in radices that agree (book 07)"),
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
    let free = free_axes(op, cx, 0);
    plan::fetch(&source.dim(Dim::Packet), &result.dim(Dim::Time), &result.dim(Dim::Packet), &free, axes)
        .map(drop)
        .map_err(|why| op.clause_error("C3", "time", why))
}
