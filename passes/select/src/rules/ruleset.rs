//! A set of rules: those written in Rust, a file an engine, and those of a user's text.

use crate::rules::engines::RULES;
use crate::rules::rule::{Proposal, Rule, Site};
use crate::rules::text::{self, Closure, ConfigReport, SHAPE, TextRule, closure};
use visa_ir::context::Context;
use visa_ir::decl::OpDecl;
use visa_ir::diag::Diagnostic;
use visa_ir::module::OpRef;
use visa_ir::span::Span;

/// Rules, in the order in which they are asked.
#[derive(Clone, Debug)]
pub struct RuleSet {
    rust: Vec<&'static Rule>,
    text: Vec<TextRule>,
    reports: Vec<ConfigReport>,
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
    /// Text that is no rule, operations and clauses that there are not, unbound metavariables, names that are
    /// taken, no rule at all, rules that no example covers or that cannot be checked, and rules that are not
    /// sound, each with a counterexample. All of them at once; spans point into `text`.
    pub fn with_user_rules(ctx: &Context, text: &str) -> Result<Self, Vec<Diagnostic>> {
        let mut all = Self::default();
        let (rules, mut findings) = text::parse(ctx, text);
        if rules.is_empty() && findings.is_empty() {
            let none = Diagnostic::error("rule-none", Span::new(0..0), "no rule in this file");
            findings.push(none.note(SHAPE, None));
        }
        let (rules, taken) = all.named_anew(rules);
        findings.extend(taken);
        for verdict in text::check(ctx, &all, &rules) {
            match verdict {
                Ok(report) => all.reports.push(report),
                Err(finding) => findings.push(finding),
            }
        }
        all.text = rules;
        findings.sort_by_key(|finding| finding.span.start);
        if findings.is_empty() { Ok(all) } else { Err(findings) }
    }

    /// The rules whose names are not taken, and what is wrong with the others.
    fn named_anew(&self, rules: Vec<TextRule>) -> (Vec<TextRule>, Vec<Diagnostic>) {
        let (mut kept, mut findings): (Vec<TextRule>, Vec<Diagnostic>) = (Vec::new(), Vec::new());
        for rule in rules {
            let builtin = self.rust.iter().any(|known| known.name == rule.name);
            if builtin || kept.iter().any(|known| known.name == rule.name) {
                let message = format!("rule `{}`: there is a rule of that name already", rule.name);
                findings.push(Diagnostic::error("rule-duplicate", Span::new(rule.range), message));
            } else {
                kept.push(rule);
            }
        }
        (kept, findings)
    }

    /// The rules that are written in Rust.
    #[must_use]
    pub fn rust(&self) -> &[&'static Rule] {
        &self.rust
    }

    /// The rules of the user's text, each with what its check covered.
    pub fn text(&self) -> impl Iterator<Item = (&TextRule, &ConfigReport)> {
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

    /// Whether some rule proposes clauses of an operation. Those of a text only do where another one does.
    #[must_use]
    pub fn covers(&self, op: OpRef<'_>) -> bool {
        op.decl().is_some_and(|decl| self.covers_all_of(decl))
    }

    /// Whether some rule proposes clauses of the operations that `decl` declares.
    #[must_use]
    pub fn covers_all_of(&self, decl: &OpDecl) -> bool {
        self.rust.iter().any(|rule| std::ptr::eq(rule.op, decl))
    }

    /// What the rules propose, each with the rule's name. Those of a text start from what the others propose and
    /// from the configurations `written`, and go on from what they make themselves; if a bound ends that, `limit`
    /// says which.
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
