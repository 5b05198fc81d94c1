//! Nothing is better than the choice of `select-configs`, and no proposal of its rules changes a result.

use crate::select::brute::first;
use crate::select::cases::{Kind, kernel, written};
use crate::select::compare::{ALL_SLICES, Case, Compared, SLICES, alone, compare, functions};
use crate::select::{sound, whole};
use std::collections::BTreeMap;
use visa_engine::place::{Places, Slot};
use visa_ir::context::{Attr, Context};
use visa_ir::decl::OpDecl;
use visa_ir::infer::infer_all;
use visa_ir::module::{Module, OpId};
use visa_mapping::Dim;
use visa_select::config::choice::choose;
use visa_select::rules::rule::{Rule, Site};
use visa_select::rules::ruleset::RuleSet;
use visa_stream::ops::vector_pair;
use visa_stream::ops::{switch, transpose};
use visa_stream::pipeline::Pipeline;
use visa_support::setting;

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
    // `cargo bench -p visa-select --bench select_configs` tries more, and also the kernels.
    let (first, count) = (setting("VISA_FIRST", 0), setting("VISA_PIPELINES", 28));
    let cases = Case::drawn(setting("VISA_SEED", 2026), first..count);
    let all = compare(&cases, setting("VISA_TRIED", 6_000));
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

fn runs(rules: &RuleSet, count: u64, seed: u64) -> BTreeMap<&'static str, Tally> {
    let ctx = whole::context(SLICES);
    let mut tallies: BTreeMap<&'static str, Tally> = BTreeMap::new();
    for number in 0..count {
        let Some((kind, text, module, chain)) = case(&ctx, seed, number) else { continue };
        // One legal configuration specifies the semantics; of contractions the book's, which a search finds late.
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
    let tallies = runs(&RuleSet::default(), setting("VISA_PIPELINES", 28), setting("VISA_SEED", 2026));
    // No pipeline that is drawn has one of the engines that only move, or a term that is no plain digit: the next
    // tests have.
    let moved = |rule: &Rule| {
        MOVERS.iter().any(|op| std::ptr::eq(*op, rule.op)) || ["terms", "windows"].contains(&rule.name)
    };
    let drawn = |rule: &&&Rule| !moved(rule) && !of_kernels(rule);
    for rule in RuleSet::default().rust().iter().filter(drawn) {
        let tally = tallies.get(rule.name);
        println!("{}: {} proposals run", rule.name, tally.map_or(0, |tally| tally.run));
        assert!(tally.is_some_and(|tally| tally.run > 0), "no proposal of `{}` was run", rule.name);
    }
    let wrong: Vec<&String> = tallies.values().flat_map(|tally| &tally.wrong).collect();
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong[0]);
}

/// Returns true if a rule is about vector stages, shifts of windows, or zeros between elements, which no drawn
/// pipeline has: kernels have.
fn of_kernels(rule: &Rule) -> bool {
    let works = |Places(places): &Places| places.iter().any(|place| place.slot == Slot::VECTOR);
    rule.op.interface::<Places>().is_some_and(works) || ["apart", "shifts"].contains(&rule.name)
}

/// Kernels that have them.
const KERNELS: [&str; 10] = [
    "book/v8-two-group",
    "kernels/conditional",
    "kernels/conv2d_stride2_dilation2",
    "kernels/inter_slice",
    "kernels/rms_norm",
    "kernels/softmax",
    "kernels/split_reduce_experts",
    "kernels/toggles",
    "kernels/two_groups",
    "passes/select-configs/sliding",
];

/// Pipelines of them, by kernel and function, that have no choice: the slices after `sub_interleaved` stay
/// written, and no other fetch leads there.
const WRITTEN: [(&str, usize); 1] = [("kernels/inter_slice", 8)];

