//! Is a rule sound? It is applied to the configurations of small pipelines, and both sides are compared element by
//! element: the right side must hold the elements of the left side, each as often, in the same slices, and must not
//! lose a mask. Configurations that the verifier or the lowering refuses are no examples.

use super::apply::{Applied, apply};
use super::compare::COMPARED;
use super::corpus::{Example, corpus};
use super::{TextRule, closure};
use crate::config::candidate::CandidatePipeline;
use crate::config::computation::Computations;
use crate::config::graph::{chosen, described, open_clauses};
use crate::config::memo::Means;
use crate::config::task::Task;
use crate::effort::budget::Budget;
use crate::rules::rule::Proposal;
use crate::rules::ruleset::RuleSet;
use std::collections::HashSet;
use visa_ir::context::Context;
use visa_ir::diag::Diagnostic;
use visa_ir::module::OpRef;
use visa_rules::{Counterexample, Verdict};

/// Most configurations that a rule is applied to for one pipeline and the input of the operation.
const MAX_LEFT: usize = 80;

/// Most configurations of an operation in front of the rule's.
const MAX_BEFORE: usize = 4;

/// Right sides of a rule that are known to be legal before no more are verified that agree with their left sides.
const ENOUGH: u64 = 20;

/// Most right sides of a rule that are verified.
const MAX_VERIFIED: u64 = 2_000;

/// The known facts of a rule so far.
#[derive(Default)]
struct Evidence {
    instances: u64,
    verified: u64,
    legal: u64,
    refused: Option<(String, Diagnostic)>,
    counterexample: Option<Counterexample>,
}

/// Proves the rules of a text: a verdict for each.
pub(crate) fn check(ctx: &Context, builtin: &RuleSet, rules: &[TextRule]) -> Vec<Verdict> {
    let known = |rule: &TextRule| COMPARED.iter().any(|compared| std::ptr::eq(compared.op, rule.options));
    let evidence = rules.iter().map(|_| Evidence::default()).collect();
    let mut check = Check { ctx, builtin, rules, evidence };
    if rules.iter().any(known) {
        corpus(ctx).iter().for_each(|example| check.example(example));
    }
    let verdicts = rules.iter().zip(check.evidence);
    verdicts.map(|(rule, evidence)| if known(rule) { evidence.verdict() } else { undecided(rule) }).collect()
}

struct Check<'a> {
    ctx: &'a Context,
    builtin: &'a RuleSet,
    rules: &'a [TextRule],
    evidence: Vec<Evidence>,
}

/// A configuration and the result of a rule for it.
struct Pair {
    /// The rule's number.
    rule: usize,
    left: Proposal,
    right: Proposal,
    /// True if the rule itself made the left side: its result for that may be the configuration that it started from.
    again: bool,
}

impl Check<'_> {
    fn example(&mut self, example: &Example) {
        let ops: Vec<OpRef<'_>> = example.chain.iter().map(|&id| example.module.op(self.ctx, id)).collect();
        let budget = Budget::unlimited();
        let Ok(computations) = Computations::of_module(self.ctx, &example.module) else { return };
        let means = Means::new(self.builtin, &budget, computations.into());
        let candidate = CandidatePipeline::new(self.ctx, &example.module, &example.chain, &means);
        let Ok(mut candidate) = candidate else { return };
        let task = Task::of(&ops, &candidate.axes().0, &means.computations);
        self.stage(&mut candidate, &task, example, 0);
    }

    /// Tries the rules at operation `stage`, and goes on with a few of its configurations.
    fn stage(&mut self, candidate: &mut CandidatePipeline<'_>, task: &Task, example: &Example, stage: usize) {
        let left = (stage..candidate.operations()).any(|stage| self.concerns(candidate.original(stage)));
        if !left {
            return;
        }
        let (proposals, pairs) = self.pairs(candidate, task, stage);
        for pair in pairs {
            self.pair(candidate, example, stage, &pair);
        }
        let axes = candidate.axes();
        let mut types = HashSet::new();
        for proposal in proposals {
            let Some(clauses) = chosen(candidate.original(stage), &proposal, &axes.0) else { continue };
            let Ok((ty, _)) = candidate.push(&clauses) else { continue };
            if types.insert(ty) {
                self.stage(candidate, task, example, stage + 1);
            }
            candidate.pop();
            if types.len() == MAX_BEFORE {
                return;
            }
        }
    }

    fn concerns(&self, op: OpRef<'_>) -> bool {
        self.rules.iter().any(|rule| op.is(rule.options))
    }

    /// The configurations of operation `stage`: those of Rust's rules, and the results of the rules for them and for
    /// each other's results.
    fn pairs(
        &self,
        candidate: &CandidatePipeline<'_>,
        task: &Task,
        stage: usize,
    ) -> (Vec<Proposal>, Vec<Pair>) {
        if open_clauses(candidate.original(stage)).next().is_none() {
            return (vec![Proposal::new()], Vec::new());
        }
        let Some(site) = candidate.site(stage, task) else { return (Vec::new(), Vec::new()) };
        let proposals: Vec<Proposal> =
            self.builtin.proposals(&site, &[]).found.into_iter().map(|(_, proposal)| proposal).collect();
        let start = few(proposals.clone(), MAX_LEFT);
        let more = few(closure(self.rules, &site, &start).found, MAX_LEFT);
        let left = start.into_iter().map(|proposal| (None, proposal));
        let left: Vec<_> = left.chain(more.into_iter().map(|(rule, made)| (Some(rule), made))).collect();
        let mut pairs = Vec::new();
        for (at, rule) in self.rules.iter().enumerate().filter(|(_, rule)| site.op.is(rule.options)) {
            for (by, left) in &left {
                if let Some(Applied::Proposal(right)) = apply(rule, &site, left)
                    && right != *left
                {
                    let again = *by == Some(rule.name);
                    pairs.push(Pair { rule: at, left: left.clone(), right, again });
                }
            }
        }
        (few(proposals, 4 * MAX_BEFORE), pairs)
    }

    /// Compares both sides of one example.
    fn pair(&mut self, candidate: &mut CandidatePipeline<'_>, example: &Example, stage: usize, pair: &Pair) {
        let Pair { rule, left, right, again } = pair;
        let (rule, axes) = (*rule, candidate.axes());
        if self.evidence[rule].counterexample.is_some() {
            return;
        }
        let Some(compared) =
            COMPARED.iter().find(|compared| std::ptr::eq(compared.op, self.rules[rule].options))
        else {
            return;
        };
        let Ok(difference) = compared.difference(left, right, &axes.0) else { return };
        if difference.is_none() && *again {
            return;
        }
        let evidence = &mut self.evidence[rule];
        if difference.is_none() && evidence.legal >= ENOUGH {
            evidence.instances += 1;
            return;
        }
        if evidence.verified == MAX_VERIFIED {
            return;
        }
        evidence.verified += 1;
        let op = candidate.original(stage);
        let (Some(before), Some(clauses)) = (chosen(op, left, &axes.0), chosen(op, right, &axes.0)) else {
            return;
        };
        let (before, after) = (described(op, &before), described(op, &clauses));
        if let Err(refused) = candidate.push(&clauses) {
            evidence.refused.get_or_insert_with(|| (after, (*refused).clone()));
            return;
        }
        candidate.pop();
        evidence.instances += 1;
        evidence.legal += 1;
        evidence.counterexample = difference.map(|why| Counterexample {
            given: format!("axes {}", example.axes),
            left: before,
            right: Some(after),
            why,
        });
    }
}

