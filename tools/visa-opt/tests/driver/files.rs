//! Files that are written: outputs, reproducers, and the machine that is read.

use super::toy::{run, run_in};
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

/// A reproducer of `pipeline`.
fn reproducer(pipeline: &str) -> String {
    format!("// visa-reproducer: pipeline=\"{}\"\n{CONST}", pipeline.replace('"', "\\\""))
}

#[test]
fn the_command_line_names_outputs() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("in")).unwrap();
    for name in ["a.txt", "in/a.txt", "../../no/a.txt"] {
        let ran = run_in(folder.path(), &[&format!("--dump=to={name}")], CONST);
        match fs::read_to_string(folder.path().join(name)) {
            Ok(text) => assert_eq!((ran.quiet(), text.as_str()), (CONST, "dumped")),
            Err(_) => ran.refused(&[&format!("error[cannot-write]: cannot write `{name}`: No such file")]),
        }
    }
    // Nothing is written by a pass that fails, and files written before it stay.
    run_in(folder.path(), &["--dump=to=b.txt", "--refuse", "--dump=to=c.txt"], CONST)
        .refused(&["toy.const-X"]);
    assert_eq!(names(folder.path()), ["a.txt", "b.txt", "in"]);
}

#[test]
fn a_reproducer_names_no_output() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("victim"), "old").unwrap();
    let victim = folder.path().join("victim").display().to_string();
    for name in ["victim", "./victim", &victim] {
        run_in(folder.path(), &["--run-reproducer"], &reproducer(&format!("dce,dump{{to=\"{name}\"}}")))
            .refused(&[
                &format!(
                    "error[reproducer-output]: option `to` of pass `dump`: the reproducer names an output, \
                     `{name}`"
                ),
                "<pipeline>:1:5",
                "fix: name a folder that it may write to: `--reproducer-outputs DIR`",
            ]);
        // One that is not declared is found when it is to be written.
        run_in(folder.path(), &["--run-reproducer"], &reproducer(&format!("sneak{{to=\"{name}\"}}")))
            .refused(&["error[reproducer-output]: the reproducer names an output"]);
    }
    assert_eq!(fs::read_to_string(folder.path().join("victim")).unwrap(), "old");
    assert_eq!(run_in(folder.path(), &["--run-reproducer"], &reproducer("dump,dce")).code, 1);
    assert_eq!(names(folder.path()), ["victim"]);
}

#[test]
fn a_reproducer_writes_into_the_folder_that_is_named_and_nowhere_else() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("victim"), "old").unwrap();
    fs::create_dir_all(path("out/in")).unwrap();
    std::os::unix::fs::symlink(path("victim"), path("out/link")).unwrap();
    std::os::unix::fs::symlink(path("."), path("out/up")).unwrap();
    let args = ["--run-reproducer", "--reproducer-outputs=out"];
    let run = |pipeline: &str| run_in(folder.path(), &args, &reproducer(pipeline));
    let absolute = path("victim").display().to_string();
    for name in ["../victim", "up/victim", "in/a", "..", ".", "./a", "in/", &absolute] {
        for pass in ["dump", "sneak"] {
            run(&format!("{pass}{{to=\"{name}\"}}")).refused(&[
                &format!("found output `{name}`, expected the plain name of a file in `out`"),
                "fix: write the name without a folder",
            ]);
        }
    }
    for name in ["link", "in", "up"] {
        run(&format!("dump{{to={name}}}"))
            .refused(&[&format!("error[cannot-write]: cannot write `out/{name}`: it is not a regular file")]);
    }
    assert_eq!(names(&path("out")), ["in", "link", "up"]);
    assert_eq!(run("dump{to=a},sneak{to=b}").quiet(), CONST);
    assert_eq!(names(&path("out")), ["a", "b", "in", "link", "up"]);
    assert_eq!(names(&path("out/in")), [""; 0]);
    assert_eq!(
        (names(folder.path()), fs::read_to_string(path("victim")).unwrap().as_str()),
        (vec!["out".into(), "victim".into()], "old")
    );
    run_in(folder.path(), &["--reproducer-outputs=out", "--dce"], CONST).refused(&["--run-reproducer"]);
    run_in(folder.path(), &["--run-reproducer", "--reproducer-outputs=none"], &reproducer("dump{to=a}"))
        .refused(&["cannot write `none/a`: No such file"]);
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

/// A description of machines, and rules, have separate limits.
#[test]
fn what_is_written_by_hand_is_bounded() {
    let folder = tempfile::tempdir().unwrap();
    for flag in ["--machine", "--mapping-rules", "--rules"] {
        let of = |bytes: usize| {
            fs::write(folder.path().join("long"), "\n".repeat(bytes)).unwrap();
            run_in(folder.path(), &[flag, "long"], CONST)
        };
        of(1_048_577).refused(&[
            "error[cannot-read]: cannot read `long`: it has 1048577 bytes, expected at most 1048576",
        ]);
        assert!(!of(1_048_576).err.contains("cannot-read"), "{flag}");
    }
}

#[test]
fn only_regular_files_and_standard_input_are_read() {
    let refused = "it is not a regular file";
    for flag in ["--machine", "--mapping-rules", "--rules", "--split-input-file"] {
        run(&[flag, "/dev/zero"], CONST).refused(&["error[cannot-read]: cannot read `/dev/zero`", refused]);
    }
    run(&["."], CONST).refused(&["cannot read `.`", refused]);
    assert_eq!(run(&["-"], CONST).quiet(), CONST);
    // The limits of a file apply to standard input too.
    run(&["--rules", "-"], &" ".repeat(1_048_577))
        .refused(&["cannot read `-`: it has more than 1048576 bytes"]);
}
