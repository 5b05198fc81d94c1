//! Rules about expressions, one for each format of their operands.

use visa_ir::diag::Diagnostic;
use visa_mapping::expression::Dag;
use visa_numerics::{Bits, DType};
use visa_rules::{Condition, Sort, check};

/// The rules that come with visa.
pub const BUILTIN: &str = include_str!("vector.rules");

/// Rules about expressions as a kind of rules: both sides have the same bits, or differ by a bound (`kind.rs`).
#[derive(Clone, Copy, Debug)]
pub struct Vector;

/// The only sort of metavariables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operand;

impl Sort for Operand {
    fn describe(self) -> &'static str {
        "an operand"
    }
}

/// The options of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// The formats of the operands.
    pub formats: &'static [DType],
    /// The greatest distance of both sides, in ulps of the greatest operand or intermediate result; `None` if they
    /// have the same bits.
    pub fast: Option<u32>,
}

/// A test of an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Test {
    /// The test.
    pub predicate: Predicate,
    /// The operand's slot.
    pub operand: usize,
}

/// A rule for operands of one format.
#[derive(Clone, Debug)]
pub struct VectorRule {
    /// Its name.
    pub name: &'static str,
    /// The format of the operands.
    pub dtype: DType,
    /// The side that is matched.
    pub left: Dag,
    /// The side that replaces it.
    pub right: Dag,
    /// True if it is used from right to left too.
    pub both_ways: bool,
    /// The condition of the rule.
    pub condition: Option<Condition<Test>>,
    /// The bound of a rule that rounds differently, as in [`Options::fast`].
    pub fast: Option<u32>,
}

/// A test of a rule on an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Predicate {
    /// It is a number.
    Number,
    /// It is a power of two, and so is its reciprocal, both normal.
    PowerOfTwo,
}

impl Predicate {
    /// Returns true if it holds for a number.
    #[must_use]
    pub fn holds(self, bits: Bits) -> bool {
        let x = f32::from_bits(bits);
        match self {
            Self::Number => x.is_finite(),
            Self::PowerOfTwo => x.is_normal() && (1.0 / x).is_normal() && bits & 0x007f_ffff == 0,
        }
    }
}

