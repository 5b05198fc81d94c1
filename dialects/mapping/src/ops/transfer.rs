//! `tm.to_hbm`, `tm.to_dm`, `tm.to_spm`, `tm.to_host`: transfers of whole tensors by the DMA engines.

use super::func::{aligned_fix, check_chips, check_place, chips_of};
use crate::facts::address::{THEN, check_addresses, further};
use crate::facts::frames::Frames;
use crate::facts::{DeclaredAxes, Support, check_mappings, machine};
use crate::raise::{Semantics, moves};
use crate::tensor::attrs::MAP;
use crate::tensor::memories::{DM, EVERYWHERE, HBM, HOST, ON_CHIP, SPM};
use crate::tensor::{Dim, Tensor, TensorKind, make};
use crate::transfer::aggregate::StreamOrder;
use crate::transfer::error::TransferError;
use crate::transfer::padding::padded_axes;
use crate::transfer::{Transfer, TransferLoop, transfer, whole};
use std::borrow::Cow;
use visa_algebra::{Axes, AxisId, Expr};
use visa_ir::decl::{ClauseDecl, ClauseKind, Interface, OpDecl, OperandDecl};
use visa_ir::diag::{Diagnostic, counted};
use visa_ir::effects::{Effects, Target, allocates, reads, writes};
use visa_ir::module::{OpRef, TypeId};
use visa_ir::verify::VerifyCx;
use visa_ir::view::{BodyOf, Int, ValueRef, flag, optional, unless_auto};
use visa_loops::Stride;

/// The interface of an operation that moves a whole tensor from one memory to another.
#[derive(Clone, Copy, Debug)]
pub struct MovesTensor;

/// Returns true if an operation moves a whole tensor from one memory to another.
#[must_use]
pub fn is_transfer(op: OpRef<'_>) -> bool {
    op.decl().is_some_and(|decl| decl.interface::<MovesTensor>().is_some())
}

