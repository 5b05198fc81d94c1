//! The kernels of files under `test/`.

use crate::settings::test_folder;
use std::fs;
use visa_ir::context::Context;
use visa_ir::module::Module;
use visa_ir::parse::parse;
use visa_ir::span::Source;
use visa_ir::verify::{has_errors, verify};
use visa_machine::Machine;

/// Which files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Files<'a> {
    /// All.
    All,
    /// Those whose names hold a word.
    With(&'a str),
    /// Those with these names.
    Named(&'a [&'a str]),
    /// All but those with these names.
    Except(&'a [&'a str]),
}

impl Files<'_> {
    /// Whether a file of that name, without its folder and extension, is one of them.
    pub(crate) fn contain(&self, name: &str) -> bool {
        match self {
            Files::All => true,
            Files::With(word) => name.contains(word),
            Files::Named(names) => names.contains(&name),
            Files::Except(names) => !names.contains(&name),
        }
    }
}

/// A test file: its name, its text, and the machine that its first `RUN` line with one names.
pub(crate) struct File {
    pub(crate) name: String,
    pub(crate) text: String,
    pub(crate) machine: Option<String>,
}

impl File {
    /// A context with the file's machine.
    pub(crate) fn context(&self) -> Context {
        context(self.machine.as_deref())
    }

    /// The texts of its modules.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &str> {
        self.text.split("// -----\n")
    }
}

/// A context with the machine of that name.
pub(crate) fn context(machine: Option<&str>) -> Context {
    let mut ctx = Context::new(&visa_opt::standard_dialects());
    if let Some(machine) = machine.and_then(Machine::named) {
        ctx.set_data(machine);
    }
    ctx
}

/// A machine of so many slices a cluster.
pub(crate) fn machine_of(slices: u64) -> Machine {
    let mut machine = Machine::rngd();
    machine.topology.slices_per_cluster = slices;
    machine
}

/// A context with a machine of so many slices a cluster.
pub(crate) fn context_of(slices: u64) -> Context {
    let mut ctx = context(None);
    ctx.set_data(machine_of(slices));
    ctx
}

/// The module of a text, if it verifies.
pub(crate) fn read(ctx: &Context, text: &str) -> Option<Module> {
    let parsed = parse(ctx, &Source::new("kernel", text.to_owned()), 0..text.len());
    let legal = !has_errors(&parsed.diagnostics) && !has_errors(&verify(ctx, &parsed.module));
    legal.then_some(parsed.module)
}

/// The machine that a file's `RUN` lines name.
fn machine(text: &str) -> Option<String> {
    let mut runs = text.lines().filter(|line| line.starts_with("// RUN:"));
    let named = runs.find_map(|line| line.split_whitespace().skip_while(|word| *word != "--machine").nth(1));
    named.filter(|name| Machine::named(name).is_some()).map(str::to_owned)
}

/// The files of some folders of `test/`, by path.
pub(crate) fn files(folders: &[&str], wanted: Files<'_>) -> Vec<File> {
    let read = |folder: &&str| fs::read_dir(test_folder().join(folder)).expect("a readable folder");
    let entries = folders.iter().flat_map(read);
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("a readable entry").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "visa"));
    paths.sort();
    let stem = |path: &std::path::Path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let named = paths.iter().map(|path| (stem(path), path)).filter(|(name, _)| wanted.contain(name));
    let file = |(name, path)| {
        let text = fs::read_to_string(path).expect("a readable file");
        File { name, machine: machine(&text), text }
    };
    let files: Vec<File> = named.map(file).collect();
    if let Files::Named(names) | Files::Except(names) = wanted {
        let is_there = |name: &&&str| paths.iter().any(|path| stem(path) == **name);
        let missing: Vec<_> = names.iter().filter(|name| !is_there(name)).collect();
        assert!(missing.is_empty(), "there are no files {missing:?} in {folders:?}");
    }
    files
}
