//! Rows of a table that an index chooses, within HBM (books 34, 35).

use crate::array::Array;
use crate::writer::{Writer, new};
use std::rc::Rc;
use visa_algebra::{Axes, Expr, PadKind};
use visa_ir::diag::Diagnostic;
use visa_ir::module::ValueId;
use visa_machine::Machine;
use visa_mapping::ops::indexed::{GatherToHbm, ScatterOp};
use visa_mapping::ops::transfer::{TO_SPM, ToSpm};

/// Bytes between the rows of an array in HBM along `along`; `None` if they are parts of bytes.
#[must_use]
pub fn distance(table: &Array, along: &str, axes: &Axes) -> Option<u64> {
    let at = table.position(along)?;
    let layout = table.layout(axes);
    let inner: Option<u64> = layout.terms().get(at + 1..)?.iter().map(|term| term.size(axes).ok()).product();
    let bits = inner? * u64::from(table.dtype.bits());
    bits.is_multiple_of(8).then_some(bits / 8)
}

/// Returns true if an index fits the scratchpad memory of a processing element.
#[must_use]
pub fn fits_scratchpad(index: &Array, axes: &Axes, machine: &Machine) -> bool {
    let bytes = index.tensor(axes).dim_bytes(visa_mapping::Dim::Element, axes);
    bytes.is_some_and(|bytes| bytes <= machine.memory.spm_bytes_per_pe)
}

/// Gathers rows of the table, the first input, by the index, the second one.
///
/// # Errors
/// A transfer that the machine does not make.
pub fn gather(
    writer: &mut Writer<'_>,
    out: &Array,
    (inputs, index): (&[ValueId], &Array),
    (along, distances): (&str, bool),
    (axes, machine): (&Axes, &Machine),
) -> Result<ValueId, Diagnostic> {
    let &[table, mut rows] = inputs else {
        return Err(operands(writer));
    };
    if !distances {
        rows = in_scratchpad(writer, rows, index, (axes, machine))?;
    }
    let op = new!(writer, GatherToHbm, [table, rows]).along(Rc::new(Expr::axis(along))).at_auto();
    writer.value(op.element(out.layout(axes)), &out.name)
}

/// Replaces rows of the table, the last input, by the rows, the first one, at the places of the index.
///
/// # Errors
/// A transfer that the machine does not make.
pub fn scatter(
    writer: &mut Writer<'_>,
    out: &Array,
    (inputs, index): (&[ValueId], &Array),
    (along, distances): (&str, bool),
    (axes, machine): (&Axes, &Machine),
) -> Result<ValueId, Diagnostic> {
    let &[rows, mut places, table] = inputs else { return Err(operands(writer)) };
    if !distances {
        places = in_scratchpad(writer, places, index, (axes, machine))?;
    }
    let op = new!(writer, ScatterOp, [rows, places, table]).along(Rc::new(Expr::axis(along)));
    writer.value(op, &out.name)
}

/// Moves an index to the scratchpad memory of the first processing element, unless a step before has moved it.
fn in_scratchpad(
    writer: &mut Writer<'_>,
    value: ValueId,
    index: &Array,
    (axes, machine): (&Axes, &Machine),
) -> Result<ValueId, Diagnostic> {
    if let Some(moved) = writer.earlier(&TO_SPM, value) {
        return Ok(moved);
    }
    let one = |count: u64| Expr::Literal(1).pad(count, PadKind::Top);
    let topology = &machine.topology;
    let op = new!(writer, ToSpm, [value]).at_auto().cluster(one(topology.clusters_per_chip));
    let op = op.pe(one(topology.pes_per_cluster)).element(index.layout(axes));
    writer.value(op, &format!("{}_spm", index.name))
}

/// That a step lacks operands.
fn operands(writer: &Writer<'_>) -> Diagnostic {
    let message = "rows that an index chooses are those of a table".to_owned();
    Diagnostic::error("plan-kernel", writer.span(), message)
}
