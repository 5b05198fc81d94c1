//! Numbered constraints: each one that an operation declares is cited by a test, and what tests and comments cite is declared.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use visa::Tool;

/// An operation and the number of one of its constraints.
type Constraint = (String, String);

/// The number of errors that every operation may have, for what the IR core refuses earlier.
const INTERNAL: &str = "C0";

/// Dialects that tests declare for themselves.
const OF_TESTS: [&str; 2] = ["test.", "toy."];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the repository").to_owned()
}

/// The files below a folder with one of the endings, build products and the fuzzer's inputs left out.
fn files(folder: &Path, endings: &[&str], found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a readable folder") {
        let path = entry.expect("a readable entry").path();
        let hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        if path.is_dir() && !hidden && !path.ends_with("target") && !path.ends_with("corpus") {
            files(&path, endings, found);
        } else if endings.iter().any(|ending| path.extension().is_some_and(|own| own == *ending)) {
            found.push(path);
        }
    }
}

/// The number at the start of a text: `C12`.
fn number(text: &str) -> Option<&str> {
    let digits = text.strip_prefix('C')?;
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    (end > 0).then(|| &text[..=end])
}

/// The constraints that a text cites, as `op-C1` or `op C1`.
fn citations(text: &str) -> BTreeSet<Constraint> {
    let mut found = BTreeSet::new();
    let part = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == '.';
    for (at, _) in text.match_indices(['-', ' ']) {
        let start = at - text[..at].chars().rev().take_while(|c| part(*c)).count();
        let (op, cited) = (&text[start..at], number(&text[at + 1..]));
        let is_op = op.split('.').count() == 2
            && !op.ends_with(".visa")
            && op.split('.').all(|name| !name.is_empty());
        found.extend(cited.filter(|_| is_op).map(|cited| (op.to_owned(), cited.to_owned())));
    }
    found
}

/// What a file says as a test: all of it, or of a source its part under `cfg(test)`.
fn tests_of(path: &Path) -> String {
    let text = fs::read_to_string(path).expect("a text");
    let is_source = path.extension().is_some_and(|ending| ending == "rs")
        && !path.iter().any(|folder| folder == "tests")
        && !path.starts_with(root().join("test"))
        && !path.ends_with("tests.rs");
    match text.find("#[cfg(test)]") {
        Some(start) if is_source => text[start..].to_owned(),
        None if is_source => String::new(),
        Some(_) | None => text,
    }
}

/// The declared constraints, each with the list of its declaration: operations with the same list are verified alike.
fn declared() -> BTreeMap<Constraint, String> {
    let ctx = Tool::standard().registry.context().expect("dialects");
    let mut found = BTreeMap::new();
    for decl in ctx.op_names().into_iter().filter_map(|name| ctx.op(name)) {
        for (number, _) in decl.constraints {
            found.insert((decl.name.to_owned(), (*number).to_owned()), format!("{:?}", decl.constraints));
        }
    }
    found
}

fn cited() -> BTreeMap<Constraint, PathBuf> {
    let mut all = Vec::new();
    for folder in ["dialects", "passes", "runtime", "test", "tools"] {
        files(&root().join(folder), &["visa", "test", "rs"], &mut all);
    }
    let cites = |path: PathBuf| {
        citations(&tests_of(&path)).into_iter().map(move |constraint| (constraint, path.clone()))
    };
    all.into_iter().filter(|path| !path.ends_with(file!())).flat_map(cites).collect()
}

#[test]
fn every_constraint_is_cited_by_a_test() {
    let (declared, cited) = (declared(), cited());
    assert!(declared.len() > 500, "{} constraints", declared.len());
    let lists: BTreeSet<(&String, &String)> = declared
        .iter()
        .filter(|(constraint, _)| cited.contains_key(*constraint))
        .map(|((_, number), list)| (number, list))
        .collect();
    let missing: Vec<&Constraint> = declared
        .iter()
        .filter(|((_, number), list)| !lists.contains(&(number, *list)))
        .map(|(own, _)| own)
        .collect();
    assert!(missing.is_empty(), "no test cites {missing:#?}");
}

