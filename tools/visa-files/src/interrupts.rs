//! Signals that end the process: put off while a file is being written.

use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXFSZ};
use signal_hook::flag::{register_conditional_default, register_usize};
use signal_hook::low_level::emulate_default_handler;
use std::io;
use std::os::raw::c_int;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Signals that ask a process to end.
const ENDING: [c_int; 4] = [SIGHUP, SIGINT, SIGQUIT, SIGTERM];

/// The process's treatment of signals that would end it. One a process, made at its start: the dispositions of signals
/// belong to the process, so a library takes this as a value.
#[derive(Debug)]
pub struct Interrupts {
    /// True if a signal has its default effect at once.
    immediate: Arc<AtomicBool>,
    /// The signal that came while it did not; 0 for none.
    pending: Arc<AtomicUsize>,
    /// Number of guards that postpone signals.
    guards: Mutex<usize>,
}

impl Interrupts {
    /// Takes over the signals that end a process, except those that its parent set to be ignored. A file that gets
    /// larger than the process may write is an error of the write from now on, no signal.
    ///
    /// # Errors
    /// The system's error.
    pub fn catch() -> io::Result<Self> {
        let immediate = Arc::new(AtomicBool::new(true));
        let caught = Self { immediate, pending: Arc::default(), guards: Mutex::default() };
        let ignored = ignored();
        for signal in ENDING.into_iter().filter(|signal| ignored & (1 << (signal - 1)) == 0) {
            register_conditional_default(signal, Arc::clone(&caught.immediate))?;
            register_usize(signal, Arc::clone(&caught.pending), signal.unsigned_abs() as usize)?;
        }
        register_usize(SIGXFSZ, Arc::default(), 0)?;
        Ok(caught)
    }

    /// Puts signals off until the guard, and every other one, is dropped.
    #[must_use]
    pub fn hold(&self) -> SignalGuard<'_> {
        let mut guards = self.guards();
        *guards += 1;
        self.immediate.store(false, Ordering::SeqCst);
        SignalGuard(self)
    }

    /// The count; a thread that panicked has left it right.
    fn guards(&self) -> MutexGuard<'_, usize> {
        self.guards.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// While this lives, signals are only noted. One that came meanwhile ends the process when the last of these is
/// dropped.
#[derive(Debug)]
pub struct SignalGuard<'a>(&'a Interrupts);

impl SignalGuard<'_> {
    /// The error to stop with if a signal came.
    ///
    /// # Errors
    /// A signal came.
    pub fn check(&self) -> io::Result<()> {
        match self.0.pending.load(Ordering::SeqCst) {
            0 => Ok(()),
            signal => Err(io::Error::other(format!("signal {signal} came"))),
        }
    }
}

impl Drop for SignalGuard<'_> {
    fn drop(&mut self) {
        let mut guards = self.0.guards();
        *guards -= 1;
        if *guards > 0 {
            return;
        }
        self.0.immediate.store(true, Ordering::SeqCst);
        let signal = self.0.pending.load(Ordering::SeqCst);
        if signal != 0 {
            // Fails for signals without a name only, and all of ours have one.
            let _ends_here = emulate_default_handler(signal as c_int);
        }
    }
}

/// The signals that the process ignores, bit `n - 1` for signal `n`: as a job in the background of a script does, or
/// under `nohup`. Zero if the system does not report them.
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status");
    let mask = status.ok().and_then(|status| {
        let line = status.lines().find_map(|line| line.strip_prefix("SigIgn:"))?;
        u64::from_str_radix(line.trim(), 16).ok()
    });
    mask.unwrap_or(0)
}
