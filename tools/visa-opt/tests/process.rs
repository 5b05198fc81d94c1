//! The tool as a process: its arguments, its streams, and limits that the system sets.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Command, Output};

const KERNEL: &str = "visa 1\ntm.axes [A = 2]\n";

/// Runs visa-opt in `folder` after the shell's `setup`, which may end in redirections.
fn run(folder: &Path, setup: &str, args: &str) -> Output {
    let line = format!("{setup}; \"$TOOL\" {args}");
    let mut command = Command::new("sh");
    command.args(["-c", &line]).env("TOOL", env!("CARGO_BIN_EXE_visa-opt")).current_dir(folder);
    command.output().expect("a process")
}

#[track_caller]
fn refused(output: &Output, part: &str) {
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), output.status.signal()), (Some(1), None), "{told}");
    assert!(told.contains(part), "{told}");
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry"));
    let mut names: Vec<_> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("a.visa"), KERNEL).expect("written");
    folder
}

/// 8 KiB of text where a file may have 512 bytes (dash counts in blocks) or 1 KiB (bash).
#[test]
fn a_limit_on_the_size_of_files_is_an_error() {
    let folder = folder();
    let axes: Vec<_> = (0..1000).map(|number| format!("A{number} = 2")).collect();
    fs::write(folder.path().join("long.visa"), format!("visa 1\ntm.axes [{}]\n", axes.join(", ")))
        .expect("written");
    fs::write(folder.path().join("out.visa"), "old").expect("written");
    let output = run(folder.path(), "ulimit -f 1", "long.visa -o out.visa");
    refused(&output, "error[cannot-write]: cannot write `out.visa`: File too large");
    assert_eq!(fs::read_to_string(folder.path().join("out.visa")).expect("read"), "old");
    refused(
        &run(folder.path(), "ulimit -f 1", "long.visa > new"),
        "cannot write standard output: File too large",
    );
    assert_eq!(names(folder.path()), ["a.visa", "long.visa", "new", "out.visa"]);
    assert!(run(folder.path(), "ulimit -f 1", "a.visa -o out.visa").status.success());
}

/// 40 MB of blank lines, of which an error shows one: the stored data must not be a number for each line.
#[test]
fn blank_lines_take_no_more_memory_than_their_bytes() {
    let folder = folder();
    fs::write(folder.path().join("blank.visa"), vec![b'\n'; 40_000_000]).expect("written");
    refused(&run(folder.path(), "ulimit -v 250000", "blank.visa"), "the input is empty");
}

#[test]
fn standard_output_that_cannot_be_written_is_an_error() {
    let folder = folder();
    refused(&run(folder.path(), "true", "a.visa > /dev/full"), "cannot write standard output: No space left");
    // The reader is gone before anything is written: the pipe's other end is closed when the first command ends.
    let gone = run(folder.path(), "mkfifo pipe; exec 3<>pipe 4>pipe 3<&-", "a.visa >&4");
    refused(&gone, "cannot write standard output: Broken pipe");
    assert!(run(folder.path(), "true", "a.visa > /dev/null").status.success());
}

#[test]
fn names_that_are_not_utf8_are_refused_and_never_changed() {
    let folder = folder();
    let name = OsStr::from_bytes(b"x\xff.visa");
    fs::write(folder.path().join(name), KERNEL).expect("written");
    for args in [vec![name], vec!["a.visa".as_ref(), "-o".as_ref(), name]] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_visa-opt"));
        let output = command.args(args).current_dir(folder.path()).output().expect("a process");
        refused(&output, "the argument \"x\\xFF.visa\" is not UTF-8");
    }
    assert_eq!(fs::read(folder.path().join(name)).expect("read"), KERNEL.as_bytes());
    assert_eq!(names(folder.path()).len(), 2);
    // A folder of such a name is no argument.
    let inside = folder.path().join(OsStr::from_bytes(b"\xfe"));
    fs::create_dir(&inside).expect("a folder");
    assert!(run(&inside, "true", "../a.visa -o b.visa").status.success());
    assert_eq!(names(&inside), ["b.visa"]);
}

#[test]
fn an_output_through_a_link_keeps_the_link_and_the_permissions() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = folder();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("real.visa"), "old").expect("written");
    fs::set_permissions(path("real.visa"), fs::Permissions::from_mode(0o600)).expect("set");
    std::os::unix::fs::symlink("real.visa", path("link.visa")).expect("a link");
    assert!(run(folder.path(), "umask 022", "a.visa -o link.visa").status.success());
    assert!(path("link.visa").is_symlink());
    assert_eq!(fs::read_to_string(path("real.visa")).expect("read"), KERNEL);
    assert_eq!(fs::metadata(path("real.visa")).expect("a file").permissions().mode() & 0o777, 0o600);
}

#[test]
fn a_pipe_that_is_named_is_refused_at_once() {
    let folder = folder();
    refused(&run(folder.path(), "mkfifo pipe", "pipe"), "cannot read `pipe`: it is not a regular file");
    refused(
        &run(folder.path(), "true", "--machine pipe a.visa"),
        "cannot read `pipe`: it is not a regular file",
    );
    assert!(run(folder.path(), "true", "- < a.visa").status.success());
    assert!(run(folder.path(), "cat a.visa | \"$TOOL\"", "a.visa -o /dev/null").status.success());
}
