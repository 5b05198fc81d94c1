//! No clause is dropped silently: without an optional clause, an operation has another export, or none.
#![expect(clippy::disallowed_methods, reason = "clauses are compared whatever they are called")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use visa_export::{Options, rust};
use visa_ir::context::Context;
use visa_ir::decl::Presence;
use visa_ir::module::{Module, OpRef};
use visa_ir::print::{Form, print};
use visa_ir::span::Source;
use visa_mapping::ops::func::Func;
use visa_opt::{Registry, load_module};

/// A clause of an operation.
type Clause = (String, String);

/// Clauses that change nothing in any kernel here, each with the reason.
const SAME: &[(&str, &str, &str)] = &[("tm.to_dm", "chip", "kernels write the chips that the source has")];

#[test]
fn every_clause_changes_the_export() {
    let mut seen: BTreeMap<Clause, bool> = BTreeMap::new();
    for folder in ["../../test/kernels", "../../test/export/Inputs"] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.retain(|file| file.extension().is_some_and(|extension| extension == "visa"));
        files.sort();
        files.iter().for_each(|file| look(&fs::read_to_string(file).unwrap(), &mut seen));
    }
    let dropped: Vec<&Clause> =
        seen.iter().filter(|(_, changes)| !**changes).map(|(clause, _)| clause).collect();
    let known = |(op, clause): &&Clause| SAME.iter().any(|(own, name, _)| own == op && name == clause);
    let (expected, silent): (Vec<&Clause>, Vec<&Clause>) = dropped.into_iter().partition(known);
    assert!(silent.is_empty(), "clauses that the export drops silently: {silent:?}");
    assert_eq!(expected.len(), SAME.len(), "found {expected:?}");
    assert!(seen.len() > 20, "the kernels have {} kinds of clauses", seen.len());
}

/// Leaves out each optional clause of the exported functions of a text, and notes if the export changes.
fn look(text: &str, seen: &mut BTreeMap<Clause, bool>) {
    let ctx = Registry::standard().context().unwrap();
    let Some(mut module) = read(&ctx, text) else { return };
    let Some(before) = export(&ctx, &print(&ctx, &module, Form::Pretty)) else { return };
    for op in module.walk(module.body()) {
        let own = module.op(&ctx, op);
        let func = std::iter::once(own).chain(own.ancestors()).find_map(Func::cast);
        let name = func.and_then(|func| func.name().ok());
        if !name.is_some_and(|name| before.functions.contains(&*name)) {
            continue;
        }
        let Some(decl) = own.decl() else { continue };
        let written = own.clauses().iter().map(|own| (own.name.to_string(), own.value));
        let written: Vec<_> = written.filter(|(name, _)| !is_default(own, name)).collect();
        for (name, value) in written {
            let is_required = decl.clause(&name).is_none_or(|clause| clause.presence == Presence::Required);
            let clause = (decl.name.to_owned(), name.clone());
            if is_required || seen.get(&clause).copied().unwrap_or_default() {
                continue;
            }
            module.set_clause(op, &name, None);
            // The types of results are inferred again.
            if let Some(without) = export(&ctx, &print(&ctx, &module, Form::Pretty)) {
                *seen.entry(clause).or_default() |= without.text != before.text;
            }
            module.set_clause(op, &name, Some(value));
        }
    }
}

/// Returns true if a number is written that is the default.
fn is_default(op: OpRef<'_>, name: &str) -> bool {
    let presence = op.decl().and_then(|decl| decl.clause(name)).map(|clause| clause.presence);
    matches!(presence, Some(Presence::Default(text)) if text.parse().ok() == op.int(name))
}

/// A legal module.
fn read(ctx: &Context, text: &str) -> Option<Module> {
    let source = Source::new("kernel.visa", text);
    load_module(ctx, &source, 0..text.len()).module
}

/// An export.
struct Export {
    /// The file, and the refusals.
    text: String,
    /// The functions in it.
    functions: BTreeSet<String>,
}

/// The export of a legal text.
fn export(ctx: &Context, text: &str) -> Option<Export> {
    let source = Source::new("kernel.visa", text);
    let module = load_module(ctx, &source, 0..text.len()).module?;
    let exported = rust(ctx, &module, &source, &Options::default()).ok()?;
    let refused: Vec<String> = exported.refused().map(|refusal| refusal.message.clone()).collect();
    let functions = exported.functions.iter().filter(|own| own.notes.is_ok());
    Some(Export {
        text: format!("{}{}", exported.text, refused.join("\n")),
        functions: functions.map(|own| own.name.clone()).collect(),
    })
}
