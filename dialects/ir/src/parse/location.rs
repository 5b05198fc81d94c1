//! Locations: `loc(...)` after an operation, an argument or the module, and aliases, `#name = loc(...)`.

use super::build::{comment_fix, literal};
use super::generic::{GenericGrammar, Rule};
use super::{Parser, limits};
use crate::diag::{Diagnostic, nearest};
use crate::location::{LineColumn, LocId, Location, explain};
use crate::module::{OpId, ValueId};
use crate::span::Span;
use pest::Parser as _;
use pest::iterators::Pair;
use std::collections::HashMap;

/// The start of every location.
pub(super) const START: &str = "loc(";

/// Owner of a location.
#[derive(Clone, Copy)]
pub(super) enum Located {
    /// An operation.
    Op(OpId),
    /// An argument of a block.
    Argument(ValueId),
    /// The module.
    Module,
    /// An operation that this finding is about, and that was not read.
    Finding(usize),
}

/// The aliases read so far, and the locations that name later ones.
#[derive(Default)]
pub(super) struct Aliases<'a> {
    /// By name, with its `#`; without a location where that is faulty.
    known: HashMap<&'a str, (Option<LocId>, Span)>,
    awaited: Vec<(Located, Span)>,
}

/// Reason for an unread location.
enum Unread {
    /// It is faulty.
    Wrong(Diagnostic),
    /// It names an alias that is not defined so far.
    Unknown(Span),
    /// It names an alias that is faulty.
    Follows,
}

impl From<Diagnostic> for Unread {
    fn from(error: Diagnostic) -> Self {
        Self::Wrong(error)
    }
}

impl<'a> Parser<'a> {
    /// Returns true if a location comes next.
    pub(super) fn at_location(&self) -> bool {
        self.rest().starts_with(START)
    }

    /// Reads the location that comes next.
    pub(super) fn location(&mut self, of: Located) -> Result<(), Diagnostic> {
        let start = self.pos;
        self.pos = limits::location_end(self.text, start)?;
        self.location_in(of, Span::new(start..self.pos))
    }

    /// Reads the location that `span` holds. One that names an alias of further down is read at the end.
    pub(super) fn location_in(&mut self, of: Located, span: Span) -> Result<(), Diagnostic> {
        match self.read_location(span) {
            Ok(location) => self.locate(of, location),
            Err(Unread::Wrong(error)) => return Err(error),
            Err(Unread::Unknown(_)) => self.aliases.awaited.push((of, span)),
            Err(Unread::Follows) => {}
        }
        Ok(())
    }

    fn locate(&mut self, of: Located, location: LocId) {
        match of {
            Located::Op(op) => self.module.set_location(op, location),
            Located::Argument(value) => self.module.set_argument_location(value, location),
            Located::Module => self.module.location = Some(location),
            Located::Finding(index) => explain(self.ctx, &mut self.diagnostics[index], location),
        }
    }

    /// Reports the reason why the operation at `start`, up to here, was not read. The location at its end is its
    /// origin.
    pub(super) fn report(&mut self, error: Diagnostic, start: usize) {
        let finding = Located::Finding(self.diagnostics.len());
        self.diagnostics.push(error);
        let Some(at) = self.text[start..self.pos].rfind(START).map(|at| start + at) else { return };
        let Ok(end) = limits::location_end(self.text, at) else { return };
        let after = self.text[end..self.pos.max(end)].trim_start();
        if after.is_empty() || after.starts_with("//") {
            // The finding is about a faulty location, or about the next one.
            let _ = self.location_in(finding, Span::new(at..end));
        }
    }

    /// Reads the definitions of aliases that come next.
    pub(super) fn aliases(&mut self) {
        self.skip_blank();
        while self.rest().starts_with('#') && self.diagnostics.len() < limits::MAX_ERRORS {
            let start = self.pos;
            if let Err(error) = self.alias() {
                self.diagnostics.push(error);
                self.recover(start);
            }
            self.skip_blank();
        }
    }

