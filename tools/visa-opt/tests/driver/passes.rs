//! Pipelines: their text, their order, and their output.

use super::toy::run;

const CONST: &str = "visa 1\ntoy.func @f() {\n  %a = toy.const value 1\n  toy.return %a\n}\n";
const CHAIN: &str = "visa 1\ntoy.func @f() {\n  %a = toy.const value 1\n  %b = toy.add %a, %a\n  %c = toy.add %b, \
                     %b\n  %d = toy.const value 2\n  toy.return %d\n}\n";

fn with_value(value: i64) -> String {
    CONST.replace("value 1", &format!("value {value}"))
}

#[test]
fn dce_erases_chains_and_counts() {
    let ran = run(&["--dce", "--pass-statistics"], CHAIN);
    assert_eq!(ran.out, "visa 1\ntoy.func @f() {\n  %d = toy.const value 2\n  toy.return %d\n}\n");
    assert!(ran.err.contains("dce\n           3 erased - operations erased\n"), "{}", ran.err);
    assert_eq!(run(&["--dce"], CONST).quiet(), CONST);
}

#[test]
fn options_in_pipelines_and_after_flags() {
    assert_eq!(run(&["--set"], CONST).quiet(), with_value(7));
    assert_eq!(run(&["--set=value=-3"], CONST).quiet(), with_value(-3));
    assert_eq!(run(&["--set=value=4 twice"], CONST).quiet(), with_value(8));
    assert_eq!(run(&["--pass-pipeline=builtin.module(set{mode=none})"], CONST).quiet(), CONST);
    assert_eq!(run(&["--pass-pipeline= set{ value=5  twice=true } , dce "], CONST).quiet(), with_value(10));
}

#[test]
fn flags_run_in_the_order_written() {
    assert_eq!(run(&["--set=value=1", "--dce", "--set=value=2"], CONST).quiet(), with_value(2));
    assert_eq!(run(&["--set=value=2", "--dce", "--set=value=1"], CONST).quiet(), with_value(1));
}

#[test]
fn wrong_pipelines_get_a_caret_and_the_nearest_name() {
    let wrong = |pipeline: &str, parts: &[&str]| run(&["--pass-pipeline", pipeline], CONST).refused(parts);
    let caret = "  |                    ^^^\n";
    wrong(
        "builtin.module(set,dec)",
        &["unknown pass `dec`", "<pipeline>:1:20", caret, "did you mean `dce`?"],
    );
    wrong("set{valu=1}", &["has no option `valu`", "<pipeline>:1:5", "did you mean `value`?"]);
    wrong("set{value=x}", &["option `value`: found `x`, expected an integer", "<pipeline>:1:11"]);
    wrong("set{twice=1}", &["found `1`, expected `true` or `false`"]);
    wrong("set{mode=non}", &["expected one of `all`, `none`", "did you mean `none`?"]);
    wrong("set{value}", &["found nothing, expected an integer", "<pipeline>:1:5"]);
    wrong("set{value=1 value=2}", &["option `value` is written twice", "<pipeline>:1:13"]);
    wrong("dce{x=1}", &["pass `dce` takes no options, found `x`"]);
    wrong("set{value=1", &["`{` is never closed", "<pipeline>:1:4"]);
    wrong("builtin.module(set", &["`(` is never closed", "<pipeline>:1:15"]);
    wrong("builtin.module set", &["found `s`, expected `(`"]);
    wrong("set)", &["found `)`, expected `,` or the end"]);
    wrong("set,", &["found the end, expected a pass", "<pipeline>:1:5"]);
    wrong("set{note=\"a}", &["the string is not closed", "<pipeline>:1:10"]);
    wrong("", &["the pipeline is empty"]);
    wrong("builtin.module()", &["the pipeline is empty"]);
    wrong("dec,sett", &["unknown pass `dec`", "unknown pass `sett`", "did you mean `set`?"]);
}

/// As of any text, no more errors are reported than make sense to read.
#[test]
fn the_errors_of_a_pipeline_are_bounded() {
    for (mistakes, reported) in [(99, 99), (100, 100), (101, 100), (5000, 100)] {
        for pipeline in [
            format!("dce{{{}}}", "x=1 ".repeat(mistakes)),
            format!("set{{value=1{}}}", " value=1".repeat(mistakes)),
            vec!["gone"; mistakes].join(","),
            vec!["set{value=x}"; mistakes].join(","),
        ] {
            let ran = run(&["--pass-pipeline", &pipeline], CONST);
            assert_eq!((ran.code, ran.err.matches("error[").count()), (1, reported), "{}", &pipeline[..40]);
        }
    }
    // A pass that is written often and right runs as often.
    assert_eq!(run(&["--pass-pipeline", &vec!["dce"; 5000].join(",")], CONST).quiet(), CONST);
}

