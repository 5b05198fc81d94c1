//! The limits of a test: time, and bytes of its outputs and inputs.

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use visa_files::Interrupts;

/// The default time limit of a test. It ends tests that hang: LLVM's lit has none, and the longest test here takes 20
/// s alone with tools that are not optimised, so that a loaded machine does not reach it.
pub const DEFAULT_TIME_LIMIT: Duration = Duration::from_secs(600);

/// Most bytes that a command may write to either output, and that a test, or a file that it reads by `<`,
/// FileCheck or `diff-expected`, may have.
pub const MAX_BYTES: u64 = 64 << 20;

/// Interval of the checks for an interrupt.
const TICK: Duration = Duration::from_millis(50);

/// The limits of one test.
pub(crate) struct Limits {
    time: Duration,
    end: Instant,
    interrupts: Option<Arc<Interrupts>>,
}

impl Limits {
    /// For a test that starts now.
    pub(crate) fn starting(time: Duration, interrupts: Option<Arc<Interrupts>>) -> Self {
        Self { time, end: Instant::now() + time, interrupts }
    }

    /// Waits for an event. An error is the reason why the wait is over without one: the test's time, a signal, or that
    /// none will come.
    pub(crate) fn wait<T>(&self, events: &Receiver<T>) -> Result<T, String> {
        loop {
            let left = self.end.saturating_duration_since(Instant::now());
            match events.recv_timeout(left.min(TICK)) {
                Ok(event) => return Ok(event),
                Err(RecvTimeoutError::Disconnected) => return Err("it ended without a result".to_owned()),
                Err(RecvTimeoutError::Timeout) if left.is_zero() => return Err(self.over()),
                Err(RecvTimeoutError::Timeout) => self.interrupted()?,
            }
        }
    }

    fn over(&self) -> String {
        format!("stopped: the test took longer than {} s; --timeout gives it more", self.time.as_secs_f64())
    }

    fn interrupted(&self) -> Result<(), String> {
        let held = self.interrupts.as_ref().map(|interrupts| interrupts.hold());
        held.map_or(Ok(()), |held| held.check()).map_err(|signal| format!("stopped: {signal}"))
    }
}

/// The reason why an output is refused, if it is.
pub(crate) fn too_long(name: &str, output: &[u8]) -> Option<String> {
    let found = output.len() as u64;
    (found > MAX_BYTES).then(|| format!("stopped: it wrote more than {MAX_BYTES} bytes to {name}"))
}

/// The bytes of a file that a test names.
pub(crate) fn read(path: &Path) -> std::io::Result<Vec<u8>> {
    visa_files::read(path, MAX_BYTES)
}
