//! `linalg.softmax`.

use crate::import::emit::elem::{Data, Elem};
use crate::import::emit::function::Function;
use crate::import::importer::Importer;
use crate::import::ops::composite;
use crate::import::read::attributes::number;
use crate::import::tensor::Tensor;
use melior::ir::operation::{OperationLike as _, OperationRef};
use visa_ir::diag::Diagnostic;
use visa_numerics::ReduceName;

/// Powers of the distances to the greatest element, over their sum.
///
/// # Errors
/// A dimension that does not exist.
pub(crate) fn softmax(
    importer: &mut Importer<'_, '_>,
    op: OperationRef<'_, '_>,
) -> Result<Tensor, Diagnostic> {
    let tensor = composite::operand(importer, op, 0)?;
    let dim = op.attribute("dimension").ok().and_then(number).map(|dim| dim as usize);
    let dim = dim.filter(|&dim| dim < tensor.shape.len());
    let dim =
        dim.ok_or_else(|| importer.emit.refuse("`linalg.softmax` along a dimension that does not exist"))?;
    let kind = tensor.kind();
    let emit = &mut importer.emit;
    let x = emit.computed_value(&tensor.elem)?;
    let Some(axis) = tensor.dims[dim].clone() else {
        let even = emit.rounded(Elem::number(kind, 1.0 / tensor.shape[dim] as f64))?;
        return Ok(Tensor::uniform(even, tensor.shape));
    };
    let over = [axis];
    let greatest = emit.reduce(ReduceName::Max, x, &over)?;
    let (x, greatest) = (Elem::value(kind, x), Elem::value(kind, greatest));
    let distance = emit.apply(Function::Sub, &[&x, &greatest], kind)?;
    let power = emit.apply(Function::Exp, &[&distance], kind)?;
    let power = emit.built(&power)?;
    let powers = emit.value(&power)?;
    let sum = Elem::value(kind, emit.reduce(ReduceName::Add, powers, &over)?);
    let elem = emit.apply(Function::Div, &[&power, &sum], kind)?;
    let elem = emit.rounded(elem)?;
    let elem = Elem { data: Data::Value(emit.value(&elem)?), ..elem };
    Ok(Tensor { elem, ..tensor })
}
