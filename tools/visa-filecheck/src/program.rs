//! A check file as the patterns that are matched in order.

use std::collections::BTreeSet;

use crate::cursor::Cursor;
use crate::directive::{Directive, DirectiveLine, Kind, Scanner};
use crate::expression::BlockParser;
use crate::options::Options;
use crate::pattern::Pattern;
use crate::refusal::Refusal;
use crate::source::{Diagnostic, Origin, Sources, shown};
use crate::variables::Variables;

/// The number of a pattern in [`Program::patterns`].
pub(crate) type PatternId = usize;

/// A directive that moves forward in the input, with the `-DAG` and `-NOT` directives before it.
#[derive(Debug)]
pub(crate) struct Check {
    pub(crate) pattern: PatternId,
    /// `-DAG` and `-NOT` directives, with those of `--implicit-check-not` first.
    pub(crate) before: Vec<PatternId>,
}

/// A parsed check file.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) patterns: Vec<Pattern>,
    pub(crate) checks: Vec<Check>,
    pub(crate) variables: Variables,
}

impl Program {
    /// Reads the options and the check file.
    pub(crate) fn read(options: &Options, sources: &Sources<'_>) -> Result<Self, Refusal> {
        let mut program = Self { patterns: Vec::new(), checks: Vec::new(), variables: Variables::default() };
        program.define(options, sources)?;
        program.variables.add_line();
        let implicit = program.implicit_checks(options, sources)?;
        program.read_checks(options, sources, &implicit)?;
        Ok(program)
    }

    /// Sets the variables of `-D`.
    fn define(&mut self, options: &Options, sources: &Sources<'_>) -> Result<(), Refusal> {
        for (index, definition) in options.defines.iter().enumerate() {
            let offset = Sources::value_offset(Origin::Defines, &options.defines, index);
            let text = sources.text(Origin::Defines).bytes;
            let mut value = Cursor::new(&text[offset..offset + definition.len()], Origin::Defines, offset);
            match value.eat(b"#") {
                true => self.define_number(value)?,
                false => self.define_string(value)?,
            }
        }
        Ok(())
    }

    fn define_string(&mut self, text: Cursor<'_>) -> Result<(), Diagnostic> {
        let mut value = text;
        let name = value.take(value.find(b"=").unwrap_or_default());
        value.take(1);
        let mut rest = name;
        let (variable, is_pseudo) = crate::expression::variable_name(&mut rest)?;
        if is_pseudo || !rest.is_empty() {
            let message = format!("invalid name in string variable definition '{}'", shown(name.text));
            return Err(name.error(message));
        }
        if self.variables.number_named(variable.text).is_some() {
            let message = format!("numeric variable with name '{}' already exists", shown(variable.text));
            return Err(variable.error(message));
        }
        self.variables.define_string(variable.text, value.text);
        Ok(())
    }

    /// `#FORMAT,NAME=EXPRESSION`, which is read as `FORMAT,NAME:EXPRESSION`.
    fn define_number(&mut self, text: Cursor<'_>) -> Result<(), Diagnostic> {
        let mut spelt = text.text.to_vec();
        if let Some(equal) = spelt.iter_mut().find(|byte| **byte == b'=') {
            *equal = b':';
        }
        let mut parser = BlockParser { variables: &mut self.variables, line: None, is_line_form: false };
        let block = parser.parse(Cursor { text: &spelt, place: text.place })?;
        let expression = block.expression.ok_or_else(|| text.error("missing expression after `=`"))?;
        let value = expression.value(&self.variables).map_err(|_| {
            text.error(
                "expression without a value: it divides by zero or uses a variable without an earlier -D",
            )
        })?;
        let (name, id) = block.defines.ok_or_else(|| text.error("missing variable name before `=`"))?;
        self.variables.set_number(&name, id, value);
        Ok(())
    }

    fn implicit_checks(
        &mut self,
        options: &Options,
        sources: &Sources<'_>,
    ) -> Result<Vec<PatternId>, Refusal> {
        let mut ids = Vec::new();
        for (index, pattern) in options.implicit_check_not.iter().enumerate() {
            let offset = Sources::value_offset(Origin::Implicit, &options.implicit_check_not, index);
            let text = sources.text(Origin::Implicit).bytes;
            let text = Cursor::new(&text[offset..offset + pattern.len()], Origin::Implicit, offset);
            let not = Directive::of(Kind::Not);
            let pattern = Pattern::parse(not, "IMPLICIT-CHECK", text, None, options, &mut self.variables)?;
            ids.push(self.add(pattern));
        }
        Ok(ids)
    }

    fn add(&mut self, pattern: Pattern) -> PatternId {
        self.patterns.push(pattern);
        self.patterns.len() - 1
    }

    fn read_checks(
        &mut self,
        options: &Options,
        sources: &Sources<'_>,
        implicit: &[PatternId],
    ) -> Result<(), Refusal> {
        let (prefixes, comments) = (options.prefixes(), options.comments());
        let trims = !(options.strict_whitespace && options.match_full_lines);
        let mut scanner = Scanner::new(sources.checks.bytes, &prefixes, &comments, trims);
        let mut unused: BTreeSet<&str> = prefixes.iter().map(String::as_str).collect();
        let mut before = implicit.to_vec();
        while let Some(found) = scanner.next()? {
            unused.remove(found.prefix);
            let id = self.directive(&found, options)?;
            if matches!(found.directive.kind, Kind::Dag | Kind::Not) {
                before.push(id);
            } else {
                let before = std::mem::replace(&mut before, implicit.to_vec());
                self.checks.push(Check { pattern: id, before });
            }
        }
        let none = unused.len() == prefixes.len();
        let some = !options.allow_unused_prefixes && !unused.is_empty();
        if (none || some) && (implicit.is_empty() || !options.check_prefixes.is_empty()) {
            return Err(missing(&unused).into());
        }
        if !before.is_empty() {
            let end = scanner.rest().place;
            let id = self.add(Pattern::end(&prefixes[0], end, scanner.line() + 1));
            self.checks.push(Check { pattern: id, before });
        }
        Ok(())
    }

    /// Parses one directive, and checks that it may stand where it does.
    fn directive(&mut self, found: &DirectiveLine<'_>, options: &Options) -> Result<PatternId, Refusal> {
        let DirectiveLine { directive, prefix, start, pattern, line } = found;
        let pattern =
            Pattern::parse(*directive, prefix, *pattern, Some(*line), options, &mut self.variables)?;
        let name = Directive { literal: false, ..*directive }.name(prefix);
        if directive.kind == Kind::Label && pattern.has_variables() {
            return Err(start.error(format!("found '{name}:' with variable definition or use")).into());
        }
        let follows = matches!(directive.kind, Kind::Next | Kind::Same | Kind::Empty);
        if follows && self.checks.is_empty() {
            return Err(start.error(format!("found '{name}' without previous '{prefix}: line")).into());
        }
        Ok(self.add(pattern))
    }
}

fn missing(unused: &BTreeSet<&str>) -> Diagnostic {
    let plural = if unused.len() > 1 { "es" } else { "" };
    let names: Vec<String> = unused.iter().map(|prefix| format!("'{prefix}:'")).collect();
    let names = names.join(", ");
    Diagnostic { place: None, message: format!("no check strings found with prefix{plural} {names}") }
}
