//! Every small kernel of `test/kernels` with every clause left open that may be, places of its tensors among them: it takes no more cycles than as
//! its author wrote it, and its results are the same.

#[path = "opened/cases.rs"]
mod cases;
#[path = "opened/outcome.rs"]
mod outcome;
#[path = "opened/results.rs"]
mod results;

use cases::{Case, cases};
use outcome::as_good_opened;

/// Kernels that must at least be as good opened: a wrong path must not pass for a good result.
const LEAST_KERNELS: usize = 140;

/// Files whose kernels take minutes, as each is chosen for several places, by how their names begin.
const LARGE: &[&str] = &[
    "batched_matmul",
    "contract_formats_in_time",
    "contract_truncated",
    "conv2d",
    "gemm",
    "i8_",
    "layer_norm",
    "matmul_quantized",
    "rms_norm",
    "rope",
    "softmax",
    "split_reduce",
    "switch_copies",
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
fn kernels_with_open_places_are_as_fast_as_written_and_mean_the_same() {
    let good = as_good_opened(&chosen_cases(), "open-clauses", &[]);
    let word = std::env::var("VISA_KERNELS").is_ok_and(|which| which != "all");
    assert!(word || good >= LEAST_KERNELS, "{good} kernels, expected at least {LEAST_KERNELS}");
}
