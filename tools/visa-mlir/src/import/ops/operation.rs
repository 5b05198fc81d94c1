//! Operations of a function, by their names.

use crate::import::emit::elem::Elem;
use crate::import::emit::scalar;
use crate::import::importer::{Importer, result_of};
use crate::import::ops::composite;
use crate::import::ops::constants;
use crate::import::ops::extract;
use crate::import::ops::generic;
use crate::import::ops::loops;
use crate::import::ops::shapes;
use crate::import::ops::slices;
use crate::import::ops::softmax;
use crate::import::read::attributes::{key, name};
use crate::import::read::operations::{TensorOp, known};
use crate::import::read::types::{self, Kind};
use crate::import::tensor::Tensor;
use melior::ir::ValueLike as _;
use melior::ir::operation::{OperationLike as _, OperationRef};
use visa_ir::diag::Diagnostic;

/// Imports an operation.
///
/// # Errors
/// An operation that is not imported, by name.
pub(crate) fn operation(importer: &mut Importer<'_, '_>, op: OperationRef<'_, '_>) -> Result<(), Diagnostic> {
    let name = name(op);
    let read = known(op);
    match read {
        Some(TensorOp::Call) => return importer.call(op),
        Some(TensorOp::Generic) => return generic::generic(importer, op),
        Some(TensorOp::For) => return loops::unrolled(importer, op, operation),
        Some(_) | None => {}
    }
    let Some(result) = result_of(op).filter(|_| op.result_count() == 1) else {
        return Err(importer.emit.refuse(format!("`{name}` is not imported: expected one result")));
    };
    let (kind, shape) =
        types::tensor(result.r#type()).map_err(|why| importer.emit.refuse(format!("`{name}`: {why}")))?;
    let tensor = match read {
        // A tensor without elements needs no operation.
        Some(_) if shape.contains(&0) => Tensor::uniform(Elem::undefined(kind), shape),
        Some(read) => on_tensors(importer, op, read, (kind, shape))?,
        None if shape.is_empty() && (name.starts_with("arith.") || name.starts_with("math.")) => {
            let args = (0..op.operand_count()).map(|at| Ok(importer.whole_operand(op, at)?.elem));
            let args = args.collect::<Result<Vec<_>, Diagnostic>>()?;
            let elem = scalar::scalar(&mut importer.emit, op, &args)?;
            Tensor::uniform(importer.emit.built(&elem)?, shape)
        }
        None => return Err(refused(importer, &name)),
    };
    importer.bind(key(result), tensor);
    Ok(())
}

/// Imports an operation with one result, of this kind and shape.
fn on_tensors(
    importer: &mut Importer<'_, '_>,
    op: OperationRef<'_, '_>,
    read: TensorOp,
    (kind, shape): (Kind, Vec<u64>),
) -> Result<Tensor, Diagnostic> {
    Ok(match read {
        TensorOp::Constant => constants::constant(importer, op, kind, shape)?,
        TensorOp::Empty => Tensor::uniform(Elem::undefined(kind), shape),
        TensorOp::Fill | TensorOp::Splat => {
            let elem = composite::operand(importer, op, 0)?.elem;
            Tensor::uniform(elem, shape)
        }
        TensorOp::Cast => composite::operand(importer, op, 0)?,
        TensorOp::CollapseShape => shapes::collapse(importer, op, shape)?,
        TensorOp::ExpandShape => shapes::expand(importer, op, shape)?,
        TensorOp::Pad => slices::pad(importer, op, shape)?,
        TensorOp::ExtractSlice => slices::extract(importer, op, shape)?,
        TensorOp::InsertSlice => slices::insert(importer, op, shape)?,
        TensorOp::Concat => slices::concat(importer, op, shape)?,
        TensorOp::Gather => shapes::gather(importer, op, shape)?,
        TensorOp::FromElements if op.operand_count() == 1 => {
            Tensor::uniform(composite::operand(importer, op, 0)?.elem, shape)
        }
        TensorOp::Extract => {
            let args = (0..op.operand_count()).map(|at| Ok(importer.whole_operand(op, at)?.elem));
            let args = args.collect::<Result<Vec<_>, Diagnostic>>()?;
            Tensor::uniform(extract::element(importer, op, &args, false)?, shape)
        }
        TensorOp::Softmax => softmax::softmax(importer, op)?,
        TensorOp::Dim => Tensor::uniform(Elem::number(kind, shapes::dim(importer, op)? as f64), shape),
        TensorOp::FromElements
        | TensorOp::Call
        | TensorOp::Return
        | TensorOp::For
        | TensorOp::If
        | TensorOp::Generic => {
            return Err(refused(importer, &name(op)));
        }
    })
}

fn refused(importer: &Importer<'_, '_>, name: &str) -> Diagnostic {
    let message = format!("`{name}` is not imported: it has no counterpart at the tensor level");
    importer.emit.refuse(message).fix(fix(name).map(str::to_owned))
}

/// The way to avoid an operation that is not imported.
fn fix(name: &str) -> Option<&'static str> {
    let (dialect, _) = name.split_once('.')?;
    match dialect {
        "tosa" => Some(
            "lower it first: mlir-opt-22 \
             --pass-pipeline='builtin.module(func.func(tosa-to-linalg-named,tosa-to-linalg))'",
        ),
        "scf" | "cf" => Some(
            "branches, and loops other than `scf.for` with constant bounds, are not imported; unroll them before",
        ),
        "memref" | "bufferization" => Some("import the module before it is bufferized"),
        _ => None,
    }
}
