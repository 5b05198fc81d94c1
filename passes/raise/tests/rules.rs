//! Rules about the tensor level, and their proof.

use visa_ir::context::Context;
use visa_raise::tensor::ruleset::{RuleSet, UserRules};

fn context() -> Context {
    Context::new(&[&visa_mapping::DIALECT])
}

/// Each built-in rule holds on examples of small sizes, and there are enough of them.
#[test]
fn built_in_rules_are_sound() {
    let ctx = context();
    let rules = RuleSet::builtin(&ctx).expect("the rules are read");
    let mut wrong = Vec::new();
    for report in rules.reports(&ctx) {
        match report {
            Ok(report) if report.instances >= 10 => {}
            Ok(report) => wrong.push(format!("{}: {} examples", report.name, report.instances)),
            Err(finding) => wrong.push(format!("{}\n  {:?}", finding.message, finding.notes)),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Rules that hold for most elements, of which the proof finds the others.
#[test]
fn unsound_rules_are_refused() {
    let ctx = context();
    for (rule, why) in [
        // Subnormal numbers are flushed, and NaN loses its bits.
        ("cast(cast(x, dtype F), dtype G) => x", "is not sound"),
        ("mul(x, y) => x if one(y) or total(y)", "is not sound"),
        ("min(x, x) => x", "is not sound"),
        // Sums of floats depend on their order.
        ("reduce(x, op Add, over A) => reduce(x, op Add, over sorted(A))", "is not sound"),
        // An undefined condition is undefined.
        ("where(c, x, x) => x", "is not sound"),
        ("where_defined(x, y) => x", "is not sound"),
        // A part may begin behind coordinate 0.
        ("extract(x, along A) => x", "is not sound"),
        ("split(merge(x, axes A, to B), axis B, to C) => rename(x, axes A, to C)", "is not sound"),
        // No engine converts between all formats.
        ("cast(cast(x, dtype F), dtype G) => cast(x, dtype G)", "is not sound"),
        // Nothing is both.
        ("cast(x, dtype F) => x if integer(x) and not integer(x)", "no small example fits"),
    ] {
        let text = format!("rules tensor\nrule wrong: {rule}");
        let findings = UserRules::new(&ctx, &text).map(drop).expect_err(rule);
        assert!(findings[0].message.contains(why), "{rule}: {}", findings[0].message);
    }
}

/// Rules of real arithmetic may differ by rounding, and by no more.
#[test]
fn rules_of_real_arithmetic_are_checked() {
    let ctx = context();
    for rule in [
        "mul(mul(x, y), z) => mul(x, mul(y, z))",
        "exp(add(x, y)) => mul(exp(y), exp(x))",
        "fma(x, y, z) => add(z, mul(y, x))",
        "reduce(x, op Add, over A) => reduce(x, op Add, over sorted(A))",
    ] {
        let text = format!("rules tensor\nrule right reals: {rule}");
        UserRules::new(&ctx, &text).map(drop).expect(rule);
        let text = format!("rules tensor\nrule wrong: {rule}");
        let findings = UserRules::new(&ctx, &text).map(drop).expect_err(rule);
        assert!(findings[0].message.contains("is not sound"), "{rule}: {}", findings[0].message);
    }
    for (rule, why) in [
        ("exp(add(x, y)) => add(exp(x), exp(y))", "is not sound"),
        ("exp(sub(x, y)) => mul(exp(x), exp(y))", "is not sound"),
        ("fma(x, y, z) => mul(x, add(y, z))", "is not sound"),
        ("sub(x, y) => sub(y, x)", "is not sound"),
        // The factor has the axis of the sum.
        ("reduce(mul(x, y), op Add, over A) => reduce(x, op Add, over A)", "is not sound"),
        ("reduce(x, op Max, over A) => reduce(x, op Add, over A)", "is not sound"),
        // The element that is not chosen may be undefined.
        ("where(c, mul(x, y), sub(z, z)) => mul(x, where(c, y, sub(z, z)))", "is not sound"),
        // A function without a bound of its error.
        ("tanh(add(x, y)) => tanh(add(y, x))", "is not sound"),
    ] {
        let text = format!("rules tensor\nrule wrong reals: {rule}");
        let findings = UserRules::new(&ctx, &text).map(drop).expect_err(rule);
        assert!(findings[0].message.contains(why), "{rule}: {}", findings[0].message);
    }
    let findings = UserRules::new(&ctx, "rules tensor\nrule x real: cast(x, dtype F) => x").map(drop);
    let message = &findings.expect_err("an option")[0].message;
    assert!(message.contains("`real` is no option of a tensor rule"), "{message}");
}
