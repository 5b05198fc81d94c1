//! A sweep as an integrator makes it: products of two formats and maps with both broadcasts, of sizes up to 4,096,
//! each planned and run. All have a plan, and none differs.

use crate::checks;
use crate::settings::Settings;
use crate::shared;
use visa_support::Random;

/// Sizes of axes.
const SIZES: [u64; 9] = [1, 3, 7, 33, 64, 100, 500, 1000, 4096];

/// Most multiplications of a product: the interpreter does this many in seconds.
const MOST_PRODUCTS: u64 = 1 << 24;

/// Most elements of a map.
const MOST_ELEMENTS: u64 = 1 << 22;

/// Kinds of cases.
const KINDS: u64 = 6;

/// Draws sizes whose product is at most `most`.
fn sizes<const N: usize>(random: &mut Random, most: u64) -> [u64; N] {
    loop {
        let sizes = [0; N].map(|_| random.of(&SIZES));
        if sizes.iter().product::<u64>() <= most {
            return sizes;
        }
    }
}

/// A product of a format.
fn product(random: &mut Random, dtype: &str) -> String {
    let [m, n, k] = sizes(random, MOST_PRODUCTS);
    let right = random.of(&["[K, N]", "[N, K]"]);
    let (order, end) =
        if dtype == "i8" { ("", "tm.return %c") } else { (", free", "%y = tm.cast bf16 %c\n  tm.return %y") };
    format!(
        "visa 1\ntm.axes [M = {m}, N = {n}, K = {k}]\ntm.func @f(%a: !tm.tensor<{dtype}, [M, K]>, \
         %b: !tm.tensor<{dtype}, {right}>) {{\n  %c = tm.contract %a, %b over [K]{order}\n  {end}\n}}\n"
    )
}

/// A map with an operand of one axis.
fn map(random: &mut Random, axis: &str) -> String {
    let [m, n] = sizes(random, MOST_ELEMENTS);
    let expression = random.of(&["x + b", "x * b", "max(x - b, 0)"]);
    format!(
        "visa 1\ntm.axes [M = {m}, N = {n}]\ntm.func @f(%x: !tm.tensor<f32, [M, N]>, %b: !tm.tensor<f32, [{axis}]>) \
         {{\n  %y = tm.map [x, b: {expression}] %x, %b\n  tm.return %y\n}}\n"
    )
}

/// Plans and runs a case.
fn run_case(seed: u64, number: u64) {
    let random = &mut Random::of_case(seed, number);
    let text = match number % KINDS {
        0 | 1 => product(random, "bf16"),
        2 | 3 => product(random, "i8"),
        4 => map(random, "N"),
        _ => map(random, "M"),
    };
    let model = random.of(&["--memory-model=flat", "--memory-model=book"]);
    let about = format!("sweep, seed {seed}, case {number}, {model}");
    let (code, results, error) = checks::run(&about, &text, &["--plan".to_owned(), model.to_owned()]);
    let holds =
        |line: &str| line.ends_with(", 0 differ") || line.contains(", 0 outside the bounds of its sums");
    let compared = |word: &str| {
        let line = results.lines().find(|line| line.starts_with(word));
        line.is_some_and(holds)
    };
    assert!(code == 0 && compared("check: ") && compared("plan: "), "{about}: {results}{error}\n{text}");
}

/// Plans and runs cases.
///
/// # Panics
/// If a case has no plan, or results that differ.
pub fn run(settings: &Settings<'_>) {
    let Settings { count, seed, .. } = *settings;
    let shares = shared::each_core(|numbers| {
        let numbers = numbers.take_while(|number| *number < count);
        numbers.map(|number| run_case(seed, number)).count()
    });
    let planned: usize = shares.iter().sum();
    println!("sweep, seed {seed}: {planned} of {count} planned and run, 0 differ");
}
