//! Numeric substitution blocks: `[[#%x, VAR: add(OTHER, 1)]]`.

use num_bigint::{BigInt, Sign};

use crate::cursor::Cursor;
use crate::format::{Base, Format};
use crate::source::{Diagnostic, TextPosition, shown};
use crate::variables::{Name, NumberId, Variables};

/// Most nested parentheses and calls.
const MAX_DEPTH: usize = 100;

/// Largest precision of a format.
const MAX_PRECISION: u32 = 10_000;

/// An operation on two numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    Add,
    Sub,
    Mul,
    Div,
    Max,
    Min,
}

/// An expression.
#[derive(Debug)]
pub(crate) enum Expression {
    Literal(BigInt),
    Variable { name: Name, id: NumberId, place: TextPosition },
    Binary { operation: Operation, left: Box<Expression>, right: Box<Expression> },
}

/// The reason why an expression has no value or no text.
#[derive(Debug)]
pub(crate) enum Failure {
    /// A variable without value.
    Undefined { name: Name, place: TextPosition },
    /// A division by zero, or a negative number in a format without sign.
    Overflow,
}

impl Expression {
    /// The value, or the failures of all its parts.
    pub(crate) fn value(&self, variables: &Variables) -> Result<BigInt, Vec<Failure>> {
        match self {
            Self::Literal(value) => Ok(value.clone()),
            Self::Variable { name, id, place } => {
                let undefined = || vec![Failure::Undefined { name: name.clone(), place: *place }];
                variables.number(*id).value.clone().ok_or_else(undefined)
            }
            Self::Binary { operation, left, right } => {
                match (left.value(variables), right.value(variables)) {
                    (Ok(left), Ok(right)) => {
                        operation.apply(left, right).ok_or_else(|| vec![Failure::Overflow])
                    }
                    (left, right) => {
                        Err([left, right].into_iter().filter_map(Result::err).flatten().collect())
                    }
                }
            }
        }
    }

    /// The format of the variables; an error if they have different ones, as is one for no format.
    fn implicit_format(
        &self,
        variables: &Variables,
        place: TextPosition,
    ) -> Result<Option<Format>, Diagnostic> {
        match self {
            Self::Literal(_) => Ok(None),
            Self::Variable { id, .. } => Ok(Some(variables.number(*id).format)),
            Self::Binary { left, right, .. } => {
                let left = left.implicit_format(variables, place)?;
                let right = right.implicit_format(variables, place)?;
                match (left, right) {
                    (Some(left), Some(right)) if left != right => Err(Diagnostic::at(
                        place,
                        format!(
                            "variables with the formats {} and {} in one expression, expected one format: write it \
                             before the expression, as in `[[#{}, ...]]`",
                            left.name(),
                            right.name(),
                            left.name()
                        ),
                    )),
                    (left, right) => Ok(left.or(right)),
                }
            }
        }
    }
}

impl Operation {
    fn named(name: &[u8]) -> Option<Self> {
        match name {
            b"add" => Some(Self::Add),
            b"sub" => Some(Self::Sub),
            b"mul" => Some(Self::Mul),
            b"div" => Some(Self::Div),
            b"max" => Some(Self::Max),
            b"min" => Some(Self::Min),
            _ => None,
        }
    }

    /// `None` for a division by zero.
    fn apply(self, left: BigInt, right: BigInt) -> Option<BigInt> {
        match self {
            Self::Add => Some(left + right),
            Self::Sub => Some(left - right),
            Self::Mul => Some(left * right),
            Self::Div => (right.sign() != Sign::NoSign).then(|| left / right),
            Self::Max => Some(left.max(right)),
            Self::Min => Some(left.min(right)),
        }
    }
}

/// A numeric substitution block.
#[derive(Debug)]
pub(crate) struct Block {
    /// The expression whose value is matched; without one, any number is.
    pub(crate) expression: Option<Expression>,
    pub(crate) format: Format,
    /// The variable that the block defines.
    pub(crate) defines: Option<(Name, NumberId)>,
}

