//! Large functions of the tensor level.

use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use visa::{Io, Tool};

/// Operations of the function.
const OPERATIONS: usize = 10_000;

/// Time that is certainly too long: it takes about a second without optimisation.
const MOST: Duration = Duration::from_secs(60);

/// A chain of maps of a vector.
fn maps(size: u64) -> String {
    let mut text = format!("visa 1\ntm.axes [N = {size}]\n\ntm.func @f(%v0: !tm.tensor<f32, [N]>) {{\n");
    for number in 0..OPERATIONS {
        writeln!(text, "  %v{} = tm.map [v: v + 1] %v{number}", number + 1).expect("a string");
    }
    writeln!(text, "  tm.return %v{OPERATIONS}\n}}").expect("a string");
    text
}

/// Contractions of integer matrices, each a step of a plan and a result of the function.
fn contractions(count: usize) -> String {
    let mut text =
        "visa 1\ntm.axes [M = 64, N = 64]\n\ntm.func @f(%v0: !tm.tensor<i8, [M, N]>, %w: !tm.tensor<i8, \
                    [M, N]>) {\n"
            .to_owned();
    for number in 0..count {
        writeln!(text, "  %v{} = tm.contract %v0, %w over [N]", number + 1).expect("a string");
    }
    let results: Vec<String> = (1..=count).map(|number| format!("%v{number}")).collect();
    writeln!(text, "  tm.return {}\n}}", results.join(", ")).expect("a string");
    text
}

/// The exit code, the output and the findings of a tool.
fn run(tool: &str, words: &[&str], text: &str) -> (i32, String, String) {
    let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    let mut io = Io::buffered(text.as_bytes(), Path::new(env!("CARGO_MANIFEST_DIR")));
    let code = match tool {
        "visa-opt" => Tool::standard().opt(&words, &mut io),
        "visa-run" => Tool::standard().run(&words, &mut io),
        other => panic!("`{other}` is no tool of this test"),
    };
    let [printed, errors] = [io.stdout, io.stderr].map(|bytes| String::from_utf8(bytes).expect("text"));
    (code, printed, errors)
}

/// The output of a tool that finds nothing wrong.
fn good(tool: &str, words: &[&str], text: &str) -> String {
    let (code, printed, errors) = run(tool, words, text);
    assert_eq!(code, 0, "{tool}: {errors}");
    printed
}

#[test]
fn ten_thousand_operations_are_evaluated() {
    let text = maps(8);
    let start = Instant::now();
    let printed = good("visa-run", &["-", "--arg", "v0=iota"], &text);
    assert!(start.elapsed() < MOST, "{:?}", start.elapsed());
    assert!(printed.contains("first [10000, 10001, 10002, 10003, "), "{printed}");
    let generic = good("visa-opt", &["-", "--print-generic"], &text);
    assert_eq!(good("visa-opt", &["-"], &generic), good("visa-opt", &["-"], &text));
}

#[test]
fn ten_thousand_operations_are_planned_with_fewer_candidates() {
    let start = Instant::now();
    let (code, printed, errors) = run("visa-run", &["-", "--plan=explain", "--cost"], &maps(8));
    assert!(start.elapsed() < MOST, "{:?}", start.elapsed());
    assert_eq!(code, 0, "{errors}");
    assert!(printed.contains(" cycles on rngd"), "{printed}");
    assert!(errors.contains("ranked by counts, 1 lowered and priced"), "{errors}");
    assert!(
        errors.contains("the search ended at its limit of plans: others rank near the best one"),
        "{errors}"
    );
}

/// Each slice holds 8 numbers of each of 10,001 values, 320 KB of its 512 KB. One slice alone would need 512 times as
/// much: few of the distributions fit.
#[test]
fn distributions_that_fit_are_ranked_among_those_of_ten_thousand_operations() {
    let (code, printed, errors) = run("visa-run", &["-", "--plan", "--cost"], &maps(4096));
    assert_eq!(code, 0, "{errors}");
    assert!(printed.contains(" cycles on rngd"), "{printed}");
}

/// With 16 numbers of each, the values take 640 KB: each half of the operations is a step.
#[test]
fn ten_thousand_operations_whose_values_do_not_fit_are_two_steps() {
    let planned = good("visa-opt", &["-", "--plan-kernel"], &maps(8192));
    let steps = planned.lines().filter(|line| line.contains("// Step ")).count();
    assert_eq!(steps, 2);
    assert!(planned.contains("// Step 2 of 2"), "the second half is a step");
}

/// Several cores count plans and estimate transfers; the search has the same plans in the same order.
#[test]
fn plans_do_not_depend_on_the_number_of_threads() {
    let text = "visa 1\ntm.axes [M = 100, N = 96, K = 200, P = 64]\n\ntm.func @f(%a: !tm.tensor<bf16, [M, K]>, \
                %b: !tm.tensor<bf16, [K, N]>, %c: !tm.tensor<bf16, [N, P]>) {\n  %s = tm.contract %a, %b over [K], \
                free\n  %h = tm.cast bf16 %s\n  %t = tm.contract %h, %c over [N], free\n  %o = tm.cast bf16 %t\n  \
                tm.return %o\n}\n";
    let words = ["-", "--plan=explain", "--cost", "--memory-model", "book"];
    let planned = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        pool.install(|| run("visa-run", &words, text))
    };
    let one = planned(1);
    assert_eq!(one.0, 0, "{}", one.2);
    assert!(one.2.contains("ranked by counts"), "{}", one.2);
    for threads in [2, 5] {
        assert_eq!(planned(threads), one, "{threads} threads");
    }
}

#[test]
fn more_steps_than_are_planned_are_refused() {
    let start = Instant::now();
    let (code, _, errors) = run("visa-run", &["-", "--plan", "--cost"], &contractions(513));
    assert!(start.elapsed() < MOST, "{:?}", start.elapsed());
    assert_eq!(code, 1);
    let message = "the function has 513 steps, each a transfer, pipelines and a store; expected at most 512";
    assert!(errors.contains(message), "{errors}");
}
