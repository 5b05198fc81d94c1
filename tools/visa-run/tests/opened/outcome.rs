//! What becomes of a kernel when what may be open is left open, against what its author wrote.

use crate::cases::{Case, cases, passes};
use crate::results::same_results;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use visa_hw::program::Program;
use visa_ir::context::Context;
use visa_ir::module::Module;
use visa_machine::Machine;

/// What became of a kernel.
enum Outcome {
    /// Cycles as written and as chosen, and whether its results were compared: the evaluator may refuse random data.
    Good { cycles: [u64; 2], compared: bool },
    /// What is worse opened.
    Worse(String),
    /// Why it cannot be run as it is written.
    NotRun(String),
}

/// The program of a closed module, and its cycles.
fn program(ctx: &Context, module: &Module) -> Result<(Program, u64), String> {
    let lowered = passes(ctx, module.clone(), "lower-to-seq,lower-to-hw")?;
    let program = visa_hw::compile(ctx, &lowered, None).map_err(|findings| format!("{findings:?}"))?;
    let cycles = visa_cost::price(&program, &ctx.data::<Machine>()).totals.cycles;
    Ok((program, cycles))
}

fn tried(case: &Case, opening: &str) -> Result<Outcome, String> {
    let ctx = case.context();
    let written = passes(&ctx, case.module(&ctx), "plan-vector,select-configs,allocate")?;
    let (by_hand, least) = match program(&ctx, &written) {
        Ok(program) => program,
        Err(why) => return Ok(Outcome::NotRun(why)),
    };
    let chosen = passes(&ctx, written.clone(), &format!("{opening},select-configs,allocate"))?;
    let (chosen, cycles) = program(&ctx, &chosen)?;
    if cycles > least {
        return Err(format!("{cycles} cycles, by hand {least}"));
    }
    let compared = same_results(&ctx, &written, &by_hand, &chosen)?;
    Ok(Outcome::Good { cycles: [least, cycles], compared })
}

/// Files of the book's cases with functions that stop at the tensor level: what they show is there, or what is refused further down.
/// So many of each.
const NOT_RUN: [(&str, usize); 3] = [("s9-entries", 1), ("v3-slots", 2), ("v4-unsupported", 2)];

/// The outcome of each case, on all cores. Not by rayon: a worker that waits for the interpreter's lanes would begin another case on top of
/// its own, and a hundred of them overflow its stack.
fn each(cases: &[Case], outcome: impl Fn(&Case) -> Outcome + Sync) -> Vec<Outcome> {
    let next = AtomicUsize::new(0);
    let take = || {
        let numbers = std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed));
        let mine = numbers.map_while(|number| Some((number, outcome(cases.get(number)?))));
        mine.collect::<Vec<_>>()
    };
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let mut outcomes: Vec<(usize, Outcome)> = thread::scope(|scope| {
        let threads: Vec<_> = (0..cores).map(|_| scope.spawn(take)).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("no panic")).collect()
    });
    outcomes.sort_by_key(|(number, _)| *number);
    outcomes.into_iter().map(|(_, outcome)| outcome).collect()
}

/// How kernels are opened, and which of them are tried.
pub(crate) struct Opening {
    /// The pass.
    pub(crate) pass: &'static str,
    /// Files whose kernels have so much to choose from that they take long, by how their names begin: tried with `VISA_KERNELS=all`, or with
    /// `VISA_KERNELS=word` if their name holds the word.
    pub(crate) large: &'static [&'static str],
    /// How many kernels there are at least without those: a wrong path must not pass for a good result.
    pub(crate) least: usize,
}

/// The name of a case's file.
fn file(case: &Case) -> &str {
    case.name.split(' ').next().unwrap_or(&case.name)
}

impl Opening {
    /// Opens the kernels of every third file and lets the tools choose: each takes no more cycles than as it is written, and computes the same.
    /// `VISA_KERNELS=all` opens all of them: a campaign (docs/benchmarks.md).
    #[expect(clippy::print_stdout, reason = "the figures of docs/benchmarks.md")]
    pub(crate) fn is_as_good(&self) {
        let which = std::env::var("VISA_KERNELS").unwrap_or_default();
        let all = cases();
        let files: BTreeSet<String> = all.iter().map(|case| file(case).to_owned()).collect();
        let third: BTreeSet<&String> = files.iter().step_by(3).collect();
        let wanted = |case: &Case| match &*which {
            "all" => true,
            "" => {
                third.contains(&file(case).to_owned())
                    && !self.large.iter().any(|large| case.name.starts_with(large))
            }
            word => case.name.contains(word),
        };
        let cases: Vec<Case> = all.into_iter().filter(wanted).collect();
        println!("{}: {} kernels; those of {:?} with VISA_KERNELS=all", self.pass, cases.len(), self.large);
        let outcome = |case: &Case| tried(case, self.pass).unwrap_or_else(Outcome::Worse);
        let outcomes = each(&cases, outcome);
        let (mut good, mut compared, mut faster, mut wrong) = (0, 0, 0, Vec::new());
        let mut not_run: BTreeMap<&str, usize> = BTreeMap::new();
        for (case, outcome) in cases.iter().zip(&outcomes) {
            match outcome {
                Outcome::Good { cycles, compared: values } => {
                    good += 1;
                    compared += usize::from(*values);
                    if cycles[1] < cycles[0] {
                        faster += 1;
                        println!("faster: {} {cycles:?}", case.name);
                    }
                    if !values {
                        println!("not compared: {}", case.name);
                    }
                }
                Outcome::NotRun(why) => {
                    println!("not run: {}: {why}", case.name);
                    *not_run.entry(file(case)).or_default() += 1;
                }
                Outcome::Worse(what) => wrong.push((case.name.as_str(), what)),
            }
        }
        not_run.retain(|file, count| !NOT_RUN.contains(&(file, *count)));
        assert!(not_run.is_empty(), "functions that cannot be run as they are written: {not_run:?}");
        println!("{good} of {} kernels, {compared} compared, {faster} faster, none slower", cases.len());
        assert!(wrong.is_empty(), "worse: {wrong:#?}");
        let least = self.least;
        assert!(!which.is_empty() || good >= least, "{good} kernels, expected at least {least}");
    }
}
