//! Pipelines in text: `builtin.module(a,b{option=value other=value},tm.func(c,d))`, or bare `a,b{...},tm.func(c,d)`.

use crate::options::{OptionKind, OptionValue, Options};
use crate::pass::{Pass, Scope};
use std::fmt;
use visa_ir::context::{Context, unquote};
use visa_ir::diag::{Diagnostic, nearest};
use visa_ir::level::Level;
use visa_ir::parse::limits::MAX_ERRORS;
use visa_ir::span::{Source, Span};

/// Most anchors around a pass.
pub const MAX_NESTING: usize = 16;

/// The operation whose name is around a part of a pipeline.
#[derive(Clone, Debug)]
pub struct Anchor {
    /// The name, e.g. `tm.func`.
    pub name: String,
    /// Where it is in the pipeline's text.
    pub span: Span,
}

impl PartialEq for Anchor {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

/// One pass of a pipeline.
#[derive(Clone, Debug)]
pub struct Step {
    /// Its enclosing operations, outermost first: the pass runs on each such operation by itself. On the whole module
    /// if the list is empty.
    pub within: Vec<Anchor>,
    /// The pass.
    pub pass: &'static Pass,
    /// Its options.
    pub options: Options,
    /// Where its name is in the pipeline's text.
    pub span: Span,
}

/// Passes in the order in which they run.
#[derive(Clone, Debug)]
pub struct Pipeline {
    /// The text it was read from, called `<pipeline>`; the spans of its diagnostics point into it.
    pub source: Source,
    /// Its passes.
    pub steps: Vec<Step>,
}

impl Pipeline {
    /// The anchor that MLIR's users write around a pipeline: the module.
    const ANCHOR: &'static str = "builtin.module";

    /// The name of a pipeline's source.
    pub const SOURCE: &'static str = "<pipeline>";

    /// A pipeline of no passes.
    #[must_use]
    pub fn empty() -> Self {
        Self { source: Source::new(Self::SOURCE, ""), steps: Vec::new() }
    }

    /// Reads a pipeline of passes out of `known`.
    ///
    /// # Errors
    /// The errors in the text, at most [`MAX_ERRORS`]; the spans are byte ranges of `text`.
    pub fn parse(text: &str, known: &[&'static Pass]) -> Result<Self, Vec<Diagnostic>> {
        let mut reader = Reader { text, pos: 0, known, within: Vec::new(), findings: Vec::new() };
        let steps = match reader.pipeline() {
            Ok(steps) => steps,
            Err(error) => {
                reader.findings.push(error);
                Vec::new()
            }
        };
        if reader.findings.is_empty() {
            Ok(Self { source: Source::new(Self::SOURCE, text), steps })
        } else {
            Err(reader.findings)
        }
    }

    /// Checks that every anchor is the name of an operation that has a body.
    ///
    /// # Errors
    /// The first one that is not.
    pub fn check_anchors(&self, ctx: &Context) -> Result<(), Diagnostic> {
        for anchor in self.steps.iter().flat_map(|step| &step.within) {
            let Some(decl) = ctx.op(&anchor.name) else {
                let message = format!("unknown operation `{}`: passes are nested in operations", anchor.name);
                let near =
                    nearest(&anchor.name, ctx.op_names()).map(|near| format!("did you mean `{near}`?"));
                return Err(Diagnostic::error("unknown-anchor", anchor.span, message).fix(near));
            };
            if !decl.has_region() {
                let message = format!("`{}` has no body that passes could run on", anchor.name);
                return Err(Diagnostic::error("unknown-anchor", anchor.span, message));
            }
        }
        Ok(())
    }

    /// Checks that a module at level `start` suits the first pass, and that the output level of each pass suits the
    /// next one.
    ///
    /// # Errors
    /// The first pass with a module of a level that it does not take, and the passes in `known` that lead there.
    pub fn check_levels(&self, start: Level, known: &[&'static Pass]) -> Result<(), Diagnostic> {
        let mut level = start;
        for step in &self.steps {
            let takes = step.pass.takes;
            if !takes.accepts(level) {
                let name = step.pass.name;
                let message =
                    format!("pass `{name}` takes a module at {takes} level, but here it is at {level} level");
                return Err(Diagnostic::error("pass-level", step.span, message).fix(
                    way(level, takes, known).map(|names| format!("run `{}` before it", names.join(","))),
                ));
            }
            level = step.pass.gives.after(level);
        }
        Ok(())
    }
}

impl fmt::Display for Pipeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}(", Self::ANCHOR)?;
        let mut open: &[Anchor] = &[];
        for (index, step) in self.steps.iter().enumerate() {
            let shared = open.iter().zip(&step.within).take_while(|(left, right)| left == right).count();
            f.write_str(&")".repeat(open.len() - shared))?;
            f.write_str(if index > 0 { "," } else { "" })?;
            step.within[shared..].iter().try_for_each(|anchor| write!(f, "{}(", anchor.name))?;
            step.pass(f)?;
            open = &step.within;
        }
        f.write_str(&")".repeat(open.len() + 1))
    }
}

/// The step with its enclosing operations.
impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.within.iter().try_for_each(|anchor| write!(f, "{}(", anchor.name))?;
        self.pass(f)?;
        f.write_str(&")".repeat(self.within.len()))
    }
}

