//! Programs written by hand, `test/import/host/*.rs`: the importer and rustc evaluate each public function without
//! parameters. Both give the same number, or the importer refuses the function.

use super::constant_kernel;
use crate::settings::{Settings, test_folder};
use crate::shared::each_core;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The file whose functions all panic.
const PANICS: &str = "panics";

/// Most functions of a hundred, among those that do not panic, that may be refused.
const MOST_REFUSED: usize = 25;

/// The bits of a function's number, or `None` if it panics or is refused.
type Bits = Option<u32>;

/// A function of a file.
struct Function {
    name: String,
    /// Its result: `i32` or `f32`.
    ty: String,
}

/// Counts of functions.
#[derive(Default)]
struct Counts {
    equal: usize,
    panics: usize,
    refused: Vec<String>,
    different: Vec<String>,
}

/// Compares the importer with rustc on the files of `test/import/host`.
pub fn written(settings: &Settings<'_>) {
    let entries = fs::read_dir(test_folder().join("import/host")).expect("a readable folder");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("a readable entry").path()).collect();
    paths.retain(|path| settings.files.contain(&stem(path)));
    paths.sort();
    let counts = each_core(|numbers| {
        let mut counts = Counts::default();
        for number in numbers {
            let Some(path) = paths.get(number as usize) else { break };
            compare(path, &mut counts);
        }
        counts
    });
    let mut all = Counts::default();
    for counts in counts {
        all.equal += counts.equal;
        all.panics += counts.panics;
        all.refused.extend(counts.refused);
        all.different.extend(counts.different);
    }
    let Counts { equal, panics, refused, different } = &mut all;
    refused.sort();
    println!(
        "host-files: {} files, {equal} functions equal, {panics} panic and are refused, {} others are refused",
        paths.len(),
        refused.len()
    );
    refused.iter().for_each(|line| println!("  {line}"));
    different.sort();
    assert!(different.is_empty(), "{} functions differ:\n{}", different.len(), different.join("\n"));
    let read = *equal + refused.len();
    assert!(refused.len() * 100 <= read * MOST_REFUSED, "{} of {read} functions are refused", refused.len());
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

fn compare(path: &Path, counts: &mut Counts) {
    let file = stem(path);
    let text = fs::read_to_string(path).expect("a readable file");
    let functions: Vec<Function> = text.lines().filter_map(function).collect();
    assert!(!functions.is_empty(), "{file}.rs has no `pub fn NAME() -> i32`");
    let folder = tempfile::tempdir().expect("a folder");
    let expected = compiled(folder.path(), &file, &text, &functions);
    let evaluated = imported(folder.path(), &text, &functions);
    for (Function { name, .. }, (expected, evaluated)) in
        functions.iter().zip(expected.iter().zip(&evaluated))
    {
        assert_eq!(expected.is_none(), file == PANICS, "{file}.rs: `{name}` gives {expected:?} by rustc");
        match (expected, evaluated) {
            (None, Err(_)) => counts.panics += 1,
            (Some(_), Err(why)) => counts.refused.push(format!("{file}.rs, `{name}`: {why}")),
            (Some(expected), Ok(evaluated)) if expected == evaluated => counts.equal += 1,
            (_, Ok(evaluated)) => {
                let [expected, evaluated] = [*expected, Some(*evaluated)].map(shown);
                counts.different.push(format!("{file}.rs, `{name}`: rustc {expected}, imported {evaluated}"));
            }
        }
    }
}

fn shown(bits: Bits) -> String {
    bits.map_or("panics".to_owned(), |bits| format!("{} (0x{bits:08x})", bits.cast_signed()))
}

/// The function that a line such as `pub fn name() -> i32 {` begins.
fn function(line: &str) -> Option<Function> {
    let (name, rest) = line.strip_prefix("pub fn ")?.split_once("() -> ")?;
    let ty = rest.strip_suffix(" {")?;
    matches!(ty, "i32" | "f32").then(|| Function { name: name.to_owned(), ty: ty.to_owned() })
}

/// The bits as rustc's program prints them, in the order of the functions.
fn compiled(folder: &Path, file: &str, text: &str, functions: &[Function]) -> Vec<Bits> {
    let allowed = "#![allow(warnings, arithmetic_overflow, unconditional_panic, overflowing_literals)]\n";
    let mut main = String::from("fn main() {\n    std::panic::set_hook(Box::new(|_| {}));\n");
    for Function { name, ty } in functions {
        let bits = if ty == "f32" { format!("{name}().to_bits()") } else { format!("{name}() as u32") };
        main.push_str(&format!("    println!(\"{{:?}}\", std::panic::catch_unwind(|| {bits}).ok());\n"));
    }
    fs::write(folder.join("main.rs"), format!("{allowed}{text}{main}}}\n")).expect("a file");
    let mut rustc = Command::new("rustc");
    rustc.args(["--edition", "2024", "-C", "debug-assertions=on", "main.rs"]);
    let made = rustc.current_dir(folder).output().expect("rustc is where cargo is");
    assert!(made.status.success(), "rustc refuses {file}.rs:\n{}", String::from_utf8_lossy(&made.stderr));
    let shown = Command::new(folder.join("main")).output().expect("the program starts");
    let shown = String::from_utf8(shown.stdout).expect("a text");
    let bits: Vec<Bits> = shown.lines().map(printed).collect();
    assert_eq!(bits.len(), functions.len(), "the program of {file}.rs ends early");
    bits
}

/// The bits of a line such as `Some(7)` or `None`.
fn printed(line: &str) -> Bits {
    let number = line.strip_prefix("Some(")?.strip_suffix(')')?;
    Some(number.parse().expect("a number"))
}

/// The bits as the importer has them, or why it refuses a function.
fn imported(folder: &Path, text: &str, functions: &[Function]) -> Vec<Result<u32, String>> {
    // Documentation of a file stands only at its start.
    let text: String =
        text.lines().filter(|line| !line.starts_with("//!")).map(|line| format!("{line}\n")).collect();
    let mut file = format!("use furiosa_opt_std::prelude::*;\naxes![KernelAxis = 2048];\n{text}");
    for (number, Function { name, ty }) in functions.iter().enumerate() {
        file.push_str(&constant_kernel(&format!("kernel_{number}"), "KernelAxis", ty, name));
    }
    let path = folder.join("kernels.rs");
    fs::write(&path, file).expect("a file");
    let imported = visa_import::import(&[path], None, visa_import::Addresses::Drop);
    let kernels: BTreeMap<&str, _> =
        imported.kernels.iter().map(|kernel| (kernel.name.as_str(), &kernel.text)).collect();
    let of = |(number, function): (usize, &Function)| {
        let Some(text) = kernels.get(&*format!("kernel_{number}")) else {
            let errors: Vec<&str> = imported.errors.iter().map(|error| error.message.as_str()).collect();
            return Err(errors.join("; "));
        };
        let text = text.as_ref().map_err(|error| error.message.clone())?;
        Ok(operand(text, &function.ty))
    };
    functions.iter().enumerate().map(of).collect()
}

/// The bits of the constant of a kernel.
fn operand(text: &str, ty: &str) -> u32 {
    let (_, rest) = text.split_once(" constant ").expect("a constant");
    let number = rest.split(' ').next().expect("a number");
    match (ty, number.parse::<i32>()) {
        ("i32", Ok(number)) => number.cast_unsigned(),
        _ => number.parse::<f32>().expect("a number").to_bits(),
    }
}
