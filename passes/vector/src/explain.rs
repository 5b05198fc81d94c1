//! Explains a plan, and the reason for each of its passes.

use super::chain::{Chain, Operation, Passes, Source, Step};
use super::language::Equals;
use super::search::{Leaves, Plan};
use std::sync::Arc;
use visa_mapping::expression::{Expression, FUNCTIONS, Term};
use visa_numerics::{Alu, Arg, alu_ops, to_f64};

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
        lines.push(format!("pass {}: the stream is {}", at + 1, name(chain.stream)));
        lines.extend(chain.steps.iter().map(|step| describe(step, &name)));
        if at + 1 < plan.passes.len() {
            lines.push(why(at, plan, equals, leaves));
        }
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
    let args = mode.args().iter().map(|arg| match (arg, operands) {
        (Arg::Stream, _) => named("stream".to_owned()),
        (Arg::Operand0, [operand, _]) | (Arg::Operand1, [_, operand]) => match operand {
            Some(Source::Number(bits)) if row.from == row.to => Term::Number(to_f64(row.from, *bits)),
            Some(Source::Number(bits)) => Term::Number(f64::from(*bits)),
            Some(Source::File(class)) => named(name(*class)),
            Some(Source::Stash) => named("stash".to_owned()),
            None => named("?".to_owned()),
        },
    });
    let term = Term::Call(function.map_or(row.name.word(), |function| function.name).into(), args.collect());
    let text = Expression { names, term }.to_string();
    let inside = text.split_once(": ").map_or(text.as_str(), |(_, inside)| inside);
    inside.strip_suffix(']').unwrap_or(inside).to_owned()
}

/// Reason for the result of pass `at` to wait in memory: the ALU or slot that the pass that takes it would lack to
/// compute it.
fn why(at: usize, plan: &Plan, equals: &Equals, leaves: &Leaves) -> String {
    let made: Vec<usize> = plan.passes.iter().map(|(class, _)| *class).collect();
    let takes = |chain: &Chain| {
        chain.stream == made[at]
            || chain.steps.iter().any(|step| match step {
                Step::Stash { .. } => false,
                Step::Operate(operation) => operation.operands.contains(&Some(Source::File(made[at]))),
            })
    };
    let user = plan
        .passes
        .iter()
        .skip(at + 1)
        .position(|(_, chain)| takes(chain))
        .map_or(at + 1, |next| at + 1 + next);
    let others: Vec<usize> = made[..user].iter().copied().filter(|&class| class != made[at]).collect();
    let available = leaves.available(&others);
    let mut alus: Vec<Alu> = alu_ops().map(|row| row.alu).collect();
    alus.dedup();
    let short = |alu: &Alu| Passes::with_spare(equals, &available, *alu).cost(made[user]).is_some();
    let reason = match alus.into_iter().find(short) {
        Some(alu) => format!("{alu} works once a pass, and pass {} wants it too", user + 1),
        None => format!("pass {} cannot hold both, with the stages in their order and one stash", user + 1),
    };
    format!("pass{} waits in memory: {reason}", at + 1)
}
