//! The lit suite over this directory, with the drivers as in-process commands.
//!
//! Where LLVM's FileCheck is installed, each call of FileCheck is checked against it: a test whose verdict differs
//! fails.
//!
//! `cargo test -p visa-test` runs it; `VISA_BLESS=1 cargo test -p visa-test` accepts the outputs found.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use visa::{Tool, command};
use visa_lit::{Invocation, Outcome, Suite, file_check};
use visa_test_dialect::{PASSES, TEST};

/// The environment variable that, when it is `1`, makes a missing mlir-opt or FileCheck of LLVM a failure.
pub const REQUIRE_MLIR_VARIABLE: &str = "VISA_REQUIRE_MLIR";

/// Names of mlir-opt in `PATH`, the version we test with first.
const MLIR_OPT_NAMES: [&str; 2] = ["mlir-opt-22", "mlir-opt"];

/// The path of mlir-opt in Debian's package mlir-22-tools.
const MLIR_OPT_PATH: &str = "/usr/lib/llvm-22/bin/mlir-opt";

/// Names of LLVM's FileCheck in `PATH`, the version whose verdicts we have first.
const FILE_CHECK_NAMES: [&str; 2] = ["FileCheck-22", "FileCheck"];

/// The path of FileCheck in Debian's package llvm-22-tools.
const FILE_CHECK_PATH: &str = "/usr/lib/llvm-22/bin/FileCheck";

/// What this machine offers to the tests.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Environment {
    /// The feature `mlir-opt` and the substitution `%mlir-opt`.
    pub mlir_opt: Option<PathBuf>,
    /// The feature `python3-numpy`: `python3` can import NumPy.
    pub numpy: bool,
    /// LLVM's FileCheck, which each call of ours is compared with.
    pub file_check: Option<PathBuf>,
    /// Whether a missing mlir-opt or FileCheck is a failure.
    pub require_mlir: bool,
}

impl Environment {
    /// Looks at this machine and at the environment variables.
    pub fn detect() -> Self {
        Self {
            mlir_opt: find(&MLIR_OPT_NAMES, MLIR_OPT_PATH),
            file_check: find(&FILE_CHECK_NAMES, FILE_CHECK_PATH),
            numpy: imports_numpy(),
            require_mlir: std::env::var(REQUIRE_MLIR_VARIABLE).is_ok_and(|value| value == "1"),
        }
    }

    /// Fails where something is required and missing.
    pub fn check(&self) -> Result<(), String> {
        let programs = [
            ("mlir-opt", &self.mlir_opt, MLIR_OPT_NAMES, MLIR_OPT_PATH, "mlir-22-tools"),
            ("LLVM's FileCheck", &self.file_check, FILE_CHECK_NAMES, FILE_CHECK_PATH, "llvm-22-tools"),
        ];
        for (program, found, names, path, package) in programs {
            if self.require_mlir && found.is_none() {
                let names = names.join("` or `");
                return Err(format!(
                    "{REQUIRE_MLIR_VARIABLE}=1, but {program} is missing: found neither `{names}` in PATH nor \
                     `{path}`; install Debian's {package}, or unset the variable to skip the tests that need it"
                ));
            }
        }
        Ok(())
    }
}

/// Everything that comes with visa, dialect `test`, and its passes: what `visa-test-opt` knows.
#[must_use]
pub fn tool() -> Tool {
    PASSES.iter().fold(Tool::standard().dialect(&TEST), |tool, pass| tool.pass(pass))
}

/// The tests under `root` with everything that the environment offers.
pub fn suite(root: &Path, environment: &Environment) -> Suite {
    let mut suite = Tool::standard().suite(root);
    suite = suite.with_builtin("visa-test-opt", command(|args, io| tool().opt(args, io)));
    if let Some(path) = &environment.mlir_opt {
        suite = suite.with_feature("mlir-opt");
        suite = suite.with_substitution("%mlir-opt", &path.to_string_lossy());
    }
    if let Some(llvm) = environment.file_check.clone() {
        suite = suite.with_builtin("FileCheck", move |call| compared(&llvm, call));
    }
    if environment.numpy {
        suite = suite.with_feature("python3-numpy");
    }
    suite
}

/// FileCheck, with the exit code of LLVM's.
///
/// # Panics
/// If the exit codes differ: a panic fails a test also under `not`.
fn compared(llvm: &Path, call: &Invocation) -> Outcome {
    let ours = file_check(call);
    let mut command = Command::new(llvm);
    command.args(&call.args).envs(&call.env).current_dir(&call.cwd);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().expect("LLVM's FileCheck");
    if let Some(mut stdin) = child.stdin.take() {
        // It ends without reading all of its input where it refuses the call.
        let _ended = stdin.write_all(&call.stdin);
    }
    let code = child.wait().expect("the end of LLVM's FileCheck").code();
    assert_eq!(code, Some(ours.code), "exit codes of LLVM's FileCheck and ours on {:?}", call.args);
    ours
}

/// A program by its names in `PATH`, or by its path.
fn find(names: &[&str], path: &str) -> Option<PathBuf> {
    let dirs = std::env::var_os("PATH").unwrap_or_default();
    let dirs: Vec<PathBuf> = std::env::split_paths(&dirs).collect();
    let by_name = |name: &&str| dirs.iter().map(|dir| dir.join(name)).find(|file| file.is_file());
    names.iter().find_map(by_name).or_else(|| Some(PathBuf::from(path)).filter(|file| file.is_file()))
}

fn imports_numpy() -> bool {
    let mut python = Command::new("python3");
    python.args(["-c", "import numpy"]);
    python.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    python.status().is_ok_and(|status| status.success())
}
