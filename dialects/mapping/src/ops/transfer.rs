//! `tm.to_hbm`, `tm.to_dm`, `tm.to_host`: transfers of whole tensors by the DMA engines.

use super::func::{aligned_fix, check_chips, check_place, chips_of};
use crate::attrs::MAP;
use crate::facts::{DeclaredAxes, Support, check_mappings, machine};
use crate::tensor::{Dim, Tensor, TensorKind, make};
use crate::{AxisId, DM, Expr, HBM, HOST, Transfer, TransferLoop, transfer};
use visa_ir::decl::{ClauseDecl, ClauseKind, Interface, OpDecl, OperandDecl};
use visa_ir::diag::{Diagnostic, counted};
use visa_ir::effects::{Effects, Target, allocates, reads, writes};
use visa_ir::module::{OpRef, TypeId};
use visa_ir::verify::VerifyCx;
use visa_ir::view::ValueRef;
use visa_loops::Stride;

/// The interface of an operation that moves a whole tensor from one memory to another.
#[derive(Clone, Copy, Debug)]
pub struct MovesTensor;

/// Whether an operation moves a whole tensor from one memory to another.
#[must_use]
pub fn is_transfer(op: OpRef<'_>) -> bool {
    op.decl().is_some_and(|decl| decl.interface::<MovesTensor>().is_some())
}

/// `tm.to_hbm`.
#[visa_ir::view(ToHbm)]
pub static TO_HBM: OpDecl = OpDecl {
    name: "tm.to_hbm",
    summary: "Moves a tensor to HBM.",
    doc: "From host memory by PCIe DMA, from data memory by tensor DMA (book 10). From data memory the chip \
          mapping is that of the source.",
    constraints: &[
        ("C1", "the address is a multiple of the element size and the tensor fits (book 04)"),
        ("C2", "the source holds every element of the result (book 07)"),
        ("C3", "from data memory, `chip` is not given: each chip moves its own"),
    ],
    operands: &[OperandDecl::one("source", &["tm.host", "tm.dm"])],
    clauses: &[
        ClauseDecl::required("at", ClauseKind::Int, "HBM address, in bytes").open_address(),
        ClauseDecl::optional(
            "chip",
            ClauseKind::body::<Expr>(&MAP),
            "which part each chip holds; the identity if absent",
        ),
        ClauseDecl::required(
            "element",
            ClauseKind::body::<Expr>(&MAP),
            "the layout in a chip's HBM, in elements",
        ),
    ],
    results: &["tensor"],
    effects: Effects::Are(&[
        reads(Target::Operand("source")),
        allocates(Target::Memory("tm.hbm")),
        writes(Target::Memory("tm.hbm")),
    ]),
    infer: Some(infer_hbm),
    verify: Some(verify_hbm),
    example: "%h = tm.to_hbm %x at 0, element [I, J]",
    interfaces: &[Interface(&MovesTensor)],
    ..OpDecl::BASE
};