/// `tm.to_hbm`.
#[visa_ir::view(ToHbm)]
pub static TO_HBM: OpDecl = OpDecl {
    name: "tm.to_hbm",
    summary: "Moves a tensor to HBM.",
    doc: "From host memory by PCIe DMA, from HBM, data memory and scratchpad memory by tensor DMA, within each \
          chip (book 10): the chip mapping is then that of the source. With another `chip`, PCIe DMA moves between \
          chips: `chip [4]` of a source on `[A]` gives each chip all of it. A chip that has a copy of the \
          whole source, as from `[4]` to `[A]`, takes its own by tensor DMA.",
    constraints: &[
        ("C1", "the address is a multiple of the element size and the tensor fits (book 04)"),
        ("C2", "the source holds every element of the result (book 07)"),
        ("C3", "from scratchpad memory `chip` is not given: it is not reached from other chips (book 10)"),
        ("C4", STREAM),
        ("C5", PADDED_AXIS),
        ("C6", CLUSTER_QUEUE),
    ],
    operands: &[OperandDecl::one("source", EVERYWHERE)],
    clauses: &[
        ClauseDecl::required("at", ClauseKind::Int, "HBM address, in bytes").open_address(),
        ClauseDecl::optional(
            "chip",
            ClauseKind::body::<Expr>(&MAP),
            "which part each chip holds; as in the source if absent, of a tensor of the host the identity",
        ),
        ClauseDecl::required(
            "element",
            ClauseKind::body::<Expr>(&MAP),
            "the layout in a chip's HBM, in elements",
        ),
        PADDED,
        QUEUE,
        ENGINES,
        TIME,
        PACKET,
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
    interfaces: &[Interface(&MovesTensor), Interface(&Semantics(moves::same))],
    ..OpDecl::BASE
};

/// Moves padding along.
#[visa_ir::clause]
pub(crate) const PADDED: ClauseDecl = ClauseDecl::optional(
    "padded",
    ClauseKind::Flag,
    "moves padding that follows an axis on both sides along, so that whole units of HBM are written",
);

/// The constraint on [`PADDED`].
pub(super) const PADDED_AXIS: &str = "with `padded`, an axis is `A # n` wherever the destination has it, and `A # m` \
                                      with m of at least n wherever the source has it";

/// The engines of one cluster.
#[visa_ir::clause]
pub(crate) const QUEUE: ClauseDecl = ClauseDecl::optional(
    "queue",
    ClauseKind::Int,
    "the cluster whose DMA engines move it, in parallel with transfers of another cluster's engines; the engines of \
     all clusters if absent",
);

/// The constraint on [`QUEUE`].
pub(super) const CLUSTER_QUEUE: &str = "`queue` is a cluster of the chip, by tensor DMA, without `engines`, `time` \
                                        and `packet` (book 10)";

/// The axes that count engines.
#[visa_ir::clause]
pub(crate) const ENGINES: ClauseDecl = ClauseDecl::optional(
    "engines",
    ClauseKind::body::<Expr>(&MAP),
    "which axes go to which DMA engine of a chip; one engine if only `time` or `packet` is there",
)
.open_order();

/// The order in which an engine moves its packets.
#[visa_ir::clause]
pub(crate) const TIME: ClauseDecl = ClauseDecl::optional(
    "time",
    ClauseKind::body::<Expr>(&MAP),
    "in which order an engine moves its packets; that of the destination if only another of the three is there",
)
.open_order();

/// The contents of a packet.
#[visa_ir::clause]
pub(crate) const PACKET: ClauseDecl = ClauseDecl::optional(
    "packet",
    ClauseKind::body::<Expr>(&MAP),
    "mapping of a packet; the most that it can if only another of the three is there",
)
.open_order();

/// C5 of the transfers into SRAM.
pub(super) const RUNS: &str = "every run that is contiguous on both sides, and every distance between such runs, is \
                               a multiple of 8 bytes (book 10)";

/// C4, C6 or C7 of the transfers that have a stream.
pub(super) const STREAM: &str = "`engines`, `time` and `packet` together count each element of the destination once; \
                                 a chip has 8 engines, PCIe has one; a packet is contiguous on both sides, at most \
                                 4096 bytes, and of whole groups of 8 bytes where SRAM is written (book 10)";

/// `tm.to_dm`.
#[visa_ir::view(ToDm)]
pub static TO_DM: OpDecl = OpDecl {
    name: "tm.to_dm",
    summary: "Moves a tensor to data memory.",
    doc: "From HBM, scratchpad memory, or data memory in another layout. Each chip moves its own part by \
          tensor DMA; with another `chip` than the source's, PCIe DMA moves between chips (book 10), unless \
          each chip has a copy of the source. \
          A gathered term of `element`, `R @ (3, 1, 5)`, is read by an offset table \
          (book 07). Along an axis that the tensor does not depend on, every position gets a copy. Padding \
          that follows a row on both sides moves along, as it is, where the row alone is no multiple of 8 \
          bytes. At which distances data memory and scratchpad memory are read is free.",
    constraints: &[
        ("C1", "the address is a multiple of the element size and the tensor fits a slice (book 04)"),
        ("C2", "the source holds every element of the result (book 07)"),
        ("C3", "the cluster mapping has as many positions as a chip has clusters: 2 (book 04)"),
        ("C4", "the slice mapping has as many positions as a cluster has slices: 256 (book 04)"),
        ("C5", RUNS),
        ("C6", "from scratchpad memory `chip` is not given: it is not reached from other chips (book 10)"),
        ("C7", STREAM),
        ("C8", CLUSTER_QUEUE),
    ],
    operands: &[OperandDecl::one("source", ON_CHIP)],
    clauses: &[
        ClauseDecl::required("at", ClauseKind::Int, "address in every slice, in bytes").open_address(),
        THEN,
        ClauseDecl::optional(
            "chip",
            ClauseKind::body::<Expr>(&MAP),
            "which part each chip holds; as in the source if absent",
        ),
        ClauseDecl::required("cluster", ClauseKind::body::<Expr>(&MAP), "which part each cluster holds")
            .open(),
        ClauseDecl::required("slice", ClauseKind::body::<Expr>(&MAP), "which part each slice holds").open(),
        ClauseDecl::required(
            "element",
            ClauseKind::body::<Expr>(&MAP),
            "the layout within a slice, in elements",
        )
        .open(),
        QUEUE,
        ENGINES,
        TIME,
        PACKET,
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
    interfaces: &[Interface(&MovesTensor), Interface(&Semantics(moves::same))],
    ..OpDecl::BASE
};

/// `tm.to_spm`.
#[visa_ir::view(ToSpm)]
pub static TO_SPM: OpDecl = OpDecl {
    name: "tm.to_spm",
    summary: "Moves a tensor to scratchpad memory.",
    doc: "From HBM, data memory, or scratchpad memory in another layout. Each PE has a small scratchpad memory, \
          which only the DMA engines read and write (book 10, 11): to compute with a tensor that is there, move it \
          to data memory. Each chip moves its own part. Gathered terms, copies, padding and distances are as in \
          `tm.to_dm`.",
    constraints: &[
        (
            "C1",
            "the address is a multiple of the element size and the tensor fits a PE's scratchpad memory (book 04)",
        ),
        ("C2", "the source holds every element of the result (book 07)"),
        ("C3", "the cluster mapping has as many positions as a chip has clusters: 2 (book 04)"),
        ("C4", "the PE mapping has as many positions as a cluster has PEs: 4 (book 10)"),
        ("C5", RUNS),
        ("C6", STREAM),
        ("C7", CLUSTER_QUEUE),
    ],
    operands: &[OperandDecl::one("source", ON_CHIP)],
    clauses: &[
        ClauseDecl::required("at", ClauseKind::Int, "address in every PE's scratchpad memory, in bytes")
            .open_address(),
        THEN,
        ClauseDecl::required("cluster", ClauseKind::body::<Expr>(&MAP), "which part each cluster holds"),
        ClauseDecl::required("pe", ClauseKind::body::<Expr>(&MAP), "which part each PE of a cluster holds"),
        ClauseDecl::required(
            "element",
            ClauseKind::body::<Expr>(&MAP),
            "the layout within a PE's scratchpad memory, in elements",
        ),
        QUEUE,
        ENGINES,
        TIME,
        PACKET,
    ],
    results: &["tensor"],
    effects: Effects::Are(&[
        reads(Target::Operand("source")),
        allocates(Target::Memory("tm.spm")),
        writes(Target::Memory("tm.spm")),
    ]),
    infer: Some(infer_spm),
    verify: Some(verify_spm),
    example: "%s = tm.to_spm %h at 0, cluster [1 # 2], pe [I], element [J]",
    interfaces: &[Interface(&MovesTensor), Interface(&Semantics(moves::same))],
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
    interfaces: &[Interface(&MovesTensor), Interface(&Semantics(moves::same))],
    ..OpDecl::BASE
};

/// The operations of this file.
pub static OPS: &[&OpDecl] = &[&TO_HBM, &TO_DM, &TO_SPM, &TO_HOST];

/// The result's type: dimensions as given by clauses, then from the source.
pub(super) fn infer(
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
    let (chip, cluster, slice, element) = (op.chip()?, op.cluster()?, op.slice()?, op.element()?);
    let within = [(Dim::Cluster, &*cluster), (Dim::Slice, &*slice), (Dim::Element, &*element)];
    let given: Vec<_> = chip.as_deref().map(|chip| (Dim::Chip, chip)).into_iter().chain(within).collect();
    infer(*op, &DM, op.source()?, &given)
}

fn infer_spm(op: OpRef<'_>) -> Result<Vec<TypeId>, Diagnostic> {
    let op = ToSpm::of(op)?;
    let (cluster, pe, element) = (op.cluster()?, op.pe()?, op.element()?);
    let given = [(Dim::Cluster, &*cluster), (Dim::Pe, &*pe), (Dim::Element, &*element)];
    infer(*op, &SPM, op.source()?, &given)
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
    stays_on_chip(*op, "C3", &source, op.chip()?.is_some())?;
    check_chips(&result, chips_of(*op)?, axes, op.clause_span("chip"))?;
    let capacity = machine(*op).memory.hbm_bytes;
    check_place(*op, "at", &result, op.at_unless_auto()?, capacity, axes, "C1")?;
    check_transfer(*op, cx, ["C2", "C4", "C5", "C6"], &source, &result).map(drop)
}

fn verify_dm(op: OpRef<'_>, cx: &VerifyCx<'_>) -> Result<(), Diagnostic> {
    let op = ToDm::of(op)?;
    if op.chip()?.is_some() {
        stays_on_chip(*op, "C6", &*op.source()?.of_type::<Tensor>()?, true)?;
        let (axes, result) = (&cx.analysis::<DeclaredAxes>().0, op.result_tensor()?.of_type::<Tensor>()?);
        check_chips(&result, chips_of(*op)?, axes, op.clause_span("chip"))?;
    }
    verify_sram(*op, cx, [op.source()?, op.result_tensor()?], op.at_unless_auto()?, ["C7", "C8"])
}

fn verify_spm(op: OpRef<'_>, cx: &VerifyCx<'_>) -> Result<(), Diagnostic> {
    let op = ToSpm::of(op)?;
    verify_sram(*op, cx, [op.source()?, op.result_tensor()?], op.at_unless_auto()?, ["C6", "C7"])
}

/// Refuses a separate chip mapping for the result of a transfer out of scratchpad memory.
fn stays_on_chip(op: OpRef<'_>, constraint: &str, source: &Tensor, given: bool) -> Result<(), Diagnostic> {
    if !given || !source.stays_on_chip() {
        return Ok(());
    }
    let message = "scratchpad memory is not reached from other chips";
    let fix = "leave `chip` out; to move it to other chips, move it to data memory or HBM before".to_owned();
    Err(op.clause_error(constraint, "chip", message).fix(Some(fix)))
}

/// C1 to C5 of a transfer at address `at` into a memory that each part of a cluster has; `stream` is the constraint on
/// its stream, `queue` that on its queue.
pub(super) fn verify_sram(
    op: OpRef<'_>,
    cx: &VerifyCx<'_>,
    [source, result]: [ValueRef<'_>; 2],
    at: Option<i64>,
    [stream, queue]: [&'static str; 2],
) -> Result<(), Diagnostic> {
    let axes = &cx.analysis::<DeclaredAxes>().0;
    check_mappings(op, axes)?;
    let (source, result) = (source.of_type::<Tensor>()?, result.of_type::<Tensor>()?);
    let machine = machine(op);
    check_dimension(op, &result, Dim::Cluster, machine.topology.clusters_per_chip, axes, "C3")?;
    let (part, bytes) = result.cluster_part(&machine);
    check_dimension(op, &result, part.into(), part.per_cluster(&machine), axes, "C4")?;
    check_addresses(op, &result, at, bytes, axes, "C1")?;
    let segments = check_transfer(op, cx, ["C2", stream, "C0", queue], &source, &result)?;
    std::iter::once(at).chain(further(op)).try_for_each(|at| {
        segments.iter().try_for_each(|segment| check_runs(op, segment, source.is(&HBM), at))
    })
}

/// C5 of a transfer into SRAM at address `at`; `from_hbm` is true if the source is read in whole groups too.
///
/// # Errors
/// As for that constraint.
pub(super) fn check_runs(
    op: OpRef<'_>,
    transfer: &Transfer,
    from_hbm: bool,
    at: Option<i64>,
) -> Result<(), Diagnostic> {
    let align = machine(op).limits.dma_dm_align;
    Runs { op, constraint: "C5", loops: &transfer.loops, around: &[], start: transfer.read_base, align }
        .check(from_hbm, at)
}

/// Returns true if SRAM is written in whole groups of `align` bytes by a transfer, and if the source, read from HBM,
/// is read in such groups too: C5 of the transfers into SRAM.
#[must_use]
pub fn moves_whole_groups(transfer: &Transfer, align: u64, from_hbm: bool) -> bool {
    let (run, outer) = contiguous(&transfer.loops);
    let read =
        || is_aligned(transfer.read_base, align) && outer.iter().all(|step| reads_aligned(step, align));
    let written = || outer.iter().all(|step| is_aligned(step.write, align));
    run.is_multiple_of(align) && (!from_hbm || read()) && written()
}

/// The bytes of a run that is contiguous on both sides, and the loops around it, innermost first.
fn contiguous(loops: &[TransferLoop]) -> (u64, Vec<&TransferLoop>) {
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
    (run, outer.into_iter().chain(rest).collect())
}

fn is_aligned(distance: i64, align: u64) -> bool {
    distance.unsigned_abs().is_multiple_of(align)
}

/// Returns true if a loop moves the reads by whole groups.
fn reads_aligned(step: &TransferLoop, align: u64) -> bool {
    match &step.read {
        Stride::Fixed(stride) => is_aligned(*stride, align),
        Stride::Table(table) => table.iter().all(|&offset| is_aligned(offset, align)),
    }
}

/// The runs that are contiguous on both sides of a transfer, and where they start. SRAM is written in whole groups of
/// bytes.
pub(super) struct Runs<'a> {
    pub(super) op: OpRef<'a>,
    /// The constraint that is violated where they are not whole groups.
    pub(super) constraint: &'static str,
    pub(super) loops: &'a [TransferLoop],
    /// Loops around those, none of which continues a run.
    pub(super) around: &'a [TransferLoop],
    /// The first byte read, from where the source starts.
    pub(super) start: i64,
    /// Bytes of a group.
    pub(super) align: u64,
}

impl Runs<'_> {
    /// Checks that they are whole groups. `from_hbm` is true if the source is read in whole groups too.
    pub(super) fn check(&self, from_hbm: bool, at: Option<i64>) -> Result<(), Diagnostic> {
        let (run, outer) = self.split();
        self.check_length(run, outer.first().copied())?;
        if from_hbm {
            self.check_start()?;
            self.check_reads(run, &outer)?;
        }
        self.check_writes(run, &outer)?;
        self.check_address(at)
    }

    /// The bytes of a run, and the loops around it, innermost first.
    fn split(&self) -> (u64, Vec<&TransferLoop>) {
        let (run, outer) = contiguous(self.loops);
        (run, outer.into_iter().chain(self.around).collect())
    }

    fn is_aligned(&self, distance: i64) -> bool {
        is_aligned(distance, self.align)
    }

    /// Bytes of a group, in words.
    fn group(&self) -> String {
        counted(self.align, "byte")
    }

    fn refused(&self, clause: &str, message: String) -> Diagnostic {
        self.op.clause_error(self.constraint, clause, message)
    }

    /// `around` is the loop that ends a run.
    fn check_length(&self, run: u64, around: Option<&TransferLoop>) -> Result<(), Diagnostic> {
        if run.is_multiple_of(self.align) {
            return Ok(());
        }
        let ends = around.map_or_else(String::new, |step| format!(": a run ends at `{}`", step.factor));
        let message = format!(
            "the transfer writes runs of {}, expected multiples of {}{ends}",
            counted(run, "byte"),
            self.align
        );
        let fix = format!(
            "keep at least {} that are contiguous on both sides innermost in `element`, or pad both sides alike \
             to a multiple of that (`# n`): padding that both have moves along",
            self.group(),
        );
        Err(self.refused("element", message).fix(Some(fix)))
    }

    /// Where the transfer starts to read, from where the source does.
    fn check_start(&self) -> Result<(), Diagnostic> {
        if self.is_aligned(self.start) {
            return Ok(());
        }
        let message = format!(
            "it reads from {} after the start of the source on, expected a multiple of {}",
            counted(self.start, "byte"),
            self.align
        );
        let fix = format!("start every axis at a coordinate that is a multiple of {} away", self.group());
        Err(self.refused("element", message).fix(Some(fix)))
    }

    fn check_reads(&self, run: u64, outer: &[&TransferLoop]) -> Result<(), Diagnostic> {
        let Some(step) = outer.iter().find(|step| !reads_aligned(step, self.align)) else { return Ok(()) };
        let message = format!(
            "runs of {} are read {}, expected multiples of {}: along `{}`",
            counted(run, "byte"),
            apart(&step.read),
            self.align,
            step.factor
        );
        let fix = format!("pad the source so that runs start at multiples of {}", self.group());
        Err(self.refused("element", message).fix(Some(fix)))
    }

    fn check_writes(&self, run: u64, outer: &[&TransferLoop]) -> Result<(), Diagnostic> {
        let Some(step) = outer.iter().find(|step| !self.is_aligned(step.write)) else { return Ok(()) };
        let message = format!(
            "runs of {} are written {} apart, expected multiples of {}: along `{}`",
            counted(run, "byte"),
            counted(step.write, "byte"),
            self.align,
            step.factor
        );
        let fix = format!("pad `element` so that runs start at multiples of {}", self.group());
        Err(self.refused("element", message).fix(Some(fix)))
    }

    fn check_address(&self, at: Option<i64>) -> Result<(), Diagnostic> {
        let Some(at) = at.filter(|&at| !self.is_aligned(at)) else { return Ok(()) };
        let message = format!("address {at} is not a multiple of {}", self.align);
        let fix = i64::try_from(self.align).ok().and_then(|align| aligned_fix(at, align));
        Err(self.refused("at", message).fix(fix))
    }
}

fn verify_host(op: OpRef<'_>, cx: &VerifyCx<'_>) -> Result<(), Diagnostic> {
    check_mappings(op, &cx.analysis::<DeclaredAxes>().0)?;
    let op = ToHost::of(op)?;
    let (source, result) = (op.source()?.of_type::<Tensor>()?, op.result_tensor()?.of_type::<Tensor>()?);
    check_transfer(*op, cx, ["C1", "C1", "C0", "C0"], &source, &result).map(drop)
}

/// Checks that a dimension has exactly `count` positions (book 04).
pub fn check_dimension(
    op: OpRef<'_>,
    tensor: &Tensor,
    dim: Dim,
    count: u64,
    axes: &visa_algebra::Axes,
    constraint: &str,
) -> Result<(), Diagnostic> {
    let map = tensor.dim(dim);
    let size =
        map.size(axes).map_err(|error| crate::error::mapping_error(error, op.clause_span(dim.name())))?;
    if size == count {
        return Ok(());
    }
    let message =
        format!("{} mapping `{map}` has {}, expected exactly {count}", dim.name(), counted(size, "position"));
    let text = map.to_string();
    let inside = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let inside = inside.filter(|inside| !inside.contains(',')).map_or(&*text, |inside| inside);
    let fix = match size < count {
        true => format!("pad it: `[{inside} # {count}]`"),
        false => split_fix(dim, inside, size, count),
    };
    Err(op.clause_error(constraint, dim.name(), message).fix(fix))
}

/// The fix for a mapping with more positions than dimension `dim` has, `count`: the outer part stays, the inner part
/// goes to `element`.
fn split_fix(dim: Dim, map: &str, size: u64, count: u64) -> String {
    let inner = size.div_ceil(count);
    // One position is the number 1, not a term.
    if count == 1 {
        return format!("write `{} [1]`, and put `{map}` into `element`", dim.name());
    }
    let whole =
        if size.is_multiple_of(inner) { map.to_owned() } else { format!("{map} # {}", inner * count) };
    let outer = if whole == map { size / inner } else { count };
    let pad = if outer < count { format!(" # {count}") } else { String::new() };
    let dim = dim.name();
    format!("split it: `{dim} [{whole} / {inner}{pad}]`, with `{whole} % {inner}` in `element`")
}

/// The axes that operand `index` does not depend on.
pub fn free_axes<'a>(op: OpRef<'a>, cx: &VerifyCx<'_>, index: usize) -> impl Fn(AxisId) -> bool + 'a {
    let support = cx.analysis::<Support>();
    let axes = cx.analysis::<DeclaredAxes>();
    let value = op.operands().get(index).copied();
    move |axis| value.is_none_or(|value| !support.depends(value, axes.0.name(axis)))
}

/// The axes that a transfer moves: those of the module, or with `padded` those with the padding of both sides.
///
/// # Errors
/// `padded` without an axis that has padding on both sides, which violates `constraint`.
pub fn moved_axes<'a>(
    op: OpRef<'_>,
    constraint: &str,
    [source, result]: [&Tensor; 2],
    axes: &'a Axes,
) -> Result<Cow<'a, Axes>, Diagnostic> {
    if !flag(&op, PADDED.name) {
        return Ok(Cow::Borrowed(axes));
    }
    padded_axes(source, result, axes).map(Cow::Owned).ok_or_else(|| {
        let (from, to) = (whole(source, false), whole(result, false));
        let message = format!("no axis of `{to}` has padding after it that the source, `{from}`, has too");
        let fix = "pad an axis alike on both sides (`A # n`), or leave `padded` out".to_owned();
        op.clause_error(constraint, PADDED.name, message).fix(Some(fix))
    })
}

