//! Nothing is better than what `select-configs` chooses, and nothing that its rules propose changes a result.

#[expect(dead_code, reason = "the bench uses the rest")]
mod select;

use select::brute::first;
use select::cases::{Kind, kernel, written};
use select::compare::{Case, Compared, SLICES, compare};
use select::{sound, whole};
use std::collections::BTreeMap;
use visa_ir::context::Context;
use visa_ir::module::{Module, OpId};
use visa_mapping::{Dim, Expr};
use visa_passes::select::choose;
use visa_passes::select::rule::{Rule, Site};
use visa_passes::select::rules::RULES;

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// The kernel of a case and its open pipeline; none if DMA cannot bring its tensors.
fn case(ctx: &Context, seed: u64, case: u64) -> Option<(Kind, String, Module, Vec<OpId>)> {
    let (kind, text) = kernel(seed, case);
    let (module, chain) = Case::Drawn { seed, number: case }.open(ctx, ctx)?;
    Some((kind, text, module, chain))
}

#[test]
#[expect(
    clippy::print_stdout,
    reason = "how many pipelines were small enough, for whoever tries more of them"
)]
fn no_configuration_is_cheaper_than_the_chosen_one() {
    // `cargo bench --bench select_configs` tries more, and the kernels as well.
    let (first, count) = (setting("VISA_FIRST", 0), setting("VISA_PIPELINES", 28));
    let cases = Case::drawn(setting("VISA_SEED", 2026), first..count);
    let all = compare(&cases, setting("VISA_TRIED", 1_500));
    let whole = all.iter().filter(|found| found.least.whole && found.least.best.is_some()).count();
    let configurations: u64 = all.iter().map(|found| found.least.legal).sum();
    println!("{whole} of {} pipelines whole, {configurations} configurations", all.len());
    // Of a pipeline that is too large, nothing that was priced may be cheaper either.
    let gap = |found: &&Compared| {
        let least = found.least.best.as_ref().map(|best| best.0);
        least.is_some_and(|least| found.chosen.as_ref().copied().unwrap_or(u64::MAX) > least)
    };
    let told =
        |found: &Compared| format!("{:?}: {:?} instead of {:?}", found.case, found.chosen, found.least.best);
    let gaps: Vec<String> = all.iter().filter(gap).map(told).collect();
    assert!(gaps.is_empty(), "{} gaps\n{}", gaps.len(), gaps.join("\n"));
    assert!(whole * 8 >= all.len(), "only {whole} of {} pipelines were small enough", all.len());
}

/// Proposals of each rule that were run, and those that changed a result.
#[derive(Debug, Default)]
struct Tally {
    run: u64,
    wrong: Vec<String>,
}

fn runs(rules: &[&'static Rule], count: u64, seed: u64) -> BTreeMap<&'static str, Tally> {
    let ctx = whole::context(SLICES);
    let mut tallies: BTreeMap<&'static str, Tally> = BTreeMap::new();
    for number in 0..count {
        let Some((kind, text, module, chain)) = case(&ctx, seed, number) else { continue };
        // One legal configuration says what is meant; of contractions the book's, which a search finds late.
        let meant = match kind {
            Kind::Contraction => whole::load(&ctx, &written(seed, number)).ok(),
            Kind::Movement | Kind::Broadcast | Kind::FetchCast | Kind::Cast | Kind::ToTrf | Kind::ToVrf => {
                first(&ctx, &module, &chain)
            }
        };
        let (Some(meant), Ok(choice)) = (meant, choose(&ctx, &module, &chain, rules)) else { continue };
        let meaning = sound::meaning(&ctx, &meant);
        for (rule, closed) in sound::configurations(&ctx, &module, &choice, 3) {
            let Some(same) = sound::means(&ctx, closed, &meaning) else { continue };
            let tally = tallies.entry(rule).or_default();
            tally.run += 1;
            if !same {
                tally.wrong.push(format!("seed {seed}, case {number}: {rule}\n{text}"));
            }
        }
    }
    tallies
}

#[test]
#[expect(clippy::print_stdout, reason = "how many proposals of each rule were run")]
fn what_rules_propose_leaves_results_as_they_are() {
    let tallies = runs(RULES, setting("VISA_PIPELINES", 28), setting("VISA_SEED", 2026));
    // No pipeline that is drawn has a switch: test/passes/select-configs/switch.visa runs what its rules choose.
    for rule in RULES.iter().filter(|rule| rule.op != "stream.switch") {
        let tally = tallies.get(rule.name);
        println!("{}: {} proposals run", rule.name, tally.map_or(0, |tally| tally.run));
        assert!(tally.is_some_and(|tally| tally.run > 0), "no proposal of `{}` was run", rule.name);
    }
    let wrong: Vec<&String> = tallies.values().flat_map(|tally| &tally.wrong).collect();
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong[0]);
}

/// Forgets the outer half of the tensor.
static FORGETS: Rule = Rule {
    name: "forgets",
    equation: "fetch [T], [P] = fetch [1], [[T, P] % 8], which is wrong",
    op: "stream.fetch",
    propose: |site: &Site<'_>| vec![site.cut(Expr::Literal(1), site.dim(Dim::Packet).modulo(8))],
};

#[test]
fn an_unsound_rule_is_caught() {
    let others = RULES.iter().copied().filter(|rule| rule.op != FORGETS.op);
    let rules: Vec<&'static Rule> = others.chain([&FORGETS]).collect();
    let tallies = runs(&rules, 70, 2026);
    // Every configuration fetches by that rule, whichever else it was drawn for.
    let wrong: usize = tallies.values().map(|tally| tally.wrong.len()).sum();
    assert!(wrong > 0, "`forgets` changed no result: {tallies:?}");
}
