//! Programs as processes: a group each, that ends with the command, with the test's time, or with too much output.

use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use crate::limits::{Limits, MAX_BYTES, too_long};

/// Time limit for the end of a group's outputs after the group ended. Only a process that left the group holds one
/// open.
const GRACE: Duration = Duration::from_secs(5);

/// Status of an ended process, and its outputs.
pub(crate) struct Ended {
    /// Its status; or why it was stopped.
    pub(crate) status: Result<ExitStatus, String>,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
}

/// An event of a process.
enum Event {
    Exited,
    TooLong,
}

/// Runs `command` on all of `stdin`. The processes that it started in its group end with it.
pub(crate) fn run(command: &mut Command, stdin: &[u8], limits: &Limits) -> io::Result<Ended> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let mut child = command.spawn()?;
    let group = Pid::from_child(&child);
    let (sender, events) = mpsc::channel();
    let stdout = child.stdout.take().map(|stream| capture(stream, sender.clone()));
    let stderr = child.stderr.take().map(|stream| capture(stream, sender.clone()));
    if let Some(mut stream) = child.stdin.take() {
        let stdin = stdin.to_vec();
        // A thread, as a child that fills its output before it has read everything would block us. It may also end
        // without reading, as `true` does: that is no error.
        thread::spawn(move || stream.write_all(&stdin));
    }
    // Without reaping it: until then the group's number is its own.
    thread::spawn(move || {
        let _seen = waitid(WaitId::Pid(group), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT);
        sender.send(Event::Exited)
    });
    let stopped = limits.wait(&events).err();
    // There is nothing left to end if the command was alone.
    let _gone = kill_process_group(group, Signal::KILL);
    let status = child.wait()?;
    let [stdout, stderr] = [collected(stdout), collected(stderr)];
    let refused = stopped.or_else(|| too_long("standard output", &stdout.0));
    let refused = refused.or_else(|| too_long("standard error", &stderr.0)).or(stdout.1).or(stderr.1);
    Ok(Ended { status: refused.map_or(Ok(status), Err), stdout: stdout.0, stderr: stderr.0 })
}

/// Reads `stream` to its end, or to one byte more than an output may have.
fn capture(stream: impl Read + Send + 'static, events: Sender<Event>) -> Receiver<Vec<u8>> {
    let (sender, read) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // An output that cannot be read on is one that has ended.
        let _ended = stream.take(MAX_BYTES + 1).read_to_end(&mut bytes);
        if bytes.len() as u64 > MAX_BYTES {
            // The waiting thread may have been told to stop already.
            let _told = events.send(Event::TooLong);
        }
        sender.send(bytes)
    });
    read
}

/// The bytes read, and the reason why they are not all.
fn collected(read: Option<Receiver<Vec<u8>>>) -> (Vec<u8>, Option<String>) {
    match read.map(|read| read.recv_timeout(GRACE)) {
        Some(Ok(bytes)) => (bytes, None),
        Some(Err(_)) => {
            let message = "stopped: a process that it started has left its group and holds an output open";
            (Vec::new(), Some(message.to_owned()))
        }
        None => (Vec::new(), Some("it has no output".to_owned())),
    }
}
