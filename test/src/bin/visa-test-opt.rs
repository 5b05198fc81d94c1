//! `visa-test-opt`: visa-opt with the dialect and the passes that test the IR core.

use std::process::ExitCode;

fn main() -> ExitCode {
    visa_test::dialect::tool().main()
}
