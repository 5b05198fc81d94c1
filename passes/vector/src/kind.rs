//! Rules about expressions of the vector engine as a kind of rules.

use crate::rule::{Operand, Options, Predicate, Test, Vector};
use crate::sound::check;
use visa_ir::diag::Diagnostic;
use visa_mapping::expression::{Dag, Expression, NodeKind};
use visa_numerics::DType;
use visa_rules::{Kind, Rule, RuleKind, Scope, Syntax, Tree, Verdict, refuse, span};

impl RuleKind for Vector {
    const KIND: Kind = Kind::Vector;
    const FORM: &'static str = "the form of a rule is `rule NAME FORMAT: EXPRESSION => EXPRESSION if \
                                CONDITION`, or with `fast ULPS` after FORMAT";
    const BOTH_WAYS: bool = true;
    const CONDITIONS: &'static [&'static str] = &["number", "power_of_two"];

    type Session<'a> = ();
    type Sort = Operand;
    type Options = Options;
    /// The expression for each format of the options.
    type Side = Vec<Dag>;
    type Test = Test;

    fn options((): (), name: &Tree<'_>, options: &[Tree<'_>]) -> Result<Options, Diagnostic> {
        let Some((format, others)) = options.split_first() else {
            let message = format!("rule `{}` has no format; expected `f32`, `i32` or `any`", name.as_str());
            return Err(
                refuse("rule-option", name, message).fix(format!("write `rule {} any: ...`", name.as_str()))
            );
        };
        let formats: &[DType] = match format.as_str() {
            "f32" => &[DType::F32],
            "i32" => &[DType::I32],
            "any" => &[DType::I32, DType::F32],
            other => {
                let message = format!("`{other}` is not a format of a rule; expected `f32`, `i32` or `any`");
                return Err(refuse("rule-option", format, message));
            }
        };
        let fast = match others {
            [] => None,
            [word, ..] if word.as_str() == "fast" && formats != [DType::F32] => {
                let message = format!("`fast` is an option of `f32`; found `{}`", format.as_str());
                return Err(refuse("rule-option", word, message));
            }
            [word, bound] if word.as_str() == "fast" => match bound.as_str().parse() {
                Ok(ulps @ 1..=MAX_ULPS) => Some(ulps),
                Ok(_) | Err(_) => {
                    let message =
                        format!("`{}` is not a bound; expected 1 to {MAX_ULPS} ulps", bound.as_str());
                    return Err(refuse("rule-option", bound, message));
                }
            },
            [word, ..] => {
                let message =
                    format!("`{}` is not an option here; expected `fast ULPS` or `:`", word.as_str());
                return Err(refuse("rule-option", word, message));
            }
        };
        Ok(Options { formats, fast })
    }

    fn side(
        (): (),
        options: &Options,
        scope: &mut Scope<Operand>,
        side: Tree<'_>,
    ) -> Result<Vec<Dag>, Diagnostic> {
        for name in side.clone().into_inner().filter(|part| part.as_rule() == Syntax::variable) {
            scope.slot(&name, Operand)?;
        }
        let expression = expression(scope, &side)?;
        let dtypes = |dtype: &DType| vec![*dtype; scope.names().len()];
        let dags = options.formats.iter().map(|dtype| Dag::new(&expression, &dtypes(dtype)));
        let dags: Vec<Dag> = dags
            .collect::<Result<_, _>>()
            .map_err(|error| refuse("rule-syntax", &side, error.message).fix(error.fix))?;
        let alone =
            |dag: &Dag| matches!(dag.nodes.get(dag.root).map(|node| &node.kind), Some(NodeKind::Operand(_)));
        if scope.binding() && dags.iter().any(alone) {
            let message =
                format!("`{}` matches every expression; expected an operation", side.as_str().trim());
            return Err(refuse("rule-left", &side, message));
        }
        Ok(dags)
    }

    fn test(scope: &mut Scope<Operand>, test: Tree<'_>) -> Result<Test, Diagnostic> {
        let whole = test.clone();
        let mut parts = test.into_inner();
        let (Some(name), Some(term)) = (parts.next(), parts.next()) else {
            return Err(refuse("rule-syntax", &whole, "expected `number(c)` or `power_of_two(c)`"));
        };
        let predicate = if name.as_str() == "number" { Predicate::Number } else { Predicate::PowerOfTwo };
        let Some(operand) = operand(term.clone()) else {
            let message = format!("`{}` is not an operand", term.as_str().trim());
            return Err(refuse("rule-syntax", &term, message).fix(format!("write `{}(c)`", name.as_str())));
        };
        Ok(Test { predicate, operand: scope.slot(&operand, Operand)? })
    }

    fn prove((): (), rules: &[Rule<Self>]) -> Vec<Verdict> {
        rules.iter().map(check).collect()
    }
}

/// The greatest bound of a `fast` rule.
const MAX_ULPS: u32 = 999;

/// The expression of a side, read by the parser of `stream.vector_expr`.
fn expression(scope: &Scope<Operand>, side: &Tree<'_>) -> Result<Expression, Diagnostic> {
    let names: Vec<&str> = scope.names().iter().map(|(name, _)| name.as_str()).collect();
    let head = format!("[{}: ", names.join(", "));
    let body = side.as_str().trim_end();
    Expression::parse(&format!("{head}{body}]")).map_err(|error| {
        let finding = refuse("rule-syntax", side, error.message).fix(error.fix);
        match error.range.filter(|range| range.start >= head.len()) {
            Some(range) => {
                let part = range.start - head.len()..range.end - head.len();
                Diagnostic { span: span(side).part(part), ..finding }
            }
            None => finding,
        }
    })
}

/// The metavariable that is all of a term.
fn operand(term: Tree<'_>) -> Option<Tree<'_>> {
    match term.as_rule() {
        Syntax::variable => Some(term),
        Syntax::term | Syntax::literal | Syntax::number => {
            let mut parts = term.into_inner();
            let first = parts.next()?;
            if parts.next().is_none() { operand(first) } else { None }
        }
        _ => None,
    }
}
