//! The functions of `test/kernels` and `test/book`.

use crate::files::{Files, context, files, read};
use visa_ir::context::Context;
use visa_ir::module::Module;
use visa_mapping::ops::func::Func;
use visa_pass::{Cause, PassManager, Pipeline, Silent};
use visa_passes::standard_passes;

/// A function of a test file.
pub(crate) struct Case {
    /// The file and the function, as `gemv @gemv`.
    pub(crate) name: String,
    text: String,
    function: String,
    machine: Option<String>,
}

impl Case {
    /// A context with the machine of the file's first `RUN` line that names one.
    pub(crate) fn context(&self) -> Context {
        context(self.machine.as_deref())
    }

    /// The function by itself, with the axes and tables of its file.
    pub(crate) fn module(&self, ctx: &Context) -> Module {
        let mut module = read(ctx, &self.text).expect("a module that was read before");
        for id in module.ops(module.body()).to_vec() {
            let op = module.op(ctx, id);
            if Func::cast(op).is_some_and(|func| func.name().is_ok_and(|name| *name != *self.function)) {
                module.erase(id);
            }
        }
        module
    }
}
/// Every function of the files, by name. Kernels that are written in bytes already have nothing to open.
pub(crate) fn cases(wanted: Files<'_>) -> Vec<Case> {
    let mut cases = Vec::new();
    for file in files(&["book", "kernels"], wanted) {
        let ctx = file.context();
        for text in file.texts() {
            let Some(module) = read(&ctx, text) else { continue };
            let ops = module.ops(module.body()).iter().map(|&id| module.op(&ctx, id));
            for function in ops.filter_map(Func::cast).filter_map(|func| func.name().ok()) {
                cases.push(Case {
                    name: format!("{} @{function}", file.name),
                    text: text.to_owned(),
                    function: function.to_string(),
                    machine: file.machine.clone(),
                });
            }
        }
    }
    cases
}

/// Runs passes.
pub(crate) fn passes(ctx: &Context, mut module: Module, pipeline: &str) -> Result<Module, String> {
    let pipeline = Pipeline::parse(pipeline, &standard_passes()).expect("a pipeline");
    let ran = PassManager::new(&pipeline, &standard_passes()).run(ctx, &mut module, &mut Silent);
    ran.map(|_| module).map_err(|failure| {
        let findings = match failure.cause {
            Cause::Level(finding) => vec![finding],
            Cause::Refused(findings) | Cause::Invalid(findings) => findings,
            Cause::WrongLevel { .. } | Cause::NotPreserved(_) | Cause::Panicked(_) => {
                return format!("{:?}", failure.cause);
            }
        };
        let first = findings.into_iter().next();
        let notes = |error: visa_ir::diag::Diagnostic| {
            let notes: Vec<_> = error.notes.iter().map(|note| format!("\n      {}", note.message)).collect();
            format!("{}: {}{}", error.code, error.message, notes.concat())
        };
        first.map_or_else(|| "refused without a reason".to_owned(), notes)
    })
}
