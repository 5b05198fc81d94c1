//! Rule files: the refused rules, with position and reason; and the effect of a user's rule.

use visa_algebra::{Axes, Expr};
use visa_canonical::{RuleSet, canonicalize};
use visa_ir::diag::Diagnostic;
use visa_ir::span::Source;
use visa_rules::{MAX_BYTES, MAX_NESTING, MAX_VARIABLES};

/// A file of these rules; the first is on line 2.
fn file(rules: &str) -> String {
    format!("rules mapping\n{rules}")
}

fn findings(rules: &str) -> Vec<Diagnostic> {
    RuleSet::with_user_rules(&file(rules)).err().unwrap_or_default()
}

/// Code, line after the header, column and message of the only finding.
fn refused(text: &str) -> (String, usize, usize, String) {
    let findings = findings(text);
    let [finding] = findings.as_slice() else { panic!("{text}: {findings:?}") };
    let (line, column) = Source::new("rules", file(text)).position(finding.span.range().start);
    (finding.code.clone(), line - 1, column, finding.message.clone())
}

#[test]
fn a_sound_rule_is_taken_and_used() {
    // Nothing built in turns a stride into a table.
    let rules = "// Two halves, by hand.\nrule halves: [E / 2, E = 2, ...R] => [E, ...R] if |E| == 4 and exact(E \
                 / 2)";
    let set = RuleSet::with_user_rules(&file(rules)).unwrap();
    let added = set.rules().last().unwrap();
    assert_eq!((added.name, added.doc.as_str()), ("halves", "Two halves, by hand."));
    assert_eq!(added.text, "[E / 2, E = 2, ...R] => [E, ...R] if |E| == 4 and exact(E / 2)");
    assert_eq!(set.rules().len(), RuleSet::default().rules().len() + 1);
    let mut axes = Axes::new();
    axes.declare("A", 4).unwrap();
    let canonical = canonicalize(&Expr::parse("[A / 2, A % 2]").unwrap(), &axes, &set).unwrap();
    assert_eq!(canonical.expr.to_string(), "[A]");
}

#[test]
fn unsound_rules_show_a_counterexample() {
    // Groups do not commute. The first example with two different parts is A above B: A = 1 against B = 1.
    let (code, line, column, message) = refused("\n  rule swap: [E, F] => [F, E]");
    assert_eq!((code.as_str(), line, column), ("rule-unsound", 2, 3));
    assert_eq!(
        message,
        "rule `swap` is not sound: position 1 holds B=1 on the left side and A=1 on the right side"
    );
    let notes = &findings("rule swap: [E, F] => [F, E]")[0].notes;
    assert_eq!(notes[0].message, "`[A, B]` is the left side, with axes A = 4, B = 6, C = 5");
    assert_eq!(notes[1].message, "`[B, A]` is the right side");
}

#[test]
fn each_unsound_rule_is_refused() {
    for (rule, why) in [
        // Left padding and slices: position 0 need not hold the empty index.
        ("E % 1 => 1", "position 0"),
        ("[E, F] / n => E if n == |F|", "position 0"),
        ("[E / n, E % n] => E if n divides |E|", "position"),
        // Padding of another kind.
        ("E # n {k} # m {l} => E # m {l}", "padding"),
        ("E # n {k} => E # n {left k}", "position"),
        // Sizes.
        ("E / n => E", "positions"),
        ("E / n / m => E / (n + m)", "positions"),
        ("E # n => E = n", "broken"),
        // Arithmetic that does not work out.
        ("E = n => E = (n / 2 * 2)", "cannot be computed"),
        ("E = n => E = (n - 7 + 7)", "cannot be computed"),
        ("E # n => E # (n * 9223372036854775807 / 9223372036854775807)", "cannot be computed"),
        // A sliding expression with gaps is no pair.
        ("$(E:m, F:n) => [E, F] if m == |$(F:n)|", "position"),
        ("E @ (...T) => E @ first(T) = count(T)", "position"),
        // True alone, but not in a group: below C = 4, `C @ 4` leaves the axis before or after the padding is met.
        ("[E # n {!}, F] => [F, E # n {!}] if |E| == 1 and |F| == 1", "must-not-write padding"),
    ] {
        let (code, .., message) = refused(&format!("rule wrong: {rule}"));
        assert_eq!(code, "rule-unsound", "{rule}: {message}");
        assert!(message.contains(why), "{rule}: {message}");
    }
}

