//! Writing: into a temporary file next to the target, which then takes its name.

use crate::interrupts::{Interrupts, SignalGuard};
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

/// Bytes written before it is asked again whether a signal came.
const CHUNK: usize = 1 << 20;
/// Permissions of a new file, before the umask removes some.
const NEW: u32 = 0o666;

/// A closure that writes the content of a file.
type Fill<'a> = &'a mut dyn FnMut(&mut dyn Write) -> io::Result<()>;

/// Where bytes go.
enum Target {
    /// A file, its links resolved: that takes the name, with these permissions if it was there before.
    File(PathBuf, Option<u32>),
    /// A target without an end: a pipe, a terminal, `/dev/null`.
    Stream,
}

/// Writes the file that `fill` writes, so that it is there whole or not at all. As with `cp`, a file that is there
/// keeps its permissions, a symbolic link leads to the file that is written, and pipes and character devices are
/// written to directly. The bytes are on the disk before the file takes its name.
///
/// # Errors
/// The system's error (of `path`, not of the temporary file), a target that may not be written to or is of another
/// kind, and the error of `fill`.
pub fn write(
    path: &Path,
    interrupts: Option<&Interrupts>,
    mut fill: impl FnMut(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    match target(path)? {
        Target::Stream => fill(&mut OpenOptions::new().write(true).open(path)?),
        Target::File(path, mode) => replace(&path, mode, interrupts, &mut fill),
    }
}

/// Writes `bytes` to the file called `name` in `folder`, and nowhere else: the origin of the name is not trusted with
/// a path, and a symbolic link of that name is refused. Otherwise as [`write()`].
///
/// # Errors
/// As [`write()`]; a name that is no [plain one](is_plain_name).
pub fn write_in(folder: &Path, name: &str, interrupts: Option<&Interrupts>, bytes: &[u8]) -> io::Result<()> {
    if !is_plain_name(name) {
        return refuse("it is not the plain name of a file");
    }
    let path = folder.join(name);
    let mode = match fs::symlink_metadata(&path) {
        Ok(found) if found.is_file() => Some(permissions(&found)),
        Ok(_) => return refuse("it is not a regular file"),
        Err(why) if why.kind() == io::ErrorKind::NotFound => None,
        Err(why) => return Err(why),
    };
    replace(&path, mode, interrupts, &mut |out| out.write_all(bytes))
}

/// Returns true if `name` names a file of a folder and leads nowhere else: it has neither separators nor NUL and is
/// neither `.` nor `..`.
#[must_use]
pub fn is_plain_name(name: &str) -> bool {
    !matches!(name, "" | "." | "..") && !name.contains(['/', '\\', '\0'])
}

fn refuse<T>(message: &str) -> io::Result<T> {
    Err(io::Error::new(io::ErrorKind::InvalidInput, message))
}

fn target(path: &Path) -> io::Result<Target> {
    let found = match fs::metadata(path) {
        Ok(found) => found,
        Err(why) if why.kind() == io::ErrorKind::NotFound && path.is_symlink() => {
            return refuse("it is a symbolic link to a file that is not there");
        }
        Err(why) if why.kind() == io::ErrorKind::NotFound => return Ok(Target::File(path.to_owned(), None)),
        Err(why) => return Err(why),
    };
    let kind = found.file_type();
    if kind.is_fifo() || kind.is_char_device() {
        return Ok(Target::Stream);
    }
    if !kind.is_file() {
        return refuse("it is not a regular file");
    }
    // Who may not write to the file may not replace it either.
    OpenOptions::new().write(true).open(path)?;
    Ok(Target::File(fs::canonicalize(path)?, Some(permissions(&found))))
}

/// Read, write and execute permissions; that it runs as its owner is lost, as when a file is written to.
fn permissions(found: &fs::Metadata) -> u32 {
    found.permissions().mode() & 0o777
}

fn replace(
    path: &Path,
    mode: Option<u32>,
    interrupts: Option<&Interrupts>,
    fill: Fill<'_>,
) -> io::Result<()> {
    // Dropped last: a signal that came ends the process when the temporary file is gone.
    let held = interrupts.map(Interrupts::hold);
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(mode.unwrap_or(NEW));
    let mut file = tempfile::Builder::new().prefix(".visa-").make_in(folder, |path| options.open(path))?;
    fill(&mut Checked { file: file.as_file_mut(), held: held.as_ref() })?;
    if let Some(mode) = mode {
        file.as_file().set_permissions(Permissions::from_mode(mode))?;
    }
    file.as_file().sync_all()?;
    held.as_ref().map_or(Ok(()), SignalGuard::check)?;
    file.persist(path).map(drop).map_err(|error| error.error)
}

/// A file that is written to until a signal comes.
struct Checked<'a> {
    file: &'a mut File,
    held: Option<&'a SignalGuard<'a>>,
}

impl Write for Checked<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.held.map_or(Ok(()), SignalGuard::check)?;
        self.file.write(&bytes[..bytes.len().min(CHUNK)])
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
