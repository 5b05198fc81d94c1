//! Checks modules with MLIR, imports modules of linalg ([`mod@import`]), and exports functions as linalg.
//!
//! For the check, the declarations of the dialects become IRDL ([`visa_ir::irdl::emit`]), which an MLIR context in
//! this process loads. Modules become text that it can check against them ([`visa_ir::irdl::registered`]).
//!
//! [`run`] does all of it, from arguments and bytes to bytes and an exit code.

mod export;
mod flags;
pub mod import;
pub mod mlir;

use flags::{Asked, Flags, ImportFlags};
use mlir::{Finding, Mlir};
use std::ops::Range;
use visa_files::FileRoles;
use visa_ir::context::Context;
use visa_ir::diag::{Diagnostic, counted};
use visa_ir::irdl::{emit, registered};
use visa_ir::parse::limits;
use visa_ir::span::{Source, Span};
use visa_ir::verify::has_errors;
use visa_opt::{Io, load_machine, load_module, read_source, shared_files, split, standard_dialects};

/// The code of MLIR's findings.
const CODE: &str = "mlir";

/// Runs on `args` (without the program's name). Returns the exit code: 0 if MLIR takes every module, or
/// all functions are exported, else 1.
pub fn run(args: &[String], io: &mut Io) -> i32 {
    let asked = match flags::parse(args) {
        Ok(asked) => asked,
        Err(stop) => {
            let stream = if stop.code == 0 { &mut io.stdout } else { &mut io.stderr };
            stream.extend(stop.message.into_bytes());
            return stop.code;
        }
    };
    let (renderer, done) = match asked {
        Asked::Verify(flags) => (flags.renderer, verify(&flags, io)),
        Asked::Import(flags) => (flags.renderer, import_file(&flags, io)),
        Asked::Export(flags) => return export::command::run(&flags, io),
    };
    match done {
        Ok(held) => i32::from(!held),
        Err(finding) => {
            renderer.emit(io, None, &[finding]);
            1
        }
    }
}

/// Imports a file. Returns true if its module is written.
fn import_file(flags: &ImportFlags, io: &mut Io) -> Result<bool, Diagnostic> {
    if !flags.force && flags.output != "-" {
        let mut roles = FileRoles::new("");
        roles.input(&*flags.file, io.path(&flags.file));
        roles.output(format!("-o {}", flags.output), io.path(&flags.output));
        if let Some(finding) = shared_files(&roles).into_iter().next() {
            return Err(finding.fix("give another output, or `--force` to overwrite the input".to_owned()));
        }
    }
    let imported = import::import(io, &flags.file, flags.precision)?;
    flags.renderer.emit(io, Some(&imported.source), &imported.findings);
    let Some(text) = imported.text else { return Ok(false) };
    match io.write(&flags.output, text.as_bytes()) {
        Ok(()) => Ok(true),
        Err(why) => {
            let message = format!("cannot write `{}`: {why}", flags.output);
            Err(Diagnostic::error("file", Span::default(), message))
        }
    }
}

/// Verifies all files. Returns whether all of them are right.
fn verify(flags: &Flags, io: &mut Io) -> Result<bool, Diagnostic> {
    let mut ctx = Context::new(&standard_dialects());
    if let Some(name) = &flags.machine {
        ctx.set_data(load_machine(io, name)?);
    }
    let mlir = Mlir::new(&emit(&standard_dialects())).map_err(|found| not_loaded(&found))?;
    let (mut modules, mut held) = (0, true);
    for name in &flags.files {
        match read_source(io, name) {
            Ok(source) => {
                let parts = parts(flags, &source);
                modules += parts.len();
                held &= verify_parts(flags, io, &mlir, &ctx, &source, parts);
            }
            Err((source, finding)) => {
                flags.renderer.emit(io, Some(&source), &[finding]);
                held = false;
            }
        }
    }
    if held {
        let (modules, files) = (counted(modules, "module"), counted(flags.files.len(), "file"));
        io.stdout.extend(format!("MLIR verifies {modules} of {files}\n").into_bytes());
    }
    Ok(held)
}

/// The modules of a text.
fn parts(flags: &Flags, source: &Source) -> Vec<Range<usize>> {
    if flags.split { split(&source.text) } else { std::iter::once(0..source.text.len()).collect() }
}

/// Verifies the modules of a text, and writes the findings. Returns true if all of them are right.
fn verify_parts(
    flags: &Flags,
    io: &mut Io,
    mlir: &Mlir,
    ctx: &Context,
    source: &Source,
    parts: Vec<Range<usize>>,
) -> bool {
    let mut held = true;
    for range in parts {
        let findings = if flags.registered {
            check_text(mlir, source, range)
        } else {
            check_module(mlir, ctx, source, range)
        };
        held &= !has_errors(&findings);
        flags.renderer.emit(io, Some(source), &findings);
    }
    held
}

/// Dialects that MLIR does not load.
fn not_loaded(found: &[Finding]) -> Diagnostic {
    let message = "MLIR does not load the dialects: a mistake in what `visa-opt --emit-irdl` prints";
    let error = Diagnostic::error("irdl", Span::default(), message);
    found.iter().fold(error, |error, finding| error.note(&finding.message, None))
}

/// The findings of visa, and then of MLIR, in a module of ours.
fn check_module(mlir: &Mlir, ctx: &Context, source: &Source, range: Range<usize>) -> Vec<Diagnostic> {
    let loaded = load_module(ctx, source, range.clone());
    let mut findings = loaded.findings;
    if let Some(module) = loaded.module {
        let printed = registered(ctx, &module);
        findings.extend(mlir.verify(&printed.text).into_iter().map(|finding| {
            let line = finding.place.and_then(|(line, _)| printed.places.get(line.checked_sub(1)?).copied());
            diagnostic(finding, line.flatten().unwrap_or(Span::new(range.start..range.start)))
        }));
    }
    findings
}

/// The findings of MLIR in a text that it reads unchanged.
fn check_text(mlir: &Mlir, source: &Source, range: Range<usize>) -> Vec<Diagnostic> {
    let text = &source.text[range.clone()];
    // MLIR's parser calls itself for each bracket.
    if let Err(finding) = limits::check(text, range.start) {
        return vec![finding];
    }
    let part = Source::new("", text);
    let place = |(line, column): (usize, usize)| {
        let line = part.line_range(line)?;
        let start = (line.start + column.saturating_sub(1)).min(line.end);
        Some(Span::new(range.start + start..range.start + (start + 1).min(line.end)))
    };
    let whole = Span::new(range.start..range.start);
    let findings = mlir.verify(text).into_iter();
    findings
        .map(|finding| diagnostic(finding.clone(), finding.place.and_then(place).unwrap_or(whole)))
        .collect()
}

fn diagnostic(finding: Finding, span: Span) -> Diagnostic {
    let error = Diagnostic { severity: finding.severity, ..Diagnostic::error(CODE, span, finding.message) };
    finding.notes.iter().fold(error, |error, note| error.note(note.trim_end(), None))
}
