//! Commands that run inside this process instead of in a separate one.

use std::any::Any;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{Arc, mpsc};

use crate::limits::{Limits, too_long};
use crate::status::Status;

/// Stack of the thread an in-process command runs on, in bytes: the usual size of a program's main thread, so that
/// deep recursion fails here exactly when it would fail in the real tool.
const STACK_BYTES: usize = 8 << 20;

/// A command that runs in this process.
pub type Builtin = Arc<dyn Fn(&Invocation) -> Outcome + Send + Sync>;

/// Arguments and environment of an in-process command.
#[derive(Debug, Clone, Default)]
pub struct Invocation {
    /// The arguments after the command's name.
    pub args: Vec<String>,
    /// All of standard input.
    pub stdin: Vec<u8>,
    /// The directory that relative paths are relative to.
    pub cwd: PathBuf,
    /// The variables that `env NAME=VALUE` put before the command.
    pub env: BTreeMap<String, String>,
}

/// Result of an in-process command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The exit code; 0 is success.
    pub code: i32,
    /// All of standard output.
    pub stdout: Vec<u8>,
    /// All of standard error.
    pub stderr: Vec<u8>,
}

impl Outcome {
    /// Exit code 0 with this standard output.
    pub fn success(stdout: impl Into<Vec<u8>>) -> Self {
        Self { stdout: stdout.into(), ..Self::default() }
    }

    /// This exit code with a message on standard error.
    pub fn failure(code: i32, message: impl Into<Vec<u8>>) -> Self {
        Self { code, stderr: message.into(), ..Self::default() }
    }
}

/// Calls `builtin` on a separate thread, so that a panic is this command's crash and not the runner's.
///
/// A stack overflow cannot be caught: it ends the process, as it would end the tool. A thread cannot be ended
/// either: one that is over the test's time is left to itself.
pub(crate) fn call(
    name: &str,
    builtin: &Builtin,
    invocation: Invocation,
    limits: &Limits,
) -> (Status, Outcome) {
    let (sender, ended) = mpsc::channel();
    let builtin = Arc::clone(builtin);
    let work = move || sender.send(catch_unwind(AssertUnwindSafe(|| builtin(&invocation))));
    let thread = std::thread::Builder::new().name(name.to_owned()).stack_size(STACK_BYTES).spawn(work);
    let failed = |status| (status, Outcome::default());
    if let Err(error) = thread {
        return failed(Status::NotRun(format!("cannot start a thread for `{name}`: {error}")));
    }
    match limits.wait(&ended) {
        Ok(Ok(outcome)) => (status(&outcome), outcome),
        Ok(Err(panic)) => {
            failed(Status::Crash(format!("`{name}` panicked: {}", panic_message(panic.as_ref()))))
        }
        Err(why) => failed(Status::Stopped(why)),
    }
}

fn status(outcome: &Outcome) -> Status {
    let refused = too_long("standard output", &outcome.stdout);
    let refused = refused.or_else(|| too_long("standard error", &outcome.stderr));
    refused.map_or_else(|| Status::from_code(outcome.code), Status::Stopped)
}

/// The text a panic was raised with; `panic!` makes it a `&str` or a `String`.
fn panic_message(panic: &(dyn Any + Send)) -> &str {
    if let Some(text) = panic.downcast_ref::<&str>() {
        text
    } else if let Some(text) = panic.downcast_ref::<String>() {
        text
    } else {
        "(no message)"
    }
}
