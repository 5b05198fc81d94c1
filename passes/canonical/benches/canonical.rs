//! `cargo bench -p visa-canonical --bench canonical`: canonicalisation of every mapping that occurs in `test/`,
//! and how many examples the check of each rule covers. Goals: under 1 ms in the median, under 20 ms at the 99th
//! percentile, all saturated.

#![expect(clippy::print_stdout, reason = "a benchmark's report")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use visa_algebra::{Axes, Expr};
use visa_canonical::{RuleSet, Statistics, Stop, canonicalize};
use visa_ir::context::Context;
use visa_ir::parse::parse;
use visa_ir::span::Source;
use visa_ir::verify::Analysis;
use visa_mapping::facts::DeclaredAxes;
use visa_mapping::{Tensor, facts};

/// Each mapping is measured so often; its time is the median.
const RUNS: usize = 5;

/// Every `.visa` file below a folder, in order.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).map(|entries| entries.filter_map(Result::ok).collect::<Vec<_>>());
    let mut paths: Vec<PathBuf> = entries.unwrap_or_default().iter().map(fs::DirEntry::path).collect();
    paths.sort();
    let below = paths.iter().flat_map(|path| if path.is_dir() { files(path) } else { vec![path.clone()] });
    below.filter(|path| path.extension().is_some_and(|extension| extension == "visa")).collect()
}

/// The different mappings of a module's clauses and types that keep the size rules.
fn mappings(text: &str, into: &mut Vec<(Axes, Vec<Expr>)>) {
    let dialects =
        [&visa_mapping::DIALECT, &visa_stream::DIALECT, &visa_sequencer::DIALECT, &visa_hw::DIALECT];
    let ctx = Context::new(&dialects);
    let source = Source::new("test", text);
    let module = parse(&ctx, &source, 0..text.len()).module;
    let axes = DeclaredAxes::build(&ctx, &module).0;
    let mut found = BTreeSet::new();
    for id in module.walk_all() {
        let op = module.op(&ctx, id);
        found.extend(facts::mappings(op).map(|(_, map)| (*map).clone()));
        let args = op.regions().iter().flat_map(|&region| module.args(region));
        for &value in op.results().iter().chain(args) {
            let tensor = ctx.type_value::<Tensor>(module.ty(value));
            found.extend(tensor.into_iter().flat_map(|tensor| tensor.maps.clone()));
        }
    }
    found.retain(|mapping| mapping.size(&axes).is_ok());
    into.push((axes, found.into_iter().collect()));
}

fn measure(mapping: &Expr, axes: &Axes, rules: &RuleSet) -> (Duration, Statistics) {
    let mut times = Vec::new();
    let mut statistics = None;
    for _ in 0..RUNS {
        let start = Instant::now();
        let canonical = canonicalize(mapping, axes, rules);
        times.push(start.elapsed());
        statistics = canonical.map(|canonical| canonical.statistics).ok();
    }
    times.sort();
    (times[RUNS / 2], statistics.unwrap_or_else(|| panic!("{mapping} has no canonical form")))
}

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../test");
    let mut modules = Vec::new();
    for file in files(&root) {
        let text = fs::read_to_string(&file).unwrap_or_default();
        text.split("// -----").for_each(|part| mappings(part, &mut modules));
    }
    let rules = RuleSet::default();
    let mut all: Vec<(Duration, Statistics, &Expr)> = Vec::new();
    for (axes, mappings) in &modules {
        for mapping in mappings {
            let (time, statistics) = measure(mapping, axes, &rules);
            all.push((time, statistics, mapping));
        }
    }
    all.sort_by_key(|(time, ..)| *time);
    let at = |share: f64| all[((all.len() - 1) as f64 * share) as usize].0;
    let saturated = all.iter().filter(|(_, statistics, _)| statistics.stop == Stop::Saturated).count();
    let nodes = all.iter().map(|(_, statistics, _)| statistics.e_nodes).max().unwrap_or(0);
    let rounds = all.iter().map(|(_, statistics, _)| statistics.iterations).max().unwrap_or(0);
    println!("{} mappings of {} modules in test/", all.len(), modules.len());
    println!("time: median {:.1?}, 99th percentile {:.1?}, most {:.1?}", at(0.5), at(0.99), at(1.0));
    println!("saturated: {saturated} of {}; most e-nodes {nodes}, most iterations {rounds}", all.len());
    for (time, statistics, mapping) in all.iter().rev().take(3) {
        println!("  {time:.1?}, {} e-nodes, {}: {mapping}", statistics.e_nodes, statistics.stop);
    }
    let start = Instant::now();
    let reports = rules.report().unwrap_or_else(|findings| panic!("{findings:?}"));
    println!("examples a rule, {} rules checked in {:.1?}:", reports.len(), start.elapsed());
    for report in reports {
        println!("  {:22} {:6} examples, {:8} positions", report.name, report.instances, report.compared);
    }
}
