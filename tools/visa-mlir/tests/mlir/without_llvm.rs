//! A machine without LLVM: the build's messages there. A script stands in for llvm-config while visa-mlir is built.

use std::path::Path;
use std::process::{Command, Output};

/// The packages that the build needs, as they are installed in CI.
const PACKAGES: [&str; 7] = [
    "llvm-22-dev",
    "libmlir-22-dev",
    "libpolly-22-dev",
    "libclang1-22",
    "libclang-common-22-dev",
    "zlib1g-dev",
    "libzstd-dev",
];

fn llvm_config(prefix: Option<&Path>, question: &str) -> Output {
    let mut command = Command::new(concat!(env!("CARGO_MANIFEST_DIR"), "/llvm/bin/llvm-config"));
    command.args(["--link-static", question]).env_remove("VISA_LLVM_PREFIX");
    command.envs(prefix.map(|prefix| ("VISA_LLVM_PREFIX", prefix)));
    command.output().expect("the script runs")
}

#[test]
fn with_llvm_it_is_llvm_config() {
    let output = llvm_config(std::env::var_os("VISA_LLVM_PREFIX").as_deref().map(Path::new), "--version");
    assert!(output.status.success() && output.stdout.starts_with(b"22."), "{output:?}");
}

/// The builds that call it show its answer for a version, and stop.
#[test]
fn without_llvm_its_version_is_what_to_install() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = llvm_config(Some(folder.path()), "--version");
    let said = String::from_utf8(output.stdout).expect("text");
    assert!(output.status.success() && !said.starts_with("22."), "{said}");
    let command = said.split("apt-get install").nth(1).expect("a command");
    for package in PACKAGES {
        assert!(command.contains(package), "`{package}` is not in:\n{said}");
    }
    assert!(said.contains("Missing packages of Debian: llvm-22-dev libmlir-22-dev"), "{said}");
}

#[test]
fn without_llvm_other_questions_fail() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = llvm_config(Some(folder.path()), "--libnames");
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(1), &b""[..]));
    assert!(String::from_utf8_lossy(&output.stderr).contains("apt-get install"), "{output:?}");
}

#[test]
fn without_mlir_it_names_the_package() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::create_dir_all(folder.path().join("bin")).expect("a folder");
    std::fs::write(folder.path().join("bin/llvm-config"), "").expect("a file");
    let said = String::from_utf8(llvm_config(Some(folder.path()), "--version").stdout).expect("text");
    assert!(said.contains("Missing packages of Debian: libmlir-22-dev"), "{said}");
}

#[test]
fn ci_installs_the_same_packages() {
    let ci = std::fs::read_to_string(crate::root().join(".ci/run")).expect("the script");
    for package in PACKAGES {
        assert!(ci.contains(package), "`{package}` is not in .ci/run");
    }
}
