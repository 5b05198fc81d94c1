//! Any text as a kernel whose addresses are opened and allocated: what `checks` says holds.

#![no_main]

#[path = "../../src/checks.rs"]
#[allow(dead_code)] // each target needs a part
mod checks;
mod mutate;

use libfuzzer_sys::{fuzz_mutator, fuzz_target};

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    mutate::mutate(data, size, max_size, seed)
});

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    checks::passes("fuzz", text, checks::ALLOCATED);
});
