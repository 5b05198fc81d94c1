//! `stream.to_trf` and `stream.to_vrf`: a pipeline ends in a register file (book 18, 20).

use crate::chain::{axes, check_same, check_stored, dim_bytes, ends, given, input, positions, with_dims};
use crate::lower::{LowerStage, StageCx};
use crate::padding::check_zeros;
use crate::pipeline;
use visa_algebra::Expr;
use visa_engine::place::rngd;
use visa_engine::words::RegionName;
use visa_hw::ops as hw;
use visa_ir::decl::{ClauseDecl, ClauseKind, Interface, OpDecl, OperandDecl};
use visa_ir::diag::{Diagnostic, counted};
use visa_ir::effects::{Effects, Target, allocates, writes};
use visa_ir::module::{OpRef, OpSpec, TypeId};
use visa_ir::verify::VerifyCx;
use visa_loops::distance;
use visa_mapping::facts::{check_mappings, machine};
use visa_mapping::ops::func::check_place;
use visa_mapping::raise::Semantics;
use visa_mapping::raise::moves::same;
use visa_mapping::tensor::attrs::MAP;
use visa_mapping::{Dim, TRF, Tensor, TensorKind, VRF};

/// `stream.to_trf`.
#[visa_ir::view(ToTrf)]
pub static TO_TRF: OpDecl = OpDecl {
    name: "stream.to_trf",
    summary: "Stores the stream into the tensor register file.",
    doc: "The outermost part of the stream chooses the row, the rest is the row's elements in order (book 18). \
          `full` takes the whole file; the two halves hold two tensors at once.",
    constraints: &[
        ("C1", "1, 2, 4 or 8 rows (book 18, 19)"),
        ("C2", "[row, element] is the stream's [time, packet] (book 18)"),
        (
            "C3",
            "a row's elements fit its part of the register file: `full` is 64 KB for all rows, 8 KB for each of 8; \
             `first` and `second` are half of that (book 04, 18)",
        ),
        ("C4", "zero padding of the mappings is zero in the stream, not another `pad` of its fetch"),
    ],
    operands: &[OperandDecl::accepting("stream", pipeline::after!(&rngd::LOAD))],
    clauses: &[
        ClauseDecl::required("at", ClauseKind::word::<RegionName>(), "which part of the register file")
            .open_address(),
        ClauseDecl::required("row", ClauseKind::body::<Expr>(&MAP), "mapping of the rows").open(),
        ClauseDecl::required(
            "element",
            ClauseKind::body::<Expr>(&MAP),
            "the layout within a row, in elements",
        )
        .open(),
    ],
    results: &["tensor"],
    effects: Effects::Are(&[allocates(Target::Memory("tm.trf")), writes(Target::Memory("tm.trf"))]),
    infer: Some(infer_trf),
    verify: Some(verify_trf),
    example: "%w = stream.to_trf %c at full, row [1], element [J]",
    interfaces: &[Interface(&rngd::LOAD), Interface(&Semantics(same)), Interface(&LowerStage(lower_trf))],
    ..OpDecl::BASE
};

/// `stream.to_vrf`.
#[visa_ir::view(ToVrf)]
pub static TO_VRF: OpDecl = OpDecl {
    name: "stream.to_vrf",
    summary: "Stores the stream into the vector register file.",
    doc: "The vector engine reads it as the second operand of an operation (book 20, 21). The stream comes from the \
          collect engine, or out of the vector engine, whose pass then ends in its own register file: a later pass \
          reads it from there.",
    constraints: &[
        (
            "C1",
            "the elements fit the register file: 8 KB; they are not i5 or i9, whose sideband bit it does not hold \
             (books 04, 19)",
        ),
        ("C2", "element is the stream's [time, packet]"),
        ("C3", "zero padding of the mapping is zero in the stream, not another `pad` of its fetch"),
    ],
    operands: &[OperandDecl::accepting("stream", pipeline::after!(&rngd::KEEP))],
    clauses: &[
        ClauseDecl::required("at", ClauseKind::Int, "address in the register file, in bytes").open_address(),
        ClauseDecl::required("element", ClauseKind::body::<Expr>(&MAP), "the layout, in elements").open(),
    ],
    results: &["tensor"],
    effects: Effects::Are(&[allocates(Target::Memory("tm.vrf")), writes(Target::Memory("tm.vrf"))]),
    infer: Some(infer_vrf),
    verify: Some(verify_vrf),
    example: "%v = stream.to_vrf %c at 0, element [A % 8]",
    interfaces: &[Interface(&rngd::KEEP), Interface(&Semantics(same)), Interface(&LowerStage(lower_vrf))],
    ..OpDecl::BASE
};

