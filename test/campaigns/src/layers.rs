//! Random functions as layers of models are written: contractions of tensors with several axes, maps, softmax, norms,
//! reductions and residual sums, one after the other, in any order of axes and of odd sizes. All have a plan, and none
//! differs. Prints the cases that take the most times their bound.

use crate::checks;
use crate::settings::Settings;
use crate::shared;
use std::fmt::Write as _;
use visa_support::Random;

/// Sizes of axes.
const SIZES: [u64; 20] = [1, 2, 3, 5, 7, 8, 12, 16, 17, 31, 32, 33, 48, 64, 65, 100, 128, 190, 250, 300];

/// Most elements of a tensor.
const MOST_ELEMENTS: u64 = 1 << 16;

/// Most multiplications of a contraction.
const MOST_PRODUCTS: u64 = 1 << 25;

/// Cases that are printed.
const PRINTED: usize = 5;

/// Expressions of a value and an operand along some of its axes.
const MAPS: [&str; 5] = [
    "[x, b: x * b + 1]",
    "[x, b: gelu(x) + b]",
    "[x, b: relu(x + b)]",
    "[x, b: max(x, b)]",
    "[x, b: sigmoid(x) * b]",
];

/// What computes a value.
#[derive(Clone, Copy)]
enum Kind {
    Contraction,
    Map,
    Softmax,
    Norm,
    Reduction,
    Residual,
}

/// The kinds by their shares.
const KINDS: [Kind; 8] = [
    Kind::Contraction,
    Kind::Contraction,
    Kind::Map,
    Kind::Map,
    Kind::Softmax,
    Kind::Norm,
    Kind::Reduction,
    Kind::Residual,
];

/// A value: its name, its format and the numbers of its axes.
#[derive(Clone)]
struct Value {
    name: String,
    dtype: &'static str,
    axes: Vec<usize>,
}

/// A function while it is written.
struct Layer<'a> {
    random: &'a mut Random,
    /// The sizes of the axes.
    sizes: Vec<u64>,
    arguments: Vec<String>,
    body: String,
    values: Vec<Value>,
}

/// The name of an axis.
fn axis(number: usize) -> char {
    ('A'..='Z').nth(number).expect("an axis")
}

/// A list of axes.
fn list(axes: &[usize]) -> String {
    let names: Vec<String> = axes.iter().map(|number| axis(*number).to_string()).collect();
    format!("[{}]", names.join(", "))
}

