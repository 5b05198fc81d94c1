//! Rust of the host, evaluated by the importer and by rustc: each random program has functions that give an `i32`,
//! which the kernels of the program take as constants. The numbers agree, or the importer refuses the construct.

mod expressions;
mod features;
mod written;

use crate::settings::Settings;
use features::program;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use visa_support::Random;
pub use written::written;

/// Programs that rustc compiles at once.
const BATCH: u64 = 50;

/// A random program.
pub(crate) struct Program {
    /// The items of its module.
    items: String,
    /// The number of its functions `value0`, `value1` and so on.
    values: usize,
}

/// The number that a function gives, or `None` where it panics or is refused.
type Numbers = BTreeMap<(u64, usize), Option<i32>>;

/// Compares the importer with rustc on `count` programs.
pub fn run(settings: &Settings<'_>) {
    let Settings { count, seed, .. } = *settings;
    let mut found = Found::default();
    let mut first = 0;
    while first < count {
        let numbers: Vec<u64> = (first..count.min(first + BATCH)).collect();
        batch(seed, &numbers, &mut found);
        first += BATCH;
    }
    let Found { programs, equal, refused, panics, rejected, different, why } = &found;
    println!(
        "host-rust, seed {seed}: {programs} programs, {equal} equal, {refused} refused, {panics} panic in both, \
            {rejected} are no Rust"
    );
    let mut why: Vec<_> = why.iter().collect();
    why.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    for (message, count) in why.iter().take(20) {
        println!("  {count:5} {message}");
    }
    assert!(
        different.is_empty(),
        "{} programs differ, among them\n{}",
        different.len(),
        different[..different.len().min(3)].join("\n")
    );
    assert!(*equal > 0, "no program of {programs} was compared");
    assert!(refused * 100 <= programs * MOST_REFUSED, "{refused} of {programs} programs are refused");
    assert!(rejected * 100 <= programs * MOST_REJECTED, "rustc rejects {rejected} of {programs} programs");
}

/// Most programs of a hundred that rustc may reject: the generator writes Rust.
const MOST_REJECTED: u64 = 5;

/// Most programs of a hundred that may be refused.
const MOST_REFUSED: u64 = 15;

/// Most programs that rustc refuses whose errors are shown.
const MOST_SHOWN: u64 = 3;

/// Counts of programs.
#[derive(Default)]
struct Found {
    programs: u64,
    equal: u64,
    refused: u64,
    panics: u64,
    /// Those that rustc refuses: the generator is wrong.
    rejected: u64,
    /// The programs with other numbers.
    different: Vec<String>,
    /// The messages of refusals, without numbers.
    why: BTreeMap<String, u64>,
}

/// Compares some programs, each of which is a module of one file.
fn batch(seed: u64, numbers: &[u64], found: &mut Found) {
    let programs: Vec<(u64, Program)> =
        numbers.iter().map(|&number| (number, program(&mut Random::of_case(seed, number)))).collect();
    let folder = tempfile::tempdir().expect("a folder");
    let expected = match compiled(folder.path(), &programs) {
        Ok(expected) => expected,
        Err(errors) => match &*programs {
            [(number, _)] => {
                found.rejected += 1;
                if found.rejected <= MOST_SHOWN {
                    println!("rustc refuses program {number} of seed {seed}: {errors}");
                }
                return;
            }
            _ => {
                // The program at fault is found by halves.
                let (one, other) = numbers.split_at(numbers.len() / 2);
                batch(seed, one, found);
                batch(seed, other, found);
                return;
            }
        },
    };
    let (evaluated, why) = imported(folder.path(), &programs);
    for (number, program) in &programs {
        let of = |all: &Numbers| -> Vec<Option<i32>> {
            (0..program.values).map(|value| all.get(&(*number, value)).copied().flatten()).collect()
        };
        let (wanted, own) = (of(&expected), of(&evaluated));
        let differs = wanted.iter().zip(&own).any(|(wanted, own)| own.is_some() && own != wanted);
        found.programs += 1;
        if differs {
            let text = format!(
                "program {number} of seed {seed}: rustc {wanted:?}, imported {own:?}\n{}",
                program.items
            );
            found.different.push(text);
            continue;
        }
        let refused = wanted.iter().zip(&own).any(|(wanted, own)| wanted.is_some() && own.is_none());
        match (refused, wanted.contains(&None)) {
            (true, _) => {
                found.refused += 1;
                for message in why.get(number).into_iter().flatten() {
                    *found.why.entry(message.clone()).or_default() += 1;
                }
            }
            (false, true) => found.panics += 1,
            (false, false) => found.equal += 1,
        }
    }
}

