//! `scf.for` with constant bounds: its iterations, one after the other.

use crate::import::emit::elem::Elem;
use crate::import::importer::Importer;
use crate::import::read::attributes::{key, operations};
use crate::import::read::operations::{RegionOp, known};
use crate::import::read::types::Kind;
use crate::import::tensor::Tensor;
use melior::ir::RegionLike as _;
use melior::ir::block::BlockLike as _;
use melior::ir::operation::{OperationLike as _, OperationRef};
use visa_ir::diag::{Diagnostic, counted};

/// Operands before the values that iterations pass on: the bounds and the step.
const BOUNDS: usize = 3;
/// Most iterations of all loops of a module together.
const MAX_ITERATIONS: usize = 1024;

/// The function that imports an operation of a body.
pub(crate) type Import = fn(&mut Importer<'_, '_>, OperationRef<'_, '_>) -> Result<(), Diagnostic>;

/// Imports the operations of each iteration.
///
/// # Errors
/// Bounds that are no constants, more than [`MAX_ITERATIONS`], and operations that are not imported.
pub(crate) fn unrolled(
    importer: &mut Importer<'_, '_>,
    op: OperationRef<'_, '_>,
    import: Import,
) -> Result<(), Diagnostic> {
    let [first, end, step] = [bound(importer, op, 0)?, bound(importer, op, 1)?, bound(importer, op, 2)?];
    let block = op.regions().next().and_then(|region| region.first_block());
    let block = block
        .filter(|_| step > 0)
        .ok_or_else(|| importer.emit.refuse("`scf.for` without a body or a step"))?;
    let count = op.operand_count() - BOUNDS;
    let mut carried =
        (0..count).map(|at| importer.whole_operand(op, BOUNDS + at)).collect::<Result<Vec<_>, _>>()?;
    let mut at = first;
    while at < end {
        importer.iterations += 1;
        if importer.iterations > MAX_ITERATIONS {
            importer.at(op);
            let most = counted(MAX_ITERATIONS, "iteration");
            return Err(importer
                .emit
                .refuse(format!("more than {most} of `scf.for`: each is imported by itself")));
        }
        let arguments = (0..block.argument_count()).map(|at| block.argument(at));
        let arguments =
            arguments.collect::<Result<Vec<_>, _>>().map_err(|why| importer.emit.refuse(why.to_string()))?;
        let number = Tensor::uniform(Elem::number(Kind::Index, at as f64), Vec::new());
        for (argument, tensor) in arguments.into_iter().zip(std::iter::once(number).chain(carried)) {
            importer.bind(key(argument), tensor);
        }
        carried = iteration(importer, block, count, import)?;
        at = at.saturating_add(step);
    }
    for (result, tensor) in op.results().zip(carried) {
        importer.bind(key(result), tensor);
    }
    Ok(())
}

/// Imports the operations of an iteration. Returns the values that it passes on.
fn iteration(
    importer: &mut Importer<'_, '_>,
    block: melior::ir::BlockRef<'_, '_>,
    count: usize,
    import: Import,
) -> Result<Vec<Tensor>, Diagnostic> {
    for op in operations(block) {
        importer.at(op);
        if known(op) == Some(RegionOp::Yield) {
            return (0..count).map(|at| importer.whole_operand(op, at)).collect();
        }
        import(importer, op)?;
    }
    Err(importer.emit.refuse("the body of `scf.for` has no end"))
}

/// A bound or the step.
fn bound(importer: &Importer<'_, '_>, op: OperationRef<'_, '_>, at: usize) -> Result<i64, Diagnostic> {
    let number = importer.whole_operand(op, at)?.elem.as_number();
    number.map(|number| number as i64).ok_or_else(|| {
        let message = "`scf.for` with a bound that is known only when it runs is not imported";
        importer.emit.refuse(message).fix("use constant bounds, or unroll the loop before".to_owned())
    })
}
