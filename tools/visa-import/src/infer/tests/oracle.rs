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

/// Reads the listing: after `kind: Literal {`, the suffix, the literal's place, and its type.
fn literals(listing: &str) -> Suffixes {
    let mut found = Suffixes::new();
    for part in listing.split("kind: Literal {").skip(1) {
        let mut lines = part.lines().map(str::trim);
        let is_open = lines.by_ref().take_while(|line| *line != "),").any(|line| line == "Unsuffixed,");
        let is_open =
            is_open || lines.by_ref().take_while(|line| *line != "),").any(|line| line == "Unsuffixed,");
        let Some(place) = lines.clone().find_map(|line| line.strip_prefix("span: a.rs:")) else { continue };
        let Some(ty) = lines.find_map(|line| line.strip_prefix("ty: ")) else { continue };
        let mut numbers = place.split(':').map(|number| number.trim().parse().unwrap_or(0));
        let (line, column) = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
        if is_open {
            found.insert((line, column), ty.trim_end_matches(',').to_owned());
        }
    }
    found
}
