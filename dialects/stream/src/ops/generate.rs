//! `stream.generate`: the sub context writes one number to data memory (book 09, generate mode).

use crate::chain::axes;
use crate::formula::Formula;
use crate::lower::{LowerStage, StageCx};
use crate::raise::{constant, result};
use visa_algebra::{Cell, Expr, PadKind};
use visa_engine::place::rngd;
use visa_hw::ops as hw;
use visa_ir::decl::{ClauseDecl, ClauseKind, Interface, OpDecl};
use visa_ir::diag::{Diagnostic, counted};
use visa_ir::effects::{Effects, Target, allocates, writes};
use visa_ir::module::{OpRef, OpSpec, TypeId};
use visa_ir::verify::VerifyCx;
use visa_mapping::facts::{check_mappings, machine};
use visa_mapping::ops::func::{check_chips, check_place, chips_of};
use visa_mapping::ops::transfer::check_dimension;
use visa_mapping::raise::{Raising, Semantics};
use visa_mapping::tensor::attrs::{DTYPE, MAP};
use visa_mapping::tensor::numbers::{NUMBER, Number};
use visa_mapping::{DM, Dim, Tensor, make};
use visa_numerics::{Bits, DType, from_number};

/// `stream.generate`.
#[visa_ir::view(Generate)]
pub static DECL: OpDecl = OpDecl {
    name: "stream.generate",
    summary: "Writes one number of 32 bits to an address in data memory.",
    doc: "A command of the sub context by itself: nothing flows through the Tensor Unit (book 09, generate mode). \
          Every slice that `cluster` and `slice` hold gets the same number, a tensor that is the same everywhere. \
          A bank of data memory is 8 bytes wide: this writes half of one (book 11).",
    constraints: &[
        ("C1", "the format has 32 bits: i32 or f32 (book 09)"),
        ("C2", "the number is in the format; of i32 it is an integer"),
        ("C3", "the address is a multiple of 4 and the tensor fits a slice (book 04)"),
        (
            "C4",
            "the cluster mapping has as many positions as a chip has clusters, 2, the slice mapping as many as a \
             cluster has slices, 256 (book 04)",
        ),
        ("C5", "`element` holds one element, at its first position; the rest is don't-care padding"),
    ],
    clauses: &[
        ClauseDecl::lead("value", ClauseKind::body::<Number>(&NUMBER), "the number"),
        ClauseDecl::required("at", ClauseKind::Int, "address in every slice, in bytes").open_address(),
        ClauseDecl::required("dtype", ClauseKind::body::<DType>(&DTYPE), "its format"),
        ClauseDecl::optional(
            "chip",
            ClauseKind::body::<Expr>(&MAP),
            "the chips that write it; one if absent",
        ),
        ClauseDecl::required("cluster", ClauseKind::body::<Expr>(&MAP), "the clusters that write it"),
        ClauseDecl::required("slice", ClauseKind::body::<Expr>(&MAP), "the slices that write it"),
        ClauseDecl::required(
            "element",
            ClauseKind::body::<Expr>(&MAP),
            "the layout within a slice, in elements",
        ),
    ],
    results: &["tensor"],
    effects: Effects::Are(&[allocates(Target::Memory("tm.dm")), writes(Target::Memory("tm.dm"))]),
    infer: Some(infer),
    verify: Some(verify),
    example: "%n = stream.generate 5, at 4096, dtype i32, cluster [1 # 2], slice [1 # 256], element [1 # 2]",
    interfaces: &[
        Interface(&rngd::GENERATE),
        Interface(&Semantics(raised)),
        Interface(&Formula::Number(bits)),
        Interface(&LowerStage(lower)),
    ],
    ..OpDecl::BASE
};

/// The operations of this file.
pub static OPS: &[&OpDecl] = &[&DECL];

fn infer(op: OpRef<'_>) -> Result<Vec<TypeId>, Diagnostic> {
    let of = Generate::of(op)?;
    let chip = of.chip()?.map_or(Expr::Literal(1), |chip| (*chip).clone());
    let [cluster, slice, element] = [of.cluster()?, of.slice()?, of.element()?].map(|map| (*map).clone());
    let maps = vec![chip, cluster, slice, element];
    Ok(vec![make(op.ctx, Tensor { kind: &DM, unit: None, dtype: *of.dtype()?, maps })])
}

/// The number's bits: C1 and C2.
fn bits(op: OpRef<'_>) -> Result<Bits, Diagnostic> {
    let of = Generate::of(op)?;
    let dtype = *of.dtype()?;
    if dtype.bits() != Bits::BITS {
        let message = format!("`{dtype}` has {}, expected {}", counted(dtype.bits(), "bit"), Bits::BITS);
        return Err(op.clause_error("C1", "dtype", message));
    }
    let value = of.value()?;
    from_number(dtype, value.0)
        .ok_or_else(|| op.clause_error("C2", "value", format!("{value} is no `{dtype}`")))
}

fn verify(op: OpRef<'_>, cx: &VerifyCx<'_>) -> Result<(), Diagnostic> {
    let axes = &axes(cx).0;
    check_mappings(op, axes)?;
    bits(op)?;
    let Some(result) = op.result_type::<Tensor>(0) else { return Ok(()) };
    let machine = machine(op);
    let at = Generate::of(op)?.at_unless_auto()?;
    check_place(op, "at", &result, at, machine.memory.dm_bytes_per_slice, axes, "C3")?;
    check_chips(&result, chips_of(op)?, axes, op.clause_span("chip"))?;
    check_dimension(op, &result, Dim::Cluster, machine.topology.clusters_per_chip, axes, "C4")?;
    check_dimension(op, &result, Dim::Slice, machine.topology.slices_per_cluster, axes, "C4")?;
    let element = result.dim(Dim::Element);
    let digits =
        crate::plan::digits_of(&element, axes).map_err(|why| op.clause_error("C5", "element", why))?;
    let first = matches!(digits.cell(0), Some(Cell::Live(_)));
    let strict = digits.iter().find(|digit| digit.live < digit.extent && digit.kind != PadKind::Top);
    if digits.live_count() == Some(1) && first && strict.is_none() {
        return Ok(());
    }
    let message = format!("`{element}` is not one element and don't-care padding after it, as `[1 # 2]`");
    Err(op.clause_error("C5", "element", message))
}

/// The same number at every index.
fn raised(cx: &mut Raising<'_>, op: OpRef<'_>) -> Result<(), Diagnostic> {
    let known = constant(cx, op, result(op)?.dtype, bits(op)?)?;
    cx.bind(op, known)
}

fn lower(_: &StageCx<'_>, op: OpRef<'_>) -> Result<Option<OpSpec>, Diagnostic> {
    let lowered = hw::generate::Generate::build(op).value(i64::from(bits(op)?));
    Ok(Some(lowered.at(Generate::of(op)?.at()?).spec()))
}
