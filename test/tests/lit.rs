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
    assert!(report.is_success(), "{} lit tests failed, see above", report.failed());
}

#[test]
fn a_missing_mlir_opt_is_a_failure_only_where_it_is_required() {
    let missing = Environment::default();
    assert_eq!(missing.check(), Ok(()));
    let required = Environment { require_mlir: true, ..missing.clone() };
    let message = required.check().expect_err("mlir-opt is missing");
    assert!(message.contains("VISA_REQUIRE_MLIR=1, but mlir-opt is missing"), "{message}");
    let present = Environment { mlir_opt: Some(PathBuf::from("/bin/mlir-opt")), ..required };
    assert_eq!(present.check(), Ok(()));
}

#[test]
fn features_follow_the_environment() {
    let dir = std::env::temp_dir().join(format!("visa-test-{}", std::process::id()));
    std::fs::create_dir_all(&dir).expect("a directory");
    let source = "# REQUIRES: mlir-opt, python3-numpy\n# RUN: %mlir-opt %s < %s\n# CHECK: CHECK\n";
    std::fs::write(dir.join("a.test"), source).expect("a file");
    let unsupported = suite(&dir, &Environment::default()).run();
    // FileCheck stands in for mlir-opt: what counts is that %mlir-opt names the program found.
    let full = Environment { mlir_opt: Some(PathBuf::from("FileCheck")), numpy: true, require_mlir: false };
    let supported = suite(&dir, &full).run();
    std::fs::remove_dir_all(&dir).expect("the directory");
    assert_eq!(unsupported.unsupported(), 1, "{unsupported}");
    assert!(unsupported.to_string().contains("(requires mlir-opt, requires python3-numpy)"), "{unsupported}");
    assert_eq!(supported.passed(), 1, "{supported}");
}