#[test]
fn what_is_cited_is_declared() {
    let declared = declared();
    let wrong: Vec<_> = cited()
        .into_iter()
        .filter(|((op, number), _)| {
            number != INTERNAL && !OF_TESTS.iter().any(|dialect| op.starts_with(dialect))
        })
        .filter(|(constraint, _)| !declared.contains_key(constraint))
        .collect();
    assert!(wrong.is_empty(), "no declaration has {wrong:#?}");
}

/// The constraints that comments name: `C2`, `C1 and C4`, `C1 to C3`.
fn named(comment: &str) -> BTreeSet<u32> {
    let words: Vec<&str> = comment.split(|c: char| c.is_whitespace() || ".,:;()`".contains(c)).collect();
    let numbers = |word: &&str| number(word).filter(|own| own == word).and_then(|own| own[1..].parse().ok());
    let mut found: BTreeSet<u32> = words.iter().filter_map(numbers).collect();
    for range in words.windows(3).filter(|range| range[1] == "to") {
        if let (Some(from), Some(to)) = (numbers(&range[0]), numbers(&range[2])) {
            found.extend(from..=to);
        }
    }
    found
}

/// The constraints that code reports: `"C2"`.
fn reported(code: &str) -> BTreeSet<u32> {
    let cited = code.split('"').skip(1).step_by(2);
    let numbers = cited.filter_map(|text| number(text).filter(|own| *own == text)?[1..].parse().ok());
    numbers.filter(|number| *number > 0).collect()
}

/// The functions of a source whose comment names constraints, and which report others: the line of each.
fn misnamed(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.split("#[cfg(test)]").next().unwrap_or_default().lines().collect();
    let mut wrong = Vec::new();
    let mut comment = String::new();
    for (at, line) in lines.iter().enumerate() {
        let own = line.trim_start();
        if let Some(more) = own.strip_prefix("///") {
            comment.push_str(more);
            continue;
        }
        if own.starts_with("#[") {
            continue;
        }
        let is_fn =
            own.split('(').next().is_some_and(|head| head.split_whitespace().any(|word| word == "fn"));
        if is_fn && !comment.is_empty() {
            let end = format!("{}}}", &line[..line.len() - own.len()]);
            let body: Vec<&str> = lines[at..].iter().take_while(|line| **line != end).copied().collect();
            let (named, reported) = (named(&comment), reported(&body.join("\n")));
            if !named.is_empty() && !reported.is_subset(&named) {
                wrong.push(format!("line {}: names {named:?}, reports {reported:?}", at + 1));
            }
        }
        comment.clear();
    }
    wrong
}

#[test]
fn verifiers_report_what_their_comments_name() {
    let mut all = Vec::new();
    files(&root().join("dialects"), &["rs"], &mut all);
    let of = |path: &PathBuf| misnamed(&fs::read_to_string(path).expect("a source"));
    let wrong: Vec<_> =
        all.iter().map(|path| (path, of(path))).filter(|(_, wrong)| !wrong.is_empty()).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn citations_and_reports_are_found() {
    let cited = |op: &str, number: &str| (op.to_owned(), number.to_owned());
    let text = "// expected-error@+1 {{hw.exec-C8: flits}} and tm.to_dm C12: a text, not exec-C3 or a.b-D1";
    assert_eq!(citations(text), BTreeSet::from([cited("hw.exec", "C8"), cited("tm.to_dm", "C12")]));
    let wrong = "/// C6: flits.\nfn f() {\n    at(op, \"C8\", message)\n}\n";
    assert_eq!(misnamed(wrong), ["line 2: names {6}, reports {8}"]);
    assert_eq!(misnamed(&wrong.replace("C6", "C7 to C9")), Vec::<String>::new());
    assert_eq!(misnamed(&wrong.replace("C6: flits", "Flits")), Vec::<String>::new());
}
