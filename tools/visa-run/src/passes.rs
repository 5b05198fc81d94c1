//! Pipelines of passes, and the one that makes an executable program of a module at any level.

use visa_hw::program::Program;
use visa_ir::context::Context;
use visa_ir::diag::Diagnostic;
use visa_ir::location::Origins;
use visa_ir::module::Module;
use visa_ir::span::{Source, Span};
use visa_pass::{About, Level, Pass, PassManager, Pipeline, Report, Silent};

/// Reason for a failure of the passes.
pub(crate) enum Refused {
    /// The pipeline is wrong: spans point into this text.
    Pipeline(Source, Vec<Diagnostic>),
    /// The kernel, or a pass.
    Kernel(Vec<Diagnostic>),
}

impl Refused {
    /// The findings, at any position.
    pub(crate) fn findings(self) -> Vec<Diagnostic> {
        match self {
            Self::Kernel(findings) | Self::Pipeline(_, findings) => findings,
        }
    }

    /// The findings of a pipeline that is not the user's: its positions have no meaning.
    fn of_own_pipeline(self) -> Vec<Diagnostic> {
        match self {
            Self::Kernel(findings) => findings,
            Self::Pipeline(_, findings) => {
                findings.into_iter().map(|finding| Diagnostic { span: Span::default(), ..finding }).collect()
            }
        }
    }
}

/// The passes that remain to run on a module of this level. Values between the passes of an expression get their
/// addresses here; clauses that the kernel itself leaves open stay so, and lowering reports the flag that closes them.
fn remaining(level: Level, open: bool) -> &'static str {
    match level {
        Level::Memory | Level::Any if open => "lower-to-seq,lower-to-hw",
        Level::Memory | Level::Any => "plan-vector,allocate,lower-to-seq,lower-to-hw",
        Level::Sequencer => "lower-to-hw",
        Level::Hardware | Level::Tensor => "",
    }
}

/// Closes open clauses by the passes that have options, which may be empty, in their order, verified after each.
pub(crate) fn choose(
    ctx: &Context,
    module: &mut Module,
    known: &[&'static Pass],
    asked: &[(&str, Option<&str>)],
) -> Result<Report, Vec<Diagnostic>> {
    run(ctx, module, known, &pipeline_text(asked)).map_err(Refused::of_own_pipeline)
}

/// The pipeline of passes with their options, which may be empty; a pass without options is left out.
pub(crate) fn pipeline_text(asked: &[(&str, Option<&str>)]) -> String {
    let passes = asked.iter().filter_map(|(pass, options)| match *options {
        Some("") => Some((*pass).to_owned()),
        Some(options) => Some(format!("{pass}{{{options}}}")),
        None => None,
    });
    passes.collect::<Vec<_>>().join(",")
}

/// Runs a pipeline of known passes, which may be empty, verified after each.
pub(crate) fn run(
    ctx: &Context,
    module: &mut Module,
    known: &[&'static Pass],
    text: &str,
) -> Result<Report, Refused> {
    if text.is_empty() {
        return Ok(Report::default());
    }
    let pipeline = Pipeline::parse(text, known)
        .map_err(|findings| Refused::Pipeline(Source::new(Pipeline::SOURCE, text), findings))?;
    PassManager::new(&pipeline, known).run(ctx, module, &mut Silent).map_err(|failure| {
        match failure.findings() {
            (About::Pipeline, findings) => Refused::Pipeline(pipeline.source.clone(), findings),
            (About::Module | About::Pass, findings) => Refused::Kernel(findings),
        }
    })
}

/// Runs the remaining lowering, verified after each pass, and makes the program of `entry`. The second value holds
/// warnings.
pub(crate) fn compile(
    ctx: &Context,
    module: &mut Module,
    known: &[&'static Pass],
    entry: Option<&str>,
) -> Result<(Program, Vec<Diagnostic>), Vec<Diagnostic>> {
    let open = visa_ir::open::first(ctx, module, |_| true).is_some();
    let passes = remaining(Level::of(ctx, module), open);
    let report = run(ctx, module, known, passes).map_err(Refused::of_own_pipeline)?;
    let origins = Origins::of(ctx, module);
    let program = visa_hw::compile(ctx, module, entry).map_err(|mut findings| {
        origins.explain(ctx, &mut findings);
        findings
    })?;
    Ok((program, report.findings))
}