/// The rules of a file; one for both formats is listed twice. Nothing is proved: a test does that for [`BUILTIN`].
///
/// # Errors
/// Every mistake, at its place.
pub fn parse(text: &str) -> Result<Vec<VectorRule>, Vec<Diagnostic>> {
    let (rules, findings) = check::<Vector>((), text, &|_| false);
    if !findings.is_empty() {
        return Err(findings);
    }
    let mut all = Vec::new();
    for rule in rules {
        let sides = rule.left.into_iter().zip(rule.right);
        for (&dtype, (left, right)) in rule.options.formats.iter().zip(sides) {
            all.push(VectorRule {
                name: rule.name,
                dtype,
                left,
                right,
                both_ways: rule.both_ways,
                condition: rule.condition.clone(),
                fast: rule.options.fast,
            });
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use visa_rules::{MAX_VARIABLES, load, prove};

    /// The built-in rules that are `fast`, or those that are not.
    fn builtin(fast: bool) -> Vec<visa_rules::Rule<Vector>> {
        let (rules, findings) = check::<Vector>((), BUILTIN, &|_| false);
        assert_eq!(findings, []);
        rules.into_iter().filter(|rule| rule.options.fast.is_some() == fast).collect()
    }

    /// An exact rule has the same bits on both sides: all edges against all edges, and random patterns.
    #[test]
    fn exact_rules_keep_every_bit() {
        for report in prove((), &builtin(false)) {
            let report = report.expect("a sound rule");
            assert!(report.instances > 10_000, "{}: {}", report.name, report.instances);
        }
    }

    /// A fast rule stays within its bound.
    #[test]
    fn fast_rules_stay_within_their_bounds() {
        let reports = prove((), &builtin(true));
        assert_eq!(reports.len(), 11);
        for report in reports {
            let report = report.expect("a sound rule");
            assert!(report.instances > 10_000, "{}: {}", report.name, report.instances);
        }
    }

    /// A fast rule is not exact, so it needs its option.
    #[test]
    fn fast_rules_change_bits() {
        let exact: Vec<_> = builtin(true)
            .into_iter()
            .map(|mut rule| {
                rule.options.fast = None;
                rule
            })
            .collect();
        for (rule, verdict) in exact.iter().zip(prove((), &exact)) {
            assert_eq!(
                verdict.map_err(|finding| finding.code),
                Err("rule-unsound".to_owned()),
                "{}",
                rule.name
            );
        }
    }

    /// Code, column and message of the only finding of a rule.
    fn refused(rule: &str) -> (String, usize, String) {
        let text = format!("rules vector\n{rule}");
        let findings = load::<Vector>((), &text, &|_| false).map(drop).expect_err(rule);
        let [finding] = findings.as_slice() else { panic!("{rule}: {findings:?}") };
        (finding.code.clone(), finding.span.range().start - "rules vector".len(), finding.message.clone())
    }

    #[test]
    fn bad_rules_are_refused() {
        for (text, code, column, message) in [
            ("rule a f32 x: x => x", "rule-option", 12, "`x` is not an option here"),
            ("rule a f32: x + 1 => x + y", "rule-unbound", 26, "`y` is not bound"),
            ("rule a f32: x + y <=> x + 1", "rule-unbound", 23, "`y` is not bound from right to left"),
            ("rule a i32: exp(x) => x", "rule-syntax", 13, "`exp` works on `f32`"),
            ("rule a f32: x + foo(x) => x", "rule-syntax", 17, "unknown function `foo`"),
            ("rule a f32: x + 1 => x if number(y)", "rule-unbound", 34, "`y` is not bound"),
            ("rule a f32: x + 1 => x if number(2)", "rule-syntax", 34, "`2` is not an operand"),
            (
                "rule a f32: x + 1 => x if exact(x / 2)",
                "rule-condition",
                27,
                "`exact` is not a condition of vector",
            ),
            (
                "rule a f32: x + 1 => x if x < 2",
                "rule-condition",
                27,
                "a comparison is not a condition of vector",
            ),
            ("rule a f64: x + 1 => x", "rule-option", 8, "`f64` is not a format of a rule"),
            ("rule a: x + 1 => x", "rule-option", 6, "rule `a` has no format"),
            ("rule a i32 fast 1: x + 1 => x", "rule-option", 12, "`fast` is an option of `f32`"),
            ("rule a f32 fast: x + 1 => x", "rule-option", 12, "`fast` is not an option here"),
            ("rule a f32 fast 0: x + 1 => x", "rule-option", 17, "`0` is not a bound"),
            ("rule a f32 fast 1000: x + 1 => x", "rule-option", 17, "`1000` is not a bound"),
            ("rule a f32: x => x + 0", "rule-left", 13, "`x` matches every expression"),
            ("rule a f32: x + => x", "rule-syntax", 16, "expected an expression"),
            ("rule a f32: x + 1", "rule-syntax", 18, "expected"),
        ] {
            let (found, at, why) = refused(text);
            assert_eq!((found.as_str(), at), (code, column), "{text}: {why}");
            assert!(why.contains(message), "{text}: {why}");
        }
        let sum = |count: usize| (0..count).map(|at| format!("x{at}")).collect::<Vec<_>>().join(" + ");
        let rule = |count: usize| format!("rules vector\nrule a f32: {} => {}", sum(count), sum(count));
        assert!(parse(&rule(MAX_VARIABLES)).is_ok());
        assert_eq!(parse(&rule(MAX_VARIABLES + 1)).expect_err("too many")[0].code, "rule-variables");
    }

    #[test]
    fn unsound_rules_show_a_counterexample() {
        let (code, column, message) = refused("rule a f32: x + y => x - y");
        assert_eq!((code.as_str(), column), ("rule-unsound", 1));
        assert!(message.starts_with("rule `a` is not sound: its left side is 0x"), "{message}");
        let text = "rules vector\nrule a f32: x + y => x - y";
        let notes = &load::<Vector>((), text, &|_| false).map(drop).expect_err(text)[0].notes;
        assert!(notes[0].message.starts_with("`x + y` is the left side, with operands x = 0x"), "{notes:?}");
        assert_eq!(notes[1].message, "`x - y` is the right side");
        // A condition makes it sound; a bound of a larger difference does too.
        let power = "rule a f32: x / c => x * (1 / c)";
        assert_eq!(refused(power).0, "rule-unsound");
        assert!(load::<Vector>((), &format!("rules vector\n{power} if power_of_two(c)"), &|_| false).is_ok());
        let contract =
            |bound: u32| format!("rules vector\nrule a f32 fast {bound}: x * y + x * z => x * (y + z)");
        let codes = load::<Vector>((), &contract(1), &|_| false).map(drop).expect_err("past its bound");
        assert_eq!(codes[0].code, "rule-unsound");
        assert!(load::<Vector>((), &contract(3), &|_| false).is_ok());
        assert_eq!(refused("rule a f32: x + 1 => 1 + x if number(x) and not number(x)").0, "rule-unchecked");
    }

    #[test]
    fn both_kinds_of_files_are_told_apart() {
        assert!(parse("rules vector\nrule a f32: x + y => y + x").is_ok());
        let error = parse("rules mapping\nrule a: E / 1 => E").expect_err("mapping rules");
        assert_eq!(error[0].code, "rule-kind");
    }
}
