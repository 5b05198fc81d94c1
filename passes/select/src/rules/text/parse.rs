//! Reads rules about configurations. The grammar and the reader of mappings are those of rules about mappings.

use super::{Given, Requirement, TextRule, apply};
use pest::iterators::Pair;
use visa_canonical::parse::{Reader, Syntax, error, read_file};
use visa_canonical::rule::{Num, Sort, Term};
use visa_ir::context::Context;
use visa_ir::decl::{ClauseDecl, ClauseKind, OpDecl};
use visa_ir::diag::{Diagnostic, nearest};
use visa_ir::open::Opening;
use visa_numerics::DType;
use visa_stream::ops::begin;

/// How a rule is written.
pub(crate) const SHAPE: &str =
    "a rule is written `rule NAME: OPERATION CLAUSE VALUE, ... => CLAUSE VALUE, ... if CONDITION`";

/// What a word says of a clause that is not there.
const NONE: &str = "none";

/// The rules of a file that can be read, in order, and what is wrong with the others.
pub(crate) fn parse(ctx: &Context, text: &str) -> (Vec<TextRule>, Vec<Diagnostic>) {
    read_file(text, Syntax::config_file, SHAPE, |piece, doc| read(ctx, piece, doc))
}

fn read(ctx: &Context, piece: Pair<'_, Syntax>, doc: String) -> Result<TextRule, Diagnostic> {
    let span = piece.as_span();
    let text = span.as_str().split_whitespace().collect::<Vec<_>>().join(" ");
    let text = text.split_once(':').map_or("", |(_, rule)| rule).trim().to_owned();
    let range = span.start()..span.start() + span.as_str().trim_end().len();
    let whole = piece.clone();
    let mut reader = Reader { scope: apply::scope(), binding: true };
    let (mut name, mut decl, mut condition, mut sides) = ("", None, None, Vec::new());
    for part in piece.into_inner() {
        match part.as_rule() {
            Syntax::name => name = egg::Symbol::from(part.as_str()).as_str(),
            Syntax::operation => decl = Some(operation(ctx, &part)?),
            Syntax::becomes => reader.binding = false,
            Syntax::requirement => {
                condition =
                    part.into_inner().next().map(|part| requirement(&mut reader, part)).transpose()?;
            }
            _ => sides.extend(decl.map(|decl| side(&mut reader, decl, part)).transpose()?),
        }
    }
    let (Some(decl), Some(right), Some(left)) = (decl, sides.pop(), sides.pop()) else {
        return Err(error("rule-syntax", &whole, "a rule has an operation and two sides".to_owned()));
    };
    Ok(TextRule { name, doc, text, range, op: decl, left, right, condition, scope: reader.scope })
}

