//! Reading the input and writing it back.

use super::toy::{run, run_in};

const UNUSED: &str = "visa 1\ntoy.func @f() {\n  %a = toy.const value 1\n  toy.return\n}\n";

#[test]
fn standard_input_goes_to_standard_output() {
    assert_eq!(run(&[], UNUSED).quiet(), UNUSED);
    assert_eq!(run(&["-", "-o", "-"], UNUSED).quiet(), UNUSED);
}

#[test]
fn a_named_file_is_read_from_the_working_directory() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("in.visa"), UNUSED).unwrap();
    assert_eq!(run_in(folder.path(), &["in.visa"], "").quiet(), UNUSED);
}

#[test]
fn generic_form_under_both_names() {
    let wanted = "\"builtin.module\"() ({\n  \"toy.func\"() <{arg_names = [], name = @f}> ({\n    %a \
                  = \"toy.const\"() <{value = 1 : i64}> : () -> !toy.sized<1>\n    \"toy.return\"() : () -> ()\n  \
                  }) : () -> ()\n}) {visa.version = 1 : i64} : () -> ()\n";
    assert_eq!(run(&["--print-generic"], UNUSED).quiet(), wanted);
    assert_eq!(run(&["--mlir-print-op-generic"], UNUSED).quiet(), wanted);
    assert_eq!(run(&[], wanted).quiet(), UNUSED);
}

#[test]
fn parts_are_modules_of_their_own() {
    let part =
        |value: &str| format!("visa 1\ntoy.func @f() {{\n  %a = toy.const value {value}\n  toy.return\n}}\n");
    let input = format!("{}// -----\n{}", part("1"), part("2"));
    assert_eq!(run(&["--split-input-file"], &input).quiet(), input);
    run(&[], &input).refused(&["syntax"]);
}

#[test]
fn a_bad_part_does_not_hide_the_others() {
    let input = "toy.ad\n// -----\ntoy.func @g() {\n  toy.return\n}\n// -----\ntoy.retur\n";
    let ran = run(&["--split-input-file"], input);
    ran.refused(&[
        "unknown operation `toy.ad`",
        "<stdin>:1:1",
        "unknown operation `toy.retur`",
        "<stdin>:7:1",
    ]);
    assert_eq!(ran.out, "visa 1\ntoy.func @g() {\n  toy.return\n}\n");
}

#[test]
fn unregistered_dialects_only_when_let_through() {
    let input = "%0 = \"other.op\"() <{x = 1 : i64}> : () -> !other.type<a>\n";
    run(&[], input).refused(&["error[unknown-dialect]: unknown dialect `other`"]);
    assert_eq!(run(&["--allow-unregistered-dialect"], input).quiet(), format!("visa 1\n{input}"));
}

#[test]
fn bytes_that_are_no_text() {
    run(&[], "").refused(&["error[empty]"]);
    run(&[], "toy.func @f\0() {}").refused(&["error[not-text]", "NUL byte at offset 11"]);
    run(&["missing.visa"], "").refused(&["error[cannot-read]: cannot read `missing.visa`"]);
}

#[test]
fn wrong_flags_exit_with_one_and_say_so() {
    run(&["--no-such-flag"], UNUSED).refused(&["unexpected argument '--no-such-flag'"]);
    run(&["--diagnostics=xml"], UNUSED).refused(&["invalid value 'xml'", "text, json"]);
    run(&["--verify-each=perhaps"], UNUSED).refused(&["invalid value 'perhaps'"]);
    run(&["--pass-pipeline=dce", "--dce"], UNUSED).refused(&["cannot be used with --pass-pipeline"]);
    let help = run(&["--help"], "");
    assert_eq!((help.code, help.err.as_str()), (0, ""));
    assert!(help.out.contains("--pass-pipeline") && help.out.contains("--dce"), "{}", help.out);
    assert!(!help.out.contains("--mlir-"), "aliases stay hidden");
}
