//! What the benchmarks share: medians that can be compared with a baseline of the same run.

#![allow(dead_code, reason = "not every benchmark uses everything")]

use std::cell::RefCell;
use std::time::{Duration, Instant};

use criterion::BenchmarkGroup;
use criterion::measurement::WallTime;
use visa_hw::program::Program;
use visa_ir::context::Context;
use visa_ir::module::Module;
use visa_ir::span::Source;
use visa_opt::load_module;
use visa_pass::{PassManager, Pipeline, Silent};
use visa_passes::standard_passes;

/// Measures `work` and returns its median time; `None` if the command line leaves it out.
pub(crate) fn median(
    group: &mut BenchmarkGroup<'_, WallTime>,
    name: &str,
    mut work: impl FnMut(),
) -> Option<Duration> {
    median_of(group, name, || {
        let start = Instant::now();
        work();
        start.elapsed()
    })
}

/// The median of the times that `work` measures itself; `None` if the command line leaves it out.
pub(crate) fn median_of(
    group: &mut BenchmarkGroup<'_, WallTime>,
    name: &str,
    mut work: impl FnMut() -> Duration,
) -> Option<Duration> {
    let times = RefCell::new(Vec::new());
    group.bench_function(name, |bencher| {
        bencher.iter_custom(|runs| {
            let elapsed = (0..runs).map(|_| work()).sum::<Duration>();
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

/// A kernel as the interpreter takes it; `entry` names it where the text has several.
pub(crate) fn compiled(text: &str, entry: Option<&str>) -> Program {
    let ctx = context();
    let mut module = module(&ctx, text);
    let pipeline = Pipeline::parse("lower-to-seq,lower-to-hw", &standard_passes()).expect("a pipeline");
    PassManager::new(&pipeline, &standard_passes()).run(&ctx, &mut module, &mut Silent).expect("it lowers");
    visa_hw::compile(&ctx, &module, entry).unwrap_or_else(|errors| panic!("{errors:?}"))
}

/// A context of the four dialects.
pub(crate) fn context() -> Context {
    Context::new(&visa_opt::standard_dialects())
}
