//! Runs a pipeline: levels, verification between passes, statistics, and the report of a failed pass.

use crate::pass::{Output, Pass, PassCx};
use crate::pipeline::{Anchor, Pipeline, Step};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::time::{Duration, Instant};
use visa_ir::analysis::Analyses;
use visa_ir::context::Context;
use visa_ir::decl::ClauseDecl;
use visa_ir::diag::{Diagnostic, Severity};
use visa_ir::level::Level;
use visa_ir::location::Origins;
use visa_ir::module::{BlockId, Module, OpId};
use visa_ir::open::{self, Opening};
use visa_ir::span::Span;
use visa_ir::verify::{has_errors, verify_with};

/// Sees the module around each pass; a tool prints it from here.
pub trait Instrument {
    /// Before `pass` runs.
    fn before(&mut self, _pass: &'static Pass, _ctx: &Context, _module: &Module) {}
    /// After `pass` ran; `failed` if it returned errors or left IR that does not verify.
    fn after(&mut self, _pass: &'static Pass, _ctx: &Context, _module: &Module, _failed: bool) {}
}

/// The instrument that looks away.
pub struct Silent;

impl Instrument for Silent {}

/// Report of one pass.
#[derive(Clone, Debug)]
pub struct StepReport {
    /// The pass.
    pub pass: &'static Pass,
    /// Wall time of the pass itself. The only value that differs from run to run: never part of an output by default.
    pub elapsed: Duration,
    /// Time of its parts, if the pass names any.
    pub phases: Vec<(&'static str, Duration)>,
    /// Each declared statistic, in the order of declaration.
    pub statistics: Vec<(&'static str, u64)>,
}

/// Report of a run.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// A report a pass, in the order in which they ran.
    pub steps: Vec<StepReport>,
    /// Warnings and remarks of passes and of the verifier between them.
    pub findings: Vec<Diagnostic>,
    /// Files that the passes want written.
    pub outputs: Vec<Output>,
}

/// Note of findings in operations that a pass gave types.
const CHECKED_LATE: &str = "found after the `auto` clauses were chosen: before, the type was not known";

/// Reason why a run stopped.
#[derive(Clone, Debug)]
pub enum Cause {
    /// A pass cannot take the module, or no part of it: the finding's span points into the pipeline's text.
    Level(Diagnostic),
    /// A pass refused the input.
    Refused(Vec<Diagnostic>),
    /// A pass left a module that does not verify: a mistake in the pass.
    Invalid(Vec<Diagnostic>),
    /// A pass left a module at another level than it declares: a mistake in the pass.
    WrongLevel {
        /// The level that it declares.
        promised: Level,
        /// The level of its result.
        left: Level,
    },
    /// A pass declares that it preserves analyses, and changed the module so that their results differ: a mistake in
    /// the pass.
    NotPreserved(Vec<&'static str>),
    /// A pass panicked, with this message: a mistake in the pass.
    Panicked(String),
}

/// A run that stopped.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The step that failed.
    pub step: Step,
    /// The reason.
    pub cause: Cause,
    /// The module as it was before the failing pass, if [`PassManager::keep_before`] is set.
    pub before: Option<Module>,
    /// Report of the passes before it.
    pub report: Report,
}

/// Subject of a failure's findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum About {
    /// The pipeline: spans point into its text.
    Pipeline,
    /// The module: spans point into its text.
    Module,
    /// A mistake in the pass; there are no spans.
    Pass,
}

impl Failure {
    /// The findings that tell why the run stopped.
    #[must_use]
    pub fn findings(self) -> (About, Vec<Diagnostic>) {
        let name = self.step.pass.name;
        let mistake = match self.cause {
            Cause::Level(finding) => return (About::Pipeline, vec![finding]),
            Cause::Refused(found) => return (About::Module, found),
            Cause::Invalid(found) => {
                let note = format!("the module does not verify after pass `{name}`: a mistake in the pass");
                return (
                    About::Module,
                    found.into_iter().map(|found| found.note(note.clone(), None)).collect(),
                );
            }
            Cause::WrongLevel { promised, left } => {
                format!("pass `{name}` declares {promised} level, but left the module at {left} level")
            }
            Cause::NotPreserved(analyses) => format!(
                "pass `{name}` declares that it preserves `{}`, but changed its result",
                analyses.join("`, `")
            ),
            Cause::Panicked(why) => format!("pass `{name}` panicked: {why}"),
        };
        let finding = Diagnostic::error("pass-failed", Span::default(), mistake);
        (About::Pass, vec![finding.note("a mistake in the pass", None)])
    }
}

/// Runs a pipeline over modules.
pub struct PassManager<'p> {
    /// The pipeline.
    pub pipeline: &'p Pipeline,
    /// The passes that may be named as a fix.
    pub known: &'p [&'static Pass],
    /// True if the module is verified after each pass.
    pub verify_each: bool,
    /// True if the module before each pass is stored, for [`Failure::before`].
    pub keep_before: bool,
    /// True if the analyses that a pass preserves are built again after it and compared. The comparison takes as long
    /// as building them, in each pass. The default is true in a debug build.
    pub verify_analyses: bool,
    /// The analyses of the module, kept from pass to pass.
    pub analyses: Rc<Analyses>,
}