impl Step {
    fn pass(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.pass.name)?;
        let options: Vec<_> = self.options.written().map(|(name, value)| format!("{name}={value}")).collect();
        if options.is_empty() { Ok(()) } else { write!(f, "{{{}}}", options.join(" ")) }
    }
}

/// The shortest sequence of passes from one level to another; in order of names where several are as short.
fn way(from: Level, to: Level, known: &[&'static Pass]) -> Option<Vec<&'static str>> {
    let mut paths = vec![(from, Vec::new())];
    let mut next = 0;
    while let Some((level, names)) = paths.get(next).cloned() {
        if level == to {
            return Some(names);
        }
        for pass in known.iter().filter(|pass| pass.takes == level && pass.gives != Level::Any) {
            if paths.iter().all(|(seen, _)| *seen != pass.gives) {
                paths.push((pass.gives, [&names[..], &[pass.name]].concat()));
            }
        }
        next += 1;
    }
    None
}

/// The state of reading a pipeline's text.
struct Reader<'t> {
    text: &'t str,
    pos: usize,
    known: &'t [&'static Pass],
    /// The open anchors around the next step.
    within: Vec<Anchor>,
    findings: Vec<Diagnostic>,
}

impl<'t> Reader<'t> {
    fn pipeline(&mut self) -> Result<Vec<Step>, Diagnostic> {
        self.blanks();
        let start = self.pos;
        let anchored = self.rest().starts_with(Pipeline::ANCHOR);
        if anchored {
            self.pos += Pipeline::ANCHOR.len();
            self.blanks();
        }
        let open = self.pos;
        if anchored && !self.eat('(') {
            return Err(self.expected("`(` after `builtin.module`"));
        }
        self.blanks();
        if self.rest().is_empty() || self.rest().starts_with(')') {
            let span = Span::new(start..self.text.len());
            let known: Vec<_> = self.known.iter().map(|pass| pass.name).collect();
            let message = "the pipeline is empty: expected a pass";
            return Err(Diagnostic::error("pipeline-empty", span, message)
                .note(format!("passes are `{}`", known.join("`, `")), None));
        }
        let steps = self.steps()?;
        if anchored {
            self.close(open)?;
        }
        self.blanks();
        if self.rest().is_empty() { Ok(steps) } else { Err(self.expected("`,` or the end of the pipeline")) }
    }

    /// The `)` of the `(` at `open`.
    fn close(&mut self, open: usize) -> Result<(), Diagnostic> {
        if self.eat(')') {
            return Ok(());
        }
        if self.rest().is_empty() {
            let message = "`(` is never closed: expected `)`";
            return Err(Diagnostic::error("pipeline-syntax", Span::new(open..open + 1), message));
        }
        Err(self.expected("`,` or `)`"))
    }

