//! `visa-import`: reads kernels that others wrote, and writes them as textual IR.

use std::process::ExitCode;

fn main() -> ExitCode {
    visa_opt::process(visa_import::run)
}
