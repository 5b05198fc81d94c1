//! `map`: the content of each position, skewed axes resolved (book 03).

use super::{Answer, Query, YES, cell, flags, input};
use crate::run::Refusal;
use clap::Arg;
use serde_json::Value;
use std::fmt::Write as _;
use std::ops::Range;
use visa_algebra::{Axes, AxisId, Cell, Expr, Index, Map, describe, skewed_names};
use visa_ir::diag::counted;
use visa_ir::span::Source;

/// Most positions that one query prints.
const MAX_POSITIONS: u64 = 1 << 16;

/// `--at`.
pub(super) fn flags() -> Vec<Arg> {
    vec![flags::value("at", "N or N..M", "Only position N, or the positions from N up to, not including, M")]
}

/// A line a position, or an array with a cell a position.
pub(super) fn answer(query: &Query) -> Result<Answer, Refusal> {
    let (axes, [mapping]) = query.mappings()?;
    let map = Map::new(&mapping, &axes).map_err(|error| input::refusal(error.code, None, error.message))?;
    let wanted = wanted(query.at.as_deref(), &mapping, map.size())?;
    let skewed = skewed_names(&mapping, &axes);
    let (mut text, mut cells) = (String::new(), Vec::new());
    for at in wanted {
        let raw = map.cell(at);
        let found = raw.clone().map(|raw| resolved(raw, &skewed, &axes));
        let _ = write!(text, "{at}: {}", describe(found.as_ref(), &axes));
        if let (Some(raw), false) = (raw, skewed.is_empty()) {
            text.push_str(&written(&raw, &skewed, &axes));
        }
        text.push('\n');
        cells.push(cell::json(found.as_ref(), &axes));
    }
    Ok(Answer { text, json: Value::Array(cells), code: YES })
}

/// The positions that are asked for: all, or those of `--at`.
fn wanted(at: Option<&str>, mapping: &Expr, size: u64) -> Result<Range<u64>, Refusal> {
    let refuse = |message: String| {
        input::refusal("query-positions", at.map(|text| Source::new("--at", text)), message)
    };
    let range = at.map_or(Some(0..size), read);
    let range = range.ok_or_else(|| refuse("expected a position N or a range N..M".to_owned()))?;
    if range.is_empty() {
        return Err(refuse(format!("{}..{} holds no position", range.start, range.end)));
    }
    if range.end > size {
        let outside = range.start.max(size);
        let message =
            format!("position {outside} is outside `{mapping}`, which has {}", counted(size, "position"));
        return Err(refuse(message));
    }
    let count = range.end - range.start;
    if count > MAX_POSITIONS {
        let message = format!(
            "{} of `{mapping}`; one query prints at most {MAX_POSITIONS}",
            counted(count, "position")
        );
        let (source, mut findings) = refuse(message);
        let some = format!("ask for some of them: --at {}..{}", range.start, range.start + MAX_POSITIONS);
        findings.iter_mut().for_each(|finding| finding.fix = Some(some.clone()));
        return Err((source, findings));
    }
    Ok(range)
}

/// `N` or `N..M`.
fn read(text: &str) -> Option<Range<u64>> {
    let number = |text: &str| text.trim().parse::<u64>().ok();
    match text.split_once("..") {
        Some((start, end)) => Some(number(start)?..number(end)?),
        None => number(text).and_then(|at| Some(at..at.checked_add(1)?)),
    }
}

/// The cell in plain axes. Indices that then name the same element are one.
fn resolved(cell: Cell, skewed: &[AxisId], axes: &Axes) -> Cell {
    match cell {
        Cell::Pad(kind) => Cell::Pad(kind),
        Cell::Live(index) => Cell::Live(index.resolved(skewed, axes)),
        Cell::Shared(indices) => {
            let mut indices: Vec<_> = indices.iter().map(|index| index.resolved(skewed, axes)).collect();
            indices.sort();
            indices.dedup();
            match <[Index; 1]>::try_from(indices) {
                Ok([index]) => Cell::Live(index),
                Err(indices) => Cell::Shared(indices),
            }
        }
    }
}

/// The coordinates of the skewed axes as the mapping writes them, zeros too: ` (B'=3)`.
fn written(cell: &Cell, skewed: &[AxisId], axes: &Axes) -> String {
    let one = |index: &Index| {
        let terms = skewed.iter().map(|axis| format!("{}={}", axes.name(*axis), index.get(*axis)));
        terms.collect::<Vec<_>>().join(", ")
    };
    match cell {
        Cell::Pad(_) => String::new(),
        Cell::Live(index) => format!(" ({})", one(index)),
        Cell::Shared(indices) => {
            let all: Vec<_> = indices.iter().map(|index| format!("{{{}}}", one(index))).collect();
            format!(" ({})", all.join(" "))
        }
    }
}
