//! A function that is equal in real arithmetic, with the loops folded that carry sums and maxima of blocks.
//!
//! Its results differ from those of the kernel by rounding. So it is printed on request, with the sums that differ.
//! No verdict of equality uses it.

mod blocks;
mod condition;
mod emit;
mod free;
mod laws;
mod lift;
mod loops;
pub mod notes;
mod reading;
mod real;
mod reductions;
mod scope;
mod solve;
mod terms;
mod wrapping;

use crate::tensor::canonical::{saturate, written};
use crate::tensor::choose::Choice;
use crate::tensor::facts::{Facts, Graph};
use crate::tensor::read::read;
use crate::tensor::ruleset::RuleSet;
use crate::tensor::term::Term;
use egg::Id;
use laws::Laws;
use lift::Lift;
use notes::{Difference, KeptLoop, Notes};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;
use terms::{Reason, Terms, list};
use visa_ir::context::Context;
use visa_ir::diag::Diagnostic;
use visa_ir::module::ValueId;
use visa_ir::verify::Analysis as _;
use visa_mapping::facts::DeclaredAxes;
use visa_mapping::ops::func::signature;
use visa_mapping::raise::function::Raised;
use visa_numerics::DType;

/// A folded function.
pub struct Folded {
    /// The function.
    pub function: Raised,
    /// The dimensions of the loops that were folded.
    pub loops: Vec<String>,
    /// The differences from the kernel, a sentence each.
    pub differences: Vec<String>,
    /// The rules of real arithmetic that were used.
    pub rules: Vec<&'static str>,
    /// The loops that were kept.
    pub kept: Vec<KeptLoop>,
}

impl Folded {
    /// A function whose loops are kept.
    #[must_use]
    pub fn unchanged(function: Raised) -> Self {
        Self { function, loops: Vec::new(), differences: Vec::new(), rules: Vec::new(), kept: Vec::new() }
    }
}

/// The function with folded loops; `None` if it has no loop.
///
/// # Errors
/// A function that is not at the tensor level.
pub fn folded(ctx: &Context, raised: &Raised, rules: &RuleSet) -> Result<Folded, Diagnostic> {
    let axes = Arc::new(DeclaredAxes::build(ctx, &raised.module).0);
    let mut graph = Graph::new(Facts::new(ctx, Arc::clone(&axes)));
    let results = read(&mut graph, &raised.module, raised.func)?;
    graph.rebuild();
    let laws = Laws::new(rules.laws());
    let mut lift = Lift::new(Terms::new(graph), &laws, &results);
    let values = match lifted(&mut lift, &results) {
        Ok(values) => values,
        Err(reason) => {
            let mut kept: Vec<KeptLoop> = lift.notes.kept.into_iter().collect();
            kept.push(KeptLoop { reason, over: None });
            lift.notes = Notes::default();
            return write(&lift.terms, &results, &lift.notes, raised, rules)
                .map(|folded| Folded { kept, ..folded });
        }
    };
    write(&lift.terms, &values, &lift.notes, raised, rules)
}

/// The results without the loops that can be folded.
fn lifted(lift: &mut Lift<'_, '_>, results: &[Id]) -> Result<Vec<Id>, Reason> {
    let mut values: Vec<Id> = results.iter().map(|&result| lift.value(result)).collect::<Result<_, _>>()?;
    if lift.terms.reachable(&values).iter().any(|id| lift.blocks.contains(id)) {
        return Err("a sum of one block remains".to_owned());
    }
    let laws = lift.laws();
    free::choose(&mut lift.terms, laws, &mut lift.notes, &mut values)?;
    Ok(values)
}

/// Copies the terms of a value into another graph.
fn copied(terms: &Terms<'_>, id: Id, to: &mut Graph<'_>, known: &mut HashMap<Id, Id>) -> Result<Id, Reason> {
    let id = terms.graph.find(id);
    if let Some(&known) = known.get(&id) {
        return Ok(known);
    }
    let term = terms.term(id)?;
    let children: Vec<Id> =
        term.children.iter().map(|&child| copied(terms, child, to, known)).collect::<Result<_, _>>()?;
    let new = to.add(Term::new(term.head, children));
    known.insert(id, new);
    Ok(new)
}

