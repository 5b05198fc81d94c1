//! Is a rule sound? Both sides are evaluated on small examples, element by element.
//!
//! An example gives each metavariable a value, of small axes and of several formats, and each clause a value of its
//! kind, at random. Both sides become functions of the tensor level, which the logical evaluator runs on small
//! integers and on bits at the edges of arithmetic. Results must have the same bits, and the same undefined elements.

use crate::tensor::choose::Choice;
use crate::tensor::facts::{Facts, Kind};
use crate::tensor::rewrite::{Build, var};
use crate::tensor::rule::{Equality, Rule, Side, Variable};
use crate::tensor::sample::{AXES, Data, Random, Sample, bytes};
use crate::tensor::term::{Head, Term};
use crate::tensor::tolerance::bound;
use crate::tensor::write::write;
use egg::{Id, Subst};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use visa_algebra::Axes;
use visa_ir::context::{AttrId, Context, TypeId};
use visa_ir::diag::Diagnostic;
use visa_ir::module::Module;
use visa_ir::parse::parse;
use visa_ir::span::{Source, Span};
use visa_ir::verify::{Analysis as _, has_errors, verify};
use visa_mapping::facts::DeclaredAxes;
use visa_mapping::ops::func::Func;
use visa_mapping::tensor::scalar::is_scalar;
use visa_mapping::tensor::value::Value;
use visa_numerics::{load, to_f64};
use visa_reference::{KernelArguments, LogicalResult, Options, evaluate};
use visa_rules::{Counterexample, Verdict};

/// Most examples of one rule.
const MAX_INSTANCES: u64 = 150;

/// Most attempts at an example.
const MAX_ATTEMPTS: u64 = 20_000;

/// Sets of data of an example.
const DATA: [Data; 4] = [Data::Small, Data::Moderate, Data::Edges, Data::Edges];

/// Sets of data of an example for a rule of real arithmetic: magnitudes of which bounds of errors are known.
const REAL_DATA: [Data; 2] = [Data::Small, Data::Moderate];

/// Numbers below this are 0 for some operations.
const SUBNORMAL: f64 = 1e-30;

/// The name of the function of a side.
const NAME: &str = "side";

/// Checks a rule, both ways if it is used both ways.
pub(crate) fn check(ctx: &Context, rule: &Rule) -> Verdict {
    let first = check_one(ctx, rule);
    match first {
        Verdict::Sound { instances, compared } if rule.both_ways => match check_one(ctx, &rule.reversed()) {
            Verdict::Sound { instances: more, compared: others } => {
                // A direction that no example covers is not checked.
                let instances = if more == 0 { 0 } else { instances + more };
                Verdict::Sound { instances, compared: compared + others }
            }
            failed @ (Verdict::Unsound(_) | Verdict::Unchecked { .. } | Verdict::Undecided { .. }) => failed,
        },
        Verdict::Sound { .. }
        | Verdict::Unsound(_)
        | Verdict::Unchecked { .. }
        | Verdict::Undecided { .. } => first,
    }
}

fn check_one(ctx: &Context, rule: &Rule) -> Verdict {
    let text = format!("visa 1\ntm.axes {AXES}\n");
    let module = parse(ctx, &Source::new("axes", &text), 0..text.len()).module;
    let axes = Arc::new(DeclaredAxes::build(ctx, &module).0.clone());
    let (mut random, build) = (Random::new(1), Build::new(rule));
    let mut facts = Some(Facts::new(ctx, axes));
    let (mut instances, mut compared) = (0, 0);
    for _ in 0..MAX_ATTEMPTS {
        let Some(known) = facts.take() else { break };
        let slots = rule.scope.names().len();
        let mut sample = Sample::new(known, slots, &mut random);
        let example = example(&mut sample, rule, &build);
        let found = example.and_then(|(left, right)| compare(rule, &module, &mut sample, left, right));
        facts = Some(sample.graph.analysis);
        match found {
            None => {}
            Some(Ok(elements)) => {
                instances += 1;
                compared += elements;
            }
            Some(Err(counterexample)) => return Verdict::Unsound(counterexample),
        }
        if instances == MAX_INSTANCES {
            break;
        }
    }
    Verdict::Sound { instances, compared }
}

