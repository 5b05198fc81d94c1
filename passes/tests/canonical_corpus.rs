//! The two passes over every module of `test/` that verifies: it still verifies, each type and clause holds the
//! same cells as before, and a second run changes nothing.

#![expect(clippy::disallowed_methods, reason = "clauses are compared whatever they are called")]

use std::fs;
use std::path::{Path, PathBuf};

use visa_algebra::{Axes, Equality, Expr, equal};
use visa_ir::context::Context;
use visa_ir::decl::Dialect;
use visa_ir::module::Module;
use visa_ir::parse::parse;
use visa_ir::print::{Form, print};
use visa_ir::span::Source;
use visa_ir::verify::{Analysis, has_errors, verify};
use visa_mapping::Tensor;
use visa_mapping::facts::DeclaredAxes;
use visa_pass::{PassManager, Pipeline, Silent};
use visa_passes::standard_passes;

const DIALECTS: [&Dialect; 4] =
    [&visa_mapping::DIALECT, &visa_stream::DIALECT, &visa_sequencer::DIALECT, &visa_hw::DIALECT];
const PASSES: &str = "canonicalize-mappings,simplify-types";

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let (folders, files): (Vec<PathBuf>, Vec<PathBuf>) = entries.partition(|path| path.is_dir());
    let below = folders.iter().flat_map(|folder| files_of(folder));
    files.into_iter().chain(below).filter(|path| path.extension().is_some_and(|e| e == "visa")).collect()
}

fn files_of(folder: &Path) -> Vec<PathBuf> {
    files(folder)
}

/// The mappings of the module, in order, or nothing for a clause that has none.
fn mappings(ctx: &Context, module: &Module) -> Vec<Expr> {
    let mut found = Vec::new();
    for id in module.walk_all() {
        let op = module.op(ctx, id);
        found
            .extend(op.clauses().iter().filter_map(|clause| Some((*op.body::<Expr>(&clause.name)?).clone())));
        let args = op.regions().iter().flat_map(|&region| module.args(region));
        for &value in op.results().iter().chain(args) {
            let tensor = ctx.type_value::<Tensor>(module.ty(value));
            found.extend(tensor.into_iter().flat_map(|tensor| tensor.maps.clone()));
        }
    }
    found
}

fn run(ctx: &Context, module: &mut Module) {
    let pipeline = Pipeline::parse(PASSES, &standard_passes()).unwrap();
    let ran = PassManager::new(&pipeline, &standard_passes()).run(ctx, module, &mut Silent);
    ran.unwrap_or_else(|failure| panic!("{:?}\n{}", failure.cause, print(ctx, module, Form::Pretty)));
}

fn same(before: &[Expr], after: &[Expr], axes: &Axes) -> usize {
    assert_eq!(before.len(), after.len());
    for (before, after) in before.iter().zip(after) {
        assert!(!matches!(equal(before, after, axes), Equality::Different { .. }), "{before} became {after}");
    }
    before.iter().zip(after).filter(|(before, after)| before != after).count()
}

#[test]
fn modules_stay_right_and_passes_are_idempotent() {
    let (mut modules, mut changed) = (0, 0);
    for file in files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../test")) {
        let text = fs::read_to_string(&file).unwrap();
        for part in text.split("// -----") {
            let ctx = Context::new(&DIALECTS);
            let parsed = parse(&ctx, &Source::new("test", part), 0..part.len());
            let mut module = parsed.module;
            if has_errors(&parsed.diagnostics) || has_errors(&verify(&ctx, &module)) {
                continue;
            }
            let axes = DeclaredAxes::build(&ctx, &module).0;
            let before = mappings(&ctx, &module);
            run(&ctx, &mut module);
            changed += same(&before, &mappings(&ctx, &module), &axes);
            modules += 1;
            let once = print(&ctx, &module, Form::Generic);
            run(&ctx, &mut module);
            assert_eq!(print(&ctx, &module, Form::Generic), once, "{}", file.display());
        }
    }
    assert!(modules > 100 && changed > 20, "{modules} modules, {changed} mappings changed");
}
