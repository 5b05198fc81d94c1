//! Every module of every `.visa` file under test/.

use crate::{dialects, messages, mlir, root};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use visa_ir::context::Context;
use visa_ir::irdl::registered;
use visa_ir::span::Source;
use visa_mlir::mlir::Mlir;
use visa_opt::{load_machine, load_module, split};

/// Folders without modules of ours: the fuzzer's inputs, and build products.
const SKIPPED: [&str; 2] = ["fuzz", "target"];

/// The modules that must at least be verified: a wrong path must not pass for a good result.
const LEAST_MODULES: usize = 840;

/// The machines that a module may be written for.
const MACHINES: [&str; 2] = ["rngd", "rngd-s"];

/// Result for a part of a file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Outcome {
    Verified,
    /// Wrong on purpose: the part lists the errors that visa finds in it.
    ExpectsErrors,
}

fn visa_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a readable folder") {
        let path = entry.expect("a readable entry").path();
        if path.is_dir() && !SKIPPED.iter().any(|name| path.ends_with(name)) {
            visa_files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "visa") {
            found.push(path);
        }
    }
}

fn contexts() -> Vec<Context> {
    let context = |name: &&str| {
        let mut ctx = Context::new(&dialects());
        ctx.set_data(load_machine(&mut visa_opt::Io::buffered([], root()), name).expect("a machine"));
        ctx
    };
    MACHINES.iter().map(context).collect()
}

/// Returns true if a file is the input of a test next to it, which lists its errors.
fn is_input(path: &Path) -> bool {
    path.parent().is_some_and(|folder| folder.ends_with("Inputs"))
}

/// The result for each part of a file. A part that visa refuses without being expected to is a failure.
fn check_file(mlir: &Mlir, path: &Path) -> Vec<Outcome> {
    let text = fs::read_to_string(path).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
    let contexts = contexts();
    let source = Source::new(path.display().to_string(), text);
    let outcome = |range: std::ops::Range<usize>| {
        let part = &source.text[range.clone()];
        let loaded =
            contexts.iter().find_map(|ctx| Some((ctx, load_module(ctx, &source, range.clone()).module?)));
        let Some((ctx, module)) = loaded else {
            assert!(
                part.contains("expected-error") || is_input(path),
                "{}: visa refuses a part that expects no error:\n{part}",
                path.display()
            );
            return Outcome::ExpectsErrors;
        };
        let printed = registered(ctx, &module);
        let said = messages(&mlir.verify(&printed.text));
        assert!(said.is_empty(), "{}: {said}\n{}", path.display(), printed.text);
        let placed = printed.places.iter().flatten().count();
        let ops = printed.text.lines().filter(|line| line.contains("\"(")).count() - 1;
        assert_eq!(placed, ops, "{}: operations without a place:\n{}", path.display(), printed.text);
        Outcome::Verified
    };
    split(&source.text).into_iter().map(outcome).collect()
}

#[test]
#[expect(clippy::print_stdout, reason = "what is skipped is counted and said")]
fn every_module_is_verified_or_is_wrong_on_purpose() {
    let (mlir, mut files) = (mlir(), Vec::new());
    visa_files(&root().join("test"), &mut files);
    let mut counts: BTreeMap<Outcome, usize> = BTreeMap::new();
    for file in &files {
        for outcome in check_file(&mlir, file) {
            *counts.entry(outcome).or_default() += 1;
        }
    }
    println!("{} files, by their parts: {counts:?}", files.len());
    let verified = counts.get(&Outcome::Verified).copied().unwrap_or(0);
    assert!(verified >= LEAST_MODULES, "{verified} modules verified, expected at least {LEAST_MODULES}");
}
