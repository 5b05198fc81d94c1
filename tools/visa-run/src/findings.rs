//! The errors in the results of a run.

use crate::check::CheckReport;
use visa_hw::ops::contract::CONTRACT;
use visa_hw::ops::fetch::FETCH;
use visa_interpreter::UndefinedReport;
use visa_ir::context::Context;
use visa_ir::diag::Diagnostic;
use visa_ir::module::Module;
use visa_ir::span::Span;
use visa_ir::verify::Analysis;
use visa_mapping::facts::DeclaredAxes;
use visa_mapping::ops::func::Func;
use visa_stream::unmasked::{self, of_fetch};

fn differing(report: &CheckReport) -> String {
    format!("{} of {} elements differ", report.mismatches, report.compared)
}

/// Elements that differ. `defined` is the result of shadow mode, if it was requested: memory that was never written
/// holds anything, so that elements that depend on it differ without any mistake of the lowering.
pub(crate) fn differs(report: &CheckReport, first: &str, defined: Option<bool>) -> Diagnostic {
    let count = differing(report);
    let message = match defined {
        Some(false) => format!("{count}, and results depend on memory that nothing wrote; {first}"),
        Some(true) | None => format!("the lowering is wrong: {count}; {first}"),
    };
    let shadow = "run with `--shadow`, which reports elements that depend on memory that was never written";
    let fix = defined.is_none().then(|| shadow.to_owned());
    Diagnostic::error("check", Span::default(), message).fix(fix)
}

/// Elements of a plan that differ from those of its function by more than the order of sums explains.
pub(crate) fn plan_differs(report: &CheckReport, function: &str, first: &str) -> Diagnostic {
    let count = differing(report);
    let message = format!("the plan does not compute `@{function}`: {count}; {first}");
    Diagnostic::error("plan", Span::default(), message)
}

/// Elements that differ of a kernel that sums don't-care padding: its content differs without any mistake of the
/// lowering.
pub(crate) fn sums_padding(report: &CheckReport, first: &str, unmasked: Diagnostic) -> Diagnostic {
    let count = differing(report);
    let message = format!("{count}: a sum takes in padding, where anything may stand; {first}");
    Diagnostic::error("check", unmasked.span, message).note(unmasked.message, None).fix(unmasked.fix)
}

/// The warning of the first sum in a function that takes in don't-care padding (`lint-M1`).
pub(crate) fn summed_padding(ctx: &Context, kernel: &Module, function: &str) -> Option<Diagnostic> {
    let axes = DeclaredAxes::build(ctx, kernel).0;
    let ops = kernel.walk_all().into_iter().map(|id| kernel.op(ctx, id));
    let is_of = |func: Func<'_>| func.name().is_ok_and(|name| *name == *function);
    let own = ops.filter(|op| op.parent().and_then(Func::cast).is_some_and(is_of));
    own.flat_map(|op| unmasked::warnings(op, &axes)).next()
}

/// A result that depends on undefined data. If a sum took it in, the kernel names the padding, and the place of the
/// missing mask.
pub(crate) fn undefined(ctx: &Context, kernel: Option<&Module>, report: &UndefinedReport) -> Diagnostic {
    let span = report.chain.first().map(|step| step.span).unwrap_or_default();
    let mut finding = Diagnostic::error("shadow", span, report.to_string());
    for step in report.chain.iter().skip(1) {
        finding = finding.note(format!("then through {}", step.name), Some(step.span));
    }
    let sum = report.chain.iter().find(|step| step.name == CONTRACT.name);
    let (Some(sum), Some(kernel)) = (sum, kernel) else { return finding };
    let axes = DeclaredAxes::build(ctx, kernel).0;
    let ops = kernel.walk_all().into_iter().map(|id| kernel.op(ctx, id));
    let fetched = report.chain.iter().find(|step| step.name == FETCH.name);
    let fetch = fetched.and_then(|step| ops.into_iter().find(|op| op.span() == step.span));
    let Some(unmasked) = fetch.and_then(|fetch| of_fetch(fetch, &axes).into_iter().next()) else {
        return finding;
    };
    let note = format!("the sum takes in the {unmasked}: `{}` is fetched unmasked", unmasked.padding);
    finding.note(note, Some(sum.span)).fix(Some(unmasked.fix()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_defined_shows_a_wrong_lowering() {
        let report = CheckReport { compared: 8, mismatches: 2, ..CheckReport::default() };
        let said = |defined| {
            let finding = differs(&report, "out[0] is 1, the logical evaluator computes 2", defined);
            (finding.message, finding.fix.is_some())
        };
        let wrong =
            "the lowering is wrong: 2 of 8 elements differ; out[0] is 1, the logical evaluator computes 2";
        assert_eq!(said(Some(true)), (wrong.to_owned(), false));
        // Without shadow mode this is not known yet.
        assert_eq!(said(None), (wrong.to_owned(), true));
        let undefined = "2 of 8 elements differ, and results depend on memory that nothing wrote; out[0] is 1, the \
                         logical evaluator computes 2";
        assert_eq!(said(Some(false)), (undefined.to_owned(), false));
    }
}
