//! Random functions of the tensor level, compared with copies that compute the same, and with copies that do not.

use visa_ir::context::Context;
use visa_ir::module::Module;
use visa_ir::parse::parse;
use visa_ir::span::Source;
use visa_ir::verify::verify;
use visa_raise::prove::{Kernel, Verdict, prove};
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

/// A function as steps, of which each is a line that may use the values before it.
#[derive(Clone)]
struct Function {
    steps: Vec<Step>,
}

#[derive(Clone)]
enum Step {
    /// `left OP right * factor`, with its operands in either order.
    Sum { left: usize, right: usize, factor: u64, turned: bool },
    /// The sum over K of a product, in one of several orders.
    Contract { left: usize, right: usize, order: usize },
}

const ORDERS: [&str; 3] = ["[K]", "[K % 4, K / 4]", "[K], tree 4"];

impl Function {
    fn random(random: &mut Random) -> Self {
        let count = 2 + random.below(3);
        let mut steps: Vec<Step> = (0..count)
            .map(|at| Step::Sum {
                left: random.below(at + 2),
                right: random.below(at + 2),
                factor: 2 + random.under(5),
                turned: false,
            })
            .collect();
        // The last two values are summed, so that every run has an order.
        steps.push(Step::Contract { left: count, right: count + 1, order: 0 });
        Self { steps }
    }

    fn text(&self) -> String {
        let mut text = "visa 1\ntm.axes [M = 3, K = 16]\ntm.func @f(%v0: !tm.tensor<f32, [M, K]>, %v1: !tm.tensor<f32, [M, K]>) {\n".to_owned();
        for (at, step) in self.steps.iter().enumerate() {
            let line = match step {
                Step::Sum { left, right, factor, turned: false } => {
                    format!("tm.map [x, y: x + y * {factor}] %v{left}, %v{right}")
                }
                Step::Sum { left, right, factor, turned: true } => {
                    format!("tm.map [b, a: {factor} * b + a] %v{right}, %v{left}")
                }
                Step::Contract { left, right, order } => {
                    format!("tm.contract %v{left}, %v{right} over {}", ORDERS[*order])
                }
            };
            text.push_str(&format!("  %v{} = {line}\n", at + 2));
        }
        text + &format!("  tm.return %v{}\n}}\n", self.steps.len() + 1)
    }

    /// The same function, written differently.
    fn rewritten(&self) -> Self {
        let turn = |step: &Step| match step.clone() {
            Step::Sum { left, right, factor, .. } => Step::Sum { left, right, factor, turned: true },
            Step::Contract { left, right, order } => Step::Contract { left: right, right: left, order },
        };
        Self { steps: self.steps.iter().map(turn).collect() }
    }

    /// The same with another order of its sum.
    fn reordered(&self, order: usize) -> Self {
        let set = |step: &Step| match step.clone() {
            Step::Contract { left, right, .. } => Step::Contract { left, right, order },
            sum @ Step::Sum { .. } => sum,
        };
        Self { steps: self.steps.iter().map(set).collect() }
    }

    /// The same with another factor in the step that every result depends on.
    fn changed(&self) -> Self {
        let mut steps = self.steps.clone();
        let last = steps.len() - 2;
        if let Step::Sum { factor, .. } = &mut steps[last] {
            *factor += 1;
        }
        Self { steps }
    }
}

#[test]
fn verdicts_are_as_the_pairs_were_made() {
    for case in 0..setting("VISA_PAIRS", PAIRS) {
        let mut random = Random::of_case(43, case);
        let function = Function::random(&mut random);
        let text = function.text();
        let same = verdict(&text, &function.rewritten().text());
        assert!(matches!(same, Verdict::Equal { .. }), "{same}\n{text}");
        let order = 1 + random.below(2);
        let reordered = verdict(&text, &function.rewritten().reordered(order).text());
        assert!(matches!(reordered, Verdict::UpToOrder { .. }), "{reordered}\n{text}");
        let changed = verdict(&text, &function.changed().text());
        assert!(matches!(changed, Verdict::Different(_)), "{changed}\n{text}");
    }
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
