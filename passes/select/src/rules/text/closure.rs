//! Rules applied to configurations and to their results, until nothing new comes or a bound is reached.

use super::TextRule;
use super::apply::{Applied, MAX_NODES, apply};
use crate::rules::rule::{Proposal, Site};
use std::collections::HashSet;
use std::fmt;

/// Most times that rules are applied one on the other.
pub const MAX_ROUNDS: usize = 8;

/// Most configurations that rules add for an operation and its input.
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

/// The results of rules for configurations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Closure {
    /// New configurations, each with its rule, in the order in which they were found.
    pub(crate) found: Vec<(&'static str, Proposal)>,
    /// The rule that made the first one that was left out, and why.
    pub(crate) limit: Option<(&'static str, Bound)>,
}

/// The results of `rules` for the configurations `start` of an operation.
pub(crate) fn closure(rules: &[TextRule], site: &Site<'_>, start: &[Proposal]) -> Closure {
    let own: Vec<&TextRule> = rules.iter().filter(|rule| site.op.is(rule.options)).collect();
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
            let made = match apply(rule, site, proposal) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::task::Task;
    use crate::rules::rule::Value;
    use crate::rules::text::tests::{context, fetch, read};
    use visa_algebra::{Axes, Expr, PadKind};
    use visa_mapping::facts::{Support, machine};
    use visa_mapping::operand;

    /// The results of a rule for packets of an axis of 4, padded to these sizes.
    fn made(rule: &str, sizes: impl Iterator<Item = u64>) -> Closure {
        let ctx = context();
        let (module, id) = fetch(&ctx);
        let op = module.op(&ctx, id);
        let (rules, findings) = read(&ctx, rule);
        assert_eq!(findings, []);
        let mut axes = Axes::new();
        axes.declare("A", 4).expect("a new axis");
        let (machine, task) = (machine(op), Task::default());
        let source = operand(op, 0).expect("a stream");
        let support = Support::default();
        let site =
            Site { op, written: op, source, axes: &axes, machine: &machine, support: &support, task: &task };
        let packet = |size: u64| Value::Map(Expr::axis("A").pad(size, PadKind::Top));
        let start: Vec<Proposal> = sizes
            .map(|size| vec![("time", Value::Map(Expr::Literal(1))), ("packet", packet(size))])
            .collect();
        closure(&rules, &site, &start)
    }

    #[test]
    fn eight_rounds_are_made_and_not_nine() {
        let grow = |bound: u64| {
            let text = format!("rule grow stream.fetch: packet E # n => packet E # (n + 8) if n < {bound}");
            made(&text, std::iter::once(8))
        };
        let (inside, outside) = (grow(72), grow(80));
        assert_eq!((inside.found.len(), inside.limit), (8, None));
        assert_eq!((outside.found.len(), outside.limit), (8, Some(("grow", Bound::Rounds))));
    }

    #[test]
    fn a_rule_that_loops_ends() {
        let back = "rule back stream.fetch: packet E # n => packet E # (24 - n) if n < 24";
        let found = made(back, std::iter::once(8));
        assert_eq!((found.found.len(), found.limit), (1, None));
    }

    #[test]
    fn a_thousand_configurations_are_made_and_no_more() {
        let lift = "rule lift stream.fetch: packet E # n => packet E # (n + 5000) if n < 5000";
        let (inside, outside) = (made(lift, 5..1005), made(lift, 5..1006));
        assert_eq!((inside.found.len(), inside.limit), (1000, None));
        assert_eq!((outside.found.len(), outside.limit), (1000, Some(("lift", Bound::Configurations))));
    }

    #[test]
    fn a_mapping_of_500_nodes_is_made_and_not_of_501() {
        // A group is a node, and so is each of its terms.
        let copies = |count: usize| {
            let copies = vec!["E"; count].join(", ");
            made(&format!("rule copy stream.fetch: packet E # 8 => packet [{copies}]"), std::iter::once(8))
        };
        let (inside, outside) = (copies(499), copies(500));
        assert_eq!((inside.found.len(), inside.limit), (1, None));
        assert_eq!((outside.found.len(), outside.limit), (0, Some(("copy", Bound::Nodes))));
    }
}
