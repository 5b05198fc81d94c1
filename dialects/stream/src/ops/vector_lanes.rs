//! The stages Narrow and Widen of the vector engine: `stream.vector_split`, `stream.vector_trim`,
//! `stream.vector_concat`, `stream.vector_pad` (book 21).

use crate::chain::{axes, check_same, input};
use crate::lower::LowerStage;
use crate::plan;
use crate::vector::{Station, check_order, next_stage, station};
use visa_algebra::{Expr, PadKind};
use visa_engine::place::rngd;
use visa_engine::words::LaneChange;
use visa_hw::ops::vector_lanes::VectorLanes;
use visa_ir::decl::{ClauseDecl, ClauseKind, Interface, OpDecl, OperandDecl};
use visa_ir::diag::{Diagnostic, counted};
use visa_ir::effects::Effects;
use visa_ir::module::OpRef;
use visa_ir::verify::VerifyCx;
use visa_mapping::facts::{check_mappings, machine};
use visa_mapping::raise::Semantics;
use visa_mapping::raise::moves::same;
use visa_mapping::tensor::attrs::MAP;
use visa_mapping::{Dim, Tensor};
use visa_numerics::VectorStage;

#[visa_ir::clause]
const TIME: ClauseDecl =
    ClauseDecl::required("time", ClauseKind::body::<Expr>(&MAP), "mapping of the packets").open();
#[visa_ir::clause]
const PACKET: ClauseDecl =
    ClauseDecl::required("packet", ClauseKind::body::<Expr>(&MAP), "mapping of the lanes of a packet").open();

/// `stream.vector_split`.
#[visa_ir::view(VectorSplit)]
pub static SPLIT_DECL: OpDecl = OpDecl {
    name: "stream.vector_split",
    summary: "Narrows: of each packet of 8 lanes, two of 4.",
    doc: "For packets whose halves both hold elements (book 21). The following stages take twice as many packets.",
    constraints: &[
        ("C1", "the packet has 4 lanes"),
        ("C2", "[time, packet] is the stream's (book 21)"),
        ("C3", "the stages follow the engine's order (book 21)"),
    ],
    operands: &[OperandDecl::one("stream", &["stream.vector", "stream.pair"])],
    clauses: &[TIME, PACKET],
    results: &["stream"],
    effects: Effects::PURE,
    infer: Some(|op| next_stage(op, true, None)),
    verify: Some(verify_regrouped),
    example: "%n = stream.vector_split %x time [A / 4 % 2], packet [A % 4]",
    interfaces: &[
        Interface(&rngd::VECTOR),
        Interface(&Semantics(same)),
        Interface(&Station(VectorStage::Narrow)),
        Interface(&LowerStage(|_, op| Ok(Some(VectorLanes::build(op).how(LaneChange::Split).spec())))),
    ],
    ..OpDecl::BASE
};

/// `stream.vector_trim`.
#[visa_ir::view(VectorTrim)]
pub static TRIM_DECL: OpDecl = OpDecl {
    name: "stream.vector_trim",
    summary: "Narrows: of each packet of 8 lanes, the lower 4.",
    doc: "For packets whose upper lanes are padding (book 21).",
    constraints: &[
        ("C1", "the packet has 4 lanes"),
        ("C2", "the packet is the lower half of the stream's (book 21)"),
        ("C3", "the stages follow the engine's order (book 21)"),
        ("C4", "the upper half of the stream's packet holds no element (book 24)"),
    ],
    operands: &[OperandDecl::one("stream", &["stream.vector", "stream.pair"])],
    clauses: &[PACKET],
    results: &["stream"],
    effects: Effects::PURE,
    infer: Some(|op| next_stage(op, true, None)),
    verify: Some(verify_trim),
    example: "%n = stream.vector_trim %x packet [A % 2 # 4]",
    interfaces: &[
        Interface(&rngd::VECTOR),
        Interface(&Semantics(same)),
        Interface(&Station(VectorStage::Narrow)),
        Interface(&LowerStage(|_, op| Ok(Some(VectorLanes::build(op).how(LaneChange::Trim).spec())))),
    ],
    ..OpDecl::BASE
};

/// `stream.vector_concat`.
#[visa_ir::view(VectorConcat)]
pub static CONCAT_DECL: OpDecl = OpDecl {
    name: "stream.vector_concat",
    summary: "Widens: of each two packets of 4 lanes, one of 8.",
    doc: "Undoes `stream.vector_split` (book 21).",
    constraints: &[
        ("C1", "the packet has 8 lanes"),
        ("C2", "[time, packet] is the stream's (book 21)"),
        ("C3", "the stages follow the engine's order (book 21)"),
    ],
    operands: &[OperandDecl::one("stream", &["stream.vector4", "stream.pair4"])],
    clauses: &[TIME, PACKET],
    results: &["stream"],
    effects: Effects::PURE,
    infer: Some(|op| next_stage(op, false, None)),
    verify: Some(verify_regrouped),
    example: "%w = stream.vector_concat %n time [1], packet [A % 8]",
    interfaces: &[
        Interface(&rngd::VECTOR),
        Interface(&Semantics(same)),
        Interface(&Station(VectorStage::Widen)),
        Interface(&LowerStage(|_, op| Ok(Some(VectorLanes::build(op).how(LaneChange::Concat).spec())))),
    ],
    ..OpDecl::BASE
};