/// The operations of this file.
pub static OPS: &[&OpDecl] = &[&TO_TRF, &TO_VRF];

fn infer(op: OpRef<'_>, kind: &'static TensorKind) -> Result<Vec<TypeId>, Diagnostic> {
    let source = input(op)?;
    let given = given(op, &[Dim::Row, Dim::Element]);
    with_dims(op, kind, None, source.dtype, &given, &source)
}

fn infer_trf(op: OpRef<'_>) -> Result<Vec<TypeId>, Diagnostic> {
    infer(op, &TRF)
}

fn infer_vrf(op: OpRef<'_>) -> Result<Vec<TypeId>, Diagnostic> {
    infer(op, &VRF)
}

fn verify_trf(op: OpRef<'_>, cx: &VerifyCx<'_>) -> Result<(), Diagnostic> {
    let axes = &axes(cx).0;
    check_mappings(op, axes)?;
    let source = input(op)?;
    let Some(result) = op.result_type::<Tensor>(0) else { return Ok(()) };
    let machine = machine(op);
    let row = result.dim(Dim::Row);
    let rows = positions(op, Dim::Row, &row, axes)?;
    if !machine.limits.row_counts.contains(&rows) {
        let counts: Vec<_> = machine.limits.row_counts.iter().map(u64::to_string).collect();
        return Err(op.clause_error(
            "C1",
            "row",
            format!("row mapping `{row}` has {}, expected {}", counted(rows, "position"), counts.join(", ")),
        ));
    }
    // An open half may become the whole file.
    let at = ToTrf::of(op)?.at_unless_auto()?;
    let at = at.unwrap_or(RegionName::Full);
    let whole = machine.trf_row_bytes(rows);
    let capacity = match at {
        RegionName::Full => whole,
        RegionName::First | RegionName::Second => machine.trf_half_bytes(rows),
    };
    let element = result.dim(Dim::Element);
    let bytes = dim_bytes(op, &result, Dim::Element, axes)?;
    if bytes > capacity {
        let over = bytes - capacity;
        let message = format!(
            "element mapping `{element}` of `{}` takes {} of a TRF row, which has {capacity} (`at {at}`): {} over",
            result.dtype,
            counted(bytes, "byte"),
            counted(over, "byte")
        );
        let fix = match bytes <= whole {
            true => "write `at full`".to_owned(),
            false => format!(
                "at most {} of `{}` fit a row, it holds {}",
                counted(result.dtype.elements(capacity), "element"),
                result.dtype,
                result.dtype.elements(bytes)
            ),
        };
        return Err(op.clause_error("C3", "element", message).fix(fix));
    }
    let wanted = Expr::pair([source.dim(Dim::Time), source.dim(Dim::Packet)]);
    check_same(op, "C2", "element", &Expr::pair([row, element]), &wanted, axes)?;
    check_zeros(op, &result, "C4", axes)
}

fn verify_vrf(op: OpRef<'_>, cx: &VerifyCx<'_>) -> Result<(), Diagnostic> {
    let axes = &axes(cx).0;
    check_mappings(op, axes)?;
    let source = input(op)?;
    let Some(result) = op.result_type::<Tensor>(0) else { return Ok(()) };
    check_stored(op, &result, "C1")?;
    let at = ToVrf::of(op)?.at_unless_auto()?;
    check_place(op, "at", &result, at, machine(op).memory.vrf_bytes, axes, "C1")?;
    let wanted = Expr::pair([source.dim(Dim::Time), source.dim(Dim::Packet)]);
    check_same(op, "C2", "element", &result.dim(Dim::Element), &wanted, axes)?;
    check_zeros(op, &result, "C3", axes)
}

fn lower_trf(cx: &StageCx<'_>, op: OpRef<'_>) -> Result<Option<OpSpec>, Diagnostic> {
    let (_, result) = ends(op)?;
    let count = |dim| positions(op, dim, &result.dim(dim), cx.axes);
    let rows = count(Dim::Row)?;
    let row_bytes = result.bytes(count(Dim::Element)?);
    let row_bytes =
        row_bytes.ok_or_else(|| op.clause_error("C3", "element", "too many elements to count"))?;
    let lowered = hw::store::StoreTrf::build(op).region(ToTrf::of(op)?.at()?).rows(distance(rows));
    Ok(Some(lowered.row_bytes(distance(row_bytes)).spec()))
}

fn lower_vrf(_: &StageCx<'_>, op: OpRef<'_>) -> Result<Option<OpSpec>, Diagnostic> {
    Ok(Some(hw::store::StoreVrf::build(op).at(ToVrf::of(op)?.at()?).spec()))
}