    fn alias(&mut self) -> Result<(), Diagnostic> {
        let (start, rest) = (self.pos, self.rest());
        let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '-');
        let length = 1 + rest[1..].find(|c| !word(c)).unwrap_or(rest.len() - 1);
        let (name, span) = (&rest[..length], Span::new(start..start + length));
        self.pos += length;
        let fix = match name.starts_with("#loc") {
            true => Some(format!("write `{name} = loc(\"FILE\":LINE:COLUMN)`")),
            false => comment_fix(rest),
        };
        self.expect("=").map_err(|error| error.fix(fix))?;
        self.skip_blank();
        if !self.at_location() {
            let message = format!("found {}, expected `{START}`: only locations have aliases", self.found());
            return Err(Diagnostic::error("syntax", self.here(), message));
        }
        if let Some(&(_, earlier)) = self.aliases.known.get(name) {
            return Err(Diagnostic::error("redefinition", span, format!("alias `{name}` is defined twice"))
                .note("first defined here", Some(earlier)));
        }
        let read = limits::location_end(self.text, self.pos).map_err(Unread::Wrong).and_then(|end| {
            let text = Span::new(self.pos..end);
            self.pos = end;
            self.read_location(text)
        });
        self.aliases.known.insert(name, (read.as_ref().ok().copied(), span));
        match read {
            Ok(_) | Err(Unread::Follows) => Ok(()),
            Err(Unread::Wrong(error)) => Err(error),
            Err(Unread::Unknown(span)) => Err(self.undefined(span).note(
                format!(
                    "alias `{name}` names aliases that are defined before it, so that none is defined by itself"
                ),
                None,
            )),
        }
    }

    /// Reads the locations that name aliases of further down. Each alias that is nowhere is reported once.
    pub(super) fn awaited_locations(&mut self) {
        for (of, span) in std::mem::take(&mut self.aliases.awaited) {
            if self.diagnostics.len() >= limits::MAX_ERRORS {
                return;
            }
            match self.read_location(span) {
                Ok(location) => self.locate(of, location),
                Err(Unread::Wrong(error)) => self.diagnostics.push(error),
                Err(Unread::Unknown(span)) => {
                    self.diagnostics.push(self.undefined(span));
                    self.aliases.known.insert(&self.text[span.range()], (None, span));
                }
                Err(Unread::Follows) => {}
            }
        }
    }

    fn undefined(&self, span: Span) -> Diagnostic {
        let name = &self.text[span.range()];
        let mut known: Vec<_> = self.aliases.known.keys().copied().filter(|known| *known != name).collect();
        known.sort_unstable();
        let near = nearest(name, known).map(|near| format!("did you mean `{near}`?"));
        Diagnostic::error("undefined-alias", span, format!("location alias `{name}` is not defined"))
            .fix(near)
    }

    fn read_location(&self, span: Span) -> Result<LocId, Unread> {
        let text = &self.text[span.range()];
        limits::location_end(text, 0).map_err(|error| Diagnostic { span, ..error })?;
        let parsed = GenericGrammar::parse(Rule::location, text).map_err(|error| wrong(&error, text, span));
        let inside = parsed?.next().and_then(|location| location.into_inner().next());
        let inside = inside.ok_or_else(|| Diagnostic::error("syntax", span, "an empty location"))?;
        let id = self.build_location(inside, span)?;
        let extent = self.ctx.location_extent(id);
        if extent.bytes + START.len() + 1 > limits::MAX_LOCATION_BYTES {
            return Err(limits::location_too_long(span).into());
        }
        if extent.depth > limits::MAX_LOCATION_DEPTH {
            let message =
                format!("names and call sites of a location nest deeper than {}", limits::MAX_LOCATION_DEPTH);
            return Err(Diagnostic::error("nesting", span, message).into());
        }
        Ok(id)
    }

    /// The location of a pair of the grammar, in the `loc(...)` at `whole`.
    fn build_location(&self, pair: Pair<'_, Rule>, whole: Span) -> Result<LocId, Unread> {
        let span = span_in(&pair, whole);
        let (rule, text) = (pair.as_rule(), pair.as_str());
        let mut pieces = pair.into_inner();
        let location = match rule {
            Rule::unknown => Location::Unknown,
            Rule::alias => {
                let (id, _) = self.aliases.known.get(text).ok_or(Unread::Unknown(span))?;
                return id.ok_or(Unread::Follows);
            }
            Rule::metadata => {
                return Err(Diagnostic::error("syntax", span, "a fused location with metadata")
                    .fix("leave the metadata out: `fused[...]`".to_owned())
                    .into());
            }
            Rule::fused => {
                let parts = pieces.map(|piece| self.build_location(piece, whole));
                return Ok(self.ctx.fuse_all(parts.collect::<Result<Vec<_>, _>>()?));
            }
            Rule::callsite => {
                let callee = self.build_location(piece(pieces.next(), span)?, whole)?;
                let caller = self.build_location(piece(pieces.next(), span)?, whole)?;
                Location::CallSite { callee, caller }
            }
            Rule::name => {
                let name = piece(pieces.next(), span)?;
                let name = literal(name.as_str(), span_in(&name, whole))?;
                let child = pieces.next().map(|child| self.build_location(child, whole)).transpose()?;
                let known = |child: &LocId| self.ctx.location_data(*child) != Location::Unknown;
                Location::Name(name.into(), child.filter(known))
            }
            Rule::file => {
                let file = piece(pieces.next(), span)?;
                let file = literal(file.as_str(), span_in(&file, whole))?.into();
                let start = place(piece(pieces.next(), span)?, whole, None)?;
                let end = pieces.next().map(|end| place(end, whole, Some(start.0))).transpose()?;
                Location::File { file, start, end: end.unwrap_or(start) }
            }
            other => {
                let message = format!("found {other:?}, expected a location");
                return Err(Diagnostic::error("syntax", span, message).into());
            }
        };
        Ok(self.ctx.location(location))
    }
}

