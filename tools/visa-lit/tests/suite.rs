//! Directives, substitutions, discovery and reports.

use crate::common::{assert_passes, failure, only, suite, tree, unresolved, verdict};
use visa_lit::{Outcome, Suite, Verdict};

#[test]
fn a_test_without_a_run_line_is_a_failure() {
    assert!(unresolved("nothing\n").contains("no RUN line"));
    assert!(unresolved("").contains("no RUN line"));
    // Not comments, or not the directive.
    assert!(
        unresolved("RUN: code 0\n# RUN code 0\n# XRUN: code 0\n# see RUN: code 0\n").contains("no RUN line")
    );
}

#[test]
fn run_lines_follow_each_comment_marker() {
    for marker in ["//", "#", ";", "  ///", "##"] {
        assert_eq!(failure(&format!("{marker} RUN: code 3\n")).reason, "exit code 3");
        assert_eq!(failure(&format!("{marker}RUN:code 3\n")).reason, "exit code 3");
    }
}

#[test]
fn run_lines_run_in_order_up_to_the_first_failure() {
    let failed = failure("// RUN: code 0\n\n// RUN: code 2\n// RUN: code 3\n");
    assert_eq!((failed.line, failed.reason.as_str()), (3, "exit code 2"));
}

#[test]
fn a_backslash_continues_a_run_line() {
    let failed = failure("// RUN: code 0 && \\\n// RUN:   code 5\n// RUN: code 6\n");
    assert_eq!((failed.line, failed.run.as_str()), (1, "code 0 && code 5"));
    assert!(unresolved("// RUN: code 0 \\\n").contains("line 1: this RUN line ends in `\\`"));
}

#[test]
fn xfail_turns_failures_around() {
    assert_eq!(verdict("# RUN: code 1\n# XFAIL: *\n"), Verdict::XFail);
    assert_eq!(verdict("# RUN: code 0\n# XFAIL: *\n"), Verdict::XPass);
    assert!(Verdict::XPass.is_failure() && !Verdict::XFail.is_failure());
}

#[test]
fn features_decide_what_runs() {
    let run = |source: &str| {
        let dir = tree(&[("a.test", source)]);
        only(suite(dir.path()).with_feature("here").with_feature("too").run())
    };
    let unsupported = |missing: &[&str], excluded: &[&str]| Verdict::Unsupported {
        missing: missing.iter().map(|s| (*s).to_owned()).collect(),
        excluded_by: excluded.iter().map(|s| (*s).to_owned()).collect(),
    };
    assert_eq!(run("# REQUIRES: here, too\n# RUN: code 0\n"), Verdict::Pass);
    assert_eq!(run("# REQUIRES: here, gone, lost\n# RUN: code 1\n"), unsupported(&["gone", "lost"], &[]));
    assert_eq!(run("# REQUIRES: here\n# REQUIRES: gone\n# RUN: code 1\n"), unsupported(&["gone"], &[]));
    assert_eq!(run("# REQUIRES: !here\n# RUN: code 1\n"), unsupported(&["!here"], &[]));
    assert_eq!(run("# REQUIRES: !gone\n# RUN: code 0\n"), Verdict::Pass);
    assert_eq!(run("# UNSUPPORTED: here\n# RUN: code 1\n"), unsupported(&[], &["here"]));
    assert_eq!(run("# UNSUPPORTED: gone\n# RUN: code 0\n"), Verdict::Pass);
    assert_eq!(run("# XFAIL: here\n# RUN: code 1\n"), Verdict::XFail);
    assert!(matches!(run("# XFAIL: gone\n# RUN: code 1\n"), Verdict::Fail(_)));
    // A test that does not run here must still be a test.
    assert!(matches!(run("# REQUIRES: gone\n"), Verdict::Unresolved(_)));
}

#[test]
fn malformed_feature_lists_are_named() {
    for list in ["a || b", "a b", "", "a,,b", "*", "!"] {
        let reason = unresolved(&format!("# RUN: code 0\n# REQUIRES: {list}\n"));
        assert!(reason.starts_with("line 2: REQUIRES lists `"), "{list}: {reason}");
    }
}

#[test]
fn substitutions_are_made_once_and_longest_first() {
    let dir = tree(&[(
        "sub dir/a.test",
        "# RUN: words %s %S %p %x %xy '%%s' %unknown 100% | diff-expected %S/out\n",
    )]);
    let root = dir.path().join("sub dir");
    let at = root.display();
    // `%unknown` is unknown, but its `%u` is not a name either; the values of %x and %xy are not expanded again. The
    // golden command writes its directory as %S/.
    let expected = format!("[%S/a.test]\n[{at}]\n[{at}]\n[%s  one]\n[%x two]\n[%s]\n[%unknown]\n[100%]\n");
    std::fs::write(root.join("out"), expected).expect("a file");
    let report = suite(dir.path()).with_substitution("%x", "%s  one").with_substitution("xy", "%x two").run();
    assert!(report.is_success(), "{report}");
}

#[test]
fn every_test_has_a_temporary_path_of_its_own() {
    // Both write %t and read it back; with a shared path one would see the other's text in one of 20 rounds.
    let source = |text: &str| format!("# RUN: say {text} > %t && cat < %t | diff-expected %S/out\n");
    let dir =
        tree(&[("x/a.test", &source("x")), ("x/out", "x\n"), ("y/a.test", &source("y")), ("y/out", "y\n")]);
    let report = suite(dir.path()).threads(2).run();
    assert_eq!(report.passed(), 2, "{report}");
    let shared = tree(&[("a.test", "# RUN: say 1 > %t\n"), ("b.test", "# RUN: cat < %t\n")]);
    assert_eq!(suite(shared.path()).threads(1).run().failed(), 1);
}

