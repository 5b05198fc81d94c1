//! FileCheck: every directive, with an input that matches and inputs that must not.

use crate::common;

use visa_lit::{Outcome, Suite, Verdict};

/// Runs FileCheck with `options` on `checks` and `input`: its exit code is 0 exactly if this is `Ok`.
fn check_with(options: &str, checks: &str, input: &str) -> Result<(), String> {
    let source = format!("# RUN: FileCheck {options} %S/checks < %S/input\n");
    let dir = common::tree(&[("a.test", &source), ("checks", checks), ("input", input)]);
    match common::only(common::suite(dir.path()).run()) {
        Verdict::Pass => Ok(()),
        Verdict::Fail(failure) => Err(format!("{}\n{}", failure.reason, failure.stderr)),
        other => panic!("unexpected {other:?}"),
    }
}

#[track_caller]
fn matches(checks: &str, input: &str) {
    if let Err(report) = check_with("", checks, input) {
        panic!("should match:\n{checks}\nagainst\n{input}\n{report}");
    }
}

#[track_caller]
fn differs(checks: &str, input: &str) -> String {
    match check_with("", checks, input) {
        Ok(()) => panic!("should not match:\n{checks}\nagainst\n{input}"),
        Err(report) => {
            assert!(report.starts_with("exit code 1\n"), "{report}");
            report
        }
    }
}

#[test]
fn plain_checks_match_in_order() {
    let checks = "// CHECK: one\n// CHECK: two\n";
    matches(checks, "zero\none\nmore\ntwo\n");
    differs(checks, "two\none\n");
    differs(checks, "one\n");
}

#[test]
fn next_is_the_line_after() {
    let checks = "// CHECK: one\n// CHECK-NEXT: two\n";
    matches(checks, "one\ntwo\n");
    differs(checks, "one\n\ntwo\n");
    differs(checks, "one two\n");
}

#[test]
fn same_is_the_same_line() {
    let checks = "// CHECK: one\n// CHECK-SAME: two\n";
    matches(checks, "one and two\n");
    differs(checks, "one\ntwo\n");
    differs(checks, "two one\n");
}

#[test]
fn not_holds_between_its_neighbours() {
    let checks = "// CHECK: one\n// CHECK-NOT: bad\n// CHECK: two\n";
    matches(checks, "bad\none\ntwo\nbad\n");
    differs(checks, "one\nbad\ntwo\n");
    differs("// CHECK: one\n// CHECK-NOT: bad\n", "one\nbad\n");
}

#[test]
fn dag_matches_in_any_order() {
    let checks = "// CHECK-DAG: one\n// CHECK-DAG: two\n// CHECK: end\n";
    matches(checks, "one\ntwo\nend\n");
    matches(checks, "two\none\nend\n");
    differs(checks, "two\nend\none\n");
    differs(checks, "two\nend\n");
}

#[test]
fn label_divides_the_input() {
    let checks = "// CHECK-LABEL: func a\n// CHECK: x\n// CHECK-LABEL: func b\n// CHECK: y\n";
    matches(checks, "func a\nx\nfunc b\ny\n");
    differs(checks, "func a\nfunc b\nx\ny\n");
    differs(checks, "func a\nx\ny\n");
}

#[test]
fn empty_is_an_empty_line() {
    let checks = "// CHECK: one\n// CHECK-EMPTY:\n// CHECK-NEXT: two\n";
    matches(checks, "one\n\ntwo\n");
    differs(checks, "one\nx\ntwo\n");
    differs(checks, "one\ntwo\n");
}

#[test]
fn count_is_exact_up_to_what_follows() {
    let checks = "// CHECK-COUNT-3: add\n// CHECK-NOT: add\n// CHECK: end\n";
    matches(checks, "add\nadd\nadd\nend\n");
    differs(checks, "add\nadd\nend\n");
    differs(checks, "add\nadd\nadd\nadd\nend\n");
}

#[test]
fn regexes_stand_in_braces() {
    let checks = "// CHECK: a{{[0-9]+}}b.c\n";
    matches(checks, "a12b.c\n");
    differs(checks, "ab.c\n");
    matches("// CHECK: a{{ +}}b{{ |x}}\n", "a  bx\n");
    differs("// CHECK: a{{ +}}b\n", "ab\n");
    differs("// CHECK: a{{ }}b\n", "ab\n");
    differs("// CHECK: a{{x }}b\n", "axb\n");
    differs("// CHECK: a{{x}}b{{ y}}\n", "axby\n");
    matches("// CHECK{LITERAL}: a{{ +}}b\n", "a{{ +}}b\n");
    // Outside braces a dot is a dot.
    differs(checks, "a12bxc\n");
}