/// The segments of the transfer: constraint 0 is that the source holds the requested elements, 1 is that of the
/// stream, 2 that of the padding, 3 that of the queue.
pub(super) fn check_transfer(
    op: OpRef<'_>,
    cx: &VerifyCx<'_>,
    constraints: [&str; 4],
    source: &Tensor,
    result: &Tensor,
) -> Result<Vec<Transfer>, Diagnostic> {
    let declared = &cx.analysis::<DeclaredAxes>().0;
    let axes = &*moved_axes(op, constraints[2], [source, result], declared)?;
    let free = free_axes(op, cx, 0);
    let order = stream_order(op)?;
    let chips = cx.analysis::<Frames>().cross_chips(op, [source, result], axes);
    let specified = [ENGINES, TIME, PACKET].iter().any(|clause| flag(&op, clause.name));
    check_queue(op, constraints[3], chips || specified)?;
    transfer(source, result, &free, order.as_ref(), chips, axes, &machine(op)).map_err(|error| {
        let clause = error.clause();
        let [held, stream, ..] = constraints;
        let refused = |constraint| op.clause_error(constraint, clause, error.to_string());
        match &error {
            TransferError::Stream { fix, .. } => refused(stream).fix(fix.clone()),
            TransferError::Divide { .. } | TransferError::Mapping(_) | TransferError::HalfByte(_) => {
                refused(held).fix(kept_on_chips(source, result, axes))
            }
        }
    })
}

