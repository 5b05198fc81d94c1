//! `visa-mlir`: checks modules with MLIR.

use std::process::ExitCode;

fn main() -> ExitCode {
    visa_opt::process(visa_mlir::run)
}
