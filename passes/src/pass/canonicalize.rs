//! Brings operations into their canonical form.

use visa_ir::analysis::{AnalysisKind, Preserved};
use visa_ir::diag::{Diagnostic, Severity};
use visa_ir::module::OpRef;
use visa_ir::rewrite::{Greedy, Missed, NOT_CONVERGED};
use visa_ir::span::Span;
use visa_ir::symbols::Symbols;
use visa_mapping::facts::DeclaredAxes;
use visa_pass::{Configured, Pass, PassCx, Scope};

visa_pass::options! {
    /// The options.
    struct Settings {
        max_rewrites: i64 = ("max-rewrites", "65536", "most rewrites; a run that needs more fails, and names the \
             pattern that was applied most"),
        explain: bool = ("explain", "false", "whether each operation that stays is reported with the patterns that \
             do not match it, and why, as a remark"),
    }
}

/// The pass.
pub static PASS: Pass = Pass {
    name: "canonicalize",
    summary: "brings operations into their canonical form",
    doc: "Applies the folds and the patterns that operations declare, and erases unused operations (as `dce` does), \
          until nothing changes any more (docs/rewriting.md). Operations are visited from first to last; \
          consequences of a rewrite are visited before anything else, so equal modules give equal results.\n\n\
          The mappings in clauses stay as they are: those are for `canonicalize-mappings`.",
    scope: Scope::Operation,
    preserves: Preserved::Only(&[AnalysisKind::of::<DeclaredAxes>(), AnalysisKind::of::<Symbols>()]),
    statistics: &[
        ("folds", "operations folded"),
        ("rewrites", "patterns applied"),
        ("erased", "unused operations erased"),
    ],
    open: true,
    ..Pass::with::<Settings>()
};

impl Configured for Settings {
    fn run(self, cx: &mut PassCx<'_>) -> Result<(), Vec<Diagnostic>> {
        let Settings { max_rewrites, explain } = self;
        let max_rewrites = u64::try_from(max_rewrites).map_err(|_| {
            let message = format!("found `max-rewrites={max_rewrites}`, expected 0 or more");
            vec![Diagnostic::error("canonicalize", Span::default(), message)]
        })?;
        let (greedy, blocks) = (Greedy { max_rewrites, explain, ..Greedy::default() }, cx.blocks());
        let outcome =
            greedy.run(cx.ctx, cx.module, &blocks).map_err(|error| vec![bounded(&greedy, error)])?;
        cx.count("folds", outcome.folds);
        cx.count("rewrites", outcome.rewrites());
        cx.count("erased", outcome.erased);
        for missed in outcome.missed.chunk_by(|left, right| left.op == right.op) {
            cx.report(stays(cx.module.op(cx.ctx, missed[0].op), missed));
        }
        Ok(())
    }
}

/// The remark on an operation that patterns do not match.
fn stays(op: OpRef<'_>, missed: &[Missed]) -> Diagnostic {
    let remark = Diagnostic::error("canonicalize", op.span(), format!("no pattern matches `{op}`"));
    let remark = Diagnostic { severity: Severity::Remark, ..remark };
    let note = |Missed { pattern, why, .. }: &Missed| format!("pattern `{pattern}` does not match: {why}");
    missed.iter().fold(remark, |remark, missed| remark.note(note(missed), None))
}

/// An error with a fix if the bound was reached.
fn bounded(greedy: &Greedy<'_>, error: Diagnostic) -> Diagnostic {
    if error.code != NOT_CONVERGED {
        return error;
    }
    let more = greedy.max_rewrites.saturating_mul(4).max(4);
    error.fix(format!("if it needs more, write `canonicalize{{max-rewrites={more}}}`"))
}