/// `tm.to_dm`.
#[visa_ir::view(ToDm)]
pub static TO_DM: OpDecl = OpDecl {
    name: "tm.to_dm",
    summary: "Moves a tensor from HBM to data memory.",
    doc: "Each chip moves its own part by tensor DMA (book 10). A gathered term of `element`, `R @ (3, 1, 5)`, is \
          read by an offset table (book 07). Along an axis that the tensor does not depend on, every position \
          gets a copy. Padding that follows a row on both sides moves along, as it is, where the row alone is no \
          multiple of 8 bytes.",
    constraints: &[
        ("C1", "the address is a multiple of the element size and the tensor fits a slice (book 04)"),
        ("C2", "the source holds every element of the result (book 07)"),
        ("C3", "the cluster mapping has as many positions as a chip has clusters: 2 (book 04)"),
        ("C4", "the slice mapping has as many positions as a cluster has slices: 256 (book 04)"),
        (
            "C5",
            "what is contiguous on both sides, and every distance between such runs, is a multiple of 8 bytes \
             (book 10)",
        ),
    ],
    operands: &[OperandDecl::one("source", &["tm.hbm"])],
    clauses: &[
        ClauseDecl::required("at", ClauseKind::Int, "address in every slice, in bytes").open_address(),
        ClauseDecl::required("cluster", ClauseKind::body::<Expr>(&MAP), "which part each cluster holds")
            .open(),
        ClauseDecl::required("slice", ClauseKind::body::<Expr>(&MAP), "which part each slice holds").open(),
        ClauseDecl::required(
            "element",
            ClauseKind::body::<Expr>(&MAP),
            "the layout within a slice, in elements",
        )
        .open(),
    ],
    results: &["tensor"],
    effects: Effects::Are(&[
        reads(Target::Operand("source")),
        allocates(Target::Memory("tm.dm")),
        writes(Target::Memory("tm.dm")),
    ]),
    infer: Some(infer_dm),
    verify: Some(verify_dm),
    example: "%d = tm.to_dm %h at 0, cluster [1 # 2], slice [I], element [J]",
    interfaces: &[Interface(&MovesTensor)],
    ..OpDecl::BASE
};

/// `tm.to_host`.
#[visa_ir::view(ToHost)]
pub static TO_HOST: OpDecl = OpDecl {
    name: "tm.to_host",
    summary: "Moves a tensor from HBM to host memory.",
    doc: "By PCIe DMA (book 10).",
    constraints: &[("C1", "the source holds every element of the result (book 07)")],
    operands: &[OperandDecl::one("source", &["tm.hbm"])],
    clauses: &[ClauseDecl::required(
        "element",
        ClauseKind::body::<Expr>(&MAP),
        "the layout in host memory, in elements",
    )],
    results: &["tensor"],
    effects: Effects::Are(&[
        reads(Target::Operand("source")),
        allocates(Target::Memory("tm.host")),
        writes(Target::Memory("tm.host")),
    ]),
    infer: Some(infer_host),
    verify: Some(verify_host),
    example: "%y = tm.to_host %h element [I]",
    interfaces: &[Interface(&MovesTensor)],
    ..OpDecl::BASE
};

/// The operations of this file.
pub static OPS: &[&OpDecl] = &[&TO_HBM, &TO_DM, &TO_HOST];

/// The result's type: dimensions as given by clauses, then from the source.
fn infer(
    op: OpRef<'_>,
    kind: &'static TensorKind,
    source: ValueRef<'_>,
    given: &[(Dim, &Expr)],
) -> Result<Vec<TypeId>, Diagnostic> {
    let source = source.of_type::<Tensor>()?;
    let mut given: Vec<_> = given.iter().map(|&(dim, map)| (dim, map.clone())).collect();
    if source.map(Dim::Chip).is_none() && !given.iter().any(|(dim, _)| *dim == Dim::Chip) {
        given.push((Dim::Chip, Expr::Literal(1)));
    }
    let tensor = Tensor::build(kind, None, source.dtype, &given, &source)
        .map_err(|dim| op.error("C0", format!("the {dim} mapping is not known")))?;
    Ok(vec![make(op.ctx, tensor)])
}

fn infer_hbm(op: OpRef<'_>) -> Result<Vec<TypeId>, Diagnostic> {
    let op = ToHbm::of(op)?;
    let (chip, element) = (op.chip()?, op.element()?);
    let chip = chip.as_deref().map(|chip| (Dim::Chip, chip));
    let given: Vec<_> = chip.into_iter().chain([(Dim::Element, &*element)]).collect();
    infer(*op, &HBM, op.source()?, &given)
}

