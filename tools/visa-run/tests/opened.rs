//! Every kernel of `test/kernels` with every clause left open that may be: `select-configs` and `allocate` close them, the kernel takes
//! no more cycles than as its author wrote it, and its results are the same.

#[path = "opened/cases.rs"]
mod cases;
#[path = "opened/outcome.rs"]
mod outcome;
#[path = "opened/results.rs"]
mod results;

use cases::{Case, cases};
use outcome::as_good_opened;

/// Kernels that must at least be as good opened: a wrong path must not pass for a good result.
const LEAST_KERNELS: usize = 120;

/// What is not as good opened as it is written, by file and function, and why.
const EXCEPTIONS: &[(&str, &str)] = &[
    (
        "masked_interleaved @case_3",
        "no layout is proposed for rows of 33 bytes of two tensors in turn, stored for a sum",
    ),
    (
        "movement_combined @i9_switch",
        "layouts of a register file hold nothing that a switch moves from slices into time",
    ),
];

/// Files whose kernels have so much to choose from that they take minutes, by how their names begin.
const LARGE: &[&str] = &[
    "batched_matmul",
    "contract_formats_in_time",
    "conv2d_stride2_dilation2",
    "cumsum",
    "gemm",
    "inter_slice",
    "layer_norm",
    "matmul_quantized",
    "rms_norm",
    "softmax",
    "time_broadcast",
    "top_k",
];

/// The kernels to try: all with `VISA_KERNELS=all`, those whose name holds a word with `VISA_KERNELS=word`, otherwise all but the large
/// ones.
fn chosen_cases() -> Vec<Case> {
    let which = std::env::var("VISA_KERNELS").unwrap_or_default();
    let wanted = |case: &Case| match &*which {
        "all" => true,
        "" => !LARGE.iter().any(|large| case.name.starts_with(large)),
        word => case.name.contains(word),
    };
    cases().into_iter().filter(wanted).collect()
}

#[test]
#[expect(clippy::print_stdout, reason = "what was left out")]
fn opened_kernels_are_as_fast_as_written_and_mean_the_same() {
    let cases = chosen_cases();
    let word = std::env::var("VISA_KERNELS").is_ok_and(|which| which != "all");
    println!("{} kernels; those of {LARGE:?} with VISA_KERNELS=all", cases.len());
    let good = as_good_opened(&cases, "open-clauses{places=false}", EXCEPTIONS);
    assert!(word || good >= LEAST_KERNELS, "{good} kernels, expected at least {LEAST_KERNELS}");
}
