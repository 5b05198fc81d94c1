//! The command line.

use crate::data::{Bound, Source};
use crate::formats::{self, Format};
use clap::builder::{NonEmptyStringValueParser, PossibleValuesParser, TypedValueParser};
use clap::{CommandFactory as _, FromArgMatches as _, Parser};
use visa_cost::AssumedRows;
use visa_export::Version;
use visa_import::Addresses;
use visa_ir::Word as _;
use visa_opt::SharedFlags;

/// The flags of a run.
#[derive(Parser, Clone, Debug)]
#[command(
    group(clap::ArgGroup::new("compared").args(["expects", "check"]).multiple(true)),
    group(clap::ArgGroup::new("choosing").args(["select_configs", "plan"]).multiple(true)),
    name = "visa-run",
    version,
    about = "Runs a kernel on the RNGD interpreter, checks its lowering, and prices it in cycles",
    after_help = "SOURCE is FILE.npy, FILE.safetensors:KEY, rand:SEED, zeros or iota. Arguments without --arg are \
                  random (the first is rand:1, the second rand:2, ...). One result is called `out`, several \
                  `out0`, `out1`, ..."
)]
pub(crate) struct Flags {
    /// The kernel, at any level; `-` reads standard input. At the tensor level it is evaluated, and has no cost
    /// without
    /// --plan.
    pub(crate) file: String,
    /// Kernel of the file to run.
    #[arg(long, value_name = "NAME")]
    pub(crate) entry: Option<String>,
    /// Data of an argument; of a scalar, its number.
    #[arg(long = "arg", value_name = "NAME=SOURCE|NUMBER")]
    pub(crate) args: Vec<String>,
    /// Write a result to a NumPy file instead of summarising it.
    #[arg(long = "out", value_name = "NAME=FILE.npy")]
    pub(crate) outs: Vec<String>,
    /// Compare a result, bit by bit, with a NumPy file. The file has the shape and the type of one that --out
    /// writes.
    #[arg(long = "expect", value_name = "NAME=FILE.npy")]
    pub(crate) expects: Vec<String>,
    /// With --expect and --check: floating-point numbers may be that many numbers of their format apart.
    #[arg(long, value_name = "N", default_value_t = 0, requires = "compared")]
    pub(crate) ulps: u32,
    /// With --expect: floating-point numbers may differ by ABS + REL * |expected|; ABS is 0 if absent.
    #[arg(long, value_name = "REL[,ABS]", requires = "expects")]
    pub(crate) tolerance: Option<Bound>,
    /// Choose everything that is open: at the tensor level the whole kernel; at the memory level each `auto`, by a
    /// plan of the kernel's function if no clause that is written would be lost. Options are those of plan-kernel, as
    /// in `--plan=explain`, or those of select-configs, which chooses within the operations.
    #[arg(long, value_name = "OPTIONS", num_args(0..=1), require_equals = true, default_missing_value = "",
          conflicts_with_all = ["select_configs", "schedule", "allocate", "select_transfers"])]
    pub(crate) plan: Option<String>,
    /// Most seconds for --plan of functions. If the time ends the search, a note reports it: the answer depends
    /// on the machine. Without it, the number of plans is limited.
    #[arg(long, value_name = "SECONDS", requires = "plan", allow_hyphen_values = true,
          value_parser = NonEmptyStringValueParser::new())]
    pub(crate) time_limit: Option<String>,
    /// Compare a kernel that is written in full with the plan of its function: the cycles of both, and the changes by
    /// their gain. Also report pipelines and transfers that could be cheaper by themselves.
    #[arg(long, conflicts_with = "plan")]
    pub(crate) advise: bool,
    /// Write the kernel after --plan and the other flags that choose, before `--pass-pipeline`; `-` is standard
    /// output.
    #[arg(long, value_name = "FILE.visa")]
    pub(crate) emit: Option<String>,
    /// Write that kernel as the vendor's Rust; `-` is standard output. A kernel from Rust is written only if a faster
    /// one was found.
    #[arg(long, value_name = "FILE.rs")]
    pub(crate) emit_rust: Option<String>,
    /// Version of the vendor's crates for --emit-rust: 0.6, 0.8 or 0.10. The newest one if absent.
    #[arg(long = "for", value_name = "VERSION", requires = "emit_rust",
          value_parser = PossibleValuesParser::new(Version::WORDS))]
    pub(crate) rust_version: Option<String>,
    /// Choose open configurations of pipelines before the kernel is lowered: `--allocate` goes with it where
    /// addresses are open too. Options are those of visa-opt, as in `--select-configs=budget=40000`. Of a kernel in
    /// Rust, those of all pipelines are chosen again, and the faster kernel is kept.
    #[arg(long, value_name = "OPTIONS", num_args(0..=1), require_equals = true, default_missing_value = "")]
    pub(crate) select_configs: Option<String>,
    /// Reorder commands, and let iterations of loops overlap, before addresses are chosen. Options are those of
    /// visa-opt, as in `--schedule=explain`.
    #[arg(long, value_name = "OPTIONS", num_args(0..=1), require_equals = true, default_missing_value = "")]
    pub(crate) schedule: Option<String>,
    /// Issue commands in the order of the vendor's schedule (JSON) or of the device's trace (lines `PROFILE_SPAN`). By
    /// default, a kernel from Rust has the vendor's order on a measured machine.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["schedule", "plan"])]
    pub(crate) order: Option<String>,
    /// Of a kernel in Rust: drop the addresses of the file, so that `--allocate` chooses them, or keep them; drop by
    /// default.
    #[arg(long, value_name = "TREATMENT", value_enum)]
    pub(crate) addresses: Option<Addresses>,
    /// Give open addresses a value before the kernel is lowered. A kernel in Rust gets them without this flag.
    #[arg(long)]
    pub(crate) allocate: bool,
    /// Choose open streams of transfers by the memory model before the kernel is lowered, after addresses. Of a
    /// kernel in Rust, those of all transfers are chosen again, and the faster kernel is kept.
    #[arg(long)]
    pub(crate) select_transfers: bool,
    /// Passes to run before the kernel is lowered, as visa-opt takes them. `--check` compares with the kernel that
    /// they got.
    #[arg(long, value_name = "PASSES")]
    pub(crate) pass_pipeline: Option<String>,
    /// Compare every defined element with the logical evaluator. With --plan of a function, compare it with the
    /// function too: sums that are `free` may differ within a bound that follows from their terms.
    #[arg(long)]
    pub(crate) check: bool,
    /// Report results that depend on undefined bytes.
    #[arg(long)]
    pub(crate) shadow: bool,
    /// Print the price of every command: as a table, in JSON, as a chart in the terminal, or as a page for a browser,
    /// which fetches nothing.
    #[arg(long, value_name = "FORMAT", value_parser = report())]
    pub(crate) report: Option<&'static dyn Format>,
    /// Write the timeline as data: every run with the reasons for its waits, memory over time, bandwidths (JSON).
    #[arg(long, value_name = "FILE.json")]
    pub(crate) timeline: Option<String>,
    /// Write the timeline as a trace for Perfetto.
    #[arg(long, value_name = "FILE.pftrace")]
    pub(crate) trace: Option<String>,
    /// Write the timeline for the vendor's schedule viewer (JSON).
    #[arg(long, value_name = "FILE.json")]
    pub(crate) viewer: Option<String>,
    /// Columns of `--report timeline`; those of the terminal if absent.
    #[arg(long, value_name = "COLUMNS")]
    pub(crate) width: Option<usize>,
    /// Price the kernel without running it: no tensor is allocated, and no data is read. `--arg` gives the numbers
    /// that are known when it starts.
    #[arg(long, conflicts_with_all = ["outs", "compared", "ulps", "tolerance", "shadow", "threads", "memory"])]
    pub(crate) cost: bool,
    /// Compare the price of every command with the device's trace (lines `PROFILE_SPAN`) or the vendor's schedule
    /// (JSON).
    #[arg(long, value_name = "FILE")]
    pub(crate) compare: Option<String>,
    /// Write a machine description whose figures are fitted to the commands that `--compare` aligns.
    #[arg(long, value_name = "FILE.json", requires = "compare")]
    pub(crate) fit: Option<String>,
    /// Rows that gathers and scatters are priced for: `spread` over the table, `sequential`, or `random:SEED`.
    #[arg(long, value_name = "ROWS", default_value_t = AssumedRows::default())]
    pub(crate) assume_indices: AssumedRows,
    /// Threads (the results do not depend on it); one a core if absent.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=64))]
    pub(crate) threads: Option<u16>,
    /// Order in which a contraction adds, instead of the machine's: a tree's levels, or one product after the other.
    #[arg(long, value_name = "ORDER", value_parser = ["tree", "sequential"])]
    pub(crate) sum_order: Option<String>,
    /// Most bytes that arguments, results and the simulated memories may hold together; a file that is compared
    /// with may have as many.
    #[arg(long, value_name = "BYTES", default_value_t = 8 << 30)]
    pub(crate) memory: u64,
    #[command(flatten)]
    pub(crate) shared: SharedFlags,
}

