//! Elements that other elements choose.

use std::sync::Arc;

use visa_ir::diag::{Diagnostic, counted};
use visa_ir::module::OpRef;
use visa_mapping::error::mapping_error;
use visa_mapping::ops::gather::{Gather, Lookup, ScatterInto, axis};
use visa_mapping::tensor::value::Value;
use visa_numerics::{Bits, pattern, to_f64};

use crate::evaluate::Run;
use crate::indexed::{Rows, chosen_rows, scattered_rows};
use crate::tensor::{Axis, Logical, saturated};

/// `tm.gather`: the row of the table that each element of the index chooses.
pub(crate) fn gather(run: &Run<'_>, op: OpRef<'_>) -> Result<Logical, Diagnostic> {
    let gather = Gather::of(op)?;
    let rows = rows(run, op, &axis(op, &*gather.along()?)?, gather.unit()?)?;
    chosen_rows(run.given(op, 0)?, run.given(op, 1)?, &rows)
}

/// `tm.scatter_into`: the table with the rows that the index chooses replaced.
pub(crate) fn scatter(run: &Run<'_>, op: OpRef<'_>) -> Result<Logical, Diagnostic> {
    let scatter = ScatterInto::of(op)?;
    let rows = rows(run, op, &axis(op, &*scatter.along()?)?, scatter.unit()?)?;
    // An index chooses rows also of a table that is the same everywhere along some axis.
    let ty = op.operand_type::<Value>(2).ok_or_else(|| op.error("C1", "the table has no type"))?;
    let table = run.given(op, 2)?;
    let axis = |name: &Arc<str>| {
        let id = run.axes.resolve(name).map_err(|error| mapping_error(error, op.span()))?;
        Ok(Axis { id, held: vec![true; saturated(run.axes.size(id))] })
    };
    let axes = ty.axes.iter().map(axis).collect::<Result<Vec<_>, Diagnostic>>()?;
    let table = table.spelled_out(axes.into_iter(), op.span())?;
    scattered_rows(run.given(op, 0)?, run.given(op, 1)?, &table, &rows)
}

fn rows<'a>(run: &'a Run<'_>, op: OpRef<'_>, along: &str, unit: i64) -> Result<Rows<'a>, Diagnostic> {
    let along = run.axes.resolve(along).map_err(|error| mapping_error(error, op.span()))?;
    Ok(Rows { along, unit, axes: run.axes, span: op.span() })
}

/// `tm.lookup`: the entry of a list that each element numbers.
pub(crate) fn lookup(run: &Run<'_>, op: OpRef<'_>) -> Result<Logical, Diagnostic> {
    let lookup = Lookup::of(op)?;
    let (value, table) = (run.given(op, 0)?, lookup.table()?);
    let table = &*table;
    let entry = |bits: Bits| table.get(value.dtype, bits);
    let mut at = Vec::new();
    for (flat, &bits) in value.elements().iter().enumerate().filter(|(_, bits)| entry(**bits).is_none()) {
        if !value.locate(flat, &mut at) || !value.is_defined(flat) {
            continue;
        }
        let names = value.axes.iter().map(|axis| run.axes.name(axis.id));
        let index: Vec<String> = names.zip(&at).map(|(name, at)| format!("{name} = {at}")).collect();
        let place = if index.is_empty() { String::new() } else { format!(" at {}", index.join(", ")) };
        let message = format!(
            "the element{place} is {}, index {}, outside the table of {}",
            to_f64(value.dtype, bits),
            pattern(value.dtype, bits),
            counted(table.entries.len(), "value")
        );
        return Err(Diagnostic::error("outside-table", op.clause_span("table"), message));
    }
    // Elements that are still outside the table are undefined, and stay so.
    Ok(value.map(table.to, |bits| entry(bits).unwrap_or(0)))
}
