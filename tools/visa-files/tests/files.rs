//! Reading with a bound and writing whole, on real files.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::net::UnixListener;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::Command;

use tempfile::{TempDir, tempdir};
use visa_files::{Interrupts, is_plain_name, open, read, read_stream, write, write_in};

/// The environment variable that names the file which the process started by a test writes.
const CHILD: &str = "VISA_FILES_CHILD";

fn folder() -> TempDir {
    tempdir().expect("a temporary folder")
}

fn put(path: &Path, bytes: &[u8]) -> io::Result<()> {
    write(path, None, |out| out.write_all(bytes))
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder");
    let mut names: Vec<_> =
        entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8")).collect();
    names.sort();
    names
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).expect("a file").permissions().mode() & 0o7777
}

fn fifo(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().expect("mkfifo").success());
}

#[track_caller]
fn refused<T: std::fmt::Debug>(result: io::Result<T>, part: &str) {
    let message = result.expect_err("an error").to_string();
    assert!(message.contains(part), "{message}");
    assert!(!message.contains(".visa-"), "{message}");
}

#[test]
fn a_file_at_its_bound_is_read_and_one_over_it_is_not() {
    let folder = folder();
    let path = folder.path().join("a");
    fs::write(&path, b"12345").expect("written");
    assert_eq!(read(&path, 5).expect("read"), b"12345");
    refused(read(&path, 4), "it has 5 bytes, expected at most 4");
    assert_eq!(read(&path, u64::MAX).expect("read"), b"12345");
}

/// A reader that counts the bytes taken from it.
struct Endless(u64);

impl io::Read for &mut Endless {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0 += buffer.len() as u64;
        Ok(buffer.len())
    }
}

#[test]
fn a_stream_is_read_to_one_byte_over_its_bound() {
    assert_eq!(read_stream(&b"123"[..], 3).expect("read"), b"123");
    refused(read_stream(&b"1234"[..], 3), "it has more than 3 bytes, expected at most 3");
    let mut endless = Endless(0);
    refused(read_stream(&mut endless, 100_000), "more than 100000");
    assert_eq!(endless.0, 100_001);
}

#[test]
fn only_regular_files_are_read() {
    let folder = folder();
    let path = |name: &str| folder.path().join(name);
    fifo(&path("pipe"));
    let _listener = UnixListener::bind(path("socket")).expect("a socket");
    symlink("pipe", path("link")).expect("a link");
    for found in [path("pipe"), path("socket"), path("link"), folder.path().into(), "/dev/zero".into()] {
        refused(read(&found, 10), "it is not a regular file");
        refused(open(&found), "it is not a regular file");
    }
    refused(read(&path("none"), 10), "No such file");
    fs::write(path("file"), b"1").expect("written");
    symlink("file", path("good")).expect("a link");
    assert_eq!(read(&path("good"), 10).expect("read"), b"1");
}

/// The system gives no length for it: the bound holds all the same.
#[test]
fn a_file_of_the_system_is_read_up_to_its_end() {
    let path = Path::new("/proc/self/status");
    assert!(read(path, 1 << 16).expect("read").starts_with(b"Name:"));
    refused(read(path, 10), "more than 10 bytes");
}

#[test]
fn a_new_file_is_an_ordinary_one() {
    let folder = folder();
    let path = folder.path().join("new");
    fs::write(folder.path().join("ordinary"), b"").expect("written");
    put(&path, b"text").expect("written");
    assert_eq!(fs::read(&path).expect("read"), b"text");
    assert_eq!(mode(&path), mode(&folder.path().join("ordinary")));
    assert_eq!(names(folder.path()), ["new", "ordinary"]);
}

#[test]
fn a_file_that_is_there_keeps_its_permissions() {
    let folder = folder();
    let path = folder.path().join("file");
    for bits in [0o600, 0o644, 0o666, 0o755] {
        fs::write(&path, b"old").expect("written");
        fs::set_permissions(&path, Permissions::from_mode(bits)).expect("set");
        put(&path, b"new").expect("written");
        assert_eq!((fs::read(&path).expect("read"), mode(&path)), (b"new".to_vec(), bits));
    }
    // A file that ran as its owner must not run as the user who wrote it.
    fs::set_permissions(&path, Permissions::from_mode(0o4755)).expect("set");
    put(&path, b"new").expect("written");
    assert_eq!(mode(&path), 0o755);
}

#[test]
fn a_symbolic_link_leads_to_the_file_that_is_written() {
    let folder = folder();
    let path = |name: &str| folder.path().join(name);
    fs::create_dir(path("there")).expect("a folder");
    fs::write(path("there/file"), b"old").expect("written");
    fs::set_permissions(path("there/file"), Permissions::from_mode(0o640)).expect("set");
    symlink("there/file", path("near")).expect("a link");
    symlink("near", path("far")).expect("a link");
    put(&path("far"), b"new").expect("written");
    assert_eq!(fs::read(path("there/file")).expect("read"), b"new");
    assert_eq!(mode(&path("there/file")), 0o640);
    assert!(path("far").is_symlink() && path("near").is_symlink());
    assert_eq!(
        (names(folder.path()), names(&path("there"))),
        (vec!["far".to_owned(), "near".to_owned(), "there".to_owned()], vec!["file".to_owned()])
    );
    symlink("none", path("dangling")).expect("a link");
    refused(put(&path("dangling"), b"new"), "it is a symbolic link to a file that is not there");
    assert!(!path("none").exists());
    symlink("circle", path("circle")).expect("a link");
    refused(put(&path("circle"), b"new"), "symbolic links");
}

