//! Chooses what is left open of pipelines.

use crate::select::graph::open_clauses;
use crate::select::rules::RULES;
use crate::select::{Choice, chain, choose, report};
use crate::{Level, OptionDecl, OptionKind, Pass, PassCx};
use visa_ir::diag::{Diagnostic, Severity};
use visa_ir::infer::infer_all;
use visa_ir::module::OpId;
use visa_ir::open::Opening;

/// The pass.
pub static PASS: Pass = Pass {
    name: "select-configs",
    summary: "chooses open clauses of pipelines: the cheapest legal configuration",
    doc: "A clause that is `auto` gets the value that makes its pipeline take the fewest cycles; of equally fast ones the one whose engines \
          are busy for the fewest cycles together, then the shortest text. An e-graph a pipeline holds every configuration that the rules \
          reach (`src/select/rules`): a class is a stream or a tensor, its nodes are the ways to make it. A rule only proposes; verifiers and \
          lowering refuse what the machine cannot do, and the cost function of `visa-run --report` prices the rest, engine by engine. \
          Extraction is exact: cycles are those of the busiest engine and the latencies, so a class keeps the Pareto front of its ways. \
          Pipelines are chosen in program order; what is written stays as it is.",
    options: &[OptionDecl {
        name: "explain",
        kind: OptionKind::Bool,
        default: "false",
        doc: "report each choice, engine by engine, and egg's proof that it makes the tensor that the worst configuration makes",
    }],
    takes: Level::Tensor,
    gives: Level::Tensor,
    open: true,
    closes: Some(Opening::Configuration),
    statistics: &[
        ("pipelines", "pipelines with open clauses"),
        ("e-classes", "streams and tensors that some configuration makes"),
        ("e-nodes", "ways to make them"),
        ("iterations", "rounds of growth: operations reached"),
        ("saturated", "pipelines for which the rules had nothing more to say"),
        ("node-limit", "pipelines whose e-graph reached its bound"),
        ("refused", "candidates that broke a limit"),
        ("cycles-worst", "cycles of the slowest legal configuration of each pipeline, together"),
        ("cycles-best", "cycles of the chosen ones"),
    ],
    run,
};

/// What a pipeline ends in.
const ENDS: [&str; 6] = [
    "stream.commit",
    "stream.commit_view",
    "stream.commit_packed",
    "stream.to_trf",
    "stream.to_vrf",
    "stream.vector_log",
];

fn run(cx: &mut PassCx<'_>) -> Result<(), Vec<Diagnostic>> {
    for id in cx.module.walk_all() {
        if !ends_pipeline(cx, id) {
            continue;
        }
        let chain = chain(cx.module.op(cx.ctx, id));
        if chain.iter().all(|&id| open_clauses(cx.module.op(cx.ctx, id)).next().is_none()) {
            continue;
        }
        let mut choice = choose(cx.ctx, cx.module, &chain, RULES).map_err(|refused| vec![refused])?;
        count(cx, &choice);
        if cx.options.bool("explain") {
            explain(cx, &mut choice);
        }
        apply(cx, &choice)?;
    }
    Ok(())
}

/// Whether a pipeline ends in the operation: it takes a stream and gives none.
fn ends_pipeline(cx: &PassCx<'_>, id: OpId) -> bool {
    let op = cx.module.op(cx.ctx, id);
    ENDS.contains(&op.name())
}

fn apply(cx: &mut PassCx<'_>, choice: &Choice) -> Result<(), Vec<Diagnostic>> {
    for step in choice.best.steps(&choice.graph) {
        for &(name, value) in step.clauses.iter() {
            cx.module.set_clause(choice.chain[step.stage], name, value);
        }
    }
    infer_all(cx.ctx, cx.module).map_err(|refused| vec![refused])
}

fn count(cx: &mut PassCx<'_>, choice: &Choice) {
    let graph = &choice.graph;
    let fronts = crate::select::extract::fronts(graph);
    let worst = graph.ends(choice.chain.len()).flat_map(|class| fronts[class].iter().map(|way| way.time.cycles())).max();
    cx.count("pipelines", 1);
    cx.count("e-classes", graph.egraph.number_of_classes() as u64);
    cx.count("e-nodes", graph.egraph.total_size() as u64);
    cx.count("iterations", graph.rounds as u64);
    cx.count(if graph.full { "node-limit" } else { "saturated" }, 1);
    cx.count("refused", graph.refusals.values().map(|refused| refused.count).sum());
    cx.count("cycles-worst", worst.unwrap_or(0));
    cx.count("cycles-best", choice.best.time.cycles());
}

fn explain(cx: &mut PassCx<'_>, choice: &mut Choice) {
    let span = cx.module.op(cx.ctx, choice.chain[0]).span();
    let mut text = format!("chosen for this pipeline:\n{}", report::explained(choice));
    if let Some(proof) = report::proof(choice) {
        text.push_str(&format!("\nthe same tensor as the slowest:\n  {proof}"));
    }
    cx.report(Diagnostic { severity: Severity::Remark, ..Diagnostic::error("select-configs", span, text) });
}
