//! Matches the checks of a program in the input, in LLVM's order.

use std::ops::Range;

use crate::directive::Kind;
use crate::fuzzy;
use crate::options::Options;
use crate::pattern::{Pattern, Search};
use crate::program::{PatternId, Program};
use crate::report::{Report, Severity};
use crate::source::{Diagnostic, Sources, TextPosition};

/// A comparison in progress. Errors of type [`Diagnostic`] end it: a bound of this crate was reached.
pub(crate) struct Matcher<'a, 's> {
    options: &'a Options,
    input: &'a [u8],
    program: &'a mut Program,
    report: &'a mut Report<'s>,
}

impl<'a, 's> Matcher<'a, 's> {
    pub(crate) fn new(
        options: &'a Options,
        sources: &'a Sources<'s>,
        program: &'a mut Program,
        report: &'a mut Report<'s>,
    ) -> Self {
        Self { options, input: sources.input.bytes, program, report }
    }

    /// True if all checks match. A `-LABEL` divides the input: after an error, matching continues behind the next one.
    pub(crate) fn run(mut self) -> Result<bool, Diagnostic> {
        let count = self.program.checks.len();
        let is_label = |program: &Program, index: usize| {
            program.patterns[program.checks[index].pattern].directive.kind == Kind::Label
        };
        let (mut next, mut from, mut matches) = (0, 0, true);
        while next < count {
            let label = (next..count).find(|index| is_label(self.program, *index));
            let mut region = from..self.input.len();
            if let Some(label) = label {
                let Some(found) = self.check(label, region.clone(), true)? else { return Ok(false) };
                region.end = found.end;
                from = found.end;
            }
            if next > 0 && self.options.enable_var_scope {
                self.program.variables.clear_local();
            }
            let end = label.map_or(count, |label| label + 1);
            for index in next..end {
                match self.check(index, region.clone(), false)? {
                    Some(found) => region.start = found.end,
                    None => {
                        matches = false;
                        break;
                    }
                }
            }
            next = end;
        }
        Ok(matches)
    }

    fn pattern(&self, id: PatternId) -> &Pattern {
        &self.program.patterns[id]
    }

    fn search(&mut self, id: PatternId, region: &Range<usize>) -> Result<Search, Diagnostic> {
        let Program { patterns, variables, .. } = &mut *self.program;
        patterns[id].search(&self.input[region.clone()], region.start, variables)
    }

    /// Matches a check in `region`; returns its match. Only the pattern itself is looked for if `only_label` is set.
    fn check(
        &mut self,
        index: usize,
        region: Range<usize>,
        only_label: bool,
    ) -> Result<Option<Range<usize>>, Diagnostic> {
        let id = self.program.checks[index].pattern;
        let mut nots = Vec::new();
        let mut start = region.start;
        if !only_label {
            match self.before(index, &region, &mut nots)? {
                Some(end) => start = end,
                None => return Ok(None),
            }
        }
        let mut first = None;
        let mut end = start;
        for number in 1..=self.pattern(id).directive.count {
            let Some(found) = self.expect(id, &(end..region.end), number)? else { return Ok(None) };
            first.get_or_insert(found.start);
            end = found.end;
        }
        let first = first.unwrap_or(start);
        let skipped = start..first;
        let holds = only_label || (self.is_on_its_line(id, &skipped) && self.absent(&nots, &skipped)?);
        Ok(holds.then_some(first..end))
    }

    /// Finds an expected pattern in `region`, and reports if it is not there.
    fn expect(
        &mut self,
        id: PatternId,
        region: &Range<usize>,
        number: u32,
    ) -> Result<Option<Range<usize>>, Diagnostic> {
        match self.search(id, region)? {
            Search::DirectiveLine { at, length } => {
                let start = region.start + at;
                let found = start..start + length;
                self.remark_match(id, &found);
                Ok(Some(found))
            }
            Search::NotFound => {
                let pattern = self.pattern(id);
                let (name, place) = (pattern.name(), pattern.place);
                let count = pattern.directive.count;
                let which = if count > 1 { format!(" ({number} out of {count})") } else { String::new() };
                let message = format!("{name}: expected string not found in input{which}");
                self.report.message(Severity::Error, Some(place), &message);
                self.note_input(region.start, "scanning from here");
                self.explain(id, region);
                Ok(None)
            }
            Search::Invalid(errors) => {
                errors.iter().for_each(|error| self.report.diagnostic(error));
                self.note_input(region.start, "scanning from here");
                self.explain(id, region);
                Ok(None)
            }
        }
    }

    fn note_input(&mut self, offset: usize, message: &str) {
        self.report.message(Severity::Note, Some(TextPosition::input(offset)), message);
    }

    /// Reports the values in a pattern, and the part of the input that was probably meant.
    fn explain(&mut self, id: PatternId, region: &Range<usize>) {
        self.note_values(id, region.start);
        let meant = fuzzy::closest(self.pattern(id).example(), &self.input[region.clone()]);
        if let Some(offset) = meant {
            self.note_input(region.start + offset, "possible intended match here");
        }
    }

    fn note_values(&mut self, id: PatternId, offset: usize) {
        let values = self.pattern(id).substitution_values(&self.program.variables);
        for (name, value) in values {
            self.note_input(offset, &format!("with \"{name}\" equal to \"{value}\""));
        }
    }

    /// Reports a match where `-v` asks for it.
    fn remark_match(&mut self, id: PatternId, found: &Range<usize>) {
        let pattern = self.pattern(id);
        let needed = if pattern.directive.kind == Kind::End { 2 } else { 1 };
        if self.options.verbosity >= needed {
            let message = format!("{}: expected string found in input", pattern.name());
            let place = pattern.place;
            self.report.message(Severity::Remark, Some(place), &message);
            self.note_input(found.start, "found here");
        }
    }

