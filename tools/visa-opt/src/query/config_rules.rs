//! `config-rules`: the rules by which `select-configs` chooses.

use super::{Answer, Query, YES};
use crate::run::Refusal;
use serde_json::{Value, json};
use std::fmt::Write as _;
use visa_select::rules::ruleset::RuleSet;

/// A line a rule: the operation whose clauses it proposes, its name, its equation.
pub(super) fn answer(_: &Query) -> Result<Answer, Refusal> {
    let rules = RuleSet::default();
    let mut rules = rules.rust().to_vec();
    rules.sort_by_key(|rule| rule.op.name);
    let width = |text: fn(&&'static visa_select::rules::rule::Rule) -> &'static str| {
        rules.iter().map(|rule| text(rule).len()).max().unwrap_or_default()
    };
    let (op, name) = (width(|rule| rule.op.name), width(|rule| rule.name));
    let (mut text, mut rows) = (String::new(), Vec::new());
    for rule in &rules {
        let _ = writeln!(text, "{:<op$}  {:<name$}  {}", rule.op.name, rule.name, rule.equation);
        rows.push(json!({ "operation": rule.op.name, "name": rule.name, "equation": rule.equation }));
    }
    Ok(Answer { text, json: Value::Array(rows), code: YES })
}
