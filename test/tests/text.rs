//! The text of every `.visa` file in this tree that parses: printing and parsing is a fixed point in both forms,
//! and real mlir-opt, where it is installed, reads the generic form and prints what is the same module to us.

use rayon::prelude::*;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{fs, thread};

use visa_ir::context::Context;
use visa_ir::module::Module;
use visa_ir::parse::parse;
use visa_ir::print::{Form, print, print_located};
use visa_ir::span::Source;
use visa_ir::verify::{has_errors, same};
use visa_test::Environment;

/// What separates the modules of a file (`--split-input-file`).
const SEPARATOR: &str = "// -----";

/// Folders without modules of ours: the fuzzer's inputs, and build products.
const SKIPPED: [&str; 2] = ["fuzz", "target"];

/// The modules that must at least be found: a wrong path must not pass for a good result.
const LEAST_MODULES: usize = 100;

/// Files whose modules one run of mlir-opt reads: it takes longer to start than to read any of them.
const FILES_A_RUN: usize = 16;

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

/// Prints and parses with locations: those of the first text are there in what is read from the second, which is
/// not theirs.
fn check_locations(ctx: &Context, module: &Module, text: &str, form: Form, place: &str) {
    let once = located(ctx, module, form, text);
    let again =
        read(ctx, &once).unwrap_or_else(|| panic!("{place}: with locations it does not parse:\n{once}"));
    assert!(same(ctx, module, &again), "{place}: with locations it is another module:\n{once}");
    assert_eq!(once, located(ctx, &again, form, &once), "{place}: printing locations is no fixed point");
    let plain = print(ctx, module, form);
    assert_eq!(plain, print(ctx, &again, form), "{place}: locations are printed that nobody asked for");
    let longer = once.lines().zip(plain.lines()).all(|(line, plain)| {
        line.len() > plain.len()
            || [" ({", "^bb0:", "}, {"].iter().any(|end| line.ends_with(end))
            || line.ends_with('{')
    });
    assert!(longer, "{place}: a line has no location:\n{once}");
}

/// A module that was read from `text`, with locations.
fn located(ctx: &Context, module: &Module, form: Form, text: &str) -> String {
    print_located(ctx, module, form, &Source::new("text", text.to_owned()))
}

/// One run of mlir-opt over `texts`.
fn through_mlir(program: &Path, flags: &[&str], texts: &[String]) -> Vec<String> {
    let mut command = Command::new(program);
    command.args(["--allow-unregistered-dialect", "--split-input-file"]).args(flags);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("mlir-opt starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    let input = texts.join(&format!("\n{SEPARATOR}\n"));
    // Written beside reading, so that neither pipe fills up while the other waits.
    let writer = thread::spawn(move || std::io::Write::write_all(&mut stdin, input.as_bytes()));
    let output = child.wait_with_output().expect("mlir-opt ends");
    writer.join().expect("the writer ends").expect("mlir-opt reads its input");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    modules(&String::from_utf8(output.stdout).expect("mlir-opt prints UTF-8"))
}

/// A module that was read from `text`, with locations and without names of values, which mlir-opt gives anew.
fn nameless(ctx: &Context, module: &Module, text: &str) -> String {
    let mut module = module.clone();
    for id in module.walk_all() {
        for value in module.op(ctx, id).results().to_vec() {
            module.set_value_name(value, None);
        }
    }
    located(ctx, &module, Form::Pretty, text)
}

/// A module of a file.
struct ParsedModule {
    module: Module,
    text: String,
    place: String,
}

/// Sends modules through mlir-opt, without and with locations.
fn check_mlir(ctx: &Context, program: &Path, found: &[ParsedModule]) {
    let plain: Vec<_> = found.iter().map(|found| print(ctx, &found.module, Form::Generic)).collect();
    let full = found.iter().map(|found| located(ctx, &found.module, Form::Generic, &found.text));
    for (texts, flags) in [(plain, &[][..]), (full.collect(), &["--mlir-print-debuginfo"][..])] {
        let printed = through_mlir(program, flags, &texts);
        assert_eq!(printed.len(), found.len(), "mlir-opt prints another number of modules");
        for (ParsedModule { module, text, place }, printed) in found.iter().zip(&printed) {
            let back = read(ctx, printed)
                .unwrap_or_else(|| panic!("{place}: mlir-opt's text does not parse:\n{printed}"));
            assert!(same(ctx, module, &back), "{place}: mlir-opt's text is another module:\n{printed}");
            if !flags.is_empty() {
                let (sent, back) = (nameless(ctx, module, text), nameless(ctx, &back, printed));
                assert_eq!(sent, back, "{place}: mlir-opt's text has other locations");
            }
        }
    }
}

/// The modules of a file that parse.
fn modules_of(ctx: &Context, path: &Path) -> Vec<ParsedModule> {
    // Files that are no text are bad input on purpose.
    let Ok(text) = fs::read_to_string(path) else { return Vec::new() };
    let place = path.display().to_string();
    let found = modules(&text).into_iter();
    found
        .filter_map(|text| Some(ParsedModule { module: read(ctx, &text)?, text, place: place.clone() }))
        .collect()
}

/// Checks the modules of some files that parse, and says how many they are.
fn check_files(paths: &[PathBuf], mlir_opt: Option<&Path>) -> usize {
    let ctx = Context::new(&visa::Registry::standard().dialects);
    let found: Vec<_> = paths.iter().flat_map(|path| modules_of(&ctx, path)).collect();
    for ParsedModule { module, text, place } in &found {
        for form in [Form::Pretty, Form::Generic] {
            check_form(&ctx, module, form, place);
            check_locations(&ctx, module, text, form, place);
        }
    }
    if let (Some(program), false) = (mlir_opt, found.is_empty()) {
        check_mlir(&ctx, program, &found);
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
    let groups = files.par_chunks(FILES_A_RUN);
    let count: usize = groups.map(|paths| check_files(paths, environment.mlir_opt.as_deref())).sum();
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
