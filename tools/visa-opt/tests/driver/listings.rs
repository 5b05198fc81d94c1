//! Texts from the declarations: lists and reference pages.

use super::toy::{run, run_in};
use std::fs;

#[test]
fn passes_with_levels_and_options() {
    let ran = run(&["--list-passes"], "");
    let out = ran.quiet();
    assert!(
        out.contains("dce (any -> any): erases operations without effects whose results are unused\n"),
        "{out}"
    );
    assert!(out.contains("lower-toy (memory -> sequencer): lowers\n"), "{out}");
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
    stale.refused(&["reference/toy.md` differs from the declarations"]);
    assert_eq!(stale.err.matches("error[").count(), 1);
}

/// The syntax of a format lists them all: pages show it, and MLIR is told of no other.
#[test]
fn the_syntax_of_a_format_lists_all_formats() {
    let dialects = visa_opt::standard_dialects();
    let formats =
        dialects.iter().flat_map(|dialect| dialect.attrs).filter(|def| def.name.ends_with(".dtype"));
    let names: Vec<_> = visa_numerics::DType::names().collect();
    let mut checked = 0;
    for def in formats {
        assert_eq!(def.syntax.split(" | ").collect::<Vec<_>>(), names, "{}", def.name);
        assert!(names.iter().all(|name| (def.parse)(name).is_ok()), "{}", def.name);
        checked += 1;
    }
    assert_eq!(checked, 3);
}

#[test]
fn declarations_in_irdl() {
    let ran = run(&["--emit-irdl"], "");
    assert!(ran.quiet().contains("  irdl.operation @const {\n"), "{}", ran.out);
    run(&["--emit-irdl", "--output=/"], "").refused(&["cannot-write"]);
}
