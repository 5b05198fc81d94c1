//! Is a rule sound? It is applied to the configurations of small pipelines, and both sides are compared element by element: the right side
//! must hold what the left side holds, each element as often, in the same slices, and must not lose a mask. What the verifier or the
//! lowering refuses is no example. Cells are those of [`Map`], the readable meaning of a mapping, not those of its digits, which rules are
//! applied with.

use super::apply::Applied;
use super::corpus::{Example, corpus};
use super::{TextRule, closure};
use crate::select::aim::Aim;
use crate::select::graph::{chosen, described, open_clauses};
use crate::select::rule::{Proposal, Site, Value};
use crate::select::ruleset::RuleSet;
use crate::select::scratch::Scratch;
use std::collections::{BTreeMap, HashSet};
use visa_ir::context::Context;
use visa_ir::diag::Diagnostic;
use visa_ir::module::OpRef;
use visa_ir::span::Span;
use visa_mapping::facts::machine;
use visa_mapping::{Axes, Cell, Expr, Map, PadKind, describe, operand};

/// What is compared of an operation's configurations.
struct Compared {
    op: &'static str,
    /// The clause that says what each slice holds, if the operation changes that.
    spread: Option<&'static str>,
    /// The clauses that together say what a slice holds, major to minor.
    held: &'static [&'static str],
}

/// The operations whose configurations can be compared by themselves. What others sum shows only at the end of a pipeline.
const COMPARED: &[Compared] = &[
    Compared { op: "stream.fetch", spread: None, held: &["time", "packet"] },
    Compared { op: "stream.switch", spread: Some("slice"), held: &["time"] },
    Compared { op: "stream.collect", spread: None, held: &["time", "packet"] },
    Compared { op: "stream.align", spread: None, held: &["time", "packet"] },
    Compared { op: "stream.cast", spread: None, held: &["packet"] },
    Compared { op: "stream.commit", spread: None, held: &["element"] },
    Compared { op: "stream.to_trf", spread: None, held: &["row", "element"] },
    Compared { op: "stream.to_vrf", spread: None, held: &["element"] },
];

/// Most configurations that a rule is applied to for one pipeline and what flows into the operation.
const MAX_LEFT: usize = 80;

/// Most configurations of an operation in front of the rule's.
const MAX_BEFORE: usize = 4;

/// Right sides of a rule that are known to be legal before no more are verified that agree with their left sides.
const ENOUGH: u64 = 20;

/// Most right sides of a rule that are verified.
const MAX_VERIFIED: u64 = 2_000;

/// Most positions of a side.
const MAX_POSITIONS: u64 = 4096;

/// What the check of a rule covered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigReport {
    /// The rule.
    pub name: &'static str,
    /// Examples whose sides were compared element by element.
    pub instances: u64,
    /// Those of them whose right side was verified.
    pub legal: u64,
}

/// What is known of a rule so far.
#[derive(Default)]
struct Evidence {
    instances: u64,
    verified: u64,
    legal: u64,
    refused: Option<(String, Diagnostic)>,
    counterexample: Option<Counterexample>,
}

/// An example on which the sides of a rule differ.
struct Counterexample {
    axes: String,
    left: String,
    right: String,
    why: String,
}

/// Checks the rules of a text: what the check covered, or what is wrong, rule by rule.
pub(crate) fn check(
    ctx: &Context,
    builtin: &RuleSet,
    rules: &[TextRule],
) -> Vec<Result<ConfigReport, Diagnostic>> {
    let known = |rule: &TextRule| COMPARED.iter().any(|compared| compared.op == rule.op);
    let evidence = rules.iter().map(|_| Evidence::default()).collect();
    let mut check = Check { ctx, builtin, rules, evidence };
    if rules.iter().any(known) {
        corpus(ctx).iter().for_each(|example| check.example(example));
    }
    let verdicts = rules.iter().zip(check.evidence);
    verdicts
        .map(|(rule, evidence)| if known(rule) { evidence.verdict(rule) } else { Err(undecided(rule)) })
        .collect()
}

struct Check<'a> {
    ctx: &'a Context,
    builtin: &'a RuleSet,
    rules: &'a [TextRule],
    evidence: Vec<Evidence>,
}

/// A rule, by its number, with a configuration and what it makes of it.
type Pair = (usize, Proposal, Proposal);