/// The cluster whose engines make a transfer; `None` if those of all clusters do.
///
/// # Errors
/// A clause of another kind.
pub fn queue(op: OpRef<'_>) -> Result<Option<i64>, Diagnostic> {
    if op.decl().is_some_and(|decl| decl.clause(QUEUE.name).is_some()) {
        optional::<Int>(&op, QUEUE.name)
    } else {
        Ok(None)
    }
}

/// Checks the queue of a transfer, which `excludes` one if other clauses or PCIe determine its engines.
fn check_queue(op: OpRef<'_>, constraint: &str, excludes: bool) -> Result<(), Diagnostic> {
    let Some(cluster) = queue(op)? else { return Ok(()) };
    let clusters = machine(op).topology.clusters_per_chip;
    if u64::try_from(cluster).is_ok_and(|cluster| cluster < clusters) && !excludes {
        return Ok(());
    }
    let message = if excludes {
        format!(
            "`queue {cluster}` of a transfer whose engines are determined: by `engines`, `time`, `packet` or PCIe"
        )
    } else {
        format!("`queue {cluster}`, expected one of {}", counted(clusters, "cluster"))
    };
    Err(op.clause_error(constraint, QUEUE.name, message).fix(Some("leave `queue` out".to_owned())))
}

/// The stream that a transfer is given; none while all of it is open.
///
/// # Errors
/// A clause of another kind.
pub fn stream_order(op: OpRef<'_>) -> Result<Option<StreamOrder>, Diagnostic> {
    let given = |clause: &str| -> Result<Option<Expr>, Diagnostic> {
        let declared = op.decl().is_some_and(|decl| decl.clause(clause).is_some());
        let map = if declared { unless_auto::<BodyOf<Expr>>(&op, clause)? } else { None };
        Ok(map.map(|map| (*map).clone()))
    };
    let (engines, time, packet) = (given(ENGINES.name)?, given(TIME.name)?, given(PACKET.name)?);
    if engines.is_none() && time.is_none() && packet.is_none() {
        return Ok(None);
    }
    Ok(Some(StreamOrder { engines: engines.unwrap_or(Expr::Literal(1)), time, packet }))
}

/// The fix where a chip is to hold the part of an axis that other chips have.
fn kept_on_chips(source: &Tensor, result: &Tensor, axes: &Axes) -> Option<String> {
    result.map(Dim::Chip)?;
    let within = |tensor: &Tensor| -> Vec<_> {
        let dims = tensor.kind.dims.iter().filter(|&&dim| dim != Dim::Chip);
        dims.flat_map(|&dim| tensor.dim(dim).axis_names(axes)).collect()
    };
    let (held, asked) = (within(source), within(result));
    let on_chips = source.map(Dim::Chip)?.axis_names(axes);
    let axis = on_chips.iter().find(|axis| asked.contains(axis) && !held.contains(axis))?;
    Some(format!(
        "leave `{axis}` to the chips: a tensor DMA moves data within each chip; PCIe moves data between chips if \
         `chip` specifies the content of each (book 10)"
    ))
}

/// Distance between a loop's iterations, in words: `4 bytes apart`.
fn apart(stride: &Stride) -> String {
    match stride {
        Stride::Fixed(bytes) => format!("{} apart", counted(*bytes, "byte")),
        Stride::Table(_) => format!("{} bytes apart", stride.shortened()),
    }
}
