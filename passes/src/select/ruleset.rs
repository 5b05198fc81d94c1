//! A set of rules: those written in Rust, a file an engine.

use super::rule::{Proposal, Rule, Site};
use super::rules::RULES;

/// Rules, in the order in which they are asked.
#[derive(Clone, Debug)]
pub struct RuleSet {
    rust: Vec<&'static Rule>,
}

impl Default for RuleSet {
    /// The built-in rules.
    fn default() -> Self {
        Self::new(RULES.iter().copied().flatten().copied())
    }
}

impl RuleSet {
    /// These rules.
    pub fn new(rules: impl IntoIterator<Item = &'static Rule>) -> Self {
        Self { rust: rules.into_iter().collect() }
    }

    /// The rules that are written in Rust.
    #[must_use]
    pub fn rust(&self) -> &[&'static Rule] {
        &self.rust
    }

    /// The operations that have rules, by name.
    #[must_use]
    pub fn operations(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.rust.iter().map(|rule| rule.op).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Whether some rule proposes clauses of an operation.
    #[must_use]
    pub fn covers(&self, op: &str) -> bool {
        self.rust.iter().any(|rule| rule.op == op)
    }

    /// What the rules propose, each with the rule's name.
    #[must_use]
    pub fn proposals(&self, site: &Site<'_>) -> Vec<(&'static str, Proposal)> {
        let own = self.rust.iter().filter(|rule| rule.op == site.op.name());
        own.flat_map(|rule| (rule.propose)(site).into_iter().map(|proposal| (rule.name, proposal))).collect()
    }
}
