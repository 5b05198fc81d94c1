//! Operations of a function, by their names.

use crate::import::emit::elem::Elem;
use crate::import::emit::scalar;
use crate::import::importer::{Importer, result_of};
use crate::import::ops::composite;
use crate::import::ops::constants;
use crate::import::ops::elements;
use crate::import::ops::extract;
use crate::import::ops::generic;
use crate::import::ops::loops;
use crate::import::ops::packs;
use crate::import::ops::shapes;
use crate::import::ops::slices;
use crate::import::ops::softmax;
use crate::import::read::attributes::{key, name};
use crate::import::read::operations::{self, ScalarOp, TensorOp, known};
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
        None if shape.is_empty() && operations::known::<ScalarOp>(op).is_some() => {
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
    if kind == Kind::F64 && joins(read) {
        return Err(importer.emit.double());
    }
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
        TensorOp::FromElements => elements::listed(importer, op, kind, shape)?,
        TensorOp::Generate => elements::generated(importer, op, shape)?,
        TensorOp::Insert => elements::inserted(importer, op, shape)?,
        TensorOp::Pack => packs::packed(importer, op, shape)?,
        TensorOp::Unpack => packs::unpacked(importer, op, shape)?,
        TensorOp::Reshape => shapes::reshape(importer, op, shape)?,
        TensorOp::Extract => {
            let args = (0..op.operand_count()).map(|at| Ok(importer.whole_operand(op, at)?.elem));
            let args = args.collect::<Result<Vec<_>, Diagnostic>>()?;
            Tensor::uniform(extract::element(importer, op, &args, false)?, shape)
        }
        TensorOp::Softmax => softmax::softmax(importer, op)?,
        TensorOp::Dim => Tensor::uniform(Elem::number(kind, shapes::dim(importer, op)? as f64), shape),
        TensorOp::Rank => {
            Tensor::uniform(Elem::number(kind, importer.whole_operand(op, 0)?.shape.len() as f64), shape)
        }
        TensorOp::Call | TensorOp::Return | TensorOp::For | TensorOp::If | TensorOp::Generic => {
            return Err(refused(importer, &name(op)));
        }
    })
}

/// Returns true for an operation whose result has elements of several tensors, or new ones.
fn joins(read: TensorOp) -> bool {
    match read {
        TensorOp::Pad
        | TensorOp::InsertSlice
        | TensorOp::Insert
        | TensorOp::Concat
        | TensorOp::FromElements
        | TensorOp::Generate
        | TensorOp::Pack
        | TensorOp::Softmax => true,
        TensorOp::Call
        | TensorOp::Return
        | TensorOp::Generic
        | TensorOp::Constant
        | TensorOp::Empty
        | TensorOp::Fill
        | TensorOp::Splat
        | TensorOp::Cast
        | TensorOp::CollapseShape
        | TensorOp::ExpandShape
        | TensorOp::Reshape
        | TensorOp::ExtractSlice
        | TensorOp::Unpack
        | TensorOp::Rank
        | TensorOp::Gather
        | TensorOp::Extract
        | TensorOp::Dim
        | TensorOp::For
        | TensorOp::If => false,
    }
}

fn refused(importer: &Importer<'_, '_>, name: &str) -> Diagnostic {
    let message = format!("`{name}` is not imported: it has no counterpart at the tensor level");
    importer.emit.refuse(message).fix(operations::fix(name).map(str::to_owned))
}
