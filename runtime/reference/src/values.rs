//! The operations of the tensor level, a file for each group: the semantics of every kernel consists of these.

pub(crate) mod axes;
pub(crate) mod choose;
pub(crate) mod contract;
pub(crate) mod elementwise;
pub(crate) mod parts;
pub(crate) mod reduce;
pub(crate) mod sequence;
pub(crate) mod sum;

use visa_algebra::{AxisId, Expr};
use visa_ir::decl::OpDecl;
use visa_ir::diag::Diagnostic;
use visa_ir::module::OpRef;
use visa_mapping::error::mapping_error;
use visa_mapping::ops;

use crate::evaluate::Run;
use crate::tensor::Logical;

/// An operation's definition: its result from those of its operands.
type Page = fn(&Run<'_>, OpRef<'_>) -> Result<Logical, Diagnostic>;

/// The definition of each operation.
const PAGES: &[(&OpDecl, Page)] = &[
    (&ops::contract::DECL, contract::contract),
    (&ops::reduce::DECL, reduce::reduce),
    (&ops::map::DECL, elementwise::map),
    (&ops::cast::DECL, elementwise::cast),
    (&ops::where_::DECL, elementwise::choose),
    (&ops::where_::COMPARE, elementwise::compare),
    (&ops::constant::CONSTANT, elementwise::constant),
    (&ops::constant::INDEX, elementwise::coordinate),
    (&ops::constant::UNDEFINED, elementwise::undefined),
    (&ops::rename::RENAME, axes::rename),
    (&ops::rename::SPLIT, axes::split),
    (&ops::rename::MERGE, axes::merge),
    (&ops::rename::REARRANGE, axes::rearrange),
    (&ops::rename::BROADCAST, axes::broadcast),
    (&ops::skew::SKEW, axes::skew),
    (&ops::skew::EXCHANGE, axes::exchange),
    (&ops::restrict::RESTRICT, parts::restrict),
    (&ops::restrict::EXTRACT, parts::extract),
    (&ops::restrict::INSERT, parts::insert),
    (&ops::restrict::EXTEND, parts::extend),
    (&ops::restrict::CONCAT, parts::concat),
    (&ops::gather::GATHER, choose::gather),
    (&ops::gather::SCATTER_INTO, choose::scatter),
    (&ops::gather::LOOKUP, choose::lookup),
    (&ops::cast::SUBTRACT_ZERO, elementwise::subtract_zero),
    (&ops::sequence::PACK, sequence::pack),
    (&ops::sequence::SCAN, sequence::scan),
];

/// The result of an operation.
///
/// # Errors
/// An operation that is not of the tensor level, and those of its page.
pub(crate) fn evaluate(run: &Run<'_>, op: OpRef<'_>) -> Result<Logical, Diagnostic> {
    match PAGES.iter().find(|(decl, _)| op.is(decl)) {
        Some((_, page)) => page(run, op),
        None => Err(op.error("C0", "it is no operation on values")),
    }
}

impl Run<'_> {
    /// The axis that a clause names.
    pub(crate) fn axis(&self, op: OpRef<'_>, clause: &Expr) -> Result<AxisId, Diagnostic> {
        let Expr::Axis(name) = clause else {
            return Err(op.error("C1", format!("`{clause}` is no axis")));
        };
        self.axes.resolve(name).map_err(|error| mapping_error(error, op.span()))
    }

    /// The value of an operand.
    pub(crate) fn given(&self, op: OpRef<'_>, index: usize) -> Result<&Logical, Diagnostic> {
        let value = op.operands().get(index).and_then(|value| self.values.get(value));
        value.ok_or_else(|| op.error("C0", format!("operand {index} has no value")))
    }
}
