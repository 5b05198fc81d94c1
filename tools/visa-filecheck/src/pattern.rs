//! Patterns: the text of a directive as plain text or as a regular expression.

use std::collections::BTreeMap;

use num_bigint::BigInt;

use crate::cursor::{Cursor, find, find_ignoring_case};
use crate::directive::{Directive, Kind};
use crate::expression::{Block, BlockParser, Expression, Failure, variable_name};
use crate::format::Format;
use crate::options::Options;
use crate::refusal::Refusal;
use crate::regex::{Error, Match, Regex};
use crate::source::{Diagnostic, TextPosition, is_blank, shown, trim_end};
use crate::variables::{Name, NumberId, Variables};

/// Variables of a line that the line itself can name again.
const MAX_REFERENCE: usize = 9;

/// The characters with a meaning in regular expressions. The zero byte is one of them for LLVM.
const SPECIAL: &[u8] = b"()^$|*+?.[]\\{}\0";

/// A value that is put into a regular expression before it is matched.
#[derive(Debug)]
pub(crate) struct Substitution {
    /// The text in the brackets, for messages.
    pub(crate) text: Vec<u8>,
    place: TextPosition,
    /// Where in the expression it goes.
    at: usize,
    value: Value,
}

#[derive(Debug)]
enum Value {
    String,
    Number { expression: Expression, format: Format },
}

/// A regular expression with the variables that it defines and needs.
#[derive(Debug, Default)]
struct Template {
    regex: Vec<u8>,
    substitutions: Vec<Substitution>,
    /// String variables that the pattern defines, and their groups.
    strings: BTreeMap<Name, usize>,
    /// Numeric variables that the pattern defines, and their groups.
    numbers: BTreeMap<Name, (NumberId, usize)>,
    /// The number of groups so far.
    groups: usize,
}

#[derive(Debug)]
enum Body {
    /// Matches at the end of the input.
    End,
    Fixed(Vec<u8>),
    Template {
        template: Template,
        /// The compiled expression, if there are no substitutions; an invalid one never matches.
        compiled: Option<Regex>,
    },
}

/// A pattern with its directive.
#[derive(Debug)]
pub(crate) struct Pattern {
    pub(crate) directive: Directive,
    pub(crate) prefix: String,
    pub(crate) place: TextPosition,
    /// Line of the check file; `None` on the command line.
    line: Option<usize>,
    ignore_case: bool,
    body: Body,
}

/// The result of one search for a pattern.
#[derive(Debug)]
pub(crate) enum Search {
    DirectiveLine {
        at: usize,
        length: usize,
    },
    NotFound,
    /// A substitution has no value.
    Invalid(Vec<Diagnostic>),
}

impl Pattern {
    /// The pattern that matches at the end of the input.
    pub(crate) fn end(prefix: &str, place: TextPosition, line: usize) -> Self {
        Self {
            directive: Directive::of(Kind::End),
            prefix: prefix.to_owned(),
            place,
            line: Some(line),
            ignore_case: false,
            body: Body::End,
        }
    }

    /// Parses the text of a directive.
    pub(crate) fn parse(
        directive: Directive,
        prefix: &str,
        text: Cursor<'_>,
        line: Option<usize>,
        options: &Options,
        variables: &mut Variables,
    ) -> Result<Self, Refusal> {
        let exact = options.strict_whitespace && options.match_full_lines;
        let trimmed = if exact { text.text } else { trim_end(text.text) };
        let body = Cursor { text: trimmed, ..text };
        match (trimmed.is_empty(), directive.kind == Kind::Empty) {
            (true, false) => {
                let message = format!("found empty check string with prefix '{prefix}:'");
                return Err(text.error(message).into());
            }
            (false, true) => {
                let message = format!("found non-empty check string for empty check with prefix '{prefix}:'");
                return Err(text.error(message).into());
            }
            (true, true) | (false, false) => {}
        }
        let full_line = options.match_full_lines && directive.kind != Kind::Not;
        let has_blocks = find(trimmed, b"{{").is_some() || find(trimmed, b"[[").is_some();
        let body = if directive.kind == Kind::Empty {
            let regex = b"(\n$)".to_vec();
            Body::compiled(Template { regex, groups: 1, ..Template::default() }, options, text)?
        } else if directive.literal || !(full_line || has_blocks) {
            Body::Fixed(trimmed.to_vec())
        } else {
            let blank = if options.strict_whitespace { "" } else { " *" };
            let mut builder = Builder { template: Template::default(), line, variables, options };
            if full_line {
                builder.template.regex.extend(format!("^{blank}").bytes());
            }
            builder.parts(body)?;
            if full_line {
                builder.template.regex.extend(format!("{blank}$").bytes());
            }
            Body::compiled(builder.template, options, text)?
        };
        let place = text.place;
        let prefix = prefix.to_owned();
        Ok(Self { directive, prefix, place, line, ignore_case: options.ignore_case, body })
    }

