//! `FileCheck`, in LLVM's syntax, as an in-process command: a thin layer over `litcheck-filecheck`.

mod canonical;
mod render;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Parser;
use litcheck_filecheck::litcheck::Symbol;
use litcheck_filecheck::litcheck::diagnostics::{
    DefaultSourceManager, FileName, SourceLanguage, SourceManager,
};
use litcheck_filecheck::{Config, Options, Test, TestFailed};

use crate::builtin::{Invocation, Outcome};
use crate::limits;

/// The command line of FileCheck.
#[derive(Debug, Parser)]
#[command(name = "FileCheck", no_binary_name = true)]
struct Args {
    /// The file with the check lines.
    check_file: PathBuf,
    /// The file to check; `-` is standard input.
    #[arg(long, default_value = "-")]
    input_file: PathBuf,
    #[command(flatten)]
    options: Options,
}

/// The command itself: exit code 0 if the input matches, 1 if it does not, 2 if the call or the check file is wrong.
pub(crate) fn run(invocation: &Invocation) -> Outcome {
    match check(invocation) {
        Ok(()) => Outcome::default(),
        Err(outcome) => outcome,
    }
}

fn check(invocation: &Invocation) -> Result<(), Outcome> {
    let usage = |message: String| Outcome::failure(2, format!("FileCheck: {message}\n"));
    let args = invocation.args.iter().map(|arg| long_option(arg));
    let mut args = Args::try_parse_from(args).map_err(|error| usage(error.to_string()))?;
    args.options.validate().map_err(|error| usage(error.to_string()))?;

    let read = |path: &Path| {
        let bytes = limits::read(&invocation.cwd.join(path))
            .map_err(|error| usage(format!("cannot read `{}`: {error}", path.display())))?;
        Ok::<_, Outcome>(String::from_utf8_lossy(&bytes).into_owned())
    };
    let from_stdin = args.input_file == Path::new("-");
    let (input_name, input) = if from_stdin {
        (FileName::Stdin, String::from_utf8_lossy(&invocation.stdin).into_owned())
    } else {
        (FileName::from(args.input_file.as_path()), read(&args.input_file)?)
    };
    let checks = canonical::separate_markers(&read(&args.check_file)?);
    let mut checks = canonical::keep_regex_blanks(&checks);
    if !(args.options.strict_whitespace && args.options.match_full_lines) {
        checks = canonical::trim_line_ends(&checks);
    }
    let (checks, input) = if args.options.strict_whitespace {
        (checks, input)
    } else {
        let patterns = &mut args.options.implicit_check_not;
        for pattern in patterns.iter_mut() {
            *pattern = Symbol::intern(canonical::collapse_blanks(pattern.as_str()));
        }
        (canonical::collapse_blanks(&checks), canonical::collapse_blanks(&input))
    };

    let config = Config { source_manager: Arc::new(DefaultSourceManager::default()), options: args.options };
    let load = |name, text| config.source_manager.load(SourceLanguage::Unknown, name, text);
    let check_file = load(FileName::from(args.check_file.as_path()), checks);
    let input_file = load(input_name, input.clone());
    match Test::new(check_file, &config).verify(Arc::clone(&input_file)) {
        Ok(_) => Ok(()),
        Err(report) => {
            let code = if report.is::<TestFailed>() { 1 } else { 2 };
            Err(Outcome::failure(code, render::failure(&report, input_file.uri().as_str(), &input)))
        }
    }
}

/// LLVM's options may be written with one dash; clap wants two.
fn long_option(arg: &str) -> String {
    let single = arg.strip_prefix('-').filter(|name| !name.starts_with('-') && name.len() > 1);
    match single {
        Some(name) if !name.starts_with('D') => format!("--{name}"),
        Some(_) | None => arg.to_owned(),
    }
}