impl Check<'_> {
    fn example(&mut self, example: &Example) {
        let ops: Vec<OpRef<'_>> = example.chain.iter().map(|&id| example.module.op(self.ctx, id)).collect();
        let Ok(mut scratch) = Scratch::new(self.ctx, &example.module, &example.chain) else { return };
        let aim = Aim::of(&ops, &scratch.axes().0);
        self.stage(&mut scratch, &aim, example, 0);
    }

    /// Tries the rules at operation `stage`, and goes on with a few of its configurations.
    fn stage(&mut self, scratch: &mut Scratch<'_>, aim: &Aim, example: &Example, stage: usize) {
        let left = (stage..scratch.operations()).any(|stage| self.concerns(scratch.original(stage)));
        if !left {
            return;
        }
        let (proposals, pairs) = self.pairs(scratch, aim, stage);
        for (rule, left, right) in pairs {
            self.pair(scratch, example, stage, (rule, &left, &right));
        }
        let axes = scratch.axes();
        let mut types = HashSet::new();
        for proposal in proposals {
            let Some(clauses) = chosen(scratch.original(stage), &proposal, &axes.0) else { continue };
            let Ok((ty, _)) = scratch.push(&clauses) else { continue };
            if types.insert(ty) {
                self.stage(scratch, aim, example, stage + 1);
            }
            scratch.pop();
            if types.len() == MAX_BEFORE {
                return;
            }
        }
    }

    fn concerns(&self, op: OpRef<'_>) -> bool {
        self.rules.iter().any(|rule| rule.op == op.name())
    }

    /// The configurations of operation `stage`, those of Rust's rules, and what the rules make of them and of each other's.
    fn pairs(&self, scratch: &Scratch<'_>, aim: &Aim, stage: usize) -> (Vec<Proposal>, Vec<Pair>) {
        let (op, written) = (scratch.op(stage), scratch.original(stage));
        if open_clauses(written).next().is_none() {
            return (vec![Proposal::new()], Vec::new());
        }
        let (axes, machine) = (scratch.axes(), machine(self.ctx));
        let Some(source) = operand(op, 0) else { return (Vec::new(), Vec::new()) };
        let site = Site { op, written, source, axes: &axes.0, machine: &machine, aim };
        let proposals: Vec<Proposal> =
            self.builtin.proposals(&site, &[]).found.into_iter().map(|(_, proposal)| proposal).collect();
        let few = |all: Vec<Proposal>, most: usize| {
            let step = all.len().div_ceil(most).max(1);
            all.into_iter().step_by(step).collect::<Vec<_>>()
        };
        let left = few(proposals.clone(), MAX_LEFT);
        let more = closure(self.rules, &site, &left).found.into_iter().map(|(_, proposal)| proposal);
        let left: Vec<Proposal> = left.into_iter().chain(few(more.collect(), MAX_LEFT)).collect();
        let mut pairs = Vec::new();
        for (at, rule) in self.rules.iter().enumerate().filter(|(_, rule)| rule.op == op.name()) {
            for known in &left {
                if let Some(Applied::Proposal(made)) = rule.apply(&site, known)
                    && made != *known
                {
                    pairs.push((at, known.clone(), made));
                }
            }
        }
        (few(proposals, 4 * MAX_BEFORE), pairs)
    }

    /// Compares both sides of one example.
    fn pair(
        &mut self,
        scratch: &mut Scratch<'_>,
        example: &Example,
        stage: usize,
        pair: (usize, &Proposal, &Proposal),
    ) {
        let (rule, left, right) = pair;
        let axes = scratch.axes();
        if self.evidence[rule].counterexample.is_some() {
            return;
        }
        let Some(compared) = COMPARED.iter().find(|compared| compared.op == self.rules[rule].op) else {
            return;
        };
        let Ok(difference) = compared.difference(left, right, &axes.0) else { return };
        let evidence = &mut self.evidence[rule];
        if difference.is_none() && evidence.legal >= ENOUGH {
            evidence.instances += 1;
            return;
        }
        if evidence.verified == MAX_VERIFIED {
            return;
        }
        evidence.verified += 1;
        let op = scratch.original(stage);
        let (Some(before), Some(clauses)) = (chosen(op, left, &axes.0), chosen(op, right, &axes.0)) else {
            return;
        };
        let (before, after) = (described(op, &before), described(op, &clauses));
        if let Err(refused) = scratch.push(&clauses) {
            evidence.refused.get_or_insert((after, refused));
            return;
        }
        scratch.pop();
        evidence.instances += 1;
        evidence.legal += 1;
        evidence.counterexample = difference.map(|why| Counterexample {
            axes: example.axes.clone(),
            left: before,
            right: after,
            why,
        });
    }
}

