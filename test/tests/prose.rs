//! Plain English: pages and doc comments avoid the wordings that `prose.txt` lists.
//!
//! The test reads the pages of `docs/`, `README.md` and `CONTRIBUTING.md`, and the doc comments (`//!` and `///`) of
//! the Rust files of each crate. Code blocks and code spans are not checked.

#![expect(clippy::print_stdout, reason = "the list of places to correct")]

use regex::Regex;
use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

/// The patterns and the better wordings.
const PATTERNS: &str = include_str!("prose.txt");

/// Folders of the repository with Rust files that the test reads.
const RUST: &[&str] = &["dialects", "passes", "runtime", "tools"];

/// Folders that have matches left, with their number. Correct the number when it falls; it must not rise.
const ALLOWED: &[(&str, usize)] = &[];

/// A pattern of the list, with the wording that replaces it.
struct Pattern {
    regex: Regex,
    wording: String,
}

/// Paragraphs joined into one text, with the line of the file on which each part starts.
#[derive(Default)]
struct Prose {
    text: String,
    /// Offsets into the text, each with its line.
    lines: Vec<(usize, usize)>,
}

/// A match of a pattern.
struct Match<'a> {
    line: usize,
    words: String,
    wording: &'a str,
}

impl fmt::Display for Match<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: \"{}\": {}", self.line, self.words, self.wording)
    }
}

impl Prose {
    fn push(&mut self, number: usize, line: &str) {
        self.lines.push((self.text.len(), number));
        self.text.push_str(line.trim());
        self.text.push(' ');
    }

    /// Puts a blank in front, so that patterns for the start of a doc comment do not match.
    fn start_with_blank(&mut self) {
        self.text.insert(0, ' ');
        self.lines.iter_mut().skip(1).for_each(|(start, _)| *start += 1);
    }

    /// Masks the text of code spans and the targets of links, which are not checked. Offsets stay valid.
    fn without_code(&self) -> String {
        let mut inside = false;
        let mask = |letter: char| {
            inside ^= letter == '`';
            if inside && letter != '`' { "x".repeat(letter.len_utf8()) } else { letter.to_string() }
        };
        let text: String = self.text.chars().map(mask).collect();
        let targets = Regex::new(r"\]\([^)]*\)").expect("a pattern");
        targets.replace_all(&text, |target: &regex::Captures<'_>| "x".repeat(target[0].len())).into_owned()
    }

    fn matches<'a>(&self, patterns: &'a [Pattern]) -> Vec<Match<'a>> {
        let text = self.without_code();
        let mut matches = Vec::new();
        for pattern in patterns {
            for found in pattern.regex.find_iter(text.trim_end()) {
                let first = self.lines.partition_point(|&(start, _)| start <= found.start());
                let words: Vec<&str> = self.text[found.range()].split(' ').take(5).collect();
                let line = self.lines[first - 1].1;
                matches.push(Match { line, words: words.join(" "), wording: &pattern.wording });
            }
        }
        matches
    }
}

fn patterns() -> Vec<Pattern> {
    let lines = PATTERNS.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let split = |line: &str| {
        let (regex, wording) = line.split_once(" # ").expect("a pattern and its wording");
        let regex = Regex::new(regex).unwrap_or_else(|error| panic!("`{regex}`: {error}"));
        Pattern { regex, wording: wording.to_owned() }
    };
    lines.map(split).collect()
}

/// The paragraphs of lines, without the blocks between code fences.
fn paragraphs<'a>(lines: impl IntoIterator<Item = (usize, &'a str)>) -> Vec<Prose> {
    let mut all = vec![Prose::default()];
    let mut code = false;
    for (number, line) in lines {
        let fence = line.trim_start().starts_with("```");
        if fence || line.trim().is_empty() {
            code ^= fence;
            all.push(Prose::default());
        } else if !code {
            all.last_mut().expect("a paragraph").push(number, line);
        }
    }
    all.retain(|paragraph| !paragraph.lines.is_empty());
    all
}

/// The paragraphs of a page. None of them is the start of a doc comment.
fn page(text: &str) -> Vec<Prose> {
    let mut all = paragraphs(text.lines().enumerate().map(|(index, line)| (index + 1, line)));
    all.iter_mut().for_each(Prose::start_with_blank);
    all
}

/// The text of a line's doc comment, with its mark.
fn doc_line(line: &str) -> Option<(&str, &str)> {
    let line = line.trim_start();
    let mark = ["//!", "///"].into_iter().find(|mark| line.starts_with(mark))?;
    Some((mark, &line[mark.len()..])).filter(|(_, text)| !text.starts_with('/'))
}

