//! A plan that a later pass refuses counts as no plan: the kernel keeps its operations, and its file is not written.

use std::path::Path;

use visa::Io;
use visa::pass::{Level, Pass};
use visa_ir::diag::Diagnostic;
use visa_ir::span::Span;
use visa_test::tool;

/// `schedule`, which runs on the plan alone: the kernel is in the order of its text.
static REFUSING: Pass = Pass {
    name: "schedule",
    summary: "Refuses every kernel",
    takes: Level::Memory,
    gives: Level::Memory,
    open: true,
    run: |_| Err(vec![Diagnostic::error("schedule", Span::default(), "no order")]),
    ..Pass::BASE
};

/// The exit code of a plan of `product` under a tool, its findings, and whether its file was written.
fn plan(tool: &visa::Tool, name: &str) -> (i32, String, bool) {
    let better = std::env::temp_dir().join(format!("visa-{}-{name}.rs", std::process::id()));
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut io = Io::buffered([], root);
    let flags = ["import/rust/Inputs/product.rs", "--entry=product", "--plan", "--cost", "--emit-rust"];
    let args: Vec<String> =
        flags.iter().map(|&flag| flag.to_owned()).chain([better.to_string_lossy().into_owned()]).collect();
    let code = tool.run(&args, &mut io);
    let is_written = std::fs::remove_file(&better).is_ok();
    (code, String::from_utf8_lossy(&io.stderr).into_owned(), is_written)
}

#[test]
fn keeps_the_kernel() {
    let (code, findings, is_written) = plan(&tool().pass(&REFUSING), "refused");
    assert!(
        findings.contains("`@product` keeps its operations: its plan is refused: no order"),
        "exit code {code}: {findings}"
    );
    assert!(!is_written, "{findings}");
    let (code, findings, is_written) = plan(&tool(), "written");
    assert!(code == 0 && is_written && !findings.contains("keeps its operations"), "{code}: {findings}");
}
