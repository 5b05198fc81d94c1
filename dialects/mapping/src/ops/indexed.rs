//! `tm.gather_to_hbm`, `tm.gather_to_dm`, `tm.gather_to_spm`, `tm.scatter`: transfers of the rows that an index
//! tensor chooses.

use super::func::{check_chips, chips_of};
use super::transfer::{RUNS, Runs, check_dimension};
use crate::error::mapping_error;
use crate::facts::address::{THEN, check_addresses, further};
use crate::facts::{DeclaredAxes, Support, check_mappings, digits_of, machine};
use crate::raise::{Semantics, moves};
use crate::tensor::attrs::MAP;
use crate::tensor::memories::{DM, HBM, OF_INDICES, ON_CHIP, SPM};
use crate::tensor::{Dim, Tensor, TensorKind, make, operand};
use crate::transfer::TransferLoop;
use crate::transfer::indexed::{Indexed, Operand, gather, scatter};
use crate::view;
use std::rc::Rc;
use visa_algebra::{Axes, AxisId, Equality, Expr, equal};
use visa_ir::decl::{ClauseDecl, ClauseKind, Interface, OpDecl, OperandDecl};
use visa_ir::diag::{Diagnostic, counted};
use visa_ir::effects::{Effect, Effects, Target, allocates, reads, writes};
use visa_ir::module::{OpRef, TypeId};
use visa_ir::verify::VerifyCx;
use visa_ir::view::{BodyOf, Int, required, unless_auto};
use visa_loops::Stride;
use visa_machine::Machine;
use visa_numerics::DType;

/// Direction in which an operation moves rows that an index chooses. Declared as an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Indexing {
    /// Out of a table, operand 0, by operand 1.
    Gather,
    /// Operand 0, by operand 1, into a table, operand 2.
    Scatter,
}

/// Direction in which an operation moves rows that an index chooses, if it does.
#[must_use]
pub fn indexing(op: OpRef<'_>) -> Option<Indexing> {
    op.decl().and_then(|decl| decl.interface::<Indexing>()).copied()
}

/// The axis along which rows are chosen.
#[visa_ir::clause]
pub(crate) const ALONG: ClauseDecl = ClauseDecl::required(
    "along",
    ClauseKind::body::<Expr>(&MAP),
    "the axis of the table along which rows are chosen, as `[V]`",
);

const INDEX: (&str, &str) = (
    "C2",
    "the index is `i32`: in HBM the distance of a row from row 0 in bytes, in scratchpad memory the number of a row",
);
const AXIS: (&str, &str) = (
    "C3",
    "`along` is an axis of the table that neither the index nor the chosen rows have; the table has its rows evenly \
     apart, on one chip",
);
const ON_CHIPS: (&str, &str) = (
    "C4",
    "table and index are on chips alike, or one of them is the same on every chip; a scatter leaves copies of its \
     table alike",
);

/// Requirement of a gather for its operands.
const GATHERED: (&str, &str) =
    ("C5", "table and index hold every element of the result, a whole number of bytes each (book 07)");

/// `tm.gather_to_hbm`.
#[visa_ir::view(GatherToHbm)]
pub static GATHER_TO_HBM: OpDecl = OpDecl {
    name: "tm.gather_to_hbm",
    summary: "Moves the rows of a table that an index chooses to HBM.",
    doc: "As `tm.gather_to_dm`, into HBM.",
    constraints: &[
        ("C1", "the address is a multiple of the element size and the tensor fits (book 04)"),
        INDEX,
        AXIS,
        ON_CHIPS,
        GATHERED,
    ],
    operands: &[OperandDecl::one("table", &["tm.hbm"]), OperandDecl::one("index", OF_INDICES)],
    clauses: &[
        ALONG,
        ClauseDecl::required("at", ClauseKind::Int, "HBM address, in bytes").open_address(),
        ClauseDecl::required(
            "element",
            ClauseKind::body::<Expr>(&MAP),
            "the layout in a chip's HBM, in elements",
        ),
    ],
    results: &["tensor"],
    effects: Effects::Are(&gathers("tm.hbm")),
    infer: Some(|op| infer(op, &HBM)),
    verify: Some(|op, cx| verify_gather(op, cx, &[], machine(op).memory.hbm_bytes)),
    example: "%r = tm.gather_to_hbm %t, %i along [V], at 4096, element [T, D]",
    interfaces: &[Interface(&Indexing::Gather), Interface(&Semantics(moves::gathered))],
    ..OpDecl::BASE
};

