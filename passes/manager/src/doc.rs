//! The passes' page of the reference, written from the declarations.

use crate::pass::Pass;
use std::fmt::Write as _;

/// The page, in Markdown.
#[must_use]
pub fn passes_page(passes: &[&Pass]) -> String {
    let mut out = String::from("# Passes\n");
    for pass in passes {
        let _ = writeln!(out, "\n## `{}`\n\n{}\n", pass.name, pass.summary);
        let _ = writeln!(out, "Takes {} level, gives {} level.{}", pass.takes, pass.gives, openness(pass));
        if !pass.doc.trim().is_empty() {
            let _ = writeln!(out, "\n{}", pass.doc.trim());
        }
        if !pass.options.is_empty() {
            out.push_str("\n| option | value | default | meaning |\n|---|---|---|---|\n");
        }
        for option in pass.options.iter() {
            let kind = option.kind.describe();
            let _ = writeln!(out, "| `{}` | {kind} | `{}` | {} |", option.name, option.default, option.doc);
        }
        if !pass.statistics.is_empty() {
            out.push_str("\n| statistic | meaning |\n|---|---|\n");
        }
        for (name, meaning) in pass.statistics {
            let _ = writeln!(out, "| `{name}` | {meaning} |");
        }
    }
    out
}

/// The use of open clauses by a pass, as a sentence.
fn openness(pass: &Pass) -> String {
    match (pass.closes, pass.open) {
        (Some(opening), _) => format!(" Closes open {opening}."),
        (None, true) => " Takes open clauses.".to_owned(),
        (None, false) => String::new(),
    }
}