impl Flags {
    /// The format of the report.
    pub(crate) fn format(&self) -> &'static dyn Format {
        self.report.unwrap_or(formats::DEFAULT)
    }
}

/// Reads the name of a format. The message for another word lists the formats.
fn report() -> impl TypedValueParser<Value = &'static dyn Format> {
    let known = PossibleValuesParser::new(formats::names());
    known.try_map(|name| formats::named(&name).ok_or_else(|| format!("there is no format `{name}`")))
}

/// Reason why nothing is run: wrong flags (code 1), or `--help` and the like (code 0).
pub(crate) struct Stop {
    pub(crate) message: String,
    pub(crate) code: i32,
}

/// Reads the command line.
pub(crate) fn parse(args: &[String]) -> Result<Flags, Stop> {
    let name = std::iter::once("visa-run".to_owned());
    let command = Flags::command().mut_arg("rules", |rules| rules.requires("choosing"));
    let matches = command.try_get_matches_from(name.chain(args.iter().cloned()));
    matches
        .and_then(|matches| Flags::from_arg_matches(&matches))
        .map_err(|error| Stop { message: error.render().to_string(), code: i32::from(error.use_stderr()) })
}

/// The two sides of `NAME=VALUE`.
pub(crate) fn named<'a>(flag: &str, text: &'a str) -> Result<(&'a str, &'a str), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() && !value.is_empty() => Ok((name, value)),
        Some(_) | None => Err(format!("--{flag} {text}: expected NAME=VALUE")),
    }
}

/// The source of an argument: as given, or random with the argument's number as seed.
pub(crate) fn source(given: Option<&str>, index: usize) -> Result<Source, String> {
    match given {
        Some(text) => Source::parse(text).map_err(|error| error.message),
        None => Ok(Source::Rand(index as u64 + 1)),
    }
}
