//! docs/movement.md, docs/planning.md and docs/compute-what.md: their commands print what the pages show, and their kernel text stands
//! in tests.

use std::fs;
use std::path::{Path, PathBuf};

use visa::{Io, Tool};
use visa_support::page;

/// What a command says, standard output first.
fn output(command: &str, root: &Path) -> String {
    let words = page::words(command);
    let mut io = Io::buffered([], root);
    match words[0].as_str() {
        "visa-opt" => Tool::standard().opt(&words[1..], &mut io),
        "visa-run" => Tool::standard().run(&words[1..], &mut io),
        other => panic!("`{other}` is no tool of ours"),
    };
    io.stdout.append(&mut io.stderr);
    String::from_utf8(io.stdout).expect("text")
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
    for (command, shown) in page::commands(&page) {
        let printed = output(command, root);
        let printed: Vec<&str> = printed.lines().collect();
        assert!(page::shows(&printed, &shown), "`{command}` prints:\n{}", printed.join("\n"));
        commands += 1;
    }
    for block in page::blocks(&page, "text") {
        for line in block.lines().filter(|line| line.starts_with("  %") || line.starts_with("tm.")) {
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
fn planning() {
    let tests = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let root = tests.parent().expect("the repository");
    let page = fs::read_to_string(root.join("docs/planning.md")).expect("the page");
    let commands = page::commands(&page);
    for (command, shown) in &commands {
        let printed = output(command, root);
        let printed: Vec<&str> = printed.trim_end().lines().map(str::trim).collect();
        assert!(page::shows(&printed, shown), "`{command}` prints:\n{}", printed.join("\n"));
    }
    assert_eq!(commands.len(), 3, "commands with their output");
    let kernel = fs::read_to_string(tests.join("plan/batched.visa")).expect("the example");
    let kernel = from_axes(&kernel).expect("sizes of axes");
    assert!(page::blocks(&page, "text").contains(&kernel), "the page does not show plan/batched.visa");
}

/// The text of an example from its sizes on.
fn from_axes(text: &str) -> Option<&str> {
    text.find("tm.axes").and_then(|start| text.get(start..))
}

#[test]
fn compute_what() {
    let tests = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let root = tests.parent().expect("the repository");
    let page = fs::read_to_string(root.join("docs/compute-what.md")).expect("the page");
    for (command, shown) in page::commands(&page) {
        let printed = output(command, root);
        let printed: Vec<&str> = printed.trim_end().lines().collect();
        assert!(page::shows(&printed, &shown), "`{command}` prints:\n{}", printed.join("\n"));
    }
    let shown: Vec<&str> =
        page::blocks(&page, "text").into_iter().filter(|block| block.starts_with("tm.axes")).collect();
    let mut files = 0;
    for entry in fs::read_dir(tests.join("tensor")).expect("the examples") {
        let path = entry.expect("a readable entry").path();
        if path.extension().is_none_or(|extension| extension != "visa") {
            continue;
        }
        let text = fs::read_to_string(&path).expect("an example");
        let text = from_axes(&text).expect("sizes of axes");
        assert!(shown.contains(&text), "the page does not show {}", path.display());
        files += 1;
    }
    assert!(files == shown.len() && files >= 6, "{files} files, {} examples", shown.len());
}

#[test]
fn dots_stand_for_lines_and_quotes_keep_blanks() {
    assert!(page::shows(&["a", "b", "c"], &["a", "...", "c"]));
    assert!(page::shows(&["a", "b"], &["a", "..."]));
    assert!(!page::shows(&["a", "b"], &["a"]));
    assert!(!page::shows(&["a", "b", "c"], &["...", "b"]));
    assert_eq!(page::words("a --b='c d' e"), ["a", "--b=c d", "e"]);
}
