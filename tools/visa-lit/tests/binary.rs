//! The command line: exit codes, the summary, and where programs are found.

use std::path::Path;
use std::process::{Command, Output};

use crate::common::tree;

const PASS: &str = "# RUN: FileCheck %s < %s\n# CHECK: CHECK\n";

fn visa_lit(args: &[&str], root: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_visa-lit"));
    command.args(args).current_dir(root).env_remove("VISA_BLESS");
    command.output().expect("visa-lit runs")
}

#[track_caller]
fn assert_ends(output: &Output, code: i32, text: &str) {
    let stdout = String::from_utf8_lossy(&output.stdout);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{stdout}{stderr}");
    assert!(stdout.contains(text) || stderr.contains(text), "{stdout}{stderr}");
}

#[test]
fn the_exit_code_tells_the_result() {
    let dir = tree(&[("test/a.test", PASS), ("test/b.test", "# RUN: FileCheck\n")]);
    let one_failed = "lit: 1 passed, 0 expectedly failed, 0 unsupported, 1 failed\n";
    assert_ends(&visa_lit(&[], dir.path()), 1, one_failed);
    assert_ends(&visa_lit(&["test/b.test", "-j", "1"], dir.path()), 1, "FAIL: test/b.test:1\n");
    let none_failed = "lit: 1 passed, 0 expectedly failed, 0 unsupported, 0 failed\n";
    assert_ends(&visa_lit(&["test/a.test"], dir.path()), 0, none_failed);
    assert_ends(&visa_lit(&["--filter", "a.t", "-v"], dir.path()), 0, "PASS: test/a.test\n");
}

#[test]
fn nothing_to_run_is_no_success() {
    let dir = tree(&[("test/a.test", PASS)]);
    assert_ends(&visa_lit(&["--filter", "zzz"], dir.path()), 2, "no tests found");
    assert_ends(&visa_lit(&["nowhere"], dir.path()), 1, "cannot read `nowhere`");
    assert_ends(&visa_lit(&["--no-such-flag"], dir.path()), 2, "--no-such-flag");
    assert_ends(&visa_lit(&["-D", "name"], dir.path()), 2, "found `name`, expected NAME=VALUE");
}

#[test]
fn features_and_definitions_are_passed_on() {
    let dir = tree(&[("a.test", "# REQUIRES: moon\n# RUN: %check %s < %s\n# CHECK: CHECK\n")]);
    assert_ends(&visa_lit(&["."], dir.path()), 0, "UNSUPPORTED: ./a.test (requires moon)");
    let args = [".", "--feature", "moon", "-D", "check=FileCheck"];
    assert_ends(&visa_lit(&args, dir.path()), 0, "lit: 1 passed");
}

#[test]
fn blessing_is_off_unless_asked_for() {
    let dir = tree(&[("a.test", "# RUN: diff-expected %S/out < %s\n")]);
    assert_ends(&visa_lit(&["."], dir.path()), 1, "does not exist");
    assert_ends(&visa_lit(&[".", "--bless"], dir.path()), 0, "BLESSED: ");
    assert_ends(&visa_lit(&["."], dir.path()), 0, "lit: 1 passed");
}

#[cfg(unix)]
#[test]
fn programs_come_from_the_tools_directory_first() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tree(&[
        ("a.test", "# RUN: true | FileCheck %s\n# CHECK: ours\n"),
        ("bin/true", "#!/bin/sh\necho ours\n"),
    ]);
    let executable = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(dir.path().join("bin/true"), executable).expect("permissions");
    assert_ends(&visa_lit(&[".", "--tools-dir", "bin"], dir.path()), 0, "lit: 1 passed");
    assert_ends(&visa_lit(&["."], dir.path()), 1, "empty");
}
