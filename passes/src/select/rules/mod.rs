//! The rules, a file an engine.

mod collect;
mod contraction;
mod ends;
mod fetch;
mod ragged;
mod switch;
mod terms;

use super::rule::Rule;

/// Every rule, in pipeline order.
pub static RULES: &[&Rule] = &[
    &fetch::REGROUP,
    &fetch::OVER_FETCH,
    &fetch::MASK,
    &ragged::CUT,
    &terms::TERMS,
    &switch::TOPOLOGY,
    &switch::BITMAP,
    &collect::FLITS,
    &contraction::JOIN,
    &contraction::TREE,
    &contraction::INTERLEAVE,
    &contraction::SEQUENCE,
    &collect::PAD,
    &ends::IN_ORDER,
    &ends::IN_LAYOUT,
    &ends::TAIL,
    &ragged::AS_IT_IS,
    &ends::ROWS,
    &ends::FILE,
];
