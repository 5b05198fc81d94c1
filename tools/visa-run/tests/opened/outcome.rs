//! What becomes of a kernel when what may be open is left open, against what its author wrote.

use crate::cases::{Case, passes};
use crate::results::same_results;
use rayon::prelude::*;
use std::collections::BTreeMap;
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
    let (by_hand, least) = program(&ctx, &written)?;
    let chosen = passes(&ctx, written.clone(), &format!("{opening},select-configs,allocate"))?;
    let (chosen, cycles) = program(&ctx, &chosen)?;
    if cycles > least {
        return Err(format!("{cycles} cycles, by hand {least}"));
    }
    let compared = same_results(&ctx, &written, &by_hand, &chosen)?;
    Ok(Outcome::Good { cycles: [least, cycles], compared })
}

/// Opens kernels with the pass `opening` and lets the tools choose. How many take no more cycles than as they are written and compute the
/// same; all others must be listed in `exceptions`, by file and function, with the reason.
#[expect(clippy::print_stdout, reason = "the figures of docs/benchmarks.md")]
pub(crate) fn as_good_opened(cases: &[Case], opening: &str, exceptions: &[(&str, &str)]) -> usize {
    let outcome = |case: &Case| tried(case, opening).unwrap_or_else(Outcome::Worse);
    let outcomes: Vec<Outcome> = cases.par_iter().map(outcome).collect();
    let exceptions: BTreeMap<_, _> = exceptions.iter().copied().collect();
    let (mut good, mut compared, mut faster, mut wrong) = (0, 0, 0, Vec::new());
    for (case, outcome) in cases.iter().zip(&outcomes) {
        match (outcome, exceptions.get(&*case.name)) {
            (Outcome::Good { cycles, compared: values }, None) => {
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
            (Outcome::Good { .. }, Some(why)) => {
                wrong.push(format!("{}: good, but listed: {why}", case.name))
            }
            (Outcome::Worse(_), Some(why)) => println!("exception: {}: {why}", case.name),
            (Outcome::Worse(what), None) => wrong.push(format!("{}: {what}", case.name)),
        }
    }
    println!("{good} of {} kernels, {compared} compared, {faster} faster, none slower", cases.len());
    assert!(wrong.is_empty(), "{} worse:\n{}", wrong.len(), wrong.join("\n"));
    good
}