/// `tm.gather_to_dm`.
#[visa_ir::view(GatherToDm)]
pub static GATHER_TO_DM: OpDecl = OpDecl {
    name: "tm.gather_to_dm",
    summary: "Moves the rows of a table that an index chooses to data memory.",
    doc: "Each chip does so by tensor DMA (book 34). A *row* is the part of the table at one coordinate of the axis \
          `along`. The result has the axes of the table without that one, and those of the index: where the index \
          is r, it holds row r. An axis that table and index share means the same in both. The same row may be \
          chosen again and again.\n\n\
          An index in HBM is the distance of a row from row 0 in bytes, one in scratchpad memory the number of the \
          row. A value that is no row of the table stops the run: nothing is read outside.",
    constraints: &[
        ("C1", "the address is a multiple of the element size and the tensor fits a slice (book 04)"),
        INDEX,
        AXIS,
        ON_CHIPS,
        GATHERED,
        ("C6", "the cluster mapping has as many positions as a chip has clusters: 2 (book 04)"),
        ("C7", "the slice mapping has as many positions as a cluster has slices: 256 (book 04)"),
        ("C8", RUNS),
    ],
    operands: &[OperandDecl::one("table", &["tm.hbm"]), OperandDecl::one("index", OF_INDICES)],
    clauses: &[
        ALONG,
        ClauseDecl::required("at", ClauseKind::Int, "address in every slice, in bytes").open_address(),
        THEN,
        ClauseDecl::required("cluster", ClauseKind::body::<Expr>(&MAP), "which part each cluster holds"),
        ClauseDecl::required("slice", ClauseKind::body::<Expr>(&MAP), "which part each slice holds"),
        ClauseDecl::required(
            "element",
            ClauseKind::body::<Expr>(&MAP),
            "the layout within a slice, in elements",
        ),
    ],
    results: &["tensor"],
    effects: Effects::Are(&gathers("tm.dm")),
    infer: Some(|op| infer(op, &DM)),
    verify: Some(|op, cx| {
        let machine = machine(op);
        let slices = machine.topology.slices_per_cluster;
        let parts = [(Dim::Cluster, machine.topology.clusters_per_chip, "C6"), (Dim::Slice, slices, "C7")];
        verify_gather(op, cx, &parts, machine.memory.dm_bytes_per_slice)
    }),
    example: "%r = tm.gather_to_dm %t, %i along [V], at 0, cluster [1 # 2], slice [T], element [D]",
    interfaces: &[Interface(&Indexing::Gather), Interface(&Semantics(moves::gathered))],
    ..OpDecl::BASE
};

/// `tm.gather_to_spm`.
#[visa_ir::view(GatherToSpm)]
pub static GATHER_TO_SPM: OpDecl = OpDecl {
    name: "tm.gather_to_spm",
    summary: "Moves the rows of a table that an index chooses to scratchpad memory.",
    doc: "As `tm.gather_to_dm`, into the scratchpad memories of the PEs.",
    constraints: &[
        (
            "C1",
            "the address is a multiple of the element size and the tensor fits a PE's scratchpad memory (book 04)",
        ),
        INDEX,
        AXIS,
        ON_CHIPS,
        GATHERED,
        ("C6", "the cluster mapping has as many positions as a chip has clusters: 2 (book 04)"),
        ("C7", "the PE mapping has as many positions as a cluster has PEs: 4 (book 10)"),
        ("C8", RUNS),
    ],
    operands: &[OperandDecl::one("table", &["tm.hbm"]), OperandDecl::one("index", OF_INDICES)],
    clauses: &[
        ALONG,
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
    ],
    results: &["tensor"],
    effects: Effects::Are(&gathers("tm.spm")),
    infer: Some(|op| infer(op, &SPM)),
    verify: Some(|op, cx| {
        let machine = machine(op);
        let pes = machine.topology.pes_per_cluster;
        let parts = [(Dim::Cluster, machine.topology.clusters_per_chip, "C6"), (Dim::Pe, pes, "C7")];
        verify_gather(op, cx, &parts, machine.memory.spm_bytes_per_pe)
    }),
    example: "%r = tm.gather_to_spm %t, %i along [V], at 0, cluster [1 # 2], pe [T # 4], element [D]",
    interfaces: &[Interface(&Indexing::Gather), Interface(&Semantics(moves::gathered))],
    ..OpDecl::BASE
};

