//! `mlir-opt --irdl-file`, as people run it.

use crate::root;
use std::process::{Command, Output};
use visa_opt::{Io, Registry};

/// Where mlir-opt may be: in PATH, or where Debian's package puts it.
const NAMES: [&str; 2] = ["mlir-opt-22", "/usr/lib/llvm-22/bin/mlir-opt"];

/// Returns true if mlir-opt accepts a text, and its output, with our dialects loaded from a file; `None` if it is not
/// installed.
#[expect(clippy::print_stdout, reason = "a check that is skipped says so")]
pub(crate) fn mlir_opt(text: &str) -> Option<(bool, String)> {
    let folder = tempfile::tempdir().expect("a folder");
    let (irdl, input) = (folder.path().join("visa.irdl.mlir"), folder.path().join("input.mlir"));
    let mut io = Io::buffered([], root());
    let args = ["--emit-irdl".into(), "-o".into(), irdl.display().to_string()];
    assert_eq!(visa_opt::run(&Registry::standard(), &args, &mut io), 0);
    std::fs::write(&input, text).expect("a file");
    let run =
        |name| Command::new(name).arg(format!("--irdl-file={}", irdl.display())).arg(&input).output().ok();
    let Some(Output { status, stderr, .. }) = NAMES.into_iter().find_map(run) else {
        let required = std::env::var("VISA_REQUIRE_MLIR").is_ok_and(|value| value == "1");
        assert!(
            !required,
            "mlir-opt of LLVM 22 is required, and not installed: apt-get install mlir-22-tools"
        );
        println!("skipped: mlir-opt of LLVM 22 is not installed");
        return None;
    };
    Some((status.success(), String::from_utf8_lossy(&stderr).into_owned()))
}
