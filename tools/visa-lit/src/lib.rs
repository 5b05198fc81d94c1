//! Runs the `RUN:` lines of test files, in the manner of LLVM's lit, with FileCheck built in.
//!
//! A test is a file (`.visa`, `.mlir` or `.test`) with its commands in comments (`//`, `#` or `;`):
//!
//! ```text
//! // REQUIRES: mlir-opt
//! // RUN: visa-opt --print-generic %s | FileCheck %s
//! // RUN: not visa-opt --no-such-flag %s 2>&1 | FileCheck %s --check-prefix=FLAG
//! ```
//!
//! # Directives
//!
//! | directive | meaning |
//! |---|---|
//! | `RUN: commands` | one script, continued on the next `RUN:` line after a `\`. The first that fails ends the test |
//! | `REQUIRES: a, !b` | the test runs only where feature `a` is present and `b` is absent |
//! | `UNSUPPORTED: a` | the test does not run where `a` is present |
//! | `XFAIL: *` or `XFAIL: a` | the test is expected to fail, always or where `a` is present. Passing is a failure |
//!
//! # Substitutions
//!
//! `%s` the test file, `%S` and `%p` its directory, `%t` a temporary path of this test's own, `%%` a per cent
//! sign, and those given by [`Suite::with_substitution`]. A substituted value never splits into several words.
//!
//! # Shell
//!
//! Words with quotes and backslashes, `|`, `&&`, `;`, `<`, `>`, `>>`, `2>`, `2>>`, `2>&1`, `not`, `not --crash` and
//! `env NAME=VALUE`. `*`, `?` and `[...]` outside quotes stand for the files that match, in the order of their names;
//! a word that matches none stays. There are no variables and no subshells: unsupported syntax is an error, never
//! silently something else. A pipeline stops at its first failing stage, and that stage's failure is the pipeline's. A
//! command that panics, dies by a signal or cannot be started fails even under `not`. With `2>&1`, standard error
//! follows standard output as a whole, so that the order does not depend on buffering.
//!
//! Commands are looked up among the in-process commands ([`Suite::with_builtin`]), then in the tools directories,
//! then in `PATH`. Two commands are always in-process: `FileCheck` (also `filecheck`) and `diff-expected`.
//!
//! # Trust and limits
//!
//! A RUN line runs any program, with the rights of the user who runs the tests: running the tests of others is running
//! their programs. visa-lit keeps tests from running on by accident, not from doing harm. Each test has a time limit
//! ([`Suite::time_limit`], 600 s by default, `--timeout`). A program runs in a separate process group, which ends with
//! it, with the test's time, or with visa-lit. A command may write [`MAX_BYTES`] to either output. The same limit
//! applies to a test, and to a file that it reads by `<`, FileCheck or `diff-expected`. Reaching a limit is a failure,
//! also under `not`.
//!
//! # FileCheck
//!
//! [`visa_filecheck`] has the directives, the options and the verdicts of LLVM 22, with a short list of differences.
//! `FileCheck --help` prints the options; those of the variable `FILECHECK_OPTS` come first. `[[` starts a variable,
//! so a check of a mapping such as `[[B, C] # 32]` is written with `CHECK{LITERAL}:`, or with `{{\[\[}}`.
//!
//! # Golden files and blessing
//!
//! `... | diff-expected %S/name.expected` compares its standard input with a file stored next to the test. When
//! blessing is on (`VISA_BLESS=1` or `--bless`) it rewrites that file instead and reports that it did. One command
//! blesses everything: `VISA_BLESS=1 cargo test -p visa-test`. The directory of the file is written as `%S/` in it, so
//! that expected diagnostics do not depend on the location of the checkout.

mod builtin;
mod command;
mod directives;
mod discover;
mod exec;
mod filecheck;
mod glob;
mod golden;
mod limits;
mod process;
mod report;
mod shell;
mod status;
mod substitution;
mod suite;

pub use builtin::{Builtin, Invocation, Outcome};
pub use command::run;
pub use discover::{DEFAULT_SKIPPED_DIRS, TEST_EXTENSIONS};
pub use filecheck::file_check;
pub use golden::BLESS_VARIABLE;
pub use limits::{DEFAULT_TIME_LIMIT, MAX_BYTES};
pub use report::{Failure, Report, TestResult, Verdict};
pub use suite::{Suite, bless_requested};
