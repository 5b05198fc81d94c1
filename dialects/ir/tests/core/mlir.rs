//! The generic form is MLIR: real mlir-opt (LLVM 22) reads it, and its output is the same module to us.

use crate::toy::{EVERYTHING, context, good};
use std::io::Write as _;
use std::process::{Command, Stdio};
use visa_ir::print::{Form, print};
use visa_ir::verify::same;

/// The output of mlir-opt for `text`, or its error; `None` if it is not installed.
#[allow(clippy::print_stdout, reason = "a skipped test says so")]
pub(crate) fn mlir_opt(text: &str, flag: &str) -> Option<Result<String, String>> {
    let start = |name| {
        let mut command = Command::new(name);
        command.arg(flag).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().ok()
    };
    let Some(mut child) = ["mlir-opt-22", "/usr/lib/llvm-22/bin/mlir-opt"].into_iter().find_map(start) else {
        assert!(
            std::env::var_os("VISA_REQUIRE_MLIR").is_none(),
            "mlir-opt (LLVM 22) is required and not installed"
        );
        println!("skipped: mlir-opt (LLVM 22) is not installed");
        return None;
    };
    child.stdin.take()?.write_all(text.as_bytes()).ok()?;
    let output = child.wait_with_output().ok()?;
    let text = |bytes| String::from_utf8(bytes).expect("mlir-opt prints UTF-8");
    Some(if output.status.success() { Ok(text(output.stdout)) } else { Err(text(output.stderr)) })
}

#[test]
fn mlir_opt_reads_the_generic_form_and_we_read_what_it_prints() {
    let ctx = context();
    let module = good(&ctx, EVERYTHING);
    let Some(printed) = mlir_opt(&print(&ctx, &module, Form::Generic), "--allow-unregistered-dialect") else {
        return;
    };
    let printed = printed.unwrap_or_else(|said| panic!("{said}"));
    assert!(same(&ctx, &module, &good(&ctx, &printed)), "{printed}");
}
