//! `--show-dialects`, `--list-passes` and the reference pages: texts from the declarations.

use crate::io::Io;
use crate::load::unwritable;
use crate::registry::Registry;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use visa_ir::diag::{Diagnostic, counted, nearest};
use visa_ir::doc::dialect_page;
use visa_ir::span::Span;

/// A line a pass, with its options below it.
pub(crate) fn list_passes(registry: &Registry) -> String {
    let mut out = String::new();
    for pass in &registry.passes {
        let _ = writeln!(out, "{} ({} -> {}): {}", pass.name, pass.takes, pass.gives, pass.summary);
        for option in pass.options.iter() {
            let kind = option.kind.describe();
            let _ = writeln!(out, "  {}={} ({kind}): {}", option.name, option.default, option.doc);
        }
    }
    out
}

/// A line a dialect, or the page of the one called `name`.
pub(crate) fn show_dialects(registry: &Registry, name: Option<&str>) -> Result<String, Diagnostic> {
    let Some(name) = name else {
        let mut out = String::new();
        for dialect in &registry.dialects {
            let ops = dialect.ops.iter().map(|ops| ops.len()).sum::<usize>();
            let first = dialect.doc.trim().lines().next().unwrap_or_default();
            let _ = writeln!(
                out,
                "{} ({}, {}): {first}",
                dialect.name,
                counted(ops, "operation"),
                counted(dialect.types.len(), "type")
            );
        }
        return Ok(out);
    };
    if let Some(dialect) = registry.dialects.iter().find(|dialect| dialect.name == name) {
        return Ok(dialect_page(dialect));
    }
    let names: Vec<_> = registry.dialects.iter().map(|dialect| dialect.name).collect();
    let message = format!("unknown dialect `{name}`; known are `{}`", names.join("`, `"));
    Err(Diagnostic::error("unknown-dialect", Span::default(), message)
        .fix(nearest(name, names).map(|near| format!("did you mean `{near}`?"))))
}

/// The reference: a page a dialect, and one of the passes; by file name.
fn pages(registry: &Registry) -> BTreeMap<String, String> {
    let mut pages: BTreeMap<_, _> = registry
        .dialects
        .iter()
        .map(|dialect| (format!("{}.md", dialect.name), dialect_page(dialect)))
        .collect();
    pages.insert("passes.md".into(), visa_pass::doc::passes_page(&registry.passes));
    pages
}

/// Writes the reference into `folder`.
pub(crate) fn write_docs(registry: &Registry, folder: &str, io: &mut Io) -> Result<(), Diagnostic> {
    fs::create_dir_all(io.path(folder)).map_err(|why| unwritable(folder, &why))?;
    for (name, text) in pages(registry) {
        let page = format!("{folder}/{name}");
        io.write(&page, text.as_bytes()).map_err(|why| unwritable(&page, &why))?;
    }
    Ok(())
}

/// Every page of `folder` that differs from the declarations.
pub(crate) fn check_docs(registry: &Registry, folder: &Path) -> Vec<Diagnostic> {
    let mut stale = Vec::new();
    for (name, text) in pages(registry) {
        let path = folder.join(name);
        if visa_files::read(&path, text.len() as u64).is_ok_and(|found| found == text.as_bytes()) {
            continue;
        }
        let message = format!("`{}` differs from the declarations", path.display());
        let fix = format!("run visa-opt --docs {}", folder.display());
        stale.push(Diagnostic::error("stale-docs", Span::default(), message).fix(fix));
    }
    stale
}
