//! The types that rustc finds.

use super::Suffixes;
use std::collections::BTreeSet;
use std::process::Command;

/// Runs rustc on a program.
fn rustc(text: &str, args: &[&str]) -> std::process::Output {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("a.rs"), text).expect("a file");
    let mut command = Command::new("rustc");
    command.current_dir(folder.path()).env("RUSTC_BOOTSTRAP", "1").args(args);
    command.args(["--edition", "2024", "--crate-type", "lib", "-Awarnings", "--cap-lints", "allow", "a.rs"]);
    command.output().expect("rustc starts")
}

/// The functions, one a line, that rustc accepts.
pub(crate) fn accepted(items: &str, mut functions: Vec<String>) -> Vec<String> {
    let first = items.trim_end().lines().count() + 1;
    loop {
        let text = format!("{}\n{}", items.trim_end(), functions.join("\n"));
        let output = rustc(&text, &["--emit", "metadata", "--error-format", "short"]);
        let errors = String::from_utf8_lossy(&output.stderr);
        let line = |error: &str| error.strip_prefix("a.rs:")?.split(':').next()?.parse::<usize>().ok();
        let wrong: BTreeSet<usize> = errors.lines().filter_map(line).map(|line| line - first).collect();
        if output.status.success() {
            return functions;
        }
        assert!(!wrong.is_empty(), "rustc fails: {errors}");
        let kept = functions.into_iter().enumerate().filter(|(at, _)| !wrong.contains(at));
        functions = kept.map(|(_, function)| function).collect();
    }
}

/// The types of the literals without suffix in a program's expressions.
pub(crate) fn types(text: &str) -> Suffixes {
    let output = rustc(text, &["-Zunpretty=thir-flat"]);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "rustc refuses the test: {errors}\n{text}");
    literals(&String::from_utf8_lossy(&output.stdout))
}

/// Reads the listing: after `kind: Literal {`, the suffix, the literal's place, and its type; after `Pat {`, the type
/// and place.
fn literals(listing: &str) -> Suffixes {
    let mut found = Suffixes::new();
    for part in listing.split("kind: Literal {").skip(1) {
        let is_open =
            part.lines().take_while(|line| !line.contains("span: ")).any(|line| line.trim() == "Unsuffixed,");
        if is_open {
            found.extend(place(part).zip(ty(part)));
        }
    }
    for part in listing.split("Pat {").skip(1) {
        let kind = part.lines().find_map(|line| line.trim().strip_prefix("kind: "));
        if matches!(kind, Some("Constant {" | "Range(")) {
            found.extend(place(part).zip(ty(part)));
        }
    }
    found
}

/// The first place of a part of the listing: line and column.
fn place(part: &str) -> Option<(usize, usize)> {
    let place = part.lines().find_map(|line| line.trim().strip_prefix("span: a.rs:"))?;
    let mut numbers = place.split(':').map_while(|number| number.trim().parse().ok());
    numbers.next().zip(numbers.next())
}

/// The first type of a part of the listing.
fn ty(part: &str) -> Option<String> {
    let ty = part.lines().find_map(|line| line.trim().strip_prefix("ty: "))?;
    Some(ty.trim_end_matches(',').to_owned())
}