impl Layer<'_> {
    fn elements(&self, axes: &[usize]) -> u64 {
        axes.iter().map(|number| self.sizes[*number]).product()
    }

    /// Some of the axes, in any order.
    fn some(&mut self, axes: &[usize], count: usize) -> Vec<usize> {
        let mut axes = axes.to_vec();
        self.random.shuffle(&mut axes);
        axes.truncate(count);
        axes
    }

    fn argument(&mut self, dtype: &'static str, axes: Vec<usize>) -> Value {
        let name = format!("a{}", self.arguments.len());
        self.arguments.push(format!("%{name}: !tm.tensor<{dtype}, {}>", list(&axes)));
        let value = Value { name, dtype, axes };
        self.values.push(value.clone());
        value
    }

    fn result(&mut self, dtype: &'static str, axes: Vec<usize>, operation: &str) -> Value {
        let name = format!("v{}", self.values.len());
        writeln!(self.body, "  %{name} = {operation}").expect("a string");
        let value = Value { name, dtype, axes };
        self.values.push(value.clone());
        value
    }

    /// The value in a format.
    fn cast(&mut self, value: &Value, dtype: &'static str) -> Value {
        if value.dtype == dtype {
            return value.clone();
        }
        self.result(dtype, value.axes.clone(), &format!("tm.cast {dtype} %{}", value.name))
    }

    fn reduce(&mut self, value: &Value, kind: &str, over: &[usize]) -> Value {
        let kept = value.axes.iter().filter(|axis| !over.contains(axis)).copied().collect();
        let free = if kind == "Add" { ", free" } else { "" };
        self.result("f32", kept, &format!("tm.reduce {kind} %{} over {}{free}", value.name, list(over)))
    }

    /// A product with an argument: over some axes, with others of both, and with axes of the argument alone. `None` if
    /// it has no axes, or takes too long to run.
    fn contraction(&mut self, value: &Value) -> Option<Value> {
        let all: Vec<usize> = (0..self.sizes.len()).collect();
        let count = 1 + self.random.below(value.axes.len().min(2));
        let over = self.some(&value.axes, count);
        let (summed, rest): (Vec<usize>, Vec<usize>) =
            value.axes.iter().partition(|axis| over.contains(axis));
        let batch: Vec<usize> = rest.iter().filter(|_| self.random.below(3) == 0).copied().collect();
        let others: Vec<usize> = all.into_iter().filter(|axis| !value.axes.contains(axis)).collect();
        let count = self.random.below(3);
        let free = self.some(&others, count);
        let mut own: Vec<usize> = [&over[..], &batch, &free].concat();
        self.random.shuffle(&mut own);
        let placed: Vec<usize> = own.iter().filter(|axis| free.contains(axis)).copied().collect();
        let mut axes = [&rest[..], &placed].concat();
        let large = self.elements(&axes) > MOST_ELEMENTS || self.elements(&own) > MOST_ELEMENTS;
        if axes.is_empty() || large || self.elements(&axes) * self.elements(&summed) > MOST_PRODUCTS {
            return None;
        }
        let value = self.cast(value, "bf16");
        let weights = self.argument("bf16", own.clone());
        let mut pair = [&value, &weights];
        if self.random.below(3) == 0 {
            pair.reverse();
            let first = own.iter().filter(|axis| !over.contains(axis));
            let then = value.axes.iter().filter(|axis| !over.contains(axis) && !own.contains(axis));
            axes = first.chain(then).copied().collect();
        }
        let [left, right] = pair.map(|operand| operand.name.clone());
        Some(self.result("f32", axes, &format!("tm.contract %{left}, %{right} over {}, free", list(&over))))
    }

    fn map(&mut self, value: &Value) -> Value {
        let value = self.cast(value, "f32");
        let count = 1 + self.random.below(value.axes.len());
        let axes = self.some(&value.axes, count);
        let operand = self.argument("f32", axes);
        let expression = self.random.of(&MAPS);
        self.result(
            "f32",
            value.axes.clone(),
            &format!("tm.map {expression} %{}, %{}", value.name, operand.name),
        )
    }

    fn softmax(&mut self, value: &Value) -> Value {
        let value = self.cast(value, "f32");
        let (over, axes) = (self.some(&value.axes, 1), value.axes.clone());
        let greatest = self.reduce(&value, "Max", &over);
        let names = format!("%{}, %{}", value.name, greatest.name);
        let powers = self.result("f32", axes.clone(), &format!("tm.map [x, m: exp(x - m)] {names}"));
        let sum = self.reduce(&powers, "Add", &over);
        self.result("f32", axes, &format!("tm.map [p, s: p / s] %{}, %{}", powers.name, sum.name))
    }

    fn norm(&mut self, value: &Value) -> Value {
        let value = self.cast(value, "f32");
        let (over, axes) = (self.some(&value.axes, 1), value.axes.clone());
        let squares = self.result("f32", axes.clone(), &format!("tm.map [x: x * x] %{}", value.name));
        let sum = self.reduce(&squares, "Add", &over);
        let scale = self.argument("f32", over);
        let names = format!("%{}, %{}, %{}", value.name, sum.name, scale.name);
        self.result("f32", axes, &format!("tm.map [x, s, b: x / sqrt(s + 1) * b] {names}"))
    }

    /// The sum with a value before that has the same axes; `None` if there is none.
    fn residual(&mut self, value: &Value) -> Option<Value> {
        let sorted = |axes: &[usize]| {
            let mut axes = axes.to_vec();
            axes.sort_unstable();
            axes
        };
        let alike = |other: &&Value| other.name != value.name && sorted(&other.axes) == sorted(&value.axes);
        let all: Vec<Value> = self.values.iter().filter(alike).cloned().collect();
        let other = self.random.pick(&all)?.clone();
        let (value, other) = (self.cast(value, "f32"), self.cast(&other, "f32"));
        let operation = format!("tm.map [x, y: x + y] %{}, %{}", value.name, other.name);
        Some(self.result("f32", value.axes.clone(), &operation))
    }

    /// The next value; `None` if there is none of the kind that is drawn.
    fn next(&mut self, value: &Value) -> Option<Value> {
        let several = value.axes.len() > 1;
        match (self.random.of(&KINDS), several) {
            (Kind::Contraction, _) => self.contraction(value),
            (Kind::Map, _) => Some(self.map(value)),
            (Kind::Residual, _) => self.residual(value),
            (Kind::Softmax, true) => Some(self.softmax(value)),
            (Kind::Norm, true) => Some(self.norm(value)),
            (Kind::Reduction, true) => {
                let value = self.cast(value, "f32");
                let count = 1 + self.random.below(value.axes.len() - 1);
                let over = self.some(&value.axes, count);
                let kind = self.random.of(&["Add", "Max"]);
                Some(self.reduce(&value, kind, &over))
            }
            (Kind::Softmax | Kind::Norm | Kind::Reduction, false) => None,
        }
    }
}

