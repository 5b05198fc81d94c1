//! The command line.

use crate::import::Precision;
use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgMatches, Command};
use visa_ir::Word;
use visa_opt::Renderer;

use crate::export::command as export;

/// The flags of `verify`.
pub(crate) struct Flags {
    pub(crate) files: Vec<String>,
    pub(crate) registered: bool,
    pub(crate) split: bool,
    pub(crate) machine: Option<String>,
    pub(crate) renderer: Renderer,
}

/// The flags of `import`.
pub(crate) struct ImportFlags {
    pub(crate) file: String,
    pub(crate) output: String,
    pub(crate) precision: Option<Precision>,
    /// The output may be the input.
    pub(crate) force: bool,
    pub(crate) renderer: Renderer,
}

/// The command that is asked for.
pub(crate) enum Asked {
    Verify(Flags),
    Import(ImportFlags),
    Export(export::Flags),
}

/// Reason why nothing is run: wrong flags (code 1), or `--help` and the like (code 0).
pub(crate) struct Stop {
    pub(crate) message: String,
    pub(crate) code: i32,
}

/// Reads the command line.
pub(crate) fn parse(args: &[String]) -> Result<Asked, Stop> {
    let name = std::iter::once("visa-mlir".to_owned());
    let matches = command().try_get_matches_from(name.chain(args.iter().cloned())).map_err(|error| {
        let code = i32::from(error.use_stderr());
        Stop { message: error.render().to_string(), code }
    })?;
    match matches.subcommand() {
        Some(("verify", asked)) => Ok(Asked::Verify(flags(asked))),
        Some(("export", asked)) => Ok(Asked::Export(export::flags(asked))),
        Some(("import", asked)) => Ok(Asked::Import(import_flags(asked))),
        Some(_) | None => Err(Stop { message: command().render_help().to_string(), code: 1 }),
    }
}

fn renderer(matches: &ArgMatches) -> Renderer {
    match matches.get_one::<String>("diagnostics").map(String::as_str) {
        Some("json") => Renderer::Json,
        Some(_) | None => Renderer::Text,
    }
}

fn import_flags(matches: &ArgMatches) -> ImportFlags {
    let text = |name| matches.get_one::<String>(name).cloned();
    ImportFlags {
        file: text("file").unwrap_or_default(),
        output: text("output").unwrap_or_else(|| "-".to_owned()),
        precision: text("contract").and_then(|word| Precision::from_word(&word)),
        force: matches.get_flag("force"),
        renderer: renderer(matches),
    }
}

fn flags(matches: &ArgMatches) -> Flags {
    Flags {
        files: matches.get_many("file").into_iter().flatten().cloned().collect(),
        registered: matches.get_flag("registered"),
        split: matches.get_flag("split-input-file"),
        machine: matches.get_one("machine").cloned(),
        renderer: renderer(matches),
    }
}

fn command() -> Command {
    Command::new("visa-mlir")
        .version(env!("CARGO_PKG_VERSION"))
        .about("Checks modules of the Virtual ISA with MLIR, and converts them from and to linalg")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .disable_help_subcommand(true)
        .subcommand(verify())
        .subcommand(export::command())
        .subcommand(import())
}

fn diagnostics() -> Arg {
    Arg::new("diagnostics")
        .long("diagnostics")
        .value_name("FORMAT")
        .help("How findings are written")
        .value_parser(["text", "json"])
        .default_value("text")
}

fn import() -> Command {
    Command::new("import")
        .about("Imports linalg on tensors, as text or bytecode, as functions of the tensor level")
        .arg(Arg::new("file").value_name("FILE").required(true).help("The module; - is standard input"))
        .arg(
            Arg::new("output")
                .short('o')
                .value_name("OUT")
                .help("The file to write; the default is standard output"),
        )
        .arg(
            Arg::new("contract")
                .long("contract")
                .value_name("PRECISION")
                .value_parser(PossibleValuesParser::new(Precision::WORDS))
                .help("Products of f32 in contractions: of operands rounded to bf16, or three products of bf16 parts"),
        )
        .arg(
            Arg::new("force")
                .long("force")
                .help("Overwrite the input if it is also the output")
                .action(ArgAction::SetTrue),
        )
        .arg(diagnostics())
}

fn verify() -> Command {
    let flag = |name: &'static str, help: &'static str| {
        Arg::new(name).long(name).help(help).action(ArgAction::SetTrue)
    };
    let value = |name: &'static str, value: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name(value).help(help)
    };
    Command::new("verify")
        .about("Verifies modules against the declarations of visa, loaded into MLIR as IRDL")
        .arg(
            Arg::new("file")
                .value_name("FILE")
                .required(true)
                .num_args(1..)
                .help("Files; - is standard input"),
        )
        .arg(flag(
            "registered",
            "The files are what `visa-opt --print-registered` prints: MLIR reads them as they are",
        ))
        .arg(flag("split-input-file", "Treat the parts between lines `// -----` as modules of their own"))
        .arg(
            value(
                "machine",
                "NAME|FILE",
                "Machine that visa's own verifier reads limits from; the default is rngd",
            )
            .conflicts_with("registered"),
        )
        .arg(diagnostics())
}
