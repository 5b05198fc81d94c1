//! `visa-test-opt`: visa-opt with the dialect and the passes that test the IR core.

use std::process::ExitCode;

fn main() -> ExitCode {
    visa::process(|args, io| visa_test::tool().opt(args, io))
}
