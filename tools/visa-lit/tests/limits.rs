//! The limits of a test: time, output, processes.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::common::{self, only, tree};
use visa_lit::{MAX_BYTES, Outcome, Suite, Verdict};

/// Longer than any of these tests takes if limits hold, however slow the machine: nothing waits for its end.
const LONG: &str = "1000";

/// Runs one test that has a tenth of a second.
fn stopped(source: &str) -> String {
    let dir = tree(&[("a.test", source)]);
    failed(common::suite(dir.path()).time_limit(Duration::from_millis(100)))
}

fn failed(suite: Suite) -> String {
    match only(suite.run()) {
        Verdict::Fail(failure) => failure.reason,
        other => panic!("expected a failure, found {other:?}"),
    }
}

#[test]
fn a_test_over_its_time_fails() {
    let reason = "stopped: the test took longer than 0.1 s; --timeout gives it more";
    for run in ["sleep", "not sleep", "not --crash sleep", "say a | sleep"] {
        assert_eq!(stopped(&format!("# RUN: {run} {LONG}\n")), reason, "{run}");
    }
    // The time is the test's, not each command's.
    let steps = "# RUN: sleep 0.04\n".repeat(5);
    assert_eq!(stopped(&steps), reason);
    // A command in this process is left behind.
    let dir = tree(&[("a.test", "# RUN: forever\n")]);
    let forever = |_: &visa_lit::Invocation| -> Outcome {
        loop {
            std::thread::park();
        }
    };
    let suite = Suite::new(dir.path()).with_builtin("forever", forever);
    assert_eq!(failed(suite.time_limit(Duration::from_millis(100))), reason);
}

#[test]
fn a_test_over_its_time_is_an_expected_failure_where_one_is_expected() {
    let dir = tree(&[("a.test", &format!("# XFAIL: *\n# RUN: sleep {LONG}\n"))]);
    let suite = common::suite(dir.path()).time_limit(Duration::from_millis(100));
    assert_eq!(only(suite.run()), Verdict::XFail);
}

/// Looks up a process whose number a test wrote to a file. One that no longer exists is gone; so is one that is not
/// reaped yet.
fn is_running(file: &Path) -> bool {
    let number = fs::read_to_string(file).expect("a number");
    let status = fs::read_to_string(format!("/proc/{}/stat", number.trim()));
    status.is_ok_and(|status| !status.contains(") Z ") && !status.contains(") X "))
}

