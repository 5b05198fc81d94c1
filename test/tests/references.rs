//! Paths and types that the pages name exist.

use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Types of other projects and of the book, which our pages name as theirs.
const FOREIGN: &[&str] = &[
    "IndirectLoop", // the book's descriptors (docs/errata.md)
    "LpExtractor",  // egg's, which we do not use (docs/choosing.md)
    "WriteOperand", // the book's (docs/errata.md)
];

/// Endings of the files that pages name.
const ENDINGS: &[&str] = &["md", "pest", "py", "rs", "sh", "test", "toml", "visa"];

/// Folders of the top level: a code span that starts with one is a path.
const FOLDERS: &[&str] = &["dialects", "docs", "passes", "runtime", "test", "tools"];

/// The repository: its files, as paths from the root, and the words of its Rust text.
struct Repository {
    files: BTreeSet<String>,
    words: HashSet<String>,
}

impl Repository {
    fn read(root: &Path) -> Self {
        let mut repository = Self { files: BTreeSet::new(), words: HashSet::new() };
        for name in fs::read_dir(root).expect("the repository").map(|entry| entry.expect("an entry").path()) {
            let folder = name.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            if name.is_file() || FOLDERS.contains(&folder) {
                repository.add(root, &name);
            }
        }
        repository
    }

    fn add(&mut self, root: &Path, path: &Path) {
        if path.is_dir() {
            // Build folders, in workspaces of the tests too.
            if path.ends_with("target") {
                return;
            }
            for entry in fs::read_dir(path).expect("a readable folder") {
                self.add(root, &entry.expect("a readable entry").path());
            }
            return;
        }
        let name = path.strip_prefix(root).expect("a path of the repository").to_str().expect("UTF-8");
        self.files.insert(name.to_owned());
        // The list of foreign types must not make them ours.
        if name.ends_with(".rs") && name != "test/tests/references.rs" {
            let text = fs::read_to_string(path).expect("Rust text");
            let words = text.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
            self.words.extend(words.filter(|word| !word.is_empty()).map(str::to_owned));
        }
    }

    /// Returns true if a path names a file or a folder: from the root, from the page's folder, or by its last
    /// components, as tables do that name a crate in another column.
    fn has_path(&self, path: &str, page: &str) -> bool {
        let path = path.trim_end_matches('/');
        let near = Path::new(page).parent().map(|folder| folder.join(path));
        let near = near.as_deref().and_then(Path::to_str).unwrap_or(path);
        let (below, inner, tail) = (format!("{path}/"), format!("/{path}/"), format!("/{path}"));
        self.files.contains(near)
            || self.files.iter().any(|file| {
                file == path || file.starts_with(&below) || file.contains(&inner) || file.ends_with(&tail)
            })
    }

    /// The code spans of a page that name nothing.
    fn broken(&self, page: &str, text: &str) -> Vec<String> {
        let wrong = |span: &&str| {
            (is_path(span) && !self.has_path(span, page))
                || (is_type(span) && !span.split("::").all(|word| self.words.contains(word)))
        };
        spans(text).into_iter().filter(wrong).map(str::to_owned).collect()
    }
}

/// The inline code of a page, without its blocks.
fn spans(text: &str) -> Vec<&str> {
    let mut in_block = false;
    let mut found = Vec::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            in_block = !in_block;
        } else if !in_block {
            found.extend(line.split('`').skip(1).step_by(2));
        }
    }
    found
}

/// Returns true for a path without placeholders: `NAME.rs` and `k.visa` stand for any file.
fn is_path(span: &str) -> bool {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "_-./".contains(letter);
    let stem = |part: &str| part.split('.').next().unwrap_or_default().to_owned();
    let any = |part: &str| {
        let stem = stem(part);
        let letters = stem.chars().filter(char::is_ascii_alphabetic).count();
        letters == 1 || (letters > 1 && stem.chars().all(|letter| letter.is_ascii_uppercase()))
    };
    let is_named = |part: &str| ["README.md", "ARCHITECTURE.md"].contains(&part) || !any(part);
    let ending =
        span.rsplit_once('.').is_some_and(|(stem, ending)| !stem.is_empty() && ENDINGS.contains(&ending));
    let in_folder = span.split_once('/').is_some_and(|(folder, _)| FOLDERS.contains(&folder));
    !span.is_empty() && span.chars().all(plain) && (ending || in_folder) && span.split('/').all(is_named)
}

/// Returns true for a type in CamelCase of two words or more, with the path before it and a member after it.
fn is_type(span: &str) -> bool {
    let word = |word: &str| {
        !word.is_empty() && word.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
    };
    let camel = |word: &str| {
        let mut letters = word.chars();
        letters.next().is_some_and(|first| first.is_ascii_uppercase())
            && letters.next().is_some_and(|second| second.is_ascii_lowercase())
            && letters.any(|letter| letter.is_ascii_uppercase())
    };
    span.split("::").all(word) && span.split("::").any(camel) && !FOREIGN.contains(&span)
}

/// The pages that people write, from the root: the reference is made from declarations.
fn pages(repository: &Repository) -> impl Iterator<Item = &String> {
    repository.files.iter().filter(|file| {
        // The names of the vendor's prelude are checked by test/peers/rust/surface.py.
        let foreign = file.as_str() == "docs/surface.md";
        let written = file.starts_with("docs/") && !file.starts_with("docs/reference/") && !foreign;
        file.ends_with(".md") && (written || ["README.md", "CONTRIBUTING.md"].contains(&file.as_str()))
    })
}

#[test]
fn pages_name_what_exists() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).parent().expect("the repository").to_owned();
    let repository = Repository::read(&root);
    let mut broken = Vec::new();
    let mut read = 0;
    for page in pages(&repository) {
        let text = fs::read_to_string(root.join(page)).expect("a page");
        read += spans(&text).into_iter().filter(|span| is_path(span) || is_type(span)).count();
        broken.extend(repository.broken(page, &text).into_iter().map(|span| format!("{page}: `{span}`")));
    }
    assert!(broken.is_empty(), "these pages name what does not exist:\n{}", broken.join("\n"));
    assert!(read >= 100, "only {read} names were found in the pages");
    for name in FOREIGN {
        assert!(!repository.words.contains(*name), "`{name}` is ours: take it off the list");
    }
}

#[test]
fn names_of_nothing_are_found() {
    let files = ["docs/loops.md", "dialects/ir/src/open.rs"].map(str::to_owned);
    let words = ["OpSpec", "new"].map(str::to_owned);
    let repository = Repository { files: files.into(), words: words.into() };
    let broken = |text: &str| repository.broken("docs/page.md", text);
    for existing in
        ["`docs/loops.md`", "`loops.md`", "`src/open.rs`", "`dialects/ir`", "`OpSpec::new`", "`Word`"]
    {
        assert_eq!(broken(existing), Vec::<String>::new(), "{existing}");
    }
    for missing in ["docs/loop.md", "open.py", "dialects/iron", "OpSpecs", "OpSpec::old", "a::OpSpec"] {
        assert_eq!(broken(&format!("see `{missing}` here")), [missing]);
    }
    for other in
        ["`NAME.rs`", "`k.visa`", "`passes/src/pass/NAME.rs`", "`--flag`", "`a b.rs`", "```\n`no.rs`\n```"]
    {
        assert_eq!(broken(other), Vec::<String>::new(), "{other}");
    }
}