/// The paragraphs of the doc comments of a Rust file. Those after the first of a comment do not start one.
fn doc_comments(text: &str) -> Vec<Prose> {
    let lines: Vec<_> = text.lines().map(doc_line).collect();
    let mut all = Vec::new();
    let mut next = 0;
    while next < lines.len() {
        let Some((mark, _)) = lines[next] else {
            next += 1;
            continue;
        };
        let rest = lines[next..].iter().map_while(|line| line.filter(|(other, _)| *other == mark));
        let comment: Vec<_> = rest.enumerate().map(|(index, (_, text))| (next + index + 1, text)).collect();
        next += comment.len();
        let mut paragraphs = paragraphs(comment);
        paragraphs.iter_mut().skip(1).for_each(Prose::start_with_blank);
        all.append(&mut paragraphs);
    }
    all
}

/// The pages and Rust files below a folder, without build products.
fn files(folder: &Path, all: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> = fs::read_dir(folder)
        .expect("a readable folder")
        .map(|entry| entry.expect("a readable entry").path())
        .collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            if !path.ends_with("target") {
                files(&path, all);
            }
        } else if path.extension().is_some_and(|extension| extension == "md" || extension == "rs") {
            all.push(path);
        }
    }
}

/// The folder that a file of the repository counts for: its crate, `docs` or `docs/reference`.
fn folder(path: &str) -> String {
    let depth = match path.split('/').next() {
        Some("docs") if !path.starts_with("docs/reference/") => 1,
        _ if path.starts_with("runtime/chip/") => 3,
        _ => 2,
    };
    path.split('/').take(depth).collect::<Vec<_>>().join("/")
}

#[test]
fn pages_and_doc_comments_are_plain_english() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the repository");
    let mut paths = vec![root.join("README.md"), root.join("CONTRIBUTING.md")];
    files(&root.join("docs"), &mut paths);
    for crates in RUST {
        files(&root.join(crates), &mut paths);
    }
    let patterns = patterns();
    let mut counts = BTreeMap::new();
    let mut read = 0;
    for path in &paths {
        let name = path.strip_prefix(root).expect("a path of the repository").to_str().expect("UTF-8");
        let is_page = path.extension().is_some_and(|extension| extension == "md");
        if is_page && RUST.iter().any(|crates| name.starts_with(&format!("{crates}/"))) {
            continue;
        }
        let text = fs::read_to_string(path).expect("a text");
        let paragraphs = if is_page { page(&text) } else { doc_comments(&text) };
        read += paragraphs.len();
        for found in paragraphs.iter().flat_map(|paragraph| paragraph.matches(&patterns)) {
            println!("{name}:{found}");
            *counts.entry(folder(name)).or_insert(0) += 1;
        }
    }
    let allowed: BTreeMap<_, _> = ALLOWED.iter().map(|&(folder, count)| (folder.to_owned(), count)).collect();
    let table: String =
        counts.iter().map(|(folder, count)| format!("    (\"{folder}\", {count}),\n")).collect();
    assert!(counts == allowed, "see the list above; if no number rose, the table is now:\n{table}");
    assert!(read > 1000, "only {read} paragraphs were read");
}

#[test]
fn code_is_not_checked_and_lines_are_joined() {
    let patterns = patterns();
    let lines = |paragraphs: Vec<Prose>| -> Vec<usize> {
        let all = paragraphs.iter().flat_map(|paragraph| paragraph.matches(&patterns));
        all.map(|found| found.line).collect()
    };
    assert_eq!(lines(page("# What is it?\n\nIt is `what it says`.\n\n```\nwhat it says.\n```\n")), [0; 0]);
    assert_eq!(lines(page("The page says\nanything, and it is read\nin\nturn.\n")), [1, 3]);
    assert_eq!(lines(page("This is what it does.\n")), [1]);
    assert_eq!(lines(page("See [the page](what.md).\n")), [0; 0]);
    assert_eq!(lines(doc_comments("/// Whether it is.\n///\n/// Whether or not.\nfn f() {}\n")), [1]);
    assert_eq!(lines(doc_comments("//! A page.\n\n/// Nothing\n/// if absent.\nfn f() {}\n")), [3]);
    assert_eq!(lines(doc_comments("// What is this.\n//// What is this.\nfn f() {}\n")), [0; 0]);
}
