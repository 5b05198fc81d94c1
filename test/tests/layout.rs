//! Files that import each other: the groups that docs/ARCHITECTURE.md names with their reason, and no others.

use petgraph::algo::tarjan_scc;
use petgraph::graphmap::DiGraphMap;
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// A crate and the files under its `src`.
type Group = (&'static str, &'static [&'static str]);

/// Each with its reason in "Files that import each other" of docs/ARCHITECTURE.md.
const GROUPS: &[Group] = &[
    ("dialects/hw", &["adapter", "mask", "ops/fetch"]),
    (
        "dialects/ir",
        &[
            "analysis", "context", "decl", "effects", "infer", "level", "location", "memo", "module", "open",
            "parse", "print", "symbols", "verify",
        ],
    ),
    ("dialects/ir", &["parse/generic", "parse/location"]),
    ("dialects/mapping", &["axes", "expr"]),
    ("dialects/mapping", &["calls", "ops/call"]),
    (
        "dialects/mapping",
        &[
            "address",
            "facts",
            "frames",
            "liveness",
            "ops/chip_shuffle",
            "ops/control",
            "ops/func",
            "ops/number",
            "ops/to_tile",
            "ops/transfer",
            "ops/view",
            "overlaps",
            "overwrites",
            "placed",
            "view",
        ],
    ),
    ("dialects/mapping", &["carry", "cell", "digits", "equal", "opaque", "placement", "rebuild", "runs"]),
    (
        "dialects/stream",
        &[
            "adapter",
            "adapter_clauses",
            "branch",
            "held",
            "inter_slice",
            "ops/begin_interleaved",
            "ops/fetch",
            "ops/switch",
            "ops/vector_alu",
            "ops/vector_branch",
            "ops/vector_inter",
            "ops/vector_pair",
            "ops/vector_stash",
            "pad",
            "semantics",
            "snoop",
            "topology",
            "vector",
        ],
    ),
    ("dialects/stream", &["ops/vector_intra_slice_reduce", "reduce", "valid_count"]),
    (
        "passes/select",
        &[
            "config/candidate",
            "config/goal",
            "config/graph",
            "config/memo",
            "rules/engines",
            "rules/rule",
            "rules/ruleset",
            "rules/text/apply",
            "rules/text/closure",
        ],
    ),
    ("passes/select", &["contexts", "distribution/search", "driver", "layout/stationary"]),
    ("runtime/reference", &["coverage", "layout", "tensor"]),
    ("runtime/reference", &["evaluate", "fast"]),
    ("tools/visa-import", &["cfg", "expand", "program", "suffix"]),
    (
        "tools/visa-import",
        &["condition", "constant", "device", "ending", "eval", "host", "iterate", "place", "scalar", "value"],
    ),
    ("tools/visa-import", &["infer/obligations", "infer/operators"]),
    ("tools/visa-opt", &["dump", "files", "flags", "outputs", "pass_flags", "query", "query/rules", "run"]),
    ("tools/visa-opt", &["query/flags", "query/sequencer"]),
    ("tools/visa-run", &["data/array", "data/npy", "data/stored"]),
];

/// The folders with crates of ours.
const FOLDERS: [&str; 4] = ["dialects", "passes", "runtime", "tools"];

/// A path as written, a name each.
type Names = Vec<String>;

/// The paths from `crate`, `super` and `self` in the code, those of tests left out.
fn paths(code: TokenStream, found: &mut Vec<Names>) {
    let mut tokens = code.into_iter().peekable();
    let mut tested = false;
    while let Some(token) = tokens.next() {
        match token {
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
fn modules(folder: &Path, src: &Path, found: &mut BTreeMap<Names, PathBuf>) {
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

/// The groups of files of a crate that import each other, directly or through others.
fn groups(src: &Path) -> BTreeSet<BTreeSet<String>> {
    let mut files = BTreeMap::new();
    modules(src, src, &mut files);
    let mut graph = DiGraphMap::<&Names, ()>::new();
    for (module, file) in &files {
        let text = fs::read_to_string(file).expect("a file");
        let mut found = Vec::new();
        paths(text.parse().expect("Rust"), &mut found);
        for to in found.iter().filter_map(|path| target(path, module, &files)).filter(|&to| to != module) {
            graph.add_edge(module, to, ());
        }
    }
    let circles = tarjan_scc(&graph).into_iter().filter(|group| group.len() > 1);
    circles.map(|group| group.into_iter().map(|file| file.join("/")).collect()).collect()
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

#[test]
fn files_import_each_other_only_where_the_architecture_says_why() {
    let tests = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let root = tests.parent().expect("the repository");
    let mut found = BTreeSet::new();
    for folder in FOLDERS {
        let mut sources = Vec::new();
        crates(&root.join(folder), &mut sources);
        for src in sources {
            let name = src
                .parent()
                .and_then(|of| of.strip_prefix(root).ok())
                .expect("a crate")
                .display()
                .to_string();
            found.extend(groups(&src).into_iter().map(|group| (name.clone(), group)));
        }
    }
    let named: BTreeSet<_> = GROUPS
        .iter()
        .map(|(name, files)| ((*name).to_owned(), files.iter().map(|&file| file.to_owned()).collect()))
        .collect();
    let new: Vec<_> = found.difference(&named).collect();
    let gone: Vec<_> = named.difference(&found).collect();
    assert!(
        new.is_empty() && gone.is_empty(),
        "new groups: {new:#?}\ngone: {gone:#?}\nundo a new one, or name it here and in docs/ARCHITECTURE.md"
    );
}

/// A library or program without tests says `test = false` or `doctest = false`, so that it is not built a second time for
/// none. Nothing that it has since is left out by that.
#[test]
fn what_is_not_built_for_tests_has_none() {
    let tests = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let root = tests.parent().expect("the repository");
    let mut sources = vec![tests.join("src")];
    for folder in FOLDERS {
        crates(&root.join(folder), &mut sources);
    }
    for src in sources {
        let manifest = fs::read_to_string(src.with_file_name("Cargo.toml")).expect("a manifest");
        let library =
            manifest.split("[lib]\n").nth(1).and_then(|rest| rest.split("\n[").next()).unwrap_or_default();
        let says = |line: &str| library.lines().any(|found| found == line);
        let mut files = BTreeMap::new();
        modules(&src, &src, &mut files);
        for file in files.values() {
            let text = fs::read_to_string(file).expect("a file");
            let example = ["/// ```\n", "//! ```\n"].iter().any(|&fence| text.contains(fence))
                && !text.contains("```text");
            let file = file.display();
            assert!(!(says("test = false") && text.contains("#[test]")), "{file} has tests that nobody runs");
            assert!(!(says("doctest = false") && example), "{file} has examples that nobody runs");
        }
    }
}

/// The logical side of visa-stream, which the evaluator reads, knows no level below: only `lower.rs`, `lower/` and the
/// operations in `ops/`, each with its lowering, name one.
#[test]
fn only_lowerings_name_the_levels_below_stream() {
    let tests = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let src = tests.parent().expect("the repository").join("dialects/stream/src");
    let mut files = BTreeMap::new();
    modules(&src, &src, &mut files);
    let lowers =
        |module: &Names| module.first().is_some_and(|name| ["lower", "ops"].contains(&name.as_str()));
    let (lowerings, others): (Vec<_>, Vec<_>) = files.into_iter().partition(|(module, _)| lowers(module));
    let names_below = |path: &Path| {
        let text = fs::read_to_string(path).expect("a file");
        ["visa_hw", "visa_sequencer"].iter().any(|&name| text.contains(name))
    };
    assert!(lowerings.iter().any(|(_, path)| names_below(path)), "no lowering names a level below");
    for (_, path) in others {
        assert!(!names_below(&path), "{} names a level below stream", path.display());
    }
}

#[test]
fn a_circle_is_found() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("a file");
    write("lib.rs", "mod one; mod two; mod three; use crate::one::One;");
    write("one.rs", "use crate::{three, two::{self, Two}}; pub struct One(Two);");
    write("two.rs", "pub struct Two; fn f() { super::three::g(); }");
    write("three.rs", "pub fn g() {} #[cfg(test)] mod tests { use crate::one::One; }");
    assert_eq!(groups(folder.path()), BTreeSet::new());
    write("three.rs", "pub fn g(_: Option<crate::one::One>) {}");
    let group = ["one", "three", "two"].map(str::to_owned);
    assert_eq!(groups(folder.path()), BTreeSet::from([BTreeSet::from(group)]));
}