/// `stream.vector_pad`.
#[visa_ir::view(VectorPad)]
pub static PAD_DECL: OpDecl = OpDecl {
    name: "stream.vector_pad",
    summary: "Widens: of each packet of 4 lanes, one of 8 whose upper lanes are padding.",
    doc: "Undoes `stream.vector_trim` (book 21).",
    constraints: &[
        ("C1", "the packet has 8 lanes"),
        ("C2", "the packet is the stream's, with don't-care padding after it (book 21)"),
        ("C3", "the stages follow the engine's order (book 21)"),
    ],
    operands: &[OperandDecl::one("stream", &["stream.vector4", "stream.pair4"])],
    clauses: &[PACKET],
    results: &["stream"],
    effects: Effects::PURE,
    infer: Some(|op| next_stage(op, false, None)),
    verify: Some(verify_pad),
    example: "%w = stream.vector_pad %n packet [A % 2 # 8]",
    interfaces: &[
        Interface(&rngd::VECTOR),
        Interface(&Semantics(same)),
        Interface(&Station(VectorStage::Widen)),
        Interface(&LowerStage(|_, op| Ok(Some(VectorLanes::build(op).how(LaneChange::Pad).spec())))),
    ],
    ..OpDecl::BASE
};

/// The operations of this file.
pub static OPS: &[&OpDecl] = &[&SPLIT_DECL, &TRIM_DECL, &CONCAT_DECL, &PAD_DECL];

/// C1 and C3: the order, and the lanes of the result's packet.
fn start(op: OpRef<'_>, cx: &VerifyCx<'_>) -> Result<(std::rc::Rc<Tensor>, Expr), Diagnostic> {
    let axes = &axes(cx).0;
    check_mappings(op, axes)?;
    let source = input(op)?;
    let stage = station(op).unwrap_or(VectorStage::Narrow);
    check_order(op, stage, "C3")?;
    let packet = op.result_type::<Tensor>(0).map_or(Expr::Literal(1), |result| result.dim(Dim::Packet));
    let wide = machine(op).limits.vector_lanes;
    let wanted = if stage == VectorStage::Narrow { wide / 2 } else { wide };
    match packet.size(axes) {
        Ok(found) if found != wanted => {
            let message = format!("packet `{packet}` has {}, expected {wanted}", counted(found, "lane"));
            Err(op.clause_error("C1", "packet", message))
        }
        Ok(_) | Err(_) => Ok((source, packet)),
    }
}

fn verify_regrouped(op: OpRef<'_>, cx: &VerifyCx<'_>) -> Result<(), Diagnostic> {
    let (source, packet) = start(op, cx)?;
    let time = op.result_type::<Tensor>(0).map_or(Expr::Literal(1), |result| result.dim(Dim::Time));
    let wanted = Expr::pair([source.dim(Dim::Time), source.dim(Dim::Packet)]);
    check_same(op, "C2", "time", &Expr::pair([time, packet]), &wanted, &axes(cx).0)
}

fn verify_trim(op: OpRef<'_>, cx: &VerifyCx<'_>) -> Result<(), Diagnostic> {
    let axes = &axes(cx).0;
    let (source, packet) = start(op, cx)?;
    let whole = source.dim(Dim::Packet);
    let lanes = machine(op).limits.vector_lanes / 2;
    check_same(op, "C2", "packet", &packet, &whole.clone().resize(lanes), axes)?;
    let live = |map: &Expr| plan::digits_of(map, axes).ok().and_then(|digits| digits.live_count());
    if live(&whole) == live(&packet) {
        return Ok(());
    }
    let message = format!(
        "the upper {} of packet `{whole}` hold elements, which trimming would lose",
        counted(lanes, "lane")
    );
    Err(op.clause_error("C4", "packet", message).fix(Some("use `stream.vector_split`".to_owned())))
}

fn verify_pad(op: OpRef<'_>, cx: &VerifyCx<'_>) -> Result<(), Diagnostic> {
    let (source, packet) = start(op, cx)?;
    let wide = machine(op).limits.vector_lanes;
    check_same(op, "C2", "packet", &packet, &source.dim(Dim::Packet).pad(wide, PadKind::Top), &axes(cx).0)
}