/// Where a pair of the location at `whole` is.
fn span_in(pair: &Pair<'_, Rule>, whole: Span) -> Span {
    whole.part(pair.as_span().start()..pair.as_span().end())
}

/// A piece that the grammar has in every location of its kind, which is at `span`.
fn piece(pair: Option<Pair<'_, Rule>>, span: Span) -> Result<Pair<'_, Rule>, Diagnostic> {
    pair.ok_or_else(|| Diagnostic::error("syntax", span, "a part of this location is missing"))
}

/// A line and a column; where only the column is written, on `line`.
fn place(pair: Pair<'_, Rule>, whole: Span, line: Option<u32>) -> Result<LineColumn, Diagnostic> {
    let span = span_in(&pair, whole);
    let read = |number: Pair<'_, Rule>| {
        let text = number.as_str();
        text.parse().map_err(|_| {
            let message = format!("line or column `{text}`, expected a number of at most {}", u32::MAX);
            Diagnostic::error("wrong-literal", span_in(&number, whole), message)
        })
    };
    let numbers = pair.into_inner().filter(|piece| piece.as_rule() == Rule::line).map(read);
    match (&numbers.collect::<Result<Vec<u32>, _>>()?[..], line) {
        (&[line, column], _) | (&[column], Some(line)) => Ok((line, column)),
        _ => Err(Diagnostic::error("syntax", span, "expected a line and a column")),
    }
}

/// The grammar's expectation for a location, in words.
fn wrong(error: &pest::error::Error<Rule>, text: &str, whole: Span) -> Diagnostic {
    let at = match error.location {
        pest::error::InputLocation::Pos(at) | pest::error::InputLocation::Span((at, _)) => at,
    };
    let found = match text[at..].chars().next() {
        None => "the end of the input".to_owned(),
        Some('\n') => "the end of the line".to_owned(),
        Some(c) => format!("`{c}`"),
    };
    let pest::error::ErrorVariant::ParsingError { positives, .. } = &error.variant else {
        return Diagnostic::error("syntax", whole, format!("found {found} in a location"));
    };
    let mut expected: Vec<_> = positives.iter().filter_map(in_words).collect();
    expected.sort_unstable();
    expected.dedup();
    let expected = if expected.is_empty() { "`)`".to_owned() } else { expected.join(" or ") };
    let length = text[at..].chars().next().map_or(0, char::len_utf8);
    let message = format!("found {found} in a location, expected {expected}");
    Diagnostic::error("syntax", whole.part(at..at + length), message)
}

fn in_words(rule: &Rule) -> Option<&'static str> {
    match rule {
        Rule::alias => Some("an alias (`#loc1`)"),
        Rule::unknown => Some("`unknown`"),
        Rule::callsite => Some("`callsite(... at ...)`"),
        Rule::fused => Some("`fused[...]`"),
        Rule::line => Some("a line or column"),
        Rule::colon => Some("`:`"),
        Rule::start | Rule::end => Some("`:` and a line and column"),
        Rule::string | Rule::file | Rule::name => Some("a file or name (`\"kernel.visa\":3:5`)"),
        _ => None,
    }
}