    /// The directive as it is written.
    pub(crate) fn name(&self) -> String {
        self.directive.name(&self.prefix)
    }

    /// True if the pattern uses a variable or defines a string variable. LLVM permits `-LABEL` to define a numeric
    /// one.
    pub(crate) fn has_variables(&self) -> bool {
        match &self.body {
            Body::End | Body::Fixed(_) => false,
            Body::Template { template, .. } => {
                !(template.substitutions.is_empty() && template.strings.is_empty())
            }
        }
    }

    /// The text to compare the input with, to guess which part was meant.
    pub(crate) fn example(&self) -> &[u8] {
        match &self.body {
            Body::End => b"",
            Body::Fixed(text) => text,
            Body::Template { template, .. } => &template.regex,
        }
    }

    /// Finds the pattern in `text`, which begins at `offset` of the input, and sets the variables that it defines.
    pub(crate) fn search(
        &self,
        text: &[u8],
        offset: usize,
        variables: &mut Variables,
    ) -> Result<Search, Diagnostic> {
        let (template, compiled) = match &self.body {
            Body::End => return Ok(Search::DirectiveLine { at: text.len(), length: 0 }),
            Body::Fixed(fixed) => {
                let found =
                    if self.ignore_case { find_ignoring_case(text, fixed) } else { find(text, fixed) };
                let length = fixed.len();
                return Ok(found.map_or(Search::NotFound, |at| Search::DirectiveLine { at, length }));
            }
            Body::Template { template, compiled } => (template, compiled),
        };
        let limit = |error: Error| Diagnostic::at(self.place, error.to_string());
        let substituted;
        let regex = if template.substitutions.is_empty() {
            compiled.as_ref()
        } else {
            if let Some(line) = self.line {
                variables.set_line(line);
            }
            let regex = match template.substituted(variables) {
                Ok(regex) => regex,
                Err(errors) => return Ok(Search::Invalid(errors)),
            };
            substituted = valid(Regex::new(&regex, self.ignore_case)).map_err(limit)?;
            substituted.as_ref()
        };
        let Some(regex) = regex else { return Ok(Search::NotFound) };
        let Some(found) = regex.find(text).map_err(limit)? else { return Ok(Search::NotFound) };
        template.assign(&found, text, offset, variables)?;
        let (start, end) = found.span;
        // The newline before an empty line is no part of its match.
        let skipped = usize::from(self.directive.kind == Kind::Empty);
        Ok(Search::DirectiveLine { at: start + skipped, length: end - start - skipped })
    }

    /// The values of the substitutions that have one, with their texts.
    pub(crate) fn substitution_values(&self, variables: &Variables) -> Vec<(String, String)> {
        let Body::Template { template, .. } = &self.body else { return Vec::new() };
        let value = |substitution: &Substitution| {
            let value = match &substitution.value {
                Value::String => shown(variables.string(&substitution.text)?).into_owned(),
                Value::Number { expression, format } => format.text_of(&expression.value(variables).ok()?)?,
            };
            Some((shown(&substitution.text).into_owned(), value))
        };
        template.substitutions.iter().filter_map(value).collect()
    }
}

/// `None` for an expression with an error of syntax: it never matches, as in LLVM. Its parts are valid, so this is
/// rare.
fn valid(regex: Result<Regex, Error>) -> Result<Option<Regex>, Error> {
    match regex {
        Ok(regex) => Ok(Some(regex)),
        Err(Error::Syntax(_)) => Ok(None),
        Err(limit @ Error::Limit(_)) => Err(limit),
    }
}

impl Body {
    /// Compiles the expression of the pattern `text`, unless it has substitutions.
    fn compiled(template: Template, options: &Options, text: Cursor<'_>) -> Result<Self, Refusal> {
        let compiled = match template.substitutions.is_empty() {
            true => valid(Regex::new(&template.regex, options.ignore_case))
                .map_err(|error| text.error(error.to_string()))?,
            false => None,
        };
        Ok(Self::Template { template, compiled })
    }
}