/// An operand of an expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operand {
    /// Only a variable: the first operand of `[[@LINE+1]]`.
    Variable,
    /// Only a decimal number: the second operand of `[[@LINE+1]]`.
    Decimal,
    Any,
}

/// The name of a variable and whether it is a pseudo variable such as `@LINE`.
pub(crate) fn variable_name<'a>(text: &mut Cursor<'a>) -> Result<(Cursor<'a>, bool), Diagnostic> {
    let start = match text.first() {
        None => return Err(text.error("empty variable name")),
        Some(b'@' | b'$') => 1,
        Some(_) => 0,
    };
    let is_pseudo = text.starts_with(b"@");
    match text.text.get(start) {
        None if is_pseudo => return Err(text.error("empty pseudo variable name")),
        None => return Err(text.error("empty global variable name")),
        Some(first) if *first == b'_' || first.is_ascii_alphabetic() => {}
        Some(_) => return Err(text.error("invalid variable name, expected a letter or `_` first")),
    }
    let rest = text.text[start..].iter();
    let length = rest.take_while(|byte| **byte == b'_' || byte.is_ascii_alphanumeric()).count();
    Ok((text.take(start + length), is_pseudo))
}

/// Parses numeric substitution blocks.
pub(crate) struct BlockParser<'a> {
    pub(crate) variables: &'a mut Variables,
    /// The line of the check file; `None` on the command line.
    pub(crate) line: Option<usize>,
    /// True for `[[@LINE+1]]`, the form without `#`.
    pub(crate) is_line_form: bool,
}

