//! Canonical mappings: worked examples, proofs, and random expressions against enumeration.

use visa_mapping::{Axes, Expr};
use visa_passes::canonical::{RuleSet, canonicalize};

fn axes() -> Axes {
    let mut axes = Axes::new();
    for (name, size) in [("A", 8), ("B", 512), ("C", 13), ("D", 61), ("F", 5)] {
        axes.declare(name, size).unwrap();
    }
    axes
}

fn canonical(text: &str) -> String {
    let canonical = canonicalize(&Expr::parse(text).unwrap(), &axes(), &RuleSet::default());
    canonical.map_or_else(|error| error.to_string(), |canonical| canonical.expr.to_string())
}

#[test]
fn texts_worked_out_by_hand() {
    for (text, expected) in [
        ("[B / 64, B % 64]", "[B]"),
        ("[B % 64]", "[B % 64]"),
        ("[B = 64]", "[B % 64]"),
        ("[A, 1]", "[A]"),
        ("[1, A]", "[A]"),
        ("[[A, B], C]", "[A, B, C]"),
        ("[[A, B] / 512]", "[A]"),
        ("[[A, B] % 512]", "[B]"),
        ("[B # 512]", "[B]"),
        ("[B % 1]", "[1]"),
        ("[2, 3]", "[6]"),
        ("[D # 64 / 16, D # 64 % 16]", "[D # 64]"),
        ("[D # 64 % 16]", "[D = 16]"),
        ("[B @ 128 / 64]", "[B / 64 @ 2]"),
        ("[B @ (5, 6)]", "[B @ 5 = 2]"),
        ("[$(F:8, A:1)]", "[F, A]"),
        // Ragged: no digits, the rules alone.
        ("[[A, C] # 110 # 128]", "[[A, C] # 128]"),
        ("[[1, A, C] # 128 {0} % 64]", "[[A, C] = 64]"),
        ("[A # 10 {left} # 12 {left}]", "[A # 12 {left}]"),
        ("[F @ (1, 0), 1]", "[F @ (1, 0)]"),
        ("[$(A / 1:1, F:2)]", "[$(F:2, A:1)]"),
        ("[$(F:2, A:1)]", "[$(F:2, A:1)]"),
    ] {
        assert_eq!(canonical(text), expected, "{text}");
    }
}

#[test]
fn every_built_in_rule_is_sound_and_covered() {
    let rules = RuleSet::default();
    let reports = rules.report().unwrap_or_else(|findings| panic!("{findings:#?}"));
    assert_eq!(reports.len(), rules.rules().len());
    for report in reports {
        println!("{:24} {:6} {:8}", report.name, report.instances, report.positions);
        assert!(report.instances > 0, "{}", report.name);
    }
}
