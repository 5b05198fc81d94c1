//! `diff-expected` and blessing.

use crate::common::{self, only, suite, tree};
use visa_lit::Verdict;

const TEST: &str = "# RUN: say new | diff-expected %S/a.expected\n";

#[test]
fn a_difference_is_shown_with_the_way_to_accept_it() {
    let dir = tree(&[("a.test", "# RUN: words a X c | diff-expected %S/out\n"), ("out", "[a]\n[b]\n[c]\n")]);
    let report = suite(dir.path()).run().to_string();
    assert!(report.contains("    from line 2:\n    -[b]\n    +[X]\n    to accept"), "{report}");
    assert!(report.contains("VISA_BLESS=1 cargo test -p visa-test"), "{report}");
    assert!(!report.contains("[c]\n    to"), "{report}");
}

#[test]
fn a_missing_file_fails_and_says_how_to_bless() {
    let dir = tree(&[("a.test", TEST)]);
    let report = suite(dir.path()).run();
    assert_eq!(report.failed(), 1);
    let text = report.to_string();
    assert!(text.contains("does not exist") && text.contains("VISA_BLESS=1"), "{text}");
    assert!(!dir.path().join("a.expected").exists());
}

#[test]
fn a_final_newline_is_a_difference() {
    let dir = tree(&[("a.test", TEST), ("a.expected", "new")]);
    let report = suite(dir.path()).run().to_string();
    assert!(report.contains("the lines are equal: only line endings"), "{report}");
}

#[test]
fn without_blessing_nothing_is_written() {
    let dir = tree(&[("a.test", TEST), ("a.expected", "old\n")]);
    assert_eq!(suite(dir.path()).bless(false).run().failed(), 1);
    assert_eq!(std::fs::read(dir.path().join("a.expected")).expect("the file"), b"old\n");
}

#[test]
fn blessing_rewrites_what_differs_and_reports_it() {
    for before in [None, Some("old\n")] {
        let dir = tree(&[
            ("a.test", TEST),
            ("b.test", "# RUN: say same | diff-expected %S/b.expected\n"),
            ("b.expected", "same\n"),
        ]);
        let file = dir.path().join("a.expected");
        if let Some(text) = before {
            std::fs::write(&file, text).expect("a file");
        }
        let report = suite(dir.path()).bless(true).run();
        assert!(report.is_success(), "{report}");
        assert_eq!(report.blessed, std::slice::from_ref(&file));
        assert!(report.to_string().contains(&format!("BLESSED: {}\n", file.display())));
        assert_eq!(std::fs::read(&file).expect("the file"), b"new\n");
        // Nothing but the two tests and their files is left behind, and the next run has nothing to do.
        assert_eq!(std::fs::read_dir(dir.path()).expect("the directory").count(), 4);
        assert!(suite(dir.path()).bless(true).run().blessed.is_empty());
        assert!(suite(dir.path()).run().is_success());
    }
}

#[test]
fn the_output_of_a_failed_tool_is_not_blessed() {
    let dir = tree(&[("a.test", "# RUN: code 1 | diff-expected %S/out\n"), ("out", "old\n")]);
    let report = suite(dir.path()).bless(true).run();
    assert!(matches!(only(report), Verdict::Fail(_)));
    assert_eq!(std::fs::read(dir.path().join("out")).expect("the file"), b"old\n");
}

#[test]
fn expected_files_do_not_depend_on_where_the_checkout_lies() {
    let dir = tree(&[("a.test", "# RUN: say %s:3:1 | diff-expected %S/out\n")]);
    assert!(suite(dir.path()).bless(true).run().is_success());
    assert_eq!(std::fs::read(dir.path().join("out")).expect("the file"), b"%S/a.test:3:1\n");
    assert!(suite(dir.path()).run().is_success());
}

#[test]
fn wrong_calls_are_named() {
    for (run, expected) in [
        ("say a | diff-expected", "expected one argument, the expected file, found 0"),
        ("say a | diff-expected x y", "expected one argument, the expected file, found 2"),
        ("say a | diff-expected %S", "cannot read"),
    ] {
        let failed = common::failure(&format!("# RUN: {run}\n"));
        assert!(failed.stderr.contains(expected), "{run}: {}", failed.stderr);
        assert_eq!(failed.reason, "exit code 2");
    }
}

#[test]
fn blessing_into_a_directory_that_does_not_exist_fails() {
    let dir = tree(&[("a.test", "# RUN: say a | diff-expected %S/no/out\n")]);
    let report = suite(dir.path()).bless(true).run();
    assert!(report.to_string().contains("cannot write"), "{report}");
    assert!(report.blessed.is_empty());
}
