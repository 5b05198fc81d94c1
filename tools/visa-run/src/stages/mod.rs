//! The stages of a run, in their order. Each takes the values of earlier ones, and gives one.

pub(crate) mod advise;
pub(crate) mod arguments;
pub(crate) mod changed_lines;
pub(crate) mod choose;
pub(crate) mod close;
pub(crate) mod closed;
pub(crate) mod compile;
pub(crate) mod cost;
pub(crate) mod emit_rust;
pub(crate) mod entry;
pub(crate) mod evaluate;
pub(crate) mod expect;
pub(crate) mod load;
pub(crate) mod order;
pub(crate) mod plan;
pub(crate) mod read;
pub(crate) mod replan;
pub(crate) mod report;
pub(crate) mod reselect;
pub(crate) mod run;
pub(crate) mod versions;
