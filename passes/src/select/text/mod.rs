//! Rules about configurations, from text: a configuration that is proposed already gives another one. docs/choosing.md says how they are
//! written, `closure` how often they are applied, `sound` how they are checked.

mod apply;
mod closure;
mod corpus;
mod matching;
mod parse;
mod sound;

use crate::canonical::rule::{Condition, Num, Scope, Term};
use std::ops::Range;
use visa_numerics::DType;

pub use closure::{Bound, MAX_CONFIGURATIONS, MAX_ROUNDS};
pub(crate) use closure::{Closure, closure};
pub(crate) use parse::{SHAPE, parse};
pub use sound::ConfigReport;
pub(crate) use sound::check;

/// A rule as written.
#[derive(Clone, Debug)]
pub struct TextRule {
    /// Its name, in reports and proofs.
    pub name: &'static str,
    /// The comment above it.
    pub doc: String,
    /// The rule's own text, on one line.
    pub text: String,
    /// Where it stands in its file, as a byte range.
    pub range: Range<usize>,
    /// The operation whose clauses it proposes.
    pub op: &'static str,
    left: Vec<(&'static str, Given)>,
    right: Vec<(&'static str, Given)>,
    condition: Option<Requirement>,
    scope: Scope,
}

/// A clause's value, with metavariables.
#[derive(Clone, Debug, PartialEq)]
enum Given {
    Map(Term),
    Int(Num),
    Word(&'static str),
    /// The clause is not there.
    Absent,
}

/// What must hold for a rule to apply.
#[derive(Clone, Debug, PartialEq)]
enum Requirement {
    Either(Vec<Self>),
    Both(Vec<Self>),
    Not(Box<Self>),
    /// The format of the stream that flows in.
    Format(DType),
    Asked(Condition),
}

#[cfg(test)]
pub(crate) mod tests {
    use visa_ir::context::Context;

    /// RNGD, with the dialects that pipelines become.
    pub(crate) fn context() -> Context {
        Context::new(&[
            &visa_mapping::DIALECT,
            &visa_stream::DIALECT,
            &visa_sequencer::DIALECT,
            &visa_hw::DIALECT,
        ])
    }
}
