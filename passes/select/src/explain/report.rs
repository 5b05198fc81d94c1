//! The reasons of a choice: its steps, and the rules that prove them.

use crate::config::choice::Choice;
use crate::config::extract;
use crate::config::graph::Graph;
use crate::explain::refused;
use crate::layout::sharing::Shared;
use egg::{RecExpr, SymbolLang};
use std::fmt::Write as _;
use visa_ir::diag::counted;

/// The choice as text: each operation with its rule and the cycles of its engine.
pub(crate) fn explained(choice: &Choice) -> String {
    let mut text = String::new();
    let steps = choice.best.steps(&choice.graph);
    let width = steps.iter().map(|step| step.head.as_str().chars().count()).max().unwrap_or(0);
    for step in &steps {
        let rule = step.rule.map_or_else(|| "written".to_owned(), |rule| format!("by {rule}"));
        let _ = writeln!(text, "{:width$}  {:>6} cycles  {rule}", step.head.as_str(), step.time.busiest);
    }
    if !choice.graph.refusals.is_empty() {
        let _ = writeln!(text, "refused: {}", refused::refused(&choice.graph));
    }
    let time = choice.best.time;
    let _ = write!(
        text,
        "{}: {} of the busiest engine, {} until the pipeline has filled; extracted as a tree",
        counted(time.cycles(), "cycle"),
        time.busiest,
        time.latency
    );
    text
}

/// The choice of layouts that pipelines share, as text.
pub(crate) fn shared(shared: &Shared) -> String {
    let Shared { pipelines, layouts, ways, cycles, bounded, at: _, taken: _ } = shared;
    let limit = if *bounded { "; there were more layouts than are tried" } else { "" };
    format!(
        "{pipelines} pipelines share tensors: extracted together, by variable elimination, from {ways} ways over \
         {layouts} layouts; {} one after the other{limit}",
        counted(*cycles, "cycle")
    )
}

/// egg's proof that the most expensive way on the front of this tensor and the best one make the same tensor, in our
/// syntax.
pub(crate) fn proof(choice: &mut Choice) -> Option<String> {
    let start = choice.peer.clone();
    proof_from(choice, &start)
}

/// egg's proof that the configuration `start` and the best one make the same tensor, in our syntax; `None` if the
/// e-graph does not have them in one class.
pub(crate) fn proof_from(choice: &mut Choice, start: &extract::Way) -> Option<String> {
    let (first, last) = (start.path.last()?.0, choice.best.path.last()?.0);
    let id = |class: usize| choice.graph.egraph.find(choice.graph.classes[class].id);
    if id(first) != id(last) {
        return None;
    }
    let term = |graph: &Graph, way: &extract::Way| {
        let mut term: RecExpr<SymbolLang> = RecExpr::default();
        let mut last = None;
        for step in way.steps(graph) {
            last = Some(term.add(SymbolLang { op: step.head, children: last.into_iter().collect() }));
        }
        term
    };
    let (from, to) = (term(&choice.graph, start), term(&choice.graph, &choice.best));
    let mut explanation = choice.graph.egraph.explain_equivalence(&from, &to);
    let lines = explanation.make_flat_explanation().iter().map(|term| {
        let rule =
            term.forward_rule.or(term.backward_rule).map_or(String::new(), |rule| format!("  by {rule}"));
        format!("{}{rule}", flat(&term.get_recexpr()))
    });
    Some(lines.collect::<Vec<_>>().join("\n= "))
}

/// A term as its operations, first to last.
fn flat(term: &RecExpr<SymbolLang>) -> String {
    term.as_ref().iter().map(|node| node.op.as_str()).collect::<Vec<_>>().join(" > ")
}