/// The canonical function of these values, with a name for each sum and maximum that the notes are about.
fn write(
    terms: &Terms<'_>,
    values: &[Id],
    notes: &Notes,
    raised: &Raised,
    rules: &RuleSet,
) -> Result<Folded, Diagnostic> {
    let facts = Facts::new(terms.graph.analysis.ctx, Arc::clone(&terms.graph.analysis.axes));
    let (mut graph, mut known) = (Graph::new(facts), HashMap::new());
    let func = raised.module.op(terms.graph.analysis.ctx, raised.func);
    let mut copy = |id: Id, graph: &mut Graph<'_>| {
        copied(terms, id, graph, &mut known).map_err(|why| func.error("C0", why))
    };
    let mut results = Vec::new();
    for &value in values {
        results.push(copy(value, &mut graph)?);
    }
    let there = terms.reachable(values);
    let is_there = |id: Id| there.contains(&terms.graph.find(id));
    let taken: HashSet<Rc<str>> = signature(func)
        .0
        .iter()
        .filter_map(|&value: &ValueId| raised.module.value_name(value).cloned())
        .collect();
    let mut names: BTreeMap<Id, Rc<str>> = BTreeMap::new();
    for (hint, ids) in [
        ("max", notes.maxima.iter().map(|maximum| maximum.plain).collect::<Vec<_>>()),
        ("sum", notes.differences.keys().copied().collect()),
    ] {
        let mut numbers =
            (1..).map(|number| Rc::from(format!("{hint}{number}"))).filter(|name| !taken.contains(name));
        for id in ids.into_iter().filter(|&id| is_there(id)) {
            let class = copy(id, &mut graph)?;
            let name = numbers.next().ok_or_else(|| func.error("C0", "there are too many sums"))?;
            names.entry(class).or_insert(name);
        }
    }
    let (graph, _) = saturate(graph, rules)?;
    let choice = Choice::new(&graph);
    let by_class: HashMap<Id, Rc<str>> =
        names.iter().map(|(id, name)| (graph.find(*id), Rc::clone(name))).collect();
    let function = written(&graph, &choice, (&results, &by_class), raised)?;
    let name = |id: Id| {
        let class = known.get(&terms.graph.find(id)).map(|id| graph.find(*id));
        class.and_then(|class| by_class.get(&class)).map(|name| format!("%{name}"))
    };
    let differences = differences(notes, &name);
    let kept = notes.kept.iter().cloned().collect();
    let loops = notes.folded.iter().cloned().collect();
    Ok(Folded { function, loops, differences, rules: notes.laws.iter().copied().collect(), kept })
}

/// A sentence for each difference, with the sums that it is about.
fn differences(notes: &Notes, name: &dyn Fn(Id) -> Option<String>) -> Vec<String> {
    let mut all: Vec<(String, Vec<String>)> = Vec::new();
    for (id, difference) in &notes.differences {
        let Some(sum) = name(*id) else { continue };
        for text in sentences(difference, name) {
            match all.iter_mut().find(|(known, _)| *known == text) {
                Some((_, sums)) => sums.push(sum.clone()),
                None => all.push((text, vec![sum.clone()])),
            }
        }
    }
    all.into_iter().map(|(text, sums)| format!("{}: {text}", sums.join(", "))).collect()
}

/// The differences of one sum.
fn sentences(difference: &Difference, name: &dyn Fn(Id) -> Option<String>) -> Vec<String> {
    let Difference { axes, dimension, references, formats } = difference;
    let mut all = vec![format!(
        "the order of the sum over {} is free; the kernel sums each block, and adds these sums in the loop over \
         {dimension}",
        list(axes)
    )];
    let references: Vec<String> = references.iter().filter_map(|&id| name(id)).collect();
    let references = references.join(" and ");
    if !references.is_empty() {
        all.push(format!(
            "the kernel's summands are relative to {references} of the blocks so far, and each iteration rescales \
             the sum by the change"
        ));
    }
    let after = |format: &DType| {
        format!(
            "summands are rounded to `{format}` relative to {references}; the kernel's, to that of the blocks so far"
        )
    };
    all.extend(formats.iter().filter(|_| !references.is_empty()).map(after));
    all
}
