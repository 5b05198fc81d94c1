//! Canonical mappings: one text for equal mappings, found by equality saturation with rules that are data.
//!
//! [`canonicalize`] starts from the digit normal form, adds to an e-graph all mappings that the rules find equal, and
//! takes the shortest text; [`explain`] shows the way there. [`RuleSet`] holds the rules: those of
//! `src/mapping.rules`, and a user's, which are proved by enumeration first. Their files are read by visa-rules.
//! docs/rationale/canonical-mappings.md gives the reasons.

mod analysis;
mod compile;
mod engine;
mod explain;
mod extract;
mod kind;
pub mod language;
pub mod node;
pub mod parse;
mod pool;
mod rewrite;
pub mod rule;
mod ruleset;
mod sound;

pub use analysis::Conflict;
pub use engine::{
    Canonical, CanonicalError, MAX_E_GRAPHS, MAX_E_NODES, MAX_ITERATIONS, MAX_SEED_NODES, Statistics, Stop,
    canonicalize,
};
pub use explain::{Explanation, Reason, Step, explain};
pub use rewrite::{MappingRewriter, STATISTICS as MAPPING_STATISTICS, infer_again};
pub use rule::{Mapping, Rule};
pub use ruleset::{BUILTIN, RuleSet};
pub use sound::MAX_INSTANCES;
