//! The inputs and outputs of a tool, as values: a run in a test and a run in a process are the same run.

use std::io::{self, Cursor, IsTerminal, Read, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use visa_files::Interrupts;

/// Standard streams and the working directory of one run.
pub struct Io {
    /// Where `-` reads from.
    pub stdin: Box<dyn Read>,
    /// The standard output.
    pub stdout: Vec<u8>,
    /// The standard error.
    pub stderr: Vec<u8>,
    /// The start of relative paths.
    pub cwd: PathBuf,
    /// True if standard error accepts colour.
    pub color: bool,
    /// Postpones signals while a file is being written; `None` does not.
    pub interrupts: Option<Interrupts>,
    /// True if progress may be shown on the process's standard error, if that is a terminal.
    pub progress: bool,
}

impl Io {
    /// Streams in memory, without colour; for tests and for tools that run this one.
    #[must_use]
    pub fn buffered(stdin: impl Into<Vec<u8>>, cwd: impl Into<PathBuf>) -> Self {
        let stdin = Box::new(Cursor::new(stdin.into()));
        Self {
            stdin,
            stdout: Vec::new(),
            stderr: Vec::new(),
            cwd: cwd.into(),
            color: false,
            interrupts: None,
            progress: false,
        }
    }

    /// A path as this run sees it.
    #[must_use]
    pub fn path(&self, name: &str) -> PathBuf {
        self.cwd.join(name)
    }

    /// The bytes of a regular file, or of standard input for `-`.
    ///
    /// # Errors
    /// The error of [`visa_files::read`], such as more than `bound` bytes.
    pub fn read(&mut self, name: &str, bound: u64) -> io::Result<Vec<u8>> {
        if name == "-" {
            return visa_files::read_stream(&mut self.stdin, bound);
        }
        visa_files::read(&self.path(name), bound)
    }

    /// Writes a file whole (see [`visa_files::write`]), or appends to standard output for `-`.
    ///
    /// # Errors
    /// The system's error.
    pub fn write(&mut self, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.write_with(name, |out| out.write_all(bytes))
    }

    /// As [`Io::write`], for content that is written piece by piece.
    ///
    /// # Errors
    /// The system's error.
    pub fn write_with(
        &mut self,
        name: &str,
        mut fill: impl FnMut(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<()> {
        if name == "-" {
            return fill(&mut self.stdout);
        }
        visa_files::write(&self.path(name), self.interrupts.as_ref(), fill)
    }

    /// Writes the file called `name` in `folder` and nowhere else (see [`visa_files::write_in`]).
    ///
    /// # Errors
    /// The system's error, and a name that leads elsewhere.
    pub fn write_in(&mut self, folder: &str, name: &str, bytes: &[u8]) -> io::Result<()> {
        visa_files::write_in(&self.path(folder), name, self.interrupts.as_ref(), bytes)
    }

    /// Passes the outputs on to the process's streams. Returns the exit code: `code`, or 1 if that fails.
    fn finish(self, code: i32) -> ExitCode {
        let mut told = io::stderr().write_all(&self.stderr);
        if let Err(why) = io::stdout().write_all(&self.stdout).and_then(|()| io::stdout().flush()) {
            told = Err(refuse(&format!("cannot write standard output: {why}")));
        }
        let code = u8::try_from(code).unwrap_or(1);
        if told.is_ok() { ExitCode::from(code) } else { ExitCode::FAILURE }
    }
}

/// Runs a tool as a process: on its arguments (without the program's name), standard input and working directory;
/// colour only on a terminal. Arguments that are not UTF-8 are refused, as they could not be shown as they are.
#[must_use]
pub fn process(run: impl FnOnce(&[String], &mut Io) -> i32) -> ExitCode {
    let args = std::env::args_os().skip(1).map(|arg| {
        let refused = |arg: std::ffi::OsString| {
            format!("the argument {arg:?} is not UTF-8; if it names a file, rename that")
        };
        arg.into_string().map_err(refused)
    });
    let started = args.collect::<Result<Vec<_>, _>>().and_then(|args| {
        let interrupts = Interrupts::catch().map_err(|why| format!("cannot catch signals: {why}"))?;
        Ok((args, interrupts))
    });
    match started {
        Ok((args, interrupts)) => {
            let color = io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
            let (stdin, interrupts) = (Box::new(io::stdin()), Some(interrupts));
            let mut io = Io { stdin, color, interrupts, progress: true, ..Io::buffered([], "") };
            let code = run(&args, &mut io);
            io.finish(code)
        }
        Err(message) => {
            let _failed_anyway = refuse(&message);
            ExitCode::FAILURE
        }
    }
}

/// Writes an error about the process itself, and returns it.
fn refuse(message: &str) -> io::Error {
    // If this fails, there is no reader left; the exit code also reports the failure.
    let _lost = writeln!(io::stderr(), "error: {message}");
    io::Error::other(message.to_owned())
}
