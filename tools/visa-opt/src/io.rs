//! What a tool reads and writes, as values: a run in a test and a run in a process are the same run.

use std::fs;
use std::io::{self, Cursor, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use visa_ir::parse::limits::MAX_SOURCE_BYTES;

/// Standard streams and the working directory of one run.
pub struct Io {
    /// Where `-` reads from.
    pub stdin: Box<dyn Read>,
    /// What was written to standard output.
    pub stdout: Vec<u8>,
    /// What was written to standard error.
    pub stderr: Vec<u8>,
    /// What relative paths start from.
    pub cwd: PathBuf,
    /// Whether standard error takes colour.
    pub color: bool,
}

impl Io {
    /// Streams in memory, without colour; for tests and for tools that run this one.
    #[must_use]
    pub fn buffered(stdin: impl Into<Vec<u8>>, cwd: impl Into<PathBuf>) -> Self {
        let stdin = Box::new(Cursor::new(stdin.into()));
        Self { stdin, stdout: Vec::new(), stderr: Vec::new(), cwd: cwd.into(), color: false }
    }

    /// The process's own standard input and working directory; colour only on a terminal.
    #[must_use]
    pub fn process() -> Self {
        let color = io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
        Self { stdin: Box::new(io::stdin()), color, ..Self::buffered([], "") }
    }

    /// A path as this run sees it.
    #[must_use]
    pub fn path(&self, name: &str) -> PathBuf {
        self.cwd.join(name)
    }

    /// The bytes of a file, or of standard input for `-`; at most one more than a source may have.
    ///
    /// # Errors
    /// What the system says.
    pub fn read(&mut self, name: &str) -> io::Result<Vec<u8>> {
        let limit = MAX_SOURCE_BYTES as u64 + 1;
        let mut bytes = Vec::new();
        if name == "-" {
            self.stdin.by_ref().take(limit).read_to_end(&mut bytes)?;
        } else {
            fs::File::open(self.path(name))?.take(limit).read_to_end(&mut bytes)?;
        }
        Ok(bytes)
    }

    /// Writes a file whole (see [`write_whole`]), or appends to standard output for `-`.
    ///
    /// # Errors
    /// What the system says.
    pub fn write(&mut self, name: &str, bytes: &[u8]) -> io::Result<()> {
        if name == "-" {
            self.stdout.extend_from_slice(bytes);
            return Ok(());
        }
        write_whole(&self.path(name), bytes)
    }

    /// Passes what was written on to the process's own streams, and makes the exit code the process's.
    #[must_use]
    pub fn finish(self, code: i32) -> ExitCode {
        let told = io::stderr().write_all(&self.stderr);
        let out = io::stdout().write_all(&self.stdout).and_then(|()| io::stdout().flush());
        let code = u8::try_from(code).unwrap_or(1);
        if told.is_ok() && out.is_ok() { ExitCode::from(code) } else { ExitCode::FAILURE }
    }
}

/// Writes a file so that it is there whole or not at all: into a temporary file beside it, which then takes its name.
/// What is there and is no regular file (a pipe, `/dev/null`) is written to directly.
///
/// # Errors
/// What the system says.
pub fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir()) {
        return fs::write(path, bytes);
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    builder.prefix(".visa-");
    #[cfg(unix)]
    {
        // As any other new file: the process's umask takes away what it takes away.
        use std::os::unix::fs::PermissionsExt as _;
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    let mut file = builder.tempfile_in(folder)?;
    file.write_all(bytes)?;
    file.persist(path).map(|_| ()).map_err(|error| error.error)
}
