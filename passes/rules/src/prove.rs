//! Checks and proofs of whole files, and the messages of rules that fail them.

use crate::kind::{Rule, RuleKind};
use crate::read::read;
use crate::verdict::{Counterexample, Verdict};
use visa_ir::diag::Diagnostic;
use visa_ir::span::Span;

/// The coverage of one rule's proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleReport {
    /// The rule.
    pub name: &'static str,
    /// Examples on which both sides were compared.
    pub instances: u64,
    /// Comparisons in them: positions of mappings, verified configurations, results of expressions.
    pub compared: u64,
}

/// Rules that were read, checked and proved.
#[derive(Clone, Debug)]
pub struct Proved<K: RuleKind> {
    /// The rules, in order.
    pub rules: Vec<Rule<K>>,
    /// The coverage of each rule's proof.
    pub reports: Vec<RuleReport>,
}

/// Reads, checks and proves the rules of `text`. `taken` returns true for the names of other rules.
///
/// # Errors
/// A file of another kind, text that is not a rule, metavariables that are unbound or misused, conditions that the
/// kind does not have, names that are taken, a file without rules, rules that no example covers, and unsound rules,
/// each with a counterexample. All of them at once, in the order of the text; spans point into `text`.
pub fn load<K: RuleKind>(
    session: K::Session<'_>,
    text: &str,
    taken: &dyn Fn(&str) -> bool,
) -> Result<Proved<K>, Vec<Diagnostic>> {
    let (rules, mut findings) = check::<K>(session, text, taken);
    let mut reports = Vec::new();
    for verdict in prove(session, &rules) {
        match verdict {
            Ok(report) => reports.push(report),
            Err(finding) => findings.push(finding),
        }
    }
    findings.sort_by_key(|finding| finding.span.start);
    if findings.is_empty() { Ok(Proved { rules, reports }) } else { Err(findings) }
}

/// The rules of `text` that can be read and whose names are not taken, and the errors of the others. Nothing is
/// proved: a test does that for built-in rules.
pub fn check<K: RuleKind>(
    session: K::Session<'_>,
    text: &str,
    taken: &dyn Fn(&str) -> bool,
) -> (Vec<Rule<K>>, Vec<Diagnostic>) {
    let (read, mut findings) = read::<K>(session, text);
    if read.is_empty() && findings.is_empty() {
        let none = Diagnostic::error("rule-none", Span::new(0..0), "the file contains no rules");
        findings.push(none.note(K::FORM, None));
    }
    let mut rules: Vec<Rule<K>> = Vec::new();
    for rule in read {
        if taken(rule.name) || rules.iter().any(|known| known.name == rule.name) {
            let message = format!("rule `{}`: another rule has this name", rule.name);
            let finding = Diagnostic::error("rule-duplicate", Span::new(rule.range), message);
            findings.push(finding.fix("choose another name".to_owned()));
        } else {
            rules.push(rule);
        }
    }
    (rules, findings)
}

/// Proves rules again: the coverage of each proof, or its error.
pub fn prove<K: RuleKind>(session: K::Session<'_>, rules: &[Rule<K>]) -> Vec<Result<RuleReport, Diagnostic>> {
    let verdicts = K::prove(session, rules);
    rules.iter().zip(verdicts).map(|(rule, verdict)| judge(rule, verdict)).collect()
}

/// A verdict as a report or a diagnostic.
fn judge<K: RuleKind>(rule: &Rule<K>, verdict: Verdict) -> Result<RuleReport, Diagnostic> {
    let (name, span) = (rule.name, Span::new(rule.range.clone()));
    let unchecked = |code: &str, why: &str| {
        Diagnostic::error(code, span, format!("rule `{name}` cannot be checked: {why}"))
    };
    Err(match verdict {
        Verdict::Sound { instances: 0, .. } => {
            unchecked("rule-unchecked", "no small example fits its left side and conditions")
        }
        Verdict::Sound { instances, compared } => return Ok(RuleReport { name, instances, compared }),
        Verdict::Unsound(Counterexample { given, left, right, why }) => {
            let message = format!("rule `{name}` is not sound: {why}");
            let finding = Diagnostic::error("rule-unsound", span, message)
                .note(format!("`{left}` is the left side, with {given}"), None);
            match right {
                Some(right) => finding.note(format!("`{right}` is the right side"), None),
                None => finding,
            }
        }
        Verdict::Unchecked { why, note } => unchecked("rule-unchecked", &why).note(note, None),
        Verdict::Undecided { why, note, fix } => unchecked("rule-undecided", &why).note(note, None).fix(fix),
    })
}
