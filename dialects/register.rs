//! Build script of the dialect and pass crates: every file of `src/ops/` is a module that declares `pub static
//! OPS: &[&OpDecl]`, of `src/pass/` `pub static PASS: Pass`, of `src/rules/engines/` `pub static RULES: &[&Rule]`.
//! Adding one is adding a file.

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

#[expect(clippy::print_stdout, reason = "cargo reads a build script's standard output")]
fn main() {
    let root = env::var("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR");
    let out = env::var("OUT_DIR").expect("cargo sets OUT_DIR");
    let folders = [
        ("ops", "OPS", "OPS: &[&[&OpDecl]]"),
        ("pass", "PASS", "PASSES: &[&Pass]"),
        ("rules/engines", "RULES", "RULES: &[&[&Rule]]"),
    ];
    for (folder, item, list) in folders {
        let path = Path::new(&root).join("src").join(folder);
        // A folder that is not there would count as changed in every build: the folder that it would be made in is
        // watched instead.
        let watched = path.ancestors().find(|path| path.exists()).unwrap_or(&path);
        println!("cargo:rerun-if-changed={}", watched.display());
        let Ok(entries) = fs::read_dir(&path) else { continue };
        let mut files: Vec<_> = entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect();
        files.retain(|file| file.extension().is_some_and(|extension| extension == "rs"));
        files.retain(|file| file.file_stem().is_some_and(|name| name != "mod"));
        files.sort();
        let mut text = String::new();
        let mut names = Vec::new();
        for file in &files {
            let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let _ = writeln!(text, "#[path = {file:?}]\npub mod {name};");
            let reference =
                if folder == "pass" { format!("&{name}::{item}") } else { format!("{name}::{item}") };
            names.push(reference);
        }
        let _ = writeln!(
            text,
            "/// Everything declared in this folder.\npub static {list} = &[{}];",
            names.join(", ")
        );
        let name = Path::new(folder).file_name().unwrap_or_default();
        fs::write(Path::new(&out).join(name).with_extension("rs"), text).expect("OUT_DIR is writable");
    }
}
