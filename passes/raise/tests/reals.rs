//! Random loops that carry a maximum and sums: those that are folded compute the same numbers, up to rounding.

#![expect(clippy::print_stdout, reason = "the number of loops, with --nocapture")]

use visa_ir::context::Context;
use visa_ir::module::Module;
use visa_ir::parse::parse;
use visa_ir::span::Source;
use visa_ir::verify::verify;
use visa_mapping::ops::func::Func;
use visa_mapping::raise::function::Raised;
use visa_numerics::{load, to_f64};
use visa_raise::tensor::reals::folded;
use visa_raise::tensor::ruleset::RuleSet;
use visa_reference::{KernelArguments, Options, evaluate};
use visa_support::{Random, setting};

/// Loops; `VISA_LOOPS` sets another number.
const LOOPS: u64 = 400;

/// Part of the greatest number by which results may differ. Weights are rounded to bf16 twice, by 2^-9 each, and they
/// and the values have at most 4 times the magnitude of a result; the others are roundings of f32.
const ALLOWED: f64 = 1.0 / 64.0;

/// The operations of a loop: in each row the first is that of the online softmax.
const OPERATIONS: [&[&str]; 10] = [
    // The scores.
    &["%s = tm.map [x: x * 1] %b", "%s = tm.map [x: x * 0.5] %b", "%s = tm.map [x, v: x + v] %b, %vb"],
    // The maximum of a block.
    &["%r = tm.reduce Max %s over [S % 4]", "%r = tm.reduce Max %b over [S % 4]"],
    // The running maximum.
    &[
        "%n = tm.map [m, r: max(m, r)] %mj, %r",
        "%n = tm.map [m, r: max(r, m)] %mj, %r",
        "%n = tm.map [m, r: min(m, r)] %mj, %r",
        "%n = tm.map [m, r: max(m, r + 1)] %mj, %r",
        "%n = tm.map [m, r: max(m, r) + 0.5] %mj, %r",
    ],
    // The factor.
    &[
        "%f = tm.map [m, n: exp(m - n)] %mj, %n",
        "%f = tm.map [m, n: negexp(n - m)] %mj, %n",
        "%f = tm.map [m, n: exp(m) / exp(n)] %mj, %n",
        "%f = tm.map [m, n: exp((m - n) * 0.5)] %mj, %n",
        "%f = tm.map [m, n: exp(n - m)] %mj, %n",
        "%f = tm.map [m, n: m - m + 1] %mj, %n",
    ],
    // The weights.
    &[
        "%p = tm.map [s, n: exp(s - n)] %s, %n",
        "%p = tm.map [s, n: exp(s) / exp(n)] %s, %n",
        "%p = tm.map [s, n: exp((s - n) * 0.5)] %s, %n",
        "%p = tm.map [s, m: exp(s - m)] %s, %mj",
        "%p = tm.map [s, n: exp(s) - n] %s, %n",
    ],
    // The weights of the sum of values.
    &[
        "%w = tm.map [p: p * 1] %p",
        "%h = tm.cast bf16 %p\n    %w = tm.cast f32 %h",
        "%w = tm.map [p: p * p] %p",
    ],
    // The sum of the weights of a block.
    &[
        "%t = tm.reduce Add %p over [S % 4]",
        "%t = tm.reduce Add %p over [S % 2, S / 2 % 2]",
        "%t = tm.reduce Add %s over [S % 4]",
    ],
    // The sum of the weights.
    &[
        "%ln = tm.map [l, f, t: l * f + t] %lj, %f, %t",
        "%ln = tm.map [l, f, t: fma(f, l, t)] %lj, %f, %t",
        "%ln = tm.map [l, f, t: l + t] %lj, %f, %t",
        "%ln = tm.map [l, f, t: (l + t) * f] %lj, %f, %t",
        "%ln = tm.map [l, f, t: l * f * f + t] %lj, %f, %t",
        "%ln = tm.map [l, f, t: l * f + t + 1] %lj, %f, %t",
    ],
    // The sum of the values of a block.
    &[
        "%pv = tm.map [w, v: w * v] %w, %vb\n    %c = tm.reduce Add %pv over [S % 4]",
        "%pv = tm.map [w, v: w + v] %w, %vb\n    %c = tm.reduce Add %pv over [S % 4]",
        "%c = tm.reduce Add %vb over [S % 4]",
    ],
    // The sum of the values.
    &[
        "%an = tm.map [a, f, c: a * f + c] %aj, %f, %c",
        "%an = tm.map [a, f, c: a * f - c] %aj, %f, %c",
        "%an = tm.map [a, f, c: a + c] %aj, %f, %c",
        "%an = tm.map [a, f, c, l, k: (a * l * f + c) / k] %aj, %f, %c, %lj, %ln",
        "%an = tm.map [a, f, c: a * f * 2 + c] %aj, %f, %c",
    ],
];