/// What a side holds.
struct Held {
    /// What each slice holds, if the operation changes that.
    slices: Vec<Option<Cell>>,
    /// What a slice holds, position by position.
    cells: Vec<Option<Cell>>,
}

impl Compared {
    /// How the sides differ; an error where one of them is no mapping, or too long to be written out.
    fn difference(&self, left: &Proposal, right: &Proposal, axes: &Axes) -> Result<Option<String>, ()> {
        let (left, right) = (self.held(left, axes)?, self.held(right, axes)?);
        let spread = (0..left.slices.len().max(right.slices.len())).find_map(|slice| {
            let (old, new) = (left.slices.get(slice)?, right.slices.get(slice)?);
            let shown = |cell: &Option<Cell>| describe(cell.as_ref(), axes);
            (old != new).then(|| {
                format!(
                    "slice {slice} holds {} on the left side and {} on the right side",
                    shown(old),
                    shown(new)
                )
            })
        });
        Ok(spread
            .or_else(|| elements(&left.cells, &right.cells, axes))
            .or_else(|| masks(&left.cells, &right.cells)))
    }

    fn held(&self, side: &Proposal, axes: &Axes) -> Result<Held, ()> {
        let map = |name: &str| match side.iter().find(|(own, _)| *own == name) {
            Some((_, Value::Map(map))) => Ok(map.clone()),
            Some((_, Value::Word(_) | Value::Int(_) | Value::Absent)) | None => Err(()),
        };
        let parts = self.held.iter().map(|name| map(name)).collect::<Result<Vec<_>, ()>>()?;
        let slices = self.spread.map(map).transpose()?;
        let slices = slices.map(|slices| cells(&slices, axes)).transpose()?.unwrap_or_default();
        Ok(Held { slices, cells: cells(&Expr::pair(parts), axes)? })
    }
}

fn cells(map: &Expr, axes: &Axes) -> Result<Vec<Option<Cell>>, ()> {
    let map = Map::new(map, axes).map_err(drop)?;
    if map.size() > MAX_POSITIONS {
        return Err(());
    }
    Ok((0..map.size()).map(|at| map.cell(at)).collect())
}

/// The first element that one side holds more often than the other.
fn elements(left: &[Option<Cell>], right: &[Option<Cell>], axes: &Axes) -> Option<String> {
    let mut counts: BTreeMap<&Cell, (u64, u64)> = BTreeMap::new();
    let live = |cells: &'_ [Option<Cell>]| -> Vec<usize> {
        let held = |cell: &Option<Cell>| matches!(cell, Some(Cell::Live(_) | Cell::Shared(_)));
        (0..cells.len()).filter(|&at| held(&cells[at])).collect()
    };
    for at in live(left) {
        left[at].iter().for_each(|cell| counts.entry(cell).or_default().0 += 1);
    }
    for at in live(right) {
        right[at].iter().for_each(|cell| counts.entry(cell).or_default().1 += 1);
    }
    let order = left.iter().chain(right).flatten();
    let (cell, (before, after)) =
        order.filter_map(|cell| counts.get_key_value(cell)).find(|(_, (before, after))| before != after)?;
    let element = describe(Some(cell), axes);
    Some(match (before, after) {
        (_, 0) => format!("{element} is lost: the left side holds it, the right side does not"),
        (0, _) => format!("the right side holds {element}, the left side does not"),
        _ => format!("the left side holds {element} {}, the right side {}", times(*before), times(*after)),
    })
}

fn times(count: u64) -> String {
    if count == 1 { "once".to_owned() } else { format!("{count} times") }
}

/// Whether something that is masked on the left side may hold anything on the right side.
fn masks(left: &[Option<Cell>], right: &[Option<Cell>]) -> Option<String> {
    let count = |cells: &[Option<Cell>], kind: PadKind| {
        cells.iter().filter(|cell| matches!(cell, Some(Cell::Pad(own)) if *own == kind)).count()
    };
    let looser = count(right, PadKind::Top) > count(left, PadKind::Top);
    let strict = [PadKind::Zero, PadKind::Bottom].into_iter();
    let mut lost = strict.filter(|kind| looser && count(right, *kind) < count(left, *kind));
    lost.next().map(|kind| {
        let (before, after) = (count(left, kind), count(right, kind));
        format!("{before} positions of the left side are {kind}, {after} of the right side: others may hold anything")
    })
}

