//! The shell of RUN lines.

use crate::common::{self, assert_passes, failure, unresolved};

/// Runs `script` with its output redirected into a file, and returns the file's content as FileCheck would see it.
#[track_caller]
fn assert_prints(script: &str, expected: &str) {
    let dir =
        common::tree(&[("a.test", &format!("# RUN: {script} | diff-expected %S/out\n")), ("out", expected)]);
    let report = common::suite(dir.path()).run();
    assert!(report.is_success(), "{report}");
}

#[test]
fn quotes_and_backslashes_make_words() {
    assert_prints(r#"words a 'b  c' "d 'e'" f\ g '' x'y'"z""#, "[a]\n[b  c]\n[d 'e']\n[f g]\n[]\n[xyz]\n");
    assert_prints(r#"words "a\"b\\c\d" 'a\b' \|"#, "[a\"b\\c\\d]\n[a\\b]\n[|]\n");
    assert_prints("words '$x' '(a)' \"(b)\" a2 '2'", "[$x]\n[(a)]\n[(b)]\n[a2]\n[2]\n");
}

/// Runs `script` next to the files `a1`, `a2`, `b.x`, `.a3`, `[c]` and `d/a4`; its output has `%S/` for the directory.
#[track_caller]
fn assert_prints_files(script: &str, expected: &str) {
    let test = format!("# RUN: {script} | diff-expected %S/out\n");
    let files = ["a2", "a1", "b.x", ".a3", "d/a4", "[c]"].map(|name| (name, ""));
    let dir = common::tree(&[files.as_slice(), &[("z.test", &test), ("out", expected)]].concat());
    let report = common::suite(dir.path()).run();
    assert!(report.is_success(), "{script}: {report}");
}

#[test]
fn wildcards_are_files_in_order() {
    assert_prints_files("words %S/a*", "[%S/a1]\n[%S/a2]\n");
    assert_prints_files("words %S/?[1-9]", "[%S/a1]\n[%S/a2]\n");
    assert_prints_files("words %S/[!a].?", "[%S/b.x]\n");
    assert_prints_files("words %S/[^b]1 %S/*/a?", "[%S/a1]\n[%S/d/a4]\n");
    assert_prints_files("words %S/.a*", "[%S/.a3]\n");
    assert_prints_files("words %S/'[c'*", "[%S/[c]]\n");
    assert_prints_files("say a > %t.1 && words 'x' z.test.tmp.*", "[x]\n[z.test.tmp.1]\n");
}

#[test]
fn a_word_without_files_and_a_quoted_wildcard_stay() {
    assert_prints_files("words %S/c* [A]", "[%S/c*]\n[[A]]\n");
    assert_prints_files("words %S/'a*' \"%S/a?\" %S/a\\*", "[%S/a*]\n[%S/a?]\n[%S/a*]\n");
    assert_prints_files("words %S/*/*/* [a *=* [!", "[%S/*/*/*]\n[[a]\n[*=*]\n[[!]\n");
    // A hidden file, and a file in place of a directory.
    assert_prints_files("words %S/*a3 %S/a1/*", "[%S/*a3]\n[%S/a1/*]\n");
    // A set ends in its component.
    assert_prints_files("words %S/[d/]a4", "[%S/[d/]a4]\n");
}

#[test]
fn a_directory_with_wildcards_in_its_name_is_literal() {
    let test = "# RUN: words %S/q | diff-expected %S/out\n";
    let dir = common::tree(&[("x[1]*/a.test", test), ("x[1]*/out", "[%S/q]\n")]);
    let report = common::suite(dir.path()).run();
    assert!(report.is_success(), "{report}");
}

#[test]
fn pipes_carry_standard_output_only() {
    assert_prints("say out err | cat", "out\n");
    assert_prints("say out err 2>&1 | cat", "out\nerr\n");
}

#[test]
fn any_failing_stage_fails_the_pipeline() {
    assert_eq!(failure("# RUN: code 3 | cat\n").reason, "exit code 3");
    assert_eq!(failure("# RUN: say a | code 4 | cat\n").command, "code 4");
    assert_eq!(failure("# RUN: say a | cat | code 5\n").reason, "exit code 5");
}

#[test]
fn and_stops_at_a_failure_and_semicolon_does_not() {
    assert_eq!(failure("# RUN: code 1 && code 2\n").reason, "exit code 1");
    assert_eq!(failure("# RUN: code 0 && code 2\n").reason, "exit code 2");
    assert_passes("# RUN: code 1 ; code 0\n");
    assert_eq!(failure("# RUN: code 0 ; code 6 ;\n").reason, "exit code 6");
}

#[test]
fn redirections_write_and_read_files() {
    assert_prints("say one > %t && say two >> %t && cat < %t", "one\ntwo\n");
    assert_prints("say one > %t && say two > %t && cat < %t", "two\n");
    assert_prints("say out err > %t.out 2> %t && cat < %t", "err\n");
    assert_prints("say a b > %t 2>&1 && cat < %t", "a\nb\n");
    assert_prints("say a b 2>%t && say c d 2>>%t && cat <%t", "b\nd\n");
}

#[test]
fn order_of_redirections_matters_as_in_the_shell() {
    // `2>&1` first: standard error goes where standard output went at that time, into the pipe.
    assert_prints("say out err 2>&1 > %t | cat", "err\n");
}

#[test]
fn a_redirected_file_that_cannot_be_opened_is_unresolved() {
    assert!(unresolved("# RUN: cat < %t.missing\n").contains("cannot read"));
    assert!(unresolved("# RUN: say a > %t/no/such/dir\n").contains("cannot write"));
}

#[test]
fn not_inverts_the_exit_code() {
    assert_passes("# RUN: not code 1\n");
    assert_passes("# RUN: not code 2 2>&1 | cat\n");
    assert_passes("# RUN: not not code 0\n");
    assert_eq!(failure("# RUN: not code 0\n").reason, "exit code 0, but `not` expects a failure");
}

#[test]
fn a_crash_is_a_failure_even_under_not() {
    assert_eq!(failure("# RUN: boom\n").reason, "crashed: `boom` panicked: boom at 7");
    assert_eq!(failure("# RUN: not boom\n").reason, "crashed: `boom` panicked: boom at 7");
    // 101 is how a Rust program ends that panicked; its neighbours are ordinary failures.
    assert!(failure("# RUN: not code 101\n").reason.starts_with("crashed"));
    assert_passes("# RUN: not code 100\n");
    assert_passes("# RUN: not code 102\n");
}

#[cfg(unix)]
#[test]
fn a_signal_is_a_failure_even_under_not() {
    assert!(failure("# RUN: not sh -c 'kill -9 $$'\n").reason.starts_with("crashed: signal: 9"));
    assert_passes("# RUN: not --crash sh -c 'kill -9 $$'\n");
}

#[test]
fn not_crash_wants_a_crash() {
    assert_passes("# RUN: not --crash boom\n");
    assert_eq!(
        failure("# RUN: not --crash code 1\n").reason,
        "exit code 1, but `not --crash` expects a crash"
    );
}

#[test]
fn env_reaches_commands() {
    assert_prints("env A=1 B= show-env", "{\"A\": \"1\", \"B\": \"\"}");
    assert_passes("# RUN: not env A=1 code 1\n");
}

#[cfg(unix)]
#[test]
fn programs_run_with_large_input_and_output() {
    // More than a pipe holds, through a program that answers while it reads: must not block.
    let big = "0123456789abcdef\n".repeat(40_000);
    let dir = common::tree(&[(
        "a.test",
        "# RUN: tr a-f A-F < %S/big | diff-expected %S/out\n# RUN: true < %S/big\n",
    )]);
    std::fs::write(dir.path().join("big"), &big).expect("a file");
    std::fs::write(dir.path().join("out"), big.to_uppercase()).expect("a file");
    let report = common::suite(dir.path()).run();
    assert!(report.is_success(), "{report}");
}

#[test]
fn a_command_that_does_not_exist_is_unresolved_even_under_not_and_xfail() {
    for run in ["no-such-command-9f", "not no-such-command-9f", "no-such-command-9f\n# XFAIL: *"] {
        let reason = unresolved(&format!("# RUN: {run}\n"));
        assert!(reason.contains("line 1: `no-such-command-9f` is neither"), "{reason}");
    }
}

#[test]
fn what_the_shell_does_not_support_is_named() {
    for (run, expected) in [
        ("code 0 || code 1", "`||` is not supported"),
        ("code 0 &", "a single `&` is not supported"),
        ("cat << end", "`<<` is not supported"),
        ("words $HOME", "`$` is not supported outside single quotes"),
        ("words \"$HOME\"", "`$` is not supported in double quotes"),
        ("words a(b)", "`(` is not supported"),
        ("words `x`", "is not supported outside single quotes"),
        ("say a 1> %t", "redirection `1>` is not supported"),
        ("say a 2>&3", "redirection `2>&` is not supported"),
        ("words 'a", "a single quote is not closed"),
        ("words \"a", "a double quote is not closed"),
        ("words a >", "expected a file name after `>`, found the end of the line"),
        ("words a > b*", "a wildcard in the file name `b*` after `>` is not supported"),
        ("cat < [ab]", "a wildcard in the file name `[ab]` after `<` is not supported"),
        ("words a > | cat", "expected a file name after `>`, found `|`"),
        ("words a | | cat", "expected a command before `|`"),
        ("words a |", "expected a command at the end of the line"),
        ("words a &&", "expected a command at the end of the line"),
        ("; words a", "expected a command before `&&` or `;`"),
        ("not", "expected a command after `not` or `env`"),
        ("env A=1", "expected a command after `not` or `env`"),
        ("", "expected a command at the end of the line"),
    ] {
        let reason = unresolved(&format!("# RUN: {run}\n"));
        assert!(reason.contains(expected), "{run}: {reason}");
    }
}