    /// True if a `-NEXT`, `-SAME` or `-EMPTY` match is on the line where it has to be, `skipped` after the one before
    /// it.
    fn is_on_its_line(&mut self, id: PatternId, skipped: &Range<usize>) -> bool {
        let newlines = newlines(&self.input[skipped.clone()]);
        let fault = match (self.pattern(id).directive.kind, newlines.count) {
            (Kind::Next | Kind::Empty, 0) => "is on the same line as previous match",
            (Kind::Next | Kind::Empty, 2..) => "is not on the line after the previous match",
            (Kind::Same, 1..) => "is not on the same line as the previous match",
            (Kind::Next | Kind::Empty, 1) | (Kind::Same, 0) => return true,
            (Kind::Plain | Kind::Not | Kind::Dag | Kind::Label | Kind::End, _) => return true,
        };
        let pattern = self.pattern(id);
        let message = format!("{}: {fault}", pattern.name());
        let place = pattern.place;
        self.report.message(Severity::Error, Some(place), &message);
        self.note_input(skipped.end, "'next' match was here");
        self.note_input(skipped.start, "previous match ended here");
        if newlines.count > 1 {
            let line = skipped.start + newlines.first_end;
            self.note_input(line, "non-matching line after previous match is here");
        }
        false
    }

    /// True if none of the patterns is in `region`; reports those that are.
    fn absent(&mut self, nots: &[PatternId], region: &Range<usize>) -> Result<bool, Diagnostic> {
        let mut absent = true;
        for id in nots.iter().copied() {
            match self.search(id, region)? {
                Search::DirectiveLine { at, .. } => {
                    let pattern = self.pattern(id);
                    let message = format!("{}: excluded string found in input", pattern.name());
                    let place = pattern.place;
                    self.report.message(Severity::Error, Some(place), &message);
                    self.note_input(region.start + at, "found here");
                    self.note_values(id, region.start + at);
                    absent = false;
                }
                Search::NotFound if self.options.verbosity >= 2 => {
                    let pattern = self.pattern(id);
                    let message = format!("{}: excluded string not found in input", pattern.name());
                    let place = pattern.place;
                    self.report.message(Severity::Remark, Some(place), &message);
                    self.note_input(region.start, "scanning from here");
                }
                Search::NotFound => {}
                Search::Invalid(errors) => {
                    errors.iter().for_each(|error| self.report.diagnostic(error));
                    absent = false;
                }
            }
        }
        Ok(absent)
    }

    /// Matches the `-DAG` directives before a check and the `-NOT` directives between them. Returns where the check
    /// itself may begin; `nots` are those that must be absent up to there.
    fn before(
        &mut self,
        index: usize,
        region: &Range<usize>,
        nots: &mut Vec<PatternId>,
    ) -> Result<Option<usize>, Diagnostic> {
        let before = self.program.checks[index].before.clone();
        let mut start = region.start;
        let mut group = Vec::new();
        for (number, id) in before.iter().copied().enumerate() {
            if self.pattern(id).directive.kind == Kind::Not {
                nots.push(id);
                continue;
            }
            if !self.insert_dag(id, start..region.end, &mut group)? {
                return Ok(None);
            }
            let next = before.get(number + 1);
            let ends_group = next.is_none_or(|next| self.pattern(*next).directive.kind == Kind::Not);
            if let (true, Some(first), Some(last)) = (ends_group, group.first(), group.last()) {
                let (skipped, end) = (start..first.start, last.end);
                if !self.absent(nots, &skipped)? {
                    return Ok(None);
                }
                nots.clear();
                start = end;
                group.clear();
            }
        }
        Ok(Some(start))
    }

    /// Adds the match of a `-DAG` directive to those of its group, in order; it does not overlap another one.
    fn insert_dag(
        &mut self,
        id: PatternId,
        region: Range<usize>,
        group: &mut Vec<Range<usize>>,
    ) -> Result<bool, Diagnostic> {
        let mut from = region.start;
        let mut earlier = 0;
        loop {
            let Some(found) = self.expect(id, &(from..region.end), 1)? else { return Ok(false) };
            if self.options.allow_deprecated_dag_overlap {
                let all = group.first().cloned().unwrap_or(found.clone());
                group.clear();
                group.push(all.start.min(found.start)..all.end.max(found.end));
                return Ok(true);
            }
            while group.get(earlier).is_some_and(|other| found.start >= other.end) {
                earlier += 1;
            }
            match group.get(earlier).cloned() {
                Some(other) if other.start < found.end => {
                    if self.options.verbosity >= 2 {
                        self.note_input(other.start, "match discarded, overlaps earlier DAG match here");
                    }
                    from = other.end;
                    earlier += 1;
                }
                Some(_) | None => {
                    group.insert(earlier, found);
                    return Ok(true);
                }
            }
        }
    }
}

/// The line ends in a text.
struct Newlines {
    count: usize,
    /// The offset after the first one.
    first_end: usize,
}

/// Counts line ends; CRLF and LFCR are one each.
fn newlines(text: &[u8]) -> Newlines {
    let mut found = Newlines { count: 0, first_end: 0 };
    let mut at = 0;
    while let Some(skipped) = text[at..].iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
        at += skipped;
        let is_pair = matches!(text[at..], [b'\n', b'\r', ..] | [b'\r', b'\n', ..]);
        at += if is_pair { 2 } else { 1 };
        found.count += 1;
        if found.count == 1 {
            found.first_end = at;
        }
    }
    found
}
