//! `stream.fill`: the sub context makes a tensor that is one number everywhere (book 09, generate mode).

use crate::chain::axes;
use crate::fill::{FROM_ITS_START, Fill, word};
use crate::formula::Formula;
use crate::lower::{LowerStage, loops};
use crate::planner::{Planner, StagePlan, planned};
use crate::raise::{constant, result};
use visa_algebra::{Expr, PadKind};
use visa_engine::place::rngd;
use visa_ir::decl::{ClauseDecl, ClauseKind, Interface, OpDecl};
use visa_ir::diag::Diagnostic;
use visa_ir::effects::{Effects, Target, allocates, writes};
use visa_ir::module::{OpRef, TypeId};
use visa_ir::verify::VerifyCx;
use visa_mapping::facts::address::{THEN, check_addresses, further};
use visa_mapping::facts::{Introduces, check_mappings, machine};
use visa_mapping::ops::func::{check_chips, chips_of};
use visa_mapping::ops::transfer::check_dimension;
use visa_mapping::raise::{Raising, Semantics};
use visa_mapping::tensor::attrs::{DTYPE, MAP};
use visa_mapping::tensor::numbers::{NUMBER, Number};
use visa_mapping::{DM, Dim, Tensor, make};
use visa_numerics::{Bits, DType, load};

/// `stream.fill`.
#[visa_ir::view(FillTensor)]
pub static DECL: OpDecl = OpDecl {
    name: "stream.fill",
    summary: "Makes a tensor in data memory that is one number everywhere.",
    doc: "A command of the sub context by itself: nothing flows through the Tensor Unit (book 09, generate mode). \
          Every slice that `cluster` and `slice` hold gets it. Don't-care padding is filled too, zero padding if \
          the number is zero. A number of a floating-point format is rounded to it. `stream.fill_view` fills a \
          part of a tensor, `stream.generate` writes one number.",
    constraints: &[
        ("C1", "data memory holds the format (not i5 or i9)"),
        ("C2", "the number is in the format; of an integer format it is an integer"),
        ("C3", "the address is a multiple of the element size and the tensor fits a slice (book 04)"),
        (
            "C4",
            "the cluster mapping has as many positions as a chip has clusters, 2, the slice mapping as many as a \
             cluster has slices, 256 (book 04)",
        ),
        (
            "C5",
            "the filled part is contiguous in multiples of 4 bytes, a multiple of 4 bytes apart, from an address \
             that is one (book 09)",
        ),
    ],
    clauses: &[
        ClauseDecl::lead("value", ClauseKind::body::<Number>(&NUMBER), "the number"),
        ClauseDecl::required("at", ClauseKind::Int, "address in every slice, in bytes").open_address(),
        THEN,
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
    example: "%z = stream.fill 0, at 4096, dtype bf16, cluster [1 # 2], slice [S], element [A # 64]",
    interfaces: &[
        Interface(&rngd::GENERATE),
        Interface(&Semantics(raised)),
        Interface(&Formula::Number(element)),
        Interface(&LowerStage(|cx, op| loops::fill(cx, op, &cx.plan::<FillPlan>(op)?.0, number(op)?))),
        // It is read where it lies, not one element of it over and over. All slices have the same.
        Interface(&Introduces(&["element"])),
    ],
    ..OpDecl::BASE
};

/// The operations of this file.
pub static OPS: &[&OpDecl] = &[&DECL];

fn infer(op: OpRef<'_>) -> Result<Vec<TypeId>, Diagnostic> {
    let of = FillTensor::of(op)?;
    let chip = of.chip()?.map_or(Expr::Literal(1), |chip| (*chip).clone());
    let [cluster, slice, element] = [of.cluster()?, of.slice()?, of.element()?].map(|map| (*map).clone());
    let maps = vec![chip, cluster, slice, element];
    Ok(vec![make(op.ctx, Tensor { kind: &DM, unit: None, dtype: *of.dtype()?, maps })])
}

/// The 32 bits that are written over and over: C1 and C2.
///
/// # Errors
/// A violation of C1 or C2.
pub fn number(op: OpRef<'_>) -> Result<Bits, Diagnostic> {
    let of = FillTensor::of(op)?;
    let dtype = *of.dtype()?;
    let (constraint, clause) = if dtype.is_stored() { ("C2", "value") } else { ("C1", "dtype") };
    word(of.value()?.0, dtype).map_err(|why| op.clause_error(constraint, clause, why))
}

/// One element.
fn element(op: OpRef<'_>) -> Result<Bits, Diagnostic> {
    Ok(load(*FillTensor::of(op)?.dtype()?, &number(op)?.to_le_bytes(), 0))
}

fn verify(op: OpRef<'_>, cx: &VerifyCx<'_>) -> Result<(), Diagnostic> {
    let axes = &axes(cx).0;
    check_mappings(op, axes)?;
    number(op)?;
    let Some(result) = op.result_type::<Tensor>(0) else { return Ok(()) };
    let machine = machine(op);
    let of = FillTensor::of(op)?;
    let at = of.at_unless_auto()?;
    check_addresses(op, &result, at, machine.memory.dm_bytes_per_slice, axes, "C3")?;
    check_chips(&result, chips_of(op)?, axes, op.clause_span("chip"))?;
    check_dimension(op, &result, Dim::Cluster, machine.topology.clusters_per_chip, axes, "C4")?;
    check_dimension(op, &result, Dim::Slice, machine.topology.slices_per_cluster, axes, "C4")?;
    let plan = planned::<FillPlan>(op, cx)?;
    let first = at.unwrap_or(FROM_ITS_START);
    let distances: Vec<i64> = further(op).into_iter().flatten().map(|address| address - first).collect();
    plan.0.at(first, &distances, &machine).map(drop).map_err(|why| op.clause_error("C5", "element", why))
}

/// Where the fill of a tensor writes, from the tensor's first byte on.
pub struct FillPlan(pub Fill);

impl StagePlan for FillPlan {
    fn make(planner: &Planner<'_>, op: OpRef<'_>) -> Result<Self, Diagnostic> {
        let result = op.result_type::<Tensor>(0).ok_or_else(|| op.error("C5", "the result is no tensor"))?;
        let zero = number(op)? == 0;
        let written = |kind: PadKind| match kind {
            PadKind::Top => true,
            PadKind::Zero => zero,
            PadKind::Bottom => false,
        };
        Fill::new(&result.dim(Dim::Element), 0, result.dtype, &written, planner.axes)
            .map(Self)
            .map_err(|why| op.clause_error("C5", "element", why))
    }
}

/// The same number at every index.
fn raised(cx: &mut Raising<'_>, op: OpRef<'_>) -> Result<(), Diagnostic> {
    let known = constant(cx, op, result(op)?.dtype, element(op)?)?;
    cx.bind(op, known)
}
