//! Crash reproducers: a module with the pipeline that fails on it, in one file.

use visa_ir::context::{Context, quote, unquote};
use visa_ir::module::Module;
use visa_ir::print::{Form, print};
use visa_pass::Step;

const START: &str = "// visa-reproducer: pipeline=";

/// The text of a reproducer: `step` fails on `module`.
#[must_use]
pub fn reproducer(ctx: &Context, module: &Module, step: &Step) -> String {
    // The step itself specifies the operation that it is nested in.
    let pipeline = quote(&format!("builtin.module({step})"));
    format!("{START}{pipeline}\n{}", print(ctx, module, Form::Pretty))
}

/// The pipeline that a reproducer's first line holds; `None` if `text` is no reproducer.
#[must_use]
pub fn pipeline_of(text: &str) -> Option<String> {
    let line = text.lines().next()?.strip_prefix(START)?.trim_end();
    unquote(line.strip_prefix('"')?.strip_suffix('"')?).ok()
}
