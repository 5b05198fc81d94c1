//! Every kernel of `test/kernels` with every clause left open that may be: `select-configs` and `allocate` close them, the kernel takes
//! no more cycles than as its author wrote it, and its results are the same.

#[path = "opened/cases.rs"]
mod cases;
#[path = "opened/results.rs"]
mod results;

use cases::{Case, cases, passes};
use rayon::prelude::*;
use results::same_results;
use visa_hw::program::Program;
use visa_ir::context::Context;
use visa_ir::module::Module;
use visa_machine::Machine;

/// Kernels that must at least be as good opened: a wrong path must not pass for a good result.
const LEAST_KERNELS: usize = 120;

/// Files whose kernels have so much to choose from that they take long, by how their names begin.
const LARGE: &[&str] = &["batched_matmul", "contract_formats_in_time", "gemm", "time_broadcast", "top_k"];

/// The kernels to try: all with `VISA_KERNELS=all`, those whose name holds a word with `VISA_KERNELS=word`, otherwise all but the large
/// ones.
fn chosen_cases() -> Vec<Case> {
    let which = std::env::var("VISA_KERNELS").unwrap_or_default();
    let wanted = |case: &Case| match &*which {
        "all" => true,
        "" => !LARGE.iter().any(|large| case.name.starts_with(large)),
        word => case.name.contains(word),
    };
    cases().into_iter().filter(wanted).collect()
}

/// What became of a kernel.
enum Outcome {
    /// Cycles as written and as chosen, and whether its results were compared: the evaluator may refuse random data.
    Good { cycles: [u64; 2], compared: bool },
    /// What is worse opened.
    Worse(String),
}

/// The program of a closed module, and its cycles.
fn program(ctx: &Context, module: &Module) -> Result<(Program, u64), String> {
    let lowered = passes(ctx, module.clone(), "lower-to-seq,lower-to-hw")?;
    let program = visa_hw::compile(ctx, &lowered, None).map_err(|findings| format!("{findings:?}"))?;
    let cycles = visa_cost::price(&program, &ctx.data::<Machine>()).totals.cycles;
    Ok((program, cycles))
}

fn outcome(case: &Case) -> Outcome {
    tried(case).unwrap_or_else(Outcome::Worse)
}

fn tried(case: &Case) -> Result<Outcome, String> {
    let ctx = case.context();
    let written = passes(&ctx, case.module(&ctx), "plan-vector,select-configs,allocate")?;
    let (by_hand, least) = program(&ctx, &written)?;
    let chosen = passes(&ctx, written.clone(), "open-clauses{places=false},select-configs,allocate")?;
    let (chosen, cycles) = program(&ctx, &chosen)?;
    if cycles > least {
        return Err(format!("{cycles} cycles, by hand {least}"));
    }
    let compared = same_results(&ctx, &written, &by_hand, &chosen)?;
    Ok(Outcome::Good { cycles: [least, cycles], compared })
}

#[test]
#[expect(clippy::print_stdout, reason = "the figures of docs/benchmarks.md")]
fn opened_kernels_are_as_fast_as_written_and_mean_the_same() {
    let cases = chosen_cases();
    let word = std::env::var("VISA_KERNELS").is_ok_and(|which| which != "all");
    println!("{} kernels; those of {LARGE:?} with VISA_KERNELS=all", cases.len());
    let outcomes: Vec<Outcome> = cases.par_iter().map(outcome).collect();
    let (mut good, mut compared, mut faster, mut wrong) = (0, 0, 0, Vec::new());
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
            Outcome::Worse(what) => wrong.push(format!("{}: {what}", case.name)),
        }
    }
    println!("{good} of {} kernels, {compared} compared, {faster} faster, none slower", cases.len());
    assert!(wrong.is_empty(), "{} worse:\n{}", wrong.len(), wrong.join("\n"));
    assert!(word || good >= LEAST_KERNELS, "{good} kernels, expected at least {LEAST_KERNELS}");
}
