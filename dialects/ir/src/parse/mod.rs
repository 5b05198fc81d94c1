//! Text to IR. Both forms are read operation by operation; an error in one does not hide the next.

mod build;
mod generic;
pub(crate) use generic::{ARG_NAMES, VERSION_ATTR};
pub mod limits;
mod location;
mod pretty;

/// The type of a result that could not be inferred; only while reading a faulty text.
const ERROR_TYPE: &str = "!error";

use crate::context::Context;
use crate::diag::Diagnostic;
use crate::location::{Location, Origins};
use crate::module::{BlockId, Module, TypeId, ValueId};
use crate::span::{Source, Span};
use location::{Aliases, Located};
use rustc_hash::FxBuildHasher as Fast;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// Result of reading a text: the readable part of the module, and all errors.
pub struct Parsed {
    /// The module; complete only if there are no errors.
    pub module: Module,
    /// Findings in source order.
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads `range` of `source` as one module, in the pretty or the generic form (they may be mixed).
#[must_use]
pub fn parse(ctx: &Context, source: &Source, range: Range<usize>) -> Parsed {
    let mut parser = Parser {
        ctx,
        text: &source.text[..range.end],
        pos: range.start,
        module: Module::default(),
        diagnostics: Vec::new(),
        poisoned: HashSet::new(),
        scopes: vec![Scope::default()],
        unknown: ctx.opaque_type(ERROR_TYPE),
        aliases: Aliases::default(),
    };
    let start = Span::new(range.start..range.start);
    parser.module.location = Some(ctx.location(Location::Written(start)));
    match limits::check(&source.text[range.clone()], range.start) {
        Ok(()) => parser.all(),
        Err(error) => parser.diagnostics.push(error),
    }
    Parsed { module: parser.module, diagnostics: parser.diagnostics }
}

/// The values of a region by name.
type Scope<'a> = HashMap<Cow<'a, str>, ValueId, Fast>;

/// The code of errors that only follow from one already reported, and are not reported themselves.
const POISONED: &str = "follows";

/// The state of reading one module.
struct Parser<'a> {
    ctx: &'a Context,
    /// The source up to the end of this module's part.
    text: &'a str,
    /// Where reading goes on.
    pos: usize,
    module: Module,
    diagnostics: Vec<Diagnostic>,
    /// Names of results of faulty statements.
    poisoned: HashSet<String>,
    /// Values by name, innermost region last.
    scopes: Vec<Scope<'a>>,
    /// Type of values whose type is not known because of an earlier error.
    unknown: TypeId,
    aliases: Aliases<'a>,
}

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.pos..]
    }

    fn error(&mut self, code: &str, span: Span, message: impl Into<String>) {
        self.diagnostics.push(Diagnostic::error(code, span, message));
    }

    /// Skips blanks, line breaks and comments.
    fn skip_blank(&mut self) {
        loop {
            let rest = self.rest();
            let trimmed = rest.trim_start();
            self.pos += rest.len() - trimmed.len();
            if !trimmed.starts_with("//") {
                return;
            }
            self.pos += trimmed.find('\n').unwrap_or(trimmed.len());
        }
    }

    /// Skips blanks within a line.
    fn skip_spaces(&mut self) {
        let rest = self.rest();
        self.pos += rest.len() - rest.trim_start_matches([' ', '\t', '\r']).len();
    }

    /// Skips `token` if it comes next.
    fn eat(&mut self, token: &str) -> bool {
        let found = self.rest().starts_with(token);
        if found {
            self.pos += token.len();
        }
        found
    }

    /// The next token, for messages.
    fn found(&self) -> String {
        let rest = self.rest();
        match rest.chars().next() {
            None => "the end of the input".into(),
            Some('\n') => "the end of the line".into(),
            Some(c) if c.is_alphanumeric() || c == '%' || c == '_' => {
                let word = |c: char| c.is_alphanumeric() || matches!(c, '%' | '_' | '.');
                let end = rest.find(|c| !word(c)).unwrap_or(rest.len());
                format!("`{}`", &rest[..end])
            }
            Some(c) => format!("`{c}`"),
        }
    }

    fn here(&self) -> Span {
        let length = self.rest().chars().next().map_or(0, char::len_utf8);
        Span::new(self.pos..self.pos + length)
    }

    /// Reads the module, then the parts that depend on all of it.
    fn all(&mut self) {
        self.module();
        self.awaited_locations();
        if !self.diagnostics.is_empty() {
            Origins::of(self.ctx, &self.module).explain(self.ctx, &mut self.diagnostics);
            self.diagnostics.sort_by_key(|finding| finding.span.start);
        }
    }

    fn module(&mut self) {
        self.version_line();
        let body = self.module.body();
        self.aliases();
        if self.generic_module() {
            return;
        }
        self.block(body);
        if !self.rest().is_empty() {
            let message = format!("found {}, expected an operation", self.found());
            self.error("syntax", self.here(), message);
        }
    }

    /// `visa N`, the version of the text.
    fn version_line(&mut self) {
        self.skip_blank();
        let rest = self.rest();
        let Some(after) = rest.strip_prefix("visa ") else { return };
        let digits = after.trim_start();
        let length = digits.find(char::is_whitespace).unwrap_or(digits.len());
        let start = self.pos + (rest.len() - digits.len());
        let span = Span::new(start..start + length);
        self.pos = start + length;
        let number = &digits[..length];
        if length > 0 && number.bytes().all(|byte| byte.is_ascii_digit()) {
            // A number that does not fit is surely newer than this crate.
            self.version(number.parse().unwrap_or(u32::MAX), span);
        } else {
            self.error("syntax", span, format!("found `{number}`, expected a version number after `visa`"));
        }
        self.skip_spaces();
        if self.at_location()
            && let Err(error) = self.location(Located::Module)
        {
            self.diagnostics.push(error);
            self.recover(start);
        }
    }

    fn version(&mut self, version: u32, span: Span) {
        self.module.version = version;
        if version == 0 || version > crate::version::VERSION {
            let message =
                format!("text version {version}; this visa reads versions 1 to {}", crate::version::VERSION);
            self.error("version", span, message);
        }
    }

    /// Operations up to the end of the text or an unmatched `}`.
    fn block(&mut self, block: BlockId) {
        loop {
            self.skip_blank();
            if self.rest().is_empty() || self.rest().starts_with('}') {
                return;
            }
            if self.diagnostics.len() >= limits::MAX_ERRORS {
                self.pos = self.text.len();
                return;
            }
            if self.rest().starts_with('#') && self.scopes.len() == 1 {
                self.aliases();
                continue;
            }
            let start = self.pos;
            let parsed = if self.at_generic() { self.generic_op(block) } else { self.pretty_op(block) };
            if let Err(error) = parsed {
                self.poison(start);
                self.recover(start);
                if error.code != POISONED {
                    self.report(error, start);
                }
            }
        }
    }

    /// Returns true if the next operation is in the generic form: a quoted name, perhaps after its results.
    fn at_generic(&self) -> bool {
        let rest = self.rest();
        if !rest.starts_with('%') {
            return rest.starts_with('"');
        }
        let line = &rest[..rest.find('\n').unwrap_or(rest.len())];
        line.split_once('=').is_some_and(|(_, right)| right.trim_start().starts_with('"'))
    }

    /// Skips the statement that starts at `start`: its line, and any brackets opened in it.
    fn recover(&mut self, start: usize) {
        let bytes = self.text.as_bytes();
        let mut depth = 0_usize;
        let mut at = start;
        while at < bytes.len() {
            match bytes[at] {
                b'(' | b'[' | b'{' => depth += 1,
                b')' | b']' | b'}' if depth == 0 => break,
                b')' | b']' | b'}' => depth -= 1,
                b'\n' if depth == 0 && at >= self.pos => break,
                b'"' => {
                    // The error is about a string that is not closed.
                    let end = limits::skip_string(bytes, at);
                    at = if bytes.get(end) == Some(&b'"') { end } else { at };
                }
                b'/' if bytes.get(at + 1) == Some(&b'/') => at = limits::skip_line(bytes, at),
                _ => {}
            }
            at += 1;
        }
        self.pos = at.max(start + usize::from(at == start && start < bytes.len() && bytes[start] != b'}'));
    }

    fn lookup(&self, name: &str) -> Option<ValueId> {
        self.scopes.iter().rev().find_map(|scope| scope.get(name)).copied()
    }

    fn define(&mut self, name: Cow<'a, str>, value: ValueId, span: Span) {
        let scope = self.scopes.last_mut().expect("a scope is open while reading");
        if let Some(&earlier) = scope.get(&name) {
            let earlier = self.module.value_span(earlier);
            self.diagnostics.push(
                Diagnostic::error("redefinition", span, format!("`{name}` is defined twice"))
                    .note("first defined here", Some(earlier)),
            );
            return;
        }
        scope.insert(name, value);
    }

    /// Stores the results of the faulty statement at `start`, so that their uses are not reported too.
    fn poison(&mut self, start: usize) {
        let Some((left, _)) = self.text[start..].split_once('=') else { return };
        let names = left.split(',').map(str::trim);
        let is_name = |name: &&str| name.starts_with('%') && !name.contains(char::is_whitespace);
        self.poisoned.extend(names.take_while(is_name).map(str::to_owned));
    }

    fn use_value(&self, name: &str, span: Span) -> Result<ValueId, Diagnostic> {
        if self.lookup(name).is_none() && self.poisoned.contains(name) {
            return Err(Diagnostic::error(POISONED, span, format!("`{name}` comes from a faulty operation")));
        }
        self.lookup(name).ok_or_else(|| {
            let known = self.scopes.iter().flat_map(|scope| scope.keys().map(|name| &**name));
            let mut known: Vec<_> = known.collect();
            known.sort_unstable();
            Diagnostic::error("undefined-value", span, format!("`{name}` is not defined here"))
                .fix(crate::diag::nearest(name, known).map(|near| format!("did you mean `{near}`?")))
        })
    }
}

/// The stored name of a value. `None` for numbers, which the printer assigns again, for names that begin with a digit,
/// which MLIR lacks, and for names too long for the number that distinguishes equal names.
fn kept_name(name: &str) -> Option<std::rc::Rc<str>> {
    let bare = name.trim_start_matches('%');
    let numbered = bare.bytes().next().is_none_or(|byte| byte.is_ascii_digit());
    (!numbered && bare.len() <= limits::MAX_TOKEN_BYTES / 2).then(|| bare.into())
}

/// Returns true if a text may follow the `%` of a value.
fn is_value_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_$-".contains(&byte))
}
