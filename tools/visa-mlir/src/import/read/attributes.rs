//! Attributes and operations as numbers, names and keys.

use crate::import::read::types::Kind;
use crate::mlir::printed;
use melior::ir::attribute::{ArrayAttribute, AttributeLike as _, FloatAttribute, IntegerAttribute};
use melior::ir::block::BlockLike as _;
use melior::ir::operation::{OperationLike as _, OperationRef};
use melior::ir::{Attribute, BlockRef, ValueLike};

/// The identity of a value or of an operation.
pub(crate) type Key = usize;

/// The key of a value.
pub(crate) fn key<'c>(value: impl ValueLike<'c>) -> Key {
    value.to_raw().ptr as usize
}

/// The key of an operation.
pub(crate) fn op_key<'c: 'a, 'a>(op: &impl melior::ir::operation::OperationLike<'c, 'a>) -> Key {
    op.to_raw().ptr as usize
}

/// The name of an operation.
pub(crate) fn name(op: OperationRef<'_, '_>) -> String {
    op.name().as_string_ref().as_str().unwrap_or("an operation whose name is no UTF-8").to_owned()
}

/// The number of an attribute.
pub(crate) fn number(attribute: Attribute<'_>) -> Option<f64> {
    if attribute.is_float() {
        return FloatAttribute::try_from(attribute).ok().map(|float| float.value());
    }
    let integer = attribute.is_integer().then(|| IntegerAttribute::try_from(attribute).ok())??;
    // A condition is 1, not the signed number of one bit.
    let is_condition = Kind::of(integer.r#type()) == Ok(Kind::I1);
    Some(if is_condition { f64::from(u8::from(integer.value() != 0)) } else { integer.value() as f64 })
}

/// The dimensions of each group of a reshape.
pub(crate) fn reassociation(op: OperationRef<'_, '_>) -> Option<Vec<Vec<usize>>> {
    let all = ArrayAttribute::try_from(op.attribute("reassociation").ok()?).ok()?;
    let group = |at: usize| {
        let group = ArrayAttribute::try_from(all.element(at).ok()?).ok()?;
        (0..group.len()).map(|at| number(group.element(at).ok()?).map(|dim| dim as usize)).collect()
    };
    (0..all.len()).map(group).collect()
}

/// The operations of a block. Accessors of melior that fail print the whole module, so that only those are called that
/// do not.
pub(crate) fn operations<'c, 'a>(block: BlockRef<'c, 'a>) -> impl Iterator<Item = OperationRef<'c, 'a>> {
    std::iter::successors(block.first_operation(), |op| op.next_in_block())
}

/// A symbol's name in an attribute, without `@`. It is read as MLIR prints it: a name of a bytecode may be no UTF-8.
pub(crate) fn symbol(op: OperationRef<'_, '_>, attribute: &str) -> Option<String> {
    let attribute = op.attribute(attribute).ok()?;
    let is_name = attribute.is_string() || attribute.is_flat_symbol_ref();
    is_name.then(|| printed(&attribute).trim_start_matches('@').trim_matches('"').to_owned())
}
