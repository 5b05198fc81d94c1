//! Rules about configurations as a kind of rules. Mappings in them are read as in rules about mappings.

use super::sound::check;
use super::{Clauses, Operation, RuleValue, Test, TextRule, apply};
use crate::rules::ruleset::RuleSet;
use visa_canonical::parse::Reader;
use visa_canonical::rule::{Num, Sort, Term};
use visa_ir::context::Context;
use visa_ir::decl::{ClauseDecl, ClauseKind};
use visa_ir::diag::{Diagnostic, nearest};
use visa_ir::open::Opening;
use visa_numerics::DType;
use visa_rules::{COMPARISON, Kind, RuleKind, Scope, Syntax, Tree, Verdict, refuse};
use visa_stream::ops::begin;

/// The word for an absent clause.
const NONE: &str = "none";

/// Rules about the configuration of an operation: both sides hold the same elements.
#[derive(Clone, Copy, Debug)]
pub struct Configuration;

/// The operations that rules are about, and the rules that propose the configurations of a proof.
#[derive(Clone, Copy)]
pub struct Session<'a> {
    /// The operations, and the machine.
    pub ctx: &'a Context,
    /// The built-in rules.
    pub builtin: &'a RuleSet,
}

impl RuleKind for Configuration {
    const KIND: Kind = Kind::Configuration;
    const FORM: &'static str =
        "the form of a rule is `rule NAME OPERATION: CLAUSE VALUE, ... => CLAUSE VALUE, ... if CONDITION`";
    const BOTH_WAYS: bool = false;
    const CONDITIONS: &'static [&'static str] = &[COMPARISON, "dtype", "exact", "anchored", "consecutive"];

    type Session<'a> = Session<'a>;
    type Sort = Sort;
    type Options = Operation;
    type Side = Clauses;
    type Test = Test;

    fn scope() -> Scope<Sort> {
        apply::scope()
    }

    fn options(session: Session<'_>, name: &Tree<'_>, options: &[Tree<'_>]) -> Result<Operation, Diagnostic> {
        match options {
            [operation] => self::operation(session.ctx, operation),
            [] => {
                let message =
                    format!("rule `{}` has no operation; expected one after the name", name.as_str());
                let fix = format!("write `rule {} stream.fetch: ...`", name.as_str());
                Err(refuse("rule-option", name, message).fix(fix))
            }
            [_, second, ..] => {
                let message = format!("a rule is about one operation; found `{}` too", second.as_str());
                Err(refuse("rule-option", second, message).fix("write `:` after the operation".to_owned()))
            }
        }
    }

    fn side(
        _: Session<'_>,
        operation: &Operation,
        scope: &mut Scope<Sort>,
        side: Tree<'_>,
    ) -> Result<Clauses, Diagnostic> {
        self::side(&mut Reader { scope }, operation, side)
    }

    fn test(scope: &mut Scope<Sort>, test: Tree<'_>) -> Result<Test, Diagnostic> {
        if test.as_rule() != Syntax::format {
            return Ok(Test::Mapping(Reader { scope }.test(test)?));
        }
        let name = test.clone().into_inner().next().unwrap_or(test);
        Ok(Test::Format(DType::parse(name.as_str()).ok_or_else(|| {
            let names: Vec<_> = DType::names().collect();
            let message = format!("`{}` is not a format; expected {}", name.as_str(), names.join(", "));
            refuse("rule-format", &name, message)
        })?))
    }

    fn prove(session: Session<'_>, rules: &[TextRule]) -> Vec<Verdict> {
        check(session.ctx, session.builtin, rules)
    }
}

