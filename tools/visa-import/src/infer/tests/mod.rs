//! Inference compared with rustc: the types of all literals, which `-Zunpretty=thir-flat` lists.

mod cases;
mod generator;
mod oracle;
mod program;
mod rename;

use std::collections::BTreeMap;
use visa_support::Random;

/// The suffixes of the literals of a program, by line and column.
type Suffixes = BTreeMap<(usize, usize), String>;

/// Compares with rustc, and returns the number of rustc's literals and the reasons of those that are unread.
fn compare(text: &str) -> (usize, Vec<String>) {
    let (own, reasons) = program::suffixes(text);
    let rustc = oracle::types(text);
    let (mut unread, mut wrong) = (Vec::new(), Vec::new());
    for (place, ty) in &rustc {
        // A negative pattern begins at its sign; a pattern that is no literal has nothing to compare.
        let Some(suffix) = own.get(place).or_else(|| own.get(&(place.0, place.1 + 1))) else { continue };
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

/// Compares random functions, `count` of them, and returns the reasons of all literals that are unread.
fn campaign(seed: u64, count: usize, is_unread: bool) -> (usize, Vec<String>) {
    let case = |case: usize| generator::function(Random::of_case(seed, case as u64), case, is_unread);
    let functions: Vec<String> = (0..count).map(case).collect();
    let items = match is_unread {
        true => format!("{}{}", generator::UNREAD_ITEMS, generator::ITEMS),
        false => generator::ITEMS.to_owned(),
    };
    let accepted = oracle::accepted(&items, functions);
    assert!(accepted.len() * 10 > count, "rustc accepts {} of {count} functions", accepted.len());
    compare(&format!("{items}\n{}", accepted.join("\n")))
}

/// The seeds: one, or those of the environment.
fn seeds() -> std::ops::Range<u64> {
    let number = |name: &str| std::env::var(name).map_or(1, |own| own.parse().expect("a number"));
    number("INFER_SEED")..number("INFER_SEED") + number("INFER_SEEDS")
}

#[test]
fn random_functions_have_the_types_of_rustc() {
    for seed in seeds() {
        let (count, unread) = campaign(seed, 100, false);
        assert!(unread.len() * 20 < count, "seed {seed}: {} of {count} unread: {unread:#?}", unread.len());
    }
}

#[test]
fn random_functions_with_other_constructs_have_no_other_type() {
    for seed in seeds() {
        let (count, unread) = campaign(seed, 100, true);
        assert!(!unread.is_empty(), "all {count} literals are read");
    }
}
