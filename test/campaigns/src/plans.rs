//! Random functions of the tensor level: the planned kernel has the results of the evaluator, and of the function
//! where all its sums have an order. Nearly all functions have a plan.

use crate::checks;
use crate::settings::Settings;
use crate::shared;
use visa_support::Random;

/// Sizes of axes: one, powers of two, odd ones.
const SIZES: [u64; 15] = [1, 2, 3, 5, 7, 8, 16, 31, 33, 48, 64, 100, 128, 250, 500];

/// Formats of operands of contractions.
const FORMATS: [&str; 4] = ["bf16", "bf16", "i8", "f8e4m3"];

/// Programs of maps and reductions over a matrix `x`, with `FREE` in place of the freedom of a sum. The last value is
/// the result; `B` stands for the axes of `b`.
const PROGRAMS: [(&str, &str); 21] = [
    ("%b: !tm.tensor<f32, B>", "%y = tm.map [x, b: max(x * b, 0) + 1] %x, %b"),
    ("%b: !tm.tensor<f32, B>", "%z = tm.map [x, b: gelu(x) + b] %x, %b\n  %y = tm.cast bf16 %z"),
    (
        "",
        "%g = tm.reduce Max %x over [N]\n  %p = tm.map [x, m: exp(x - m)] %x, %g\n  \
         %s = tm.reduce Add %p over [N]FREE\n  %y = tm.map [p, s: p / s] %p, %s",
    ),
    (
        "%b: !tm.tensor<f32, [N]>",
        "%q = tm.map [x: x * x] %x\n  %s = tm.reduce Add %q over [N]FREE\n  \
         %y = tm.map [x, s, b: x / sqrt(s + 1) * b] %x, %s, %b",
    ),
    ("", "%y = tm.reduce Add %x over [M]FREE"),
    ("", "%y = tm.reduce Min %x over [N]"),
    ("", "%y = tm.reduce Max %x over [M, N]"),
    (
        "",
        "%i = tm.index [M]\n  %j = tm.index [N]\n  %l = tm.map [i, j: max(j - i, 0)] %i, %j\n  \
         %h = tm.constant f32, values [-1e30]\n  %w = tm.where %l, %h, %x\n  %y = tm.reduce Max %w over [N]",
    ),
    ("", "%c = tm.compare %x with [less 0.25, greater 0, equal 0.5]\n  %y = tm.map [c: c * 3] %c"),
    ("%b: !tm.tensor<f32, B>", "%c = tm.compare %x with [less 0]\n  %y = tm.where %c, %b, %x"),
    (
        "%b: !tm.tensor<i32, B>",
        "%p = tm.constant f32, values [-0.5]\n  %q = tm.constant f32, values [3]\n  %d = tm.map [b: and(b, 1)] %b\n  \
         %w = tm.where %d, %p, %q\n  %y = tm.map [x, w: x * w] %x, %w",
    ),
    ("", "%y = tm.reduce Add %x over [M, N]"),
    ("", "%z = tm.map [x: x + x] %x\n  %y = tm.reduce Add %z over [N, M]TREE"),
    ("", "%s = tm.reduce Add %x over [N % D], keep [N / D]FREE\n  %y = tm.rearrange %s from [N / D], to [P]"),
    ("", "%s = tm.reduce Max %x over [M / E], keep [M % E]\n  %y = tm.rearrange %s from [M % E], to [Q]"),
    ("", "%z = tm.split %x axis [N], to [P, R]\n  %y = tm.reduce Add %z over [R]"),
    ("%b: !tm.tensor<f32, [M]>", "%z = tm.merge %x axes [M, N], to [W]\n  %y = tm.map [z: relu(z)] %z"),
    ("%b: !tm.tensor<f32, [M, R]>", "%z = tm.map [x: x * 2] %x\n  %y = tm.concat %b, %z axes [R, N], to [J]"),
    ("", "%z = tm.extend %x axis [M], to [L], from 3, with -1\n  %y = tm.map [z: z * z] %z"),
    ("%b: !tm.tensor<f32, [N]>", ARGMAX_OF_B),
    ("", ARGMAX_OF_X),
];

