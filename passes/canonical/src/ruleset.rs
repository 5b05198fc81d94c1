//! A set of rules, ready to be applied: the built-in ones, and those of a user's file.

use super::analysis::Semantics;
use super::compile::compile;
use super::language::Node;
use super::rule::{Mapping, Rule};
use egg::Rewrite;
use visa_ir::diag::Diagnostic;
use visa_ir::span::Span;
use visa_rules::{RuleReport, load, prove};

/// The text of the built-in rules.
pub const BUILTIN: &str = include_str!("mapping.rules");

/// Rules about mappings.
#[derive(Clone, Debug)]
pub struct RuleSet {
    rules: Vec<Rule>,
    rewrites: Vec<Rewrite<Node, Semantics>>,
}

impl Default for RuleSet {
    /// The built-in rules. They are proved by a test of this crate, not on every start.
    fn default() -> Self {
        let (rules, mut findings) = visa_rules::check::<Mapping>((), BUILTIN, &|_| false);
        let mut all = Self { rules: Vec::new(), rewrites: Vec::new() };
        findings.extend(all.extend(rules));
        assert!(findings.is_empty(), "the built-in rules do not parse: {findings:?}");
        all
    }
}

impl RuleSet {
    /// The built-in rules and those of `text`, which are proved by enumeration.
    ///
    /// # Errors
    /// Those of [`load`]; spans point into `text`.
    pub fn with_user_rules(text: &str) -> Result<Self, Vec<Diagnostic>> {
        let mut all = Self::default();
        let proved = load::<Mapping>((), text, &|name| all.rule(name).is_some())?;
        let findings = all.extend(proved.rules);
        if findings.is_empty() { Ok(all) } else { Err(findings) }
    }

    /// Adds rules, and returns an error for each that egg refuses.
    fn extend(&mut self, rules: Vec<Rule>) -> Vec<Diagnostic> {
        let mut findings = Vec::new();
        for rule in rules {
            match compile(&rule) {
                Ok(rewrites) => {
                    self.rewrites.extend(rewrites);
                    self.rules.push(rule);
                }
                Err(why) => {
                    findings.push(Diagnostic::error("rule-unbound", Span::new(rule.range.clone()), why));
                }
            }
        }
        findings
    }

    /// The rules, in order: built-in ones first.
    #[must_use]
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// The rule of that name.
    #[must_use]
    pub fn rule(&self, name: &str) -> Option<&Rule> {
        self.rules.iter().find(|rule| rule.name == name)
    }

    /// Proves every rule again and returns the report of each proof.
    ///
    /// # Errors
    /// The rules that are not sound or that no example covers.
    pub fn report(&self) -> Result<Vec<RuleReport>, Vec<Diagnostic>> {
        let (mut reports, mut findings) = (Vec::new(), Vec::new());
        for verdict in prove::<Mapping>((), &self.rules) {
            match verdict {
                Ok(report) => reports.push(report),
                Err(finding) => findings.push(finding),
            }
        }
        if findings.is_empty() { Ok(reports) } else { Err(findings) }
    }

    pub(crate) fn rewrites(&self) -> &[Rewrite<Node, Semantics>] {
        &self.rewrites
    }
}
