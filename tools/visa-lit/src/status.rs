//! Exit status of a command.

use std::process::ExitStatus;

/// Exit code of a Rust program that panics.
const PANIC_CODE: i32 = 101;

/// Exit status of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Status {
    Exit(i32),
    /// A panic or a signal: a failure even under `not`.
    Crash(String),
    /// A limit of the test was reached: a failure with any expectation.
    Stopped(String),
    /// The command could not be started: the test has no result.
    NotRun(String),
}

impl Status {
    pub(crate) fn from_code(code: i32) -> Self {
        match code {
            PANIC_CODE => Self::Crash(format!("exit code {PANIC_CODE}, which means a panic")),
            code => Self::Exit(code),
        }
    }

    pub(crate) fn from_exit(status: ExitStatus) -> Self {
        match status.code() {
            Some(code) => Self::from_code(code),
            None => Self::Crash(status.to_string()),
        }
    }
}
