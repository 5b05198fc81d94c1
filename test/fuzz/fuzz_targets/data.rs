//! Any bytes as a data file, or as the description of a machine: what `checks` says holds.

#![no_main]

mod mutate;

use libfuzzer_sys::{fuzz_mutator, fuzz_target};
use std::path::PathBuf;
use visa_campaigns::checks;

thread_local! {
    /// A folder of this process: several may run side by side.
    static FOLDER: PathBuf = {
        let folder = std::env::temp_dir().join(format!("visa-fuzz-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a writable folder");
        folder
    };
}

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    mutate::mutate(data, size, max_size, seed)
});

fuzz_target!(|bytes: &[u8]| {
    let written = |name: &str| {
        let path = FOLDER.with(|folder| folder.join(name));
        std::fs::write(&path, bytes).expect("a writable folder");
        path
    };
    match bytes.first() {
        Some(0x93) => checks::data("fuzz", &written("x.npy"), ""),
        Some(b'{') => checks::machine("fuzz", &written("machine.json")),
        Some(_) | None => checks::data("fuzz", &written("x.safetensors"), ":x"),
    };
});
