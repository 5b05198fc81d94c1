//! Canonical mappings: worked examples, proofs, bounds, and rules that turn out to be wrong.

use visa_algebra::{Axes, Expr};
use visa_canonical::{
    CanonicalError, MAX_E_NODES, MAX_ITERATIONS, MAX_SEED_NODES, Reason, RuleSet, Stop, canonicalize, explain,
};

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
        assert!(report.instances > 0 && report.compared >= report.instances, "{}", report.name);
    }
    for rule in rules.rules() {
        assert!(!rule.doc.is_empty() && !rule.text.is_empty(), "rule {} is not explained", rule.name);
    }
}

#[test]
fn ties_go_to_the_first_text() {
    // Both have 8 characters; `%` comes before `=`.
    assert_eq!(canonical("[B = 64]"), "[B % 64]");
    // 512 - 3 = 509 positions, a prime: a block of 64 of them is no modulo.
    assert_eq!(canonical("[B @ 3 = 64]"), "[B @ 3 = 64]");
    // `B / 64 @ 2` is one character shorter.
    assert_eq!(canonical("[B @ 128 / 64]"), "[B / 64 @ 2]");
}

#[test]
fn what_differs_stays_different() {
    for text in [
        "[B % 64, B / 64]",
        "[A # 16 {0} # 32]",
        "[A # 16 {left}]",
        "[4]",
        "[1 # 4]",
        "[A @ 1]",
        "[A @ 7, B]",
        "[A @ (1, 0)]",
        "[$(F:2, A:1)]",
        "[[A, C] # 128]",
        "[A, A % 2]",
    ] {
        assert_eq!(canonical(text), text);
    }
}

#[test]
fn slices_do_not_start_with_the_empty_index() {
    // Modulo by 1 is not the identity, and neither projection nor split-join holds.
    assert_eq!(canonical("[A @ 1 % 1]"), "[A @ (1)]");
    assert_eq!(canonical("[[A @ 1 % 1, B] % 512]"), "[A @ (1), B]");
    // Every other position of that pair also holds F = 1: not `[A]`.
    assert_eq!(canonical("[[A, F @ 1 % 2] / 2]"), "[F @ (1), A]");
}

#[test]
fn aliases_are_written_out_and_skewed_axes_are_axes() {
    let mut axes = axes();
    axes.declare_skew("G", "A", "F").unwrap();
    axes.define("L", &Expr::parse("[G / 2, G % 2]").unwrap()).unwrap();
    let canonical = canonicalize(&Expr::parse("[{L}, B]").unwrap(), &axes, &RuleSet::default()).unwrap();
    assert_eq!(canonical.expr.to_string(), "[G, B]");
}

#[test]
fn broken_mappings_have_no_canonical_form() {
    for (text, code) in
        [("[A / 3]", "map-stride"), ("[Q]", "map-undeclared-axis"), ("[{L}]", "map-undefined-alias")]
    {
        match canonicalize(&Expr::parse(text).unwrap(), &axes(), &RuleSet::default()) {
            Err(CanonicalError::Map(error)) => assert_eq!(error.code, code),
            other => panic!("{text}: {other:?}"),
        }
        assert!(matches!(
            explain(&Expr::parse(text).unwrap(), &Expr::axis("A"), &axes(), &RuleSet::default()),
            Err(CanonicalError::Map(_))
        ));
    }
}

fn explained(from: &str, to: &str) -> String {
    let (from, to) = (Expr::parse(from).unwrap(), Expr::parse(to).unwrap());
    explain(&from, &to, &axes(), &RuleSet::default()).unwrap().to_string()
}

#[test]
fn proofs_are_shown_step_by_step() {
    assert_eq!(
        explained("[B / 64, B % 64]", "[B]"),
        "  [B / 64, B % 64]\n\
         = [B / 64, B = 64]  by modulo-is-resize: E % n <=> E = n if n divides |E|\n\
         = [B]               by split-join: [E / n, E = n, ...R] => [E, ...R] if exact(E / n)"
    );
    assert_eq!(explained("[B]", "[B]"), "  [B]");
    // Backwards.
    assert_eq!(
        explained("[B]", "[B / 1]"),
        "  [B]\n= [B / 1]  by stride-by-one, from right to left: E / 1 => E"
    );
}