impl Evidence {
    fn verdict(self, rule: &TextRule) -> Result<ConfigReport, Diagnostic> {
        let (name, span) = (rule.name, Span::new(rule.range.clone()));
        if let Some(Counterexample { axes, left, right, why }) = self.counterexample {
            let message = format!("rule `{name}` is not sound: {why}");
            return Err(Diagnostic::error("rule-unsound", span, message)
                .note(format!("`{left}` is the left side, with axes {axes}"), None)
                .note(format!("`{right}` is the right side"), None));
        }
        if self.legal > 0 {
            return Ok(ConfigReport { name, instances: self.instances, legal: self.legal });
        }
        Err(match self.refused {
            Some((right, refused)) => {
                let message = format!(
                    "rule `{name}` cannot be checked: the verifier refuses all that it makes of small examples"
                );
                let note = format!("`{right}` breaks {}: {}", refused.code, refused.message);
                Diagnostic::error("rule-unchecked", span, message).note(note, None)
            }
            None => {
                let message = format!(
                    "rule `{name}` cannot be checked: no small example fits its left side and conditions"
                );
                Diagnostic::error("rule-unchecked", span, message)
            }
        })
    }
}

/// A rule about an operation whose configurations cannot be compared.
fn undecided(rule: &TextRule) -> Diagnostic {
    let known: Vec<_> = COMPARED.iter().map(|compared| format!("`{}`", compared.op)).collect();
    let message = format!(
        "rule `{}` cannot be checked: whether two configurations of `{}` make the same shows only at the end of a pipeline",
        rule.name, rule.op
    );
    Diagnostic::error("rule-undecided", Span::new(rule.range.clone()), message)
        .note(format!("rules of a text are about {}", known.join(", ")), None)
        .fix("write the rule in Rust, in a file of passes/src/select/rules".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::select::text::closure;

    #[test]
    fn experiment() {
        let ctx = crate::select::text::tests::context();
        let builtin = RuleSet::default();
        for example in corpus(&ctx) {
            let ops: Vec<OpRef<'_>> = example.chain.iter().map(|&id| example.module.op(&ctx, id)).collect();
            let mut scratch = Scratch::new(&ctx, &example.module, &example.chain).unwrap();
            let aim = Aim::of(&ops, &scratch.axes().0);
            let begin = chosen(scratch.original(0), &Vec::new(), &scratch.axes().0).unwrap();
            scratch.push(&begin).unwrap();
            let axes = scratch.axes();
            let machine = machine(&ctx);
            let op = scratch.op(1);
            let site = Site {
                op,
                written: scratch.original(1),
                source: operand(op, 0).unwrap(),
                axes: &axes.0,
                machine: &machine,
                aim: &aim,
            };
            let all = builtin.proposals(&site, &[]).found;
            let whole = vec![
                ("time", Value::Map(Expr::Literal(1))),
                ("packet", Value::Map(site.source.dim(visa_mapping::Dim::Packet))),
            ];
            let mut bad = BTreeMap::new();
            let mut n = BTreeMap::new();
            for (rule, p) in &all {
                *n.entry(*rule).or_insert(0) += 1;
                if let Ok(Some(d)) = COMPARED[0].difference(&whole, p, &axes.0) {
                    let c = chosen(scratch.original(1), p, &axes.0).unwrap();
                    let text = described(scratch.original(1), &c);
                    if scratch_ok(&ctx, &example, &c) {
                        bad.entry(*rule).or_insert((0, text, d)).0 += 1;
                    }
                }
            }
            println!("{}: {n:?} bad {bad:#?}", example.axes);
        }
    }
    fn scratch_ok(ctx: &Context, example: &Example, c: &crate::select::scratch::Clauses) -> bool {
        let mut scratch = Scratch::new(ctx, &example.module, &example.chain).unwrap();
        let begin = chosen(scratch.original(0), &Vec::new(), &scratch.axes().0).unwrap();
        scratch.push(&begin).unwrap();
        scratch.push(c).is_ok()
    }
}