#[test]
fn what_is_no_file_is_written_to_or_refused_but_never_replaced() {
    let folder = folder();
    let path = |name: &str| folder.path().join(name);
    put(Path::new("/dev/null"), b"text").expect("written");
    refused(put(Path::new("/dev/full"), b"text"), "No space left");
    fifo(&path("pipe"));
    let reader = std::thread::spawn({
        let pipe = path("pipe");
        move || fs::read(pipe).expect("read")
    });
    put(&path("pipe"), b"through").expect("written");
    assert_eq!(reader.join().expect("a reader"), b"through");
    let _listener = UnixListener::bind(path("socket")).expect("a socket");
    refused(put(&path("socket"), b"text"), "it is not a regular file");
    refused(put(folder.path(), b"text"), "it is not a regular file");
    refused(put(&path("none/file"), b"text"), "No such file");
    refused(put(Path::new(""), b"text"), "No such file");
    assert_eq!(names(folder.path()), ["pipe", "socket"]);
}

#[test]
fn a_failed_write_leaves_what_was_there() {
    let folder = folder();
    let path = folder.path().join("file");
    fs::write(&path, b"old").expect("written");
    let failed = write(&path, None, |out| {
        out.write_all(b"half")?;
        Err(io::Error::other("no more"))
    });
    refused(failed, "no more");
    assert_eq!(fs::read(&path).expect("read"), b"old");
    assert_eq!(names(folder.path()), ["file"]);
}

#[test]
fn a_name_that_is_not_trusted_stays_in_its_folder() {
    let outside = folder();
    let folder = folder();
    let path = |name: &str| folder.path().join(name);
    let put = |name: &str| write_in(folder.path(), name, None, b"new");
    for name in ["", ".", "..", "../a", "a/b", "/tmp/a", "./a", "a/", "a\\b", "a\0b"] {
        assert!(!is_plain_name(name), "{name:?}");
        refused(put(name), "it is not the plain name of a file");
    }
    fs::write(outside.path().join("victim"), b"old").expect("written");
    symlink(outside.path().join("victim"), path("link")).expect("a link");
    symlink(outside.path().join("none"), path("dangling")).expect("a link");
    fs::create_dir(path("folder")).expect("a folder");
    fifo(&path("pipe"));
    for name in ["link", "dangling", "folder", "pipe"] {
        refused(put(name), "it is not a regular file");
    }
    assert_eq!(fs::read(outside.path().join("victim")).expect("read"), b"old");
    assert_eq!(names(outside.path()), ["victim"]);
    put("..a.json").expect("written");
    // A second name of a file elsewhere: that file stays as it is.
    fs::hard_link(outside.path().join("victim"), path("second")).expect("a link");
    put("second").expect("written");
    assert_eq!(fs::read(path("second")).expect("read"), b"new");
    assert_eq!(fs::read(outside.path().join("victim")).expect("read"), b"old");
    refused(write_in(&path("none"), "a", None, b"new"), "No such file");
}

/// Run by [`a_signal_meanwhile_leaves_nothing_behind`] in a separate process; otherwise it has nothing to do.
#[test]
fn child() {
    let (Ok(path), Ok(signal)) = (std::env::var(CHILD), std::env::var("VISA_FILES_SIGNAL")) else { return };
    let interrupts = Interrupts::catch().expect("caught");
    let signal = signal.parse().expect("a number");
    write(Path::new(&path), Some(&interrupts), |out| {
        out.write_all(b"half")?;
        // A guard that ends before another one ends nothing.
        let other = interrupts.hold();
        signal_hook::low_level::raise(signal)?;
        drop(other);
        out.write_all(b"whole")
    })
    .expect("the process ends before this is seen");
}

fn child_writes(path: &Path, signal: i32, shell: &str) -> std::process::ExitStatus {
    let program = std::env::current_exe().expect("this program");
    // As `nohup` starts the tests, they ignore SIGHUP, and a process of theirs would.
    let mut command = Command::new("env");
    command
        .args(["--default-signal", "sh", "-c", &format!("{shell} exec \"$0\" --exact child")])
        .arg(program);
    command.env(CHILD, path).env("VISA_FILES_SIGNAL", signal.to_string());
    command.output().expect("a process").status
}

#[test]
fn a_signal_meanwhile_leaves_nothing_behind() {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
    for signal in [SIGHUP, SIGINT, SIGQUIT, SIGTERM] {
        let folder = folder();
        let path = folder.path().join("file");
        fs::write(&path, b"old").expect("written");
        assert_eq!(child_writes(&path, signal, "").signal(), Some(signal));
        assert_eq!(fs::read(&path).expect("read"), b"old");
        assert_eq!(names(folder.path()), ["file"]);
    }
}

#[test]
fn a_signal_that_the_process_was_started_to_ignore_is_ignored() {
    use signal_hook::consts::SIGINT;
    let folder = folder();
    let path = folder.path().join("file");
    assert!(child_writes(&path, SIGINT, "trap '' INT;").success());
    assert_eq!(fs::read(&path).expect("read"), b"halfwhole");
}