#[test]
#[expect(clippy::print_stdout, reason = "how many proposals of each rule were run")]
fn what_rules_of_kernels_propose_leaves_results_as_they_are() {
    let ctx = whole::context(ALL_SLICES);
    let rules = RuleSet::default();
    let wanted: Vec<&str> =
        rules.rust().iter().filter(|rule| of_kernels(rule)).map(|rule| rule.name).collect();
    let mut run: BTreeMap<&str, u64> = BTreeMap::new();
    for name in KERNELS {
        let file = format!("{}/../../test/{name}.visa", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(&file).expect("a kernel");
        let module = whole::load(&ctx, &text).unwrap_or_else(|found| panic!("{file}: {found:?}"));
        for function in 0..functions(&ctx, &module).len() {
            let written = whole::choose(&ctx, alone(&ctx, &module, function)).expect("a choice");
            for end in whole::ends(&ctx, &written) {
                let chain = Pipeline::up_to(written.op(&ctx, end)).ops;
                let open = with_holes(&ctx, &written, &chain[..chain.len() - 1]);
                let choice = match choose(&ctx, &open, &chain, &rules) {
                    Ok(choice) => choice,
                    Err(error) => {
                        assert!(
                            WRITTEN.contains(&(name, function)),
                            "{name}, function {function}: {error:?}"
                        );
                        continue;
                    }
                };
                let meaning = sound::meaning(&ctx, &written);
                let own = sound::configurations(&ctx, &open, &choice, 2).into_iter();
                for (rule, closed) in own.filter(|(rule, _)| wanted.contains(rule)) {
                    if let Some(same) = sound::means(&ctx, closed, &meaning) {
                        assert!(same, "{rule}, {name}, function {function}");
                        *run.entry(rule).or_default() += 1;
                    }
                }
            }
        }
    }
    println!("{run:?}");
    let missing: Vec<&&str> = wanted.iter().filter(|rule| !run.contains_key(**rule)).collect();
    assert!(missing.is_empty(), "no proposal of {missing:?} was run: {run:?}");
}

/// Operations that make one stream of two groups.
const ZIPS: [&OpDecl; 4] = [
    &vector_pair::LOGIC_ZIP_DECL,
    &vector_pair::FXP_ZIP_DECL,
    &vector_pair::FP_ZIP_DECL,
    &vector_pair::CLIP_ZIP_DECL,
];

/// The module with some operations open, and the zips among them without a time clause.
fn with_holes(ctx: &Context, written: &Module, own: &[OpId]) -> Module {
    let mut open = whole::run(ctx, written.clone(), "open-clauses{distributions=false}")
        .expect("a kernel that verifies");
    for id in written.walk_all() {
        let clauses = written.op(ctx, id).clauses().iter().map(|clause| (clause.name.clone(), clause.value));
        for (name, value) in clauses.filter(|_| !own.contains(&id)) {
            let decl = open.op(ctx, id).decl().and_then(|decl| decl.clause(&name));
            decl.iter().for_each(|decl| open.set_clause(id, decl.name, Some(value)));
        }
        if own.contains(&id) && ZIPS.iter().any(|zip| written.op(ctx, id).is(zip)) {
            open.set_clause(id, "time", Some(ctx.attr(Attr::Auto)));
        }
    }
    infer_all(ctx, &mut open).expect("types that follow");
    open
}

/// Engines that only move elements.
static MOVERS: [&OpDecl; 2] = [&switch::DECL, &transpose::DECL];

/// Pipelines that need one of them: the content and format of DM, and the goal.
const MOVED: [(&str, &str, &str, &str); 6] = [
    ("i8", "[S, Q]", "[B, C, D, E]", "[B, D, E, C]"),
    ("bf16", "[S, Q]", "[C, D, E]", "[E, C, D]"),
    ("i32", "[S, Q]", "[C, B]", "[B, C]"),
    ("i4", "[S, Q]", "[D, B, F]", "[F, D, B]"),
    ("i8", "[S, Q]", "[D, E]", "[Q, E]"),
    ("f32", "[Q, S]", "[D, E]", "[D, S, E]"),
];

#[test]
#[expect(clippy::print_stdout, reason = "how many proposals of each rule were run")]
fn what_rules_of_moving_engines_propose_leaves_results_as_they_are() {
    let ctx = whole::context(SLICES);
    let mut run: BTreeMap<&str, u64> = BTreeMap::new();
    for (dtype, slices, from, to) in MOVED {
        for engines in ["switch auto", "transpose auto", "switch auto, transpose auto"] {
            let text = moving(dtype, slices, (from, to), engines);
            let module = whole::load(&ctx, &text).unwrap_or_else(|found| panic!("{found:?}\n{text}"));
            let chain = whole::open_chains(&ctx, &module).remove(0);
            // Of some no configuration is legal: a switch alone does not swap elements within a flit.
            let Ok(choice) = choose(&ctx, &module, &chain, &RuleSet::default()) else { continue };
            let meant = whole::choose(&ctx, module.clone()).expect("a choice");
            let meaning = sound::meaning(&ctx, &meant);
            for (rule, closed) in sound::configurations(&ctx, &module, &choice, 12) {
                if let Some(same) = sound::means(&ctx, closed, &meaning) {
                    assert!(same, "{rule}\n{text}");
                    *run.entry(rule).or_default() += 1;
                }
            }
        }
    }
    println!("{run:?}");
    for rule in ["matrix", "topology"] {
        assert!(run.get(rule).is_some_and(|run| *run > 10), "`{rule}` was hardly run: {run:?}");
    }
}

/// The uses of `%d`, the tensor `%x` in data memory, that a fetch by plain digits lacks: it overwrites a part of
/// another tensor, puts gathered rows in order, and stores zeros on both sides of 13 elements.
const PARTS: [[&str; 3]; 3] = [
    ["element [R, C]", "%z = stream.commit_view %2, %w element [R @ 1 = 2, C]", "[S, R, C]"],
    ["element [R @ (2, 0, 3, 1), C]", "%z = stream.commit %2 at 4096, element [R, C]", "[S, R, C]"],
    [
        "element [R, C]\n%s = tm.slice %d element [R, C = 13 # 16]\n%e = tm.reshape %s element [R, B # 16]",
        "%z = stream.commit %2 at 4096, element [R, {P}]",
        "[S, R, B]",
    ],
];

#[test]
fn fetches_by_terms_leave_results_as_they_are() {
    let ctx = whole::context(SLICES);
    for [held, end, result] in PARTS {
        let read = if held.contains("%e") { "%e" } else { "%d" };
        let text = format!(
            "visa 1
             tm.axes [S = 8, R = 4, C = 16, B = 13]
             tm.alias @P, map [B # 14 {{left 0}} # 16 {{0}}]
             tm.func @f(%x: !tm.hbm<i8, [1], [S, R, C]>, %y: !tm.hbm<i8, [1], [S, R, C]>) at [0, 4096] {{
               %d = tm.to_dm %x at 64, cluster [1 # 2], slice [S], {held}
               %w = tm.to_dm %y at 8192, cluster [1 # 2], slice [S], element [R, C]
               %0 = stream.begin main {read}
               %1 = stream.fetch %0 time auto, packet auto
               %2 = stream.collect %1 time auto, packet auto
               {end}
               %r = tm.to_hbm %z at 0x100000, element {result}
               tm.return %r
             }}"
        );
        let same = same_results(&ctx, &text, "terms");
        assert!(!same.is_empty() && same.iter().all(|same| *same), "{same:?}\n{text}");
    }
}

#[test]
fn fetches_of_windows_leave_results_as_they_are() {
    // `open-clauses` keeps the clauses that such a fetch specifies; in this kernel it is `auto`.
    let file = format!("{}/../../test/passes/select-configs/sliding.visa", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(file).expect("a kernel");
    let same = same_results(&whole::context(ALL_SLICES), &text, "windows");
    // The weights as they are leave one of them a way to the end.
    assert!(!same.is_empty() && same.iter().all(|same| *same), "{same:?}");
}

/// Checks that configurations of the first open pipeline with a rule's proposal have the results of the chosen one.
fn same_results(ctx: &Context, text: &str, rule: &str) -> Vec<bool> {
    let module = whole::load(ctx, text).unwrap_or_else(|found| panic!("{found:?}\n{text}"));
    let chain = whole::open_chains(ctx, &module).remove(0);
    let choice = choose(ctx, &module, &chain, &RuleSet::default()).expect("a choice");
    let meaning = sound::meaning(ctx, &whole::choose(ctx, module.clone()).expect("a choice"));
    let configurations = sound::configurations(ctx, &module, &choice, 12);
    let own = configurations.into_iter().filter(|(name, _)| *name == rule);
    own.filter_map(|(_, closed)| sound::means(ctx, closed, &meaning)).collect()
}

/// A kernel that moves a tensor through some of the engines.
fn moving(dtype: &str, slices: &str, (from, to): (&str, &str), engines: &str) -> String {
    let inner = |list: &str| list[1..list.len() - 1].to_owned();
    let (held, holds) = (inner(slices), inner(from));
    let switch = if engines.contains("switch") { "%2 = stream.switch auto %1" } else { "" };
    let (collected, transposed) =
        (if switch.is_empty() { "%1" } else { "%2" }, engines.contains("transpose"));
    let transpose = if transposed { "%4 = stream.transpose %3 time auto, packet auto" } else { "" };
    let committed = if transposed { "%4" } else { "%3" };
    format!(
        "visa 1
         tm.axes [S = 2, Q = 4, B = 2, C = 8, D = 4, E = 8, F = 16]
         tm.func @f(%x: !tm.hbm<{dtype}, [1], [{held}, {holds}]>) at [0] {{
           %d = tm.to_dm %x at 0, cluster [1 # 2], slice {slices}, element {from}
           %0 = stream.begin main %d
           %1 = stream.fetch %0 time auto, packet auto
           {switch}
           %3 = stream.collect {collected} time auto, packet auto
           {transpose}
           %y = stream.commit {committed} at 65536, element {to}
           %r = tm.to_hbm %y at 0x100000, element [{held}, {holds}]
           tm.return %r
         }}"
    )
}

/// Forgets the upper half of every 32 elements.
static FORGETS: Rule = Rule {
    name: "forgets",
    equation: "fetch [P] = fetch [P / 32], [P % 16], which is wrong",
    op: &visa_stream::ops::fetch::DECL,
    propose: |site: &Site<'_>| {
        let all = site.dim(Dim::Packet);
        vec![site.cut(all.clone().stride(32), all.modulo(16))]
    },
};

#[test]
fn an_unsound_rule_is_caught() {
    let builtin = RuleSet::default();
    let others = builtin.rust().iter().copied().filter(|rule| !std::ptr::eq(rule.op, FORGETS.op));
    let rules = RuleSet::new(others.chain([&FORGETS]));
    let tallies = runs(&rules, 70, 2026);
    // Every configuration fetches by that rule, whichever else it was drawn for.
    let wrong: usize = tallies.values().map(|tally| tally.wrong.len()).sum();
    assert!(wrong > 0, "`forgets` changed no result: {tallies:?}");
}
