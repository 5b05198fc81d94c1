//! The command line: a small fixed surface, one flag a pass, and mlir-opt's spellings as hidden aliases.

use crate::dump::{Filter, Wanted};
use crate::pass_flags;
use crate::query::{self, Query};
use crate::shared::SharedFlags;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Args as _, Command, FromArgMatches as _, value_parser};
use visa_pass::Pass;

/// The request of a command line.
pub(crate) enum Asked {
    /// To read modules.
    Modules(Box<Flags>),
    /// To answer a question about mappings.
    Query(Box<Query>),
}

/// The request for modules.
pub(crate) struct Flags {
    pub(crate) input: String,
    pub(crate) output: String,
    /// The pipeline's text, from `--pass-pipeline` or from the passes' own flags; `None` without either.
    pub(crate) pipeline: Option<String>,
    pub(crate) split: bool,
    pub(crate) verify_diagnostics: bool,
    pub(crate) wanted: Wanted,
    pub(crate) timing: bool,
    pub(crate) statistics: bool,
    /// `Some(None)`: every dialect.
    pub(crate) show_dialects: Option<Option<String>>,
    pub(crate) list_passes: bool,
    pub(crate) emit_irdl: bool,
    pub(crate) generic: bool,
    pub(crate) registered: bool,
    pub(crate) locations: bool,
    pub(crate) allow_unregistered: bool,
    pub(crate) verify_each: bool,
    pub(crate) verify_analyses: bool,
    pub(crate) crash_reproducer: Option<String>,
    pub(crate) run_reproducer: bool,
    pub(crate) reproducer_outputs: Option<String>,
    pub(crate) shared: SharedFlags,
    pub(crate) mapping_rules: Option<String>,
    pub(crate) tensor_rules: Option<String>,
    pub(crate) prove_equal: Option<String>,
    /// Each pass is validated by raising the kernels.
    pub(crate) validate: bool,
    pub(crate) docs: Option<String>,
    pub(crate) check_docs: Option<String>,
}

/// Reason why nothing is run: wrong flags (code 1), or `--help` and the like (code 0).
pub(crate) struct Stop {
    pub(crate) message: String,
    pub(crate) code: i32,
}

