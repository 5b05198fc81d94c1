//! A set of rules, ready to be applied: the built-in ones, and those of a user's file.

use egg::Rewrite;
use visa_ir::diag::Diagnostic;
use visa_ir::span::Span;

use super::analysis::Semantics;
use super::compile::compile;
use super::language::Node;
use super::parse::{SHAPE, parse};
use super::rule::Rule;
use super::sound::{Verdict, check};

/// The text of the built-in rules.
pub const BUILTIN: &str = include_str!("mapping.rules");

/// Rules about mappings.
#[derive(Clone, Debug)]
pub struct RuleSet {
    rules: Vec<Rule>,
    rewrites: Vec<Rewrite<Node, Semantics>>,
}

/// What the check of one rule covered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleReport {
    /// The rule.
    pub name: String,
    /// Examples on which both sides were compared position by position.
    pub instances: u64,
    /// Positions that were compared.
    pub positions: u64,
}

impl Default for RuleSet {
    /// The built-in rules. They are checked by a test of this crate, not on every start.
    fn default() -> Self {
        let (rules, findings) = Self::unchecked(BUILTIN, Vec::new());
        assert!(findings.is_empty(), "the built-in rules do not parse: {findings:?}");
        rules
    }
}

impl RuleSet {
    /// The built-in rules and those of `text`, which are checked for soundness by enumeration.
    ///
    /// # Errors
    /// Text that is no rule, unbound or misused metavariables, names that are taken, no rule at all, rules that no
    /// example covers, and rules that are not sound, each with a counterexample. All of them at once; spans point
    /// into `text`.
    pub fn with_user_rules(text: &str) -> Result<Self, Vec<Diagnostic>> {
        let builtin = Self::default();
        let known = builtin.rules.len();
        let (all, mut findings) = Self::unchecked(text, builtin.rules);
        findings.extend(all.rules[known..].iter().filter_map(|rule| verdict(rule).err()));
        findings.sort_by_key(|finding| finding.span.start);
        if findings.is_empty() { Ok(all) } else { Err(findings) }
    }

    /// These rules and those of `text` that can be read, and what is wrong with the others.
    fn unchecked(text: &str, mut rules: Vec<Rule>) -> (Self, Vec<Diagnostic>) {
        let (own, mut findings) = parse(text);
        if own.is_empty() && findings.is_empty() {
            let message = "no rule in this file";
            findings.push(Diagnostic::error("rule-none", Span::new(0..0), message).note(SHAPE, None));
        }
        let mut rewrites: Vec<_> = rules.iter().flat_map(compile).flatten().collect();
        for rule in own {
            let span = Span::new(rule.range.clone());
            if rules.iter().any(|known| known.name == rule.name) {
                let message = format!("rule `{}`: there is a rule of that name already", rule.name);
                findings.push(Diagnostic::error("rule-duplicate", span, message));
                continue;
            }
            match compile(&rule) {
                Ok(own) => {
                    rewrites.extend(own);
                    rules.push(rule);
                }
                Err(why) => findings.push(Diagnostic::error("rule-unbound", span, why)),
            }
        }
        (Self { rules, rewrites }, findings)
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

    /// Checks every rule again and says how much the check covered.
    ///
    /// # Errors
    /// The rules that are not sound or that no example covers.
    pub fn report(&self) -> Result<Vec<RuleReport>, Vec<Diagnostic>> {
        let (mut reports, mut findings) = (Vec::new(), Vec::new());
        for rule in &self.rules {
            match verdict(rule) {
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

/// The check of one rule as a diagnostic.
fn verdict(rule: &Rule) -> Result<RuleReport, Diagnostic> {
    let span = Span::new(rule.range.clone());
    let name = &rule.name;
    match check(rule) {
        Verdict::Sound { instances: 0, .. } => {
            let message = format!(
                "rule `{name}` cannot be checked: no small example fits its left side and conditions"
            );
            Err(Diagnostic::error("rule-unchecked", span, message))
        }
        Verdict::Sound { instances, positions } => {
            Ok(RuleReport { name: name.clone(), instances, positions })
        }
        Verdict::Unsound(example) => {
            let message = format!("rule `{name}` is not sound: {}", example.why);
            let axes = example.axes.join(", ");
            let left = format!("`{}` is the left side, with axes {axes}", example.left);
            let finding = Diagnostic::error("rule-unsound", span, message).note(left, None);
            Err(match example.right {
                Some(right) => finding.note(format!("`{right}` is the right side"), None),
                None => finding,
            })
        }
    }
}
