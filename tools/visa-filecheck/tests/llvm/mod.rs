//! Verdicts of LLVM's own program on generated pairs of checks and input.
//!
//! `VISA_FILECHECK_PAIRS` and `VISA_SEED` choose the pairs; campaign `filecheck` runs more of them.

mod directives;
mod expressions;
mod generate;
mod regexes;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

pub(crate) use generate::Pair;
use visa_filecheck::{Call, Options, Text, check};
use visa_support::{Random, setting};

/// Names of LLVM's program in `PATH`, the version whose verdicts count first.
const NAMES: [&str; 2] = ["FileCheck-22", "FileCheck"];

/// Where Debian's package llvm-22-tools installs it.
const INSTALLED: &str = "/usr/lib/llvm-22/bin/FileCheck";

/// The variable that makes a missing program a failure instead of a skip, as for mlir-opt.
const REQUIRED: &str = "VISA_REQUIRE_MLIR";

fn llvm_file_check() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let dirs: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let in_path = |name: &&str| dirs.iter().map(|dir| dir.join(name)).find(|file| file.is_file());
    let found = NAMES.iter().find_map(in_path);
    found.or_else(|| Some(PathBuf::from(INSTALLED)).filter(|file| file.is_file()))
}

/// The exit codes of one pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Codes {
    ours: i32,
    /// `None` if the program crashed.
    llvm: Option<i32>,
}

/// A pair as files, and its exit codes.
fn codes(llvm: &Path, folder: &Path, pair: &Pair) -> (Codes, String) {
    let write = |name: &str, text: &[u8]| {
        let path = folder.join(name);
        fs::write(&path, text).expect("a file");
        path.to_str().expect("a path in UTF-8").to_owned()
    };
    let (checks, input) = (write("checks", &pair.checks), write("input", &pair.input));
    let mut arguments = vec![checks, format!("--input-file={input}"), "--dump-input=never".to_owned()];
    arguments.extend(pair.options.iter().cloned());
    let mut command = Command::new(llvm);
    command.args(&arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let status = command.env_remove("FILECHECK_OPTS").status().expect("LLVM's FileCheck");
    let (ours, report) = pair.verdict();
    (Codes { ours, llvm: status.code() }, report)
}

impl Pair {
    /// Our exit code and report.
    pub(crate) fn verdict(&self) -> (i32, String) {
        let mut arguments = vec!["checks".to_owned()];
        arguments.extend(self.options.iter().cloned());
        let options = match Options::parse(&arguments) {
            Ok(Call::Check(options)) => options,
            Ok(Call::Print(text)) => return (0, text),
            Err(message) => return (2, message),
        };
        let text = |name, bytes| Text { name, bytes };
        let verdict = check(&options, text("checks", &self.checks), text("input", &self.input));
        (verdict.code, verdict.report)
    }

    /// True if the documentation of the crate lists the difference.
    fn is_documented(&self, codes: Codes, report: &str) -> bool {
        let refused_option = codes == Codes { ours: 2, llvm: Some(1) } && !report.starts_with("error: ");
        let refused_pattern = codes.ours == 2 && report.contains("--implicit-check-not=");
        let dropped_group =
            codes.ours == 2 && report.contains("back-reference to a group that is repeated {0} times");
        let crash = codes.ours == 2 && codes.llvm.is_none();
        refused_option || refused_pattern || dropped_group || crash
    }
}

/// LLVM's exit codes, if its program is installed.
pub(crate) fn llvm_codes(pairs: &[Pair]) -> Option<Vec<Option<i32>>> {
    let llvm = llvm_file_check()?;
    let folder = tempfile::tempdir().expect("a folder");
    Some(pairs.iter().map(|pair| codes(&llvm, folder.path(), pair).0.llvm).collect())
}

/// Results of a run of pairs.
#[derive(Default)]
struct Tally {
    matches: u64,
    mismatches: u64,
    refusals: u64,
    documented: u64,
    differences: Vec<String>,
}

impl Tally {
    fn add(&mut self, number: u64, pair: &Pair, codes: Codes, report: &str) {
        match codes.ours {
            0 => self.matches += 1,
            1 => self.mismatches += 1,
            _ => self.refusals += 1,
        }
        if Some(codes.ours) == codes.llvm {
            return;
        }
        if pair.is_documented(codes, report) {
            self.documented += 1;
            return;
        }
        self.differences.push(format!("pair {number}: {codes:?}\n{pair}\n{report}"));
    }
}

fn run(llvm: &Path, seed: u64, count: u64) -> Tally {
    let next = AtomicU64::new(0);
    let next = &next;
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let work = move || {
        let folder = tempfile::tempdir().expect("a folder");
        let mut tally = Tally::default();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= count {
                return tally;
            }
            let pair = Pair::generate(&mut Random::of_case(seed, number));
            let (codes, report) = codes(llvm, folder.path(), &pair);
            tally.add(number, &pair, codes, &report);
        }
    };
    let mut all = Tally::default();
    thread::scope(|scope| {
        let running: Vec<_> = (0..cores).map(|_| scope.spawn(work)).collect();
        for thread in running {
            let tally = thread.join().expect("a thread that ends");
            all.matches += tally.matches;
            all.mismatches += tally.mismatches;
            all.refusals += tally.refusals;
            all.documented += tally.documented;
            all.differences.extend(tally.differences);
        }
    });
    all
}

#[test]
#[expect(clippy::print_stdout, reason = "a skip is visible, and what a campaign ran")]
fn verdicts_are_those_of_llvm() {
    let Some(llvm) = llvm_file_check() else {
        let required = std::env::var(REQUIRED).is_ok_and(|value| value == "1");
        assert!(!required, "{REQUIRED}=1, but LLVM's FileCheck is missing: install Debian's llvm-22-tools");
        println!("skipped: found neither {} in PATH nor {INSTALLED}", NAMES.join(" or "));
        return;
    };
    let (seed, count) = (setting("VISA_SEED", 2026), setting("VISA_FILECHECK_PAIRS", 300));
    let found = run(&llvm, seed, count);
    println!(
        "filecheck, seed {seed}: {count} pairs, {} match, {} do not, {} are refused; {} documented differences, {} others",
        found.matches,
        found.mismatches,
        found.refusals,
        found.documented,
        found.differences.len()
    );
    assert!(found.differences.is_empty(), "{}", found.differences.join("\n----\n"));
    assert!(
        found.matches.min(found.mismatches).min(found.refusals) > count / 8,
        "the verdicts are not mixed"
    );
}