/// The operation, which has clauses to choose.
fn operation(ctx: &Context, piece: &Pair<'_, Syntax>) -> Result<&'static OpDecl, Diagnostic> {
    let name = piece.as_str();
    let decl = ctx.op(name).ok_or_else(|| {
        let known = ctx.dialects().flat_map(|dialect| dialect.ops.iter().copied().flatten());
        let near = nearest(name, known.map(|op| op.name)).map(|near| format!("write `{near}`"));
        error("rule-operation", piece, format!("`{name}` is no operation")).fix(near)
    })?;
    match chosen(decl).next() {
        Some(_) => Ok(decl),
        None => Err(error("rule-operation", piece, format!("`{name}` has no clause that can be chosen"))),
    }
}

/// The clauses of an operation that rules choose: of what begins a pipeline none, since contexts are not theirs.
fn chosen(decl: &'static OpDecl) -> impl Iterator<Item = &'static ClauseDecl> {
    let begins = std::ptr::eq(decl, &begin::DECL);
    decl.clauses.iter().filter(move |clause| clause.opening == Opening::Configuration && !begins)
}

/// The clauses of one side.
fn side(
    reader: &mut Reader,
    decl: &'static OpDecl,
    piece: Pair<'_, Syntax>,
) -> Result<Vec<(&'static str, Given)>, Diagnostic> {
    let mut side: Vec<(&'static str, Given)> = Vec::new();
    for clause in piece.into_inner() {
        let whole = clause.clone();
        let mut parts = clause.into_inner();
        let (Some(name), Some(value)) = (parts.next(), parts.next()) else {
            return Err(error("rule-syntax", &whole, "expected a clause and its value".to_owned()));
        };
        let Some(clause) = chosen(decl).find(|clause| clause.name == name.as_str()) else {
            return Err(unknown_clause(decl, &name));
        };
        if side.iter().any(|(known, _)| *known == clause.name) {
            let message = format!("`{}` occurs twice on this side", clause.name);
            return Err(error("rule-clause", &name, message));
        }
        side.push((clause.name, given(reader, clause, value)?));
    }
    Ok(side)
}

fn unknown_clause(decl: &'static OpDecl, name: &Pair<'_, Syntax>) -> Diagnostic {
    let known: Vec<&str> = chosen(decl).map(|clause| clause.name).collect();
    let message = format!(
        "`{}` has no clause `{}` that can be chosen; there is `{}`",
        decl.name,
        name.as_str(),
        known.join("`, `")
    );
    let near = nearest(name.as_str(), known).map(|near| format!("write `{near}`"));
    error("rule-clause", name, message).fix(near)
}

/// A value of a clause.
fn given(reader: &mut Reader, clause: &ClauseDecl, piece: Pair<'_, Syntax>) -> Result<Given, Diagnostic> {
    let word = piece.as_rule() == Syntax::word;
    if word && piece.as_str() == NONE {
        return Ok(Given::Absent);
    }
    let expected = |what: String| {
        let message = format!("`{}` of `{}` is {what}", piece.as_str().trim(), clause.name);
        Err(error("rule-clause", &piece, message))
    };
    match clause.kind {
        ClauseKind::Body(_) if !word => Ok(Given::Map(reader.term(piece)?)),
        ClauseKind::Int if word => Ok(Given::Int(Num::Var(reader.slot(&piece, Sort::Number)?))),
        ClauseKind::Int => match reader.term(piece.clone())? {
            Term::Literal(number) => Ok(Given::Int(number)),
            Term::Var(_) | Term::Group(..) | Term::Pad { .. } | Term::Apply(..) => {
                expected("no number".to_owned())
            }
            Term::Gather(..) | Term::Slide(..) => expected("no number".to_owned()),
        },
        ClauseKind::Word(words) => match words.iter().find(|own| **own == piece.as_str().trim()) {
            Some(known) => Ok(Given::Word(known)),
            None => expected(format!("none of `{}`", words.join("`, `"))),
        },
        ClauseKind::Body(_) => expected("no mapping: names of mappings begin with a capital".to_owned()),
        ClauseKind::Str | ClauseKind::Symbol | ClauseKind::Ints | ClauseKind::Strs | ClauseKind::Flag => {
            expected("nothing that a rule can choose".to_owned())
        }
    }
}

fn requirement(reader: &mut Reader, piece: Pair<'_, Syntax>) -> Result<Requirement, Diagnostic> {
    let shape = piece.as_rule();
    let whole = piece.clone();
    let mut parts: Vec<_> = piece.into_inner().collect();
    Ok(match shape {
        Syntax::either | Syntax::both => {
            let parts = parts.into_iter().map(|part| requirement(reader, part));
            let mut parts = parts.collect::<Result<Vec<_>, _>>()?;
            match (shape, parts.len()) {
                (_, 1) => parts.remove(0),
                (Syntax::either, _) => Requirement::Either(parts),
                _ => Requirement::Both(parts),
            }
        }
        Syntax::denial => match (parts.pop(), parts.pop()) {
            (Some(denied), Some(_)) => Requirement::Not(Box::new(requirement(reader, denied)?)),
            (Some(only), None) => requirement(reader, only)?,
            (None, _) => return Err(error("rule-syntax", &whole, "expected a condition".to_owned())),
        },
        Syntax::format => {
            let name = parts.pop().unwrap_or(whole);
            Requirement::Format(DType::parse(name.as_str()).ok_or_else(|| {
                let names: Vec<_> = DType::names().collect();
                let message = format!("`{}` is no format: there is {}", name.as_str(), names.join(", "));
                error("rule-format", &name, message)
            })?)
        }
        _ => Requirement::Asked(match parts.pop() {
            Some(condition) => reader.condition(condition)?,
            None => return Err(error("rule-syntax", &whole, "expected a condition".to_owned())),
        }),
    })
}
