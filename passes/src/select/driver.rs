//! The order in which what is open is chosen: places of tensors first, then pipelines in program order, a register file with the
//! pipeline that reads it.

use super::graph::open_clauses;
use super::ruleset::RuleSet;
use super::{Choice, chain, choose, placement, shared};
use visa_ir::context::Context;
use visa_ir::diag::Diagnostic;
use visa_ir::module::{Module, OpId, OpRef};

/// What a pipeline ends in.
const ENDS: [&str; 6] = [
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
    /// A register file's layout, of so many.
    Layout(usize),
    /// The place of a kernel's tensors in slices, of so many.
    Placement(usize),
}

/// Chooses everything that is open in a module.
pub struct Driver<'a> {
    /// The context.
    pub ctx: &'a Context,
    /// The rules.
    pub rules: &'a RuleSet,
    /// Told of each choice before it is written into the module.
    pub tell: &'a mut dyn FnMut(&Module, Chosen<'_>),
}

impl Driver<'_> {
    /// Chooses and writes.
    ///
    /// # Errors
    /// What has no legal choice.
    pub fn run(&mut self, module: &mut Module) -> Result<(), Diagnostic> {
        for id in module.ops(module.body()).to_vec() {
            if let Some(tried) = placement::place(self.ctx, module, id, self.rules)? {
                (self.tell)(module, Chosen::Placement(tried));
            }
        }
        for end in self.ends(module) {
            let reader = chain(module.op(self.ctx, end));
            if let Some(load) = shared::open_load(self.ctx, module, &reader) {
                let found = shared::choose_layout(self.ctx, module, (load, &reader), self.rules)?;
                (self.tell)(module, Chosen::Layout(found.tried));
                shared::write(self.ctx, module, load, &found.row, &found.element)?;
                let loaded = chain(module.op(self.ctx, load));
                self.close(module, &loaded)?;
            }
            self.close(module, &reader)?;
        }
        Ok(())
    }

    /// The ends of pipelines in the order in which they are chosen: a register file waits for what reads it.
    fn ends(&self, module: &Module) -> Vec<OpId> {
        let op = |id: OpId| module.op(self.ctx, id);
        let read = |op: OpRef<'_>| op.results().iter().any(|&file| !module.uses(file).is_empty());
        let ends = module.walk_all().into_iter().filter(|&id| ENDS.contains(&op(id).name()));
        let (waiting, mut ends): (Vec<_>, Vec<_>) =
            ends.partition(|&id| shared::is_open_load(op(id)) && read(op(id)));
        ends.extend(waiting);
        ends
    }

    /// Chooses what is open of one pipeline.
    fn close(&mut self, module: &mut Module, chain: &[OpId]) -> Result<(), Diagnostic> {
        if chain.iter().all(|&id| open_clauses(module.op(self.ctx, id)).next().is_none()) {
            return Ok(());
        }
        let mut choice = choose(self.ctx, module, chain, self.rules)?;
        (self.tell)(module, Chosen::Pipeline(&mut choice));
        choice.apply(self.ctx, module)
    }
}
