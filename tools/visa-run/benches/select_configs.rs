//! `cargo bench --bench select_configs`: how long the choice of a pipeline takes, and how far it is from the cheapest of all
//! configurations, which are priced one by one. The last line is JSON. `VISA_PIPELINES` is how many are drawn (700), `VISA_CONFIGURATIONS`
//! how many configurations a pipeline may have to be priced one by one (2,000).

#![expect(clippy::print_stdout, reason = "a benchmark's report")]

#[expect(dead_code, reason = "the tests use the rest")]
#[path = "../tests/select/brute.rs"]
mod brute;
#[expect(dead_code, reason = "the tests use the rest")]
#[path = "../tests/select/cases.rs"]
mod cases;
#[expect(dead_code, reason = "the tests use the rest")]
#[path = "../tests/select/whole.rs"]
mod whole;

use brute::{Least, Outcome, enumerate};
use std::time::{Duration, Instant};
use visa_passes::select::choose;
use visa_passes::select::ruleset::RuleSet;

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

fn main() {
    let (count, bound) = (setting("VISA_PIPELINES", 700), setting("VISA_CONFIGURATIONS", 2_000));
    let ctx = whole::context(8);
    let mut times: Vec<Duration> = Vec::new();
    let (mut large, mut none, mut gap) = (0, 0, 0.0_f64);
    for number in 0..count {
        let Ok(module) = whole::load(&ctx, &cases::kernel(2026, number).1) else { continue };
        let Some(chain) = whole::open_chains(&ctx, &module).into_iter().next() else { continue };
        let start = Instant::now();
        let choice = choose(&ctx, &module, &chain, &RuleSet::default());
        let took = start.elapsed();
        let Outcome::All(Least { best, .. }) = enumerate(&ctx, &module, &chain, bound) else {
            large += 1;
            continue;
        };
        let Some((least, _)) = best else {
            none += 1;
            continue;
        };
        times.push(took);
        let chosen = choice.map_or(u64::MAX, |choice| choice.best.time.cycles());
        gap = gap.max(chosen as f64 / least as f64 - 1.0);
    }
    times.sort_unstable();
    let milliseconds = |time: Option<&Duration>| time.map_or(0.0, |time| time.as_secs_f64() * 1e3);
    println!("{large} pipelines have more configurations, {none} have no legal one");
    println!(
        "{{\"cases\": {}, \"max_gap\": {gap:?}, \"median_ms\": {:.1}, \"worst_ms\": {:.1}}}",
        times.len(),
        milliseconds(times.get(times.len() / 2)),
        milliseconds(times.last())
    );
}
