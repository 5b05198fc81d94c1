//! The generic form is MLIR: real mlir-opt (LLVM 22) reads it, and what it prints is the same module to us.

use crate::toy::{EVERYTHING, context, good};
use std::io::Write as _;
use std::process::{Command, Stdio};
use visa_ir::print::{Form, print};
use visa_ir::verify::same;

/// What mlir-opt prints for `text`; `None` where it is not installed.
fn mlir_opt(text: &str) -> Option<String> {
    let start = |name| {
        let mut command = Command::new(name);
        command
            .arg("--allow-unregistered-dialect")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command.spawn().ok()
    };
    let mut child = ["mlir-opt-22", "/usr/lib/llvm-22/bin/mlir-opt"].into_iter().find_map(start)?;
    child.stdin.take()?.write_all(text.as_bytes()).ok()?;
    let output = child.wait_with_output().ok()?;
    assert!(output.status.success(), "{}\n{text}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).expect("mlir-opt prints UTF-8"))
}

#[test]
#[allow(clippy::print_stdout, reason = "a skipped test says so")]
fn mlir_opt_reads_the_generic_form_and_we_read_what_it_prints() {
    let ctx = context();
    let module = good(&ctx, EVERYTHING);
    let Some(printed) = mlir_opt(&print(&ctx, &module, Form::Generic)) else {
        assert!(
            std::env::var_os("VISA_REQUIRE_MLIR").is_none(),
            "mlir-opt (LLVM 22) is required and not installed"
        );
        println!("skipped: mlir-opt (LLVM 22) is not installed");
        return;
    };
    assert!(same(&ctx, &module, &good(&ctx, &printed)), "{printed}");
}
