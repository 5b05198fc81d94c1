//! Large functions of the tensor level.

use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use visa::{Io, Tool};

/// Operations of the function.
const OPERATIONS: usize = 10_000;

/// Time that is certainly too long: it takes about a second without optimisation.
const MOST: Duration = Duration::from_secs(60);

#[test]
fn ten_thousand_operations_are_evaluated() {
    let mut text = "visa 1\ntm.axes [N = 8]\n\ntm.func @f(%v0: !tm.tensor<f32, [N]>) {\n".to_owned();
    for number in 0..OPERATIONS {
        writeln!(text, "  %v{} = tm.map [v: v + 1] %v{number}", number + 1).expect("a string");
    }
    writeln!(text, "  tm.return %v{OPERATIONS}\n}}").expect("a string");
    let run = |tool: &str, words: &[&str], text: &str| {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let mut io = Io::buffered(text.as_bytes(), Path::new(env!("CARGO_MANIFEST_DIR")));
        let code = match tool {
            "visa-opt" => Tool::standard().opt(&words, &mut io),
            _ => Tool::standard().run(&words, &mut io),
        };
        let errors = String::from_utf8(io.stderr).expect("text");
        assert_eq!(code, 0, "{tool}: {errors}");
        String::from_utf8(io.stdout).expect("text")
    };
    let start = Instant::now();
    let printed = run("visa-run", &["-", "--arg", "v0=iota"], &text);
    assert!(start.elapsed() < MOST, "{:?}", start.elapsed());
    assert!(printed.contains("first [10000, 10001, 10002, 10003, "), "{printed}");
    let generic = run("visa-opt", &["-", "--print-generic"], &text);
    assert_eq!(run("visa-opt", &["-"], &generic), run("visa-opt", &["-"], &text));
}
