//! The text of every `.visa` file in this tree that parses: printing and parsing is a fixed point in both forms, and real
//! mlir-opt, where it is installed, reads the generic form and prints what is the same module to us.

use rayon::prelude::*;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{fs, thread};

use visa_ir::context::Context;
use visa_ir::module::Module;
use visa_ir::parse::parse;
use visa_ir::print::{Form, print};
use visa_ir::span::Source;
use visa_ir::verify::{has_errors, same};
use visa_test::Environment;

/// What separates the modules of a file (`--split-input-file`).
const SEPARATOR: &str = "// -----";

/// Folders without modules of ours: the fuzzer's inputs, and build products.
const SKIPPED: [&str; 2] = ["fuzz", "target"];

/// The modules that must at least be found: a wrong path must not pass for a good result.
const LEAST_MODULES: usize = 100;

fn visa_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a readable folder") {
        let path = entry.expect("a readable entry").path();
        let skipped = SKIPPED.iter().any(|name| path.ends_with(name));
        if path.is_dir() && !skipped {
            visa_files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "visa") {
            found.push(path);
        }
    }
}

/// The texts between separator lines.
fn modules(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    lines.split(|line| line.trim_end() == SEPARATOR).map(|lines| lines.join("\n")).collect()
}

fn read(ctx: &Context, text: &str) -> Option<Module> {
    let source = Source::new("text", text.to_owned());
    let parsed = parse(ctx, &source, 0..text.len());
    (!has_errors(&parsed.diagnostics)).then_some(parsed.module)
}

/// Prints and parses in one form, twice.
fn check_form(ctx: &Context, module: &Module, form: Form, place: &str) {
    let once = print(ctx, module, form);
    let again =
        read(ctx, &once).unwrap_or_else(|| panic!("{place}: what is printed does not parse:\n{once}"));
    assert!(same(ctx, module, &again), "{place}: what is printed is another module:\n{once}");
    assert_eq!(once, print(ctx, &again, form), "{place}: printing is no fixed point");
}

/// One run of mlir-opt over all modules of a file.
fn through_mlir(program: &Path, texts: &[String], place: &str) -> Vec<String> {
    let mut command = Command::new(program);
    command.args(["--allow-unregistered-dialect", "--split-input-file"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("mlir-opt starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    let input = texts.join(&format!("\n{SEPARATOR}\n"));
    // Written beside reading, so that neither pipe fills up while the other waits.
    let writer = thread::spawn(move || std::io::Write::write_all(&mut stdin, input.as_bytes()));
    let output = child.wait_with_output().expect("mlir-opt ends");
    writer.join().expect("the writer ends").expect("mlir-opt reads its input");
    assert!(output.status.success(), "{place}: {}", String::from_utf8_lossy(&output.stderr));
    modules(&String::from_utf8(output.stdout).expect("mlir-opt prints UTF-8"))
}

/// Checks the modules of one file that parse, and says how many they are.
fn check_file(path: &Path, mlir_opt: Option<&Path>) -> usize {
    // Files that are no text are bad input on purpose.
    let Ok(text) = fs::read_to_string(path) else { return 0 };
    let place = path.display().to_string();
    let ctx = Context::new(&visa_opt::standard_dialects());
    let found: Vec<Module> = modules(&text).iter().filter_map(|text| read(&ctx, text)).collect();
    for module in &found {
        check_form(&ctx, module, Form::Pretty, &place);
        check_form(&ctx, module, Form::Generic, &place);
    }
    if let (Some(program), false) = (mlir_opt, found.is_empty()) {
        let texts: Vec<String> = found.iter().map(|module| print(&ctx, module, Form::Generic)).collect();
        let printed = through_mlir(program, &texts, &place);
        assert_eq!(printed.len(), found.len(), "{place}: mlir-opt prints another number of modules");
        for (module, text) in found.iter().zip(&printed) {
            let back = read(&ctx, text)
                .unwrap_or_else(|| panic!("{place}: mlir-opt's text does not parse:\n{text}"));
            assert!(same(&ctx, module, &back), "{place}: mlir-opt's text is another module:\n{text}");
        }
    }
    found.len()
}

#[test]
#[expect(clippy::print_stdout, reason = "a check that is skipped says so")]
fn every_file_prints_and_parses_to_itself_and_through_mlir_opt() {
    let environment = Environment::detect();
    if let Err(missing) = environment.check() {
        panic!("{missing}");
    }
    if environment.mlir_opt.is_none() {
        println!("mlir-opt (LLVM 22) is not installed: the generic form is not shown to it");
    }
    let mut files = Vec::new();
    visa_files(Path::new(env!("CARGO_MANIFEST_DIR")), &mut files);
    let count: usize = files.par_iter().map(|path| check_file(path, environment.mlir_opt.as_deref())).sum();
    assert!(
        count >= LEAST_MODULES,
        "{count} modules in {} files, expected at least {LEAST_MODULES}",
        files.len()
    );
}

#[test]
fn modules_lie_between_separator_lines() {
    assert_eq!(modules("a\nb"), ["a\nb"]);
    assert_eq!(modules("a\n// -----\n// -----// no\nb\n"), ["a", "// -----// no\nb"]);
}
