//! One application of a rule to a configuration.

use super::matching::{Slots, matches, number};
use super::{RuleValue, Test, TextRule};
use crate::rules::rule::{Proposal, Site, Value};
use std::rc::Rc;
use visa_algebra::{Axes, Expr, PadKind};
use visa_canonical::language::Piece;
use visa_canonical::rule::{Env, Sort};
use visa_mapping::Dim;
use visa_rules::Scope;

/// Elements of a flit of the stream that flows in.
const FLIT: &str = "flit";

/// The mappings of the stream that flows in.
const SOURCE: [(&str, Dim); 3] =
    [("in.slice", Dim::Slice), ("in.time", Dim::Time), ("in.packet", Dim::Packet)];

/// The names that every rule knows.
pub(super) fn scope() -> Scope<Sort> {
    let numbers = std::iter::once((FLIT.to_owned(), Sort::Number));
    Scope::with(numbers.chain(SOURCE.map(|(name, _)| (name.to_owned(), Sort::Mapping))).collect())
}

/// The values of the names that every rule knows; those of the rule are not bound yet.
fn slots(rule: &TextRule, site: &Site<'_>) -> Slots {
    let flit = std::iter::once(Piece::Number(site.flit()));
    let maps = SOURCE.into_iter().map(|(_, dim)| Piece::Mapping(Rc::new(site.dim(dim))));
    let mut slots: Slots = flit.chain(maps).map(Some).collect();
    slots.resize(rule.scope.names().len(), None);
    slots
}

/// Most axes, numbers, groups and operators of a mapping that a rule makes.
pub const MAX_NODES: usize = 500;

/// The result of a rule for a configuration.
pub(super) enum Applied {
    /// Another one, or the same.
    Proposal(Proposal),
    /// A mapping of more than [`MAX_NODES`] nodes.
    TooLong,
}

/// The result of a rule for a configuration of its operation; `None` where it does not fit.
pub(super) fn apply(rule: &TextRule, site: &Site<'_>, known: &Proposal) -> Option<Applied> {
    let mut slots = slots(rule, site);
    for (name, given) in &rule.left {
        let (_, value) = known.iter().find(|(own, _)| own == name)?;
        if !fits(given, value, &mut slots) {
            return None;
        }
    }
    let env = |slot: usize| slots[slot].as_ref();
    if rule.applies(&|test| Some(test.holds(&env, site))) != Some(true) {
        return None;
    }
    let mut made = known.clone();
    for (name, given) in &rule.right {
        let value = built(given, &env, site.axes)?;
        if matches!(&value, Value::Map(map) if map.nodes() > MAX_NODES) {
            return Some(Applied::TooLong);
        }
        let value = tidy(value, site);
        match made.iter_mut().find(|(own, _)| own == name) {
            Some((_, own)) => *own = value,
            None => made.push((name, value)),
        }
    }
    Some(Applied::Proposal(made))
}

fn fits(given: &RuleValue, value: &Value, slots: &mut Slots) -> bool {
    match (given, value) {
        (RuleValue::Map(term), Value::Map(map)) => matches(term, map, slots),
        (RuleValue::Int(wanted), Value::Int(found)) => {
            u64::try_from(*found).is_ok_and(|found| number(wanted, found, slots))
        }
        (RuleValue::Word(wanted), Value::Word(found)) => wanted == found,
        (RuleValue::Absent, Value::Absent) => true,
        (RuleValue::Map(_) | RuleValue::Int(_) | RuleValue::Word(_) | RuleValue::Absent, _) => false,
    }
}

fn built(given: &RuleValue, env: Env<'_, '_>, axes: &Axes) -> Option<Value> {
    Some(match given {
        RuleValue::Map(term) => Value::Map(term.build(env, axes)?),
        RuleValue::Int(number) => Value::Int(i64::try_from(number.value(env, axes)?).ok()?),
        RuleValue::Word(word) => Value::Word(word),
        RuleValue::Absent => Value::Absent,
    })
}

/// Mappings in their normal form, so that equal ones are found to be. Around zero padding only groups become flat:
/// parts of it are read together.
fn tidy(value: Value, site: &Site<'_>) -> Value {
    match value {
        Value::Map(map) if masks(&map) => Value::Map(flat(map)),
        Value::Map(map) => Value::Map(site.tidy(map)),
        Value::Word(_) | Value::Int(_) | Value::Absent => value,
    }
}

/// A group without groups and ones in it.
fn flat(map: Expr) -> Expr {
    let Expr::Pair(terms) = map else { return map };
    let parts = terms.into_iter().flat_map(|term| match flat(term) {
        Expr::Literal(1) => Vec::new(),
        Expr::Pair(terms) => terms,
        other => vec![other],
    });
    Expr::pair(parts)
}

fn masks(map: &Expr) -> bool {
    matches!(map, Expr::Pad { kind: PadKind::Zero, .. }) || map.children().into_iter().any(masks)
}

impl Test {
    /// Returns true if it holds; a condition that cannot be computed does not.
    fn holds(&self, env: Env<'_, '_>, site: &Site<'_>) -> bool {
        match self {
            Self::Format(format) => site.source.dtype == *format,
            Self::Mapping(test) => test.holds(env, site.axes) == Some(true),
        }
    }
}