/// The operation, which has clauses to choose.
fn operation(ctx: &Context, piece: &Tree<'_>) -> Result<Operation, Diagnostic> {
    let name = piece.as_str();
    let decl = ctx.op(name).ok_or_else(|| {
        let known = ctx.dialects().flat_map(|dialect| dialect.ops.iter().copied().flatten());
        let near = nearest(name, known.map(|op| op.name)).map(|near| format!("write `{near}`"));
        refuse("rule-operation", piece, format!("`{name}` is no operation")).fix(near)
    })?;
    match chosen(decl).next() {
        Some(_) => Ok(decl),
        None => Err(refuse("rule-operation", piece, format!("`{name}` has no clause that can be chosen"))),
    }
}

/// The clauses of an operation that rules choose: none of an operation that begins a pipeline, since rules do not
/// choose contexts.
fn chosen(decl: Operation) -> impl Iterator<Item = &'static ClauseDecl> {
    let begins = std::ptr::eq(decl, &begin::DECL);
    decl.clauses.iter().filter(move |clause| clause.opening == Opening::Configuration && !begins)
}

/// The clauses of one side.
fn side(reader: &mut Reader<'_>, decl: Operation, piece: Tree<'_>) -> Result<Clauses, Diagnostic> {
    let mut side = Clauses::new();
    for clause in piece.into_inner() {
        let whole = clause.clone();
        let mut parts = clause.into_inner();
        let (Some(name), Some(value)) = (parts.next(), parts.next()) else {
            return Err(refuse("rule-syntax", &whole, "expected a clause and its value".to_owned()));
        };
        let Some(clause) = chosen(decl).find(|clause| clause.name == name.as_str()) else {
            return Err(unknown_clause(decl, &name));
        };
        if side.iter().any(|(known, _)| *known == clause.name) {
            let message = format!("`{}` occurs twice on this side", clause.name);
            return Err(refuse("rule-clause", &name, message));
        }
        side.push((clause.name, given(reader, clause, value)?));
    }
    Ok(side)
}

fn unknown_clause(decl: Operation, name: &Tree<'_>) -> Diagnostic {
    let known: Vec<&str> = chosen(decl).map(|clause| clause.name).collect();
    let message = format!(
        "`{}` has no clause `{}` that can be chosen; there is `{}`",
        decl.name,
        name.as_str(),
        known.join("`, `")
    );
    let near = nearest(name.as_str(), known).map(|near| format!("write `{near}`"));
    refuse("rule-clause", name, message).fix(near)
}

/// A value of a clause.
fn given(reader: &mut Reader<'_>, clause: &ClauseDecl, piece: Tree<'_>) -> Result<RuleValue, Diagnostic> {
    let word = piece.as_rule() == Syntax::word;
    if word && piece.as_str() == NONE {
        return Ok(RuleValue::Absent);
    }
    let expected = |what: String| {
        let message = format!("`{}` of `{}` is {what}", piece.as_str().trim(), clause.name);
        Err(refuse("rule-clause", &piece, message))
    };
    match clause.kind {
        ClauseKind::Body(_) if !word => Ok(RuleValue::Map(reader.term(piece)?)),
        ClauseKind::Int if word => Ok(RuleValue::Int(Num::Var(reader.scope.slot(&piece, Sort::Number)?))),
        ClauseKind::Int => match reader.term(piece.clone())? {
            Term::Literal(number) => Ok(RuleValue::Int(number)),
            Term::Var(_) | Term::Group(..) | Term::Pad { .. } | Term::Apply(..) => {
                expected("no number".to_owned())
            }
            Term::Gather(..) | Term::Slide(..) => expected("no number".to_owned()),
        },
        ClauseKind::Word(words) => match words.iter().find(|own| **own == piece.as_str().trim()) {
            Some(known) => Ok(RuleValue::Word(known)),
            None => expected(format!("none of `{}`", words.join("`, `"))),
        },
        ClauseKind::Body(_) => expected("no mapping: names of mappings begin with a capital".to_owned()),
        ClauseKind::Str | ClauseKind::Symbol | ClauseKind::Ints | ClauseKind::Strs | ClauseKind::Flag => {
            expected("nothing that a rule can choose".to_owned())
        }
    }
}
