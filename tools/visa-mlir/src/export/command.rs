//! The command `export`.

use clap::{Arg, ArgAction, ArgMatches, Command};
use visa_files::FileRoles;
use visa_ir::diag::Diagnostic;
use visa_ir::level::Level;
use visa_ir::span::{Source, Span};
use visa_opt::{Io, Registry, Renderer, load_module, read_source, shared_files};

use crate::export::mlir::refusals::CODE;
use crate::export::{Exported, linalg};

/// The flags of `export`.
pub(crate) struct Flags {
    file: String,
    entry: Option<String>,
    output: Option<String>,
    force: bool,
    renderer: Renderer,
}

/// The command and its flags.
pub(crate) fn command() -> Command {
    let value = |name: &'static str, value: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name(value).help(help)
    };
    Command::new("export")
        .about("Writes functions of the tensor level as linalg on tensors")
        .arg(
            Arg::new("file")
                .value_name("FILE")
                .required(true)
                .help("A file of the tensor level; - is standard input"),
        )
        .arg(value("entry", "NAME", "Export this function alone, with those that it calls"))
        .arg(
            Arg::new("output")
                .short('o')
                .value_name("OUT.mlir")
                .help("Write here instead of standard output"),
        )
        .arg(
            Arg::new("force")
                .long("force")
                .help("Overwrite the output even if it is the input")
                .action(ArgAction::SetTrue),
        )
        .arg(
            value("diagnostics", "FORMAT", "Format of findings")
                .value_parser(["text", "json"])
                .default_value("text"),
        )
}

/// Reads the flags.
pub(crate) fn flags(matches: &ArgMatches) -> Flags {
    let text = |name: &str| matches.get_one::<String>(name).cloned();
    Flags {
        file: text("file").unwrap_or_else(|| "-".to_owned()),
        entry: text("entry"),
        output: text("output"),
        force: matches.get_flag("force"),
        renderer: match text("diagnostics").as_deref() {
            Some("json") => Renderer::Json,
            Some(_) | None => Renderer::Text,
        },
    }
}

/// Runs the command. Returns the exit code: 0 if all was exported, else 1.
pub(crate) fn run(flags: &Flags, io: &mut Io) -> i32 {
    if let Some(finding) = shared(flags, io) {
        flags.renderer.emit(io, None, &[finding]);
        return 1;
    }
    let source = match read_source(io, &flags.file) {
        Ok(source) => source,
        Err((source, finding)) => {
            flags.renderer.emit(io, Some(&source), &[finding]);
            return 1;
        }
    };
    match exported(&source, flags) {
        Ok((exported, findings)) => {
            flags.renderer.emit(io, Some(&source), &findings);
            finish(flags, io, &source, &exported)
        }
        Err(findings) => {
            flags.renderer.emit(io, Some(&source), &findings);
            1
        }
    }
}

/// The export of a source, and the warnings of its verification.
fn exported(source: &Source, flags: &Flags) -> Result<(Exported, Vec<Diagnostic>), Vec<Diagnostic>> {
    let ctx = Registry::standard().context()?;
    let loaded = load_module(&ctx, source, 0..source.text.len());
    let Some(module) = loaded.module else { return Err(loaded.findings) };
    let level = Level::of(&ctx, &module);
    let fix = match level {
        Level::Any | Level::Tensor => None,
        Level::Memory => Some("write its computation with `visa-opt --raise FILE`, and export that"),
        Level::Sequencer | Level::Hardware => Some("export the text before `--lower-to-seq`"),
    };
    if let Some(fix) = fix {
        let message = format!("the text is at the {level} level, expected the tensor level");
        return Err(vec![Diagnostic::error(CODE, Span::default(), message).fix(fix.to_owned())]);
    }
    let exported = linalg(&ctx, &module, source, flags.entry.as_deref()).map_err(|finding| vec![finding])?;
    Ok((exported, loaded.findings))
}

/// Reports refusals, and writes the file.
fn finish(flags: &Flags, io: &mut Io, source: &Source, exported: &Exported) -> i32 {
    flags.renderer.emit(io, Some(source), &exported.refused);
    let mut code = i32::from(!exported.refused.is_empty());
    if exported.functions == 0 {
        return code;
    }
    if let Err(why) = io.write(flags.output.as_deref().unwrap_or("-"), exported.text.as_bytes()) {
        let output = flags.output.as_deref().unwrap_or("standard output");
        let finding = Diagnostic::error(CODE, Span::default(), format!("cannot write `{output}`: {why}"));
        flags.renderer.emit(io, None, &[finding]);
        code = 1;
    }
    code
}

/// An error if the output is the input, unless it may be overwritten.
fn shared(flags: &Flags, io: &Io) -> Option<Diagnostic> {
    let output = flags.output.as_ref().filter(|_| !flags.force)?;
    let mut roles = FileRoles::new("");
    roles.input(&*flags.file, io.path(&flags.file));
    roles.output(format!("-o {output}"), io.path(output));
    let finding = shared_files(&roles).into_iter().next()?;
    Some(finding.fix("give another output, or `--force` to overwrite the input".to_owned()))
}