/// `tm.scatter`.
#[visa_ir::view(ScatterOp)]
pub static SCATTER: OpDecl = OpDecl {
    name: "tm.scatter",
    summary: "Writes rows into a table in HBM, at the places that an index chooses.",
    doc: "Each chip does so by tensor DMA (book 35). The result is `table` with the rows replaced that the index \
          names: row r is that of `rows` where the index is r. It has the address of `table`: if anything still \
          needs `table` after this operation, it overlaps the result and is refused. Along an axis of the index \
          that `rows` does not depend on, the same row goes to several places.\n\n\
          The index is as in `tm.gather_to_dm`. It should name no row twice: which one stays is not known. \
          `visa-run --shadow` refuses that.",
    constraints: &[
        ("C1", "`table` is no view, and has the number format of `rows`"),
        INDEX,
        AXIS,
        ON_CHIPS,
        (
            "C5",
            "`rows` and the index hold every element that is written, a whole number of bytes each (book 07), and \
             `rows` depends on no axis that neither table nor index has",
        ),
    ],
    operands: &[
        OperandDecl::one("rows", ON_CHIP),
        OperandDecl::one("index", OF_INDICES),
        OperandDecl::one("table", &["tm.hbm"]),
    ],
    clauses: &[ALONG],
    results: &["tensor"],
    effects: Effects::Are(&[
        reads(Target::Operand("rows")),
        reads(Target::Operand("index")),
        writes(Target::Operand("table")),
    ]),
    infer: Some(|op| Ok(vec![make(op.ctx, (*tensor(op, 2)?).clone())])),
    verify: Some(verify_scatter),
    example: "%n = tm.scatter %r, %i, %t along [V]",
    interfaces: &[
        Interface(&Indexing::Scatter),
        Interface(&Semantics(moves::scattered)),
        Interface(&crate::facts::Introduces(&["along"])),
    ],
    ..OpDecl::BASE
};

/// The operations of this file.
pub static OPS: &[&OpDecl] = &[&GATHER_TO_HBM, &GATHER_TO_DM, &GATHER_TO_SPM, &SCATTER];

/// Effects of a gather into a memory.
const fn gathers(memory: &'static str) -> [Effect; 4] {
    [
        reads(Target::Operand("table")),
        reads(Target::Operand("index")),
        allocates(Target::Memory(memory)),
        writes(Target::Memory(memory)),
    ]
}

fn tensor(op: OpRef<'_>, index: usize) -> Result<Rc<Tensor>, Diagnostic> {
    operand(op, index).ok_or_else(|| op.error("C0", format!("operand {index} is no tensor")))
}

fn result(op: OpRef<'_>) -> Result<Rc<Tensor>, Diagnostic> {
    op.result_type::<Tensor>(0).ok_or_else(|| op.error("C0", "the result is no tensor"))
}

/// The type of the gathered tensor: the mappings of the clauses, on the chips of the table and the index.
fn infer(op: OpRef<'_>, kind: &'static TensorKind) -> Result<Vec<TypeId>, Diagnostic> {
    let (table, index) = (tensor(op, 0)?, tensor(op, 1)?);
    let chips = if matches!(index.dim(Dim::Chip), Expr::Literal(_)) { &table } else { &index };
    let mut given = vec![(Dim::Chip, chips.dim(Dim::Chip))];
    for &dim in kind.dims.iter().filter(|&&dim| dim != Dim::Chip) {
        given.push((dim, (*required::<BodyOf<Expr>>(&op, dim.name())?).clone()));
    }
    let tensor = Tensor::build(kind, None, table.dtype, &given, &table)
        .map_err(|dim| op.error("C0", format!("the {dim} mapping is not known")))?;
    Ok(vec![make(op.ctx, tensor)])
}

/// The axis along which rows are chosen.
///
/// # Errors
/// C3: it is no axis.
pub fn along(op: OpRef<'_>, axes: &Axes) -> Result<AxisId, Diagnostic> {
    let map = required::<BodyOf<Expr>>(&op, "along")?;
    let Expr::Axis(name) = &*map else {
        let error = op.clause_error("C3", "along", format!("`{map}` is no axis"));
        return Err(error.fix("write the name of one, as `[V]`".to_owned()));
    };
    axes.resolve(name).map_err(|error| mapping_error(error, op.clause_span("along")))
}

/// The loops of a transfer of chosen rows.
///
/// # Errors
/// C5.
pub fn plan(op: OpRef<'_>, support: &Support, axes: &Axes, machine: &Machine) -> Result<Indexed, Diagnostic> {
    let along = along(op, axes)?;
    let free = |at: usize| {
        let value = op.operands().get(at).copied();
        move |axis| value.is_none_or(|value| !support.depends(value, axes.name(axis)))
    };
    let (first, index) = (tensor(op, 0)?, tensor(op, 1)?);
    let (first_free, index_free) = (free(0), free(1));
    let first = Operand { tensor: &first, free: &first_free };
    let index = Operand { tensor: &index, free: &index_free };
    let (found, clause) = match indexing(op) {
        Some(Indexing::Gather) => (gather(first, index, &*result(op)?, along, axes, machine), "element"),
        Some(Indexing::Scatter) => (scatter(first, index, &*tensor(op, 2)?, along, axes, machine), "along"),
        None => return Err(op.error("C0", "no rows are chosen")),
    };
    found.map_err(|error| op.clause_error("C5", clause, error.to_string()))
}

