//! A rule's proposal leaves the results of a kernel unchanged.

use super::whole;
use std::collections::{BTreeMap, HashMap};
use visa_hw::program::Program;
use visa_interpreter::{Interpreter, Options};
use visa_ir::context::Context;
use visa_ir::infer::infer_all;
use visa_ir::module::Module;
use visa_machine::Machine;
use visa_numerics::{from_f64, store};
use visa_reference::evaluate;
use visa_select::config::choice::Choice;

/// Arguments of small integers, which every format holds and every order of sums adds exactly.
fn arguments(program: &Program) -> BTreeMap<String, Vec<u8>> {
    let given = program.buffers.iter().filter(|buffer| buffer.argument);
    let bytes = given.map(|buffer| {
        let count = buffer.shape.iter().product::<u64>();
        let mut bytes = vec![0; buffer.dtype.bytes(count).unwrap_or(count.div_ceil(2)) as usize];
        for at in 0..count as usize {
            let value = ((at * 7 + at / 5 + at / 31) % 5) as f64 - 2.0;
            store(buffer.dtype, &mut bytes, at, from_f64(buffer.dtype, value));
        }
        (buffer.name.clone(), bytes)
    });
    bytes.collect()
}

/// The semantics of a kernel: the logical evaluator's result for one configuration of it.
pub(crate) struct Semantics(Vec<visa_reference::LogicalResult>);

/// The meaning of a closed module.
pub(crate) fn meaning(ctx: &Context, module: &Module) -> Semantics {
    let program = whole::compile(ctx, module.clone()).expect("a legal module");
    let options = visa_reference::Options {
        sum_order: ctx.data::<Machine>().sum_order,
        ..visa_reference::Options::default()
    };
    Semantics(
        evaluate(ctx, module, Some(&program.name), &arguments(&program).into(), options).expect("a meaning"),
    )
}

/// Returns true if a closed module, lowered and interpreted, has the expected results; `None` if it is not legal as a
/// whole.
pub(crate) fn means(ctx: &Context, module: Module, meaning: &Semantics) -> Option<bool> {
    let program = whole::compile(ctx, module).ok()?;
    let machine = ctx.data::<Machine>();
    let options = Options { threads: Some(1), ..Options::default() };
    let mut interpreter = Interpreter::new(&program, &machine, options).expect("memory");
    for (name, bytes) in arguments(&program) {
        interpreter.set_argument(&name, &bytes).expect("an argument");
    }
    interpreter.run(&mut |_, _| {}).expect("a run");
    let same = meaning.0.iter().all(|wanted| {
        let found = interpreter.result(&wanted.name).expect("a result").bytes;
        let count = wanted.shape.iter().product::<u64>() as usize;
        let defined = |at: &usize| wanted.defined.as_ref().is_none_or(|defined| defined[*at]);
        let load = |bytes: &[u8], at: usize| visa_numerics::load(wanted.dtype, bytes, at);
        (0..count).filter(defined).all(|at| load(&found, at) == load(&wanted.bytes, at))
    });
    Some(same)
}

/// Configurations of a choice's graph that hit its accepted proposals, at most `most` a rule: the rule's name and
/// the closed module. Operations before it and after it have the first proposals that lead there and on.
pub(crate) fn configurations(
    ctx: &Context,
    module: &Module,
    choice: &Choice,
    most: usize,
) -> Vec<(&'static str, Module)> {
    let mut hits: HashMap<&'static str, usize> = HashMap::new();
    let mut found = Vec::new();
    let leads = leads_on(choice);
    for (class, own) in choice.graph.classes.iter().enumerate() {
        for (step, at) in own.steps.iter().zip(0..) {
            let Some(rule) = step.rule else { continue };
            let Some(path) = path_through(choice, &leads, class, at) else { continue };
            let hit = hits.entry(rule).or_default();
            *hit += 1;
            if *hit > most {
                continue;
            }
            let mut closed = module.clone();
            for (class, at) in path {
                let step = &choice.graph.classes[class].steps[at];
                let clauses = step.clauses.iter();
                clauses.for_each(|&(name, value)| closed.set_clause(choice.chain[step.stage], name, value));
            }
            if infer_all(ctx, &mut closed).is_ok() {
                found.push((rule, closed));
            }
        }
    }
    found
}

/// Returns true for each class with a way to the end of the pipeline: sources are before their results.
fn leads_on(choice: &Choice) -> Vec<bool> {
    let classes = &choice.graph.classes;
    let mut leads = vec![false; classes.len()];
    for (class, own) in classes.iter().enumerate().rev() {
        leads[class] |= own.steps.iter().any(|step| step.stage + 1 == choice.chain.len());
        if leads[class] {
            own.steps.iter().filter_map(|step| step.source).for_each(|source| leads[source] = true);
        }
    }
    leads
}

/// A step of a class with others before it and after it; none if it leads nowhere.
fn path_through(choice: &Choice, leads: &[bool], class: usize, step: usize) -> Option<Vec<(usize, usize)>> {
    let classes = &choice.graph.classes;
    let mut path = vec![(class, step)];
    while let Some(source) = classes[path[0].0].steps[path[0].1].source {
        path.insert(0, (source, 0));
    }
    while path.len() < choice.chain.len() {
        let last = path[path.len() - 1].0;
        let follows = |class: usize| {
            classes[class].steps.iter().position(|step| step.source == Some(last)).map(|at| (class, at))
        };
        path.push((last + 1..classes.len()).filter(|&class| leads[class]).find_map(follows)?);
    }
    Some(path)
}