/// The results: those of the online softmax first.
const RESULTS: [&str; 4] = ["%o", "%l", "%m", "%a, %m, %l"];

fn loop_text(random: &mut Random) -> String {
    // Each second operation of a loop, on average of three, is that of the online softmax.
    let rate = 2 + random.below(8);
    let mut pick = |count: usize| if random.below(rate) == 0 { random.below(count) } else { 0 };
    let body: Vec<&str> = OPERATIONS.iter().map(|choices| choices[pick(choices.len())]).collect();
    let (low, first) = (["-1e30", "0"][pick(2)], ["0", "1"][pick(2)]);
    let (result, branch) = (RESULTS[pick(RESULTS.len())], pick(2) == 1);
    let block = "%b = tm.extract %x, %j along [S / 4], part [Q, S % 4]
    %vb = tm.extract %v, %j along [S / 4], part [S % 4]";
    let body = format!("{block}\n    {}", body.join("\n    "));
    let step = match branch {
        false => format!("{body}\n    tm.yield %an, %n, %ln"),
        true => format!(
            "%ai, %mi, %li = tm.if %j, %aj, %mj, %lj from 2 {{\n    {body}\n    tm.yield %an, %n, %ln\n    }}
    tm.yield %ai, %mi, %li"
        ),
    };
    format!(
        "visa 1
tm.axes [Q = 4, S = 16]
tm.func @f(%x: !tm.tensor<f32, [Q, S]>, %v: !tm.tensor<f32, [S]>) {{
  %low = tm.constant f32, values [{low}]
  %first = tm.constant f32, values [{first}]
  %m0 = tm.broadcast %low along [Q]
  %z0 = tm.broadcast %first along [Q]
  %a, %m, %l = tm.for [S / 4](%j, %aj, %mj, %lj) %z0, %m0, %z0 {{
    {step}
  }}
  %o = tm.map [a, l: a / l] %a, %l
  tm.return {result}
}}
"
    )
}

fn module(ctx: &Context, text: &str) -> Module {
    let parsed = parse(ctx, &Source::new("loop", text), 0..text.len());
    assert!(parsed.diagnostics.is_empty(), "{text}{:?}", parsed.diagnostics);
    let findings = verify(ctx, &parsed.module);
    assert!(findings.is_empty(), "{text}{findings:?}");
    parsed.module
}

/// The results of a module for some random numbers.
fn results(ctx: &Context, module: &Module, seed: u64) -> Vec<Vec<f64>> {
    let mut random = Random(seed);
    let mut array = |count: usize| -> Vec<u8> {
        let number = |word: u32| f64::from(word) / f64::from(u32::MAX) * 3.0 - 1.5;
        (0..count).flat_map(|_| (number(random.word()) as f32).to_le_bytes()).collect()
    };
    let tensors = [("x".to_owned(), array(64)), ("v".to_owned(), array(16))].into();
    let arguments = KernelArguments { tensors, ..KernelArguments::default() };
    let results = evaluate(ctx, module, None, &arguments, Options::default()).expect("it is evaluated");
    let numbers = |result: &visa_reference::LogicalResult| {
        let count = result.shape.iter().product::<u64>() as usize;
        (0..count).map(|at| to_f64(result.dtype, load(result.dtype, &result.bytes, at))).collect()
    };
    results.iter().map(numbers).collect()
}

