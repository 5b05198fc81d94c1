//! A suite over test files written by the test itself, with a few in-process commands.
#![allow(dead_code, unreachable_pub, reason = "every test binary uses a part of this")]

use std::path::Path;

use tempfile::TempDir;
use visa_lit::{Failure, Invocation, Outcome, Report, Suite, Verdict};

/// Writes `files` (path and content) into a fresh directory.
pub fn tree(files: &[(&str, &str)]) -> TempDir {
    let dir = TempDir::new().expect("a temporary directory");
    for (name, content) in files {
        let path = dir.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        std::fs::write(path, content).expect("a file");
    }
    dir
}

/// `words A B` prints its arguments in brackets; `say OUT ERR` writes both streams; `code N` exits so; `cat`
/// copies its input; `boom` panics; `show-env` prints its variables.
pub fn suite(root: &Path) -> Suite {
    Suite::new(root)
        .with_builtin("words", |call| {
            Outcome::success(call.args.iter().map(|arg| format!("[{arg}]\n")).collect::<String>())
        })
        .with_builtin("say", say)
        .with_builtin("code", |call| Outcome {
            code: call.args[0].parse().expect("a number"),
            ..Outcome::default()
        })
        .with_builtin("cat", |call| Outcome::success(call.stdin.clone()))
        .with_builtin("boom", |_| panic!("boom at {}", 7))
        .with_builtin("show-env", |call| Outcome::success(format!("{:?}", call.env)))
}

fn say(call: &Invocation) -> Outcome {
    let stderr = call.args.get(1).map(|text| format!("{text}\n")).unwrap_or_default();
    Outcome { code: 0, stdout: format!("{}\n", call.args[0]).into(), stderr: stderr.into() }
}

/// Runs one test with this text.
pub fn verdict(source: &str) -> Verdict {
    let dir = tree(&[("a.test", source)]);
    only(suite(dir.path()).run())
}

pub fn only(report: Report) -> Verdict {
    assert_eq!(report.results.len(), 1, "{report}");
    report.results.into_iter().next().expect("one result").verdict
}

#[track_caller]
pub fn assert_passes(source: &str) {
    assert_eq!(verdict(source), Verdict::Pass, "{source}");
}

#[track_caller]
pub fn failure(source: &str) -> Failure {
    match verdict(source) {
        Verdict::Fail(failure) => failure,
        other => panic!("expected a failure, found {other:?} for\n{source}"),
    }
}

#[track_caller]
pub fn unresolved(source: &str) -> String {
    match verdict(source) {
        Verdict::Unresolved(reason) => reason,
        other => panic!("expected an unresolved test, found {other:?} for\n{source}"),
    }
}
