//! The command line as a function: a run in a test and a run in a process are the same run.

use crate::export::{Exported, Options, rust};
use crate::version::Version;
use clap::{Parser, Subcommand};
use visa_files::FileRoles;
use visa_ir::Word;
use visa_ir::diag::{Diagnostic, Severity};
use visa_ir::level::Level;
use visa_ir::span::{Source, Span};
use visa_opt::{Io, Registry, Renderer, load_module, read_source};

/// Writes kernels of textual IR in the languages of others.
#[derive(Parser)]
#[command(name = "visa-export", version)]
struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Kernels of memory level as functions of the vendor's Rust toolchain, marked `#[device]`
    Rust(RustArgs),
}

#[derive(clap::Args)]
struct RustArgs {
    /// A file of textual IR; `-` is standard input
    file: String,
    /// Export this kernel alone, or this host program with the kernels that it launches
    #[arg(long)]
    entry: Option<String>,
    /// Write here instead of standard output
    #[arg(short)]
    output: Option<String>,
    /// Version of the vendor's crates: 0.6, 0.8 or 0.10
    #[arg(long = "for", default_value_t = Version::DEFAULT.word().to_owned())]
    version: String,
    /// Overwrite the output even if it is the input
    #[arg(long)]
    force: bool,
}

/// Runs on `args` (without the program's name). Returns the exit code: 0 if all was exported, 1 if something was not,
/// 2 for a wrong command line.
pub fn run(args: &[String], io: &mut Io) -> i32 {
    let program = std::iter::once("visa-export".to_owned());
    let Command::Rust(args) = match Args::try_parse_from(program.chain(args.iter().cloned())) {
        Ok(args) => args.command,
        Err(stop) => {
            let stream = if stop.use_stderr() { &mut io.stderr } else { &mut io.stdout };
            stream.extend(stop.to_string().into_bytes());
            return stop.exit_code();
        }
    };
    let refuse = |io: &mut Io, source: Option<&Source>, findings: &[Diagnostic]| {
        Renderer::Text.emit(io, source, findings);
        1
    };
    let version = match version(&args.version) {
        Ok(version) => version,
        Err(finding) => return refuse(io, None, &[finding]),
    };
    if let Some(finding) = shared(&args, io) {
        return refuse(io, None, &[finding]);
    }
    if args.file.ends_with(".rs") {
        let message = format!("`{}` is Rust, expected textual IR", args.file);
        let fix = "import it first, as by `visa-import rust`".to_owned();
        return refuse(io, None, &[Diagnostic::error("export", Span::default(), message).fix(Some(fix))]);
    }
    let source = match read_source(io, &args.file) {
        Ok(source) => source,
        Err((source, finding)) => return refuse(io, Some(&source), &[finding]),
    };
    let options = Options { version: Some(version), entry: args.entry.clone() };
    match exported(&source, &options) {
        Ok((exported, findings)) => finish(io, &source, &args, &exported, &findings),
        Err(findings) => refuse(io, Some(&source), &findings),
    }
}

/// The export of a source, and the warnings of its verification.
fn exported(source: &Source, options: &Options) -> Result<(Exported, Vec<Diagnostic>), Vec<Diagnostic>> {
    let ctx = Registry::standard().context()?;
    let loaded = load_module(&ctx, source, 0..source.text.len());
    let Some(module) = loaded.module else { return Err(loaded.findings) };
    match Level::of(&ctx, &module) {
        Level::Any | Level::Memory | Level::Tensor => {}
        found @ (Level::Sequencer | Level::Hardware) => {
            let message = format!("the text is at {found} level, expected memory level");
            let finding = Diagnostic::error("export", Span::default(), message);
            let fix = "export the text before `--lower-to-seq`";
            return Err(vec![finding.fix(Some(fix.to_owned()))]);
        }
    }
    let exported = rust(&ctx, &module, source, options).map_err(|finding| vec![finding])?;
    Ok((exported, loaded.findings))
}

/// Reports refusals and notes, and writes the file.
fn finish(
    io: &mut Io,
    source: &Source,
    args: &RustArgs,
    exported: &Exported,
    findings: &[Diagnostic],
) -> i32 {
    Renderer::Text.emit(io, Some(source), findings);
    let refused: Vec<Diagnostic> = exported.refused().cloned().collect();
    Renderer::Text.emit(io, Some(source), &refused);
    let mut code = i32::from(!refused.is_empty());
    if refused.len() == exported.functions.len() {
        return code;
    }
    if let Some(note) = exported.notes().text() {
        let mut finding = Diagnostic::error("export", Span::default(), note);
        finding.severity = Severity::Remark;
        Renderer::Text.emit(io, None, &[finding]);
    }
    if let Err(why) = io.write(args.output.as_deref().unwrap_or("-"), exported.text.as_bytes()) {
        let output = args.output.as_deref().unwrap_or_default();
        let finding = Diagnostic::error("export", Span::default(), format!("cannot write `{output}`: {why}"));
        Renderer::Text.emit(io, None, &[finding]);
        code = 1;
    }
    code
}

/// The version that a text names.
fn version(text: &str) -> Result<Version, Diagnostic> {
    Version::from_word(text).ok_or_else(|| {
        let message = format!("there is no version `{text}` of the vendor's crates that is exported to");
        let fix = format!("the versions are {}", Version::WORDS.join(", "));
        Diagnostic::error("export", Span::default(), message).fix(Some(fix))
    })
}

/// An error if the output is the input, unless it may be overwritten.
fn shared(args: &RustArgs, io: &Io) -> Option<Diagnostic> {
    let output = args.output.as_ref().filter(|_| !args.force)?;
    let mut roles = FileRoles::new("");
    roles.input(&*args.file, io.path(&args.file));
    roles.output(format!("-o {output}"), io.path(output));
    let finding = visa_opt::shared_files(&roles).into_iter().next()?;
    Some(finding.fix(Some("give another output, or `--force` to overwrite the input".to_owned())))
}