impl Template {
    /// The expression with all values in it, or their error.
    fn substituted(&self, variables: &Variables) -> Result<Vec<u8>, Vec<Diagnostic>> {
        let mut regex = Vec::with_capacity(self.regex.len());
        let mut errors = Vec::new();
        let mut copied = 0;
        for substitution in &self.substitutions {
            regex.extend(&self.regex[copied..substitution.at]);
            copied = substitution.at;
            match substitution.regex(variables) {
                Ok(value) => regex.extend(value),
                Err(found) => errors.extend(found),
            }
        }
        regex.extend(&self.regex[copied..]);
        if errors.is_empty() { Ok(regex) } else { Err(errors) }
    }

    /// Sets the variables from the groups of a match.
    fn assign(
        &self,
        found: &Match,
        text: &[u8],
        offset: usize,
        variables: &mut Variables,
    ) -> Result<(), Diagnostic> {
        let group = |number: usize| found.groups.get(number - 1).copied().flatten().unwrap_or((0, 0));
        for (name, number) in &self.strings {
            let (start, end) = group(*number);
            variables.set_string(name, &text[start..end]);
        }
        for (name, (id, number)) in &self.numbers {
            let (start, end) = group(*number);
            let format = variables.number(*id).format;
            let value: BigInt = format.value_of(&text[start..end], offset + start)?;
            variables.set_number(name, *id, value);
        }
        Ok(())
    }
}

impl Substitution {
    /// The regular expression of the value.
    fn regex(&self, variables: &Variables) -> Result<Vec<u8>, Vec<Diagnostic>> {
        let undefined =
            |name: &[u8], place| vec![Diagnostic::at(place, format!("undefined variable: {}", shown(name)))];
        let overflow = || {
            let message = "unable to substitute variable or numeric expression: overflow error";
            Diagnostic::at(self.place, message)
        };
        match &self.value {
            Value::String => {
                let value = variables.string(&self.text);
                value.map(escaped).ok_or_else(|| undefined(&self.text, self.place))
            }
            Value::Number { expression, format } => match expression.value(variables) {
                Ok(value) => match format.text_of(&value) {
                    Some(text) => Ok(text.into_bytes()),
                    None => Err(vec![overflow()]),
                },
                Err(failures) => {
                    let errors = failures.into_iter().flat_map(|failure| match failure {
                        Failure::Undefined { name, place } => undefined(&name, place),
                        Failure::Overflow => vec![overflow()],
                    });
                    Err(errors.collect())
                }
            },
        }
    }
}

/// The regular expression that matches `text` only.
fn escaped(text: &[u8]) -> Vec<u8> {
    let mut regex = Vec::with_capacity(text.len());
    for byte in text {
        if SPECIAL.contains(byte) {
            regex.push(b'\\');
        }
        regex.push(*byte);
    }
    regex
}

/// Builds the regular expression of a pattern.
struct Builder<'a> {
    template: Template,
    line: Option<usize>,
    variables: &'a mut Variables,
    options: &'a Options,
}

