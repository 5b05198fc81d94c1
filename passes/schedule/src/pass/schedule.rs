//! Reorders commands, and lets iterations of loops overlap.

use crate::driver::{Effort, Scheduled, function};
use crate::issue::{Reordered, in_vendor_order};
use visa_ir::analysis::{AnalysisKind, Preserved};
use visa_ir::diag::{Diagnostic, Severity};
use visa_ir::module::OpId;
use visa_ir::span::Span;
use visa_mapping::facts::DeclaredAxes;
use visa_mapping::ops::call::calling;
use visa_mapping::ops::func::FUNC;
use visa_pass::{Configured, Level, Pass, PassCx};

visa_pass::options! {
    /// The options.
    struct Settings {
        vendor: bool = ("vendor", "false", "put commands in the order in which the vendor's scheduler issues them, \
             instead of a faster one"),
        written: bool = ("written", "false", "preserve the order of the text: visa-run chooses `vendor` for kernels \
             from Rust on measured machines"),
        explain: bool = ("explain", "false", "report moved commands as remarks, with the reasons"),
        pipeline: bool = ("pipeline", "true", "whether iterations of loops overlap; without it, commands are \
             reordered within their blocks alone"),
        effort: i64 = ("effort", "400000", "operations of candidates that are lowered and priced, of a function"),
        conflicts: i64 = ("conflicts", "20000", "conflicts after which the solver gives up the order of a block of up \
             to 16 commands; of larger blocks in inverse proportion"),
    }
}

/// The pass.
pub static PASS: Pass = Pass {
    name: "schedule",
    summary: "reorders commands, and lets iterations of loops overlap",
    doc: "Each resource runs its commands in program order (book 28), so a transfer waits for those before it \
          although it could run in parallel with them. This pass changes the order, within the dependences of \
          commands, and pipelines loops: loads run an iteration ahead, into rotating buffers, or stores an \
          iteration later. Before such a loop are the first commands (a prologue), after it the last (an epilogue); \
          all are operations.\n\n\
          List scheduling finds an order of a block. If that is above its lower bound, a local search moves one \
          command at a time; then, if the commands are few, a constraint solver looks for a better order, and \
          proves that there is none. Each candidate is then allocated, lowered and priced as a whole; a candidate \
          that does not take fewer cycles is dropped.\n\n\
          With `vendor`, each block has the order in which the vendor's scheduler issues its commands, whether it \
          takes more cycles or fewer. The rule is learned from the vendor's schedules: a walk from the last stores \
          through operands gives each command a rank, with loads of arguments after other operands. A command waits \
          for one of a lower rank that can start before it would end.\n\n\
          Explicit addresses stay: a tensor at one of them cannot be written before the previous tensor there is \
          dead. Leave addresses open (`at auto`), and run `allocate` after this pass.",
    preserves: Preserved::Only(&[AnalysisKind::of::<DeclaredAxes>()]),
    takes: Level::Memory,
    gives: Level::Memory,
    open: true,
    statistics: &[
        ("candidates", "candidates priced"),
        ("conflicts", "conflicts of the solver"),
        ("before", "cycles of all functions before"),
        ("after", "cycles of all functions after"),
    ],
    ..Pass::with::<Settings>()
};

impl Configured for Settings {
    fn run(self, cx: &mut PassCx<'_>) -> Result<(), Vec<Diagnostic>> {
        if self.vendor && self.written {
            let message = "`vendor` and `written` are two orders: choose one of them";
            return Err(vec![Diagnostic::error("schedule", Span::default(), message)]);
        }
        let effort = Effort {
            operations: positive("effort", self.effort)?,
            conflicts: positive("conflicts", self.conflicts)?,
            pipeline: self.pipeline,
        };
        if self.written {
            return Ok(());
        }
        refuse_calls(cx)?;
        let axes = cx.analysis::<DeclaredAxes>();
        let mut errors = Vec::new();
        for func in cx.module.ops(cx.module.body()).to_vec() {
            if !cx.module.op(cx.ctx, func).is(&FUNC) {
                continue;
            }
            if let Some(warning) = too_large(cx, func) {
                cx.report(warning);
                continue;
            }
            let done = match self.vendor {
                true => {
                    in_vendor_order(cx.ctx, cx.module, func, &axes.0).map(|order| self.reorder(cx, order))
                }
                false => function(cx.ctx, cx.module, func, &axes.0, effort)
                    .map(|scheduled| self.take(cx, func, scheduled)),
            };
            errors.extend(done.err());
        }
        if errors.is_empty() { Ok(()) } else { Err(errors) }
    }
}

