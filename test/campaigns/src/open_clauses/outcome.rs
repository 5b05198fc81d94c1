//! What becomes of a kernel when what may be open is left open, against what its author wrote.

use super::cases::{Case, cases, passes};
use super::results::same_results;
use crate::checks::most_cycles;
use crate::files::Files;
use crate::shared;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use visa_cost::MemoryModel;
use visa_hw::program::Program;
use visa_ir::context::Context;
use visa_ir::module::Module;
use visa_machine::Machine;

/// What became of a kernel.
enum Outcome {
    /// Cycles as written and as chosen, and whether its results were compared: the evaluator may refuse random data.
    Good { cycles: [u64; 2], compared: bool },
    /// What is worse with open clauses.
    Worse(String),
    /// Why it cannot be run as it is written.
    NotRun(String),
}

/// The program of a closed module, and its cycles.
fn program(ctx: &Context, module: &Module) -> Result<(Program, u64), String> {
    let lowered = passes(ctx, module.clone(), "lower-to-seq,lower-to-hw")?;
    let program = visa_hw::compile(ctx, &lowered, None).map_err(|findings| format!("{findings:?}"))?;
    let program = program.started_first();
    let report = visa_cost::price(&program, &ctx.data::<Machine>(), MemoryModel::Book);
    let report = report.map_err(|finding| format!("{finding:?}"))?;
    Ok((program, report.totals.cycles))
}

fn outcome(case: &Case, opening: &str) -> Result<Outcome, String> {
    let mut ctx = case.context();
    ctx.set_data(MemoryModel::Book);
    let written = passes(&ctx, case.module(&ctx), "plan-vector,select-configs,allocate")?;
    let (by_hand, least) = match program(&ctx, &written) {
        Ok(program) => program,
        Err(why) => return Ok(Outcome::NotRun(why)),
    };
    let chosen =
        passes(&ctx, written.clone(), &format!("{opening},select-configs,allocate,select-transfers"))?;
    let (chosen, cycles) = program(&ctx, &chosen)?;
    let compared = same_results(&ctx, &written, &by_hand, &chosen)?;
    if cycles > most_cycles(least) + least * slower(case, opening) / 100 {
        return Err(format!("{cycles} cycles, by hand {least}"));
    }
    Ok(Outcome::Good { cycles: [least, cycles], compared })
}

/// Kernels that are slower where distributions are open too, and by how many percent at most: docs/campaigns.md says
/// why.
const SLOWER: [(&str, u64); 6] = [
    ("conv2d_stride2_feed3 @stride2_feed3", 9),
    ("gemm_expr @mish", 51),
    ("slice_bitmap @masked", 3),
    ("slice_bitmap @merged", 3),
    ("spm @pairs", 16),
    ("v7-inter-slice @broadcast", 1),
];

/// How many percent slower a case may be.
fn slower(case: &Case, opening: &str) -> u64 {
    let known = SLOWER.iter().find(|(name, _)| opening == DISTRIBUTIONS && *name == case.name);
    known.map_or(0, |(_, percent)| *percent)
}

/// The pass that opens distributions too.
pub(super) const DISTRIBUTIONS: &str = "open-clauses";

/// Files of the book's cases with functions that stop at the memory level: what they show is there, or what is
/// refused further down. So many of each.
const NOT_RUN: [(&str, usize); 3] = [("s9-entries", 1), ("v3-slots", 2), ("v4-unsupported", 2)];

/// The outcome of each case and how long it took, on all cores.
fn each(cases: &[Case], outcome: impl Fn(&Case) -> Outcome + Sync) -> Vec<(Outcome, Duration)> {
    let timed = |case: &Case| {
        let start = Instant::now();
        (outcome(case), start.elapsed())
    };
    let shares = shared::each_core(|numbers| {
        let mine = numbers.map_while(|number| Some((number, timed(cases.get(number as usize)?))));
        mine.collect::<Vec<_>>()
    });
    let mut outcomes: Vec<_> = shares.into_iter().flatten().collect();
    outcomes.sort_by_key(|(number, _)| *number);
    outcomes.into_iter().map(|(_, outcome)| outcome).collect()
}

/// The name of a case's file.
fn file(case: &Case) -> &str {
    case.name.split(' ').next().unwrap_or(&case.name)
}

/// Opens the kernels of files by a pass and lets the tools choose: each takes no more cycles than as it is
/// written, and computes the same.
pub(super) fn are_as_good(pass: &str, files: Files<'_>) {
    let cases: Vec<Case> = cases(files);
    println!("{pass}: {} kernels", cases.len());
    let outcome = |case: &Case| outcome(case, pass).unwrap_or_else(Outcome::Worse);
    let outcomes = each(&cases, outcome);
    let (mut good, mut compared, mut faster, mut wrong) = (0, 0, 0, Vec::new());
    let mut not_run: BTreeMap<&str, usize> = BTreeMap::new();
    for (case, (outcome, took)) in cases.iter().zip(&outcomes) {
        let name = &case.name;
        match outcome {
            Outcome::Good { cycles: [written, chosen], compared: values } => {
                good += 1;
                compared += usize::from(*values);
                faster += usize::from(chosen < written);
                let values = if *values { "" } else { ", not compared" };
                println!("{name}: {chosen} cycles, by hand {written}{values}, {:.1} s", took.as_secs_f64());
            }
            Outcome::NotRun(why) => {
                println!("{name}: not run: {why}");
                *not_run.entry(file(case)).or_default() += 1;
            }
            Outcome::Worse(what) => wrong.push((name.as_str(), what)),
        }
    }
    not_run.retain(|file, count| !NOT_RUN.contains(&(file, *count)));
    assert!(not_run.is_empty(), "functions that cannot be run as they are written: {not_run:?}");
    println!("{good} of {} kernels, {compared} compared, {faster} faster, none slower", cases.len());
    assert!(wrong.is_empty(), "worse: {wrong:#?}");
    // A wrong path must not pass for a good result.
    assert!(good > 0, "no kernel was run");
}
