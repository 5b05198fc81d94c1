//! What cargo-mutants lists.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use proc_macro2::LineColumn;
use serde::Deserialize;

const INCLUDED: &str = r#"include!(concat!(env!("OUT_DIR"), "/ops.rs"));"#;

/// One small mistake.
#[derive(Debug, Deserialize)]
pub(crate) struct Mutant {
    /// Place and mistake in words; no two mutants share it.
    pub(crate) name: String,
    /// From the root of the tree.
    pub(crate) file: PathBuf,
    pub(crate) genre: Genre,
    pub(crate) replacement: String,
    span: Span,
}

/// Kind of mistake.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
pub(crate) enum Genre {
    FnValue,
    BinaryOperator,
    UnaryOperator,
    MatchArm,
    MatchArmGuard,
    StructField,
}

#[derive(Debug, Deserialize)]
struct Span {
    start: Position,
}

/// Both from one.
#[derive(Debug, Deserialize)]
struct Position {
    line: usize,
    column: usize,
}

/// A kind of mistake and where it is: what an expression asks for its mutants by. Columns are from zero.
pub(crate) type Place = (Genre, usize, usize);

impl Mutant {
    fn place(&self) -> Place {
        place(self.genre, LineColumn { line: self.span.start.line, column: self.span.start.column - 1 })
    }
}

pub(crate) fn place(genre: Genre, at: LineColumn) -> Place {
    (genre, at.line, at.column)
}

/// The mutants of a package in the copy of the tree. cargo-mutants finds the files that `mod` names, not those
/// that the build script does (dialects/register.rs): they are named for it, on the line where they are included.
pub(crate) fn list(tree: &Path, package: &str, folder: &Path) -> Vec<Mutant> {
    let crate_root = tree.join(folder).join("src/lib.rs");
    let text = fs::read_to_string(&crate_root).expect("the crate has a lib.rs");
    let ops = fs::read_dir(tree.join(folder).join("src/ops")).into_iter().flatten();
    let ops = ops.map(|file| file.expect("a file of the copy").path());
    let modules = ops.filter_map(|file| Some(format!("mod {};", file.file_stem()?.to_str()?)));
    let named = text.replace(INCLUDED, &modules.collect::<String>());
    fs::write(&crate_root, named).expect("the copy can be written");
    let mut command = Command::new("cargo");
    command.args(["mutants", "--list", "--json", "--package", package]).current_dir(tree);
    let listed = command.output().expect("cargo runs");
    assert!(listed.status.success(), "{}", String::from_utf8_lossy(&listed.stderr));
    serde_json::from_slice(&listed.stdout).expect("the list is in cargo-mutants' format")
}

/// The mutants that are `wanted` by their place; a mutant's number is its position in the list.
pub(crate) fn places(mutants: &[Mutant], wanted: impl Fn(&Mutant) -> bool) -> HashMap<Place, Vec<usize>> {
    let mut places: HashMap<_, Vec<_>> = HashMap::new();
    for (number, mutant) in mutants.iter().enumerate().filter(|(_, mutant)| wanted(mutant)) {
        places.entry(mutant.place()).or_default().push(number);
    }
    places
}
