//! The order in which open clauses are chosen: the distribution of tensors first, then pipelines in program order.
//! Pipelines that share tensors are chosen together.

use crate::config::choice::Choice;
use crate::config::choice::choose_with_optional;
use crate::config::computation::Computations;
use crate::config::graph::{Candidate, open_clauses};
use crate::config::memo::Means;
use crate::config::optional::At;
use crate::contexts;
use crate::effort::budget::Budget;
use crate::explain::refused;
use crate::layout::sharing::{self, Shared};
use crate::layout::stationary;
use std::collections::{BTreeMap, BTreeSet};
use visa_ir::context::Context;
use visa_ir::diag::Diagnostic;
use visa_ir::module::{Module, OpId};
use visa_ir::open::{self, Opening};
use visa_ir::span::Span;
use visa_machine::Unit;
use visa_mapping::ops::func::FUNC;
use visa_stream::pipeline;
use visa_stream::pipeline::Pipeline;

/// Something that was chosen.
pub enum Chosen {
    /// A pipeline's configuration.
    Pipeline(Box<Choice>),
    /// The layouts of shared tensors.
    Shared(Shared),
    /// That the register file loaded there is to hold the tensor that was to stream by, and the other way round.
    Exchanged(Span),
    /// Not all: the omissions of the budget in a function, as a warning.
    Cut(Diagnostic),
    /// The distribution of a kernel's tensors over slices, with the number of candidates.
    Distribution(usize),
    /// The context of the pipeline that begins there.
    Context(Span, Unit),
}

/// Chooses everything that is open in a module.
pub struct Driver<'a> {
    /// The context.
    pub ctx: &'a Context,
    /// The rules, and the memo of this module.
    pub means: &'a Means<'a>,
    /// Told of each choice.
    pub tell: &'a mut dyn FnMut(Chosen),
}

/// The operations of all pipelines of a module.
pub fn in_pipelines(ctx: &Context, module: &Module) -> BTreeSet<OpId> {
    let ends = module.walk_all().into_iter().filter(|&id| pipeline::ends(module.op(ctx, id)));
    ends.flat_map(|end| Pipeline::up_to(module.op(ctx, end)).ops).collect()
}

/// Checks that each stream with something open ends somewhere: otherwise any choice would do.
///
/// # Errors
/// The first operation whose stream ends nowhere.
fn check_ends(ctx: &Context, module: &Module) -> Result<(), Diagnostic> {
    let known = in_pipelines(ctx, module);
    let others = module.walk_all().into_iter().filter(|id| !known.contains(id)).map(|id| module.op(ctx, id));
    let mut open = others.filter(|op| pipeline::contains(*op));
    let found = open.find_map(|op| open_clauses(op).next().map(|clause| (op, clause)));
    let Some((op, clause)) = found else { return Ok(()) };
    let message = format!("nothing constrains `{clause}` of this `{}`: its stream ends nowhere", op);
    let fix = "end the stream in `stream.commit`, `stream.to_trf` or `stream.to_vrf`, or write a value";
    Err(Diagnostic::error("select-configs", op.clause_span(clause), message).fix(fix.to_owned()))
}

/// The computations of the kernels with open clauses.
///
/// # Errors
/// A stream that ends nowhere, or a kernel whose result has other axes than its values.
pub(crate) fn computations(ctx: &Context, module: &Module) -> Result<Computations, Diagnostic> {
    check_ends(ctx, module)?;
    let functions = module.ops(module.body()).iter().copied();
    let functions = functions.filter(|&id| module.op(ctx, id).is(&FUNC) && is_open(ctx, module, id));
    Computations::of_functions(ctx, module, functions)
}

/// Returns true if a configuration below an operation is open.
fn is_open(ctx: &Context, module: &Module, id: OpId) -> bool {
    open::first_below(ctx, module, id, |kind| kind == Opening::Configuration).is_some()
}

impl Driver<'_> {
    /// Chooses and writes.
    ///
    /// # Errors
    /// The operation without a legal choice.
    pub fn run(&mut self, module: &mut Module) -> Result<(), Diagnostic> {
        let all = module.ops(module.body()).to_vec();
        let (functions, others): (Vec<OpId>, Vec<OpId>) =
            all.iter().partition(|&&id| module.op(self.ctx, id).is(&FUNC));
        let functions: Vec<OpId> =
            functions.into_iter().filter(|&id| is_open(self.ctx, module, id)).collect();
        self.means.budget.share_among(functions.len());
        let narrow = self.means.budget.narrow();
        for function in functions {
            // A function depends on no other: without them there is less to infer, to copy and to price.
            module.set_ops(module.body(), [&others[..], &[function]].concat());
            self.function(module, function, &narrow)?;
            module.set_ops(module.body(), all.clone());
        }
        self.means.budget.spend(narrow.spent());
        Ok(())
    }

    /// Chooses a function that is alone in its module. If the budget cuts the search, a narrow one may know better.
    fn function(&mut self, module: &mut Module, function: OpId, narrow: &Budget) -> Result<(), Diagnostic> {
        let Means { rules, budget, ref computations, .. } = *self.means;
        budget.begin();
        let found = contexts::function(self.ctx, module, function, self.means);
        let cut = refused::cut(module.op(self.ctx, function).span(), budget);
        let narrow = || Means::new(rules, narrow, computations.clone());
        let narrower = cut.is_some().then(|| contexts::function(self.ctx, module, function, &narrow()).ok());
        let chosen = match (found, narrower.flatten()) {
            (Ok(found), Some(narrower))
                if narrower.cycles(self.ctx, function) < found.cycles(self.ctx, function) =>
            {
                narrower
            }
            (Err(_), Some(narrower)) => narrower,
            (found, _) => found?,
        };
        *module = chosen.module;
        chosen.choices.into_iter().for_each(&mut *self.tell);
        cut.into_iter().for_each(|cut| (self.tell)(Chosen::Cut(cut)));
        Ok(())
    }

    /// Chooses all pipelines.
    ///
    /// # Errors
    /// The operation without a legal choice.
    pub fn pipelines(&mut self, module: &mut Module) -> Result<(), Diagnostic> {
        for group in sharing::groups(self.ctx, module) {
            let mut taken = BTreeMap::new();
            if group.len() > 1 {
                let found = stationary::choose_layouts(self.ctx, module, &group, self.means)?;
                for load in found.exchanged {
                    (self.tell)(Chosen::Exchanged(module.op(self.ctx, load).span()));
                }
                taken.clone_from(&found.shared.taken);
                (self.tell)(Chosen::Shared(found.shared));
            }
            for end in group {
                let found = taken.remove(&end).filter(|_| self.means.budget.ended());
                self.close(module, end, &found.unwrap_or_default())?;
            }
        }
        Ok(())
    }

    /// Chooses the open clauses of the pipeline that ends in `end`. If the budget has ended, there is only time for
    /// the earlier choice `found`.
    fn close(&mut self, module: &mut Module, end: OpId, found: &[(At, Candidate)]) -> Result<(), Diagnostic> {
        let chain = Pipeline::up_to(module.op(self.ctx, end)).ops;
        if chain.iter().all(|&id| open_clauses(module.op(self.ctx, id)).next().is_none()) {
            return Ok(());
        }
        let choice = choose_with_optional(self.ctx, module, &chain, self.means, found)?;
        choice.apply(self.ctx, module)?;
        (self.tell)(Chosen::Pipeline(Box::new(choice)));
        Ok(())
    }
}