/// The number of the first column with the greatest element of each row, and the element of `b` there.
const ARGMAX_OF_B: &str = "%g = tm.reduce Max %x over [N]\n  %d = tm.map [x, m: x - m] %x, %g\n  \
     %o = tm.compare %d with [less 0]\n  %i = tm.index [N]\n  %k = tm.map [i, o: i + o * 1000] %i, %o\n  \
     %a = tm.reduce Min %k over [N]\n  %y = tm.gather %b, %a along [N]";

/// The same of the row itself.
const ARGMAX_OF_X: &str = "%g = tm.reduce Max %x over [N]\n  %d = tm.map [x, m: x - m] %x, %g\n  \
     %o = tm.compare %d with [less 0]\n  %i = tm.index [N]\n  %k = tm.map [i, o: i + o * 1000] %i, %o\n  \
     %a = tm.reduce Min %k over [N]\n  %y = tm.gather %x, %a along [N]";

/// A contraction with an expression of the sums.
fn contraction(random: &mut Random, sizes: &[u64]) -> String {
    let [m, n, k] = [0; 3].map(|_| random.of(sizes));
    let dtype = random.of(&FORMATS);
    let (left, right) = (random.of(&["[M, K]", "[K, M]"]), random.of(&["[K, N]", "[N, K]"]));
    let free = random.of(&["", ", free", ", free"]);
    let mut body = format!("  %c = tm.contract %a, %b over [K]{free}\n");
    let mut arguments = format!("%a: !tm.tensor<{dtype}, {left}>, %b: !tm.tensor<{dtype}, {right}>");
    let mut result = "c";
    if dtype != "i8" && random.below(2) == 0 {
        let axes = random.of(&["[N]", "[M]", "[M, N]", "[1]"]);
        arguments.push_str(&format!(", %v: !tm.tensor<f32, {axes}>"));
        body.push_str("  %d = tm.map [s, v: relu(s + v)] %c, %v\n");
        result = "d";
    }
    if dtype != "i8" && random.below(2) == 0 {
        body.push_str(&format!("  %y = tm.cast bf16 %{result}\n"));
        result = "y";
    }
    let axes = format!("M = {m}, N = {n}, K = {k}");
    format!("visa 1\ntm.axes [{axes}]\ntm.func @f({arguments}) {{\n{body}  tm.return %{result}\n}}\n")
}

/// Maps and reductions.
fn region(random: &mut Random, sizes: &[u64]) -> String {
    let [m, n] = [0; 2].map(|_| random.of(sizes));
    let (argument, body) = random.of(&PROGRAMS);
    let argument = argument.replace('B', random.of(&["[N]", "[M]", "[M, N]", "[1]"]));
    let comma = if argument.is_empty() { "" } else { ", " };
    let body = body.replace("FREE", random.of(&["", ", free"]));
    let body = body.replace("TREE", if (m * n).is_multiple_of(4) { ", tree 4" } else { "" });
    // Digits: N is P times R, M is T times Q. W is all of both; J and L are longer than N and M.
    let divisor = |random: &mut Random, size: u64| {
        let all: Vec<u64> =
            [1, 2, 3, 4, 5, 7, 8, 25].into_iter().filter(|one| size.is_multiple_of(*one)).collect();
        random.of(&all)
    };
    let (r, q) = (divisor(random, n), divisor(random, m));
    let body = body.replace("% D", &format!("% {r}")).replace("/ D", &format!("/ {r}"));
    let body = body.replace("% E", &format!("% {q}")).replace("/ E", &format!("/ {q}"));
    let (p, w, j, l) = (n / r, m * n, n + r, m + 3 + q);
    let axes = format!("M = {m}, N = {n}, P = {p}, R = {r}, Q = {q}, W = {w}, J = {j}, L = {l}");
    format!(
        "visa 1\ntm.axes [{axes}]\ntm.func @f(%x: !tm.tensor<f32, [M, N]>{comma}{argument}) {{\n  \
         {body}\n  tm.return %y\n}}\n"
    )
}