impl BlockParser<'_> {
    /// Parses a block without its brackets and its `#`.
    pub(crate) fn parse(&mut self, mut text: Cursor<'_>) -> Result<Block, Diagnostic> {
        let (explicit, precision) = explicit_format(&mut text)?;
        let definition = text.find(b":").map(|end| {
            let definition = text.take(end);
            text.take(1);
            definition
        });
        text.trim_start();
        let has_constraint = text.eat(b"==");
        text.trim_start();
        if text.is_empty() && has_constraint {
            return Err(text.error("empty numeric expression should not have a constraint"));
        }
        text.trim_end();
        let start = text.place;
        let expression = if text.is_empty() { None } else { Some(self.expression(text, !has_constraint)?) };
        let implicit = match (&explicit, &expression) {
            (None, Some(expression)) => expression.implicit_format(self.variables, start)?,
            (Some(_), _) | (None, None) => None,
        };
        let format = explicit.or(implicit).unwrap_or(Format { precision, ..Format::UNSIGNED });
        let defines = definition.map(|name| self.definition(name, format)).transpose()?;
        Ok(Block { expression, format, defines })
    }

    fn definition(&mut self, mut text: Cursor<'_>, format: Format) -> Result<(Name, NumberId), Diagnostic> {
        text.trim_start();
        let (name, is_pseudo) = variable_name(&mut text)?;
        if is_pseudo {
            return Err(name.error("definition of pseudo numeric variable unsupported"));
        }
        if self.variables.is_string(name.text) {
            let message = format!("string variable with name '{}' already exists", shown(name.text));
            return Err(name.error(message));
        }
        text.trim_start();
        if !text.is_empty() {
            return Err(text.error("unexpected characters after numeric variable name"));
        }
        let id = match self.variables.number_named(name.text) {
            Some(id) if self.variables.number(id).format != format => {
                return Err(name.error("format different from previous variable definition"));
            }
            Some(id) => id,
            None => self.variables.add_number(name.text, format, self.line),
        };
        Ok((name.text.to_vec(), id))
    }

    /// An expression that takes all of `text`.
    fn expression(
        &mut self,
        mut text: Cursor<'_>,
        may_be_constraint: bool,
    ) -> Result<Expression, Diagnostic> {
        let first = if self.is_line_form { Operand::Variable } else { Operand::Any };
        let mut left = self.operand(&mut text, first, may_be_constraint, 0)?;
        while !text.is_empty() {
            left = self.binary(&mut text, left, 0)?;
            if self.is_line_form && !text.is_empty() {
                let rest = shown(text.text).into_owned();
                return Err(text.error(format!("unexpected characters at end of expression '{rest}'")));
            }
        }
        Ok(left)
    }

    /// `left`, with the operator and the operand after it.
    fn binary(
        &mut self,
        text: &mut Cursor<'_>,
        left: Expression,
        depth: usize,
    ) -> Result<Expression, Diagnostic> {
        text.trim_start();
        if text.is_empty() {
            return Ok(left);
        }
        let operator = text.take(1);
        let operation = match operator.text {
            b"+" => Operation::Add,
            b"-" => Operation::Sub,
            other => {
                let message = format!("unsupported operation '{}', expected `+` or `-`", shown(other));
                return Err(operator.error(message));
            }
        };
        text.trim_start();
        if text.is_empty() {
            return Err(text.error("missing operand in expression"));
        }
        let second = if self.is_line_form { Operand::Decimal } else { Operand::Any };
        let right = self.operand(text, second, false, depth)?;
        Ok(Expression::Binary { operation, left: Box::new(left), right: Box::new(right) })
    }

    fn operand(
        &mut self,
        text: &mut Cursor<'_>,
        allowed: Operand,
        may_be_constraint: bool,
        depth: usize,
    ) -> Result<Expression, Diagnostic> {
        if depth > MAX_DEPTH {
            return Err(
                text.error(format!("expression nested too deeply, expected at most {MAX_DEPTH} levels"))
            );
        }
        if text.starts_with(b"(") {
            return match allowed {
                Operand::Any => self.parenthesised(text, depth + 1),
                Operand::Variable | Operand::Decimal => {
                    Err(text.error("parenthesized expression not permitted here"))
                }
            };
        }
        if allowed != Operand::Decimal {
            match variable_name(text) {
                Ok((name, is_pseudo)) => return self.named(text, name, is_pseudo, allowed, depth),
                Err(error) if allowed == Operand::Variable => return Err(error),
                // A number, then.
                Err(_) => {}
            }
        }
        let start = *text;
        let negative = text.eat(b"-");
        let value = if allowed == Operand::Decimal { text.digits(10)? } else { text.literal()? };
        let value = value.ok_or_else(|| {
            let constraint = if may_be_constraint { "matching constraint or " } else { "" };
            start.error(format!("invalid {constraint}operand format"))
        })?;
        Ok(Expression::Literal(if negative { -value } else { value }))
    }

    /// A variable or a call, after its name.
    fn named(
        &mut self,
        text: &mut Cursor<'_>,
        name: Cursor<'_>,
        is_pseudo: bool,
        allowed: Operand,
        depth: usize,
    ) -> Result<Expression, Diagnostic> {
        let mut after = *text;
        after.trim_start();
        if after.starts_with(b"(") {
            if allowed != Operand::Any {
                return Err(name.error("unexpected function call"));
            }
            *text = after;
            return self.call(text, name, depth + 1);
        }
        let shown_name = shown(name.text);
        if is_pseudo && name.text != b"@LINE" {
            return Err(
                name.error(format!("invalid pseudo numeric variable '{shown_name}', expected `@LINE`"))
            );
        }
        let known = self.variables.number_named(name.text);
        // A variable that nothing has defined so far is undefined when it is matched.
        let id = known.unwrap_or_else(|| self.variables.add_number(name.text, Format::UNSIGNED, None));
        let defined_on = self.variables.number(id).defined_on;
        if defined_on.is_some() && defined_on == self.line {
            return Err(name.error(format!(
                "numeric variable '{shown_name}' defined earlier in the same CHECK directive"
            )));
        }
        Ok(Expression::Variable { name: name.text.to_vec(), id, place: name.place })
    }

    fn parenthesised(&mut self, text: &mut Cursor<'_>, depth: usize) -> Result<Expression, Diagnostic> {
        text.take(1);
        text.trim_start();
        if text.is_empty() {
            return Err(text.error("missing operand in expression"));
        }
        let mut inner = self.operand(text, Operand::Any, false, depth)?;
        text.trim_start();
        while !text.is_empty() && !text.starts_with(b")") {
            inner = self.binary(text, inner, depth)?;
            text.trim_start();
        }
        match text.eat(b")") {
            true => Ok(inner),
            false => Err(text.error("missing ')' at end of nested expression")),
        }
    }

    /// The arguments of a call, from its parenthesis.
    fn call(
        &mut self,
        text: &mut Cursor<'_>,
        name: Cursor<'_>,
        depth: usize,
    ) -> Result<Expression, Diagnostic> {
        let function = shown(name.text);
        let operation = Operation::named(name.text).ok_or_else(|| {
            name.error(format!(
                "call to undefined function '{function}', expected add, sub, mul, div, min or max"
            ))
        })?;
        text.take(1);
        text.trim_start();
        let mut arguments = Vec::new();
        while !text.is_empty() && !text.starts_with(b")") {
            if text.starts_with(b",") {
                return Err(text.error("missing argument"));
            }
            arguments.push(self.argument(text, depth)?);
            text.trim_start();
            if !text.eat(b",") {
                break;
            }
            text.trim_start();
            if text.starts_with(b")") {
                return Err(text.error("missing argument"));
            }
        }
        if !text.eat(b")") {
            return Err(text.error("missing ')' at end of call expression"));
        }
        match <[Expression; 2]>::try_from(arguments) {
            Ok([left, right]) => {
                Ok(Expression::Binary { operation, left: Box::new(left), right: Box::new(right) })
            }
            Err(arguments) => {
                Err(name
                    .error(format!("function '{function}' takes 2 arguments but {} given", arguments.len())))
            }
        }
    }

    fn argument(&mut self, text: &mut Cursor<'_>, depth: usize) -> Result<Expression, Diagnostic> {
        let mut argument = self.operand(text, Operand::Any, false, depth)?;
        while !text.is_empty() {
            text.trim_start();
            if matches!(text.first(), Some(b',' | b')')) {
                break;
            }
            argument = self.binary(text, argument, depth)?;
        }
        Ok(argument)
    }
}