fn infer_dm(op: OpRef<'_>) -> Result<Vec<TypeId>, Diagnostic> {
    let op = ToDm::of(op)?;
    let (cluster, slice, element) = (op.cluster()?, op.slice()?, op.element()?);
    let given = [(Dim::Cluster, &*cluster), (Dim::Slice, &*slice), (Dim::Element, &*element)];
    infer(*op, &DM, op.source()?, &given)
}

fn infer_host(op: OpRef<'_>) -> Result<Vec<TypeId>, Diagnostic> {
    let op = ToHost::of(op)?;
    infer(*op, &HOST, op.source()?, &[(Dim::Element, &*op.element()?)])
}

fn verify_hbm(op: OpRef<'_>, cx: &VerifyCx<'_>) -> Result<(), Diagnostic> {
    let axes = &cx.analysis::<DeclaredAxes>().0;
    check_mappings(op, axes)?;
    let op = ToHbm::of(op)?;
    let (source, result) = (op.source()?.of_type::<Tensor>()?, op.result_tensor()?.of_type::<Tensor>()?);
    if source.map(Dim::Chip).is_some() && op.chip()?.is_some() {
        return Err(op
            .clause_error("C3", "chip", "the source already says what each chip holds")
            .fix(Some("leave `chip` out".to_owned())));
    }
    check_chips(&result, chips_of(*op)?, axes, op.clause_span("chip"))?;
    let capacity = machine(op.ctx).memory.hbm_bytes;
    check_place(*op, "at", &result, op.at_unless_auto()?, capacity, axes, "C1")?;
    check_transfer(*op, cx, "C2", &source, &result).map(drop)
}

fn verify_dm(op: OpRef<'_>, cx: &VerifyCx<'_>) -> Result<(), Diagnostic> {
    let axes = &cx.analysis::<DeclaredAxes>().0;
    check_mappings(op, axes)?;
    let op = ToDm::of(op)?;
    let (source, result) = (op.source()?.of_type::<Tensor>()?, op.result_tensor()?.of_type::<Tensor>()?);
    let machine = machine(op.ctx);
    check_dimension(*op, &result, Dim::Cluster, machine.topology.clusters_per_chip, axes, "C3")?;
    check_dimension(*op, &result, Dim::Slice, machine.topology.slices_per_cluster, axes, "C4")?;
    let at = op.at_unless_auto()?;
    check_place(*op, "at", &result, at, machine.memory.dm_bytes_per_slice, axes, "C1")?;
    let transfer = check_transfer(*op, cx, "C2", &source, &result)?;
    check_alignment(op, &transfer.loops, machine.limits.dma_dm_align)
}

/// Data memory is written in whole groups of bytes: the runs that are contiguous on both sides, and where they start.
fn check_alignment(op: ToDm<'_>, loops: &[TransferLoop], align: u64) -> Result<(), Diagnostic> {
    let mut run = 1_u64;
    let mut rest = loops.iter().rev();
    let outer = rest.find(|step| {
        let counts_on = |distance: i64| u64::try_from(distance) == Ok(run);
        let contiguous = matches!(step.read, Stride::Fixed(read) if counts_on(read)) && counts_on(step.write);
        if contiguous {
            run = run.saturating_mul(step.limit);
        }
        !contiguous
    });
    if !run.is_multiple_of(align) {
        let message =
            format!("the transfer writes runs of {}, expected multiples of {align}", counted(run, "byte"));
        let fix = format!(
            "keep at least {} that are contiguous on both sides innermost in `element`, or pad both sides alike \
             to a multiple of that (`# n`): padding that both have moves along",
            counted(align, "byte"),
        );
        return Err(op.clause_error("C5", "element", message).fix(Some(fix)));
    }
    let outer: Vec<&TransferLoop> = outer.into_iter().chain(rest).collect();
    let aligned = |distance: i64| distance.unsigned_abs().is_multiple_of(align);
    let misread = |step: &&&TransferLoop| match &step.read {
        Stride::Fixed(stride) => !aligned(*stride),
        Stride::Table(table) => table.iter().any(|&offset| !aligned(offset)),
    };
    if let Some(step) = outer.iter().find(misread) {
        let message = format!(
            "runs of {} are read {}, expected multiples of {align}",
            counted(run, "byte"),
            apart(&step.read)
        );
        let fix = format!("pad the source so that runs start at multiples of {}", counted(align, "byte"));
        return Err(op.clause_error("C5", "element", message).fix(Some(fix)));
    }
    if let Some(step) = outer.iter().find(|step| !aligned(step.write)) {
        let message = format!(
            "runs of {} are written {} apart, expected multiples of {align}",
            counted(run, "byte"),
            counted(step.write, "byte")
        );
        let fix = format!("pad `element` so that runs start at multiples of {}", counted(align, "byte"));
        return Err(op.clause_error("C5", "element", message).fix(Some(fix)));
    }
    match op.at_unless_auto()?.filter(|&at| !aligned(at)) {
        Some(at) => {
            let message = format!("address {at} is not a multiple of {align}");
            let fix = i64::try_from(align).ok().and_then(|align| aligned_fix(at, align));
            Err(op.clause_error("C5", "at", message).fix(fix))
        }
        None => Ok(()),
    }
}

