//! From a module at any level to an executable program.

use visa_hw::program::Program;
use visa_ir::context::Context;
use visa_ir::diag::Diagnostic;
use visa_ir::module::Module;
use visa_passes::{Cause, Level, PassManager, Pipeline, Silent, standard_passes};

/// The passes that are left to run on a module of this level, expressions first: those that choose take nothing else.
fn remaining(level: Level) -> &'static str {
    match level {
        Level::Tensor | Level::Any => "plan-vector,lower-to-seq,lower-to-hw",
        Level::Sequencer => "lower-to-hw",
        Level::Hardware => "",
    }
}

/// Lowers what is left to lower, verified after each pass, and makes the program of `entry`. The second value holds
/// warnings.
pub(crate) fn compile(
    ctx: &Context,
    module: &mut Module,
    entry: Option<&str>,
) -> Result<(Program, Vec<Diagnostic>), Vec<Diagnostic>> {
    let passes = standard_passes();
    let mut warnings = Vec::new();
    let text = remaining(Level::of(ctx, module));
    if !text.is_empty() {
        let pipeline = Pipeline::parse(text, passes)?;
        let report = PassManager::new(&pipeline, passes).run(ctx, module, &mut Silent).map_err(
            |failure| match failure.cause {
                Cause::Level(finding) => vec![finding],
                Cause::Refused(findings) | Cause::Invalid(findings) => findings,
                Cause::WrongLevel { .. } | Cause::Panicked(_) => {
                    let message = format!("pass `{}` failed: {:?}", failure.step.pass.name, failure.cause);
                    vec![Diagnostic::error("pass", visa_ir::span::Span::default(), message)]
                }
            },
        )?;
        warnings = report.findings;
    }
    let program = visa_hw::compile(ctx, module, entry)?;
    Ok((program, warnings))
}
