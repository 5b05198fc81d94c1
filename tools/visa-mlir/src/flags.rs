//! The command line.

use clap::{Arg, ArgAction, ArgMatches, Command};
use visa_opt::Renderer;

/// The flags of `verify`.
pub(crate) struct Flags {
    pub(crate) files: Vec<String>,
    pub(crate) registered: bool,
    pub(crate) split: bool,
    pub(crate) machine: Option<String>,
    pub(crate) renderer: Renderer,
}

/// Reason why nothing is run: wrong flags (code 1), or `--help` and the like (code 0).
pub(crate) struct Stop {
    pub(crate) message: String,
    pub(crate) code: i32,
}

/// Reads the command line.
pub(crate) fn parse(args: &[String]) -> Result<Flags, Stop> {
    let name = std::iter::once("visa-mlir".to_owned());
    let matches = command().try_get_matches_from(name.chain(args.iter().cloned())).map_err(|error| {
        let code = i32::from(error.use_stderr());
        Stop { message: error.render().to_string(), code }
    })?;
    let Some(("verify", asked)) = matches.subcommand() else {
        return Err(Stop { message: command().render_help().to_string(), code: 1 });
    };
    Ok(flags(asked))
}

fn flags(matches: &ArgMatches) -> Flags {
    let renderer = match matches.get_one::<String>("diagnostics").map(String::as_str) {
        Some("json") => Renderer::Json,
        Some(_) | None => Renderer::Text,
    };
    Flags {
        files: matches.get_many("file").into_iter().flatten().cloned().collect(),
        registered: matches.get_flag("registered"),
        split: matches.get_flag("split-input-file"),
        machine: matches.get_one("machine").cloned(),
        renderer,
    }
}

fn command() -> Command {
    Command::new("visa-mlir")
        .version(env!("CARGO_PKG_VERSION"))
        .about("Checks modules of the Virtual ISA with MLIR")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .disable_help_subcommand(true)
        .subcommand(verify())
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
        .arg(
            value("diagnostics", "FORMAT", "How findings are written")
                .value_parser(["text", "json"])
                .default_value("text"),
        )
}
