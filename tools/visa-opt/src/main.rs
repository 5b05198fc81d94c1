//! `visa-opt`: reads modules, runs passes, writes modules.

use std::process::ExitCode;

/// Most of the time of choosing goes into small mappings that come and go.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    visa_opt::Tool::standard().main()
}