#[test]
fn a_two_way_rule_must_hold_both_ways() {
    // From left to right it is resize-to-mod; back, n need not divide the size.
    assert!(findings("rule one-way: E % n => E = n").is_empty());
    assert_eq!(refused("rule both: E % n <=> E = n").0, "rule-unsound");
    // A metavariable that only one side binds.
    assert_eq!(refused("rule both: [E, ...R] / n <=> E if n == |R| and anchored([...R])").0, "rule-unbound");
}

#[test]
fn unbound_metavariables_are_named() {
    let (code, line, column, message) = refused("rule a: E / 1 => E\nrule b: E / n => E / m");
    assert_eq!((code.as_str(), line, column), ("rule-unbound", 2, 22));
    assert_eq!(message, "`m` is not bound: it does not occur on the left side");
    for rule in [
        "E / 1 => F",
        "[E] => [E, ...R]",
        "E # n => E # n {k}",
        "E / 1 => E if n == 1",
        "E / 1 => E @ (...T)",
    ] {
        assert_eq!(refused(&format!("rule b: {rule}")).0, "rule-unbound", "{rule}");
    }
}

/// The maximum number is read. It is a separate matter that no example of this size is small enough to be spelt out.
#[test]
fn metavariables_are_bounded() {
    let rule = |count: usize| {
        let names: Vec<_> = (0..count).map(|number| format!("E{number}")).collect();
        format!("rule b: [{}] => [E1, E0, {}]", names.join(", "), names[2..].join(", "))
    };
    assert_eq!(refused(&rule(MAX_VARIABLES)).0, "rule-unchecked");
    let (code, line, column, message) = refused(&rule(MAX_VARIABLES + 1));
    assert_eq!((code.as_str(), line), ("rule-variables", 1));
    assert_eq!(column, rule(MAX_VARIABLES + 1).find("E16").expect("the last") + 1);
    assert_eq!(message, "`E16` is one metavariable more than the 16 that a rule may have");
    assert_eq!(refused(&rule(100)).0, "rule-variables");
}

#[test]
fn metavariables_have_one_sort() {
    for rule in ["E # n {n} => E", "E @ (...E) => E", "$(E:1, ...E) => E", "E / n => E # |E| {n}"] {
        assert_eq!(refused(&format!("rule b: {rule}")).0, "rule-sort", "{rule}");
    }
}

#[test]
fn the_left_side_is_matched_not_computed() {
    let (code, _, column, message) = refused("rule b: E / (n * 2) => E");
    assert_eq!((code.as_str(), column), ("rule-left", 14));
    assert!(message.contains("computed"), "{message}");
}

#[test]
fn malformed_text_is_placed() {
    for (text, line, column) in [
        ("rule", 1, 5),
        ("rule A: E => E", 1, 6),
        ("rule a: E / 1 -> E", 1, 15),
        ("rule a: E / 1 => E if", 1, 22),
        ("rule a: E / 1 => E\nrule b: [E, => E", 2, 13),
        ("rule a: E ? 1 => E", 1, 11),
        ("stride: E / 1 => E", 1, 1),
        ("rule a: [...R, E] => E", 1, 16),
        ("rule a: E / 99999999999999999999 => E", 1, 13),
        ("rule a: E / 1 => E if exact(E)", 1, 29),
    ] {
        let (code, found_line, found_column, message) = refused(text);
        assert_eq!(
            (code.as_str(), found_line, found_column),
            ("rule-syntax", line, column),
            "{text}: {message}"
        );
    }
    let deep = |levels: usize| format!("rule a: {}E{} / 1 => E", "[".repeat(levels), "]".repeat(levels));
    assert!(findings(&deep(MAX_NESTING)).is_empty());
    assert_eq!(refused(&deep(MAX_NESTING + 1)).0, "rule-syntax");
}

#[test]
fn names_are_unique_also_among_built_in_rules() {
    let (code, line, ..) = refused("rule mine: E / 1 => E\nrule mine: E @ 0 => E");
    assert_eq!((code.as_str(), line), ("rule-duplicate", 2));
    assert_eq!(refused("rule flatten: E / 1 => E").0, "rule-duplicate");
}

#[test]
fn a_file_without_rules_is_refused() {
    for text in ["", "\n", "// nothing here"] {
        assert_eq!(refused(text).0, "rule-none");
    }
}

