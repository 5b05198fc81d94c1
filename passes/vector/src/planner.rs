//! From one expression to the pipelines that compute it.

use crate::language::{Statistics, saturate};
use crate::rule::{BUILTIN, VectorRule, parse as parse_rules};
use crate::search::Leaves;
use crate::{chain, emit, explain, language, search};
use std::collections::BTreeSet;
use visa_algebra::Axes;
use visa_ir::context::Context;
use visa_ir::diag::Diagnostic;
use visa_ir::module::{Module, OpId};
use visa_ir::open;
use visa_ir::span::Span;
use visa_mapping::expression::{Dag, NodeKind};
use visa_mapping::facts::machine;
use visa_numerics::VectorStage;
use visa_stream::ops::vector_expr;
use visa_stream::ops::vector_expr::VectorExpr;

/// Number of passes of an expression, outside a kernel, for the comparison with brute force.
///
/// `loads` is true if values in memory fit the vector register file. `None` if no plan was found.
///
/// # Errors
/// A rule that does not compile.
pub fn count_passes(
    dag: &Dag,
    rules: &[VectorRule],
    fast: bool,
    loads: bool,
) -> Result<Option<Counted>, String> {
    let rewrites = language::rewrites(rules, fast)?;
    let (equals, statistics) = saturate(dag, &rewrites);
    let leaves = leaves(&equals, loads, loads);
    let plan = search::plan(&equals, &leaves);
    Ok(plan.map(|plan| Counted {
        passes: plan.passes.len(),
        fewest: plan.fewest,
        statistics,
        stages: plan.passes.iter().map(|(_, chain)| stages(chain)).collect(),
    }))
}

/// The result of [`count_passes`].
#[derive(Clone, Debug)]
pub struct Counted {
    /// Passes.
    pub passes: usize,
    /// True if no plan has fewer.
    pub fewest: bool,
    /// The e-graph.
    pub statistics: Statistics,
    /// The stages of each pass's operations, in the order in which they run.
    pub stages: Vec<Vec<VectorStage>>,
}

fn stages(chain: &chain::Chain) -> Vec<VectorStage> {
    let stage = |step: &chain::Step| match step {
        chain::Step::Operate(operation) => Some(operation.row.stage),
        chain::Step::Stash { .. } => None,
    };
    chain.steps.iter().filter_map(stage).collect()
}

/// Operand 0 as the stream, the others in the register file.
fn leaves(equals: &language::Equals, stream_loads: bool, made_loads: bool) -> Leaves {
    let mut leaves = Leaves { stream_loads, made_loads, ..Leaves::default() };
    for (at, class) in equals.classes.iter().enumerate() {
        match class.operand {
            Some(0) => leaves.stream = Some(at),
            Some(_) => {
                leaves.files.insert(at);
            }
            None => {}
        }
    }
    leaves
}

/// Plans the expressions of modules by one set of rules.
pub(crate) struct Planner {
    exact: Vec<Rewrites>,
    fast: Vec<Rewrites>,
}

type Rewrites = egg::Rewrite<language::Node, language::Values>;

/// The result for an expression.
pub(crate) struct Outcome {
    /// Passes, and whether no plan has fewer.
    pub(crate) passes: usize,
    pub(crate) fewest: bool,
    /// Operations of the engine.
    pub(crate) operations: usize,
    pub(crate) statistics: Statistics,
    /// The steps of each pass, a line a step.
    pub(crate) lines: Vec<String>,
}

impl Planner {
    /// With the rules that come with visa.
    pub(crate) fn new() -> Result<Self, Vec<Diagnostic>> {
        let rules = parse_rules(BUILTIN)?;
        let refuse = |why: String| vec![Diagnostic::error("rule", Span::default(), why)];
        let rewrites = |fast| language::rewrites(&rules, fast).map_err(refuse);
        Ok(Self { exact: rewrites(false)?, fast: rewrites(true)? })
    }

    /// Puts pipelines in place of the expression `op`.
    pub(crate) fn plan(
        &self,
        ctx: &Context,
        module: &mut Module,
        axes: &Axes,
        op: OpId,
    ) -> Result<Outcome, Diagnostic> {
        let view = module.op(ctx, op);
        if open::untyped(view) {
            let message =
                "the expression's operands have open clauses, so it is not known what their packets hold";
            let error = Diagnostic::error("open", view.span(), message);
            return Err(
                error.fix(Some("let `--select-configs` choose them before, or write values".to_owned()))
            );
        }
        let view = VectorExpr::of(view)?;
        let (span, dag, fast) = (view.span(), vector_expr::meaning(*view)?, view.fast());
        let names = view.expression()?.names.clone();
        let machine = machine(*view);
        let (stream_loads, made_loads) = emit::loads(ctx, module, op, axes, &machine);
        let (equals, statistics) = saturate(&dag, if fast { &self.fast } else { &self.exact });
        let leaves = leaves(&equals, stream_loads, made_loads);
        let Some(plan) = search::plan(&equals, &leaves) else {
            return Err(unplannable(span, &dag, made_loads));
        };
        let operands = equals.classes.iter().enumerate();
        let operands: Vec<_> = operands.filter_map(|(class, known)| Some((class, known.operand?))).collect();
        let operations = plan.passes.iter().map(|(_, chain)| stages(chain).len()).sum();
        let lines = explain::explain(&plan, &equals, &leaves, &names);
        emit::Emitter::new(ctx, module, axes, &machine, op, &operands).emit(&plan, leaves.stream)?;
        Ok(Outcome { passes: plan.passes.len(), fewest: plan.fewest, operations, statistics, lines })
    }
}

/// The error where no passes compute an expression; `loads` is true if values between passes fit the register file.
fn unplannable(span: Span, dag: &Dag, loads: bool) -> Diagnostic {
    let message = "no passes through the vector engine compute the expression";
    let error = |message: String| Diagnostic::error("plan-vector", span, message);
    if let Some(function) = of_three_values(dag) {
        let why = format!("`{function}` of three different values, and an operation reads two values");
        let fix = format!("write `x * y + z` for `{function}(x, y, z)`, which rounds the product too");
        return error(format!("{message}: it has {why}")).fix(Some(fix));
    }
    if loads {
        return error(message.to_owned());
    }
    let error = error(format!("{message}: two values meet, and none of them fits the vector register file"));
    error.fix(Some("stream fewer elements a slice, so that they fit".to_owned()))
}

/// The name of a function of three different values, none of them a number, in an expression: an operation reads
/// its stream, one operand, and numbers (book 20).
fn of_three_values(dag: &Dag) -> Option<&'static str> {
    dag.nodes.iter().find_map(|node| {
        let NodeKind::Apply(function, arguments) = &node.kind else { return None };
        let is_number = |at: &usize| matches!(dag.nodes[*at].kind, NodeKind::Number(_));
        let values: BTreeSet<usize> = arguments.iter().copied().filter(|at| !is_number(at)).collect();
        (values.len() == 3).then_some(function.name)
    })
}
