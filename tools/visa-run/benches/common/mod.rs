//! What the benchmarks share: medians that can be compared with a baseline of the same run.

#![allow(dead_code, reason = "not every benchmark uses everything")]

use std::cell::RefCell;
use std::time::{Duration, Instant};

use criterion::BenchmarkGroup;
use criterion::measurement::WallTime;
use visa_ir::context::Context;
use visa_ir::module::Module;
use visa_ir::span::Source;
use visa_opt::load_module;

/// Measures `work` and returns its median time; `None` if the command line leaves it out.
pub(crate) fn median(
    group: &mut BenchmarkGroup<'_, WallTime>,
    name: &str,
    mut work: impl FnMut(),
) -> Option<Duration> {
    let times = RefCell::new(Vec::new());
    group.bench_function(name, |bencher| {
        bencher.iter_custom(|runs| {
            let start = Instant::now();
            (0..runs).for_each(|_| work());
            let elapsed = start.elapsed();
            times.borrow_mut().push(elapsed.div_f64(runs as f64));
            elapsed
        });
    });
    let mut times = times.into_inner();
    times.sort_unstable();
    times.get(times.len() / 2).copied()
}

/// Prints how often `baseline` fits into `time`.
#[expect(clippy::print_stdout, reason = "a benchmark's report")]
pub(crate) fn ratio(name: &str, time: Option<Duration>, baseline_name: &str, baseline: Option<Duration>) {
    if let (Some(time), Some(baseline)) = (time, baseline) {
        let ratio = time.as_secs_f64() / baseline.as_secs_f64();
        println!("ratio: {name} takes {time:.2?}, {ratio:.2} times {baseline_name} ({baseline:.2?})\n");
    }
}

/// A text that must be right, as a module.
pub(crate) fn module(ctx: &Context, text: &str) -> Module {
    let source = Source::new("bench", text);
    let loaded = load_module(ctx, &source, 0..text.len());
    loaded.module.unwrap_or_else(|| panic!("{:?}", loaded.findings))
}

/// A context of the four dialects.
pub(crate) fn context() -> Context {
    Context::new(&visa_opt::standard_dialects())
}
