//! The rules, a file an engine.

mod collect;
mod contraction;
mod ends;
mod fetch;

use super::rule::Rule;

/// Every rule, in pipeline order.
pub static RULES: &[&Rule] = &[
    &fetch::REGROUP,
    &fetch::OVER_FETCH,
    &fetch::MASK,
    &collect::FLITS,
    &contraction::JOIN,
    &contraction::TREE,
    &contraction::INTERLEAVE,
    &contraction::SEQUENCE,
    &collect::PAD,
    &ends::IN_ORDER,
    &ends::IN_LAYOUT,
    &ends::TAIL,
    &ends::ROWS,
    &ends::FILE,
];
