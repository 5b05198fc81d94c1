//! The rules, a file an engine.

mod collect;
mod contraction;
mod ends;
mod fetch;
mod ragged;
mod switch;
mod terms;
mod transpose;
mod vector_inter;
mod vector_lanes;
mod vector_reduce;

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
    &vector_inter::FREED,
    &vector_lanes::HALVES,
    &vector_lanes::LOWER,
    &vector_reduce::WITHOUT,
    &vector_reduce::LOGIC_ZIP,
    &vector_reduce::FXP_ZIP,
    &vector_reduce::FP_ZIP,
    &vector_lanes::WHOLE,
    &vector_lanes::UPPER,
    &vector_reduce::CLIP_ZIP,
    &collect::PAD,
    &transpose::MATRIX,
    &ends::IN_ORDER,
    &ends::IN_LAYOUT,
    &ends::TAIL,
    &ragged::AS_IT_IS,
    &ends::ROWS,
    &ends::FILE,
];
