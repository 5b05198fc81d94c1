//! How a command ended.

use std::process::ExitStatus;

/// What a Rust program exits with when it panics.
const PANIC_CODE: i32 = 101;

/// How a command ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Status {
    Exit(i32),
    /// A panic or a signal: a failure even under `not`.
    Crash(String),
    /// A limit of the test was reached: a failure whatever was expected.
    Stopped(String),
    /// The command could not be started: the test says nothing.
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