impl Settings {
    /// Takes a function in the vendor's order.
    fn reorder(&self, cx: &mut PassCx<'_>, order: Reordered) {
        *cx.module = order.module;
        if self.explain {
            order.decisions.iter().for_each(|decision| cx.report(decision.remark()));
        }
    }

    /// Reports the result for a function.
    fn take(&self, cx: &mut PassCx<'_>, func: OpId, scheduled: Scheduled) {
        let Scheduled { module, before, report, said, priced, conflicts, exhausted } = scheduled;
        *cx.module = module;
        cx.count("candidates", priced);
        cx.count("conflicts", conflicts);
        cx.count("before", before);
        cx.count("after", report.totals.cycles);
        let span = cx.module.op(cx.ctx, func).span();
        if exhausted {
            let message =
                format!("scheduling stopped at its effort ({} operations, option `effort`)", self.effort);
            let mut warning = Diagnostic::error("schedule-effort", span, message);
            warning.severity = Severity::Warning;
            let more = self.effort.saturating_mul(4);
            cx.report(warning.fix(format!("give it more, as in `--schedule=effort={more}`")));
        }
        if self.explain {
            said.iter().for_each(|said| cx.report(said.remark()));
            let (now, bound) = (report.totals.cycles, report.bound.cycles);
            let bound = match bound {
                0 => String::new(),
                bound => format!(": {:.2} times the bound of {bound}", now as f64 / bound as f64),
            };
            let message = format!("{before} cycles before, {now} now{bound}");
            cx.report(Diagnostic {
                severity: Severity::Remark,
                ..Diagnostic::error("schedule", span, message)
            });
        }
    }
}

/// Most operations of a function that is scheduled: a candidate is allocated and estimated as a whole, which takes
/// longer than its size suggests.
pub const MAX_OPERATIONS: usize = 10_000;

/// Says that a function stays as it is, if it is too large.
fn too_large(cx: &PassCx<'_>, func: OpId) -> Option<Diagnostic> {
    let op = cx.module.op(cx.ctx, func);
    let count = op.regions().iter().map(|&block| cx.module.walk(block).len()).sum::<usize>();
    let message =
        format!("{count} operations stay in their order: of more than {MAX_OPERATIONS} none is moved");
    let warning =
        Diagnostic { severity: Severity::Warning, ..Diagnostic::error("schedule-size", op.span(), message) };
    (count > MAX_OPERATIONS).then(|| warning.fix("write repeated commands as loops (`tm.for`)".to_owned()))
}

/// An option that counts.
fn positive(option: &str, given: i64) -> Result<u64, Vec<Diagnostic>> {
    u64::try_from(given).map_err(|_| {
        let message = format!("found `{option}={given}`, expected 0 or more");
        vec![Diagnostic::error("schedule", Span::default(), message)]
    })
}

/// Refuses calls: their bodies are scheduled with their context.
fn refuse_calls(cx: &PassCx<'_>) -> Result<(), Vec<Diagnostic>> {
    let calls = cx.walk().into_iter().filter_map(|id| calling(cx.module.op(cx.ctx, id)));
    let refused = calls.map(|call| {
        let message = "a call cannot be scheduled with its context";
        Diagnostic::error("schedule", call.span(), message).fix("run `inline` before".to_owned())
    });
    let refused: Vec<_> = refused.collect();
    if refused.is_empty() { Ok(()) } else { Err(refused) }
}
