//! `stream.collect`: the collect engine cuts packets into flits (book 14).

use crate::chain::{axes, check_same, ends, flit_bytes, input, next, packet_bytes};
use crate::lower::{LowerStage, StageCx};
use crate::pipeline;
use crate::streams::COLLECT;
use visa_algebra::{Expr, PadKind};
use visa_engine::place::{Slot, rngd};
use visa_hw::ops as hw;
use visa_ir::decl::{ClauseDecl, ClauseKind, Interface, OpDecl, OperandDecl};
use visa_ir::diag::{Diagnostic, counted};
use visa_ir::effects::Effects;
use visa_ir::module::{OpRef, OpSpec, TypeId};
use visa_ir::verify::VerifyCx;
use visa_loops::distance;
use visa_mapping::facts::{check_mappings, machine};
use visa_mapping::raise::Semantics;
use visa_mapping::raise::moves::same;
use visa_mapping::tensor::attrs::MAP;
use visa_mapping::{Dim, Tensor};

/// `stream.collect`.
#[visa_ir::view(Collect)]
pub static DECL: OpDecl = OpDecl {
    name: "stream.collect",
    summary: "Pads each packet to whole flits of 32 bytes and delivers one flit a time step.",
    doc: "The part of a packet after the first flit moves into time, innermost. Padding bytes are zero.\n\n\
          In the dual context flits have 64 bytes (book 08). The aligner takes them whole; all other engines take \
          32 bytes at once, and for them the packet is half a flit: each flit is two time steps.",
    constraints: &[
        (
            "C1",
            "the output packet is exactly one flit: 32 bytes, in the dual context 64, or half of that (book 14)",
        ),
        ("C2", "[time, packet] is the input's [time, packet padded to whole flits] (book 14)"),
        ("C3", "flits of 64 bytes go to the aligner, halves to any other engine (book 17)"),
    ],
    operands: &[OperandDecl::accepting("stream", pipeline::after!(&rngd::COLLECT))],
    clauses: &[
        ClauseDecl::required("time", ClauseKind::body::<Expr>(&MAP), "mapping of the time steps").open(),
        ClauseDecl::required("packet", ClauseKind::body::<Expr>(&MAP), "mapping of the elements of a flit")
            .open(),
    ],
    results: &["stream"],
    effects: Effects::PURE,
    infer: Some(infer),
    verify: Some(verify),
    example: "%c = stream.collect %f time [J / 16], packet [J % 16]",
    interfaces: &[Interface(&rngd::COLLECT), Interface(&Semantics(same)), Interface(&LowerStage(lower))],
    ..OpDecl::BASE
};

/// The operations of this file.
pub static OPS: &[&OpDecl] = &[&DECL];

fn infer(op: OpRef<'_>) -> Result<Vec<TypeId>, Diagnostic> {
    next(op, &COLLECT, None)
}

/// Bytes that the engine after it takes at once: of a stream in `dual`, the aligner flits of 64 bytes, any other
/// halves of them. `None` if the stream has no user.
#[must_use]
pub fn taken(op: OpRef<'_>, source: &Tensor) -> Option<u64> {
    taker(op, source).map(|(bytes, _)| bytes)
}

/// The engine after it that takes the fewest bytes at once, and how many.
fn taker<'a>(op: OpRef<'a>, source: &Tensor) -> Option<(u64, OpRef<'a>)> {
    let users = op.results().iter().flat_map(|&stream| op.module.uses(stream)).map(|&user| op.other(user));
    let takes = |user: OpRef<'a>| {
        let places = pipeline::places(user).unwrap_or_default();
        match places.iter().any(|place| place.slot == Slot::ALIGN) {
            true => (flit_bytes(source, &machine(op)), user),
            false => (machine(op).limits.flit_bytes, user),
        }
    };
    users.map(takes).min_by_key(|(bytes, _)| *bytes)
}

/// C3.
fn wrong_half(op: OpRef<'_>, found: u64, (wanted, user): (u64, OpRef<'_>)) -> Diagnostic {
    let found_bytes = counted(found, "byte");
    let message = format!("a packet has {found_bytes}, and `{user}` takes {wanted} in the dual context");
    op.clause_error("C3", "packet", message).fix(match found < wanted {
        true => "give it a whole flit, padded if need be".to_owned(),
        false => "give it half a flit, and the halves to time".to_owned(),
    })
}

/// The error for a packet of `bytes`, less than a flit, with the argument that its elements come from: a packet that
/// fills the flit in a wider format is often right, and the format of the argument is not.
fn other_format(op: OpRef<'_>, error: Diagnostic, elements: u64, bytes: u64, flit: u64) -> Diagnostic {
    let packet = elements * bytes / flit;
    let Some(bits) = (flit * 8).checked_div(packet).filter(|bits| [4, 8, 16, 32].contains(bits)) else {
        return error;
    };
    let mut value = op.operands().first().copied();
    while let Some(maker) = value.and_then(|value| op.module.def_op(value)) {
        value = op.other(maker).operands().first().copied();
    }
    let Some(argument) = value else { return error };
    let message =
        format!("its {packet} elements fill a flit in a format of {bits} bits: check that of this argument");
    error.note(message, Some(op.module.value_span(argument)))
}

fn verify(op: OpRef<'_>, cx: &VerifyCx<'_>) -> Result<(), Diagnostic> {
    let axes = &axes(cx).0;
    check_mappings(op, axes)?;
    let source = input(op)?;
    let Some(result) = op.result_type::<Tensor>(0) else { return Ok(()) };
    let bytes = packet_bytes(op, &result, axes)?;
    let whole = flit_bytes(&source, &machine(op));
    let either = [whole, machine(op).limits.flit_bytes].contains(&bytes);
    let next = taker(op, &source);
    if let Some(next) = next.filter(|(wanted, _)| either && bytes != *wanted) {
        return Err(wrong_half(op, bytes, next));
    }
    let flit = next.map_or(if either { bytes } else { whole }, |(wanted, _)| wanted);
    let elements = result.dtype.elements(flit);
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
        let error = op.clause_error("C1", "packet", message).fix(Some(fix));
        return Err(if bytes < flit { other_format(op, error, elements, bytes, flit) } else { error });
    }
    let packet = source.dim(Dim::Packet);
    let size = packet.size(axes).map_err(|error| op.clause_error("C2", "packet", error.message))?;
    let whole = size.next_multiple_of(result.dtype.elements(whole));
    let padded = if whole == size { packet } else { packet.pad(whole, PadKind::Top) };
    let wanted = Expr::pair([source.dim(Dim::Time), padded]);
    let found = Expr::pair([result.dim(Dim::Time), result.dim(Dim::Packet)]);
    check_same(op, "C2", "time", &found, &wanted, axes)
}

fn lower(cx: &StageCx<'_>, op: OpRef<'_>) -> Result<Option<OpSpec>, Diagnostic> {
    let (source, result) = ends(op)?;
    let flit = flit_bytes(&source, cx.machine);
    let flits = packet_bytes(op, &source, cx.axes)?.div_ceil(flit);
    let whole = packet_bytes(op, &result, cx.axes)? == flit;
    Ok(Some(hw::collect::Collect::build(op).flits(distance(flits)).halves(!whole).spec()))
}
