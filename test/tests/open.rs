//! Every kernel and book case with its clauses left open, all together and those of some operations only: it
//! verifies, prints and parses to itself in both forms, mlir-opt reads it, and lowering refuses it with an error
//! that names the clause.

use rayon::prelude::*;
use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{fs, thread};
use visa_ir::context::Context;
use visa_ir::decl::ClauseDecl;
use visa_ir::module::{Module, OpRef};
use visa_ir::open::{self, Opening, open_up};
use visa_ir::parse::parse;
use visa_ir::print::{Form, print};
use visa_ir::span::Source;
use visa_ir::verify::{has_errors, same, verify};
use visa_pass::{Cause, PassManager, Pipeline, Silent};
use visa_passes::standard_passes;
use visa_test::Environment;

/// The least number of modules with holes: a wrong path must not pass for a good result.
const LEAST_MODULES: usize = 100;

/// Files whose modules one run of mlir-opt reads.
const FILES_A_RUN: usize = 16;

/// A module's operations get holes in so many parts, each by itself: an open operation after a closed one, and the
/// other way round.
const PARTS: usize = 3;

fn read(ctx: &Context, text: &str) -> Option<Module> {
    let source = Source::new("text", text.to_owned());
    let parsed = parse(ctx, &source, 0..text.len());
    (!has_errors(&parsed.diagnostics)).then_some(parsed.module)
}

fn with_holes(ctx: &Context, module: &Module, wanted: impl Fn(OpRef<'_>, &ClauseDecl) -> bool) -> Module {
    let mut module = module.clone();
    open_up(ctx, &mut module, wanted).expect("types follow");
    module
}

/// An open module verifies, and both forms are fixed points. Returns its generic form.
fn check_open(ctx: &Context, module: &Module, place: &str) -> String {
    let found = verify(ctx, module);
    assert!(!has_errors(&found), "{place}: {found:?}\n{}", print(ctx, module, Form::Pretty));
    for form in [Form::Pretty, Form::Generic] {
        let once = print(ctx, module, form);
        let again = read(ctx, &once).unwrap_or_else(|| panic!("{place}: does not parse:\n{once}"));
        assert!(same(ctx, module, &again), "{place}: another module:\n{once}");
        assert_eq!(once, print(ctx, &again, form), "{place}");
    }
    print(ctx, module, Form::Generic)
}

/// Lowering refuses an open module, and says which clause is open.
fn check_refused(ctx: &Context, module: &Module, place: &str) {
    let Some((id, clause)) = open::first(ctx, module, |_| true) else { return };
    let passes = standard_passes();
    let pipeline = Pipeline::parse("lower-to-seq", &passes).expect("a pipeline");
    let failure = PassManager::new(&pipeline, &passes)
        .run(ctx, &mut module.clone(), &mut Silent)
        .expect_err("an open module is not lowered");
    let Cause::Refused(findings) = failure.cause else { panic!("{place}: {:?}", failure.cause) };
    let wanted = format!("clause `{}` of `{}` is open", clause.name, module.op(ctx, id));
    assert!(findings.iter().any(|finding| finding.message.starts_with(&wanted)), "{place}: {findings:?}");
}

/// The sources of a folder of tests whose modules verify.
fn sources(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let entries = fs::read_dir(folder).expect("a readable folder");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("a readable entry").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "visa"));
    paths.sort();
    paths
}

/// What mlir-opt prints for each of `texts`.
fn through_mlir(program: &Path, texts: &[String]) -> Vec<String> {
    let mut command = Command::new(program);
    command.args(["--allow-unregistered-dialect", "--split-input-file"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("mlir-opt starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    let input = texts.join("\n// -----\n");
    let writer = thread::spawn(move || stdin.write_all(input.as_bytes()));
    let output = child.wait_with_output().expect("mlir-opt ends");
    writer.join().expect("the writer ends").expect("mlir-opt reads its input");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let printed = String::from_utf8(output.stdout).expect("mlir-opt prints UTF-8");
    printed.split("// -----\n").map(str::to_owned).collect()
}

/// Opens what a file's modules have, in every way. Returns them with every clause open.
fn check_file(ctx: &Context, path: &Path) -> Vec<Open> {
    let text = fs::read_to_string(path).expect("a readable file");
    let place = path.display().to_string();
    let mut found = Vec::new();
    for text in text.split("// -----\n") {
        let Some(module) = read(ctx, text).filter(|module| verify(ctx, module).is_empty()) else {
            continue;
        };
        let all = with_holes(ctx, &module, |_, _| true);
        if open::first(ctx, &all, |_| true).is_none() {
            continue;
        }
        let generic = check_open(ctx, &all, &place);
        check_refused(ctx, &all, &place);
        check_open(ctx, &with_holes(ctx, &module, |_, clause| clause.opening == Opening::Address), &place);
        let ids = module.walk_all();
        for part in 0..PARTS {
            let ids: BTreeSet<_> = ids.iter().skip(part).step_by(PARTS).collect();
            let some = with_holes(ctx, &module, |op, _| ids.contains(&op.id));
            check_open(ctx, &some, &place);
            check_refused(ctx, &some, &place);
        }
        found.push(Open { module: all, generic, place: place.clone() });
    }
    found
}

/// A module with every clause open, and its generic form.
struct Open {
    module: Module,
    generic: String,
    place: String,
}

/// Checks some files, and says how many modules they have.
fn check_files(paths: &[PathBuf], mlir_opt: Option<&Path>) -> usize {
    let ctx = Context::new(&visa::Registry::standard().dialects);
    let found: Vec<_> = paths.iter().flat_map(|path| check_file(&ctx, path)).collect();
    if let (Some(program), false) = (mlir_opt, found.is_empty()) {
        let texts: Vec<_> = found.iter().map(|open| open.generic.clone()).collect();
        let printed = through_mlir(program, &texts);
        assert_eq!(printed.len(), found.len(), "mlir-opt prints another number of modules");
        for (Open { module, place, .. }, printed) in found.iter().zip(&printed) {
            let back = read(&ctx, printed).unwrap_or_else(|| panic!("{place}: does not parse:\n{printed}"));
            assert!(same(&ctx, module, &back), "{place}: mlir-opt's text is another module:\n{printed}");
        }
    }
    found.len()
}

#[test]
fn open_modules_verify_print_and_parse_and_are_not_lowered() {
    let environment = Environment::detect();
    if let Err(missing) = environment.check() {
        panic!("{missing}");
    }
    let folders = ["kernels", "book", "dialects/mapping", "dialects/stream"];
    let files: Vec<_> = folders.iter().flat_map(|folder| sources(folder)).collect();
    let groups = files.par_chunks(FILES_A_RUN);
    let count: usize = groups.map(|paths| check_files(paths, environment.mlir_opt.as_deref())).sum();
    assert!(count >= LEAST_MODULES, "{count} modules, expected at least {LEAST_MODULES}");
}
