//! Changed Rust kernels through the importer. Whatever is wrong with one is an error at its place: no panic, no
//! work without end; and what is written is text that parses.

use crate::files::context;
use crate::mutate::change;
use crate::settings::{Settings, test_folder};
use std::fs;
use std::path::PathBuf;
use visa_import::Addresses;
use visa_ir::parse::parse;
use visa_ir::span::Source;
use visa_support::Random;

/// Most changes of a kernel.
const MOST_CHANGES: usize = 4;

/// What a text that does not parse has among its errors.
const SYNTAX: &str = "syntax";

/// The Rust files of the lit tests, those that the importer is to refuse included.
fn seeds() -> Vec<String> {
    let folder = test_folder().join("import/rust/Inputs");
    let mut paths: Vec<PathBuf> =
        fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "rs"));
    paths.sort();
    paths.iter().map(|path| fs::read_to_string(path).expect("a text")).collect()
}

/// Imports each changed file.
pub fn run(settings: &Settings<'_>) {
    let Settings { count, seed, .. } = *settings;
    let seeds = seeds();
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("kernel.rs");
    let (mut imported, mut refused) = (0_u64, 0_u64);
    for number in 0..count {
        let mut random = Random::of_case(seed, number);
        let mut text = random.pick(&seeds).expect("seeds").clone();
        for _ in 0..=random.below(MOST_CHANGES) {
            text = change(&text, &mut random).unwrap_or(text);
        }
        fs::write(&path, &text).expect("a file");
        let found = visa_import::import(std::slice::from_ref(&path), None, Addresses::Drop);
        match found.refused().next() {
            Some(_) => refused += 1,
            None => imported += 1,
        }
        let module = found.module();
        let parsed = parse(&context(None), &Source::new("kernel", module.clone()), 0..module.len());
        let syntax = parsed.diagnostics.iter().find(|error| error.code == SYNTAX);
        assert!(syntax.is_none(), "mutant {number}, seed {seed}: {syntax:?}\n{module}\nof\n{text}");
    }
    println!("imports, seed {seed}: {count} mutants, {imported} imported, {refused} refused");
    assert!(imported > 0 && refused > 0, "{imported} of {count} mutants were imported");
}
