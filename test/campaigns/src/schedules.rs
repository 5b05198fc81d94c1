//! Schedules: random loop programs in orders and plans that are drawn, whatever they cost, against the same programs
//! as they are written.

use crate::files::{context_of, read};
use crate::kernels::machines;
use crate::loops::{SLICES, kernel, printed};
use crate::open_clauses::cases::passes;
use crate::settings::Settings;
use crate::shared;
use std::path::PathBuf;
use visa_ir::analysis::Analysis;
use visa_ir::context::Context;
use visa_ir::module::{Module, OpId};
use visa_ir::open::{Opening, open_up};
use visa_ir::print::{Form, print};
use visa_ir::verify::{has_errors, verify};
use visa_mapping::facts::DeclaredAxes;
use visa_mapping::ops::func::FUNC;
use visa_schedule::chance::scheduled;
use visa_support::Random;

/// What became of a program.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    /// It is refused as it is written.
    Refused,
    /// Nothing was moved.
    Same,
    /// It was changed, and gives the same values.
    Moved,
    /// It was changed so that it does not fit, or tensors would overlap.
    Unfit,
}

/// Draws programs with loops. Each gives the same values before and after, under shadow.
pub fn run(settings: &Settings<'_>) {
    let Settings { count, seed, .. } = *settings;
    let folder = tempfile::tempdir().expect("a temporary folder");
    let machines = machines(folder.path(), &SLICES);
    let shares = shared::each_core(|numbers| {
        let numbers = numbers.take_while(|number| *number < count);
        numbers.map(|number| run_case(&machines, (seed, number))).collect::<Vec<_>>()
    });
    let of = |wanted: Outcome| shares.iter().flatten().filter(|own| **own == wanted).count() as u64;
    let (refused, moved, unfit) = (of(Outcome::Refused), of(Outcome::Moved), of(Outcome::Unfit));
    println!(
        "schedules, seed {seed}: {} of {count} accepted, {moved} of them changed and checked, {unfit} changed so that \
         they do not fit",
        count - refused
    );
    assert!(moved * 4 > count, "seed {seed}: too few are changed");
}

fn run_case(machines: &[PathBuf], (seed, case): (u64, u64)) -> Outcome {
    let random = &mut Random::of_case(seed, case);
    let which = random.below(SLICES.len());
    let machine = machines[which].to_str().expect("UTF-8").to_owned();
    let [text, _] = kernel(random, SLICES[which]);
    let ctx = context_of(SLICES[which]);
    let Some(mut module) = read(&ctx, &text) else { return Outcome::Refused };
    open_up(&ctx, &mut module, |_, clause| clause.opening == Opening::Address).expect("types stay");
    let Some(Ok(before)) = result(&ctx, &module, &machine) else { return Outcome::Refused };
    let axes = DeclaredAxes::build(&ctx, &module);
    let mut draw = |below: usize| random.below(below);
    let changed = scheduled(&ctx, &module, function(&ctx, &module), &axes.0, &mut draw).expect("a price");
    let shown = || format!("seed {seed}, case {case}\n{text}\n{}", print(&ctx, &changed, Form::Pretty));
    match result(&ctx, &changed, &machine) {
        Some(Ok(after)) => {
            assert_eq!(before, after, "{}", shown());
            let moved = print(&ctx, &changed, Form::Pretty) != print(&ctx, &module, Form::Pretty);
            if moved { Outcome::Moved } else { Outcome::Same }
        }
        Some(Err(wrong)) => panic!("{wrong}\n{}", shown()),
        None => Outcome::Unfit,
    }
}

fn function(ctx: &Context, module: &Module) -> OpId {
    let mut all = module.ops(module.body()).iter().copied();
    all.find(|&id| module.op(ctx, id).is(&FUNC)).expect("a function")
}

/// The results that a program with open addresses gives under shadow; an error if they are not what the evaluator
/// says, or nobody wrote them; nothing if it does not fit.
fn result(ctx: &Context, module: &Module, machine: &str) -> Option<Result<String, String>> {
    let allocated = passes(ctx, module.clone(), "allocate").ok()?;
    if has_errors(&verify(ctx, &allocated)) {
        return None;
    }
    let text = print(ctx, &allocated, Form::Pretty);
    let results =
        |out: &str| out.lines().filter(|line| line.contains("crc32")).collect::<Vec<_>>().join("\n");
    Some(match printed(&text, machine, "flat") {
        Ok(out) if out.contains(", 0 differ\n") => Ok(results(&out)),
        Ok(out) => Err(out),
        Err(error) => Err(error),
    })
}
