//! Random functions of the tensor level, compared with copies that compute the same, and with copies that do not.

#![expect(clippy::print_stdout, reason = "the table of verdicts, with --nocapture")]

mod function;

use function::Function;
use std::collections::BTreeMap;
use visa_ir::context::Context;
use visa_ir::module::Module;
use visa_ir::parse::parse;
use visa_ir::span::Source;
use visa_ir::verify::verify;
use visa_raise::prove::{Kernel, Verdict, prove};
use visa_reference::{KernelArguments, Options, evaluate};
use visa_support::{Random, setting};

/// Functions, each with a pair of every kind; `VISA_PAIRS` sets another number.
const PAIRS: u64 = 150;

fn context() -> Context {
    Context::new(&[&visa_mapping::DIALECT])
}

fn module(ctx: &Context, text: &str) -> Module {
    let source = Source::new("pair", text);
    let parsed = parse(ctx, &source, 0..text.len());
    assert!(parsed.diagnostics.is_empty(), "{text}{:?}", parsed.diagnostics);
    let findings = verify(ctx, &parsed.module);
    assert!(findings.is_empty(), "{text}{findings:?}");
    parsed.module
}

fn verdict(left: &str, right: &str) -> Verdict {
    let ctx = context();
    let (left, right) = (module(&ctx, left), module(&ctx, right));
    let kernel = |module| Kernel { module, entry: None };
    prove(&ctx, kernel(&left), kernel(&right)).expect("both are kernels")
}

/// The results of a function for random numbers of at most this magnitude, as bits.
fn results(text: &str, seed: u64, magnitude: f64) -> Vec<u8> {
    let ctx = context();
    let module = module(&ctx, text);
    let mut random = Random(seed);
    let mut array = || -> Vec<u8> {
        let number = |word: u32| (f64::from(word) / f64::from(u32::MAX) * 2.0 - 1.0) * magnitude;
        (0..64).flat_map(|_| (number(random.word()) as f32).to_le_bytes()).collect()
    };
    let tensors = [("v0".to_owned(), array()), ("v1".to_owned(), array())].into();
    let arguments = KernelArguments { tensors, ..KernelArguments::default() };
    let results = evaluate(&ctx, &module, None, &arguments, Options::default());
    results.unwrap_or_else(|error| panic!("{text}{error:?}")).swap_remove(0).bytes
}

/// Returns true if two functions have different bits for some random numbers.
fn differ(left: &str, right: &str) -> bool {
    let data = [(1, 0.5), (2, 4.0), (3, 30.0), (4, 200.0), (5, 4000.0)];
    data.into_iter()
        .any(|(seed, magnitude)| results(left, seed, magnitude) != results(right, seed, magnitude))
}

/// The verdicts on pairs of one kind.
#[derive(Clone, Copy, Default)]
struct Verdicts {
    equal: u64,
    up_to_order: u64,
    different: u64,
    unknown: u64,
}

impl Verdicts {
    fn count(&mut self, verdict: &Verdict) {
        *match verdict {
            Verdict::Equal { .. } => &mut self.equal,
            Verdict::UpToOrder { .. } => &mut self.up_to_order,
            Verdict::Different(_) => &mut self.different,
            Verdict::Unknown(_) => &mut self.unknown,
        } += 1;
    }

    fn total(self) -> u64 {
        self.equal + self.up_to_order + self.different + self.unknown
    }
}

