//! Locations of MLIR as places in the input.

use crate::mlir::printed;
use melior::ir::Location;
use std::collections::HashMap;
use visa_ir::span::{Source, Span};

/// The input, as errors refer to it.
pub(crate) struct Origin<'s> {
    source: &'s Source,
    /// The first byte of each line.
    lines: Vec<usize>,
    /// Names of operations before they became `linalg.generic`, by line and column.
    pub(crate) named: HashMap<(usize, usize), String>,
}

impl<'s> Origin<'s> {
    pub(crate) fn new(source: &'s Source) -> Self {
        let breaks = source.text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        let lines = std::iter::once(0).chain(breaks).collect();
        Self { source, lines, named: HashMap::new() }
    }

    /// The span of a location, and its text if that is not in the input.
    pub(crate) fn place(&self, location: Location<'_>) -> (Span, Option<String>) {
        match self.span(location) {
            Some(span) if !self.source.text.is_empty() => (span, None),
            span => (span.unwrap_or_default(), Some(printed(&location))),
        }
    }

    /// The span of a location in the input; `None` if the location names another file.
    pub(crate) fn span(&self, location: Location<'_>) -> Option<Span> {
        let (line, column) = position(location)?;
        self.span_at(line, column)
    }

    /// The span of the word at a line and a column, both from 1.
    pub(crate) fn span_at(&self, line: usize, column: usize) -> Option<Span> {
        let first = *self.lines.get(line.checked_sub(1)?)?;
        let last = self.lines.get(line).copied().unwrap_or(self.source.text.len());
        let start = (first + column.saturating_sub(1)).min(last);
        let rest = self.source.text.get(start..last)?;
        let in_word = |c: char| c.is_ascii_alphanumeric() || "._$".contains(c);
        let length = rest.find(|c: char| !in_word(c)).unwrap_or(rest.trim_end().len());
        Some(Span::new(start..start + length.max(1).min(rest.len())))
    }
}

/// The line and column of a location in the input.
pub(crate) fn position(mut location: Location<'_>) -> Option<(usize, usize)> {
    loop {
        if location.is_file_line_col_range() {
            let file = location.file_line_col_range_filename();
            let line = location.file_line_col_range_start_line();
            let is_input = line > 0 && file.as_string_ref().as_str().is_ok_and(|file| file == "-");
            return is_input.then(|| (line, location.file_line_col_range_start_column()));
        }
        if location.is_name() {
            location = location.name_child_location();
        } else if location.is_call_site() {
            location = location.call_site_callee();
        } else if location.is_fused() && location.fused_num_locations() > 0 {
            location = location.fused_location(0);
        } else {
            return None;
        }
    }
}