/// The numbers as rustc has them.
fn compiled(folder: &Path, programs: &[(u64, Program)]) -> Result<Numbers, String> {
    let mut text =
        String::from("#![allow(warnings, arithmetic_overflow, unconditional_panic, overflowing_literals)]\n");
    let mut main = String::from("fn main() {\nstd::panic::set_hook(Box::new(|_| {}));\n");
    for (number, program) in programs {
        text.push_str(&format!("mod p{number} {{\n{}}}\n", program.items));
        for value in 0..program.values {
            main.push_str(&format!(
                "println!(\"{number} {value} {{:?}}\", std::panic::catch_unwind(|| p{number}::value{value}()).ok());\n"
            ));
        }
    }
    text.push_str(&main);
    text.push_str("}\n");
    fs::write(folder.join("main.rs"), &text).expect("a file");
    let mut rustc = Command::new("rustc");
    rustc.args(["--edition", "2024", "-C", "debug-assertions=on", "-C", "codegen-units=4", "main.rs"]);
    let made = rustc.current_dir(folder).output().expect("rustc is where cargo is");
    if !made.status.success() {
        return Err(String::from_utf8_lossy(&made.stderr).into_owned());
    }
    let shown = Command::new(folder.join("main")).output().expect("it starts");
    let shown = String::from_utf8(shown.stdout).expect("a text");
    Ok(shown.lines().map(shown_number).collect())
}

/// A line such as `3 0 Some(-5)`.
fn shown_number(line: &str) -> ((u64, usize), Option<i32>) {
    let words: Vec<&str> = line.split(' ').collect();
    let number = words[2].strip_prefix("Some(").and_then(|rest| rest.strip_suffix(')'));
    let number = number.map(|number| number.parse().expect("a number"));
    ((words[0].parse().expect("a number"), words[1].parse().expect("a number")), number)
}

/// The numbers as the importer has them, and why it refuses programs.
fn imported(folder: &Path, programs: &[(u64, Program)]) -> (Numbers, BTreeMap<u64, Vec<String>>) {
    let mut text = String::from("use furiosa_opt_std::prelude::*;\naxes![V = 2048];\n");
    for (number, program) in programs {
        text.push_str(&format!("mod p{number} {{\n{}}}\n", program.items));
        for value in 0..program.values {
            let name = format!("k{number}_{value}");
            text.push_str(&constant_kernel(&name, "V", "i32", &format!("p{number}::value{value}")));
        }
    }
    let path = folder.join("kernels.rs");
    fs::write(&path, &text).expect("a file");
    let imported = visa_import::import(&[path], None, visa_import::Addresses::Drop);
    let mut numbers = Numbers::new();
    let mut why: BTreeMap<u64, Vec<String>> = BTreeMap::new();
    for error in &imported.errors {
        for (number, _) in programs {
            why.entry(*number).or_default().push(error.message.clone());
        }
    }
    for kernel in &imported.kernels {
        let mut name =
            kernel.name.trim_start_matches('k').split('_').map(|part| part.parse::<u64>().expect("a number"));
        let (number, value) = (name.next().expect("a number"), name.next().expect("a number"));
        let found = match &kernel.text {
            Ok(text) => {
                let (_, rest) = text.split_once(" constant ").expect("a constant");
                Some(rest.split(' ').next().expect("a number").parse().expect("a number"))
            }
            Err(error) => {
                why.entry(number).or_default().push(without_numbers(&error.message));
                None
            }
        };
        numbers.insert((number, value as usize), found);
    }
    (numbers, why)
}

fn without_numbers(message: &str) -> String {
    message.chars().filter(|letter| !letter.is_ascii_digit()).collect()
}

/// A kernel that takes a number of a type, the result of a function, as a constant.
fn constant_kernel(name: &str, axis: &str, ty: &str, function: &str) -> String {
    let operation = match ty {
        "f32" => "vector_logic(LogicBinaryOpF32::BitAnd",
        _ => "vector_fxp(FxpBinaryOp::AddFxp",
    };
    let row = format!("DmTensor<{ty}, m![1], m![1 # 2], m![{axis} / 8], m![{axis} % 8]>");
    let hbm = format!("HbmTensor<{ty}, m![1], m![{axis}]>");
    format!(
        "#[device(chip = 1)]
pub fn {name}(ctx: &mut Context, v: &{hbm}) -> {hbm} {{
    let d: {row} = v.to_dm(&mut ctx.tdma);
    let r: {row} = ctx.main.begin(d.view()).fetch::<m![1], m![{axis} % 8]>().collect::<m![1], m![{axis} % 8]>()
        .vector_init().vector_intra_slice_tag(TagMode::Zero).{operation}, const {{ {function}() }}).vector_final()
        .commit_trim::<m![{axis} % 8]>().commit();
    r.to_hbm(&mut ctx.tdma)
}}
"
    )
}
