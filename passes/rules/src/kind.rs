//! Kinds of rules, and a rule.

use crate::condition::Condition;
use crate::grammar::{Syntax, Tree};
use crate::scope::{Scope, Sort};
use crate::verdict::Verdict;
use std::fmt::Debug;
use std::ops::Range;
use visa_ir::diag::Diagnostic;

/// A kind of rules, by the word of the first line of its files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Rules about mappings.
    Mapping,
    /// Rules about the configuration of an operation.
    Configuration,
    /// Rules about expressions of the vector engine.
    Vector,
    /// Rules about operations of the tensor level.
    Tensor,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Self; 4] = [Self::Mapping, Self::Configuration, Self::Vector, Self::Tensor];

    /// The word of the first line.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Mapping => "mapping",
            Self::Configuration => "configuration",
            Self::Vector => "vector",
            Self::Tensor => "tensor",
        }
    }

    /// The flag of the tools that reads a file of the kind; `None` if only the built-in rules are read.
    #[must_use]
    pub fn flag(self) -> Option<&'static str> {
        match self {
            Self::Mapping => Some("--mapping-rules"),
            Self::Configuration => Some("--rules"),
            Self::Vector => None,
            Self::Tensor => Some("--tensor-rules"),
        }
    }

    /// The entry of the grammar.
    pub(crate) fn entry(self) -> Syntax {
        match self {
            Self::Mapping => Syntax::mapping_file,
            Self::Configuration => Syntax::configuration_file,
            Self::Vector => Syntax::vector_file,
            Self::Tensor => Syntax::tensor_file,
        }
    }
}

/// A kind of rules: the semantics of its sides, options and conditions, and its proof. The crate that uses the
/// rules implements it.
pub trait RuleKind: Sized {
    /// The kind.
    const KIND: Kind;
    /// The form of a rule, for messages.
    const FORM: &'static str;
    /// True if a rule may also be used from right to left (`<=>`).
    const BOTH_WAYS: bool;
    /// The conditions of the kind: names of predicates, `dtype`, and [`COMPARISON`].
    const CONDITIONS: &'static [&'static str];

    /// The context of reading and proving.
    type Session<'a>: Copy;
    /// The sorts of metavariables.
    type Sort: Sort;
    /// The words between a rule's name and its colon.
    type Options: Clone + Debug;
    /// A side.
    type Side: Clone + Debug;
    /// A test of a condition.
    type Test: Clone + Debug;

    /// Number of arguments of a predicate of [`Self::CONDITIONS`].
    #[must_use]
    fn arguments(_predicate: &str) -> usize {
        1
    }

    /// The metavariables that are bound in every rule.
    #[must_use]
    fn scope() -> Scope<Self::Sort> {
        Scope::default()
    }

    /// Reads the options. `name` is the rule's name, for errors.
    ///
    /// # Errors
    /// Options that the kind does not have, and missing ones.
    fn options(
        session: Self::Session<'_>,
        name: &Tree<'_>,
        options: &[Tree<'_>],
    ) -> Result<Self::Options, Diagnostic>;

    /// Reads a side; the left one binds its metavariables in `scope`.
    ///
    /// # Errors
    /// The first mistake.
    fn side(
        session: Self::Session<'_>,
        options: &Self::Options,
        scope: &mut Scope<Self::Sort>,
        side: Tree<'_>,
    ) -> Result<Self::Side, Diagnostic>;

    /// Reads a test of the grammar's rule `format`, `compare` or `predicate`, which is one of [`Self::CONDITIONS`].
    ///
    /// # Errors
    /// The first mistake.
    fn test(scope: &mut Scope<Self::Sort>, test: Tree<'_>) -> Result<Self::Test, Diagnostic>;

    /// Proves rules by evaluation of both sides on small examples: a verdict for each.
    fn prove(session: Self::Session<'_>, rules: &[Rule<Self>]) -> Vec<Verdict>;
}

/// A comparison of two numbers, in [`RuleKind::CONDITIONS`].
pub const COMPARISON: &str = "a comparison";

/// A rule.
#[derive(Clone, Debug)]
pub struct Rule<K: RuleKind> {
    /// Its name, which is kept for the whole process.
    pub name: &'static str,
    /// The equation explained: the comment above it.
    pub doc: String,
    /// Its text after the colon, on one line.
    pub text: String,
    /// Its place in the file, as a byte range.
    pub range: Range<usize>,
    /// Its options.
    pub options: K::Options,
    /// True if it is also used from right to left (`<=>`).
    pub both_ways: bool,
    /// The side that is matched.
    pub left: K::Side,
    /// The side that replaces it.
    pub right: K::Side,
    /// Its condition.
    pub condition: Option<Condition<K::Test>>,
    /// Its metavariables.
    pub scope: Scope<K::Sort>,
}

impl<K: RuleKind> Rule<K> {
    /// The same rule from right to left.
    #[must_use]
    pub fn reversed(&self) -> Self {
        Self {
            name: self.name,
            doc: self.doc.clone(),
            text: self.text.clone(),
            range: self.range.clone(),
            options: self.options.clone(),
            both_ways: self.both_ways,
            left: self.right.clone(),
            right: self.left.clone(),
            condition: self.condition.clone(),
            scope: self.scope.clone(),
        }
    }

    /// Returns true if the condition holds, where `test` decides the tests; `None` if they do not decide it yet.
    pub fn applies(&self, test: &dyn Fn(&K::Test) -> Option<bool>) -> Option<bool> {
        self.condition.as_ref().map_or(Some(true), |condition| condition.holds(test))
    }
}
