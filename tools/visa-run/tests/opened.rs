//! Every kernel of `test/kernels` and `test/book` with every clause left open that may be: `select-configs` and `allocate` close them, the kernel takes
//! no more cycles than as its author wrote it, and its results are the same.

#[path = "opened/cases.rs"]
mod cases;
#[path = "opened/outcome.rs"]
mod outcome;
#[path = "opened/results.rs"]
mod results;

use outcome::Opening;

/// As in the tools.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[test]
fn opened_kernels_are_as_fast_as_written_and_mean_the_same() {
    let opening = Opening {
        pass: "open-clauses{places=false}",
        large: &[
            "batched_matmul",
            "contract_formats_in_time",
            "gemm",
            "i8_",
            "inter_slice",
            "softmax",
            "time_broadcast",
            "top_k",
        ],
        least: 120,
    };
    opening.is_as_good();
}

#[test]
fn kernels_with_open_places_are_as_fast_as_written_and_mean_the_same() {
    let opening = Opening {
        pass: "open-clauses",
        large: &[
            "batched_matmul",
            "contract_formats_in_time",
            "contract_truncated",
            "conv2d",
            "gemm",
            "i8_",
            "layer_norm",
            "matmul_quantized",
            "n10-read-cache",
            "n2-",
            "n4-",
            "n5-",
            "n8-within",
            "n9-",
            "rms_norm",
            "rope",
            "softmax",
            "split_reduce",
            "switch_copies",
            "time_broadcast",
            "top_k",
            "w2-",
            "w4-",
        ],
        least: 110,
    };
    opening.is_as_good();
}