#[test]
fn variables_bind_and_repeat() {
    let checks = "// CHECK: [[X:%[a-z]+]] = def\n// CHECK-NEXT: use [[X]], [[X]]\n";
    matches(checks, "%v = def\nuse %v, %v\n");
    differs(checks, "%v = def\nuse %v, %w\n");
    assert!(check_with("", "// CHECK: use [[NEVER]]\n", "use x\n").is_err());
}

#[test]
fn numeric_expressions_compute() {
    let checks = "// CHECK: at [[#ADDR:]]\n// CHECK-NEXT: at [[#ADDR + 8]]\n";
    matches(checks, "at 56\nat 64\n");
    differs(checks, "at 56\nat 63\n");
    let hex = "// CHECK: at 0x[[#%x,ADDR:]]\n// CHECK-NEXT: at 0x[[#%x,ADDR + 1]]\n";
    matches(hex, "at 0x1f\nat 0x20\n");
    differs(hex, "at 0x1f\nat 0x1f\n");
}

#[test]
fn mapping_expressions_are_literal_text() {
    // Brackets, `#`, `$`, `|` and `(` of our own notation need no escape.
    matches(
        "// CHECK: tm.dm<bf16, [A / 8 # 256], [$(N:1, F:2) | B']>\n",
        "x tm.dm<bf16, [A / 8 # 256], [$(N:1, F:2) | B']>\n",
    );
    differs("// CHECK: [A / 8 # 256]\n", "[A / 8 # 255]\n");
}

#[test]
fn literal_checks_may_hold_double_brackets() {
    let checks = "// CHECK{LITERAL}: [[B, C] # 32] {{x}}\n";
    matches(checks, "tm [[B, C] # 32] {{x}}\n");
    differs(checks, "tm [[B, C] # 33] {{x}}\n");
    let report = check_with("", "// CHECK: [[B, C] # 32]\n", "[[B, C] # 32]\n");
    assert!(report.is_err_and(|report| report.contains("missing closing \"]\" for regex variable")));
}

#[test]
fn blanks_around_a_pattern_do_not_count() {
    matches("// CHECK:    one \t\n", "one\n");
    differs("// CHECK:    one two \t\n", "one\n");
    assert!(check_with("--strict-whitespace", "// CHECK: one  \n", "one\n").is_ok());
    let whole = "--strict-whitespace --match-full-lines";
    assert!(check_with(whole, "// CHECK:one \n", "one \n").is_ok());
    assert!(check_with(whole, "// CHECK:one \n", "one\n").is_err());
}

#[test]
fn runs_of_blanks_are_equal_unless_strict() {
    matches("// CHECK: a  b\tc\n", "a b   c\n");
    matches("// CHECK: a b\n// CHECK-NEXT: c\n", "a \t b\r\nc\r\n");
    differs("// CHECK: a b\n", "ab\n");
    assert!(check_with("--strict-whitespace", "// CHECK: a  b\n", "a  b\n").is_ok());
    assert!(check_with("--strict-whitespace", "// CHECK: a  b\n", "a b\n").is_err());
    // As in LLVM, blanks of the command line are not changed: this pattern matches nothing.
    assert!(check_with("--implicit-check-not='x  y'", "// CHECK: a\n", "a\nx y\n").is_ok());
    assert!(check_with("--implicit-check-not='x y'", "// CHECK: a\n", "a\nx  y\n").is_err());
}

#[test]
fn prefixes_select_the_checks() {
    let checks = "// CHECK: one\n// FOO: two\n// FOO-NEXT: three\n// MY-CHECK: four\n";
    matches(checks, "one\n");
    for option in ["--check-prefix=FOO", "-check-prefix=FOO", "--check-prefix FOO", "--check-prefixes=FOO"] {
        assert!(check_with(option, checks, "two\nthree\n").is_ok(), "{option}");
        assert!(check_with(option, checks, "one\n").is_err(), "{option}");
    }
    assert!(check_with("--check-prefixes=CHECK,FOO", checks, "one\ntwo\nthree\n").is_ok());
    assert!(check_with("--check-prefixes=CHECK,FOO", checks, "one\nthree\n").is_err());
    assert!(check_with("--check-prefix=MY-CHECK", checks, "four\n").is_ok());
    assert!(check_with("--check-prefix=MY-CHECK", checks, "one\n").is_err());
}

#[test]
fn a_check_directly_after_its_comment_marker_counts() {
    for marker in ["//", "#", ";", "  ///"] {
        matches(&format!("{marker}CHECK: one\n"), "one\n");
        differs(&format!("{marker}CHECK: one\n"), "two\n");
    }
}

#[test]
fn commented_checks_and_run_lines_do_not_count() {
    matches("// RUN: x | FileCheck y CHECK: no\n// COM: CHECK: no\n// CHECK: one\n", "one\n");
    // Other prefixes that end in ours are not ours: nothing is left to check.
    let report = check_with("", "// XCHECK: one\n// MY-CHECK: one\n", "one\n");
    assert!(report.is_err_and(|report| report.contains("no check strings found")));
}