#[test]
fn a_wrong_option_after_a_flag_is_shown_in_the_pipeline_it_spells() {
    run(&["--dce", "--set=valu=1"], CONST).refused(&[
        "has no option `valu`",
        "<pipeline>:1:9",
        "dce,set{valu=1}",
    ]);
}

#[test]
fn levels_must_connect() {
    let ran = run(&["--needs-seq"], "tm.nothing\n");
    ran.refused(&[
        "error[pass-level]: pass `needs-seq` takes a module at sequencer level, but here it is at memory level",
        "<pipeline>:1:1",
        "fix: run `lower-toy` before it",
    ]);
    assert_eq!(run(&["--lower-toy", "--needs-seq"], "tm.nothing\n").quiet(), "visa 1\nseq.nothing\n");
    run(&["--lower-toy", "--lower-toy"], "tm.nothing\n")
        .refused(&["takes a module at memory level", "<pipeline>:1:11"]);
    run(&["--liar"], "tm.nothing\n")
        .refused(&["declares hardware level, but left the module at memory level"]);
}

#[test]
fn open_modules_go_only_where_they_are_taken() {
    let open = CONST.replace("value 1", "value auto");
    assert_eq!(run(&[], &open).quiet(), open);
    run(&["--refuse"], &open).refused(&[
        "error[open]: clause `value` of `toy.const` is open (`auto`)",
        "%a = toy.const value auto",
        "fix: add `--lazy` before any pass that lowers, or write a value in place of `auto`",
    ]);
    // A pass that takes them may leave them as they are, or close them without having promised it.
    assert_eq!(run(&["--set=mode=none"], &open).quiet(), open);
    run(&["--set", "--refuse"], &open).refused(&["error[toy.const-X]: a constant"]);
    assert_eq!(run(&["--dce", "--set"], &open).quiet(), with_value(7));
    // A pass that promises to close them must.
    run(&["--lazy"], &open).refused(&[
        "error[open]: clause `value` of `toy.const` is open (`auto`)",
        "does not verify after pass `lazy`: a mistake in the pass",
    ]);
    assert_eq!(run(&["--lazy"], CONST).quiet(), CONST);
}

#[test]
fn invalid_ir_is_found_after_the_pass_that_left_it() {
    run(&["--set=value=13"], CONST)
        .refused(&["error[toy.const-C1]: the value is 13", "does not verify after pass `set`"]);
    run(&["--set=value=13", "--verify-each"], CONST).refused(&["error[toy.const-C1]"]);
    assert_eq!(run(&["--set=value=13", "--verify-each=false"], CONST).quiet(), with_value(13));
}

#[test]
fn ir_around_passes() {
    let dump =
        |header: &str, value| format!("// -----// IR Dump {header} //----- //\n{}\n", with_value(value));
    let err = |args: &[&str]| run(&[&["--set=value=2", "--set=value=2"], args].concat(), CONST).err;
    let before = [dump("Before set", 1), dump("Before set", 2)].concat();
    let after = [dump("After set", 2), dump("After set", 2)].concat();
    assert_eq!(err(&["--print-ir-before=set"]), before);
    assert_eq!(err(&["--print-ir-before"]), before);
    assert_eq!(err(&["--mlir-print-ir-before-all"]), before);
    assert_eq!(err(&["--print-ir-before=dce"]), "");
    assert_eq!(err(&["--print-ir-after=set"]), after);
    assert_eq!(err(&["--mlir-print-ir-after-all"]), after);
    assert_eq!(err(&["--print-ir-after-change"]), dump("After set", 2));
    assert_eq!(err(&["--print-ir-after-failure"]), "");
    let failed = run(&["--set=value=13", "--print-ir-after-failure"], CONST);
    assert!(failed.err.starts_with(&dump("After set Failed", 13)), "{}", failed.err);
    assert!(!run(&["--set=value=13", "--print-ir-after-all"], CONST).err.contains("IR Dump"));
}

#[test]
fn timing_only_where_asked_for() {
    let ran = run(&["--dce", "--timing"], CONST);
    assert_eq!((ran.code, ran.out.as_str()), (0, CONST));
    for part in ["Execution time report", "  parse and verify\n", "  dce\n", "  total\n"] {
        assert!(ran.err.contains(part), "no `{part}` in {}", ran.err);
    }
}

#[test]
fn a_panic_is_a_diagnostic() {
    run(&["--boom"], CONST)
        .refused(&["error[pass-failed]: pass `boom` panicked: out of luck", "a mistake in the pass"]);
}