/// A convolution, or the greatest element of each window.
fn windows(random: &mut Random) -> String {
    let [h, w, c, o] =
        [[1_u64, 3, 8, 14], [1, 4, 7, 8], [1, 3, 8, 16], [4, 7, 16, 32]].map(|all| random.of(&all));
    let [p, fh, fw] = [[1_u64, 1, 2], [1, 2, 3], [1, 3, 3]].map(|all| random.of(&all));
    let [sh, sw] = [0; 2].map(|_| random.of(&[1_u64, 1, 2]));
    let (y, x) = ((h - 1) * sh + fh, (w - 1) * sw + fw);
    let axes = format!("P = {p}, C = {c}, O = {o}, Y = {y}, X = {x}, H = {h}, W = {w}, F = {fh}, G = {fw}");
    let image = random.of(&["[P, C, Y, X]", "[P, Y, X, C]"]);
    let rearranged = format!("%w = tm.rearrange %x from [Y, X], to [$(H:{sh}, F:1), $(W:{sw}, G:1)]");
    if random.below(3) == 0 {
        return format!(
            "visa 1\ntm.axes [{axes}]\ntm.func @f(%x: !tm.tensor<f32, {image}>) {{\n  {rearranged}\n  \
             %y = tm.reduce Max %w over [F, G]\n  tm.return %y\n}}\n"
        );
    }
    let filter = random.of(&["[O, C, F, G]", "[F, G, C, O]"]);
    let over = random.of(&["[C, F, G], free", "[F, G, C], free", "[C, F, G]"]);
    format!(
        "visa 1\ntm.axes [{axes}]\ntm.func @f(%x: !tm.tensor<bf16, {image}>, %k: !tm.tensor<bf16, {filter}>) {{\n  \
         {rearranged}\n  %y = tm.contract %k, %w over {over}\n  tm.return %y\n}}\n"
    )
}

/// A random function, whose axes have some of these sizes.
pub(crate) fn function(random: &mut Random, sizes: &[u64]) -> String {
    match random.below(5) {
        0 => windows(random),
        1 | 2 => contraction(random, sizes),
        _ => region(random, sizes),
    }
}

/// Plans and runs random functions. At least nine of ten must have a plan.
///
/// # Panics
/// If a planned kernel has other results than the evaluator or the function.
pub fn run(settings: &Settings<'_>) {
    let Settings { count, seed, .. } = *settings;
    let shares = shared::each_core(|numbers| {
        let numbers = numbers.take_while(|number| *number < count);
        numbers.filter(|&number| run_case(seed, number)).count() as u64
    });
    let planned: u64 = shares.iter().sum();
    println!("plans, seed {seed}: {planned} of {count} planned and checked");
    assert!(planned * 10 >= count * 9, "seed {seed}: only {planned} of {count} have a plan");
}

/// Plans and runs one function. Returns true if it had a plan.
fn run_case(seed: u64, number: u64) -> bool {
    let mut random = Random::of_case(seed, number);
    let text = function(&mut random, &SIZES);
    let model = random.of(&["--memory-model=flat", "--memory-model=book"]);
    let about = format!("plans, seed {seed}, case {number}, {model}");
    let passes = ["-", model, "--plan-kernel", "--plan-vector", "--schedule", "--allocate"];
    let (code, planned, _) = checks::opt(&about, &text, &passes);
    if code != 0 {
        return false;
    }
    let (code, results, error) = checks::run(&about, &planned, &[]);
    assert!(code == 0 && results.contains(" 0 differ"), "{about}: {results}{error}\n{text}\n{planned}");
    if !text.contains(", free") {
        let expected = checks::evaluate(&about, &text);
        let same = checks::crc(&results) == checks::crc(&expected);
        assert!(same, "{about}: {results} is not {expected}\n{text}\n{planned}");
    }
    true
}
