//! The command line, as a function.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Parser;

use crate::builtin::Outcome;
use crate::limits::DEFAULT_TIME_LIMIT;
use crate::suite::{Suite, bless_requested};

/// Runs the RUN lines of test files (.visa, .mlir, .test), with FileCheck built in.
///
/// A RUN line runs any program: run the tests of people whose programs you would run.
///
/// From a checkout: `cargo build`, which makes the tools, then `cargo run -p visa-lit -- test/kernels`. Exit code:
/// 0 if no test failed, 1 if one did, 2 if there is nothing to run.
#[derive(Debug, Parser)]
#[command(name = "visa-lit", version)]
struct Args {
    /// Test files, or directories to search for them.
    #[arg(default_value = "test")]
    paths: Vec<PathBuf>,
    /// Run only the tests whose path contains this.
    #[arg(long, default_value = "")]
    filter: String,
    /// Number of tests to run at a time; all cores by default.
    #[arg(short = 'j', long, value_name = "N")]
    threads: Option<usize>,
    /// Seconds that a test may take.
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = DEFAULT_TIME_LIMIT.as_secs(),
        value_parser = clap::value_parser!(u64).range(1..=86_400)
    )]
    timeout: u64,
    /// Name every test, not only those that need attention.
    #[arg(short, long)]
    verbose: bool,
    /// Rewrite the files of `diff-expected` with the output found (also VISA_BLESS=1).
    #[arg(long)]
    bless: bool,
    /// Declare a feature for REQUIRES, UNSUPPORTED and XFAIL.
    #[arg(long, value_name = "FEATURE")]
    feature: Vec<String>,
    /// Define a substitution: `-D mlir-opt=/usr/bin/mlir-opt` for %mlir-opt.
    #[arg(short = 'D', long, value_name = "NAME=VALUE", value_parser = definition)]
    define: Vec<(String, String)>,
    /// Where programs are looked for before PATH; by default the directory of visa-lit itself.
    #[arg(long, value_name = "DIR")]
    tools_dir: Option<PathBuf>,
}

fn definition(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.trim_start_matches('%').is_empty() => {
            Ok((name.to_owned(), value.to_owned()))
        }
        Some(_) | None => Err(format!("found `{text}`, expected NAME=VALUE")),
    }
}

/// The tests that are asked for. Relative paths start from `cwd`.
fn suite(args: &Args, cwd: &Path) -> Suite {
    let mut suite = args.paths.iter().fold(Suite::default(), |suite, root| suite.with_root(cwd.join(root)));
    for feature in &args.feature {
        suite = suite.with_feature(feature);
    }
    for (name, value) in &args.define {
        suite = suite.with_substitution(name, value);
    }
    let beside_us = || std::env::current_exe().ok()?.parent().map(PathBuf::from);
    if let Some(dir) = args.tools_dir.as_ref().map(|dir| cwd.join(dir)).or_else(beside_us) {
        // A program is started in the test's directory, where a relative path would mean something else.
        suite = suite.with_tools_dir(std::path::absolute(&dir).unwrap_or(dir));
    }
    if let Some(threads) = args.threads {
        suite = suite.threads(threads);
    }
    suite = suite.time_limit(Duration::from_secs(args.timeout));
    suite.filter(&args.filter).bless(args.bless || bless_requested())
}

/// Runs on `args` (without the program's name) the tests that they name, with the additions of `prepare`: in-process
/// commands and the like. Relative paths start from `cwd`. The exit code is 0 if no test failed, 1 if one did, and 2
/// if there is nothing to run or the arguments are wrong.
pub fn run(
    args: impl IntoIterator<Item = impl Into<OsString> + Clone>,
    cwd: &Path,
    prepare: impl FnOnce(Suite) -> Suite,
) -> Outcome {
    let name = std::iter::once(OsString::from("visa-lit"));
    let args = match Args::try_parse_from(name.chain(args.into_iter().map(Into::into))) {
        Ok(args) => args,
        Err(stop) if stop.use_stderr() => return Outcome::failure(2, stop.render().to_string()),
        Err(shown) => return Outcome::success(shown.render().to_string()),
    };
    let report = prepare(suite(&args, cwd)).run();
    let text = if args.verbose { format!("{report:#}") } else { report.to_string() };
    if report.results.is_empty() {
        let nothing = "visa-lit: no tests found; tests are .visa, .mlir and .test files whose path contains the \
                       filter\n";
        return Outcome { stdout: text.into_bytes(), ..Outcome::failure(2, nothing) };
    }
    Outcome { code: i32::from(!report.is_success()), ..Outcome::success(text) }
}
