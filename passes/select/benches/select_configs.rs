//! `cargo bench -p visa-select --bench select_configs`: how long the choice of a pipeline takes, and how far it is
//! from the cheapest of all its configurations. The last line is JSON. Cases are pipelines that are drawn and
//! those of the kernels under `test/`. `VISA_PIPELINES` is how many are drawn (700), from `VISA_FIRST` (0) on;
//! `VISA_KERNELS=0` leaves the kernels out; `VISA_TRIED` how many values may be tried after streams of a drawn
//! case (16,000, a kernel that is lowered counts as 4; of a kernel's pipeline half of that): where that is not
//! all, the case is left out of the gap. `VISA_LIST=1` prints a line a case.

#![expect(clippy::print_stdout, reason = "a benchmark's report")]

#[expect(dead_code, reason = "the tests use the rest")]
#[path = "../tests/select/mod.rs"]
mod select;

use select::compare::{Case, Compared, compare};
use std::path::Path;
use std::time::Duration;
use visa_support::setting;

/// As in the tools.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    let most = setting("VISA_TRIED", 16_000);
    let numbers = setting("VISA_FIRST", 0)..setting("VISA_PIPELINES", 700);
    let mut all = compare(&Case::drawn(setting("VISA_SEED", 2026), numbers), most);
    let drawn = all.len();
    if setting("VISA_KERNELS", 1) > 0 {
        let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../test");
        let folders = [tests.join("kernels"), tests.join("book")];
        all.extend(compare(&Case::kernels(&folders), most / 2));
    }
    println!("{drawn} pipelines drawn, {} of kernels", all.len() - drawn);
    if setting("VISA_LIST", 0) > 0 {
        for case in &all {
            let (least, best) = (&case.least, case.least.best.as_ref().map(|best| best.0));
            println!(
                "{:?}: chosen {:?} in {:?}, least {best:?}, {} legal, {} tried, {} lowered, whole {}, {:?}",
                case.case,
                case.chosen.as_ref().ok(),
                case.took,
                least.legal,
                least.tried,
                least.lowered,
                least.whole,
                case.searched
            );
        }
    }
    let (whole, large): (Vec<&Compared>, Vec<&Compared>) = all.iter().partition(|case| case.least.whole);
    let proved: Vec<_> = whole.iter().filter(|case| case.least.best.is_some()).collect();
    let mut gap = 0.0_f64;
    for case in &all {
        let Some((least, best)) = &case.least.best else { continue };
        let chosen = case.chosen.as_ref().copied().unwrap_or(u64::MAX);
        if chosen > *least {
            println!(
                "{:?}: {:?} instead of {least} cycles ({:?}):\n{best}\n{}",
                case.case,
                case.chosen,
                case.least.whole,
                case.case.text()
            );
        }
        if chosen < *least && case.least.whole {
            println!("{:?}: {chosen} cycles, less than {least} of the search", case.case);
        }
        if case.least.whole {
            gap = gap.max(chosen as f64 / *least as f64 - 1.0);
        }
    }
    for case in all.iter().filter(|case| case.least.best.is_none() && case.chosen.is_ok()) {
        println!("{:?}: chosen, but the search finds nothing legal", case.case);
    }
    let mut slowest: Vec<_> = all.iter().collect();
    slowest.sort_by_key(|case| std::cmp::Reverse(case.took));
    for case in slowest.iter().take(8) {
        println!(
            "{:?}: choice {:?}, search {:?}, tried {}",
            case.case, case.took, case.searched, case.least.tried
        );
    }
    let configurations: u64 = proved.iter().map(|case| case.least.legal).sum();
    let few = proved.iter().filter(|case| case.least.legal <= 1_000_000).count();
    let drawn = proved.iter().filter(|case| matches!(case.case, Case::Drawn { .. })).count();
    println!(
        "{} whole ({drawn} drawn, {few} of at most 10^6 configurations), {configurations} configurations; {} \
         larger, {} without a legal one",
        proved.len(),
        large.len(),
        whole.len() - proved.len()
    );
    let mut times: Vec<Duration> = all.iter().map(|case| case.took).collect();
    times.sort_unstable();
    let milliseconds = |time: Option<&Duration>| time.map_or(0.0, |time| time.as_secs_f64() * 1e3);
    println!(
        "{{\"cases\": {}, \"max_gap\": {gap:?}, \"median_ms\": {:.1}, \"worst_ms\": {:.1}}}",
        proved.len(),
        milliseconds(times.get(times.len() / 2)),
        milliseconds(times.last())
    );
}
