//! The functions of `test/kernels` and `test/book`.

use std::fs;
use std::path::Path;
use visa_ir::context::Context;
use visa_ir::module::Module;
use visa_ir::parse::parse;
use visa_ir::span::Source;
use visa_ir::verify::{has_errors, verify};
use visa_machine::Machine;
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
            if op.is(&visa_mapping::ops::func::FUNC)
                && op.symbol("name").is_none_or(|name| *name != *self.function)
            {
                module.erase(id);
            }
        }
        module
    }
}

fn context(machine: Option<&str>) -> Context {
    let mut ctx = Context::new(&visa_opt::standard_dialects());
    if let Some(machine) = machine.and_then(Machine::named) {
        ctx.set_data(machine);
    }
    ctx
}

/// The module of a text, if it verifies.
fn read(ctx: &Context, text: &str) -> Option<Module> {
    let parsed = parse(ctx, &Source::new("kernel", text.to_owned()), 0..text.len());
    let legal = !has_errors(&parsed.diagnostics) && !has_errors(&verify(ctx, &parsed.module));
    legal.then_some(parsed.module)
}

/// The machine that a file's `RUN` lines name.
fn machine(text: &str) -> Option<String> {
    let mut runs = text.lines().filter(|line| line.starts_with("// RUN:"));
    let named = runs.find_map(|line| line.split_whitespace().skip_while(|word| *word != "--machine").nth(1));
    named.filter(|name| Machine::named(name).is_some()).map(str::to_owned)
}

/// Every function of every file, by name. Kernels that are written in bytes already have nothing to open.
pub(crate) fn cases() -> Vec<Case> {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../test");
    let folders =
        ["book", "kernels"].map(|folder| fs::read_dir(tests.join(folder)).expect("a readable folder"));
    let entries = folders.into_iter().flatten();
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("a readable entry").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "visa"));
    paths.sort();
    let mut cases = Vec::new();
    for path in paths {
        let text = fs::read_to_string(&path).expect("a readable file");
        let (machine, file) = (machine(&text), path.file_stem().unwrap_or_default().to_string_lossy());
        let ctx = context(machine.as_deref());
        for text in text.split("// -----\n") {
            let Some(module) = read(&ctx, text) else { continue };
            let ops = module.ops(module.body()).iter().map(|&id| module.op(&ctx, id));
            for function in
                ops.filter(|op| op.is(&visa_mapping::ops::func::FUNC)).filter_map(|op| op.symbol("name"))
            {
                cases.push(Case {
                    name: format!("{file} @{function}"),
                    text: text.to_owned(),
                    function: function.to_string(),
                    machine: machine.clone(),
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