/// No verdict contradicts the results for random numbers, and few are unknown.
#[test]
fn verdicts_are_as_the_pairs_were_made() {
    let mut tables: BTreeMap<String, Verdicts> = BTreeMap::new();
    for case in 0..setting("VISA_PAIRS", PAIRS) {
        let mut random = Random::of_case(43, case);
        let function = Function::random(&mut random);
        let text = function.text();
        let mut judge = |pair: String, other: &Function| {
            let other = other.text();
            let verdict = verdict(&text, &other);
            tables.entry(pair).or_default().count(&verdict);
            let is_wrong = match verdict {
                Verdict::Equal { .. } => differ(&text, &other),
                // The results differ by rounding at most, which the kind of the pair states.
                Verdict::UpToOrder { .. } | Verdict::Unknown(_) => false,
                Verdict::Different(_) => !differ(&text, &other),
            };
            assert!(!is_wrong, "{verdict}\n{text}{other}");
            verdict
        };
        let same = judge("equal".to_owned(), &function.rewritten());
        assert!(matches!(same, Verdict::Equal { .. } | Verdict::Unknown(_)), "{same}\n{text}");
        let reordered = function.rewritten().reordered(random.below(2));
        let reordered = judge("reordered".to_owned(), &reordered);
        assert!(!matches!(reordered, Verdict::Equal { .. } | Verdict::Different(_)), "{reordered}\n{text}");
        let (changed, kind) = function.changed(&mut random);
        let changed = judge(format!("changed: {kind:?}"), &changed);
        assert!(!matches!(changed, Verdict::UpToOrder { .. }), "{changed}\n{text}");
    }
    for (pair, verdicts) in &tables {
        let Verdicts { equal, up_to_order, different, unknown } = verdicts;
        println!(
            "{pair}: {equal} equal, {up_to_order} up to order, {different} different, {unknown} unknown"
        );
    }
    let total: u64 = tables.values().map(|verdicts| verdicts.total()).sum();
    let unknown: u64 = tables.values().map(|verdicts| verdicts.unknown).sum();
    println!("{total} pairs, {unknown} unknown");
    assert!(unknown * 50 <= total, "{unknown} of {total} pairs are unknown");
}

/// `a` and `b` as bodies of a function on a square `x` and its part `p`.
fn square(parameter: &str, body: &str) -> String {
    format!(
        "visa 1\ntm.axes [M = 4, K = 4]\n\
         tm.func @f(%x: !tm.tensor<f32, {parameter}>, %p: !tm.tensor<f32, [K]>) {{\n{body}}}\n"
    )
}

/// An array whose axes change places has the same shape, and is another array.
#[test]
fn the_order_of_the_axes_of_an_array_counts() {
    let body = "  %s = tm.reduce Add %x over [K]\n  tm.return %s\n";
    let verdict = verdict(&square("[M, K]", body), &square("[K, M]", body));
    assert!(matches!(verdict, Verdict::Different(_)), "{verdict}");
}

/// A result whose axes change places, too.
#[test]
fn the_order_of_the_axes_of_a_result_counts() {
    let [one, other] = ["%x, %p", "%p, %x"].map(|operands| {
        square("[M, K]", &format!("  %s = tm.map [x, y: x + y] {operands}\n  tm.return %s\n"))
    });
    let verdict = verdict(&one, &other);
    assert!(matches!(verdict, Verdict::Different(_)), "{verdict}");
}

/// Elements outside of the part that is written are not read back from it.
#[test]
fn a_part_that_is_read_back_is_no_more_than_the_part() {
    let back = "  %i = tm.insert %p, %x along [K / 2], index 0, part [K % 2]\n  \
                %s = tm.extract %i along [K / 2], index 0, part [K % 2]\n  tm.return %s\n";
    let verdict = verdict(
        &square("[M, K]", back),
        &square("[M, K]", "  %s = tm.broadcast %p along [M]\n  tm.return %s\n"),
    );
    assert!(matches!(verdict, Verdict::Different(_) | Verdict::Unknown(_)), "{verdict}");
}

/// A clause with its default is the same as none.
#[test]
fn defaults_that_are_written_do_not_count() {
    let body = |unit: &str, index: &str| {
        let text = format!(
            "  %i = tm.index [M]\n  %r = tm.rename %x axes [M], to [J]\n  %g = tm.gather %r, %i along [J]{unit}\n  \
             %s = tm.insert %p, %g along [M]{index}, part [1, K]\n  tm.return %s\n"
        );
        square("[M, K]", &text).replace("M = 4", "J = 4, M = 4")
    };
    let verdict = verdict(&body(", unit 1", ", index 0"), &body("", ""));
    assert!(matches!(verdict, Verdict::Equal { .. }), "{verdict}");
}
