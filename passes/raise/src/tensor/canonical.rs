//! The canonical form of a function: the smallest that the rules find.

use crate::tensor::choose::Choice;
use crate::tensor::explain::{Step, steps_to_choice};
use crate::tensor::facts::{Facts, Graph};
use crate::tensor::read::read;
use crate::tensor::ruleset::RuleSet;
use crate::tensor::term::Term;
use crate::tensor::write::write;
use egg::{Id, Runner, SimpleScheduler, StopReason};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use visa_ir::build::NewOp;
use visa_ir::context::{Context, TypeId};
use visa_ir::diag::Diagnostic;
use visa_ir::module::Module;
use visa_ir::verify::Analysis as _;
use visa_mapping::facts::DeclaredAxes;
use visa_mapping::ops::func::{ALIAS, AXES, signature};
use visa_mapping::raise::function::Raised;

/// Most rounds of rewriting.
pub const MAX_ITERATIONS: usize = 12;

/// Most nodes of an e-graph; checked after each round.
pub const MAX_E_NODES: usize = 10_000;

/// Most operations of a function that is rewritten. A longer one is kept.
pub const MAX_OPERATIONS: usize = 1_000;

/// Never reached: results must not depend on the clock.
const NO_TIME_LIMIT: Duration = Duration::from_secs(24 * 60 * 60);

/// Size of an e-graph, and the reason for the end of rewriting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Statistics {
    /// Classes of equal terms.
    pub e_classes: usize,
    /// Terms.
    pub e_nodes: usize,
    /// Rounds of rewriting.
    pub iterations: usize,
    /// True if no rule had a further equality; otherwise a bound was reached.
    pub saturated: bool,
}

/// A canonical function.
pub struct Canonical {
    /// The function.
    pub function: Raised,
    /// Size of the e-graph; `None` if the function is too long, and was kept.
    pub statistics: Option<Statistics>,
    /// The steps of the proof that it is equal, if they were asked for.
    pub steps: Vec<Step>,
}

/// The canonical form of a function, with the proof if `explain` is true.
///
/// # Errors
/// A function that is not at the tensor level, or a rule that merges values of different types.
pub fn canonical(
    ctx: &Context,
    raised: Raised,
    rules: &RuleSet,
    explain: bool,
) -> Result<Canonical, Diagnostic> {
    if raised.module.walk_all().len() > MAX_OPERATIONS {
        return Ok(Canonical { function: raised, statistics: None, steps: Vec::new() });
    }
    let axes = Arc::new(DeclaredAxes::build(ctx, &raised.module).0);
    let mut graph = Graph::new(Facts::new(ctx, axes));
    if explain {
        graph = graph.with_explanations_enabled();
    }
    let results = read(&mut graph, &raised.module, raised.func)?;
    let (mut graph, statistics) = saturate(graph, rules)?;
    let choice = Choice::new(&graph);
    let function = written(&graph, &choice, (&results, &HashMap::new()), &raised)?;
    let mut steps = Vec::new();
    for result in results.into_iter().filter(|_| explain) {
        steps.extend(steps_to_choice(&mut graph, &choice, result));
    }
    // Results may share values, and so steps.
    let mut known = HashSet::new();
    steps.retain(|step| known.insert(step.to_string()));
    Ok(Canonical { function, statistics: Some(statistics), steps })
}

/// The smallest function of these classes; some have names.
///
/// # Errors
/// An operation that cannot be built.
pub(crate) fn written(
    graph: &Graph<'_>,
    choice: &Choice,
    (results, names): (&[Id], &HashMap<Id, Rc<str>>),
    raised: &Raised,
) -> Result<Raised, Diagnostic> {
    let ctx = graph.analysis.ctx;
    let func = raised.module.op(ctx, raised.func);
    let mut module = Module::default();
    let top = module.body();
    for &id in raised.module.ops(raised.module.body()) {
        let op = raised.module.op(ctx, id);
        if op.is(&AXES) || op.is(&ALIAS) {
            module.append(top, NewOp::copied(op).spec());
        }
    }
    let new = module.append(top, NewOp::copied(func).spec());
    let body = module.add_region(new);
    let (arguments, values) = signature(func);
    for &argument in arguments {
        let name = raised.module.value_name(argument).cloned();
        module.add_arg(body, raised.module.ty(argument), name, raised.module.value_span(argument));
    }
    let types: Vec<TypeId> = values.iter().map(|&value| raised.module.ty(value)).collect();
    write(graph, choice, (results, names), &types, (&mut module, new))?;
    Ok(Raised { module, func: new })
}

/// Applies the rules until nothing changes or a bound is reached.
///
/// # Errors
/// A rule that merges values of different types.
pub(crate) fn saturate<'a>(graph: Graph<'a>, rules: &RuleSet) -> Result<(Graph<'a>, Statistics), Diagnostic> {
    let facts = Facts::new(graph.analysis.ctx, Arc::clone(&graph.analysis.axes));
    let runner = Runner::<Term, Facts<'a>, ()>::new(facts)
        .with_egraph(graph)
        .with_iter_limit(MAX_ITERATIONS)
        .with_node_limit(MAX_E_NODES)
        .with_time_limit(NO_TIME_LIMIT)
        .with_scheduler(SimpleScheduler)
        .run(&rules.rewrites()?);
    if let Some(conflict) = &runner.egraph.analysis.conflict {
        let message = format!("a rule is not sound: {conflict}");
        return Err(Diagnostic::error("rule-unsound", visa_ir::span::Span::default(), message));
    }
    let statistics = Statistics {
        e_classes: runner.egraph.number_of_classes(),
        e_nodes: runner.egraph.total_size(),
        iterations: runner.iterations.len(),
        saturated: matches!(runner.stop_reason, Some(StopReason::Saturated)),
    };
    Ok((runner.egraph, statistics))
}
