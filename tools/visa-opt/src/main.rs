//! `visa-opt`: reads modules, runs passes, writes modules.

use std::process::ExitCode;

fn main() -> ExitCode {
    visa_opt::Tool::standard().main()
}
