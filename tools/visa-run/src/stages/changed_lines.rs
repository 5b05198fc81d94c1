//! Changed lines: the operations of two versions of a kernel that differ, by the author's line.

use crate::stages::versions::LineOf;
use std::collections::BTreeMap;
use visa_ir::context::Context;
use visa_ir::diag::counted;
use visa_ir::module::Module;
use visa_ir::print::{Form, print_op};

/// Most lines that are listed.
const MOST_LINES: usize = 12;

/// A note for each line whose operations have other clauses, in the order of the first version.
pub(crate) fn changed_lines(ctx: &Context, versions: [&Module; 2], line: LineOf<'_>) -> Vec<String> {
    let [before, after] = versions.map(|module| operations(ctx, module, line));
    let later: BTreeMap<&str, &Vec<String>> =
        after.iter().map(|(line, texts)| (line.as_str(), texts)).collect();
    let none = Vec::new();
    let mut notes: Vec<String> = Vec::new();
    for (line, old) in &before {
        let new = later.get(line.as_str()).copied().unwrap_or(&none);
        if old != new {
            notes.push(format!("line {line}: `{}` becomes `{}`", old.join("; "), new.join("; ")));
        }
    }
    let others = notes.len().saturating_sub(MOST_LINES);
    notes.truncate(MOST_LINES);
    if others > 0 {
        notes.push(format!("and {} more", counted(others as u64, "line")));
    }
    notes
}

/// The operations of each line without their operands and results, in program order.
fn operations(ctx: &Context, module: &Module, line: LineOf<'_>) -> Vec<(String, Vec<String>)> {
    let mut lines: Vec<(String, Vec<String>)> = Vec::new();
    for id in module.walk_all() {
        let op = module.op(ctx, id);
        let Some(place) = line(op.span()).filter(|_| op.regions().is_empty()) else { continue };
        let text = clauses(&print_op(ctx, module, id, Form::Pretty));
        match lines.iter_mut().find(|(own, _)| *own == place) {
            Some((_, texts)) => texts.push(text),
            None => lines.push((place, vec![text])),
        }
    }
    lines
}

/// The text of an operation without its values.
fn clauses(text: &str) -> String {
    let is_value = |word: &str| word.len() > 1 && word.starts_with('%');
    let written =
        text.split_once(" = ").map_or(text, |(names, rest)| if is_value(names.trim()) { rest } else { text });
    let words = written.split_whitespace().filter(|word| !is_value(word));
    words.collect::<Vec<_>>().join(" ")
}
