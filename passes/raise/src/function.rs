//! The function of a kernel, in its own module and as a part of another one.

use crate::direct::direct;
use crate::tensor::canonical::{Canonical, canonical};
use crate::tensor::reals::{Folded, folded};
use crate::tensor::ruleset::RuleSet;
use std::collections::HashMap;
use visa_ir::build::NewOp;
use visa_ir::context::Context;
use visa_ir::diag::Diagnostic;
use visa_ir::module::{BlockId, Module, OpId, ValueId};
use visa_mapping::raise::function::Raised;

/// The canonical function of a kernel, whose clauses may be open.
///
/// # Errors
/// An operation without semantics, or a result that depends on an open clause.
pub fn function(ctx: &Context, module: &Module, func: OpId) -> Result<Raised, Vec<Diagnostic>> {
    let rules = RuleSet::of(ctx)?;
    raised(ctx, module, func, &rules).map(|canonical| canonical.function)
}

/// The canonical function of a kernel with its loops folded into operations on whole tensors, by the rules of real
/// arithmetic. A function that is too large for its canonical form keeps its loops.
///
/// # Errors
/// As of [`function`].
pub fn folded_function(ctx: &Context, module: &Module, func: OpId) -> Result<Folded, Vec<Diagnostic>> {
    let rules = RuleSet::of(ctx)?;
    let canonical = raised(ctx, module, func, &rules)?;
    if canonical.statistics.is_none() {
        return Ok(Folded::unchanged(canonical.function));
    }
    folded(ctx, &canonical.function, &rules).map_err(|error| vec![error])
}

fn raised(ctx: &Context, module: &Module, func: OpId, rules: &RuleSet) -> Result<Canonical, Vec<Diagnostic>> {
    let direct = direct(ctx, module, func).map_err(|error| vec![error])?;
    canonical(ctx, direct, rules, false).map_err(|error| vec![error])
}

/// Appends a function to a module that declares its axes. Returns the new function and the number of its operations.
pub fn append(ctx: &Context, module: &mut Module, raised: &Raised) -> (OpId, u64) {
    let mut copy = Copy { ctx, from: &raised.module, to: module, values: HashMap::new(), count: 0 };
    let top = copy.to.body();
    let func = copy.operation(raised.func, top);
    (func, copy.count)
}

/// Copies operations from one module into another one.
struct Copy<'a> {
    ctx: &'a Context,
    from: &'a Module,
    to: &'a mut Module,
    /// The copies of values.
    values: HashMap<ValueId, ValueId>,
    /// Number of copied operations.
    count: u64,
}

impl Copy<'_> {
    /// Copies an operation, with its regions, to the end of a block.
    fn operation(&mut self, id: OpId, block: BlockId) -> OpId {
        let from = self.from;
        let op = from.op(self.ctx, id);
        let operands: Vec<ValueId> =
            op.operands().iter().filter_map(|value| self.values.get(value).copied()).collect();
        let new = self.to.append(block, NewOp::copied(op).operands(operands).spec());
        for &result in op.results() {
            let name = from.value_name(result).cloned();
            let copied = self.to.add_result(new, from.ty(result), name, op.span());
            self.values.insert(result, copied);
        }
        self.count += 1;
        for &region in op.regions() {
            let body = self.to.add_region(new);
            for &argument in from.args(region) {
                let name = from.value_name(argument).cloned();
                let copied = self.to.add_arg(body, from.ty(argument), name, from.value_span(argument));
                self.values.insert(argument, copied);
            }
            for &inner in from.ops(region) {
                self.operation(inner, body);
            }
        }
        new
    }
}