#[test]
fn commands_run_in_a_temporary_directory() {
    let dir = tree(&[("a.test", "# RUN: say x > here && cat < here\n")]);
    assert!(suite(dir.path()).run().is_success());
    assert!(!dir.path().join("here").exists());
}

#[test]
fn discovery_takes_tests_and_skips_helper_directories() {
    let pass = "# RUN: code 0\n";
    let dir = tree(&[
        ("b.mlir", pass),
        ("a.visa", pass),
        ("sub/c.test", pass),
        ("d.txt", pass),
        ("Inputs/e.visa", pass),
        ("sub/data/f.visa", pass),
        ("fuzz/g.visa", pass),
        ("src/h.visa", pass),
        ("tests/i.visa", pass),
        (".hidden/j.visa", pass),
    ]);
    let names = |suite: Suite| -> Vec<String> {
        let strip = |name: String| name[dir.path().to_string_lossy().len() + 1..].to_owned();
        suite.run().results.into_iter().map(|result| strip(result.name)).collect()
    };
    assert_eq!(names(suite(dir.path())), ["a.visa", "b.mlir", "sub/c.test"]);
    assert_eq!(names(suite(dir.path()).filter("sub/")), ["sub/c.test"]);
    assert_eq!(names(suite(dir.path()).filter("no such test")), Vec::<String>::new());
    assert_eq!(
        names(suite(dir.path()).skip_dirs(&["sub", "Inputs", "fuzz", "src"])),
        ["a.visa", "b.mlir", "tests/i.visa"]
    );
    // A file named outright runs regardless of its name and place; a test found twice runs once.
    let file = dir.path().join("Inputs/e.visa");
    assert_eq!(
        names(suite(&file).with_root(dir.path()).with_root(&file)),
        ["Inputs/e.visa", "a.visa", "b.mlir", "sub/c.test"]
    );
}

#[test]
fn a_root_that_does_not_exist_is_a_failure() {
    let report = Suite::new("/no/such/root").run();
    assert!(!report.is_success());
    assert!(
        report.to_string().contains("UNRESOLVED: /no/such/root (cannot read `/no/such/root`"),
        "{report}"
    );
}

#[test]
fn the_report_counts_and_does_not_depend_on_threads() {
    let dir = tree(&[
        ("a.test", "# RUN: code 0\n"),
        ("b.test", "# RUN: say out err && code 9\n"),
        ("c.test", "# RUN: code 1\n# XFAIL: *\n"),
        ("d.test", "# REQUIRES: moon\n# RUN: code 0\n"),
        ("e.test", "# RUN: code 0\n# XFAIL: *\n"),
        ("f.test", ""),
    ]);
    let report = suite(dir.path()).threads(1).run();
    let counts = (report.passed(), report.expectedly_failed(), report.unsupported(), report.failed());
    assert_eq!(counts, (1, 1, 1, 3));
    let text = report.to_string();
    assert!(text.ends_with("lit: 1 passed, 1 expectedly failed, 1 unsupported, 3 failed\n"), "{text}");
    assert!(
        text.contains("b.test:1\n  RUN: say out err && code 9\n  command: code 9\n  exit code 9\n"),
        "{text}"
    );
    assert!(text.contains("d.test (requires moon)\n"), "{text}");
    assert!(!text.contains("PASS: ") || text.contains("XPASS: "), "{text}");
    assert!(format!("{report:#}").starts_with("PASS: "), "{report:#}");
    assert_eq!(report, suite(dir.path()).threads(4).run());
}

#[test]
fn outputs_of_a_failed_command_are_shown_by_their_ends() {
    let long: String = (1..=160).map(|n| format!("line {n}\n")).collect();
    let dir = tree(&[("a.test", "# RUN: chatter\n")]);
    let chatter = move |_: &visa_lit::Invocation| Outcome {
        code: 1,
        stdout: long.clone().into(),
        stderr: b"why\n".to_vec(),
    };
    let Verdict::Fail(failed) = only(Suite::new(dir.path()).with_builtin("chatter", chatter).run()) else {
        panic!("expected a failure");
    };
    assert!(
        failed.stdout.starts_with("... 40 lines before\nline 41\n") && failed.stdout.ends_with("line 160")
    );
    assert_eq!(failed.stderr, "why");
}

#[test]
fn standard_error_of_earlier_stages_is_kept() {
    assert_eq!(failure("# RUN: say a warning | code 1\n").stderr, "warning");
}

#[test]
fn deep_recursion_fits_an_ordinary_stack() {
    // About 4 MiB of frames: more than the 2 MiB of a Rust thread, less than the 8 MiB of a program's main thread.
    fn depth(n: u32) -> u64 {
        let frame = std::hint::black_box([u64::from(n); 128]);
        if n == 0 { 0 } else { depth(n - 1) + frame[64] - u64::from(n) + 1 }
    }
    let dir = tree(&[("a.test", "# RUN: recurse\n")]);
    let recurse =
        |_: &visa_lit::Invocation| Outcome { code: i32::from(depth(3500) != 3500), ..Outcome::default() };
    assert_eq!(only(Suite::new(dir.path()).with_builtin("recurse", recurse).run()), Verdict::Pass);
    assert_passes("# RUN: code 0\n");
}
