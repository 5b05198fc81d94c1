//! Ranks: the cycles that the planner predicts for plans of random small functions, spread over all plans of each,
//! against those of the report of the lowered plan.

use crate::checks;
use crate::plans;
use crate::settings::Settings;
use crate::shared;
use visa_support::Random;

/// Plans of a step.
const SAMPLE: u64 = 25;

/// Sizes of axes: small, so that all plans of a function can be ranked.
const SIZES: [u64; 10] = [1, 3, 4, 7, 8, 16, 24, 33, 48, 64];

/// A plan: its rank, the cycles of its report, and true if it has loops.
type Ranked = (u64, u64, bool);

/// The greatest part of plans, in percent, whose predicted cycles differ by more than [`NEAR`].
const MOST_FAR: usize = 1;

/// The distance, in thousandths of the reported cycles, that the share of near plans counts.
const NEAR: u64 = 10;

/// The plans of a function that are lowered.
fn run_case(seed: u64, number: u64) -> Vec<Ranked> {
    let random = &mut Random::of_case(seed, number);
    let text = plans::function(random, &SIZES);
    let model = random.of(&["--memory-model=flat", "--memory-model=book"]);
    let about = format!("ranks, seed {seed}, case {number}, {model}");
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
        (number(rank), number(cycles), loops)
    };
    // Steps with a single plan have no rank.
    let plans = lists.flat_map(|(_, list)| list.split_whitespace()).map(plan);
    plans.filter(|(rank, ..)| *rank > 0).collect()
}

/// The shares of plans by the distance of ranks from cycles.
fn report(about: &str, plans: &[Ranked]) {
    let mut distances: Vec<u64> =
        plans.iter().map(|(rank, cycles, _)| rank.abs_diff(*cycles) * 1_000 / (*cycles).max(1)).collect();
    distances.sort_unstable();
    let Some(last) = distances.len().checked_sub(1) else {
        println!("{about}: no plans");
        return;
    };
    let exact = plans.iter().filter(|(rank, cycles, _)| rank == cycles).count();
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
    let (loops, straight): (Vec<Ranked>, Vec<Ranked>) = plans.iter().partition(|(_, _, loops)| *loops);
    report(&format!("ranks, seed {seed}, without loops"), &straight);
    report(&format!("ranks, seed {seed}, with loops"), &loops);
    report(&format!("ranks, seed {seed}"), &plans);
    let far = plans.iter().filter(|(rank, cycles, _)| rank.abs_diff(*cycles) * 1_000 > NEAR * cycles).count();
    assert!(far * 100 <= plans.len() * MOST_FAR, "seed {seed}: {far} of {} are far", plans.len());
}
