//! `cargo bench -p visa-benches --bench plan`: plans of whole problems, their cycles compared with their bounds by two
//! memory models, and the time of planning. `-- gemv` plans the problems with this name alone.
//!
//! The last line is JSON: `problems` and how many were `refused`, the geometric mean of cycles over bound by `flat`
//! and
//! `book`, the worst by `book`, and the median and longest time of a plan in seconds.

#![allow(clippy::print_stdout, reason = "the bench prints its figures")]

use std::time::Instant;

use visa_opt::{Io, Registry};

/// A problem: its function in test/plan or test/tensor, and the sizes of its axes.
struct Problem {
    /// File under `test`.
    file: &'static str,
    /// The function.
    entry: &'static str,
    /// Sizes, as flags.
    sizes: &'static [&'static str],
}

/// A problem of a file, a function and sizes.
const fn problem(file: &'static str, entry: &'static str, sizes: &'static [&'static str]) -> Problem {
    Problem { file, entry, sizes }
}

/// The problems at full size.
const PROBLEMS: &[Problem] = &[
    problem("plan/gemm.visa", "nn", &["M=64", "N=64", "K=64"]),
    problem("plan/gemm.visa", "nn", &["M=128", "N=256", "K=512"]),
    problem("plan/gemm.visa", "nn", &["M=512", "N=512", "K=1024"]),
    problem("plan/gemm.visa", "nt", &["M=512", "N=512", "K=1024"]),
    problem("plan/gemm.visa", "tn", &["M=512", "N=512", "K=1024"]),
    problem("plan/gemm.visa", "nn", &["M=1024", "N=1024", "K=1024"]),
    problem("plan/gemm.visa", "nn", &["M=4096", "N=4096", "K=4096"]),
    problem("plan/gemm.visa", "nn", &["M=4096", "N=64", "K=4096"]),
    problem("plan/gemm.visa", "nn", &["M=33", "N=64", "K=4096"]),
    problem("plan/gemm.visa", "nn", &["M=2048", "N=48", "K=64"]),
    problem("plan/gemm.visa", "nn", &["M=96", "N=96", "K=2000"]),
    problem("plan/gemm.visa", "nn", &["M=7", "N=33", "K=100"]),
    problem("plan/gemm.visa", "nn", &["M=3", "N=5", "K=7"]),
    problem("plan/gemm.visa", "nn", &["M=31", "N=77", "K=333"]),
    problem("plan/gemm.visa", "nn", &["M=250", "N=1023", "K=1"]),
    problem("plan/gemm.visa", "nt", &["M=1", "N=1024", "K=1024"]),
    problem("plan/gemm.visa", "i8", &["M=1024", "N=1024", "K=1024"]),
    problem("plan/gemm.visa", "f8", &["M=1024", "N=1024", "K=1024"]),
    problem("plan/gemm.visa", "bias_relu", &["M=512", "N=512", "K=1024"]),
    problem("plan/gemv.visa", "gemv", &["M=256", "K=2048"]),
    problem("plan/gemv.visa", "gemv", &["M=4096", "K=4096"]),
    problem("plan/batched.visa", "batched", &["B=16", "M=256", "N=256", "K=256"]),
    problem("tensor/softmax.visa", "softmax", &["M=1024", "N=1024"]),
    problem("tensor/rms_norm.visa", "rms_norm", &["M=1024", "N=1024"]),
    problem("tensor/attention.visa", "attention", &["Q=512", "S=512", "D=64"]),
    problem("tensor/quantised_gemv.visa", "quantised_gemv", &["N=4096", "K=4096"]),
    problem("tensor/moe_routing.visa", "moe", &["T=64", "H=256", "E=8", "O=64"]),
    problem("plan/suite/conv.visa", "conv3x3", &["P=1", "C=64", "Y=58", "X=58", "O=64", "H=56", "W=56"]),
    problem("plan/suite/ffn.visa", "swiglu", &["M=512", "D=1024", "F=4096"]),
    problem("plan/suite/decode.visa", "qkv", &["D=3840", "Q=4096", "V=2048"]),
    problem("plan/suite/decode.visa", "o_narrow", &["D=3840", "Q=4096"]),
    problem("plan/suite/decode.visa", "ffn_i4", &["D=3840", "F=15360", "G=240", "Gf=960"]),
    problem("plan/suite/maps.visa", "row", &["M=4096", "N=1024"]),
    problem("plan/suite/maps.visa", "column", &["M=4096", "N=1024"]),
    problem("plan/suite/maps.visa", "chain", &["M=4096", "N=1024"]),
    problem("plan/suite/maps.visa", "layer_norm", &["M=1024", "N=1024"]),
    problem("plan/suite/reductions.visa", "rows", &["M=4096", "N=1024"]),
    problem("plan/suite/reductions.visa", "columns", &["M=4096", "N=1024"]),
    problem("plan/suite/gathers.visa", "embedding", &["V=32000", "D=1024", "T=256"]),
    problem("plan/suite/gathers.visa", "embedding_projected", &["V=32000", "D=1024", "T=256", "N=1024"]),
];

