//! What targets share that take any text as a kernel and put it through passes: what `checks` says holds.

pub use visa_campaigns::checks;

#[path = "mutate.rs"]
pub mod mutate;

/// The target that puts kernels through these passes.
macro_rules! kernel_target {
    ($passes:expr) => {
        libfuzzer_sys::fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
            kernel::mutate::mutate(data, size, max_size, seed)
        });

        libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
            let Ok(text) = std::str::from_utf8(bytes) else { return };
            kernel::checks::passes("fuzz", text, $passes);
        });
    };
}
