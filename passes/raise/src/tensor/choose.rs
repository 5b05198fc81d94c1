//! The choice of one term of each class: the smallest function.
//!
//! The cost of a term is the sum over its subterms, and shared ones count each time. Of terms of one cost those are
//! taken whose axes are in the order of the function that was read, and of these the first in the order of their text.

use crate::tensor::facts::{Fact, Graph};
use crate::tensor::term::{Head, Term};
use egg::{Id, Language};
use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap};

/// Cost of an operation, in characters of a clause.
const OPERATION: u64 = 1_000;

/// Cost of a function of elements.
const FUNCTION: u64 = 300;

/// The cost of a term: characters, and the depth, so that a term costs more than its children.
type Cost = (u64, u32);

/// A term of each class that has a finite one.
pub(crate) struct Choice {
    terms: HashMap<Id, Term>,
}

impl Choice {
    /// The smallest term of each class.
    #[must_use]
    pub(crate) fn new(graph: &Graph<'_>) -> Self {
        let costs = costs(graph);
        let mut levels: BTreeMap<Cost, Vec<Id>> = BTreeMap::new();
        for (&id, &cost) in &costs {
            levels.entry(cost).or_default().push(id);
        }
        let (mut terms, mut ranks, mut types) = (HashMap::new(), HashMap::new(), HashMap::new());
        for (cost, classes) in levels {
            let mut level: Vec<(Key, Id, Term)> = classes
                .into_iter()
                .filter_map(|id| {
                    let cheapest = graph[id]
                        .nodes
                        .iter()
                        .filter(|term| cost_of(graph, &costs, term).is_some_and(|own| own == cost));
                    let keyed =
                        cheapest.filter_map(|term| Some((key(graph, &ranks, &types, (id, term))?, term)));
                    let (key, term) = keyed.min_by(|left, right| left.0.cmp(&right.0))?;
                    Some((key, id, term.clone().map_children(|child| graph.find(child))))
                })
                .collect();
            level.sort_by(|left, right| left.0.cmp(&right.0));
            for (key, id, term) in level {
                ranks.insert(id, ranks.len());
                types.insert(id, key.fact);
                terms.insert(id, term);
            }
        }
        Self { terms }
    }

    /// The term of a class.
    #[must_use]
    pub(crate) fn term(&self, class: Id) -> Option<&Term> {
        self.terms.get(&class)
    }
}

/// The order of terms of one cost: first those of the class's type, then by the text of the head and by the children.
struct Key {
    order: (bool, String, Vec<usize>),
    fact: Fact,
}

impl Key {
    fn cmp(&self, other: &Self) -> Ordering {
        self.order.cmp(&other.order)
    }
}

fn key(
    graph: &Graph<'_>,
    ranks: &HashMap<Id, usize>,
    types: &HashMap<Id, Fact>,
    (class, term): (Id, &Term),
) -> Option<Key> {
    let children: Vec<Id> = term.children.iter().map(|&child| graph.find(child)).collect();
    let facts: Option<Vec<&Fact>> = children.iter().map(|child| types.get(child)).collect();
    let fact = graph.analysis.infer(&term.head, &facts?);
    let ranks: Option<Vec<usize>> = children.iter().map(|child| ranks.get(child).copied()).collect();
    Some(Key { order: (fact.kind != graph[class].data.kind, text(graph, &term.head), ranks?), fact })
}

/// The text of a head.
#[must_use]
pub(crate) fn text(graph: &Graph<'_>, head: &Head) -> String {
    match head {
        Head::Argument(number, _) => format!("argument {number:09}"),
        Head::Index(depth, _) => format!("index {depth:09}"),
        Head::Carried { depth, number, .. } => format!("carried {depth:09} {number:09}"),
        Head::Number(dtype, bits) => format!("number {dtype} {bits:#010x}"),
        Head::Apply => "apply".to_owned(),
        Head::WhereDefined => "where defined".to_owned(),
        Head::Operation(declared) => declared.0.name.to_owned(),
        Head::Loop(depth) => format!("loop {depth:09}"),
        Head::Branch => "branch".to_owned(),
        Head::Result(number) => format!("result {number:09}"),
        Head::Clause(attr) => graph.analysis.ctx.attr_data(*attr).generic(),
        Head::Absent => "absent".to_owned(),
        Head::Name(function) => function.name.to_owned(),
    }
}

/// The least cost of each class.
fn costs(graph: &Graph<'_>) -> HashMap<Id, Cost> {
    let mut ids: Vec<Id> = graph.classes().map(|class| class.id).collect();
    ids.sort_unstable();
    let mut costs: HashMap<Id, Cost> = HashMap::new();
    loop {
        let mut changed = false;
        for &id in &ids {
            let least = graph[id].nodes.iter().filter_map(|term| cost_of(graph, &costs, term)).min();
            let Some(least) = least else { continue };
            let known = costs.get(&id);
            if known.is_none_or(|known| least.cmp(known) == Ordering::Less) {
                costs.insert(id, least);
                changed = true;
            }
        }
        if !changed {
            return costs;
        }
    }
}

/// The cost of a term; `None` while a child has none.
fn cost_of(graph: &Graph<'_>, costs: &HashMap<Id, Cost>, term: &Term) -> Option<Cost> {
    let own = match &term.head {
        Head::Argument(..) | Head::Index(..) | Head::Carried { .. } => 1,
        Head::Number(..) => 10,
        Head::Apply => FUNCTION,
        Head::WhereDefined => FUNCTION + 1,
        Head::Operation(_) | Head::Loop(_) | Head::Branch => OPERATION,
        Head::Clause(_) => text(graph, &term.head).len() as u64,
        Head::Result(_) | Head::Absent | Head::Name(_) => 0,
    };
    let mut cost = (own, 1);
    for child in term.children() {
        let (child, depth) = *costs.get(&graph.find(*child))?;
        cost = (cost.0.saturating_add(child), cost.1.max(depth.saturating_add(1)));
    }
    Some(cost)
}