impl<'p> PassManager<'p> {
    /// A manager that verifies after each pass.
    #[must_use]
    pub fn new(pipeline: &'p Pipeline, known: &'p [&'static Pass]) -> Self {
        let (verify_analyses, analyses) = (cfg!(debug_assertions), Rc::default());
        Self { pipeline, known, verify_each: true, keep_before: false, verify_analyses, analyses }
    }

    /// Runs every pass of the pipeline on `module`.
    ///
    /// # Errors
    /// The first pass that fails; `module` is then as that pass left it.
    pub fn run(
        &self,
        ctx: &Context,
        module: &mut Module,
        instrument: &mut dyn Instrument,
    ) -> Result<Report, Box<Failure>> {
        let origins = Origins::of(ctx, module);
        let explain = |report: &mut Report| origins.explain(ctx, &mut report.findings);
        match self.steps(ctx, module, instrument) {
            Ok(mut report) => {
                explain(&mut report);
                Ok(report)
            }
            Err(mut failure) => {
                explain(&mut failure.report);
                if let Cause::Refused(found) | Cause::Invalid(found) = &mut failure.cause {
                    origins.explain(ctx, found);
                }
                Err(failure)
            }
        }
    }

    fn steps(
        &self,
        ctx: &Context,
        module: &mut Module,
        instrument: &mut dyn Instrument,
    ) -> Result<Report, Box<Failure>> {
        let mut report = Report::default();
        let Some(first) = self.pipeline.steps.first() else { return Ok(report) };
        let suits = self.pipeline.check_anchors(ctx);
        if let Err(finding) =
            suits.and_then(|()| self.pipeline.check_levels(Level::of(ctx, module), self.known))
        {
            let (step, cause) = (first.clone(), Cause::Level(finding));
            return Err(Box::new(Failure { step, cause, before: None, report }));
        }
        for step in &self.pipeline.steps {
            let before = self.keep_before.then(|| module.clone());
            instrument.before(step.pass, ctx, module);
            let outcome = self.step(step, ctx, module, &mut report);
            instrument.after(step.pass, ctx, module, outcome.is_err());
            if let Err(cause) = outcome {
                return Err(Box::new(Failure { step: step.clone(), cause, before, report }));
            }
        }
        Ok(report)
    }

    /// Makes errors of the warnings that a pass of the pipeline denies.
    fn deny(&self, findings: &mut [Diagnostic]) {
        let denied = |code: &str| self.pipeline.steps.iter().any(|step| step.pass.denies.contains(&code));
        for finding in findings.iter_mut().filter(|finding| denied(&finding.code)) {
            finding.severity = Severity::Error;
        }
    }

    /// Runs the pass of a step on each operation that it is for.
    fn run_pass(
        &self,
        step: &Step,
        ctx: &Context,
        module: &mut Module,
        report: &mut Report,
    ) -> Result<(), Cause> {
        let start = Instant::now();
        let (pass, roots) = (step.pass, roots(step, ctx, module));
        let mut cx = PassCx::new(ctx, module, &step.options);
        cx.analyses = self.analyses.clone();
        let mut ran = Ok(Ok(()));
        for root in roots {
            cx.root = root;
            // A module that a panic left half rewritten is only ever looked at, never run or printed as a result.
            ran = catch_unwind(AssertUnwindSafe(|| (pass.run)(&mut cx)));
            if !matches!(ran, Ok(Ok(()))) {
                break;
            }
        }
        let statistics = pass.statistics.iter().map(|&(name, _)| (name, cx.counted(name))).collect();
        let (mut findings, phases, outputs) = (cx.findings, cx.phases, cx.outputs);
        self.deny(&mut findings);
        report.steps.push(StepReport { pass, elapsed: start.elapsed(), phases, statistics });
        match ran {
            Err(payload) => Err(Cause::Panicked(panic_message(&*payload))),
            Ok(Err(errors)) => {
                findings.extend(errors);
                Err(Cause::Refused(findings))
            }
            Ok(Ok(())) if has_errors(&findings) => Err(Cause::Refused(findings)),
            Ok(Ok(())) => {
                report.findings.extend(findings);
                report.outputs.extend(outputs);
                Ok(())
            }
        }
    }

    fn step(
        &self,
        step: &Step,
        ctx: &Context,
        module: &mut Module,
        report: &mut Report,
    ) -> Result<(), Cause> {
        if !step.pass.open
            && let Some(finding) = open_clause(ctx, module, &|_| true, self.known)
        {
            return Err(Cause::Refused(vec![finding]));
        }
        let closes_untyped = step.pass.closes.is_some()
            && module.walk_all().iter().any(|&id| open::untyped(module.op(ctx, id)));
        let holes = step.pass.closes.map_or_else(Vec::new, |kind| open_spans(ctx, module, kind));
        let before = module.stamp();
        self.analyses.begin(step.pass.name);
        self.run_pass(step, ctx, module, report)?;
        self.analyses.end(step.pass.name, &before, step.pass.preserves, module);
        if self.verify_each {
            let found = verify_with(ctx, module, &self.analyses);
            if has_errors(&found) && closes_untyped {
                // Operations without types were not verified before: their faults may be the author's doing.
                let found = found.into_iter().map(|finding| about_chosen(finding, &holes));
                return Err(Cause::Refused(found.collect()));
            }
            if has_errors(&found) {
                return Err(Cause::Invalid(found));
            }
        }
        let wrong = if self.verify_analyses { self.analyses.wrong(ctx, module) } else { Vec::new() };
        if !wrong.is_empty() {
            return Err(Cause::NotPreserved(wrong));
        }
        if let Some(kind) = step.pass.closes
            && let Some(finding) = open_clause(ctx, module, &|opening| opening == kind, &[])
        {
            return Err(Cause::Invalid(vec![finding]));
        }
        // A kernel that nothing of a level is needed for may leave it out: a kernel that only returns its arguments
        // has no loops.
        let left = Level::of(ctx, module);
        if left != Level::Any && left < step.pass.gives {
            return Err(Cause::WrongLevel { promised: step.pass.gives, left });
        }
        Ok(())
    }
}

/// The operations that a step runs on, one by one; `None` stands for the whole module.
fn roots(step: &Step, ctx: &Context, module: &Module) -> Vec<Option<OpId>> {
    let Some((first, inner)) = step.within.split_first() else { return vec![None] };
    let named = |blocks: &[BlockId], anchor: &Anchor| -> Vec<OpId> {
        let ops = blocks.iter().flat_map(|&block| module.ops(block)).copied();
        ctx.op(&anchor.name)
            .map_or_else(Vec::new, |decl| ops.filter(|&id| module.op(ctx, id).is(decl)).collect())
    };
    let outermost = named(&[module.body()], first);
    let found = inner.iter().fold(outermost, |outer, anchor| {
        outer.into_iter().flat_map(|id| named(module.op(ctx, id).regions(), anchor)).collect()
    });
    found.into_iter().map(Some).collect()
}

/// The first open clause of a kind that `wanted` holds for, as an error, and the passes of `known` that close it
/// and the others.
fn open_clause(
    ctx: &Context,
    module: &Module,
    wanted: &dyn Fn(Opening) -> bool,
    known: &[&'static Pass],
) -> Option<Diagnostic> {
    let (id, clause) = open::first(ctx, module, wanted)?;
    let op = module.op(ctx, id);
    let ops = module.walk_all().into_iter().map(|id| module.op(ctx, id));
    let count: usize = ops.map(|op| open::clauses(op).filter(|clause| wanted(clause.opening)).count()).sum();
    let more = match count - 1 {
        0 => String::new(),
        1 => ", and so is one other".to_owned(),
        more => format!(", and so are {more} others"),
    };
    let message = format!("clause `{}` of `{}` is open (`{}`){more}", clause.name, op, open::WORD);
    // Sizes follow from configurations, and addresses from sizes.
    let kinds =
        [Opening::Configuration, Opening::Address, Opening::Order].into_iter().filter(|kind| wanted(*kind));
    let kinds = kinds.filter(|kind| open::first(ctx, module, |opening| opening == *kind).is_some());
    let closing = kinds.filter_map(|kind| known.iter().find(|pass| pass.closes == Some(kind)));
    let flags: Vec<String> = closing.map(|pass| format!("--{}", pass.name)).collect();
    let fix = match flags[..] {
        [] => clause.in_place_of_auto(),
        _ => {
            let flags = flags.join(" ");
            format!("add `{flags}` before any pass that lowers, or {}", clause.in_place_of_auto())
        }
    };
    Some(Diagnostic::error("open", op.clause_span(clause.name), message).fix(fix))
}

/// The clauses of a kind that are open, with where they are written.
fn open_spans(ctx: &Context, module: &Module, kind: Opening) -> Vec<(Span, &'static ClauseDecl)> {
    let ops = module.walk_all().into_iter().map(|id| module.op(ctx, id));
    let spans = ops.flat_map(|op| {
        let clauses = open::clauses(op).filter(|clause| clause.opening == kind);
        clauses.map(move |clause| (op.clause_span(clause.name), clause)).collect::<Vec<_>>()
    });
    spans.collect()
}

/// A finding about the choice of a pass: if it is about one clause that was `auto`, the fix replaces it.
fn about_chosen(finding: Diagnostic, holes: &[(Span, &'static ClauseDecl)]) -> Diagnostic {
    let clause = holes.iter().find(|(span, _)| *span == finding.span).map(|(_, clause)| *clause);
    let finding = finding.note(CHECKED_LATE.to_owned(), None);
    match clause {
        Some(clause) if finding.fix.is_none() => finding.fix(clause.in_place_of_auto()),
        Some(_) | None => finding,
    }
}

fn panic_message(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".into())
}
