//! The pretty form: `%r = dialect.op lead %operands clause value, ... : type {`.

use super::build::{comment_fix, with_comma};
use super::limits::BYTE_ORDER_MARK;
use super::location::Located;
use super::{Parser, kept_name};
use crate::context::{Attr, AttrId, Context};
use crate::decl::{ClauseDecl, OpDecl, Trait};
use crate::diag::Diagnostic;
use crate::module::{BlockId, OpId, OpSpec, TypeId};
use crate::span::Span;
use pest::Parser as _;
use pest::iterators::Pair;
use std::borrow::Cow;

#[derive(pest_derive::Parser)]
#[grammar = "parse/pretty.pest"]
struct PrettyGrammar;

/// The pieces of a statement, still text.
#[derive(Default)]
struct Statement<'t> {
    results: Vec<(&'t str, Span)>,
    name: (&'t str, Span),
    lead: Option<(&'t str, Span)>,
    arguments: Option<Vec<Argument<'t>>>,
    operands: Vec<(&'t str, Span)>,
    clauses: Vec<(&'t str, Span, &'t str, Span)>,
    types: Vec<(&'t str, Span)>,
}

/// An argument of a signature.
struct Argument<'t> {
    name: (&'t str, Span),
    mark: Option<(&'t str, Span)>,
    ty: Option<(&'t str, Span)>,
    location: Option<Span>,
}

impl<'a> Parser<'a> {
    /// Reads one operation in the pretty form, region and location included.
    pub(super) fn pretty_op(&mut self, block: BlockId) -> Result<(), Diagnostic> {
        let statement = self.statement()?;
        let result = self.pretty_build(block, &statement);
        let op = result?;
        if self.rest().starts_with('{') {
            self.pretty_region(op, &statement)?;
        } else {
            self.no_region(op, &statement)?;
        }
        self.skip_spaces();
        if self.at_location() { self.pretty_location(op) } else { Ok(()) }
    }

    /// Reads the location after an operation, which ends its line.
    fn pretty_location(&mut self, op: OpId) -> Result<(), Diagnostic> {
        self.location(Located::Op(op))?;
        self.skip_spaces();
        if self.at_end() {
            return Ok(());
        }
        let message = format!("found {} after a location, expected the end of the line", self.found());
        Err(Diagnostic::error("syntax", self.here(), message))
    }

    /// Returns true if an operation may end here.
    fn at_end(&self) -> bool {
        let rest = self.rest();
        rest.is_empty() || rest.starts_with(['\n', '}']) || rest.starts_with("//")
    }

    /// Parses the statement's own line(s) and stops at `{`, a line's end, or the text's end.
    fn statement(&mut self) -> Result<Statement<'a>, Diagnostic> {
        let base = self.pos;
        let mut pairs = PrettyGrammar::parse(Rule::statement, self.rest())
            .map_err(|error| syntax_error(self.ctx, &error, self.rest(), base))?;
        let mut statement = Statement::default();
        if let Some(pair) = pairs.next() {
            self.pos = base + pair.as_span().end();
            for piece in pair.into_inner() {
                statement.take(piece, base);
            }
        }
        self.skip_spaces();
        if !(self.at_end() || self.rest().starts_with('{') || self.at_location()) {
            let message =
                format!("found {}, expected a clause, `: type`, `{{` or the end of the line", self.found());
            let fix = comment_fix(self.rest()).or_else(|| operands_fix(statement.name.0, self.rest()));
            return Err(Diagnostic::error("syntax", self.here(), message).fix(fix));
        }
        Ok(statement)
    }

    fn pretty_build(&mut self, block: BlockId, statement: &Statement<'a>) -> Result<OpId, Diagnostic> {
        let (name, name_span) = statement.name;
        let decl = self.op_decl(name, name_span)?;
        if let Some(arguments) = &statement.arguments
            && !decl.has(Trait::Function)
        {
            let names: Vec<_> = arguments.iter().map(|argument| argument.name.0).collect();
            let message = format!("`{name}` has its operands in parentheses");
            let fix = format!("write `{}`", format!("{name} {}", names.join(", ")).trim_end());
            return Err(Diagnostic::error("syntax", name_span, message).fix(fix));
        }
        let start = statement.results.first().map_or(name_span, |&(_, span)| span).range().start;
        let span = Span::new(start..start + self.text[start..self.pos].trim_end().len());
        let mut operands = Vec::with_capacity(statement.operands.len());
        for &(value, span) in &statement.operands {
            operands.push(self.use_value(value, span)?);
        }
        let mut spec = OpSpec::new(decl, span).operands(operands);
        spec = self.pretty_clauses(decl, statement, spec)?;
        let mut written = Vec::new();
        for &(text, span) in &statement.types {
            written.push((self.ty(text, span)?, span));
        }
        let names: Vec<_> =
            statement.results.iter().map(|&(name, span)| (Cow::Borrowed(name), span)).collect();
        let op = self.module.append(block, spec);
        self.attach_results(op, Some(decl), &names, &written, span)?;
        Ok(op)
    }

    /// Reads the clauses in the declaration's order, regardless of their order in the text.
    fn pretty_clauses(
        &mut self,
        decl: &'static OpDecl,
        statement: &Statement<'a>,
        mut spec: OpSpec,
    ) -> Result<OpSpec, Diagnostic> {
        let mut found: Vec<Option<(AttrId, Span)>> = vec![None; decl.clauses.len()];
        match (decl.lead(), statement.lead) {
            (Some(clause), Some((text, span))) => {
                let value = self.pretty_value(clause, text, span);
                put(&mut found, decl, clause, (value.map_err(|error| with_comma(error, decl, text))?, span));
            }
            // A first clause without a value looks like a lead clause to the grammar.
            (None, Some((text, span))) if decl.clause(text).is_some() => {
                let clause = self.clause_decl(decl, text, span)?;
                put(&mut found, decl, clause, (self.pretty_value(clause, "", span)?, span));
            }
            (None, Some((text, span))) => {
                let message = format!("`{}` takes no `{text}` here: expected operands or clauses", decl.name);
                return Err(Diagnostic::error("syntax", span, message));
            }
            (_, None) => {}
        }
        for &(name, name_span, text, span) in &statement.clauses {
            let clause = self.clause_decl(decl, name, name_span)?;
            if clause.mark {
                let message = format!("`{name}` is written at each argument that it is of");
                let fix = format!("write `%name: {name} !...` in the list of arguments");
                return Err(Diagnostic::error("syntax", name_span, message).fix(fix));
            }
            let span = if text.is_empty() { name_span } else { span };
            let value =
                self.pretty_value(clause, text, span).map_err(|error| with_comma(error, decl, text))?;
            if !put(&mut found, decl, clause, (value, span)) {
                let message = format!("clause `{name}` is written twice");
                return Err(Diagnostic::error("duplicate-clause", name_span.to(span), message));
            }
        }
        for (clause, value, span) in self.marks(decl, statement)? {
            put(&mut found, decl, clause, (value, span));
        }
        for (clause, found) in decl.clauses.iter().zip(found) {
            match found {
                Some((value, span)) => spec = spec.clause_at(clause.name, value, span),
                None => crate::verify::may_be_absent(decl, clause, statement.name.1)?,
            }
        }
        Ok(spec)
    }

    /// The clauses that are marks of arguments, each with the numbers of those that have it.
    fn marks(
        &self,
        decl: &'static OpDecl,
        statement: &Statement<'a>,
    ) -> Result<Vec<(&'static ClauseDecl, AttrId, Span)>, Diagnostic> {
        let arguments = statement.arguments.iter().flatten().enumerate();
        let marked = arguments.filter_map(|(number, argument)| Some((number as i64, argument.mark?)));
        let mut found: Vec<(&ClauseDecl, Vec<i64>, Span)> = Vec::new();
        for (number, (mark, span)) in marked {
            let clause = decl.clauses.iter().find(|clause| clause.mark && clause.name == mark);
            let clause = clause.ok_or_else(|| {
                let known: Vec<_> =
                    decl.clauses.iter().filter(|clause| clause.mark).map(|clause| clause.name).collect();
                let message = format!("`{}` has no mark `{mark}` for arguments", decl.name);
                let fix = crate::diag::nearest(mark, known).map(|near| format!("did you mean `{near}`?"));
                Diagnostic::error("syntax", span, message).fix(fix)
            })?;
            match found.iter_mut().find(|(known, ..)| known.name == clause.name) {
                Some((_, numbers, _)) => numbers.push(number),
                None => found.push((clause, vec![number], span)),
            }
        }
        let value = |numbers: Vec<i64>| self.ctx.attr(Attr::Ints(numbers.into()));
        Ok(found.into_iter().map(|(clause, numbers, span)| (clause, value(numbers), span)).collect())
    }

    fn no_region(&mut self, op: OpId, statement: &Statement<'a>) -> Result<(), Diagnostic> {
        let Some(decl) = self.module.op(self.ctx, op).decl().filter(|decl| decl.has_region()) else {
            return Ok(());
        };
        let message = format!("`{}` needs a body: expected `{{`", decl.name);
        Err(Diagnostic::error("syntax", statement.name.1, message))
    }

    fn pretty_region(&mut self, op: OpId, statement: &Statement<'a>) -> Result<(), Diagnostic> {
        let (name, name_span) = statement.name;
        let takes = self.module.op(self.ctx, op).decl().is_some_and(OpDecl::has_region);
        if !takes {
            let message = format!("`{name}` has no body, found `{{`");
            return Err(Diagnostic::error("syntax", self.here(), message));
        }
        self.eat("{");
        let block = self.module.add_region(op);
        self.scopes.push(super::Scope::default());
        let arguments = self.arguments(op, block, statement);
        self.block(block);
        self.scopes.pop();
        if !self.eat("}") {
            let message =
                format!("the body of `{name}` is not closed: expected `}}`, found {}", self.found());
            return Err(Diagnostic::error("syntax", name_span, message));
        }
        arguments
    }

    fn arguments(&mut self, op: OpId, block: BlockId, statement: &Statement<'a>) -> Result<(), Diagnostic> {
        let function = self.module.op(self.ctx, op).decl().is_some_and(|decl| decl.has(Trait::Function));
        match &statement.arguments {
            None if function => {
                let message = format!("`{}` needs its arguments: expected `(`", statement.name.0);
                Err(Diagnostic::error("syntax", statement.name.1, message))
            }
            None => Ok(()),
            Some(arguments) => {
                let inferred = self.argument_types(op)?;
                for (index, &Argument { name: (name, span), ty, location, .. }) in
                    arguments.iter().enumerate()
                {
                    let inferred = inferred.as_ref().and_then(|types| types.get(index).copied());
                    let ty = self.argument_type(ty, inferred, span).unwrap_or_else(|error| {
                        self.diagnostics.push(error);
                        self.unknown
                    });
                    let value = self.module.add_arg(block, ty, kept_name(name), span);
                    self.define(Cow::Borrowed(name), value, span);
                    if let Some(location) = location {
                        self.location_in(Located::Argument(value), location)?;
                    }
                }
                Ok(())
            }
        }
    }
}

impl Parser<'_> {
    /// The types of the arguments of a body, if the operation infers them and knows the types of its operands.
    fn argument_types(&self, op: OpId) -> Result<Option<Vec<TypeId>>, Diagnostic> {
        let view = self.module.op(self.ctx, op);
        let known = view.operands().iter().all(|&value| self.module.ty(value) != self.unknown);
        let arguments = view.decl().and_then(|decl| decl.arguments).filter(|_| known);
        arguments.map(|arguments| arguments(view)).transpose()
    }

    /// The type of an argument, as it is written or else as it is inferred.
    fn argument_type(
        &self,
        written: Option<(&str, Span)>,
        inferred: Option<TypeId>,
        span: Span,
    ) -> Result<TypeId, Diagnostic> {
        match (written, inferred) {
            (Some((text, span)), _) => self.ty(text, span),
            (None, Some(ty)) => Ok(ty),
            (None, None) => {
                let message = "an argument needs its type: expected `:` and a type";
                Err(Diagnostic::error("syntax", span, message))
            }
        }
    }
}

impl<'t> Statement<'t> {
    fn take(&mut self, piece: Pair<'t, Rule>, base: usize) {
        match piece.as_rule() {
            Rule::results => self.results = piece.into_inner().map(|p| located(&p, base)).collect(),
            Rule::op_name => self.name = located(&piece, base),
            Rule::lead => self.lead = piece.into_inner().next().map(|p| located(&p, base)),
            Rule::operands => self.operands = piece.into_inner().map(|p| located(&p, base)).collect(),
            Rule::types => self.types = piece.into_inner().map(|p| located(&p, base)).collect(),
            Rule::clauses => self.clauses = piece.into_inner().map(|p| pair_of(p, base)).collect(),
            Rule::signature => {
                self.arguments = Some(piece.into_inner().map(|p| argument(p, base)).collect());
            }
            _ => {}
        }
    }
}

/// Notes the value of a clause at its place in the declaration. Returns whether it is the first one.
fn put(
    found: &mut [Option<(AttrId, Span)>],
    decl: &OpDecl,
    clause: &ClauseDecl,
    value: (AttrId, Span),
) -> bool {
    let at = decl.clauses.iter().position(|known| known.name == clause.name);
    at.is_some_and(|at| found[at].replace(value).is_none())
}

/// A piece's text and place, without blanks around it.
fn located<'t>(pair: &Pair<'t, Rule>, base: usize) -> (&'t str, Span) {
    let text = pair.as_str().trim();
    let start = base + pair.as_span().start() + (pair.as_str().len() - pair.as_str().trim_start().len());
    (text, Span::new(start..start + text.len()))
}

fn argument(pair: Pair<'_, Rule>, base: usize) -> Argument<'_> {
    let piece = |rule: Rule| pair.clone().into_inner().find(|piece| piece.as_rule() == rule);
    let (ty, location) = (piece(Rule::type_text), piece(Rule::loc_text));
    let mark = piece(Rule::mark).map(|piece| located(&piece, base));
    let (ty, location) =
        (ty.map(|piece| located(&piece, base)), location.map(|piece| located(&piece, base).1));
    let (name, span, ..) = pair_of(pair, base);
    Argument { name: (name, span), mark, ty, location }
}

/// The two first pieces of a clause or an argument; the second may be missing.
fn pair_of(pair: Pair<'_, Rule>, base: usize) -> (&str, Span, &str, Span) {
    let mut pieces = pair.into_inner();
    let first = pieces.next().map(|p| located(&p, base));
    let (name, name_span) = first.unwrap_or(("", Span::new(base..base)));
    let (text, span) = pieces.next().map_or(("", name_span), |p| located(&p, base));
    (name, name_span, text, span)
}

/// The fix for operands in parentheses, as MLIR's generic form has them: `rest` starts with `(`.
fn operands_fix(op: &str, rest: &str) -> Option<String> {
    let (inside, _) = rest.strip_prefix('(')?.split_once(')')?;
    let names = inside.split(',').map(|name| name.trim().trim_start_matches('%'));
    let names: Vec<_> =
        names.filter(|name| super::is_value_name(name)).map(|name| format!("%{name}")).collect();
    let operands = if names.is_empty() { "%a, %b".to_owned() } else { names.join(", ") };
    Some(format!("write operands without parentheses: `{op} {operands}`"))
}

/// The grammar's expectation, in words.
fn syntax_error(ctx: &Context, error: &pest::error::Error<Rule>, text: &str, base: usize) -> Diagnostic {
    let at = match error.location {
        pest::error::InputLocation::Pos(at) | pest::error::InputLocation::Span((at, _)) => at,
    };
    let rest = &text[at..];
    let end = rest.find(|c: char| c.is_whitespace() || ",(){}[]:=".contains(c)).unwrap_or(rest.len());
    let found = match rest.chars().next() {
        None => "the end of the input".to_owned(),
        Some(BYTE_ORDER_MARK) => "a byte order mark (U+FEFF)".to_owned(),
        Some('\n') => "the end of the line".to_owned(),
        Some(c) if end == 0 => format!("`{c}`"),
        Some(_) => format!("`{}`", &rest[..end]),
    };
    let mut expected: Vec<&str> = match &error.variant {
        pest::error::ErrorVariant::ParsingError { positives, .. } => {
            positives.iter().map(rule_in_words).collect()
        }
        pest::error::ErrorVariant::CustomError { .. } => Vec::new(),
    };
    expected.sort_unstable();
    expected.dedup();
    let expected = if expected.is_empty() { "an operation".to_owned() } else { expected.join(" or ") };
    let span = Span::new(base + at..base + at + end.max(rest.chars().next().map_or(0, char::len_utf8)));
    let diagnostic = Diagnostic::error("syntax", span, format!("found {found}, expected {expected}"));
    if rest.starts_with(BYTE_ORDER_MARK) {
        return diagnostic
            .fix("remove it: a byte order mark is skipped only at the start of a file".to_owned());
    }
    let near = crate::diag::nearest(&rest[..end], ctx.op_names());
    diagnostic.fix(comment_fix(rest).or_else(|| near.map(|near| format!("did you mean `{near}`?"))))
}

fn rule_in_words(rule: &Rule) -> &'static str {
    match rule {
        Rule::op_name | Rule::statement => "an operation (`dialect.op`)",
        Rule::value | Rule::operands => "a value (`%name`)",
        Rule::results => "results (`%name =`)",
        Rule::word | Rule::clause | Rule::clauses => "a clause",
        Rule::type_text | Rule::types => "a type (`!dialect.name<...>`)",
        Rule::mark => "a mark of an argument",
        Rule::argument | Rule::signature => "an argument (`%name: type`)",
        Rule::string | Rule::quoted => "a string",
        Rule::lead | Rule::symbol | Rule::group_token | Rule::bare => "a first clause",
        Rule::located | Rule::loc_text | Rule::loc_inner => "a location (`loc(...)`)",
        Rule::raw | Rule::stop | Rule::blank | Rule::group | Rule::inner => "a clause's value",
        Rule::EOI | Rule::nl | Rule::sp | Rule::comment => "the end of the line",
        Rule::angle | Rule::angle_inner => "`<...>`",
    }
}