    fn steps(&mut self) -> Result<Vec<Step>, Diagnostic> {
        let mut steps = Vec::new();
        loop {
            let (name, span) = self.word("a pass")?;
            self.blanks();
            if self.rest().starts_with('(') {
                steps.extend(self.nested(name, span)?);
            } else {
                steps.extend(self.step(name, span)?);
            }
            self.blanks();
            if !self.eat(',') {
                return Ok(steps);
            }
            self.blanks();
        }
    }

    /// The passes between the parentheses after an operation's name.
    fn nested(&mut self, name: &str, span: Span) -> Result<Vec<Step>, Diagnostic> {
        let error = |message: String| Diagnostic::error("pipeline-syntax", span, message);
        if self.known.iter().any(|pass| pass.name == name) {
            let fix = format!("write its options in braces: `{name}{{option=value}}`");
            return Err(error(format!("`{name}` is a pass: nothing is nested in it")).fix(fix));
        }
        if name == Pipeline::ANCHOR {
            return Err(error(format!("`{name}` may only be around the whole pipeline")));
        }
        if self.within.len() == MAX_NESTING {
            return Err(error(format!("passes are nested more than {MAX_NESTING} deep")));
        }
        let open = self.pos;
        self.eat('(');
        self.blanks();
        self.within.push(Anchor { name: name.to_owned(), span });
        let steps = self.steps()?;
        self.within.pop();
        self.close(open)?;
        Ok(steps)
    }

    /// A pass with its options; `None` for an unknown one, which is reported.
    fn step(&mut self, name: &str, span: Span) -> Result<Option<Step>, Diagnostic> {
        let pass = self.known.iter().copied().find(|pass| pass.name == name);
        if pass.is_none() {
            let near = nearest(name, self.known.iter().map(|pass| pass.name));
            let error = Diagnostic::error("unknown-pass", span, format!("unknown pass `{name}`"));
            self.found(error.fix(near.map(|near| format!("did you mean `{near}`?"))))?;
        }
        if let (Some(Pass { scope: Scope::Module, .. }), Some(anchor)) = (pass, self.within.last()) {
            let message =
                format!("pass `{name}` needs the whole module, but is nested in `{}(...)`", anchor.name);
            let error = Diagnostic::error("pass-nesting", span, message);
            self.found(error.fix("write it outside of the parentheses".to_owned()))?;
        }
        let mut options = Options::defaults(pass.map_or(Pass::BASE.options, |pass| pass.options));
        let open = self.pos;
        if self.eat('{') {
            loop {
                self.blanks();
                if self.eat('}') {
                    break;
                }
                if self.rest().is_empty() {
                    let message = "`{` is never closed: expected `}`";
                    return Err(Diagnostic::error("pipeline-syntax", Span::new(open..open + 1), message));
                }
                self.option(pass, &mut options)?;
            }
        }
        Ok(pass.map(|pass| Step { within: self.within.clone(), pass, options, span }))
    }

    /// `name=value`, or `name` for a boolean. Semantic errors are reported, and parsing continues.
    fn option(&mut self, pass: Option<&'static Pass>, options: &mut Options) -> Result<(), Diagnostic> {
        let (name, span) = self.word("an option (`name=value`) or `}`")?;
        let value = if self.eat('=') { Some(self.value()?) } else { None };
        let Some(pass) = pass else { return Ok(()) };
        match set_option(pass, options, name, span, value) {
            Ok(()) => Ok(()),
            Err(finding) => self.found(finding),
        }
    }

