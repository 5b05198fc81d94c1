//! `visa-run`: runs, checks and prices a kernel.

use std::process::ExitCode;
use visa_opt::Registry;

/// Most of the time of choosing goes into small mappings that come and go.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    visa_opt::process(|args, io| visa_run::run(&Registry::standard(), args, io))
}
