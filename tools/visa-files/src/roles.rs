//! The files of one run with their roles: two outputs that are one file, or an output that is an input, lose data.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Component, Path, PathBuf};

/// The name of the standard streams on a command line.
const STANDARD: &str = "-";
/// Most symbolic links that are followed for a file that does not exist, as in Linux.
const MOST_LINKS: usize = 40;

/// The files that a run reads and writes, registered by the option that names each of them.
///
/// Two names are one file if they lead to the same file on the disk: by another spelling, a symbolic link or a hard
/// link. Of files that do not exist yet, the folders that exist and the rest of the name are compared. `/dev/null`
/// may be written by several options. Every other pipe or device, and standard output, takes one output.
#[derive(Clone, Debug)]
pub struct FileRoles {
    folder: PathBuf,
    inputs: Vec<NamedFile>,
    outputs: Vec<NamedFile>,
}

/// Two options of a run that name one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedFile {
    /// The finding and the expectation.
    pub message: String,
    /// The change that helps.
    pub fix: String,
}

#[derive(Clone, Debug)]
struct NamedFile {
    /// The option as on the command line.
    option: String,
    identity: Identity,
}

/// An equal value is the same file.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Identity {
    Stdin,
    Stdout,
    /// `/dev/null`, which loses nothing that is wanted.
    Null,
    /// A device, by its number.
    Device(u64),
    /// A file that exists, by its device and inode.
    Existing(u64, u64),
    /// A file that does not exist: the nearest folder that does, and the names from there on.
    New(Box<Identity>, PathBuf),
    /// A path without any folder that can be looked at.
    Unknown(PathBuf),
}

impl FileRoles {
    /// No files yet; relative names start from `folder`.
    #[must_use]
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), inputs: Vec::new(), outputs: Vec::new() }
    }

    /// Registers a file that the run reads. For `-`, that is standard input.
    pub fn input(&mut self, option: impl Into<String>, name: impl AsRef<Path>) {
        let identity = self.identity(name.as_ref(), Identity::Stdin);
        self.inputs.push(NamedFile { option: option.into(), identity });
    }

    /// Registers a file that the run writes. For `-`, that is standard output.
    pub fn output(&mut self, option: impl Into<String>, name: impl AsRef<Path>) {
        let identity = self.identity(name.as_ref(), Identity::Stdout);
        self.outputs.push(NamedFile { option: option.into(), identity });
    }

    /// Every pair of an output and an input, or of two outputs, that is one file.
    #[must_use]
    pub fn shared(&self) -> Vec<SharedFile> {
        let mut shared = Vec::new();
        for (at, output) in self.outputs.iter().enumerate() {
            if output.identity == Identity::Null {
                continue;
            }
            let same = |other: &&NamedFile| other.identity == output.identity;
            let inputs = self.inputs.iter().filter(same).map(|input| output.overwrites(input));
            let outputs = self.outputs[..at].iter().filter(same).map(|first| output.repeats(first));
            shared.extend(inputs.chain(outputs));
        }
        shared
    }

    fn identity(&self, name: &Path, standard: Identity) -> Identity {
        match name.as_os_str() == OsStr::new(STANDARD) {
            true => standard,
            false => identity(&self.folder.join(name), MOST_LINKS),
        }
    }
}

impl NamedFile {
    fn overwrites(&self, input: &Self) -> SharedFile {
        let message = format!(
            "`{}` writes the file that `{}` reads, expected an output that is no input",
            self.option, input.option
        );
        SharedFile { message, fix: format!("give `{}` another file", self.option) }
    }

    fn repeats(&self, first: &Self) -> SharedFile {
        let message = format!(
            "`{}` and `{}` write one file, expected a file for each output",
            first.option, self.option
        );
        SharedFile { message, fix: format!("give `{}` another file", self.option) }
    }
}

fn identity(path: &Path, links: usize) -> Identity {
    match fs::metadata(path) {
        Ok(found) => existing(&found),
        Err(why) if why.kind() == io::ErrorKind::NotFound => new(path, links),
        Err(_) => Identity::Unknown(path.to_owned()),
    }
}

fn existing(found: &fs::Metadata) -> Identity {
    let kind = found.file_type();
    let number = |path: &str| fs::metadata(path).ok().map(|found| (found.dev(), found.ino(), found.rdev()));
    if kind.is_char_device() && number("/dev/null").is_some_and(|(.., device)| device == found.rdev()) {
        return Identity::Null;
    }
    let streams = kind.is_char_device() || kind.is_fifo() || kind.is_socket();
    let own = (found.dev(), found.ino(), found.rdev());
    // A terminal is standard input and output at once: its identity depends on the role.
    if streams && number("/dev/stdout") == Some(own) && number("/dev/stdin") != Some(own) {
        return Identity::Stdout;
    }
    match kind.is_char_device() {
        true => Identity::Device(found.rdev()),
        false => Identity::Existing(found.dev(), found.ino()),
    }
}

/// A file that does not exist, or a symbolic link to one.
fn new(path: &Path, links: usize) -> Identity {
    let parent = path.parent().map(|parent| match parent.as_os_str().is_empty() {
        true => Path::new("."),
        false => parent,
    });
    let (Some(parent), Some(last)) = (parent, path.components().next_back()) else {
        return Identity::Unknown(path.to_owned());
    };
    if let Some(links) = links.checked_sub(1)
        && let Ok(target) = fs::read_link(path)
    {
        return identity(&parent.join(target), links);
    }
    match identity(parent, links) {
        Identity::New(folder, rest) => match last {
            Component::ParentDir => Identity::Unknown(path.to_owned()),
            _ => Identity::New(folder, rest.join(last)),
        },
        Identity::Unknown(parent) => Identity::Unknown(parent.join(last)),
        folder => Identity::New(Box::new(folder), PathBuf::from(last.as_os_str())),
    }
}
