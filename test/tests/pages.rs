//! docs/movement.md: its commands print what the page shows, and its kernel text stands in tests.

use std::fs;
use std::path::{Path, PathBuf};

use visa_opt::{Io, Tool};

/// The text blocks of a page.
fn blocks(page: &str) -> Vec<Vec<&str>> {
    let mut found = Vec::new();
    let mut lines = page.lines();
    while lines.by_ref().any(|line| line == "```text") {
        found.push(lines.by_ref().take_while(|line| *line != "```").collect());
    }
    found
}

/// The words of a command; single quotes keep blanks.
fn words(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (at, part) in command.split('\'').enumerate() {
        if at % 2 == 1 {
            words.push(part.to_owned());
        } else {
            words.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    words
}

/// What a command says, standard output first.
fn output(command: &str, root: &Path) -> String {
    let words = words(command);
    let mut io = Io::buffered([], root);
    match words[0].as_str() {
        "visa-opt" => Tool::standard().run(&words[1..], &mut io),
        "visa-run" => visa_run::run(&words[1..], &mut io),
        other => panic!("`{other}` is no tool of ours"),
    };
    io.stdout.append(&mut io.stderr);
    String::from_utf8(io.stdout).expect("text")
}

/// Whether `printed` is `shown`; a line `...` stands for any number of lines.
fn shows(printed: &[&str], shown: &[&str]) -> bool {
    match shown {
        [] => printed.is_empty(),
        ["..."] => true,
        ["...", rest @ ..] => (0..printed.len()).any(|at| shows(&printed[at..], rest)),
        [line, rest @ ..] => printed.first() == Some(line) && shows(&printed[1..], rest),
    }
}

/// The lines of every kernel under `folder`.
fn kernel_lines(folder: &Path, found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).expect("a readable folder") {
        let path = entry.expect("a readable entry").path();
        if path.is_dir() {
            kernel_lines(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "visa") {
            found.extend(fs::read_to_string(&path).expect("a kernel").lines().map(str::to_owned));
        }
    }
}

#[test]
fn movement() {
    let tests = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let root = tests.parent().expect("the repository");
    let page = fs::read_to_string(root.join("docs/movement.md")).expect("the page");
    let mut kernels = Vec::new();
    for folder in ["book", "kernels"] {
        kernel_lines(&tests.join(folder), &mut kernels);
    }
    let (mut commands, mut quoted) = (0, 0);
    for block in blocks(&page) {
        if let Some(command) = block[0].strip_prefix("$ ") {
            let printed = output(command, root);
            let printed: Vec<&str> = printed.lines().collect();
            assert!(shows(&printed, &block[1..]), "`{command}` prints:\n{}", printed.join("\n"));
            commands += 1;
        }
        for line in block.iter().filter(|line| line.starts_with("  %") || line.starts_with("tm.")) {
            assert!(kernels.iter().any(|kernel| kernel == line), "no kernel has `{line}`");
            quoted += 1;
        }
    }
    assert!(commands >= 9 && quoted >= 15, "{commands} commands, {quoted} lines of kernels");
    for name in page.split('`').filter(|name| name.ends_with(".visa") && !name.contains([' ', '\n'])) {
        let file = if name.starts_with("test/") { root.join(name) } else { tests.join("book").join(name) };
        assert!(file.is_file() || name == "K.visa", "there is no `{name}`");
    }
}

#[test]
fn dots_stand_for_lines() {
    assert!(shows(&["a", "b", "c"], &["a", "...", "c"]));
    assert!(shows(&["a", "b"], &["a", "..."]));
    assert!(!shows(&["a", "b"], &["a"]));
    assert!(!shows(&["a", "b", "c"], &["...", "b"]));
}