impl Builder<'_> {
    fn parts(&mut self, mut text: Cursor<'_>) -> Result<(), Refusal> {
        while !text.is_empty() {
            if text.starts_with(b"{{") {
                self.regex_block(&mut text)?;
            } else if text.starts_with(b"[[") && !text.starts_with(b"[[[") {
                self.variable_block(&mut text)?;
            } else {
                let rest = &text.text[1..];
                let next = [find(rest, b"{{"), find(rest, b"[[")].into_iter().flatten().min();
                let fixed = text.take(next.map_or(text.text.len(), |next| next + 1));
                self.template.regex.extend(escaped(fixed.text));
            }
        }
        Ok(())
    }

    /// `{{regex}}`. It is a group if the rest of the line has an alternative anywhere.
    fn regex_block(&mut self, text: &mut Cursor<'_>) -> Result<(), Refusal> {
        let end = text.find(b"}}");
        let end = end.ok_or_else(|| text.error("found start of regex string with no end '}}'"))?;
        let is_group = text.text.contains(&b'|');
        if is_group {
            self.template.regex.push(b'(');
            self.template.groups += 1;
        }
        text.take(2);
        self.add_regex(text.take(end - 2))?;
        if is_group {
            self.template.regex.push(b')');
        }
        text.take(2);
        Ok(())
    }

    fn add_regex(&mut self, text: Cursor<'_>) -> Result<(), Refusal> {
        let regex = Regex::new(text.text, self.options.ignore_case)
            .map_err(|error| text.error(format!("invalid regex: {error}")))?;
        self.template.groups += regex.groups();
        self.template.regex.extend(text.text);
        Ok(())
    }

    /// `[[NAME]]`, `[[NAME:regex]]`, `[[#...]]` or `[[@LINE...]]`.
    fn variable_block(&mut self, text: &mut Cursor<'_>) -> Result<(), Refusal> {
        let start = *text;
        text.take(2);
        let end = block_end(*text)?;
        let end = end.ok_or_else(|| start.error("Invalid substitution block, no ]] found"))?;
        let mut block = text.take(end);
        text.take(2);
        if block.eat(b"#") {
            return self.number_block(block, false);
        }
        let definition = block.find(b":");
        let name_end = definition.unwrap_or(block.text.len());
        if let Some(blank) = block.text[..name_end].iter().position(|byte| is_blank(*byte)) {
            block.take(blank);
            return Err(block.error("unexpected whitespace").into());
        }
        let mut rest = block;
        let (name, is_pseudo) = variable_name(&mut rest)?;
        match definition {
            Some(_) if is_pseudo || !rest.eat(b":") => {
                Err(name.error("invalid name in string variable definition").into())
            }
            Some(_) => self.string_definition(name, rest),
            None if is_pseudo => self.number_block(block, true),
            None if !rest.is_empty() => Err(name.error("invalid name in string variable use").into()),
            None => self.string_use(name),
        }
    }

    fn string_definition(&mut self, name: Cursor<'_>, regex: Cursor<'_>) -> Result<(), Refusal> {
        if self.variables.number_named(name.text).is_some() {
            let message = format!("numeric variable with name '{}' already exists", shown(name.text));
            return Err(name.error(message).into());
        }
        self.open_group();
        self.template.strings.insert(name.text.to_vec(), self.template.groups);
        self.variables.reserve_string(name.text);
        if !regex.is_empty() {
            self.add_regex(regex)?;
        }
        self.template.regex.push(b')');
        Ok(())
    }

    fn open_group(&mut self) {
        self.template.regex.push(b'(');
        self.template.groups += 1;
    }

    /// A variable of the same line is a back-reference, any other one a substitution.
    fn string_use(&mut self, name: Cursor<'_>) -> Result<(), Refusal> {
        match self.template.strings.get(name.text) {
            Some(group) if *group <= MAX_REFERENCE => {
                self.template.regex.extend(format!("\\{group}").bytes());
            }
            Some(_) => {
                let message = format!("Can't back-reference more than {MAX_REFERENCE} variables");
                return Err(name.error(message).into());
            }
            None => self.substitute(name, Value::String),
        }
        Ok(())
    }

    fn substitute(&mut self, text: Cursor<'_>, value: Value) {
        let (place, at) = (text.place, self.template.regex.len());
        self.template.substitutions.push(Substitution { text: text.text.to_vec(), place, at, value });
    }

    fn number_block(&mut self, text: Cursor<'_>, is_line_form: bool) -> Result<(), Refusal> {
        let mut parser = BlockParser { variables: self.variables, line: self.line, is_line_form };
        let Block { expression, format, defines } = parser.parse(text)?;
        let is_definition = defines.is_some();
        if let Some((name, id)) = defines {
            self.open_group();
            self.template.numbers.insert(name, (id, self.template.groups));
        }
        match expression {
            Some(expression) => self.substitute(text, Value::Number { expression, format }),
            None => self.add_regex(Cursor { text: format.wildcard().as_bytes(), ..text })?,
        }
        if is_definition {
            self.template.regex.push(b')');
        }
        Ok(())
    }
}

/// The offset of the `]]` that ends a block. Brackets nest, and a backslash hides the byte after it.
fn block_end(text: Cursor<'_>) -> Result<Option<usize>, Refusal> {
    let mut depth = 0_usize;
    let mut at = 0;
    while let Some(byte) = text.text.get(at) {
        if depth == 0 && text.text[at..].starts_with(b"]]") {
            return Ok(Some(at));
        }
        match byte {
            b'\\' => at += 1,
            b'[' => depth += 1,
            b']' if depth == 0 => {
                let mut place = text;
                place.take(at);
                return Err(Refusal::unclosed_bracket(
                    place.error("missing closing \"]\" for regex variable"),
                ));
            }
            b']' => depth -= 1,
            _ => {}
        }
        at += 1;
    }
    Ok(None)
}
