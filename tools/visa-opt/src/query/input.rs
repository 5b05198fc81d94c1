//! Axes, aliases and mappings of the command line, with findings that point into its texts.

use crate::run::Refusal;
use std::ops::Range;
use visa_algebra::{Axes, AxisId, Expr, MapError};
use visa_ir::diag::Diagnostic;
use visa_ir::span::{Source, Span};
use visa_mapping::error::mapping_error;
use visa_mapping::tensor::attrs::AxisSizes;

/// A refusal about all of a text, or about the run.
pub(super) fn refusal(code: &str, source: Option<Source>, message: String) -> Refusal {
    let span = source.as_ref().map(|source| Span::new(0..source.text.len())).unwrap_or_default();
    (source, vec![Diagnostic::error(code, span, message)])
}

/// The axes of `--axes A=8,B=512`, brackets around them or not, and the aliases.
pub(super) fn axes(declared: &str, aliases: &[String]) -> Result<Axes, Refusal> {
    let bracketed = declared.trim_start().starts_with('[');
    let (text, added) =
        if bracketed { (declared.to_owned(), 0) } else { (format!("[{}]", declared.trim_end()), 1) };
    let refuse = |finding| (Some(Source::new("--axes", declared)), vec![finding]);
    let whole = Span::new(0..declared.len());
    let sizes = AxisSizes::parse(&text).map_err(|error| {
        let shown = |range: Range<usize>| range.start.saturating_sub(added)..range.end.saturating_sub(added);
        let span = error.range.map_or(whole, |range| whole.part(shown(range)));
        refuse(Diagnostic::error(error.code, span, error.message).fix(error.fix))
    })?;
    let mut axes = Axes::new();
    sizes.declare_in(&mut axes).map_err(|error| refuse(mapping_error(error, whole)))?;
    aliases.iter().try_for_each(|alias| define(alias, &mut axes))?;
    Ok(axes)
}

/// `L=[A / 8]`.
fn define(text: &str, axes: &mut Axes) -> Result<(), Refusal> {
    let source = Source::new("--alias", text);
    let Some((name, body)) = text.split_once('=') else {
        let message = format!("found `{text}`, expected NAME=EXPR, as in L=[A / 8]");
        return Err(refusal("flags", Some(source), message));
    };
    let place = Span::new(name.len() + 1..text.len());
    let order = "an alias may use the aliases before it, not itself";
    let mapping = parsed(&source, place, body)?;
    axes.define(name.trim(), &mapping).map_err(|error| {
        let at = if error.code == "map-undefined-alias" { place } else { Span::new(0..text.len()) };
        (Some(source.clone()), vec![mapping_error(error, at).note(order, None)])
    })?;
    sized(&source, place, body, &mapping, axes)
}

/// The mapping `text`, the operand called `name`, with its sizes checked.
pub(super) fn mapping(name: &str, text: &str, axes: &Axes) -> Result<Expr, Refusal> {
    let source = Source::new(name, text);
    let place = Span::new(0..text.len());
    let mapping = parsed(&source, place, text)?;
    sized(&source, place, text, &mapping, axes)?;
    Ok(mapping)
}

/// Reads `text`, which is at `place` of the source.
fn parsed(source: &Source, place: Span, text: &str) -> Result<Expr, Refusal> {
    Expr::parse(text).map_err(|error| {
        let span = error.range.clone().map_or(place, |range| place.part(range));
        let error = match (&error.fix, bracketed(text)) {
            (None, Some(fix)) if error.code == "map-syntax" => error.with_fix(fix),
            _ => error,
        };
        (Some(source.clone()), vec![mapping_error(error, span)])
    })
}

/// The axes that a mapping names, in order, those of its aliases too.
pub(super) fn named(mapping: &Expr, axes: &Axes) -> Vec<AxisId> {
    mapping.axis_names(axes).iter().filter_map(|name| axes.id(name)).collect()
}

/// The text with the brackets that it lacks, if that is all that it lacks.
fn bracketed(text: &str) -> Option<String> {
    let text = text.trim();
    // `[A]]` has one too many.
    if text.starts_with('[') && text.matches('[').count() < text.matches(']').count() {
        return None;
    }
    let candidates = [format!("[{text}]"), format!("{text}]"), format!("[{text}")];
    candidates.into_iter().find(|candidate| Expr::parse(candidate).is_ok())
}

/// Checks the size rules, and points at the part that breaks one.
fn sized(source: &Source, place: Span, text: &str, mapping: &Expr, axes: &Axes) -> Result<(), Refusal> {
    let refuse = |error: MapError| {
        let part = find(text, culprit(mapping, axes));
        let span = part.map_or(place, |range| place.part(range));
        (Some(source.clone()), vec![mapping_error(error, span)])
    };
    mapping.size(axes).map(drop).map_err(refuse)
}

/// The innermost, first part that breaks a size rule.
fn culprit<'e>(mapping: &'e Expr, axes: &Axes) -> &'e Expr {
    let broken = mapping.children().into_iter().find(|child| child.size(axes).is_err());
    broken.map_or(mapping, |child| culprit(child, axes))
}

/// Where `text`, blanks aside, first has the expression: not inside a longer name or number.
fn find(text: &str, part: &Expr) -> Option<Range<usize>> {
    let written = part.to_string();
    // The text of a mapping has brackets, that of a term only where it is a group.
    let wanted = if matches!(part, Expr::Pair(_)) {
        &written
    } else {
        written.strip_prefix('[')?.strip_suffix(']')?
    };
    let inside = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_' || c == '\'');
    let starts = |from: usize| {
        let end = from + matched(&text[from..], wanted)?;
        let cut = inside(text[..from].chars().next_back()) || inside(text[end..].chars().next());
        (!cut).then_some(from..end)
    };
    text.char_indices().find_map(|(at, _)| starts(at))
}

/// The length of the start of `text` that is `wanted`, blanks aside.
fn matched(text: &str, wanted: &str) -> Option<usize> {
    let mut wanted = wanted.chars().filter(|c| !c.is_whitespace()).peekable();
    for (at, found) in text.char_indices() {
        if wanted.peek().is_none() {
            return Some(at);
        }
        if found.is_whitespace() && at > 0 {
            continue;
        }
        if wanted.next() != Some(found) {
            return None;
        }
    }
    wanted.peek().is_none().then_some(text.len())
}
