//! Rules applied to configurations and to what they make of them, until nothing new comes or a bound is reached.

use super::TextRule;
use super::apply::{Applied, MAX_NODES};
use crate::select::rule::{Proposal, Site};
use std::collections::HashSet;
use std::fmt;

/// Most times that rules are applied one on the other.
pub const MAX_ROUNDS: usize = 8;

/// Most configurations that rules add for an operation and what flows into it.
pub const MAX_CONFIGURATIONS: usize = 1_000;

/// A bound that was reached: something is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// [`MAX_ROUNDS`].
    Rounds,
    /// [`MAX_CONFIGURATIONS`].
    Configurations,
    /// A mapping is too long.
    Nodes,
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rounds => write!(f, "{MAX_ROUNDS} rounds"),
            Self::Configurations => write!(f, "{MAX_CONFIGURATIONS} configurations"),
            Self::Nodes => write!(f, "{MAX_NODES} nodes of a mapping"),
        }
    }
}

/// What rules make of configurations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Closure {
    /// New configurations, each with its rule, in the order in which they were found.
    pub(crate) found: Vec<(&'static str, Proposal)>,
    /// The rule that made the first one that was left out, and why.
    pub(crate) limit: Option<(&'static str, Bound)>,
}

/// What `rules` make of the configurations `start` of an operation.
pub(crate) fn closure(rules: &[TextRule], site: &Site<'_>, start: &[Proposal]) -> Closure {
    let own: Vec<&TextRule> = rules.iter().filter(|rule| rule.op == site.op.name()).collect();
    let mut closure = Closure::default();
    if own.is_empty() {
        return closure;
    }
    let mut known: HashSet<Proposal> = start.iter().cloned().collect();
    let mut last: Vec<Proposal> = start.to_vec();
    for round in 0.. {
        let mut new = Vec::new();
        for (proposal, rule) in last.iter().flat_map(|proposal| own.iter().map(move |rule| (proposal, rule)))
        {
            let made = match rule.apply(site, proposal) {
                Some(Applied::Proposal(made)) => made,
                Some(Applied::TooLong) => {
                    closure.limit.get_or_insert((rule.name, Bound::Nodes));
                    continue;
                }
                None => continue,
            };
            if known.contains(&made) {
                continue;
            }
            let rounds = (round == MAX_ROUNDS).then_some(Bound::Rounds);
            let many = (closure.found.len() == MAX_CONFIGURATIONS).then_some(Bound::Configurations);
            if let Some(bound) = rounds.or(many) {
                closure.limit.get_or_insert((rule.name, bound));
                return closure;
            }
            known.insert(made.clone());
            new.push(made.clone());
            closure.found.push((rule.name, made));
        }
        if new.is_empty() {
            break;
        }
        last = new;
    }
    closure
}
