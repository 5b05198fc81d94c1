//! `--validate=raise`: comparison of the kernels before and after each pass.

use visa_ir::context::Context;
use visa_ir::diag::{Diagnostic, Severity};
use visa_ir::level::Level;
use visa_ir::module::Module;
use visa_ir::span::Span;
use visa_mapping::ops::func::Func;
use visa_pass::{Instrument, Pass};
use visa_raise::prove::{Kernel, Verdict, prove};

/// The instrument that compares the kernels before and after each pass.
#[derive(Default)]
pub(crate) struct Validation {
    before: Option<Module>,
    /// The differences.
    pub(crate) findings: Vec<Diagnostic>,
}

impl Instrument for Validation {
    fn before(&mut self, _: &'static Pass, _: &Context, module: &Module) {
        self.before = Some(module.clone());
    }

    fn after(&mut self, pass: &'static Pass, ctx: &Context, module: &Module, failed: bool) {
        let Some(before) = self.before.take().filter(|_| !failed) else { return };
        // Below the memory level nothing has axes: `--check` of visa-run compares there.
        if Level::of(ctx, module) > Level::Memory || Level::of(ctx, &before) > Level::Memory {
            return;
        }
        for name in names(ctx, &before).iter().filter(|name| names(ctx, module).contains(name)) {
            let kernel = |module| Kernel { module, entry: Some(name.as_str()) };
            let finding = match prove(ctx, kernel(&before), kernel(module)) {
                Ok(Verdict::Equal { .. } | Verdict::UpToOrder { .. }) => continue,
                Ok(verdict @ Verdict::Different(_)) => {
                    let message = format!("pass `{}` changed what `@{name}` computes: {verdict}", pass.name);
                    Diagnostic::error("validate", Span::default(), message)
                }
                Ok(verdict @ Verdict::Unknown(_)) => {
                    let message = format!("pass `{}`, `@{name}`: {verdict}", pass.name);
                    warning(message)
                }
                // Results that depend on an open mapping have no tensor level.
                Err(why) => {
                    let message = format!("pass `{}`, `@{name}`: not compared: {}", pass.name, why.message);
                    warning(message)
                }
            };
            self.findings.push(finding);
        }
    }
}

fn warning(message: String) -> Diagnostic {
    Diagnostic { severity: Severity::Warning, ..Diagnostic::error("validate", Span::default(), message) }
}

/// Two instruments, one after the other.
pub(crate) struct Both<'a>(pub(crate) &'a mut dyn Instrument, pub(crate) &'a mut dyn Instrument);

impl Instrument for Both<'_> {
    fn before(&mut self, pass: &'static Pass, ctx: &Context, module: &Module) {
        self.0.before(pass, ctx, module);
        self.1.before(pass, ctx, module);
    }

    fn after(&mut self, pass: &'static Pass, ctx: &Context, module: &Module, failed: bool) {
        self.0.after(pass, ctx, module, failed);
        self.1.after(pass, ctx, module, failed);
    }
}

/// The names of the kernels of a module.
fn names(ctx: &Context, module: &Module) -> Vec<String> {
    let functions = module.ops(module.body()).iter().filter_map(|&id| Func::cast(module.op(ctx, id)));
    functions.filter_map(|func| func.name().ok().map(|name| name.to_string())).collect()
}
