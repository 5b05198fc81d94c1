//! `stream.switch`: the switch engine moves packets between slices (book 13).

use crate::chain::{axes, check_same, input, next};
use crate::meaning::Meaning;
use crate::{SWITCH, plan};
use visa_ir::decl::{ClauseDecl, ClauseKind, Interface, OpDecl, OperandDecl};
use visa_ir::diag::Diagnostic;
use visa_ir::module::{OpRef, TypeId};
use visa_ir::verify::VerifyCx;
use visa_mapping::attrs::MAP;
use visa_mapping::facts::{check_mappings, machine};
use visa_mapping::ops::transfer::{check_dimension, free_axes};
use visa_mapping::{Axes, Dim, Expr, Tensor};

/// `stream.switch`.
pub static DECL: OpDecl = OpDecl {
    name: "stream.switch",
    summary: "Redistributes packets between slices by a named topology.",
    doc: "`broadcast01` takes the slices as [slice2, slice1, slice0] and time as [time1, time0]. Every slice of a ring (slice1 \
          x slice0 neighbours) receives what all of them sent, in the order [time1, slice1, time0, slice0]. Packets pass \
          through unchanged. Without a switch, packets stay in their slice: go straight to `stream.collect`.",
    constraints: &[
        ("C1", "slice1 and slice0 are powers of two whose product divides the slices; time0 divides time (book 13)"),
        ("C2", "the slice mapping has 256 positions: its outer part unchanged, its ring part axes that the tensor does not depend on"),
        ("C3", "time is [time1, slice1, time0, slice0] (book 13)"),
    ],
    operands: &[OperandDecl::one("stream", &["stream.fetch"])],
    clauses: &[
        ClauseDecl::lead("topology", ClauseKind::Word(&["broadcast01"]), "how packets travel"),
        ClauseDecl::required("slice1", ClauseKind::Int, "outer ring slices"),
        ClauseDecl::required("slice0", ClauseKind::Int, "inner ring slices"),
        ClauseDecl::required("time0", ClauseKind::Int, "time steps between the two moved parts"),
        ClauseDecl::required("slice", ClauseKind::Body(&MAP), "what each slice holds afterwards"),
        ClauseDecl::required("time", ClauseKind::Body(&MAP), "what each time step holds afterwards"),
    ],
    results: &["stream"],
    infer: Some(infer),
    verify: Some(verify),
    example: "%s = stream.switch broadcast01 %f slice1 256, slice0 1, time0 1, slice [I], time [1 # 256]",
    interfaces: &[Interface(&Meaning::Same)],    ..OpDecl::BASE
};

/// The operations of this file.
pub static OPS: &[&OpDecl] = &[&DECL];

fn infer(op: OpRef<'_>) -> Result<Vec<TypeId>, Diagnostic> {
    next(op, &SWITCH, None)
}

fn verify(op: OpRef<'_>, cx: &VerifyCx<'_>) -> Result<(), Diagnostic> {
    let axes = &axes(cx).0;
    check_mappings(op, axes)?;
    let source = input(op)?;
    let Some(result) = op.result_type::<Tensor>(0) else { return Ok(()) };
    let slices = machine(op.ctx).topology.slices_per_cluster;
    check_dimension(op, &result, Dim::Slice, slices, axes, "C2")?;
    let (slice1, slice0) = (ring_part(op, "slice1", slices)?, ring_part(op, "slice0", slices)?);
    let ring = slice1 * slice0;
    if !slices.is_multiple_of(ring) {
        return Err(op.clause_error("C1", "slice1", format!("a ring of {slice1} x {slice0} slices does not divide {slices}")));
    }
    let time = source.dim(Dim::Time);
    let steps = time.size(axes).map_err(|error| op.clause_error("C1", "time0", error.message))?;
    let time0 = op.int("time0").and_then(|time0| u64::try_from(time0).ok()).filter(|&time0| time0 > 0 && steps.is_multiple_of(time0));
    let Some(time0) = time0 else {
        return Err(op.clause_error("C1", "time0", format!("time0 does not divide the {steps} time steps of `{time}`")));
    };
    check_ring(op, cx, &source, &result, ring, axes)?;
    let slice = source.dim(Dim::Slice);
    let wanted = Expr::pair([
        time.clone().stride(time0),
        slice.clone().stride(slice0).modulo(slice1),
        time.modulo(time0),
        slice.modulo(slice0),
    ]);
    check_same(op, "C3", "time", &result.dim(Dim::Time), &wanted, axes)
}

fn ring_part(op: OpRef<'_>, clause: &str, slices: u64) -> Result<u64, Diagnostic> {
    let value = op.int(clause).unwrap_or(0);
    let part = u64::try_from(value).ok().filter(|part| part.is_power_of_two() && *part <= slices);
    part.ok_or_else(|| op.clause_error("C1", clause, format!("{clause} is {value}, expected a power of two up to {slices}")))
}

/// Slices outside the ring keep what they hold; within a ring every slice receives the same.
fn check_ring(
    op: OpRef<'_>,
    cx: &VerifyCx<'_>,
    source: &Tensor,
    result: &Tensor,
    ring: u64,
    axes: &Axes,
) -> Result<(), Diagnostic> {
    let (old, new) = (source.dim(Dim::Slice), result.dim(Dim::Slice));
    check_same(op, "C2", "slice", &new.clone().stride(ring), &old.stride(ring), axes)?;
    let inner = plan::digits_of(&new.clone().modulo(ring), axes).map_err(|why| op.clause_error("C2", "slice", why))?;
    let free = free_axes(op, cx, 0);
    match inner.iter().find_map(|digit| digit.axis.filter(|&axis| !free(axis))) {
        Some(axis) => {
            let message = format!("slice mapping `{new}`: all {ring} slices of a ring receive the same, but the tensor depends on {}", axes.name(axis));
            Err(op.clause_error("C2", "slice", message))
        }
        None => Ok(()),
    }
}