/// Takes `%x,` off the front, if there is such a format; and its precision, which also holds without a letter.
fn explicit_format(text: &mut Cursor<'_>) -> Result<(Option<Format>, u32), Diagnostic> {
    const INVALID: &str = "invalid matching format specification in expression";
    let call = text.find(b"(").unwrap_or(usize::MAX);
    let Some(end) = text.find(b",").filter(|end| *end < call) else { return Ok((None, 0)) };
    let mut spec = text.take(end);
    text.take(1);
    spec.trim_start();
    spec.trim_end();
    if !spec.eat(b"%") {
        return Err(spec.error(INVALID));
    }
    let flag = spec;
    let alternate = spec.eat(b"#");
    let mut precision = 0;
    if spec.eat(b".") {
        let digits = spec.digits(10)?.and_then(|digits| u32::try_from(digits).ok());
        precision = digits.ok_or_else(|| spec.error("invalid precision in format specifier"))?;
        if precision > MAX_PRECISION {
            return Err(spec.error(format!("precision {precision}, expected at most {MAX_PRECISION}")));
        }
    }
    let letter = spec.take(1);
    let base = match letter.text {
        b"" => None,
        b"u" => Some(Base::Unsigned),
        b"d" => Some(Base::Signed),
        b"x" => Some(Base::HexLower),
        b"X" => Some(Base::HexUpper),
        _ => return Err(letter.error("invalid format specifier in expression, expected %u, %d, %x or %X")),
    };
    if alternate && !matches!(base, Some(Base::HexLower | Base::HexUpper)) {
        return Err(flag.error("alternate form only supported for hex values"));
    }
    spec.trim_start();
    if !spec.is_empty() {
        return Err(spec.error(INVALID));
    }
    Ok((base.map(|base| Format { base, precision, alternate }), precision))
}