/// At most `most` elements, evenly spread.
fn few<T>(all: Vec<T>, most: usize) -> Vec<T> {
    let step = all.len().div_ceil(most).max(1);
    all.into_iter().step_by(step).collect()
}

impl Evidence {
    fn verdict(self) -> Verdict {
        if let Some(counterexample) = self.counterexample {
            return Verdict::Unsound(counterexample);
        }
        match self.refused {
            Some((right, refused)) if self.legal == 0 => Verdict::Unchecked {
                why: "the verifier refuses all that it makes of small examples".to_owned(),
                note: format!("`{right}` breaks {}: {}", refused.code, refused.message),
            },
            // Examples of which no right side is legal are none.
            Some(_) | None if self.legal == 0 => Verdict::Sound { instances: 0, compared: 0 },
            Some(_) | None => Verdict::Sound { instances: self.instances, compared: self.legal },
        }
    }
}

/// A rule about an operation whose configurations cannot be compared.
fn undecided(rule: &TextRule) -> Verdict {
    let known: Vec<_> = COMPARED.iter().map(|compared| format!("`{}`", compared.op.name)).collect();
    Verdict::Undecided {
        why: format!(
            "whether two configurations of `{}` make the same shows only at the end of a pipeline",
            rule.options.name
        ),
        note: format!("rules of a text are about {}", known.join(", ")),
        fix: "write the rule in Rust, in a file of passes/select/src/rules/engines".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::text::tests::{context, file};

    #[test]
    fn every_operation_that_is_compared_has_an_example() {
        let ctx = context();
        let examples = corpus(&ctx);
        for compared in COMPARED {
            let in_it = |example: &Example| {
                example.chain.iter().any(|&id| example.module.op(&ctx, id).is(compared.op))
            };
            assert!(examples.iter().any(in_it), "{}", compared.op.name);
        }
    }

    fn codes(text: &str) -> Vec<String> {
        let rules = RuleSet::with_user_rules(&context(), &file(text));
        rules.err().unwrap_or_default().into_iter().map(|finding| finding.code).collect()
    }

    #[test]
    fn sound_rules_are_taken_and_say_what_was_compared() {
        let text = "rule halve stream.fetch: time T, packet P => time [T, P / 2], packet P % 2 if exact(P / 2) \
                    and dtype == f32
                    rule tied stream.to_trf: row R, element E => row R / 2, element [R % 2, E] if exact(R / 2)";
        let rules = RuleSet::with_user_rules(&context(), &file(text)).expect("sound rules");
        let reports: Vec<_> = rules.text().map(|(_, report)| report.clone()).collect();
        assert_eq!(reports.iter().map(|report| report.name).collect::<Vec<_>>(), ["halve", "tied"]);
        assert!(
            reports.iter().all(|report| report.compared > 0 && report.instances >= report.compared),
            "{reports:?}"
        );
    }

    #[test]
    fn what_a_rule_undoes_by_itself_is_no_example_of_it() {
        // Rotated often enough a time is itself again, which is legal; nothing else is.
        assert_eq!(
            codes("rule disorder stream.collect: time [E, ...R] => time [R, E] if 1 < |E| and 1 < |R|"),
            ["rule-unchecked"]
        );
    }

    #[test]
    fn a_condition_makes_a_rule_sound() {
        // Two of the packet's eighths are all of a packet of 16 and not of longer ones.
        let cut = "rule eighths stream.fetch: time T, packet P => time [T, P / 8 % 2], packet P % 8 if 16 divides \
                   |P|";
        assert_eq!(codes(cut), ["rule-unsound"]);
        assert_eq!(codes(&format!("{cut} and |P| < 17")), Vec::<String>::new());
    }
}
