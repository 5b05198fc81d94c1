//! Schedules expressions onto the vector engine.

use crate::planner::Planner;
use visa_canonical::infer_again;
use visa_ir::analysis::{AnalysisKind, Preserved};
use visa_ir::diag::{Diagnostic, Severity};
use visa_ir::verify::has_errors;
use visa_mapping::facts::DeclaredAxes;
use visa_pass::{Configured, Level, Pass, PassCx};
use visa_stream::ops::vector_expr;

visa_pass::options! {
    /// The settings of the pass.
    struct Settings {
        explain: bool = ("explain", "false", "report the stage and ALU of each operation as a remark, and the \
             reason for each further pass"),
    }
}

/// The pass.
pub static PASS: Pass = Pass {
    name: "plan-vector",
    summary: "schedules elementwise expressions onto the vector engine, in the fewest passes",
    doc: "Each `stream.vector_expr` becomes one pass through the vector engine, or several through the Tensor Unit \
          where an ALU runs out: an e-graph holds the expressions that are equal to it, and a search over the \
          places of the engine finds the one with the fewest passes, then the least time (docs/choosing.md). \
          Rewrites keep every bit, but for those of an expression that is `fast`.\n\n\
          Between passes a value is committed to data memory and fetched again; one that another operation takes as \
          its operand is loaded into the vector register file. Their addresses are open, for `allocate` to choose.",
    preserves: Preserved::Only(&[AnalysisKind::of::<DeclaredAxes>()]),
    takes: Level::Memory,
    open: true,
    statistics: &[
        ("expressions", "expressions scheduled"),
        ("passes", "passes through the Tensor Unit that they take"),
        ("operations", "operations of the vector engine that they take"),
        ("e-classes", "classes of all e-graphs"),
        ("e-nodes", "nodes of all e-graphs"),
        ("iterations", "rounds of rewriting in all e-graphs"),
        ("saturated", "e-graphs in which no rule found anything more"),
        ("bounded", "e-graphs that stopped at a bound"),
        (
            "greedy",
            "plans that may have more passes than there must be, because the search stopped at its bound",
        ),
    ],
    ..Pass::with::<Settings>()
};

/// The question for the built-in rules, which all modules of a context share.
#[derive(PartialEq, Eq, Hash)]
struct BuiltinRules;

impl Configured for Settings {
    fn run(self, cx: &mut PassCx<'_>) -> Result<(), Vec<Diagnostic>> {
        let expressions = cx.module.walk_all().into_iter();
        let expressions: Vec<_> =
            expressions.filter(|&id| cx.module.op(cx.ctx, id).is(&vector_expr::DECL)).collect();
        if expressions.is_empty() {
            return Ok(());
        }
        let axes = cx.analysis::<DeclaredAxes>();
        let planner = cx.ctx.once(BuiltinRules, Planner::new)?;
        let mut errors = Vec::new();
        let mut several = None;
        for id in expressions {
            let span = cx.module.op(cx.ctx, id).span();
            let outcome = match planner.plan(cx.ctx, cx.module, &axes.0, id) {
                Ok(outcome) => outcome,
                Err(error) => {
                    errors.push(error);
                    continue;
                }
            };
            let statistics = outcome.statistics;
            cx.count("expressions", 1);
            cx.count("passes", outcome.passes as u64);
            cx.count("operations", outcome.operations as u64);
            cx.count("e-classes", statistics.e_classes as u64);
            cx.count("e-nodes", statistics.e_nodes as u64);
            cx.count("iterations", statistics.iterations as u64);
            cx.count(if statistics.saturated { "saturated" } else { "bounded" }, 1);
            several = several.or((outcome.passes > 1).then_some(span));
            let remark = |message: String| Diagnostic {
                severity: Severity::Remark,
                ..Diagnostic::error("plan-vector", span, message)
            };
            let plural = if outcome.passes == 1 { "pass" } else { "passes" };
            if self.explain {
                let remark = remark(format!("the expression takes {} {plural}", outcome.passes));
                cx.report(outcome.lines.iter().fold(remark, |remark, line| remark.note(line, None)));
            }
            if !outcome.fewest {
                cx.count("greedy", 1);
                let message = format!(
                    "the expression takes {} {plural}, perhaps more than it must: the search stopped at its bound",
                    outcome.passes
                );
                cx.report(remark(message));
            }
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        infer_again(cx)?;
        // The operations that store and fetch a value specify how it may be between passes.
        if let Some(span) = several {
            let found = cx.verify();
            if has_errors(&found) {
                let note = |error: Diagnostic| {
                    error.note("a value of this expression is in memory between passes", Some(span))
                };
                return Err(found.into_iter().map(note).collect());
            }
        }
        Ok(())
    }
}