impl Problem {
    /// Cycles over bound by a memory model, and the seconds of planning; `None` if the planner refuses the problem.
    fn plan(&self, registry: &Registry, model: &str) -> Option<(f64, f64)> {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
        let mut args = vec![format!("test/{}", self.file), format!("--entry={}", self.entry)];
        args.extend(self.sizes.iter().map(|size| format!("--axis={size}")));
        args.extend(["--plan", "--cost", "--report=json"].map(str::to_owned));
        args.push(format!("--memory-model={model}"));
        let mut io = Io::buffered([], root);
        let start = Instant::now();
        let code = visa_run::run(registry, &args, &mut io);
        let seconds = start.elapsed().as_secs_f64();
        if code != 0 {
            let message = String::from_utf8_lossy(&io.stderr);
            println!("{self} by {model}: {}", message.lines().next().unwrap_or("refused"));
            return None;
        }
        let document: serde_json::Value = serde_json::from_slice(&io.stdout).expect("a report in JSON");
        let times = document["report"]["bound"]["times"].as_f64().expect("a report has a bound");
        println!("{self} by {model}: {times:.2} times its bound, planned in {seconds:.1} s");
        Some((times, seconds))
    }
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.entry, self.sizes.join(" "))
    }
}

/// The geometric mean; 0 of no numbers.
fn geometric_mean(numbers: &[f64]) -> f64 {
    if numbers.is_empty() {
        return 0.0;
    }
    (numbers.iter().map(|number| number.ln()).sum::<f64>() / numbers.len() as f64).exp()
}

/// The greatest number; 0 of none.
fn greatest(numbers: &[f64]) -> f64 {
    numbers.iter().copied().fold(0.0, f64::max)
}

fn main() {
    let registry = Registry::standard();
    let (mut flat, mut book, mut seconds, mut refused) = (Vec::new(), Vec::new(), Vec::new(), 0);
    // `cargo bench` adds flags; another argument is a part of the names of problems.
    let part = std::env::args().skip(1).find(|argument| !argument.starts_with('-')).unwrap_or_default();
    let problems: Vec<&Problem> =
        PROBLEMS.iter().filter(|problem| problem.to_string().contains(&part)).collect();
    for problem in &problems {
        let both = (problem.plan(&registry, "flat"), problem.plan(&registry, "book"));
        let (Some((by_flat, first)), Some((by_book, second))) = both else {
            refused += 1;
            continue;
        };
        flat.push(by_flat);
        book.push(by_book);
        seconds.extend([first, second]);
    }
    seconds.sort_by(f64::total_cmp);
    let median = seconds.get(seconds.len() / 2).copied().unwrap_or_default();
    println!(
        "{}",
        serde_json::json!({
            "problems": problems.len(),
            "refused": refused,
            "geomean_flat": geometric_mean(&flat),
            "geomean_book": geometric_mean(&book),
            "worst_book": greatest(&book),
            "median_s": median,
            "worst_s": greatest(&seconds),
        })
    );
}
