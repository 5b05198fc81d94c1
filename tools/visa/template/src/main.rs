//! `my-visa opt`, `my-visa run` and `my-visa lit`.

use std::process::ExitCode;

fn main() -> ExitCode {
    my_visa::tool().main()
}
