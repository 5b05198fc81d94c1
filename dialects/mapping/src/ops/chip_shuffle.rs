//! `tm.chip_shuffle`: chips exchange their parts of a tensor (book 32).

use super::func::{check_place, chips_of};
use super::transfer::{MovesTensor, check_runs, free_axes};
use crate::facts::{DeclaredAxes, machine};
use crate::raise::Semantics;
use crate::raise::moves::exchanged;
use crate::tensor::memories::DM;
use crate::tensor::{Dim, Tensor, make};
use crate::transfer::shuffle::Shuffle;
use crate::transfer::{Transfer, transfer};
use visa_algebra::Axes;
use visa_ir::decl::{ClauseDecl, ClauseKind, Interface, OpDecl, OperandDecl};
use visa_ir::diag::{Diagnostic, counted};
use visa_ir::effects::{Effects, Target, allocates, reads, writes};
use visa_ir::module::{OpRef, TypeId};
use visa_ir::verify::VerifyCx;
use visa_machine::Machine;

/// `tm.chip_shuffle`.
#[visa_ir::view(ChipShuffle)]
pub static CHIP_SHUFFLE: OpDecl = OpDecl {
    name: "tm.chip_shuffle",
    summary: "Chips exchange their parts of a tensor.",
    doc: "Chip i of the result holds the content of chip `by`[i] of the source: with `by [1, 2, 3, 0]`, the content \
          of chip 1 moves to chip 0 (book 32). The type is the source's, so an index that is on chip i has another \
          element than before. PCIe moves it, from HBM to HBM or from data memory to data memory (book 10).",
    constraints: &[
        ("C1", "`by` has each chip of the function once"),
        (
            "C2",
            "each chip that holds something gets something, copies get the same, and the chip mapping is in digits \
             of axes that are not skewed",
        ),
        ("C3", "the tensor depends on all axes of its chip mapping, or on none of them"),
        ("C4", "the address is a multiple of the element size and the tensor fits its memory (book 04)"),
        ("C5", "runs in data memory, and the distances between them, are multiples of 8 bytes (book 10)"),
    ],
    operands: &[OperandDecl::one("source", &["tm.hbm", "tm.dm"])],
    clauses: &[
        ClauseDecl::required("by", ClauseKind::Ints, "the chip that each chip gets its part from"),
        ClauseDecl::required("at", ClauseKind::Int, "address in the source's memory, in bytes")
            .open_address(),
    ],
    results: &["tensor"],
    effects: Effects::Are(&[
        reads(Target::Operand("source")),
        allocates(Target::Result("tensor")),
        writes(Target::Memory("tm.hbm")),
        writes(Target::Memory("tm.dm")),
    ]),
    infer: Some(infer),
    verify: Some(verify),
    example: "%s = tm.chip_shuffle %h by [1, 2, 3, 0], at 65536",
    interfaces: &[Interface(&MovesTensor), Interface(&Semantics(exchanged))],
    ..OpDecl::BASE
};

/// The operations of this file.
pub static OPS: &[&OpDecl] = &[&CHIP_SHUFFLE];

fn infer(op: OpRef<'_>) -> Result<Vec<TypeId>, Diagnostic> {
    let source = ChipShuffle::of(op)?.source()?.of_type::<Tensor>()?;
    Ok(vec![make(op.ctx, (*source).clone())])
}

/// The chips and the sources of their parts: C1 and C2.
///
/// # Errors
/// As for these constraints.
pub fn shuffle(op: OpRef<'_>, axes: &Axes) -> Result<Shuffle, Diagnostic> {
    let op = ChipShuffle::of(op)?;
    let (by, chips) = (op.by()?, chips_of(*op)?);
    let refuse = |message: String| Err(op.clause_error("C1", "by", message));
    if by.len() as u64 != chips {
        return refuse(format!(
            "{}, but the function runs on {}",
            counted(by.len(), "number"),
            counted(chips, "chip")
        ));
    }
    let inside = |&from: &i64| u64::try_from(from).ok().filter(|&from| from < chips).ok_or(from);
    let from = match by.iter().map(inside).collect::<Result<Vec<_>, _>>() {
        Ok(from) => from,
        Err(chip) => return refuse(format!("there is no chip {chip}: chips are 0 to {}", chips - 1)),
    };
    if let Some(missing) = (0..chips).find(|chip| !from.contains(chip)) {
        return refuse(format!("no chip gets the content of chip {missing}: each chip is in the list once"));
    }
    let source = op.source()?.of_type::<Tensor>()?;
    let skewed = |name: &str| axes.id(name).is_some_and(|axis| axes.skew(axis).is_some());
    if let Some(name) = source.axis_names(axes).iter().find(|name| skewed(name)) {
        let message = format!("the tensor is written in the skewed axis `{name}`");
        let fix = "give it axes that are not skewed before, with `tm.reshape`".to_owned();
        return Err(op.error("C2", message).fix(Some(fix)));
    }
    Shuffle::new(&source.dim(Dim::Chip), from, axes).map_err(|why| op.clause_error("C2", "by", why))
}

/// The loops of the shuffle, chips outermost.
///
/// # Errors
/// C1, C2, or that the tensor has no order that a transfer can walk.
pub fn plan(op: OpRef<'_>, axes: &Axes, machine: &Machine) -> Result<Vec<Transfer>, Diagnostic> {
    let source = ChipShuffle::of(op)?.source()?.of_type::<Tensor>()?;
    let mut found = within_a_chip(op, &source, axes, machine)?;
    let over_chips = shuffle(op, axes)?.over_chips();
    found.iter_mut().for_each(|segment| segment.loops.insert(0, over_chips.clone()));
    Ok(found)
}

/// The loops within a chip for its part: the tensor as it lies.
fn within_a_chip(
    op: OpRef<'_>,
    tensor: &Tensor,
    axes: &Axes,
    machine: &Machine,
) -> Result<Vec<Transfer>, Diagnostic> {
    transfer(tensor, tensor, &|_| false, None, false, axes, machine)
        .map_err(|error| op.error("C2", error.to_string()))
}

fn verify(op: OpRef<'_>, cx: &VerifyCx<'_>) -> Result<(), Diagnostic> {
    let axes = &cx.analysis::<DeclaredAxes>().0;
    let (of, machine) = (ChipShuffle::of(op)?, machine(op));
    let (source, at) = (of.source()?.of_type::<Tensor>()?, of.at_unless_auto()?);
    let shuffle = shuffle(op, axes)?;
    let free = free_axes(op, cx, 0);
    let (same, differ): (Vec<_>, Vec<_>) = shuffle.axes().partition(|&axis| free(axis));
    if let (Some(&same), Some(&differ)) = (same.first(), differ.first()) {
        let message = format!(
            "the tensor is the same along `{}` and not along `{}`: after the shuffle it would differ along both",
            axes.name(same),
            axes.name(differ)
        );
        return Err(op.error("C3", message));
    }
    let in_dm = source.is(&DM);
    let capacity = if in_dm { machine.memory.dm_bytes_per_slice } else { machine.memory.hbm_bytes };
    check_place(op, "at", &source, at, capacity, axes, "C4")?;
    let segments = within_a_chip(op, &source, axes, &machine)?;
    if in_dm { segments.iter().try_for_each(|segment| check_runs(op, segment, false, at)) } else { Ok(()) }
}
