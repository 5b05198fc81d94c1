//! Elements of a whole tensor at computed indices: `tensor.extract` in the body of a `linalg.generic`.

use crate::import::emit::elem::{Data, Elem};
use crate::import::emit::function::Function;
use crate::import::importer::Importer;
use crate::import::ops::composite;
use crate::import::read::types::Kind;
use crate::import::tensor::at_number;
use melior::ir::operation::OperationRef;
use visa_ir::diag::Diagnostic;

/// The element that `tensor.extract` reads: a gather along each dimension. In a branch that is not taken (`may_leave`)
/// the indices may leave the tensor; they are then those of another element.
///
/// # Errors
/// A tensor that is not known.
pub(crate) fn element(
    importer: &mut Importer<'_, '_>,
    op: OperationRef<'_, '_>,
    args: &[Elem],
    may_leave: bool,
) -> Result<Elem, Diagnostic> {
    let table = composite::operand(importer, op, 0)?;
    let Data::Value(mut value) = table.elem.data else { return Ok(table.elem) };
    let emit = &mut importer.emit;
    if args.len() != table.dims.len() + 1 {
        return Err(emit.refuse("has another number of indices than its tensor has dimensions"));
    }
    let indices: Vec<_> = args[1..].iter().zip(&table.dims).zip(&table.shape).collect();
    // A dimension that a loop counts gets its name, another one a name that no index has.
    let (mut pairs, mut along, mut counted) = (Vec::new(), Vec::new(), Vec::new());
    for ((index, dim), &size) in indices {
        let Some(axis) = dim else { continue };
        let loop_axis = emit.coordinate(index).filter(|axis| emit.axes.size(axis) == Some(size));
        if let Some(name) = loop_axis.filter(|name| !counted.contains(name)) {
            counted.push(name.clone());
            pairs.push((axis.clone(), name));
            continue;
        }
        let fresh = emit.axes.fresh("X", size);
        pairs.push((axis.clone(), fresh.clone()));
        along.push((index, fresh));
    }
    value = emit.rename(value, &pairs)?;
    for (index, axis) in along {
        if let Some(number) = index.as_number() {
            let last = emit.size(&axis)?.cast_signed() - 1;
            let at = if may_leave { number.clamp(0.0, last as f64) } else { number };
            value = at_number(emit, value, at as i64, &axis)?;
            continue;
        }
        let mut index = index.clone().of_kind(Kind::I32);
        let last = emit.size(&axis)?.cast_signed() - 1;
        if may_leave && (index.range.0 < 0 || index.range.1 > last) {
            let inside = emit.apply(Function::Max, &[&index, &Elem::number(Kind::I32, 0.0)], Kind::I32)?;
            index =
                emit.apply(Function::Min, &[&inside, &Elem::number(Kind::I32, last as f64)], Kind::I32)?;
        }
        let index = emit.computed_value(&index)?;
        value = emit.gather(value, index, &axis)?;
    }
    Ok(Elem { data: Data::Value(value), ..table.elem })
}
