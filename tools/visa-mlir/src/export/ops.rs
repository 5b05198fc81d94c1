//! The operations that are exported: each with the shape of its result and its counterpart in MLIR.

mod axes;
mod elements;
mod parts;
mod rows;
mod sums;

use visa_ir::decl::OpDecl;
use visa_ir::module::OpRef;
use visa_mapping::ops as tm;

use crate::export::known::Known;
use crate::export::mlir::refusals::{Export, refuse};
use crate::export::mlir::shape::Shape;
use crate::export::mlir::value::Tensor;
use crate::export::scope::Scope;

/// An operation with a counterpart.
struct Page {
    decl: &'static OpDecl,
    shape: fn(&Known<'_>, OpRef<'_>) -> Export<Shape>,
    write: for<'c> fn(&Scope<'c, '_>, OpRef<'_>) -> Export<Tensor<'c>>,
}

/// The operations with a counterpart.
const PAGES: &[Page] = &[
    Page { decl: &tm::contract::DECL, shape: sums::contract_shape, write: sums::contract },
    Page { decl: &tm::reduce::DECL, shape: sums::reduce_shape, write: sums::reduce },
    Page { decl: &tm::map::DECL, shape: elements::common_shape, write: elements::map },
    Page { decl: &tm::cast::DECL, shape: elements::common_shape, write: elements::cast },
    Page { decl: &tm::cast::SUBTRACT_ZERO, shape: elements::common_shape, write: elements::subtract_zero },
    Page { decl: &tm::where_::DECL, shape: elements::where_shape, write: elements::choose },
    Page { decl: &tm::where_::COMPARE, shape: elements::common_shape, write: elements::compare },
    Page { decl: &tm::constant::CONSTANT, shape: elements::whole_shape, write: elements::constant },
    Page { decl: &tm::constant::INDEX, shape: elements::whole_shape, write: elements::coordinate },
    Page { decl: &tm::constant::UNDEFINED, shape: elements::whole_shape, write: elements::undefined },
    Page { decl: &tm::rename::RENAME, shape: axes::renamed_shape, write: axes::rename },
    Page { decl: &tm::rename::SPLIT, shape: axes::split_shape, write: axes::split },
    Page { decl: &tm::rename::MERGE, shape: axes::merged_shape, write: axes::merge },
    Page { decl: &tm::rename::REARRANGE, shape: axes::rearranged_shape, write: axes::rearrange },
    Page { decl: &tm::rename::BROADCAST, shape: axes::broadcast_shape, write: axes::broadcast },
    Page { decl: &tm::restrict::RESTRICT, shape: parts::restricted_shape, write: parts::restrict },
    Page { decl: &tm::restrict::EXTRACT, shape: parts::extracted_shape, write: parts::extract },
    Page { decl: &tm::restrict::INSERT, shape: parts::inserted_shape, write: parts::insert },
    Page { decl: &tm::restrict::EXTEND, shape: axes::extended_shape, write: axes::extend },
    Page { decl: &tm::restrict::CONCAT, shape: axes::concat_shape, write: axes::concat },
    Page { decl: &tm::gather::GATHER, shape: rows::gathered_shape, write: rows::gather },
];

/// Operations of the tensor level without a counterpart, and the reason.
const ABSENT: &[(&OpDecl, &str)] = &[
    (&tm::gather::LOOKUP, "linalg has no table that the bits of an element index"),
    (&tm::gather::SCATTER_INTO, "linalg has no scatter, in which a row that two indices choose is undefined"),
    (&tm::sequence::PACK, "linalg has no loop whose positions depend on elements"),
    (&tm::sequence::SCAN, "linalg has no loop whose iterations read the results of earlier ones"),
    (&tm::skew::SKEW, "linalg has no skewed axes"),
    (&tm::skew::EXCHANGE, "linalg has no table of positions"),
];

/// The shape of an operation's result.
///
/// # Errors
/// An operation without a counterpart, and clauses that loops do not express.
pub(crate) fn shape(known: &Known<'_>, op: OpRef<'_>) -> Export<Shape> {
    (page(op)?.shape)(known, op)
}

/// Writes an operation.
///
/// # Errors
/// As of [`shape`], and formats that MLIR lacks.
pub(crate) fn write<'c>(scope: &Scope<'c, '_>, op: OpRef<'_>) -> Export<Tensor<'c>> {
    (page(op)?.write)(scope, op)
}

fn page(op: OpRef<'_>) -> Export<&'static Page> {
    if let Some((_, why)) = ABSENT.iter().find(|(decl, _)| op.is(decl)) {
        return Err(refuse(op, why));
    }
    PAGES.iter().find(|page| op.is(page.decl)).ok_or_else(|| {
        let fix = "write the computation with `visa-opt --raise`, and export that";
        refuse(op, "it is no operation of the tensor level").fix(fix.to_owned())
    })
}