/// Both sides of an example to which the rule applies.
fn example(sample: &mut Sample<'_, '_>, rule: &Rule, build: &Build) -> Option<(Id, Id)> {
    let left = sample.side(&rule.left, rule.scope.names())?;
    sample.graph.rebuild();
    let mut subst = Subst::default();
    for (slot, id) in sample.slots.iter().enumerate() {
        subst.insert(var(slot), (*id)?);
    }
    let computed = build.applies(&sample.graph, left, &subst)?;
    let right = right_side(sample, &rule.right, &mut computed.into_iter().map(|(_, attr)| attr))?;
    sample.graph.rebuild();
    (sample.graph.find(left) != sample.graph.find(right)).then_some((left, right))
}

/// The right side, whose computed clauses are those of `computed`, in order.
fn right_side(
    sample: &mut Sample<'_, '_>,
    side: &Side,
    computed: &mut dyn Iterator<Item = AttrId>,
) -> Option<Id> {
    match side {
        Side::Variable(slot) => sample.slots[*slot],
        Side::Term(head, children) => {
            let children: Vec<Id> =
                children.iter().map(|child| right_side(sample, child, computed)).collect::<Option<_>>()?;
            Some(sample.graph.add(Term::new(head.clone(), children)))
        }
        Side::Computed(..) => Some(sample.graph.add(Term::new(Head::Clause(computed.next()?), []))),
    }
}

/// A module with the function of a side.
fn function(
    module: &Module,
    sample: &Sample<'_, '_>,
    result: Id,
    ty: TypeId,
) -> Result<Module, Vec<Diagnostic>> {
    let ctx = sample.graph.analysis.ctx;
    let mut module = module.clone();
    let top = module.body();
    let func = module.append(top, Func::build_at(ctx, Span::default()).name(NAME).spec());
    let body = module.add_region(func);
    for argument in &sample.arguments {
        if let Head::Argument(number, ty) = argument {
            module.add_arg(body, *ty, Some(argument_name(*number).into()), Span::default());
        }
    }
    let choice = Choice::new(&sample.graph);
    write(&sample.graph, &choice, (&[result], &HashMap::new()), &[ty], (&mut module, func))
        .map_err(|finding| vec![finding])?;
    let findings = verify(ctx, &module);
    if has_errors(&findings) { Err(findings) } else { Ok(module) }
}

fn argument_name(number: usize) -> String {
    format!("a{number}")
}

/// Compares both sides: the number of elements, or a counterexample. `None` if the left side is no function.
fn compare(
    rule: &Rule,
    module: &Module,
    sample: &mut Sample<'_, '_>,
    left: Id,
    right: Id,
) -> Option<Result<u64, Counterexample>> {
    let ctx = sample.graph.analysis.ctx;
    let Kind::Value(ty) = sample.graph[left].data.kind else { return None };
    let ours = function(module, sample, left, ty).ok()?;
    let fail = |why: String| Some(Err(counterexample(rule, sample, why)));
    let theirs = match function(module, sample, right, ty) {
        Ok(module) => module,
        Err(findings) => {
            let why = findings.first().map_or("", |finding| finding.message.as_str());
            return fail(format!("its right side is no function: {why}"));
        }
    };
    let mut elements = 0;
    let (sets, allowed) = match rule.options {
        Equality::Bits => (&DATA[..], None),
        Equality::Reals => match tolerance(sample, [left, right]) {
            Some(allowed) => (&REAL_DATA[..], Some(allowed)),
            None => return fail("the rounding error of an operation has no known bound".to_owned()),
        },
    };
    for (set, &data) in (0..).zip(sets) {
        let arguments = arguments(ctx, sample, set, data)?;
        let run = |module| evaluate(ctx, module, Some(NAME), &arguments, Options::default());
        let ours = run(&ours).ok()?;
        let theirs = match run(&theirs) {
            Ok(theirs) => theirs,
            Err(error) => return fail(format!("its right side stops the evaluation: {}", error.message)),
        };
        let (ours, theirs) = (ours.first()?, theirs.first()?);
        if let Some(why) = difference(ours, theirs, allowed) {
            return fail(why);
        }
        elements += ours.shape.iter().product::<u64>();
    }
    Some(Ok(elements))
}

