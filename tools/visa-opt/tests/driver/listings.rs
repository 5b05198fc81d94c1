//! What the declarations say: lists and reference pages.

use crate::toy::{run, run_in};
use std::fs;

#[test]
fn passes_with_levels_and_options() {
    let ran = run(&["--list-passes"], "");
    let out = ran.quiet();
    assert!(
        out.contains("dce (any -> any): erases operations that only give results that nobody uses\n"),
        "{out}"
    );
    assert!(out.contains("lower-toy (tensor -> sequencer): lowers\n"), "{out}");
    assert!(out.contains("  value=7 (an integer): the value\n"), "{out}");
}

#[test]
fn dialects_and_one_dialect() {
    assert!(run(&["--show-dialects"], "").quiet().starts_with("toy (4 operations, 1 type): Numbers.\n"));
    let ran = run(&["--show-dialects", "toy"], "");
    assert!(ran.quiet().contains("### `toy.const`\n"), "{}", ran.out);
    run(&["--show-dialects=toi"], "").refused(&["unknown dialect `toi`", "did you mean `toy`?"]);
}

#[test]
fn reference_pages_are_fresh_or_named() {
    let folder = tempfile::tempdir().unwrap();
    run_in(folder.path(), &["--check-docs", "reference"], "").refused(&["stale-docs", "run visa-opt --docs"]);
    run_in(folder.path(), &["--docs", "reference"], "").quiet();
    run_in(folder.path(), &["--check-docs", "reference"], "").quiet();
    let page = folder.path().join("reference/toy.md");
    let text = fs::read_to_string(&page).unwrap();
    fs::write(&page, text.replace("a constant", "a variable")).unwrap();
    let stale = run_in(folder.path(), &["--check-docs", "reference"], "");
    stale.refused(&["reference/toy.md` is not what the declarations say"]);
    assert_eq!(stale.err.matches("error[").count(), 1);
}