    /// The value after `=`: up to a blank, a comma or a brace, or quoted.
    fn value(&mut self) -> Result<(String, Span), Diagnostic> {
        let start = self.pos;
        let rest = self.rest();
        if !rest.starts_with('"') {
            let end = rest.find(|c: char| c.is_whitespace() || "{},()".contains(c)).unwrap_or(rest.len());
            self.pos += end;
            return Ok((rest[..end].to_owned(), Span::new(start..self.pos)));
        }
        let mut escaped = false;
        let close = rest[1..].find(|c| {
            let closes = c == '"' && !escaped;
            escaped = c == '\\' && !escaped;
            closes
        });
        let refuse =
            |end: usize, why: String| Diagnostic::error("pipeline-syntax", Span::new(start..end), why);
        let close = close.ok_or_else(|| refuse(start + 1, "the string is not closed".to_owned()))?;
        self.pos += close + 2;
        let text = unquote(&rest[1..=close]).map_err(|why| refuse(self.pos, why))?;
        Ok((text, Span::new(start..self.pos)))
    }

    fn word(&mut self, wanted: &str) -> Result<(&'t str, Span), Diagnostic> {
        let rest = self.rest();
        let part = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
        let end = rest.find(|c| !part(c)).unwrap_or(rest.len());
        if end == 0 {
            return Err(self.expected(wanted));
        }
        let span = Span::new(self.pos..self.pos + end);
        self.pos += end;
        Ok((&rest[..end], span))
    }

    /// Reports a mistake and goes on, up to the last that is reported.
    fn found(&mut self, finding: Diagnostic) -> Result<(), Diagnostic> {
        if self.findings.len() + 1 == MAX_ERRORS {
            return Err(finding);
        }
        self.findings.push(finding);
        Ok(())
    }

    fn rest(&self) -> &'t str {
        &self.text[self.pos..]
    }

    fn blanks(&mut self) {
        self.pos = self.text.len() - self.rest().trim_start().len();
    }

    fn eat(&mut self, token: char) -> bool {
        let found = self.rest().starts_with(token);
        self.pos += if found { token.len_utf8() } else { 0 };
        found
    }

    fn expected(&self, wanted: &str) -> Diagnostic {
        let (found, length) = match self.rest().chars().next() {
            None => ("the end".to_owned(), 0),
            Some(c) => (format!("`{c}`"), c.len_utf8()),
        };
        let span = Span::new(self.pos..self.pos + length);
        Diagnostic::error("pipeline-syntax", span, format!("found {found}, expected {wanted}"))
    }
}

/// Gives `options` the option that was written.
fn set_option(
    pass: &'static Pass,
    options: &mut Options,
    name: &str,
    span: Span,
    value: Option<(String, Span)>,
) -> Result<(), Diagnostic> {
    let Some(decl) = pass.options.iter().find(|decl| decl.name == name) else {
        let names: Vec<_> = pass.options.iter().map(|decl| decl.name).collect();
        let message = match names.as_slice() {
            [] => format!("pass `{}` takes no options, found `{name}`", pass.name),
            _ => format!("pass `{}` has no option `{name}`; it has `{}`", pass.name, names.join("`, `")),
        };
        let near = nearest(name, names).map(|near| format!("did you mean `{near}`?"));
        return Err(Diagnostic::error("unknown-option", span, message).fix(near));
    };
    let (read, text, value_span) = match value {
        None if decl.kind == OptionKind::Bool => (Some(OptionValue::Bool(true)), "nothing".into(), span),
        None => (None, "nothing".to_owned(), span),
        Some((text, value_span)) => (decl.kind.read(&text), format!("`{text}`"), value_span),
    };
    let Some(read) = read else {
        let message = format!("option `{name}`: found {text}, expected {}", decl.kind.describe());
        let near = match decl.kind {
            OptionKind::Word(words) => nearest(text.trim_matches('`'), words.iter().copied()),
            OptionKind::Int | OptionKind::Bool | OptionKind::Str | OptionKind::Output => None,
        };
        return Err(Diagnostic::error("option-value", value_span, message)
            .fix(near.map(|near| format!("did you mean `{near}`?"))));
    };
    if options.set(decl, read) {
        return Ok(());
    }
    Err(Diagnostic::error("duplicate-option", span, format!("option `{name}` is written twice")))
}
