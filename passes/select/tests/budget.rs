//! The budget of `select-configs`: it changes nothing if it does not end, it bounds the work if it does, and the final
//! choice is legal.

use visa_ir::context::Context;
use visa_ir::diag::{Diagnostic, Severity};
use visa_ir::module::Module;
use visa_ir::open;
use visa_ir::parse::parse;
use visa_ir::print::{Form, print};
use visa_ir::span::Source;
use visa_ir::verify::{has_errors, verify};
use visa_pass::{Cause, PassManager, Pipeline, Silent};
use visa_passes::standard_passes;

/// The result of choosing: the text, the amount of work, and the findings.
struct Chosen {
    text: String,
    spent: u64,
    warnings: Vec<Diagnostic>,
}

fn read(ctx: &Context, text: &str) -> Module {
    let parsed = parse(ctx, &Source::new("budget", text), 0..text.len());
    assert!(!has_errors(&parsed.diagnostics), "{:?}", parsed.diagnostics);
    parsed.module
}

/// Chooses a kernel within a budget; the errors if there are some.
fn choose(text: &str, budget: u64) -> Result<Chosen, Vec<Diagnostic>> {
    let dialects =
        [&visa_mapping::DIALECT, &visa_stream::DIALECT, &visa_sequencer::DIALECT, &visa_hw::DIALECT];
    let ctx = Context::new(&dialects);
    let mut module = read(&ctx, text);
    let pipeline = Pipeline::parse(&format!("select-configs{{budget={budget}}}"), &standard_passes());
    let pipeline = pipeline.expect("a pipeline");
    let ran = PassManager::new(&pipeline, &standard_passes()).run(&ctx, &mut module, &mut Silent);
    let report = ran.map_err(|failure| match failure.cause {
        Cause::Refused(errors) => errors,
        cause => panic!("{cause:?}"),
    })?;
    assert!(open::first(&ctx, &module, |kind| kind == open::Opening::Configuration).is_none());
    assert!(!has_errors(&verify(&ctx, &module)));
    let spent = report.steps[0].statistics.iter().find(|(name, _)| *name == "budget-spent");
    let warnings = report.findings.into_iter().filter(|finding| finding.severity == Severity::Warning);
    Ok(Chosen {
        text: print(&ctx, &module, Form::Pretty),
        spent: spent.expect("counted").1,
        warnings: warnings.collect(),
    })
}

/// A tensor in another order, through places that are open.
const KERNEL: &str = "visa 1
tm.axes [A = 8, B = 16, C = 32]
tm.func @reorder(%x: !tm.hbm<i8, [1], [A, B, C]>) at auto, chips 1 {
  %d = tm.to_dm %x at auto, cluster auto, slice auto, element auto
  %0 = stream.begin main %d
  %1 = stream.fetch %0 time auto, packet auto
  %2 = stream.collect %1 time auto, packet auto
  %y = stream.commit %2 at auto, element auto
  %r = tm.to_hbm %y at auto, element [B, A, C]
  tm.return %r
}
";

#[test]
fn a_budget_that_does_not_end_changes_nothing() {
    let text = KERNEL;
    let all = choose(text, 1 << 40).unwrap_or_else(|errors| panic!("{errors:?}"));
    assert!(all.warnings.is_empty());
    // The budget ends with its last unit: the units spent and one more.
    let exact = choose(text, all.spent + 1).unwrap_or_else(|errors| panic!("{errors:?}"));
    assert_eq!((&exact.text, exact.spent, exact.warnings.len()), (&all.text, all.spent, 0));
    let default = choose(text, 200_000).unwrap_or_else(|errors| panic!("{errors:?}"));
    assert_eq!((&default.text, default.spent), (&all.text, all.spent));
}

#[test]
fn a_budget_that_ends_says_so_and_bounds_the_work() {
    let text = KERNEL;
    let all = choose(text, 1 << 40).unwrap_or_else(|errors| panic!("{errors:?}"));
    // If it ends with the last units, all has been tried before.
    let last = choose(text, all.spent - 1).unwrap_or_else(|errors| panic!("{errors:?}"));
    assert!(last.warnings.len() == 1 || last.text == all.text);
    for budget in [all.spent / 2, all.spent / 4, all.spent / 8] {
        let cut = choose(text, budget).unwrap_or_else(|errors| panic!("{errors:?}"));
        let codes: Vec<&str> = cut.warnings.iter().map(|warning| warning.code.as_str()).collect();
        assert_eq!(codes, ["select-budget"], "{budget}");
        // The reserve is a quarter, the narrow search as much again; the last question may ask for an operation's
        // candidates once more.
        assert!(cut.spent <= 2 * budget + budget / 4 + 2000, "{budget}: {}", cut.spent);
    }
}

#[test]
fn the_least_budget_gives_a_kernel_or_says_that_it_was_too_little() {
    for budget in [1, 10, 100] {
        match choose(KERNEL, budget) {
            Ok(chosen) => assert_eq!(chosen.warnings.len(), 1),
            Err(errors) => assert_eq!(errors[0].code, "select-budget", "{errors:?}"),
        }
    }
}

#[test]
fn what_is_refused_whatever_the_budget_is_refused_as_before() {
    // No place holds 16777216 elements.
    let text = KERNEL.replace("A = 8", "A = 16777216");
    let refused = |budget| {
        choose(&text, budget).err().map(|errors| (errors[0].code.clone(), errors[0].message.clone()))
    };
    assert_eq!(refused(200_000), refused(1 << 40));
    assert!(refused(1 << 40).is_some());
}
