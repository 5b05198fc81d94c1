//! Files that import each other: the groups that docs/ARCHITECTURE.md names with their reason, and no others.

use crate::imports::{Names, arrows, modules, sources};
use petgraph::algo::tarjan_scc;
use petgraph::graphmap::DiGraphMap;
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
    ("dialects/algebra", &["expr", "expr/axes"]),
    ("dialects/mapping", &["facts/calls", "ops/call"]),
    (
        "dialects/mapping",
        &[
            "facts",
            "facts/address",
            "facts/frames",
            "facts/liveness",
            "facts/overlaps",
            "facts/overwrites",
            "facts/placed",
            "ops/cast",
            "ops/chip_shuffle",
            "ops/constant",
            "ops/control",
            "ops/func",
            "ops/gather",
            "ops/indexed",
            "ops/number",
            "ops/rename",
            "ops/restrict",
            "ops/skew",
            "ops/to_tile",
            "ops/transfer",
            "ops/view",
            "raise",
            "raise/moves",
            "view",
        ],
    ),
    (
        "dialects/algebra",
        &[
            "meaning/carry",
            "meaning/cell",
            "meaning/digits",
            "meaning/padded",
            "meaning/placement",
            "meaning/rebuild",
        ],
    ),
    ("dialects/stream", &["adapter", "adapter_clauses", "ops/fetch", "pad"]),
    (
        "dialects/stream",
        &[
            "branch",
            "ops/vector_alu",
            "ops/vector_branch",
            "ops/vector_inter",
            "ops/vector_pair",
            "ops/vector_stash",
            "vector",
        ],
    ),
    ("dialects/stream", &["held", "ops/switch", "snoop", "topology"]),
    ("dialects/stream", &["ops/vector_intra_slice_reduce", "reduce", "valid_count"]),
    (
        "passes/select",
        &[
            "config/candidate",
            "config/graph",
            "config/memo",
            "config/task",
            "rules/engines",
            "rules/rule",
            "rules/ruleset",
            "rules/text/apply",
            "rules/text/closure",
        ],
    ),
    ("passes/select", &["contexts", "distribution/search", "driver", "layout/stationary"]),
    ("runtime/reference", &["layout", "tensor"]),
    (
        "runtime/reference",
        &["evaluate", "fast", "values", "values/contract", "values/elementwise", "values/reduce"],
    ),
    ("tools/visa-import", &["cfg", "expand", "program", "suffix"]),
    (
        "tools/visa-import",
        &[
            "condition",
            "constant",
            "device",
            "eval",
            "host",
            "instance",
            "iterate",
            "place",
            "scalar",
            "value",
        ],
    ),
    ("tools/visa-import", &["infer/obligations", "infer/operators"]),
    ("tools/visa-opt", &["dump", "files", "flags", "outputs", "pass_flags", "query", "query/rules", "run"]),
    ("tools/visa-opt", &["query/flags", "query/sequencer"]),
    ("tools/visa-run", &["data/array", "data/npy", "data/stored"]),
];

/// The groups of files of a crate that import each other, directly or through others.
fn groups(src: &Path) -> BTreeSet<BTreeSet<String>> {
    let arrows = arrows(src);
    let graph = DiGraphMap::<&Names, ()>::from_edges(arrows.iter().map(|(from, to)| (from, to)));
    let circles = tarjan_scc(&graph).into_iter().filter(|group| group.len() > 1);
    circles.map(|group| group.into_iter().map(|file| file.join("/")).collect()).collect()
}

#[test]
fn files_import_each_other_only_where_the_architecture_says_why() {
    let mut found = BTreeSet::new();
    for (name, src) in sources() {
        found.extend(groups(&src).into_iter().map(|group| (name.clone(), group)));
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
    let tests = ("test".to_owned(), PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src"));
    for (_, src) in sources().into_iter().chain([tests]) {
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

/// The evaluator runs operations on values alone: it knows no pipeline, no command and no pass. Only its tests do.
#[test]
fn the_evaluator_knows_no_pipeline_and_no_command() {
    let tests = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let manifest = tests.parent().expect("the repository").join("runtime/reference/Cargo.toml");
    let manifest = fs::read_to_string(manifest).expect("a manifest");
    let (_, rest) = manifest.split_once("\n[dependencies]\n").expect("dependencies");
    let dependencies = rest.split("\n[").next().unwrap_or_default();
    assert!(dependencies.contains("visa-mapping"), "{dependencies}");
    for name in ["visa-stream", "visa-hw", "visa-passes"] {
        assert!(!dependencies.contains(name), "visa-reference depends on {name}");
    }
}

/// The semantics of a stream operation is built without the levels below: in visa-stream only `lower.rs`, `lower/` and
/// the operations in `ops/`, each with its lowering, name one.
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

/// docs/rationale/toy-memory.patch adds a memory with its tensor type, its transfer and a test. It still applies, and
/// it needs at most five files.
#[test]
fn a_memory_is_declared_in_five_files() {
    let tests = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let root = tests.parent().expect("the repository");
    let apply = std::process::Command::new("git")
        .args(["apply", "--check", "--numstat", "docs/rationale/toy-memory.patch"])
        .current_dir(root)
        .output()
        .expect("git runs");
    let stderr = String::from_utf8_lossy(&apply.stderr);
    assert!(apply.status.success(), "{stderr}\nmake the patch anew: docs/rationale/layout.md says how");
    let files = String::from_utf8_lossy(&apply.stdout).lines().count();
    assert!((1..=5).contains(&files), "{files} files");
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
