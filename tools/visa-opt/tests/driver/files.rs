//! Files that are written: outputs, reproducers, and the machine that is read.

use crate::toy::{run, run_in};
use std::fs;

const CONST: &str = "visa 1\ntoy.func @f() {\n  %a = toy.const value 1\n  toy.return %a\n}\n";

fn names(folder: &std::path::Path) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn an_output_is_written_whole() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(run_in(folder.path(), &["-o", "out.visa"], CONST).quiet(), "");
    assert_eq!(fs::read_to_string(folder.path().join("out.visa")).unwrap(), CONST);
    assert_eq!(names(folder.path()), ["out.visa"]);
}

#[test]
fn a_failed_run_leaves_the_output_alone() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("out.visa"), "old").unwrap();
    run_in(folder.path(), &["-o", "out.visa"], "toy.ad\n").refused(&["unknown-op"]);
    assert_eq!(fs::read_to_string(folder.path().join("out.visa")).unwrap(), "old");
    assert_eq!(names(folder.path()), ["out.visa"]);
}

#[test]
fn an_output_that_cannot_be_written() {
    let folder = tempfile::tempdir().unwrap();
    let missing = run_in(folder.path(), &["-o", "no/such/folder.visa"], CONST);
    missing.refused(&["error[cannot-write]: cannot write `no/such/folder.visa`"]);
    fs::create_dir(folder.path().join("folder")).unwrap();
    run_in(folder.path(), &["-o", "folder"], CONST).refused(&["cannot write `folder`"]);
    assert_eq!(names(folder.path()), ["folder"]);
}

#[test]
fn a_reproducer_reproduces() {
    let folder = tempfile::tempdir().unwrap();
    let args = ["--set=value=5", "--set=value=13 note=\"two words\"", "--crash-reproducer=crash.visa"];
    run_in(folder.path(), &args, CONST).refused(&["error[toy.const-C1]"]);
    let text = fs::read_to_string(folder.path().join("crash.visa")).unwrap();
    let line = "// visa-reproducer: pipeline=\"builtin.module(set{note=\\\"two words\\\" value=13})\"\n";
    assert_eq!(text, format!("{line}{}", CONST.replace("value 1", "value 5")));
    let again = run_in(folder.path(), &["--run-reproducer", "crash.visa"], "");
    again.refused(&["error[toy.const-C1]", "does not verify after pass `set`"]);
}

#[test]
fn reproducers_of_panics_and_refusals_and_none_of_success() {
    let folder = tempfile::tempdir().unwrap();
    let flag = "--mlir-pass-pipeline-crash-reproducer=crash.visa";
    run_in(folder.path(), &["--dce", flag], CONST).quiet();
    assert_eq!(names(folder.path()), [""; 0]);
    for (pass, code) in [("boom", "pass-failed"), ("refuse", "toy.const-X")] {
        run_in(folder.path(), &[&format!("--{pass}"), flag], CONST).refused(&[code]);
        let text = fs::read_to_string(folder.path().join("crash.visa")).unwrap();
        assert_eq!(text, format!("// visa-reproducer: pipeline=\"builtin.module({pass})\"\n{CONST}"));
        run_in(folder.path(), &["--run-reproducer", "crash.visa"], "").refused(&[code]);
    }
}

#[test]
fn what_is_no_reproducer() {
    run(&["--run-reproducer"], CONST).refused(&["error[reproducer]", "<stdin>:1:1"]);
    run(&["--run-reproducer", "--dce"], CONST).refused(&["cannot be used with"]);
    run(&["--run-reproducer", "--pass-pipeline=dce"], CONST).refused(&["cannot be used with"]);
    let stale = "// visa-reproducer: pipeline=\"builtin.module(gone)\"\nvisa 1\n";
    run(&["--run-reproducer"], stale).refused(&["unknown pass `gone`", "<pipeline>:1:16"]);
}

#[test]
fn a_machine_description_is_read_and_checked() {
    let folder = tempfile::tempdir().unwrap();
    let args = ["--machine", "machine.json"];
    run_in(folder.path(), &args, CONST).refused(&[
        "error[cannot-read]: cannot read `machine.json`",
        "fix: give a file, or the name of a machine: `rngd` or `rngd-s`",
    ]);
    fs::write(folder.path().join("machine.json"), "{").unwrap();
    run_in(folder.path(), &args, CONST)
        .refused(&["error[machine]: `machine.json`: machine description, line 1"]);
    fs::write(folder.path().join("machine.json"), "{}").unwrap();
    assert_eq!(run_in(folder.path(), &args, CONST).quiet(), CONST);
}
