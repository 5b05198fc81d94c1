//! A set of rules: those written in Rust, a file an engine, and those of a user's text.

use crate::rules::engines::RULES;
use crate::rules::rule::{Proposal, Rule, Site};
use crate::rules::text::{Closure, Configuration, Session, TextRule, closure};
use visa_ir::context::Context;
use visa_ir::decl::OpDecl;
use visa_ir::diag::Diagnostic;
use visa_ir::module::OpRef;
use visa_rules::{RuleReport, load};

/// Rules, in the order in which they are asked.
#[derive(Clone, Debug)]
pub struct RuleSet {
    rust: Vec<&'static Rule>,
    text: Vec<TextRule>,
    reports: Vec<RuleReport>,
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
        Self { rust: rules.into_iter().collect(), text: Vec::new(), reports: Vec::new() }
    }

    /// The built-in rules and those of `text`, which are checked for soundness on small pipelines of the context's
    /// machine.
    ///
    /// # Errors
    /// Those of [`load`], and operations and clauses that do not exist; spans point into `text`.
    pub fn with_user_rules(ctx: &Context, text: &str) -> Result<Self, Vec<Diagnostic>> {
        let builtin = Self::default();
        let taken = |name: &str| builtin.rust.iter().any(|known| known.name == name);
        let proved = load::<Configuration>(Session { ctx, builtin: &builtin }, text, &taken)?;
        Ok(Self { text: proved.rules, reports: proved.reports, ..builtin })
    }

    /// The rules that are written in Rust.
    #[must_use]
    pub fn rust(&self) -> &[&'static Rule] {
        &self.rust
    }

    /// The rules of the user's text, each with the report of its check.
    pub fn text(&self) -> impl Iterator<Item = (&TextRule, &RuleReport)> {
        self.text.iter().zip(&self.reports)
    }

    /// The operations that have rules, by name.
    #[must_use]
    pub fn operations(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.rust.iter().map(|rule| rule.op.name).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Returns true if some rule proposes clauses of an operation. Those of a text only do where another one does.
    #[must_use]
    pub fn covers(&self, op: OpRef<'_>) -> bool {
        op.decl().is_some_and(|decl| self.covers_all_of(decl))
    }

    /// Returns true if some rule proposes clauses of the operations that `decl` declares.
    #[must_use]
    pub fn covers_all_of(&self, decl: &OpDecl) -> bool {
        self.rust.iter().any(|rule| std::ptr::eq(rule.op, decl))
    }

    /// The proposals of the rules, each with the rule's name. Rules of a text start from the proposals of the others
    /// and from the configurations `written`, and continue with their own results. If a bound ends that, `limit` names
    /// it.
    pub(crate) fn proposals(&self, site: &Site<'_>, written: &[Proposal]) -> Closure {
        let own = self.rust.iter().filter(|rule| site.op.is(rule.op));
        let mut found: Vec<(&'static str, Proposal)> = own
            .flat_map(|rule| (rule.propose)(site).into_iter().map(|proposal| (rule.name, proposal)))
            .collect();
        if self.text.is_empty() {
            return Closure { found, limit: None };
        }
        let start: Vec<Proposal> = written.iter().chain(found.iter().map(|(_, own)| own)).cloned().collect();
        let more = closure(&self.text, site, &start);
        found.extend(more.found);
        Closure { found, limit: more.limit }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_name_says_which_rule_it_was() {
        let rules = RuleSet::default();
        let names: BTreeSet<&str> = rules.rust().iter().map(|rule| rule.name).collect();
        assert_eq!(names.len(), rules.rust().len());
    }
}
