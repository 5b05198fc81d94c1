//! Which file of a crate imports which, read from the paths in its code.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The folders with crates of ours.
const FOLDERS: [&str; 4] = ["dialects", "passes", "runtime", "tools"];

/// A path as written, a name each.
pub(crate) type Names = Vec<String>;

/// The paths from `crate`, `super` and `self` in the code, those of tests left out.
fn paths(code: TokenStream, found: &mut Vec<Names>) {
    let mut tokens = code.into_iter().peekable();
    let mut tested = false;
    while let Some(token) = tokens.next() {
        match token {
            // `$crate` in a macro is a path of whoever calls it.
            TokenTree::Punct(mark) if mark.as_char() == '$' => drop(tokens.next()),
            TokenTree::Ident(name) if ["crate", "super", "self"].contains(&name.to_string().as_str()) => {
                branches(vec![name.to_string()], &mut tokens, found);
            }
            TokenTree::Group(group) if group.stream().to_string() == "cfg (test)" => tested = true,
            TokenTree::Group(group) if tested && group.delimiter() == Delimiter::Brace => tested = false,
            TokenTree::Group(group) => paths(group.stream(), found),
            TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
}

/// What follows `path`: `::name`, or `::{...}` with a path each.
fn branches(
    mut path: Names,
    tokens: &mut std::iter::Peekable<impl Iterator<Item = TokenTree>>,
    found: &mut Vec<Names>,
) {
    let colon = |token: &TokenTree| matches!(token, TokenTree::Punct(mark) if mark.as_char() == ':');
    while tokens.next_if(colon).is_some() {
        tokens.next_if(colon);
        match tokens.peek() {
            Some(TokenTree::Ident(name)) => path.push(name.to_string()),
            Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => {
                let mut inside = group.stream().into_iter().peekable();
                while let Some(token) = inside.next() {
                    if let TokenTree::Ident(name) = token {
                        let path = path.iter().cloned().chain([name.to_string()]).collect();
                        branches(path, &mut inside, found);
                    }
                }
                return;
            }
            Some(_) | None => break,
        }
        tokens.next();
    }
    found.push(path);
}

/// The files of a crate by their module's path.
pub(crate) fn modules(folder: &Path, src: &Path, found: &mut BTreeMap<Names, PathBuf>) {
    for entry in fs::read_dir(folder).expect("a readable folder") {
        let path = entry.expect("a readable entry").path();
        let stem = path.file_stem().and_then(|stem| stem.to_str()).expect("a name").to_owned();
        if path.is_dir() && stem != "tests" && stem != "bin" {
            modules(&path, src, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") && stem != "tests" {
            let inside = path.with_extension("");
            let inside = inside.strip_prefix(src).expect("a file of the crate");
            let mut names: Names =
                inside.iter().map(|name| name.to_str().expect("a name").to_owned()).collect();
            if ["mod", "lib", "main"].contains(&stem.as_str()) {
                names.pop();
            }
            found.insert(names, path);
        }
    }
}

/// The file that a path of the module `of` leads to; none for the crate's own.
fn target<'a>(path: &[String], of: &[String], files: &'a BTreeMap<Names, PathBuf>) -> Option<&'a Names> {
    let own = of.len();
    let kept = if path[0] == "crate" { 0 } else { own.saturating_sub(usize::from(path[0] == "super")) };
    let mut names = of[..kept].to_vec();
    for name in &path[1..] {
        match name.as_str() {
            "super" => drop(names.pop()),
            "self" => {}
            name => names.push(name.to_owned()),
        }
    }
    (1..=names.len()).rev().find_map(|end| files.get_key_value(&names[..end])).map(|(file, _)| file)
}

/// The files of a crate and the paths in each, from the crate's root.
fn read(src: &Path) -> (BTreeMap<Names, PathBuf>, Vec<(Names, Names)>) {
    let mut files = BTreeMap::new();
    modules(src, src, &mut files);
    let mut all = Vec::new();
    for (module, file) in &files {
        let text = fs::read_to_string(file).expect("a file");
        let mut found = Vec::new();
        paths(text.parse().expect("Rust"), &mut found);
        all.extend(found.into_iter().map(|path| (module.clone(), path)));
    }
    (files, all)
}

/// The files of a crate that import another: importer and imported.
pub(crate) fn arrows(src: &Path) -> BTreeSet<(Names, Names)> {
    let (files, paths) = read(src);
    let arrow = |(module, path): (Names, Names)| {
        let to = target(&path, &module, &files).filter(|&to| *to != module)?.clone();
        Some((module, to))
    };
    paths.into_iter().filter_map(arrow).collect()
}

/// The items that files take from the root of their crate instead of the file that defines them. Macros are
/// always there, and modules that a build script writes.
pub(crate) fn from_the_root(src: &Path) -> Vec<String> {
    let (files, paths) = read(src);
    let text: String = files.values().map(|file| fs::read_to_string(file).expect("a file")).collect();
    let hub = |(module, path): &(Names, Names)| {
        path.len() > 1
            && path[0] == "crate"
            && !module.is_empty()
            && target(path, module, &files).is_none()
            && ["macro_rules! ", "mod "].iter().all(|kind| !text.contains(&format!("{kind}{} {{", path[1])))
    };
    paths
        .iter()
        .filter(|path| hub(path))
        .map(|(module, path)| format!("{}: {}", module.join("/"), path.join("::")))
        .collect()
}

/// The `src` of every crate below.
fn crates(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a readable folder") {
        let path = entry.expect("a readable entry").path();
        if path.ends_with("src") && folder.join("Cargo.toml").is_file() {
            found.push(path);
        } else if path.is_dir() && !path.ends_with("target") {
            crates(&path, found);
        }
    }
}

/// Every crate of ours with its `src`.
pub(crate) fn sources() -> Vec<(String, PathBuf)> {
    let tests = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let root = tests.parent().expect("the repository");
    let mut found = Vec::new();
    for folder in FOLDERS {
        crates(&root.join(folder), &mut found);
    }
    let name = |src: &Path| {
        src.parent().and_then(|of| of.strip_prefix(root).ok()).expect("a crate").display().to_string()
    };
    found.into_iter().map(|src| (name(&src), src)).collect()
}
