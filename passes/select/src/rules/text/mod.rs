//! Rules about configurations, from text: a configuration that is proposed already gives another one.
//! docs/choosing.md describes them, `kind` reads them from trees of visa-rules, `closure` bounds their application,
//! `sound` proves them.

mod apply;
mod closure;
mod compare;
mod corpus;
mod kind;
mod matching;
mod sound;

use visa_canonical::rule::{Num, Term};
use visa_ir::decl::OpDecl;
use visa_numerics::DType;

pub use apply::MAX_NODES;
pub use closure::{Bound, MAX_CONFIGURATIONS, MAX_ROUNDS};
pub(crate) use closure::{Closure, closure};
pub use kind::{Configuration, Session};

/// A rule about the configuration of the operation in its options.
pub type TextRule = visa_rules::Rule<Configuration>;

/// The clauses of one side, by name.
pub type Clauses = Vec<(&'static str, RuleValue)>;

/// A clause's value, with metavariables.
#[derive(Clone, Debug, PartialEq)]
pub enum RuleValue {
    /// A mapping.
    Map(Term),
    /// A number.
    Int(Num),
    /// A word.
    Word(&'static str),
    /// The clause is not there.
    Absent,
}

/// The operation of a rule.
pub type Operation = &'static OpDecl;

/// A test of a condition.
#[derive(Clone, Debug, PartialEq)]
pub enum Test {
    /// The format of the stream that flows in.
    Format(DType),
    /// A test of mappings and numbers.
    Mapping(visa_canonical::rule::Test),
}

#[cfg(test)]
pub(crate) mod tests {
    use super::corpus::corpus;
    use super::*;
    use crate::rules::ruleset::RuleSet;
    use visa_canonical::rule::Relation;
    use visa_ir::context::Context;
    use visa_ir::diag::Diagnostic;
    use visa_ir::module::{Module, OpId};
    use visa_rules::Condition;

    /// A file of these rules; the first is on line 2.
    pub(crate) fn file(rules: &str) -> String {
        format!("rules configuration\n{rules}")
    }

    /// These rules, without a proof.
    pub(crate) fn read(ctx: &Context, rules: &str) -> (Vec<TextRule>, Vec<Diagnostic>) {
        let session = Session { ctx, builtin: &RuleSet::default() };
        visa_rules::read::<Configuration>(session, &file(rules))
    }

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
        let text = "rule r stream.fetch: packet P => packet P if (dtype == i8 or dtype == bf16) and not dtype == \
                    i8 or 2 < 1";
        let (rules, findings) = read(&context(), text);
        assert_eq!(findings, []);
        let format = |format| Condition::Test(Test::Format(format));
        let Some(Condition::Either(parts)) = &rules[0].condition else { panic!("{:?}", rules[0].condition) };
        let either = Condition::Either(vec![format(DType::I8), format(DType::Bf16)]);
        assert_eq!(parts[0], Condition::Both(vec![either, Condition::Not(Box::new(format(DType::I8)))]));
        let compared =
            Test::Mapping(visa_canonical::rule::Test::Compare(Num::Is(2), Relation::Less, Num::Is(1)));
        assert_eq!(parts[1], Condition::Test(compared));
    }
}
