//! Says what a plan does, and why it needs each of its passes.

use super::chain::{Operation, Passes, Source, Step};
use super::language::Equals;
use super::search::{Leaves, Plan};
use std::sync::Arc;
use visa_numerics::{Alu, Arg, alu_ops, to_f64};
use visa_stream::expression::{Expression, FUNCTIONS, Term};

/// A line a step and one for each further pass.
pub(crate) fn explain(plan: &Plan, equals: &Equals, leaves: &Leaves, names: &[Arc<str>]) -> Vec<String> {
    let made: Vec<usize> = plan.passes.iter().map(|(class, _)| *class).collect();
    let name =
        |class: usize| match (equals.classes[class].operand, made.iter().position(|&made| made == class)) {
            (Some(operand), _) => names.get(operand).map_or_else(|| "?".to_owned(), |name| name.to_string()),
            (None, Some(pass)) => format!("pass{}", pass + 1),
            (None, None) => "?".to_owned(),
        };
    let mut lines = Vec::new();
    for (at, (_, chain)) in plan.passes.iter().enumerate() {
        if at > 0 {
            lines.push(why(at, &made, equals, leaves));
        }
        lines.push(format!("pass {}: the stream is {}", at + 1, name(chain.stream)));
        lines.extend(chain.steps.iter().map(|step| describe(step, &name)));
    }
    lines
}

fn describe(step: &Step, name: &dyn Fn(usize) -> String) -> String {
    match step {
        Step::Stash { .. } => "stash".to_owned(),
        Step::Operate(operation) => {
            let Operation { row, .. } = operation;
            format!("{} {}: {}", row.stage, row.alu, text(operation, name))
        }
    }
}

/// The operation as an expression of the stream, the stash, operands and numbers.
fn text(operation: &Operation, name: &dyn Fn(usize) -> String) -> String {
    let Operation { row, mode, operands } = operation;
    let function = FUNCTIONS.iter().find(|function| function.operations.contains(&row.name));
    let mut names: Vec<Arc<str>> = Vec::new();
    let mut named = |text: String| {
        names.push(text.into());
        Term::Name(names.len() - 1)
    };
    let args = mode.args.iter().map(|arg| match (arg, operands) {
        (Arg::Stream, _) => named("stream".to_owned()),
        (Arg::Operand0, [operand, _]) | (Arg::Operand1, [_, operand]) => match operand {
            Some(Source::Number(bits)) if row.from == row.to => Term::Number(to_f64(row.from, *bits)),
            Some(Source::Number(bits)) => Term::Number(f64::from(*bits)),
            Some(Source::File(class)) => named(name(*class)),
            Some(Source::Stash) => named("stash".to_owned()),
            None => named("?".to_owned()),
        },
    });
    let term = Term::Call(function.map_or(row.name, |function| function.name).into(), args.collect());
    let text = Expression { names, term }.to_string();
    let inside = text.split_once(": ").map_or(text.as_str(), |(_, inside)| inside);
    inside.strip_suffix(']').unwrap_or(inside).to_owned()
}

/// Why pass `at` is another one than the pass before.
fn why(at: usize, made: &[usize], equals: &Equals, leaves: &Leaves) -> String {
    let available = leaves.available(&made[..at - 1]);
    let mut alus: Vec<Alu> = alu_ops().map(|row| row.alu).collect();
    alus.dedup();
    let short = |alu: &Alu| Passes::with_spare(equals, &available, *alu).cost(made[at]).is_some();
    match alus.into_iter().find(short) {
        Some(alu) => format!("pass {} begins because {alu} works once a pass, and is wanted twice", at + 1),
        None => format!(
            "pass {} begins because the operations do not follow each other in the order of the stages with one stash",
            at + 1
        ),
    }
}
