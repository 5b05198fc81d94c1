//! The choice for one pipeline: the cheapest legal configuration of its operations.

use crate::config::candidate::CandidatePipeline;
use crate::config::computation::Computations;
use crate::config::extract::{self, Extraction, Way};
use crate::config::graph::{self, Candidate, Graph};
use crate::config::memo::Means;
use crate::config::optional::{self, At};
use crate::config::task::Task;
use crate::effort::budget::{Budget, Cut};
use crate::effort::clock::{Clock, Phase};
use crate::explain::refused;
use crate::rules::ruleset::RuleSet;
use crate::transfer::leaving;
use std::rc::Rc;
use visa_ir::context::Context;
use visa_ir::diag::Diagnostic;
use visa_ir::infer::infer_all;
use visa_ir::module::{Module, OpId, OpRef};
use visa_ir::span::Span;
use visa_ir::verify::Analysis;
use visa_mapping::facts::DeclaredAxes;
use visa_mapping::operand;

/// A choice for one pipeline.
pub struct Choice {
    /// The pipeline's operations.
    pub chain: Vec<OpId>,
    /// Where the first of them is written.
    pub at: Span,
    /// The positions at which a bound left out proposals of textual rules: a remark an operation.
    pub limits: Vec<Diagnostic>,
    /// Everything that was possible.
    pub graph: Graph,
    /// The cheapest of it.
    pub best: Way,
    /// The most expensive way to the same tensor that no other one dominates.
    pub peer: Way,
    /// Cycles of the most expensive way to any tensor that no other one dominates.
    pub most_expensive: u64,
    /// The cheapest way to each tensor that the pipeline can end in, cheapest first.
    pub ends: Vec<Way>,
}

impl Choice {
    /// Writes the choice into a module, without the optional engines that the best way lacks. Types follow.
    ///
    /// # Errors
    /// The error of inference for the module.
    pub fn apply(&self, ctx: &Context, module: &mut Module) -> Result<(), Diagnostic> {
        let steps = self.best.steps(&self.graph);
        for step in &steps {
            for &(name, value) in step.clauses.iter() {
                module.set_clause(self.chain[step.stage], name, value);
            }
        }
        for (stage, &id) in self.chain.iter().enumerate() {
            if steps.iter().all(|step| step.stage != stage) {
                optional::remove(ctx, module, id);
            }
        }
        infer_all(ctx, module)
    }
}

/// The cheapest legal choice for the pipeline `chain` of a module, however much work that is.
///
/// # Errors
/// That there is none, with the nearest configurations and the limit that each broke.
pub fn choose(ctx: &Context, module: &Module, chain: &[OpId], rules: &RuleSet) -> Result<Choice, Diagnostic> {
    let ops: Vec<OpRef<'_>> = chain.iter().map(|&id| module.op(ctx, id)).collect();
    let axes = DeclaredAxes::build(ctx, module);
    let (budget, computations) = (Budget::unlimited(), Rc::new(Computations::of_module(ctx, module)?));
    let task = Task::of(&ops, &axes.0, &computations);
    choose_for(ctx, module, chain, &Means::new(rules, &budget, computations), &task)
}

/// As [`choose`], with the optional engines that were inserted into the module: [`Choice::apply`] removes those that
/// the choice lacks. The earlier choice `found` is the first candidate.
///
/// # Errors
/// As of [`choose`]; the module then has the engines.
pub(crate) fn choose_with_optional(
    ctx: &Context,
    module: &mut Module,
    chain: &[OpId],
    means: &Means<'_>,
    found: &[(At, Candidate)],
) -> Result<Choice, Diagnostic> {
    let (longer, optional) = optional::insert(ctx, module, chain, means.rules);
    let ops: Vec<OpRef<'_>> = longer.iter().map(|&id| module.op(ctx, id)).collect();
    let axes = DeclaredAxes::build(ctx, module);
    let seed = match found.is_empty() {
        true => Vec::new(),
        false => {
            ops.iter().enumerate().map(|(stage, op)| seed(*op, longer.get(stage + 1), chain, found)).collect()
        }
    };
    let task = Task { optional, seed, ..Task::of(&ops, &axes.0, &means.computations) };
    choose_for(ctx, module, &longer, means, &task)
}

/// The choice for an operation, which is one of `chain` or added before `after`; no clauses if there was none.
fn seed(op: OpRef<'_>, after: Option<&OpId>, chain: &[OpId], found: &[(At, Candidate)]) -> Candidate {
    let is_it = |at: &At| match at {
        At::Written(id) => *id == op.id,
        At::Added(decl, before) => !chain.contains(&op.id) && op.is(decl) && after == Some(before),
    };
    let own = found.iter().find(|(at, _)| is_it(at));
    own.map_or_else(|| (None, [].into()), |(_, candidate)| candidate.clone())
}

/// The cheapest legal choice for the pipeline `chain` of a module, for the task `task`.
///
/// # Errors
/// As of [`choose`].
pub fn choose_for(
    ctx: &Context,
    module: &Module,
    chain: &[OpId],
    means: &Means<'_>,
    task: &Task,
) -> Result<Choice, Diagnostic> {
    let ops: Vec<OpRef<'_>> = chain.iter().map(|&id| module.op(ctx, id)).collect();
    if let Some(op) = ops.iter().find(|op| unruled(**op, means.rules)) {
        return Err(refused::unruled(*op, means.rules));
    }
    if let Some(op) = ops.iter().find(|op| operand(**op, 0).is_none() && op.id == chain[0]) {
        return Err(refused::unknown_source(*op));
    }
    let mut candidate = CandidatePipeline::new(ctx, module, chain, means)?;
    let graph = Graph::grow(&mut candidate, means.rules, task);
    if graph.cut {
        means.budget.cut(Cut::Pipeline(ops[ops.len() - 1].span()));
    }
    let axes = DeclaredAxes::build(ctx, module);
    let after = |class: usize| leaving::cycles(ops[ops.len() - 1], graph.classes[class].ty(), &axes.0);
    let clock = ctx.data::<Clock>();
    let extracted = clock.time(Phase::Extract, || extract::extract(&graph, chain.len(), &after));
    match extracted {
        Some(Extraction { best, peer, most_expensive, ends }) => {
            let (at, limits) = (ops[0].span(), refused::limits(&graph, &ops));
            Ok(Choice { chain: chain.to_vec(), at, limits, graph, best, peer, most_expensive, ends })
        }
        None => Err(refused::none_legal(&ops, &graph, task, means.budget)),
    }
}

/// Returns true if an operation has an open clause that no rule proposes.
fn unruled(op: OpRef<'_>, rules: &RuleSet) -> bool {
    graph::open_clauses(op).next().is_some() && !rules.covers(op)
}
