//! `canonical`: the shortest text of a mapping, and on request the proof and how it was found.

use super::{Answer, Query, YES, flags, input};
use crate::run::Refusal;
use clap::{Arg, ArgAction};
use serde_json::{Value, json};
use visa_canonical::{CanonicalError, Explanation, Reason, Statistics, canonicalize, explain};
use visa_ir::diag::counted;

/// `--explain` and `--stats`.
pub(super) fn flags() -> Vec<Arg> {
    let flag = |name, help| Arg::new(name).long(name).action(ArgAction::SetTrue).help(help);
    vec![
        flag(flags::EXPLAIN, "Print the proof, a line a step"),
        flag(flags::STATS, "Print the size of the e-graph, the iterations, and why it stopped"),
    ]
}

/// The mapping; below it the proof and the statistics, if asked for.
pub(super) fn answer(query: &Query) -> Result<Answer, Refusal> {
    let (axes, [mapping]) = query.mappings()?;
    let rules = query.rules.clone().unwrap_or_default();
    let canonical = canonicalize(&mapping, &axes, &rules).map_err(refuse)?;
    let mut text = format!("{}\n", canonical.expr);
    let mut json = json!({ "mapping": canonical.expr.to_string() });
    if query.explain {
        let explanation = explain(&mapping, &canonical.expr, &axes, &rules).map_err(refuse)?;
        text.push_str(&format!("proof:\n{}\n", explanation.to_string().trim_end()));
        json["proof"] = proof(&explanation);
    }
    if query.stats {
        let Statistics { e_classes, e_nodes, iterations, stop } = canonical.statistics;
        text.push_str(&format!(
            "statistics: {}, {}, {}, {stop}\n",
            counted(e_nodes, "node"),
            counted(e_classes, "class"),
            counted(iterations, "iteration")
        ));
        let stop = stop.to_string();
        json["statistics"] =
            json!({ "nodes": e_nodes, "classes": e_classes, "iterations": iterations, "stop": stop });
    }
    Ok(Answer { text, json, code: YES })
}

/// The steps, from the mapping as it was written on.
fn proof(explanation: &Explanation) -> Value {
    let step = |mapping: String, by: Value| json!({ "mapping": mapping, "by": by });
    let first = step(explanation.from.to_string(), Value::Null);
    let steps = explanation.steps.iter().map(|found| {
        let by = match &found.reason {
            Reason::Rule { name, backwards, .. } => json!({ "rule": name, "backwards": backwards }),
            Reason::NormalForm => json!("normal form"),
            Reason::Parts => json!("parts"),
        };
        step(found.expr.to_string(), by)
    });
    std::iter::once(first).chain(steps).collect()
}

fn refuse(error: CanonicalError) -> Refusal {
    match error {
        CanonicalError::Map(error) => input::refusal(error.code, None, error.message),
        error @ CanonicalError::Unsound(_) => input::refusal("unsound-rule", None, error.to_string()),
    }
}
