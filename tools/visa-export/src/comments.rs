//! Comments of the text: the lines before an operation, and those at the beginning of the file.

use visa_ir::span::{Source, Span};

/// The comment lines directly above the line of a span, without their `//`.
pub(crate) fn above(source: &Source, span: Span) -> Vec<String> {
    let line = source.line(span.range().start);
    let before = (1..line).rev().filter_map(|line| source.text.get(source.line_range(line)?));
    let mut found: Vec<String> = before.map_while(comment).collect();
    found.reverse();
    found
}

/// The comment lines at the beginning of the file.
pub(crate) fn head(source: &Source) -> Vec<String> {
    source.text.lines().map_while(comment).collect()
}

/// The text of a line that is a comment alone.
fn comment(line: &str) -> Option<String> {
    let text = line.trim().strip_prefix("//")?;
    Some(text.strip_prefix(' ').unwrap_or(text).trim_end().to_owned())
}
