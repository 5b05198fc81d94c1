//! The order in which what is open is chosen: places of tensors first, then pipelines in program order, those that share tensors
//! together.

use super::graph::open_clauses;
use super::sharing::{self, Shared};
use super::tried::Means;
use super::{Choice, chain, optional, placement, stationary};
use std::collections::BTreeSet;
use visa_ir::context::Context;
use visa_ir::diag::Diagnostic;
use visa_ir::module::{Module, OpId};

/// What a pipeline ends in.
pub const ENDS: [&str; 6] = [
    "stream.commit",
    "stream.commit_view",
    "stream.commit_packed",
    "stream.to_trf",
    "stream.to_vrf",
    "stream.vector_log",
];

/// Something that was chosen.
pub enum Chosen<'a> {
    /// A pipeline's configuration.
    Pipeline(&'a mut Choice),
    /// The layouts of what pipelines share.
    Shared(Shared),
    /// That this register file is to hold the tensor that was to stream by, and the other way round.
    Exchanged(OpId),
    /// The place of a kernel's tensors in slices, of so many.
    Placement(usize),
}

/// Chooses everything that is open in a module.
pub struct Driver<'a> {
    /// The context.
    pub ctx: &'a Context,
    /// The rules, and what was tried with them of this module.
    pub means: &'a Means<'a>,
    /// Told of each choice before it is written into the module.
    pub tell: &'a mut dyn FnMut(&Module, Chosen<'_>),
}

/// The operations of all pipelines of a module.
pub fn in_pipelines(ctx: &Context, module: &Module) -> BTreeSet<OpId> {
    let ends = module.walk_all().into_iter().filter(|&id| ENDS.contains(&module.op(ctx, id).name()));
    ends.flat_map(|end| chain(module.op(ctx, end))).collect()
}

/// That the stream of an operation with something open ends nowhere: any choice would do.
fn endless(ctx: &Context, module: &Module) -> Option<Diagnostic> {
    let known = in_pipelines(ctx, module);
    let others = module.walk_all().into_iter().filter(|id| !known.contains(id)).map(|id| module.op(ctx, id));
    let mut open = others.filter(|op| op.name().starts_with("stream."));
    let (op, clause) = open.find_map(|op| open_clauses(op).next().map(|clause| (op, clause)))?;
    let message = format!("nothing constrains `{clause}` of this `{}`: its stream ends nowhere", op.name());
    let fix = "end the stream in `stream.commit`, `stream.to_trf` or `stream.to_vrf`, or write a value";
    Some(Diagnostic::error("select-configs", op.clause_span(clause), message).fix(fix.to_owned()))
}

impl Driver<'_> {
    /// Chooses and writes.
    ///
    /// # Errors
    /// What has no legal choice.
    pub fn run(&mut self, module: &mut Module) -> Result<(), Diagnostic> {
        endless(self.ctx, module).map_or(Ok(()), Err)?;
        for id in module.ops(module.body()).to_vec() {
            if let Some(tried) = placement::place(self.ctx, module, id, self.means.rules)? {
                (self.tell)(module, Chosen::Placement(tried));
            }
        }
        for group in sharing::groups(self.ctx, module) {
            if group.len() > 1 {
                let found = stationary::choose_layouts(self.ctx, module, &group, self.means)?;
                for load in found.exchanged {
                    (self.tell)(module, Chosen::Exchanged(load));
                }
                (self.tell)(module, Chosen::Shared(found.shared));
            }
            for end in group {
                let chain = chain(module.op(self.ctx, end));
                self.close(module, &chain)?;
            }
        }
        Ok(())
    }

    /// Chooses what is open of one pipeline.
    fn close(&mut self, module: &mut Module, chain: &[OpId]) -> Result<(), Diagnostic> {
        if chain.iter().all(|&id| open_clauses(module.op(self.ctx, id)).next().is_none()) {
            return Ok(());
        }
        let mut choice = optional::choose(self.ctx, module, chain, self.means)?;
        (self.tell)(module, Chosen::Pipeline(&mut choice));
        choice.apply(self.ctx, module)
    }
}
