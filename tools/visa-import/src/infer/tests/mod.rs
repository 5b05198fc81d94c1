//! Inference compared with rustc: the types of all literals, which `-Zunpretty=thir-flat` lists.

mod generator;
mod oracle;
mod program;

use std::collections::BTreeMap;
use visa_support::Random;

/// The suffixes of the literals of a program, by line and column.
type Suffixes = BTreeMap<(usize, usize), String>;

/// Compares with rustc, and returns the number of literals and the reasons of those that are unread.
fn compare(text: &str) -> (usize, Vec<String>) {
    let (own, reasons) = program::suffixes(text);
    let rustc = oracle::types(text);
    let (mut unread, mut wrong) = (Vec::new(), Vec::new());
    for (place, ty) in &rustc {
        let suffix = own.get(place).unwrap_or_else(|| panic!("no literal at {place:?} in\n{text}"));
        match suffix.strip_prefix("unread") {
            Some(number) => {
                let number: usize = number.parse().expect("a number");
                unread.push(format!("{place:?} {}: {}", reasons[number].0, reasons[number].1));
            }
            // Lengths in the types of fields are not those of a body.
            None if suffix.is_empty() && ty == "usize" => {}
            None if suffix == ty => {}
            None => wrong.push(format!("{place:?}: {suffix}, but rustc has {ty}")),
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?} in\n{text}");
    (rustc.len(), unread)
}

/// Compares a program of which everything is read.
fn all_read(text: &str) {
    let (count, unread) = compare(text);
    assert!(count > 0, "rustc lists no literal");
    assert!(unread.is_empty(), "unread: {unread:#?} in\n{text}");
}

/// Compares random functions, `count` of them, and returns the reasons of all literals that are unread.
fn campaign(seed: u64, count: usize) -> (usize, Vec<String>) {
    let functions: Vec<String> =
        (0..count).map(|case| generator::function(Random::of_case(seed, case as u64), case)).collect();
    let accepted = oracle::accepted(generator::ITEMS, functions);
    assert!(accepted.len() * 4 > count, "rustc accepts {} of {count} functions", accepted.len());
    compare(&format!("{}\n{}", generator::ITEMS, accepted.join("\n")))
}

#[test]
fn random_functions_have_the_types_of_rustc() {
    let number = |name: &str, default| std::env::var(name).map_or(default, |own| own.parse().expect("a number"));
    let (first, seeds) = (number("INFER_SEED", 1), number("INFER_SEEDS", 1));
    for seed in first..first + seeds {
        let (count, unread) = campaign(seed, 100);
        assert!(unread.len() * 20 < count, "seed {seed}: {} of {count} unread: {unread:#?}", unread.len());
    }
}

#[test]
fn scratch() {
    let Ok(path) = std::env::var("INFER_FILE") else { return };
    let text = std::fs::read_to_string(path).expect("a file");
    let (count, unread) = compare(&text);
    assert!(unread.is_empty(), "{count} literals, unread: {unread:#?}");
}