/// Waits until it is gone: killing takes some time.
fn wait_for_end(file: &Path) {
    while is_running(file) {
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn what_a_command_has_started_ends_with_it() {
    let dir = tree(&[("a.test", "# RUN: sh %S/a.sh\n# RUN: say done\n")]);
    let script = format!("sleep {LONG} & echo $! > {}/number; echo out", dir.path().display());
    fs::write(dir.path().join("a.sh"), script).expect("a file");
    assert_eq!(only(common::suite(dir.path()).run()), Verdict::Pass);
    wait_for_end(&dir.path().join("number"));
}

#[test]
fn what_a_command_has_started_ends_with_the_time_of_the_test() {
    let dir = tree(&[("a.test", "# RUN: sh %S/a.sh\n")]);
    let script = format!("sleep {LONG} & echo $! > {}/number; wait", dir.path().display());
    fs::write(dir.path().join("a.sh"), script).expect("a file");
    let suite = common::suite(dir.path()).time_limit(Duration::from_secs(1));
    assert_eq!(failed(suite), "stopped: the test took longer than 1 s; --timeout gives it more");
    wait_for_end(&dir.path().join("number"));
}

#[test]
fn output_is_bounded() {
    for (run, name) in [
        ("cat /dev/zero", "standard output"),
        ("sh -c 'cat /dev/zero >&2'", "standard error"),
        ("cat /dev/zero | say a", "standard output"),
        ("cat /dev/zero > %t", "standard output"),
        ("not cat /dev/zero", "standard output"),
        ("not --crash cat /dev/zero", "standard output"),
    ] {
        let dir = tree(&[("a.test", &format!("# RUN: {run}\n"))]);
        // The program: common's `cat` copies its input.
        let reason = failed(Suite::new(dir.path()).with_builtin("say", |_| Outcome::default()));
        assert_eq!(reason, format!("stopped: it wrote more than 67108864 bytes to {name}"), "{run}");
    }
}

#[test]
fn output_may_reach_its_bound() {
    for (more, holds) in [(0, true), (1, false)] {
        let bytes = MAX_BYTES + more;
        let dir =
            tree(&[("a.test", &format!("# RUN: head -c {bytes} /dev/zero\n")), ("b.test", "# RUN: long\n")]);
        let long = move |_: &visa_lit::Invocation| Outcome::success(vec![0; bytes as usize]);
        let report = Suite::new(dir.path()).with_builtin("long", long).run();
        assert_eq!((report.passed() == 2, report.failed() == 0), (holds, holds), "{report}");
    }
}

#[test]
fn what_is_read_is_bounded_too() {
    let cases = [
        ("say < /dev/zero", "it is not a regular file"),
        ("say < %S", "it is not a regular file"),
        ("say < %S/long", "it has 67108865 bytes, expected at most 67108864"),
        ("FileCheck %s --input-file /dev/zero", "it is not a regular file"),
        ("FileCheck %S/long", "it has 67108865 bytes"),
        ("diff-expected %S/long < %s", "it has 67108865 bytes"),
    ];
    for (run, part) in cases {
        let dir = tree(&[("a.test", &format!("# RUN: {run}\n# CHECK: a\n"))]);
        let long = fs::File::create(dir.path().join("long")).expect("a file");
        long.set_len(MAX_BYTES + 1).expect("a hole");
        let report = common::suite(dir.path()).run().to_string();
        assert!(report.contains(part), "{run}: {report}");
    }
    let dir = tree(&[("a.test", "# RUN: say a\n")]);
    fs::File::options()
        .write(true)
        .open(dir.path().join("a.test"))
        .and_then(|file| file.set_len(MAX_BYTES + 1))
        .expect("a hole");
    assert!(
        matches!(only(common::suite(dir.path()).run()), Verdict::Unresolved(why) if why.contains("67108865 bytes"))
    );
}

#[test]
fn a_name_that_is_not_utf8_is_refused() {
    use std::os::unix::ffi::OsStrExt as _;
    let dir = tree(&[]);
    fs::write(dir.path().join(std::ffi::OsStr::from_bytes(b"\xff.test")), "# RUN: say %s\n").expect("a file");
    assert!(
        matches!(only(common::suite(dir.path()).run()), Verdict::Unresolved(why) if why.contains("is not UTF-8"))
    );
}

/// The program itself: the flag, and a signal while a test runs.
#[test]
fn a_signal_ends_the_processes_of_tests_and_removes_what_is_temporary() {
    use std::os::unix::process::ExitStatusExt as _;
    let dir = tree(&[("tests/a.test", "# RUN: sh %S/../a.sh\n"), ("temporary/x", "")]);
    let script = format!("echo $$ > {0}/new; mv {0}/new {0}/number; sleep {LONG}", dir.path().display());
    fs::write(dir.path().join("a.sh"), script).expect("a file");
    let mut command = Command::new(env!("CARGO_BIN_EXE_visa-lit"));
    command.args(["tests", "--timeout", "86400"]).env("TMPDIR", dir.path().join("temporary"));
    let mut lit = command.current_dir(dir.path()).stdout(Stdio::null()).spawn().expect("visa-lit");
    let number = dir.path().join("number");
    while !number.exists() {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(Command::new("kill").args(["-INT", &lit.id().to_string()]).status().expect("kill").success());
    assert_eq!(lit.wait().expect("an end").signal(), Some(2));
    wait_for_end(&number);
    let left = fs::read_dir(dir.path().join("temporary")).expect("a folder").count();
    assert_eq!(left, 1, "the file of the test itself");
}

#[test]
fn the_flag_is_a_number_of_seconds() {
    let dir = tree(&[("a.test", &format!("# RUN: sleep {LONG}\n"))]);
    let run = |seconds: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_visa-lit"));
        let output =
            command.args([".", "--timeout", seconds]).current_dir(dir.path()).output().expect("visa-lit");
        (output.status.code(), String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned())
    };
    let (code, text) = run("1");
    assert!(code == Some(1) && text.contains("the test took longer than 1 s"), "{text}");
    for wrong in ["0", "86401", "-1", "x"] {
        assert_eq!(run(wrong).0, Some(2), "{wrong}");
    }
}