/// Returns true if results are the same up to rounding. Numbers that overflow in the kernel may be finite.
fn are_near(left: &[Vec<f64>], right: &[Vec<f64>]) -> bool {
    left.iter().zip(right).all(|(left, right)| {
        let finite = left.iter().filter(|number| number.is_finite());
        let most = finite.map(|number| number.abs()).fold(0.0, f64::max);
        left.iter().zip(right).all(|(one, other)| !one.is_finite() || (one - other).abs() <= ALLOWED * most)
    })
}

/// Values that double with each operation: a maximum of itself, a sum and a number in its own exponent.
#[test]
fn values_that_double_are_bounded() {
    let ctx = Context::new(&[&visa_mapping::DIALECT]);
    let rules = RuleSet::builtin(&ctx).expect("the rules are read");
    for (operation, is_folded) in [("max(x, x)", true), ("x + x", false), ("x + exp(x)", false)] {
        let mut text = "visa 1
tm.axes [S = 16]
tm.func @f(%x: !tm.tensor<f32, [S]>) {
  %m0 = tm.constant f32, values [0]
  %m = tm.for [S / 4](%j, %mj) %m0 {
    %b = tm.extract %x, %j along [S / 4], part [S % 4]
    %r = tm.reduce Max %b over [S % 4]
    %v0 = tm.map [m, r: max(m, r)] %mj, %r
"
        .to_owned();
        for number in 0..60 {
            let next = number + 1;
            text.push_str(&format!("    %v{next} = tm.map [x: {operation}] %v{number}\n"));
        }
        text.push_str("    tm.yield %v60\n  }\n  tm.return %m\n}\n");
        let module = module(&ctx, &text);
        let func = module.ops(module.body()).iter().find(|&&id| Func::cast(module.op(&ctx, id)).is_some());
        let raised = Raised { func: *func.expect("a function"), module };
        let folded = folded(&ctx, &raised, &rules).expect("it is read");
        assert_eq!(!folded.loops.is_empty(), is_folded, "{operation}: {:?}", folded.kept);
    }
}

#[test]
fn folded_loops_compute_the_same_numbers() {
    let ctx = Context::new(&[&visa_mapping::DIALECT]);
    let rules = RuleSet::builtin(&ctx).expect("the rules are read");
    let (mut random, mut count) = (Random(43), 0);
    let loops = setting("VISA_LOOPS", LOOPS);
    for at in 0..loops {
        let text = loop_text(&mut random);
        let module = module(&ctx, &text);
        let func = module.ops(module.body()).iter().find(|&&id| Func::cast(module.op(&ctx, id)).is_some());
        let func = *func.expect("a function");
        let before = [1, 2].map(|seed| results(&ctx, &module, seed));
        let raised = Raised { module, func };
        let folded = folded(&ctx, &raised, &rules).expect("it is read");
        let findings = verify(&ctx, &folded.function.module);
        assert!(findings.is_empty(), "{text}{findings:?}");
        let after = [1, 2].map(|seed| results(&ctx, &folded.function.module, seed));
        count += u64::from(!folded.loops.is_empty());
        let near = before.iter().zip(&after).all(|(before, after)| are_near(before, after));
        assert!(near, "loop {at} is folded to other numbers: {before:?} and {after:?}\n{text}");
        assert!(
            !folded.loops.is_empty() || format!("{before:?}") == format!("{after:?}"),
            "loop {at} is kept with other bits\n{text}"
        );
    }
    println!("{count} of {loops} loops are folded");
    // Neither all nor none: a third has a change after which it is no softmax, and many changes do not matter.
    assert!(count * 10 > loops && count * 10 < loops * 9, "{count} of {loops} loops are folded");
}