/// A term may be as deep as its rule is long: the longest one is read and proved, a longer one is refused.
#[test]
fn rules_are_bounded() {
    let rule = |operators: usize| format!("rule a: E{} => E", "/1".repeat(operators));
    let most = (MAX_BYTES - rule(0).len()) / 2;
    assert!(findings(&rule(most)).is_empty());
    assert_eq!(refused(&rule(most + 1)).0, "rule-size");
}

#[test]
fn conditions_are_those_of_mappings() {
    assert!(findings("rule a: E / n => 1 if not (|E| < n or n < |E|) and anchored(E)").is_empty());
    assert_eq!(refused("rule a: E / n => 1 if not (|E| < n) and anchored(E)").0, "rule-unsound");
    for (condition, message) in [
        (
            "exat(E / n)",
            "`exat` is not a condition of mapping rules; expected a comparison, `exact`, `anchored`, `consecutive`",
        ),
        ("power_of_two(n)", "`power_of_two` is not a condition of mapping rules; expected a comparison"),
        ("dtype == i8", "`dtype` is not a condition of mapping rules; expected a comparison"),
    ] {
        let (code, line, column, found) = refused(&format!("rule a: E / n => 1 if {condition}"));
        assert_eq!((code.as_str(), line, column), ("rule-condition", 1, 23), "{found}");
        assert!(found.starts_with(message), "{found}");
    }
    assert_eq!(findings("rule a: E / n => 1 if exat(E / n)")[0].fix.as_deref(), Some("write `exact`"));
    assert_eq!(refused("rule a: E @ (...T) => E if consecutive([E])").0, "rule-syntax");
}

#[test]
fn mapping_rules_have_no_options() {
    let (code, _, column, message) = refused("rule a f32: E / 1 => E");
    assert_eq!((code.as_str(), column), ("rule-option", 8));
    assert_eq!(message, "mapping rules have no options; found `f32`");
}

#[test]
fn what_no_example_covers_cannot_be_checked() {
    for rule in ["E / 1000 => E", "E / 1 => E if 2 == 3", "E # n => E if n < |E|"] {
        let (code, .., message) = refused(&format!("rule far: {rule}"));
        assert_eq!(code, "rule-unchecked", "{rule}");
        assert!(message.starts_with("rule `far` cannot be checked"), "{message}");
    }
}

#[test]
fn all_findings_are_reported() {
    let text = "rule a: E / n => E\nrule b: E # n => E\nrule c: E / 1 => E";
    let codes: Vec<String> = findings(text).into_iter().map(|finding| finding.code).collect();
    assert_eq!(codes, ["rule-unsound", "rule-unsound"]);
}

#[test]
fn many_metavariables_are_checked_on_a_thinner_pool() {
    let names = ["E", "F", "G", "H", "I", "J"];
    let group = |names: &[&str]| format!("[{}, ...R]", names.join(", "));
    let rule = format!("rule wide: [1, {} => {}", &group(&names)[1..], group(&names));
    assert!(findings(&rule).is_empty());
    let swapped = ["E", "F", "G", "H", "J", "I"];
    let rule = format!("rule wide: {} => {}", group(&names), group(&swapped));
    assert_eq!(refused(&rule).0, "rule-unsound");
}

#[test]
fn every_mistake_of_a_file_is_reported_at_its_line() {
    let text = "rule bad: E # n {k} / m => E / m\n\
                rule unbound: E / 1 => F\n\
                // a comment\n\
                rule malformed: E / => E\n\
                rule fine: E @ 0 @ 0 => E\n\
                rule endless: E = 1\n\
                rule bad: E / 1 => E\n";
    let findings = RuleSet::with_user_rules(&file(text)).map(drop).expect_err("five rules are wrong");
    let whole = file(text);
    let line = |offset: usize| whole[..offset].matches('\n').count();
    let found: Vec<(String, usize)> =
        findings.iter().map(|finding| (finding.code.to_string(), line(finding.span.range().start))).collect();
    let expected = [
        ("rule-unsound", 1),
        ("rule-unbound", 2),
        ("rule-syntax", 4),
        // It ends where the next rule begins.
        ("rule-syntax", 7),
        ("rule-duplicate", 7),
    ];
    assert_eq!(found, expected.map(|(code, line)| (code.to_owned(), line)));
}
