//! The lit trees, and the rules by which they may skip.

use std::path::{Path, PathBuf};

use visa_test::{Environment, suite};

#[test]
#[expect(clippy::print_stdout, reason = "skipped tests are named in the output of the test")]
fn lit() {
    let environment = Environment::detect();
    if let Err(missing) = environment.check() {
        panic!("{missing}");
    }
    let report = suite(Path::new(env!("CARGO_MANIFEST_DIR")), &environment).run();
    println!("{report}");
    if environment.file_check.is_none() {
        println!("skipped: LLVM's FileCheck is not installed, no verdict was compared with it");
    }
    assert!(report.is_success(), "{} lit tests failed, see above", report.failed());
}

#[test]
fn a_missing_program_is_a_failure_only_where_it_is_required() {
    let missing = Environment::default();
    assert_eq!(missing.check(), Ok(()));
    let required = Environment { require_mlir: true, ..missing };
    let message = required.check().expect_err("mlir-opt is missing");
    assert!(message.contains("VISA_REQUIRE_MLIR=1, but mlir-opt is missing"), "{message}");
    let required = Environment { mlir_opt: Some(PathBuf::from("/bin/mlir-opt")), ..required };
    let message = required.check().expect_err("FileCheck is missing");
    assert!(
        message.contains("LLVM's FileCheck is missing") && message.contains("llvm-22-tools"),
        "{message}"
    );
    let present = Environment { file_check: Some(PathBuf::from("/bin/FileCheck")), ..required };
    assert_eq!(present.check(), Ok(()));
}

#[test]
fn another_verdict_than_that_of_llvm_is_a_failure_even_under_not() {
    let dir = tempfile::tempdir().expect("a directory");
    let source = "# RUN: not FileCheck %s --check-prefix=NO < %s\n";
    std::fs::write(dir.path().join("a.test"), source).expect("a file");
    let file_check = Some(PathBuf::from("/bin/true"));
    let report = suite(dir.path(), &Environment { file_check, ..Environment::default() }).run();
    assert_eq!(report.failed(), 1, "{report}");
    assert!(report.to_string().contains("exit codes of LLVM's FileCheck and ours"), "{report}");
}

#[test]
fn features_follow_the_environment() {
    let dir = std::env::temp_dir().join(format!("visa-test-{}", std::process::id()));
    std::fs::create_dir_all(&dir).expect("a directory");
    let source = "# REQUIRES: mlir-opt, python3-numpy\n# RUN: %mlir-opt %s < %s\n# CHECK: CHECK\n";
    std::fs::write(dir.join("a.test"), source).expect("a file");
    let unsupported = suite(&dir, &Environment::default()).run();
    // FileCheck stands in for mlir-opt: what counts is that %mlir-opt names the program found.
    let mlir_opt = Some(PathBuf::from("FileCheck"));
    let full = Environment { mlir_opt, file_check: None, numpy: true, require_mlir: false };
    let supported = suite(&dir, &full).run();
    std::fs::remove_dir_all(&dir).expect("the directory");
    assert_eq!(unsupported.unsupported(), 1, "{unsupported}");
    assert!(unsupported.to_string().contains("(requires mlir-opt, requires python3-numpy)"), "{unsupported}");
    assert_eq!(supported.passed(), 1, "{supported}");
}
