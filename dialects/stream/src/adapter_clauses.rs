//! The adapter that the clauses of a `stream.fetch` ask for.

use crate::adapter::Adapter;
use crate::ops::begin_interleaved;
use crate::ops::fetch::Fetch;
use visa_algebra::Expr;
use visa_ir::diag::{Diagnostic, counted};
use visa_ir::module::OpRef;
use visa_mapping::facts::machine;
use visa_mapping::ops::table;
use visa_mapping::{Tensor, Unit, operand};
use visa_numerics::{CastRow, DType, LookupTable, zero_point_cast};

/// The adapter of a `stream.fetch`.
///
/// # Errors
/// C2, C5 or C6 of the fetch.
pub fn adapter(op: OpRef<'_>) -> Result<Adapter, Diagnostic> {
    let (Some(source), Some(result)) = (operand(op, 0), op.result_type::<Tensor>(0)) else {
        return Err(op.error("C0", "no tensor type"));
    };
    let table = lookup(op, &source)?;
    let indexed = table.as_ref().map_or(source.dtype, |table| table.to);
    let cast = machine(op).fetch_cast(indexed, result.dtype);
    if indexed != result.dtype && cast.is_none() {
        return Err(no_conversion(op, indexed, result.dtype, table.is_some()));
    }
    let axis = match begin_interleaved::axis_of(op)?.as_deref() {
        Some(Expr::Axis(name)) => Some(name.clone()),
        Some(_) | None => None,
    };
    let zero = zero_points(op, cast, axis.is_some())?;
    Ok(Adapter { from: source.dtype, table, cast, zero, axis })
}

/// C2.
fn no_conversion(op: OpRef<'_>, from: DType, to: DType, indexed: bool) -> Diagnostic {
    let place = if indexed { "after the table, " } else { "" };
    let message = format!("{place}{}", machine(op).no_fetch_cast(from, to));
    let fix = match indexed {
        true => op
            .attr("dtype")
            .is_none()
            .then(|| format!("write `dtype {from}`, the format of the table's values")),
        false => table::converts(from, to).then(|| {
            format!("look it up: `tm.table @t, from {from}, to {to}` and `table @t` in the main context")
        }),
    };
    op.clause_error("C2", "dtype", message).fix(fix)
}

/// C5.
fn lookup(op: OpRef<'_>, source: &Tensor) -> Result<Option<LookupTable>, Diagnostic> {
    let Some(name) = Fetch::of(op)?.table()? else { return Ok(None) };
    let refuse = |message: String| op.clause_error("C5", "table", message);
    if let Some(unit @ (Unit::Sub | Unit::Dual)) = source.unit {
        let message = format!("a table in the {} context: table indexing belongs to main", unit);
        return Err(refuse(message).fix("begin the pipeline with `stream.begin main`".to_owned()));
    }
    // A table that is wrong in itself reports that itself.
    let declared = table::find(op, &name).map_err(refuse)?;
    let (from, table) = table::read(declared)?;
    if from != source.dtype {
        return Err(refuse(format!("`@{name}` looks up `{from}`, the tensor is `{}`", source.dtype)));
    }
    Ok(Some(table))
}

/// C6.
fn zero_points(
    op: OpRef<'_>,
    cast: Option<&'static CastRow>,
    interleaved: bool,
) -> Result<Vec<i32>, Diagnostic> {
    let Some(numbers) = Fetch::of(op)?.zero_points()? else { return Ok(Vec::new()) };
    let refuse = |message: String| Err(op.clause_error("C6", "zero_points", message));
    let most = if interleaved { 2 } else { 1 };
    if !(1..=most).contains(&numbers.len()) {
        let expected = if interleaved {
            "one, or one for each of the two tensors"
        } else {
            "one: only one tensor is fetched"
        };
        return refuse(format!("{}, expected {expected}", counted(numbers.len(), "zero point")));
    }
    let row = cast.and_then(|row| zero_point_cast(row.from, row.to));
    let Some((row, (least, most))) = row.and_then(|row| Some((row, row.to.range()?))) else {
        let found =
            cast.map_or("nothing is converted".to_owned(), |row| format!("{} becomes {}", row.from, row.to));
        return refuse(format!(
            "a zero point is subtracted where an integer of up to 8 bits becomes a wider one; here {found}"
        ));
    };
    let fits =
        |&zero: &i64| i32::try_from(zero).ok().filter(|zero| (least..=most).contains(zero)).ok_or(zero);
    match numbers.iter().map(fits).collect() {
        Ok(zero) => Ok(zero),
        Err(zero) => {
            refuse(format!("zero point {zero} does not fit `{}`, expected {least} to {most}", row.to))
        }
    }
}