/// Reads the command line.
pub(crate) fn parse(args: &[String], passes: &[&'static Pass]) -> Result<Asked, Stop> {
    let shorts: Vec<_> = pass_flags::shorts(passes).collect();
    let mut command = command().args(shorts.iter().map(|short| short.flag()));
    let taken: Vec<_> = command.get_arguments().filter_map(|arg| arg.get_long().map(str::to_owned)).collect();
    // A pass that is called like a flag of the tool can still be named in `--pass-pipeline`.
    let flagged: Vec<_> = passes.iter().filter(|pass| !taken.iter().any(|name| name == pass.name)).collect();
    command = command.args(flagged.iter().map(|pass| pass_flags::flag(pass)));
    let name = std::iter::once("visa-opt".to_owned());
    let matches = command.try_get_matches_from(name.chain(args.iter().cloned())).map_err(|error| {
        let code = i32::from(error.use_stderr());
        Stop { message: error.render().to_string(), code }
    })?;
    if let Some(query) = query(&matches)? {
        return Ok(Asked::Query(Box::new(query)));
    }
    let from_flags = pass_flags::pipeline(&matches, &flagged, &shorts);
    if !from_flags.is_empty() && (matches.contains_id("pass-pipeline") || matches.get_flag("run-reproducer"))
    {
        let message =
            "error: a pass's own flag cannot be used with --pass-pipeline or --run-reproducer\n".to_owned();
        return Err(Stop { message, code: 1 });
    }
    let by_flags = (!from_flags.is_empty()).then_some(from_flags);
    Ok(Asked::Modules(Box::new(flags(&matches, by_flags)?)))
}

/// The flags that modules and questions share.
const SHARED: [&str; 2] = ["diagnostics", "mapping-rules"];

/// The question, if one is asked. Flags that do not apply to it are refused.
fn query(matches: &ArgMatches) -> Result<Option<Query>, Stop> {
    let Some((query::flags::NAME, asked)) = matches.subcommand() else { return Ok(None) };
    let written = |name: &&str| matches.value_source(name) == Some(ValueSource::CommandLine);
    let names = matches.ids().map(clap::Id::as_str);
    if let Some(name) = names.filter(|name| !SHARED.contains(name)).find(written) {
        let name = if name == "input" { "INPUT".to_owned() } else { format!("--{name}") };
        let message = format!("error: {name} does not apply to `query`; a file called query is ./query\n");
        return Err(Stop { message, code: 1 });
    }
    let rules = matches.get_one::<String>("mapping-rules").cloned();
    Ok(query::flags::read(asked, shared(matches)?.renderer(), rules))
}

/// The flags that other tools have, too.
fn shared(matches: &ArgMatches) -> Result<SharedFlags, Stop> {
    SharedFlags::from_arg_matches(matches)
        .map_err(|error| Stop { message: error.render().to_string(), code: 1 })
}

fn flags(matches: &ArgMatches, by_flags: Option<String>) -> Result<Flags, Stop> {
    let text = |name: &str| matches.get_one::<String>(name).cloned();
    let on = |name: &str| matches.get_flag(name);
    let filter = |named: &str, all: &str| {
        let names: Vec<String> = matches.get_many(named).into_iter().flatten().cloned().collect();
        Filter { all: on(all) || names.iter().any(String::is_empty), passes: names }
    };
    Ok(Flags {
        input: text("input").unwrap_or_default(),
        output: text("output").unwrap_or_default(),
        pipeline: text("pass-pipeline").or(by_flags),
        split: on("split-input-file"),
        verify_diagnostics: on("verify-diagnostics"),
        wanted: Wanted {
            before: filter("print-ir-before", "print-ir-before-all"),
            after: filter("print-ir-after", "print-ir-after-all"),
            after_change: on("print-ir-after-change"),
            after_failure: on("print-ir-after-failure"),
        },
        timing: on("timing"),
        statistics: on("pass-statistics"),
        show_dialects: text("show-dialects").map(|name| (!name.is_empty()).then_some(name)),
        list_passes: on("list-passes"),
        emit_irdl: on("emit-irdl"),
        generic: on("print-generic"),
        registered: on("print-registered"),
        locations: on("print-locations"),
        allow_unregistered: on("allow-unregistered-dialect"),
        verify_each: matches.get_one("verify-each").copied().unwrap_or(true),
        verify_analyses: matches.get_one("verify-analyses").copied().unwrap_or(cfg!(debug_assertions)),
        crash_reproducer: text("crash-reproducer"),
        run_reproducer: on("run-reproducer"),
        reproducer_outputs: text("reproducer-outputs"),
        shared: shared(matches)?,
        mapping_rules: text("mapping-rules"),
        tensor_rules: text("tensor-rules"),
        prove_equal: text("prove-equal"),
        validate: text("validate").is_some(),
        docs: text("docs"),
        check_docs: text("check-docs"),
    })
}

fn command() -> Command {
    let command = Command::new("visa-opt")
        .version(env!("CARGO_PKG_VERSION"))
        .about("Reads modules of the Virtual ISA, runs passes over them, and writes them")
        .arg(Arg::new("input").value_name("INPUT").default_value("-").help("Input file; - is standard input"))
        .arg(
            value("output", "FILE", "Output file, written whole or not at all; - is standard output")
                .short('o')
                .default_value("-"),
        )
        .args(pipeline_flags())
        .args(input_flags())
        .args(dump_flags())
        .args(listing_flags())
        .disable_help_subcommand(true);
    SharedFlags::augment_args(command).subcommand(query::flags::command())
}

fn pipeline_flags() -> [Arg; 9] {
    [
        value(
            "validate",
            "HOW",
            "Compare what the kernels compute before and after each pass: at the tensor level (raise)",
        )
        .value_parser(["raise"]),
        value(
            "pass-pipeline",
            "PIPELINE",
            "Passes to run: builtin.module(a,b{option=value},tm.func(c,d)), or a,b{...}",
        ),
        Arg::new("verify-each")
            .long("verify-each")
            .value_parser(value_parser!(bool))
            .num_args(0..=1)
            .require_equals(true)
            .default_value("true")
            .default_missing_value("true")
            .help("Verify the module after each pass"),
        Arg::new("verify-analyses")
            .long("verify-analyses")
            .value_parser(value_parser!(bool))
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value("true")
            .help("Build the analyses that a pass preserves again after it, and fail if they differ"),
        value(
            "crash-reproducer",
            "FILE",
            "Where a pass fails, write the module before it and its pipeline to FILE",
        )
        .alias("mlir-pass-pipeline-crash-reproducer"),
        flag("run-reproducer", "Run the pipeline that the input, a crash reproducer, holds")
            .conflicts_with("pass-pipeline"),
        value(
            "reproducer-outputs",
            "DIR",
            "Let the pipeline of a reproducer write files into DIR, and nowhere else; without it into none",
        )
        .requires("run-reproducer"),
        flag("timing", "Print the time of each pass").alias("mlir-timing"),
        flag("pass-statistics", "Print the counters of each pass").alias("mlir-pass-statistics"),
    ]
}

fn input_flags() -> [Arg; 8] {
    [
        flag("split-input-file", "Treat the parts between lines `// -----` as separate modules"),
        flag("verify-diagnostics", "Check that the findings match the `expected-error@+1 {{...}}` comments"),
        flag("allow-unregistered-dialect", "Let operations of unknown dialects through, in the generic form"),
        flag("print-generic", "Print the generic form, which mlir-opt reads").alias("mlir-print-op-generic"),
        flag("print-registered", "Print the form that MLIR checks after loading the output of --emit-irdl")
            .conflicts_with_all(["print-generic", "print-locations"]),
        flag("print-locations", "Print where each operation comes from, as `loc(...)` after it")
            .alias("mlir-print-debuginfo"),
        value(
            "mapping-rules",
            "FILE",
            "Rewrite rules of mappings in addition to the built-in ones; each is checked when it is read",
        )
        .global(true),
        value(
            "tensor-rules",
            "FILE",
            "Rewrite rules of the tensor level in addition to the built-in ones, for --raise and --prove-equal; each \
             is checked when it is read",
        ),
    ]
}

fn dump_flags() -> [Arg; 6] {
    let around = |name: &'static str, alias: &'static str, help: &'static str| {
        let arg = value(name, "PASS", help).alias(alias);
        arg.num_args(0..=1).require_equals(true).default_missing_value("").action(ArgAction::Append)
    };
    [
        around(
            "print-ir-before",
            "mlir-print-ir-before",
            "Print the module before PASS, or before every pass",
        ),
        around("print-ir-after", "mlir-print-ir-after", "Print the module after PASS, or after every pass"),
        flag("print-ir-before-all", "Print the module before every pass").alias("mlir-print-ir-before-all"),
        flag("print-ir-after-all", "Print the module after every pass").alias("mlir-print-ir-after-all"),
        flag("print-ir-after-change", "Print the module after every pass that changed it")
            .alias("mlir-print-ir-after-change"),
        flag("print-ir-after-failure", "Print the module after a pass that failed")
            .alias("mlir-print-ir-after-failure"),
    ]
}

fn listing_flags() -> [Arg; 6] {
    [
        value(
            "prove-equal",
            "FILE",
            "Compare what the kernels of FILE and of INPUT compute: exit code 0 if they are equal, also up to the \
             order of sums, 1 if they differ, 2 if it is unknown",
        )
        .conflicts_with_all(["pass-pipeline", "run-reproducer", "split-input-file", "verify-diagnostics"]),
        value("show-dialects", "NAME", "Print the dialects, or the page of the one called NAME")
            .num_args(0..=1)
            .default_missing_value(""),
        flag("list-passes", "Print the passes"),
        flag("emit-irdl", "Print the dialects in IRDL, for mlir-opt --irdl-file"),
        value("docs", "DIR", "Write the reference pages of dialects and passes into DIR"),
        value("check-docs", "DIR", "Fail where the reference pages in DIR are stale"),
    ]
}

pub(crate) fn flag(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).help(help).action(ArgAction::SetTrue)
}

pub(crate) fn value(name: &'static str, value: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).help(help).value_name(value)
}