#[test]
fn what_rules_do_not_connect_is_equal_by_its_digits() {
    // No rule moves a term of one position past another term.
    let (from, to) = (Expr::parse("[A, F @ 1 % 1]").unwrap(), Expr::parse("[F @ 1 % 1, A]").unwrap());
    let proof = explain(&from, &to, &axes(), &RuleSet::default()).unwrap();
    assert_eq!(proof.steps.last().map(|step| &step.reason), Some(&Reason::NormalForm));
    assert!(
        proof.to_string().ends_with("= [F @ 1 % 1, A]     by normal form: both have the same digits"),
        "{proof}"
    );
    // Rules do it where they can: a sliding outer sum is a pair.
    let (from, to) = (Expr::parse("[$(A:5, F / 1:1)]").unwrap(), Expr::parse("[A / 2, A % 2, F]").unwrap());
    let proof = explain(&from, &to, &axes(), &RuleSet::default()).unwrap();
    assert_eq!(proof.steps.last().map(|step| step.expr.to_string()), Some("[A / 2, A % 2, F]".to_owned()));
    assert!(proof.steps.iter().all(|step| step.reason != Reason::NormalForm), "{proof}");
}

/// A rule that the check takes because no small example has 7, 11 or 13 positions to a step.
const TRAP: &str = "rules mapping\nrule trap: E / n => E % (|E| / n) if n divides 1001";

#[test]
fn a_rule_that_turns_out_wrong_is_named() {
    let rules = RuleSet::with_user_rules(TRAP).unwrap();
    let mut axes = Axes::new();
    axes.declare("A", 49).unwrap();
    axes.declare("B", 48).unwrap();
    let Err(CanonicalError::Unsound(conflict)) =
        canonicalize(&Expr::parse("[A / 7]").unwrap(), &axes, &rules)
    else {
        panic!("the merge was silent");
    };
    assert_eq!(conflict.rule.as_deref(), Some("trap"));
    let mut forms = [conflict.left.to_string(), conflict.right.to_string()];
    forms.sort();
    assert_eq!(forms, ["[A % 7]", "[A / 7]"]);
    assert!(conflict.to_string().contains("their normal forms differ"), "{conflict}");
    // Where it does not go wrong, it is used.
    assert_eq!(
        canonicalize(&Expr::parse("[B / 8]").unwrap(), &axes, &rules).unwrap().expr.to_string(),
        "[B / 8]"
    );
}

#[test]
fn growth_stops_at_the_bounds() {
    let run = |rules: &str| {
        let rules = RuleSet::with_user_rules(rules).unwrap();
        canonicalize(&Expr::parse("[B = 3]").unwrap(), &axes(), &rules).unwrap()
    };
    let grow = "rules mapping\nrule grow: E = n => E # (|E| + 1) = n";
    let slow = run(grow);
    assert_eq!((slow.statistics.stop, slow.statistics.iterations), (Stop::IterationLimit, MAX_ITERATIONS));
    assert!(slow.statistics.e_nodes <= MAX_E_NODES);
    assert_eq!(slow.expr.to_string(), "[B = 3]");
    let fast = run(&format!("{grow}\nrule grow-zero: E = n => E # (|E| + 1) {{0}} = n"));
    assert_eq!(fast.statistics.stop, Stop::NodeLimit);
    assert!(fast.statistics.e_nodes > MAX_E_NODES && fast.statistics.iterations < MAX_ITERATIONS);
    assert_eq!(fast.expr.to_string(), "[B = 3]");
    let none = canonicalize(&Expr::parse("[B = 3]").unwrap(), &axes(), &RuleSet::default()).unwrap();
    assert_eq!(none.statistics.stop, Stop::Saturated);
}

#[test]
fn runs_are_alike() {
    let text = Expr::parse("[[1, A, C] # 128 {0} % 64, $(A / 1:1, F:2) @ (3, 4)]").unwrap();
    let once = canonicalize(&text, &axes(), &RuleSet::default()).unwrap();
    let again = canonicalize(&text, &axes(), &RuleSet::default()).unwrap();
    assert_eq!((once.expr, once.statistics), (again.expr, again.statistics));
}

#[test]
fn long_expressions_are_only_tidied() {
    // A table that does not count up is ragged, so these terms stay as many as they are.
    let term = Expr::axis("A").gather([0, 0]).resize(1);
    let many = |terms: usize| Expr::pair(vec![term.clone(); terms]);
    let inside = many((MAX_SEED_NODES - 1) / term.nodes());
    assert!(inside.nodes() <= MAX_SEED_NODES);
    let inside = canonicalize(&inside, &axes(), &RuleSet::default()).unwrap();
    assert_eq!(inside.statistics.stop, Stop::Saturated);
    let outside = many(MAX_SEED_NODES / term.nodes() + 1);
    assert!(outside.nodes() > MAX_SEED_NODES);
    let outside = canonicalize(&outside, &axes(), &RuleSet::default()).unwrap();
    assert_eq!((outside.statistics.stop, outside.statistics.e_nodes), (Stop::NodeLimit, 0));
    assert!(canonicalize(&many(20_000), &axes(), &RuleSet::default()).is_ok());
}
