//! From a module at any level to an executable program.

use visa_hw::program::Program;
use visa_ir::context::Context;
use visa_ir::diag::Diagnostic;
use visa_ir::location::Origins;
use visa_ir::module::Module;
use visa_pass::{Cause, Level, PassManager, Pipeline, Silent};
use visa_passes::standard_passes;

/// The passes that are left to run on a module of this level. Values between the passes of an expression get their
/// addresses here; what the kernel itself leaves open stays so, and lowering says which flag closes it.
fn remaining(level: Level, open: bool) -> &'static str {
    match level {
        Level::Tensor | Level::Any if open => "lower-to-seq,lower-to-hw",
        Level::Tensor | Level::Any => "plan-vector,allocate,lower-to-seq,lower-to-hw",
        Level::Sequencer => "lower-to-hw",
        Level::Hardware => "",
    }
}

/// Closes open clauses by the passes that have options, which may be empty, in their order, verified after each.
/// Gives warnings.
pub(crate) fn choose(
    ctx: &Context,
    module: &mut Module,
    asked: &[(&str, Option<&str>)],
) -> Result<Vec<Diagnostic>, Vec<Diagnostic>> {
    let passes = asked.iter().filter_map(|(pass, options)| match *options {
        Some("") => Some((*pass).to_owned()),
        Some(options) => Some(format!("{pass}{{{options}}}")),
        None => None,
    });
    run(ctx, module, &passes.collect::<Vec<_>>().join(","))
}

/// Runs a pipeline, which may be empty.
fn run(ctx: &Context, module: &mut Module, text: &str) -> Result<Vec<Diagnostic>, Vec<Diagnostic>> {
    if text.is_empty() {
        return Ok(Vec::new());
    }
    let passes = standard_passes();
    // The text of the pipeline is none that the user has written: its places say nothing.
    let placeless = |finding| Diagnostic { span: visa_ir::span::Span::default(), ..finding };
    let pipeline = Pipeline::parse(text, &passes)
        .map_err(|findings| findings.into_iter().map(placeless).collect::<Vec<_>>())?;
    let report = PassManager::new(&pipeline, &passes).run(ctx, module, &mut Silent);
    let report = report.map_err(|failure| match failure.cause {
        Cause::Level(finding) => vec![placeless(finding)],
        Cause::Refused(findings) | Cause::Invalid(findings) => findings,
        Cause::WrongLevel { .. } | Cause::NotPreserved(_) | Cause::Panicked(_) => {
            let message = format!("pass `{}` failed: {:?}", failure.step.pass.name, failure.cause);
            vec![Diagnostic::error("pass", visa_ir::span::Span::default(), message)]
        }
    })?;
    Ok(report.findings)
}

/// Lowers what is left to lower, verified after each pass, and makes the program of `entry`. The second value holds
/// warnings.
pub(crate) fn compile(
    ctx: &Context,
    module: &mut Module,
    entry: Option<&str>,
) -> Result<(Program, Vec<Diagnostic>), Vec<Diagnostic>> {
    let open = visa_ir::open::first(ctx, module, |_| true).is_some();
    let warnings = run(ctx, module, remaining(Level::of(ctx, module), open))?;
    let origins = Origins::of(ctx, module);
    let program = visa_hw::compile(ctx, module, entry).map_err(|mut findings| {
        origins.explain(ctx, &mut findings);
        findings
    })?;
    Ok((program, warnings))
}
