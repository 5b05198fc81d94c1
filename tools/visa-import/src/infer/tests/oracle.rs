//! The types that rustc finds.

use super::Suffixes;
use std::process::Command;

/// The types of the literals without suffix in a program's expressions.
pub(crate) fn types(text: &str) -> Suffixes {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.rs");
    std::fs::write(&path, text).expect("a file");
    let mut command = Command::new("rustc");
    command.current_dir(folder.path()).env("RUSTC_BOOTSTRAP", "1");
    command.args([
        "--edition",
        "2024",
        "--crate-type",
        "lib",
        "-Awarnings",
        "--cap-lints",
        "allow",
        "-Zunpretty=thir-flat",
        "a.rs",
    ]);
    let output = command.output().expect("rustc starts");
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