fn verify_host(op: OpRef<'_>, cx: &VerifyCx<'_>) -> Result<(), Diagnostic> {
    check_mappings(op, &cx.analysis::<DeclaredAxes>().0)?;
    let op = ToHost::of(op)?;
    let (source, result) = (op.source()?.of_type::<Tensor>()?, op.result_tensor()?.of_type::<Tensor>()?);
    check_transfer(*op, cx, "C1", &source, &result).map(drop)
}

/// Checks that a dimension has exactly `count` positions (book 04).
pub fn check_dimension(
    op: OpRef<'_>,
    tensor: &Tensor,
    dim: Dim,
    count: u64,
    axes: &crate::Axes,
    constraint: &str,
) -> Result<(), Diagnostic> {
    let map = tensor.dim(dim);
    let size =
        map.size(axes).map_err(|error| crate::facts::mapping_error(error, op.clause_span(dim.name())))?;
    if size == count {
        return Ok(());
    }
    let message =
        format!("{} mapping `{map}` has {}, expected exactly {count}", dim.name(), counted(size, "position"));
    let fix = (size < count).then(|| {
        let text = map.to_string();
        let inside = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
        let inside = inside.filter(|inside| !inside.contains(',')).map_or(&*text, |inside| inside);
        format!("pad it: `[{inside} # {count}]`")
    });
    Err(op.clause_error(constraint, dim.name(), message).fix(fix))
}

/// The axes that operand `index` does not depend on.
pub fn free_axes<'a>(op: OpRef<'a>, cx: &VerifyCx<'_>, index: usize) -> impl Fn(AxisId) -> bool + 'a {
    let support = cx.analysis::<Support>();
    let axes = cx.analysis::<DeclaredAxes>();
    let value = op.operands().get(index).copied();
    move |axis| value.is_none_or(|value| !support.depends(value, axes.0.name(axis)))
}

/// The loops of the transfer.
fn check_transfer(
    op: OpRef<'_>,
    cx: &VerifyCx<'_>,
    constraint: &str,
    source: &Tensor,
    result: &Tensor,
) -> Result<Transfer, Diagnostic> {
    let axes = &cx.analysis::<DeclaredAxes>().0;
    let free = free_axes(op, cx, 0);
    transfer(source, result, &free, axes, &machine(op.ctx))
        .map_err(|error| op.clause_error(constraint, "element", error.to_string()))
}

/// How far apart a loop's iterations are, in words: `4 bytes apart`.
fn apart(stride: &Stride) -> String {
    match stride {
        Stride::Fixed(bytes) => format!("{} apart", counted(*bytes, "byte")),
        Stride::Table(_) => format!("{} bytes apart", stride.shortened()),
    }
}
