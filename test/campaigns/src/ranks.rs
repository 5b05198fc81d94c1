//! Ranks: the cycles that the planner predicts for plans of random small functions, spread over all plans of each,
//! against those of the report of the lowered plan.

use crate::checks;
use crate::plans;
use crate::settings::Settings;
use crate::shared;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use visa_support::Random;

/// Plans of a step.
const SAMPLE: u64 = 25;

/// Sizes of axes: small, so that all plans of a function can be ranked.
const SIZES: [u64; 10] = [1, 3, 4, 7, 8, 16, 24, 33, 48, 64];

/// A plan that was lowered.
struct Ranked {
    /// The cycles that the planner predicts for it.
    rank: u64,
    /// The cycles of its report.
    cycles: u64,
    /// True if it has loops.
    loops: bool,
    /// The number of the function, so that it can be found again.
    case: u64,
}

impl Ranked {
    /// The distance of the rank from the cycles, in thousandths of these.
    fn distance(&self) -> u64 {
        self.rank.abs_diff(self.cycles) * 1_000 / self.cycles.max(1)
    }
}

/// The farthest functions that are printed.
const PRINTED: usize = 5;

/// The greatest part of plans, in percent, whose predicted cycles differ by more than [`NEAR`].
const MOST_FAR: usize = 1;

/// The distance, in thousandths of the reported cycles, that the share of near plans counts.
const NEAR: u64 = 10;

/// The plans of a function that are lowered.
fn run_case(seed: u64, case: u64) -> Vec<Ranked> {
    let random = &mut Random::of_case(seed, case);
    let text = plans::function(random, &SIZES);
    let model = random.of(&["--memory-model=flat", "--memory-model=book"]);
    let about = format!("ranks, seed {seed}, case {case}, {model}");
    let pass = format!("--plan-kernel=explain=true sample={SAMPLE}");
    let (code, _, remarks) = checks::opt(&about, &text, &["-", model, &pass]);
    if code != 0 {
        return Vec::new();
    }
    let lists = remarks.lines().filter_map(|line| line.split_once("ranks and cycles: "));
    let plan = |pair: &str| {
        let (loops, pair) = pair.strip_prefix('~').map_or((false, pair), |pair| (true, pair));
        let (rank, cycles) = pair.split_once(':').unwrap_or_else(|| panic!("{about}: {pair}"));
        let number = |text: &str| text.parse::<u64>().unwrap_or_else(|why| panic!("{about}: {pair}: {why}"));
        Ranked { rank: number(rank), cycles: number(cycles), loops, case }
    };
    // Steps with a single plan have no rank.
    let plans = lists.flat_map(|(_, list)| list.split_whitespace()).map(plan);
    plans.filter(|plan| plan.rank > 0).collect()
}

/// The shares of plans by the distance of ranks from cycles.
fn report(about: &str, plans: &[&Ranked]) {
    let mut distances: Vec<u64> = plans.iter().map(|plan| plan.distance()).collect();
    distances.sort_unstable();
    let Some(last) = distances.len().checked_sub(1) else {
        println!("{about}: no plans");
        return;
    };
    let exact = plans.iter().filter(|plan| plan.rank == plan.cycles).count();
    let within = |most: u64| distances.partition_point(|distance| *distance <= most);
    let percent = |count: usize| format!("{:.1} %", count as f64 * 100.0 / distances.len() as f64);
    let at = |tenths: usize| format!("{:.1} %", distances[last * tenths / 10] as f64 / 10.0);
    println!(
        "{about}: {} plans, {} exact, {} within 1 %, {} within 5 %, median {}, nine tenths {}, worst {}",
        distances.len(),
        percent(exact),
        percent(within(10)),
        percent(within(50)),
        at(5),
        at(9),
        at(10)
    );
}

/// Lowers plans of random functions until there are enough.
///
/// # Panics
/// If too many predictions are far from the report.
pub fn run(settings: &Settings<'_>) {
    let Settings { count, seed, .. } = *settings;
    let functions = count.div_ceil(SAMPLE);
    let shares = shared::each_core(|numbers| {
        let numbers = numbers.take_while(|number| *number < functions);
        numbers.flat_map(|number| run_case(seed, number)).collect::<Vec<Ranked>>()
    });
    let plans: Vec<Ranked> = shares.into_iter().flatten().collect();
    let (loops, straight): (Vec<&Ranked>, Vec<&Ranked>) = plans.iter().partition(|plan| plan.loops);
    report(&format!("ranks, seed {seed}, without loops"), &straight);
    report(&format!("ranks, seed {seed}, with loops"), &loops);
    report(&format!("ranks, seed {seed}"), &plans.iter().collect::<Vec<_>>());
    print_farthest(seed, &plans);
    let far = plans.iter().filter(|plan| plan.distance() > NEAR).count();
    assert!(far * 100 <= plans.len() * MOST_FAR, "seed {seed}: {far} of {} are far", plans.len());
}

/// The functions with the farthest plans, each with all of its far plans.
fn print_farthest(seed: u64, plans: &[Ranked]) {
    let mut cases: BTreeMap<u64, Vec<&Ranked>> = BTreeMap::new();
    for plan in plans.iter().filter(|plan| plan.distance() > NEAR) {
        cases.entry(plan.case).or_default().push(plan);
    }
    let mut cases: Vec<(u64, Vec<&Ranked>)> = cases.into_iter().collect();
    cases.sort_by_key(|(case, plans)| (Reverse(plans.iter().map(|plan| plan.distance()).max()), *case));
    for (case, plans) in cases.iter().take(PRINTED) {
        let pairs: Vec<String> = plans.iter().map(|plan| format!("{}:{}", plan.rank, plan.cycles)).collect();
        let text = plans::function(&mut Random::of_case(seed, *case), &SIZES);
        println!("ranks, seed {seed}, case {case}: ranks and cycles {}\n{text}", pairs.join(" "));
    }
}