fn arguments(ctx: &Context, sample: &Sample<'_, '_>, set: u64, data: Data) -> Option<KernelArguments> {
    let axes: &Axes = &sample.graph.analysis.axes;
    let (mut tensors, mut scalars) = (BTreeMap::new(), BTreeMap::new());
    for argument in &sample.arguments {
        let Head::Argument(number, ty) = argument else { continue };
        if is_scalar(ctx, *ty) {
            scalars.insert(argument_name(*number), set % 2);
            continue;
        }
        let value = ctx.type_value::<Value>(*ty)?;
        let sizes = value.axes.iter().map(|axis| axes.id(axis).map(|axis| axes.size(axis)));
        let count = sizes.product::<Option<u64>>()?;
        let mut random = Random::new(set * 1_000 + *number as u64);
        tensors.insert(argument_name(*number), bytes(value.dtype, count, &mut random, data)?);
    }
    Some(KernelArguments { tensors, scalars })
}

/// The difference that the rounding errors of both sides allow; `None` for operations without a bound.
fn tolerance(sample: &Sample<'_, '_>, sides: [Id; 2]) -> Option<f64> {
    let bounds = sides.map(|side| bound(&sample.graph, side));
    let [Some(left), Some(right)] = bounds else { return None };
    let error = left.error + right.error;
    Some(if error > 0.0 { error + SUBNORMAL } else { error })
}

/// The first element in which two results differ: in a bit, or by more than `allowed`.
fn difference(left: &LogicalResult, right: &LogicalResult, allowed: Option<f64>) -> Option<String> {
    let count = left.shape.iter().product::<u64>() as usize;
    let element = |result: &LogicalResult, at: usize| {
        let defined = result.defined.as_ref().is_none_or(|defined| defined[at]);
        defined.then(|| load(result.dtype, &result.bytes, at))
    };
    let differs = |at: usize| match (element(left, at), element(right, at), allowed) {
        (Some(one), Some(other), Some(allowed)) => {
            let distance = (to_f64(left.dtype, one) - to_f64(right.dtype, other)).abs();
            // NaN is not within any distance.
            one != other && (distance.is_nan() || distance > allowed)
        }
        (one, other, _) => one != other,
    };
    let at = (0..count).find(|&at| differs(at))?;
    let shown = |result: &LogicalResult| match element(result, at) {
        Some(bits) => format!("{} ({bits:#x})", to_f64(result.dtype, bits)),
        None => "undefined".to_owned(),
    };
    Some(format!(
        "element {at} of shape {:?} is {} on the left side and {} on the right side",
        left.shape,
        shown(left),
        shown(right)
    ))
}

fn counterexample(rule: &Rule, sample: &Sample<'_, '_>, why: String) -> Counterexample {
    let (before, after) = rule.text.split_once("=>").unwrap_or((&rule.text, ""));
    let after = after.split_once(" if ").map_or(after, |(side, _)| side);
    let graph = &sample.graph;
    let choice = Choice::new(graph);
    let names = rule.scope.names().iter().zip(&sample.slots);
    let shown = names.map(|((name, sort), id)| {
        let id = id.unwrap_or_default();
        let term = crate::tensor::explain::shown(graph, &choice, id);
        match (sort, graph.analysis.value(&graph[id].data)) {
            (Variable::Value, Some(value)) => format!("{name} = {term} of `{value}`"),
            (Variable::Value | Variable::Clause | Variable::Function, _) => format!("{name} = {term}"),
        }
    });
    Counterexample {
        given: format!("{} and axes {AXES}", shown.collect::<Vec<_>>().join(", ")),
        left: before.trim_end_matches('<').trim().to_owned(),
        right: Some(after.trim().to_owned()),
        why,
    }
}
