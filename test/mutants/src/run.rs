//! Builds the copy of the tree and runs its tests.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::Deserialize;

use crate::place;

/// A line of what cargo and the compiler say.
#[derive(Deserialize)]
struct Message {
    message: Option<Mistake>,
    executable: Option<PathBuf>,
}

#[derive(Deserialize)]
struct Mistake {
    level: String,
    rendered: String,
    spans: Vec<Span>,
}

#[derive(Deserialize)]
struct Span {
    file_name: PathBuf,
    byte_start: usize,
    byte_end: usize,
}

/// Runs cargo in the copy of the tree: the programs that it builds, or else the mutants at which the compiler
/// finds mistakes.
pub(crate) fn cargo(tree: &Path, target: &Path, arguments: &[&str]) -> Result<Vec<PathBuf>, BTreeSet<usize>> {
    let mut cargo = Command::new("cargo");
    cargo.args(arguments).args(["--message-format=json", "--jobs=2"]).current_dir(tree);
    // Operators of constants overflow here and there, which is a mistake only where a mutant is chosen.
    cargo.env("RUSTFLAGS", "--cap-lints=allow");
    cargo.env("CARGO_TARGET_DIR", target);
    cargo.env("CARGO_PROFILE_DEV_DEBUG", "0").env("CARGO_PROFILE_DEV_OPT_LEVEL", "2");
    let built = cargo.output().expect("cargo runs");
    let lines = built.stdout.split(|&byte| byte == b'\n').filter(|line| line.starts_with(b"{"));
    let messages = lines.map(|line| serde_json::from_slice(line).expect("a message in cargo's format"));
    let messages: Vec<Message> = messages.collect();
    if built.status.success() {
        return Ok(messages.into_iter().filter_map(|message| message.executable).collect());
    }
    let mistakes = messages.iter().filter_map(|message| message.message.as_ref());
    let mistakes: Vec<_> = mistakes.filter(|mistake| mistake.level == "error").collect();
    let spans = mistakes.iter().flat_map(|mistake| &mistake.spans);
    let wrong: BTreeSet<usize> = spans.flat_map(|span| mutants(tree, span)).collect();
    let rendered: String = mistakes.iter().map(|mistake| mistake.rendered.as_str()).collect();
    assert!(!wrong.is_empty(), "{rendered}");
    Err(wrong)
}

/// The mutants that a place in a file is behind, the innermost.
fn mutants(tree: &Path, span: &Span) -> Vec<usize> {
    let Ok(text) = std::fs::read_to_string(tree.join(&span.file_name)) else { return Vec::new() };
    let mut behind = place::behind(&text);
    behind.retain(|(range, _)| range.start <= span.byte_start && span.byte_end <= range.end);
    let least = behind.iter().map(|(range, _)| range.len()).min();
    behind.into_iter().filter(|(range, _)| Some(range.len()) == least).map(|(_, number)| number).collect()
}

/// A program that is given a mutant and at most so many seconds.
pub(crate) fn with_mutant(program: &Path, mutant: Option<usize>, seconds: u64) -> Command {
    let mut command = Command::new("timeout");
    command.arg(seconds.to_string()).arg(program).env("RUST_TEST_THREADS", "1").env("RUST_BACKTRACE", "0");
    command.env("PROPTEST_DISABLE_FAILURE_PERSISTENCE", "1").env_remove("MUTANT");
    if let Some(mutant) = mutant {
        command.env("MUTANT", mutant.to_string());
    }
    command
}

/// What notices, if anything does: a line that says so, the time limit, or how the program ends.
pub(crate) fn noticed(mut command: Command, failure: impl Fn(&str) -> Option<String>) -> Option<String> {
    let mut running = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("the tests run");
    let lines = BufReader::new(running.stdout.take().expect("it is piped")).lines();
    // The program ends as it writes its next line: nobody reads it.
    let failed = lines.map_while(Result::ok).find_map(|line| failure(&line));
    let status = running.wait().expect("the tests end");
    failed.or_else(|| match status.code() {
        Some(0) => None,
        Some(124) => Some("time limit".to_owned()),
        _ => Some("abort".to_owned()),
    })
}
