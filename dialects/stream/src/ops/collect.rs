//! `stream.collect`: the collect engine cuts packets into flits (book 14).

use crate::COLLECT;
use crate::chain::{axes, check_same, input, next, packet_bytes};
use crate::pipeline;
use crate::semantics::Semantics;
use visa_engine::place::rngd;
use visa_ir::decl::{ClauseDecl, ClauseKind, Interface, OpDecl, OperandDecl};
use visa_ir::diag::{Diagnostic, counted};
use visa_ir::effects::Effects;
use visa_ir::module::{OpRef, TypeId};
use visa_ir::verify::VerifyCx;
use visa_mapping::attrs::MAP;
use visa_mapping::facts::{check_mappings, machine};
use visa_mapping::{Dim, Expr, PadKind, Tensor};

/// `stream.collect`.
#[visa_ir::view(Collect)]
pub static DECL: OpDecl = OpDecl {
    name: "stream.collect",
    summary: "Pads each packet to whole flits of 32 bytes and delivers one flit a time step.",
    doc: "What is beyond the first flit of a packet moves into time, innermost. Padding bytes are zero.",
    constraints: &[
        ("C1", "the output packet is exactly one flit: 32 bytes (book 14)"),
        ("C2", "[time, packet] is the input's [time, packet padded to whole flits] (book 14)"),
    ],
    operands: &[OperandDecl::accepting("stream", pipeline::after!(&rngd::COLLECT))],
    clauses: &[
        ClauseDecl::required("time", ClauseKind::body::<Expr>(&MAP), "what each time step holds").open(),
        ClauseDecl::required("packet", ClauseKind::body::<Expr>(&MAP), "what each element of a flit holds")
            .open(),
    ],
    results: &["stream"],
    effects: Effects::PURE,
    infer: Some(infer),
    verify: Some(verify),
    example: "%c = stream.collect %f time [J / 16], packet [J % 16]",
    interfaces: &[Interface(&rngd::COLLECT), Interface(&Semantics::Same)],
    ..OpDecl::BASE
};

/// The operations of this file.
pub static OPS: &[&OpDecl] = &[&DECL];

fn infer(op: OpRef<'_>) -> Result<Vec<TypeId>, Diagnostic> {
    next(op, &COLLECT, None)
}

fn verify(op: OpRef<'_>, cx: &VerifyCx<'_>) -> Result<(), Diagnostic> {
    let axes = &axes(cx).0;
    check_mappings(op, axes)?;
    let source = input(op)?;
    let Some(result) = op.result_type::<Tensor>(0) else { return Ok(()) };
    let flit = machine(op).limits.flit_bytes;
    let elements = result.dtype.elements(flit);
    let bytes = packet_bytes(op, &result, axes)?;
    if bytes != flit {
        let packet = result.dim(Dim::Packet);
        let message = format!(
            "packet `{packet}` of `{}` has {}, expected one flit of {} ({})",
            result.dtype,
            counted(bytes, "byte"),
            counted(flit, "byte"),
            counted(elements, "element")
        );
        let fix = match bytes < flit {
            true => format!("pad the packet to {} (`# {elements}`)", counted(elements, "element")),
            false => format!(
                "split it: the inner {} stay in the packet, the rest moves into time",
                counted(elements, "element")
            ),
        };
        return Err(op.clause_error("C1", "packet", message).fix(Some(fix)));
    }
    let packet = source.dim(Dim::Packet);
    let size = packet.size(axes).map_err(|error| op.clause_error("C2", "packet", error.message))?;
    let whole = size.next_multiple_of(elements);
    let padded = if whole == size { packet } else { packet.pad(whole, PadKind::Top) };
    let wanted = Expr::pair([source.dim(Dim::Time), padded]);
    let found = Expr::pair([result.dim(Dim::Time), result.dim(Dim::Packet)]);
    check_same(op, "C2", "time", &found, &wanted, axes)
}
