//! Texts that MLIR accepts and refuses: every module of the tree, mistakes one by one in process and by mlir-opt, the
//! command line, a machine without LLVM, and exported functions,
//! and modules of linalg that are imported.

mod command;
mod export;
mod import;
mod limits;
mod mlir_opt;
mod numbers;
mod refused;
mod tree;
mod values;
mod without_llvm;

use std::path::PathBuf;
use visa_ir::decl::Dialect;
use visa_ir::irdl::emit;
use visa_mlir::mlir::{Finding, Mlir};
use visa_opt::{Io, Registry, standard_dialects};

/// The repository.
fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Our dialects, with the one that tests the IR core.
fn dialects() -> Vec<&'static Dialect> {
    let mut dialects = standard_dialects();
    dialects.push(&visa_test_dialect::TEST);
    dialects
}

/// An MLIR that knows our dialects.
fn mlir() -> Mlir {
    Mlir::new(&emit(&dialects())).expect("MLIR loads our dialects")
}

/// The kernel gemv in the registered form, after some passes.
fn gemv(passes: &[&str]) -> String {
    let args =
        ["test/kernels/gemv.visa", "--print-registered"].iter().chain(passes).map(|&arg| arg.to_owned());
    let mut io = Io::buffered([], root());
    let code = visa_opt::run(&Registry::standard(), &args.collect::<Vec<_>>(), &mut io);
    assert_eq!(code, 0, "{}", String::from_utf8_lossy(&io.stderr));
    String::from_utf8(io.stdout).expect("text")
}

/// The messages of the findings.
fn messages(found: &[Finding]) -> String {
    found.iter().map(|finding| format!("{}\n", finding.message)).collect()
}