#[test]
fn full_lines_must_match_whole() {
    assert!(check_with("--match-full-lines", "// CHECK: a b\n", "  a b \n").is_ok());
    assert!(check_with("--match-full-lines", "// CHECK: a b\n", "a b c\n").is_err());
    matches("// CHECK: a b\n", "a b c\n");
}

#[test]
fn implicit_check_not_holds_everywhere() {
    assert!(check_with("--implicit-check-not=error", "// CHECK: a\n", "a\nb\n").is_ok());
    for input in ["error\na\n", "a\nerror\n"] {
        assert!(check_with("--implicit-check-not=error", "// CHECK: a\n", input).is_err());
    }
}

#[test]
fn empty_input_is_refused_unless_allowed() {
    let checks = "// CHECK-NOT: error\n";
    let report = check_with("", checks, "").expect_err("an empty input");
    assert!(report.starts_with("exit code 2\n") && report.contains("--allow-empty"), "{report}");
    assert!(check_with("--allow-empty", checks, "").is_ok());
}

#[test]
fn input_comes_from_a_file_on_request() {
    let option = "--input-file=%S/input --allow-empty";
    let run = |options: &str| {
        let source = format!("# RUN: say other | FileCheck {options} %S/checks\n");
        let dir = common::tree(&[("a.test", &source), ("checks", "// CHECK: one\n"), ("input", "one\n")]);
        common::suite(dir.path()).run().is_success()
    };
    assert!(run(option) && !run(""));
}

#[test]
fn definitions_set_variables() {
    assert!(check_with("-DNAME=abc", "// CHECK: x [[NAME]]\n", "x abc\n").is_ok());
    assert!(check_with("-DNAME=abc", "// CHECK: x [[NAME]]\n", "x abd\n").is_err());
}

#[test]
fn wrong_calls_and_wrong_check_files_are_named() {
    for (options, checks, expected) in [
        ("--no-such-option", "// CHECK: a\n", "--no-such-option"),
        ("--check-prefix=", "// CHECK: a\n", "prefix must not be the empty string"),
        ("--check-prefix=a.b", "// CHECK: a\n", "must contain only ASCII letters"),
        ("--input-file=%S/missing", "// CHECK: a\n", "cannot read"),
        ("%S/two", "// CHECK: a\n", "unexpected argument"),
        ("", "nothing\n", "no check strings found"),
        ("", "// CHECK: {{a\n", "regex"),
        ("", "// CHECK: [[X:a\n", "no ]] found"),
        ("", "// CHECK-NEXT: a\n", "CHECK-NEXT"),
        ("", "// CHECK:\n", "found empty check string"),
    ] {
        let report = check_with(options, checks, "a\nb\n").expect_err(options);
        assert!(report.contains(expected), "{options} {checks}: {report}");
    }
}

#[test]
fn a_failed_check_names_its_line_and_shows_the_input() {
    let report = differs("// CHECK: one\n\n// CHECK-NEXT: two {{[0-9]}}\n", "zero\none\ntwo x\n");
    assert!(report.contains("checks:3:16\n"), "{report}");
    assert!(report.contains("// CHECK-NEXT: two {{[0-9]}}\n"), "{report}");
    assert!(report.contains("    3 | two x"), "{report}");
    // Plain text: no colour codes.
    assert!(!report.contains('\u{1b}'), "{report}");
}

#[test]
fn a_terminal_obeys_nothing_of_the_input() {
    let report = differs("// CHECK: one\n", "\u{1b}[2Jz\u{202e}ero\n");
    assert!(report.contains("\n    1 | ␛[2Jz\u{fffd}ero"), "{report}");
    // The best guess begins inside of a letter of three bytes.
    assert!(report.contains("<stdin>:1:6\n      ␛[2Jz\u{fffd}ero\n           ^"), "{report}");
}

#[test]
fn a_failure_far_down_shows_the_input_there() {
    let input: String = (1..=200).map(|n| format!("line {n}.\n")).collect();
    let report = differs("// CHECK: line 150.\n// CHECK-NEXT: gone\n", &input);
    assert!(report.contains("the input was (200 lines):"), "{report}");
    assert!(report.contains("  151 | line 151."), "{report}");
    assert!(!report.contains("  100 | "), "{report}");
}

#[test]
fn input_that_is_not_utf8_is_checked_all_the_same() {
    let dir = common::tree(&[("a.test", "# RUN: bytes | FileCheck %s\n# CHECK: one\n")]);
    let bytes = |_: &visa_lit::Invocation| Outcome::success(b"\xff\xfe\none\n".to_vec());
    assert!(Suite::new(dir.path()).with_builtin("bytes", bytes).run().is_success());
}

#[test]
fn both_spellings_work() {
    common::assert_passes("# RUN: say one | filecheck %s\n# RUN: say one | FileCheck %s\n# CHECK: one\n");
}
