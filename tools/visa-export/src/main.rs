//! `visa-export`: writes kernels of textual IR in the languages of others.

use std::process::ExitCode;

fn main() -> ExitCode {
    visa_opt::process(visa_export::run)
}