/// A random function.
fn function(random: &mut Random) -> String {
    loop {
        let count = 3 + random.below(4);
        let sizes = (0..count).map(|_| random.of(&SIZES)).collect();
        let mut layer = Layer {
            random: &mut *random,
            sizes,
            arguments: Vec::new(),
            body: String::new(),
            values: Vec::new(),
        };
        let all: Vec<usize> = (0..count).collect();
        let count = 2 + layer.random.below(3);
        let axes = layer.some(&all, count);
        if layer.elements(&axes) > MOST_ELEMENTS {
            continue;
        }
        let mut value = layer.argument("bf16", axes);
        for _ in 0..=layer.random.below(4) {
            value = layer.next(&value).unwrap_or(value);
        }
        if layer.body.is_empty() {
            continue;
        }
        if layer.random.below(2) == 0 {
            value = layer.cast(&value, "bf16");
        }
        let sizes: Vec<String> = layer
            .sizes
            .iter()
            .enumerate()
            .map(|(number, size)| format!("{} = {size}", axis(number)))
            .collect();
        return format!(
            "visa 1\ntm.axes [{}]\ntm.func @f({}) {{\n{}  tm.return %{}\n}}\n",
            sizes.join(", "),
            layer.arguments.join(", "),
            layer.body,
            value.name
        );
    }
}

/// Plans and runs a case. Returns how many times its bound it takes, in hundredths.
fn run_case(seed: u64, number: u64) -> u64 {
    let random = &mut Random::of_case(seed, number);
    let text = function(random);
    let model = random.of(&["--memory-model=flat", "--memory-model=book"]);
    let about = format!("layers, seed {seed}, case {number}, {model}");
    let words = ["--plan", "--report=text", model].map(str::to_owned);
    let (code, results, error) = checks::run(&about, &text, &words);
    let same = |line: &str| line.starts_with("check:") && line.ends_with(", 0 differ");
    assert!(code == 0 && results.lines().any(same), "{about}: {results}{error}\n{text}");
    let within = |line: &str| {
        line.starts_with("plan:") && !line.contains(", 0 outside") && !line.ends_with(", 0 differ")
    };
    assert!(!results.lines().any(within), "{about}: {results}{error}\n{text}");
    let times = results.rsplit_once("takes ").and_then(|(_, rest)| rest.split_once(" times"));
    let times: f64 = times.and_then(|(number, _)| number.parse().ok()).expect("a bound");
    (times * 100.0) as u64
}

/// Plans and runs random functions.
///
/// # Panics
/// If a function has no plan, or other results than the evaluator.
pub fn run(settings: &Settings<'_>) {
    let Settings { count, seed, .. } = *settings;
    let shares = shared::each_core(|numbers| {
        let numbers = numbers.take_while(|number| *number < count);
        numbers.map(|number| (run_case(seed, number), number)).collect::<Vec<_>>()
    });
    let mut all: Vec<(u64, u64)> = shares.into_iter().flatten().collect();
    all.sort_unstable_by(|one, other| other.cmp(one));
    let times = |(times, _): &(u64, u64)| *times as f64 / 100.0;
    let mean = (all.iter().map(|case| times(case).ln()).sum::<f64>() / all.len() as f64).exp();
    println!(
        "layers, seed {seed}: {} planned and checked, {mean:.2} times their bounds in the geometric mean",
        all.len()
    );
    for case in all.iter().take(PRINTED) {
        println!("  case {} takes {:.2} times its bound", case.1, times(case));
        let text = function(&mut Random::of_case(seed, case.1));
        text.lines().for_each(|line| println!("    {line}"));
    }
}
