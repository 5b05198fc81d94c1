//! The kernels that have a function of the tensor level, and those that have none, by the operation at fault.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use visa::{Io, Tool};

/// Functions without one, by the operation at fault: two tensors are no arrays.
const FAULTS: [(&str, usize); 1] = [("array-layout", 2)];

/// Parts of a hundred that must be raised.
const LEAST: usize = 95;

/// A run of visa-opt on a text: its exit code, its output, its errors.
fn run(words: &[&str], text: &str) -> (i32, String, String) {
    let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    let mut io = Io::buffered(text.as_bytes(), Path::new(env!("CARGO_MANIFEST_DIR")));
    let code = Tool::standard().opt(&words, &mut io);
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
    (code, text(io.stdout), text(io.stderr))
}

#[test]
fn kernels_have_a_function_of_the_tensor_level() {
    let (mut functions, mut faults) = (0, BTreeMap::<String, usize>::new());
    for folder in ["kernels", "book"] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        let files = fs::read_dir(&folder).expect("a folder").map(|entry| entry.expect("an entry").path());
        for file in files.filter(|file| file.extension().is_some_and(|extension| extension == "visa")) {
            let text = fs::read_to_string(&file).expect("a file");
            // A part that does not verify is there for its errors.
            let parts = text.split("\n// -----\n").map(|part| (part, run(&["-"], part)));
            for (part, (_, printed, _)) in parts.filter(|(_, (code, ..))| *code == 0) {
                let count = |text: &str| text.lines().filter(|line| line.starts_with("tm.func ")).count();
                functions += count(&printed);
                let (code, raised, errors) = run(&["-", "--raise"], part);
                let faulty = errors.lines().filter_map(|line| line.strip_prefix("error["));
                for code in faulty.filter_map(|line| line.split(']').next()) {
                    let operation = code.rsplit_once("-C").map_or(code, |(operation, _)| operation);
                    *faults.entry(operation.to_owned()).or_default() += 1;
                }
                let complete = code != 0 || count(&raised) == count(&printed);
                assert!(complete, "{}: {raised}", file.display());
            }
        }
    }
    let listed: Vec<(&str, usize)> = faults.iter().map(|(name, count)| (name.as_str(), *count)).collect();
    assert_eq!(listed, FAULTS, "the list of operations at fault is another one");
    let faulty: usize = faults.values().sum();
    assert!((functions - faulty) * 100 >= functions * LEAST, "{faulty} of {functions} are not raised");
}
