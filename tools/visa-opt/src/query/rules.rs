//! `rules`, and the file of `--mapping-rules`.

use super::{Answer, Query, YES};
use crate::io::Io;
use crate::load::read_rules;
use crate::run::Refusal;
use serde_json::{Value, json};
use std::fmt::Write as _;
use visa_canonical::RuleSet;

/// The built-in rules and those of a file, which are checked.
pub(crate) fn load(io: &mut Io, file: &str) -> Result<RuleSet, Refusal> {
    let source = read_rules(io, file).map_err(|(source, finding)| (Some(source), vec![finding]))?;
    RuleSet::with_user_rules(&source.text).map_err(|findings| (Some(source), findings))
}

/// A line a rule: its name, the instances that its check enumerates, its equation.
pub(super) fn answer(query: &Query) -> Result<Answer, Refusal> {
    let rules = query.rules.clone().unwrap_or_default();
    // Rules of a file were checked when it was read: a rule that fails now is built in, and not about a text of the
    // user's.
    let reports = rules.report().map_err(|findings| (None, findings))?;
    let width = rules.rules().iter().map(|rule| rule.name.len()).max().unwrap_or_default();
    let (mut text, mut rows) = (String::new(), Vec::new());
    for (rule, report) in rules.rules().iter().zip(&reports) {
        let _ = writeln!(text, "{:<width$}  {:>8}  {}", rule.name, report.instances, rule.text);
        rows.push(json!({
            "name": rule.name,
            "equation": rule.text,
            "about": rule.doc,
            "instances": report.instances,
            "positions": report.compared,
        }));
    }
    Ok(Answer { text, json: Value::Array(rows), code: YES })
}