/// C1 to C8 of a gather into a memory of `capacity` bytes, of which a chip has parts.
fn verify_gather(
    op: OpRef<'_>,
    cx: &VerifyCx<'_>,
    parts: &[(Dim, u64, &'static str)],
    capacity: u64,
) -> Result<(), Diagnostic> {
    let axes = &cx.analysis::<DeclaredAxes>().0;
    check_mappings(op, axes)?;
    let (table, result) = (tensor(op, 0)?, result(op)?);
    check_index(op, &table, axes)?;
    check_lacks(op, &result, "the result", axes)?;
    for &(dim, count, constraint) in parts {
        check_dimension(op, &result, dim, count, axes, constraint)?;
    }
    check_chips(&result, chips_of(op)?, axes, op.span())?;
    let at = unless_auto::<Int>(&op, "at")?;
    check_addresses(op, &result, at, capacity, axes, "C1")?;
    let machine = machine(op);
    let plan = plan(op, &cx.analysis::<Support>(), axes, &machine)?;
    if parts.is_empty() {
        return Ok(());
    }
    let mut all = std::iter::once(at).chain(further(op));
    all.try_for_each(|at| check_runs(op, &plan, at, machine.limits.dma_dm_align))
}

/// C8: data memory and scratchpad memory are written, and HBM is read for them, in whole groups of bytes.
fn check_runs(op: OpRef<'_>, plan: &Indexed, at: Option<i64>, align: u64) -> Result<(), Diagnostic> {
    let mut around: Vec<TransferLoop> = plan.rows.iter().map(|row| row.step.clone()).collect();
    around.push(TransferLoop {
        limit: plan.count,
        read: Stride::Fixed(plan.distance),
        write: 0,
        factor: "a row".to_owned(),
        counts: None,
    });
    Runs { op, constraint: "C8", loops: &plan.loops, around: &around, start: plan.read_base, align }
        .check(true, at)
}

fn verify_scatter(op: OpRef<'_>, cx: &VerifyCx<'_>) -> Result<(), Diagnostic> {
    let axes = &cx.analysis::<DeclaredAxes>().0;
    check_mappings(op, axes)?;
    let (rows, table) = (tensor(op, 0)?, tensor(op, 2)?);
    if op.operand_def(2).is_some_and(|def| view::kind(def).is_some()) {
        let error = op.error("C1", "the table is a view: elements outside of the view would change too");
        return Err(error.fix("scatter into the view's source".to_owned()));
    }
    if rows.dtype != table.dtype {
        return Err(op.error("C1", format!("the rows are `{}`, the table `{}`", rows.dtype, table.dtype)));
    }
    check_index(op, &table, axes)?;
    check_lacks(op, &rows, "the rows", axes)?;
    check_alike(op, ("rows", &rows), ("table", &table), axes)?;
    check_copies(op, &*tensor(op, 1)?, "the index", &table)?;
    check_copies(op, &rows, "the written tensor", &table)?;
    let support = cx.analysis::<Support>();
    check_lost(op, &support, &table, axes)?;
    plan(op, &support, axes, &machine(op)).map(drop)
}

/// C2 to C4 for the index and the table.
fn check_index(op: OpRef<'_>, table: &Tensor, axes: &Axes) -> Result<(), Diagnostic> {
    let index = tensor(op, 1)?;
    if index.dtype != DType::I32 {
        let message = format!("the index is `{}`, expected `i32`", index.dtype);
        return Err(op.error("C2", message).fix("give numbers of rows, or their bytes, as `i32`".to_owned()));
    }
    let along = along(op, axes)?;
    let name = axes.name(along);
    if table.axis_names(axes).iter().all(|own| **own != *name) {
        let message = format!("the table has no axis {name}: it has {}", listed(table, axes));
        return Err(op.clause_error("C3", "along", message));
    }
    if table.dim(Dim::Chip).axis_names(axes).iter().any(|own| **own == *name) {
        let message =
            format!("{name} is spread over chips, and a tensor DMA stays within its chip (book 10)");
        let fix = "choose rows along an axis that each chip has whole".to_owned();
        return Err(op.clause_error("C3", "along", message).fix(fix));
    }
    check_lacks(op, &index, "the index", axes)?;
    check_on_each_chip(op, &index, axes)?;
    check_alike(op, ("index", &index), ("table", table), axes)
}

/// C4: chips do the same, so each of them reads indices.
fn check_on_each_chip(op: OpRef<'_>, index: &Tensor, axes: &Axes) -> Result<(), Diagnostic> {
    let map = index.dim(Dim::Chip);
    if digits_of(&map, axes, op.span())?.iter().all(|digit| digit.live == digit.extent) {
        return Ok(());
    }
    let message = format!("the index is on chips by `{map}`, and a chip without one would still read it");
    Err(op.error("C4", message).fix(format!("give every chip a copy: `[{}]`", chips_of(op)?)))
}

/// C4: copies of a table stay alike.
fn check_copies(op: OpRef<'_>, tensor: &Tensor, what: &str, table: &Tensor) -> Result<(), Diagnostic> {
    let (map, copies) = (tensor.dim(Dim::Chip), table.dim(Dim::Chip));
    if matches!(map, Expr::Literal(_)) || !matches!(copies, Expr::Literal(_)) {
        return Ok(());
    }
    let message = format!(
        "the table is the same on every chip, {what} is on chips by `{map}`: its copies would differ"
    );
    Err(op.error("C4", message).fix("distribute the table like the written tensor".to_owned()))
}

/// C3: a tensor does not have the axis along which rows are chosen.
fn check_lacks(op: OpRef<'_>, tensor: &Tensor, what: &str, axes: &Axes) -> Result<(), Diagnostic> {
    let along = along(op, axes)?;
    let name = axes.name(along);
    if tensor.axis_names(axes).iter().all(|own| **own != *name) {
        return Ok(());
    }
    let message = format!("{name}, along which rows are chosen, is an axis of {what}");
    let fix = format!("write an axis that counts the chosen rows in place of {name}");
    Err(op.clause_error("C3", "along", message).fix(fix))
}

/// C4: each chip has the parts of both that it needs.
fn check_alike(
    op: OpRef<'_>,
    (name, own): (&str, &Tensor),
    (other_name, other): (&str, &Tensor),
    axes: &Axes,
) -> Result<(), Diagnostic> {
    let (chips, others) = (own.dim(Dim::Chip), other.dim(Dim::Chip));
    let everywhere = |map: &Expr| matches!(map, Expr::Literal(_));
    if equal(&chips, &others, axes) == Equality::Equal {
        return Ok(());
    }
    if !everywhere(&chips) && !everywhere(&others) {
        let message = format!(
            "{name} is on chips by `{chips}`, {other_name} by `{others}`: no chip has all that it needs"
        );
        let fix = format!("distribute both alike, or give every chip a copy: `[{}]`", chips_of(op)?);
        return Err(op.error("C4", message).fix(fix));
    }
    // If one of them has an axis on every chip, it has all of its coordinates: then each chip would start elsewhere
    // in it.
    let (spread, whole) = if everywhere(&chips) { (other, own) } else { (own, other) };
    let within = whole.axis_names(axes);
    let on_chips = spread.dim(Dim::Chip).axis_names(axes);
    let Some(axis) = on_chips.iter().find(|axis| within.contains(axis)) else { return Ok(()) };
    let message = format!(
        "{axis} is spread over chips in one of {name} and {other_name} and whole in the other: each chip would \
         start elsewhere"
    );
    Err(op.error("C4", message).fix("distribute both alike".to_owned()))
}

/// C5: the axes that `rows` depends on have a position in the table.
fn check_lost(op: OpRef<'_>, support: &Support, table: &Tensor, axes: &Axes) -> Result<(), Diagnostic> {
    let [rows, index, ..] = op.operands() else { return Ok(()) };
    let depends = support.axes(*rows);
    let own = table.axis_names(axes);
    let mut all = depends.iter().flat_map(|names| names.iter());
    let lost = all.find(|axis| !own.contains(axis) && !support.depends(*index, axis));
    let Some(axis) = lost else { return Ok(()) };
    let message = format!("the rows differ along {axis}, which neither the table nor the index has");
    Err(op.error("C5", message).fix(format!("give the index the axis {axis}, or take a part of the rows")))
}

fn listed(tensor: &Tensor, axes: &Axes) -> String {
    match tensor.axis_names(axes).as_slice() {
        [] => "none".to_owned(),
        names => format!("{} ({})", counted(names.len(), "axis"), names.join(", ")),
    }
}
