//! Rules about configurations, from text: a configuration that is proposed already gives another one.
//! docs/choosing.md says how they are written, `closure` how often they are applied, `sound` how they are checked.

mod apply;
mod closure;
mod compare;
mod corpus;
mod matching;
mod parse;
mod sound;

use std::ops::Range;
use visa_canonical::rule::{Condition, Num, Scope, Term};
use visa_ir::decl::OpDecl;
use visa_numerics::DType;

pub use apply::MAX_NODES;
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
    /// Where it is in its file, as a byte range.
    pub range: Range<usize>,
    /// The operation whose clauses it proposes.
    pub op: &'static OpDecl,
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
    use super::corpus::corpus;
    use super::*;
    use visa_ir::context::Context;
    use visa_ir::module::{Module, OpId};

    /// RNGD, with the dialects that pipelines become.
    pub(crate) fn context() -> Context {
        Context::new(&[
            &visa_mapping::DIALECT,
            &visa_stream::DIALECT,
            &visa_sequencer::DIALECT,
            &visa_hw::DIALECT,
        ])
    }

    /// A kernel and its fetch, which is open.
    pub(crate) fn fetch(ctx: &Context) -> (Module, OpId) {
        let example = corpus(ctx).into_iter().next().expect("a corpus");
        (example.module, example.chain[1])
    }

    #[test]
    fn conditions_are_read_as_they_are_bracketed() {
        let text = "rule r: stream.fetch packet P => packet P if (dtype == i8 or dtype == bf16) and not dtype == \
                    i8 or 2 < 1";
        let (rules, findings) = parse(&context(), text);
        assert_eq!(findings, []);
        let format = Requirement::Format;
        let Some(Requirement::Either(parts)) = &rules[0].condition else {
            panic!("{:?}", rules[0].condition)
        };
        let either = Requirement::Either(vec![format(DType::I8), format(DType::Bf16)]);
        assert_eq!(parts[0], Requirement::Both(vec![either, Requirement::Not(Box::new(format(DType::I8)))]));
        assert!(matches!(parts[1], Requirement::Asked(Condition::Compare(..))), "{parts:?}");
    }
}
