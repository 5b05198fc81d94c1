//! The lit suite over this directory, with the drivers as in-process commands.
//!
//! `cargo test -p visa-test` runs it; `VISA_BLESS=1 cargo test -p visa-test` accepts the outputs found.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use visa::{Tool, command};
use visa_lit::Suite;
use visa_test_dialect::{PASSES, TEST};

/// The environment variable that, when it is `1`, makes a missing mlir-opt a failure instead of a skip.
pub const REQUIRE_MLIR_VARIABLE: &str = "VISA_REQUIRE_MLIR";

/// Names of mlir-opt in `PATH`, the version we test with first.
const MLIR_OPT_NAMES: [&str; 2] = ["mlir-opt-22", "mlir-opt"];

/// The time of a test: the tools are not optimised here, and share the cores with other tests.
const TIME_LIMIT: Duration = Duration::from_secs(600);

/// Where Debian's package puts it.
const MLIR_OPT_PATH: &str = "/usr/lib/llvm-22/bin/mlir-opt";

/// What this machine offers to the tests.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Environment {
    /// The feature `mlir-opt` and the substitution `%mlir-opt`.
    pub mlir_opt: Option<PathBuf>,
    /// The feature `python3-numpy`: `python3` can import NumPy.
    pub numpy: bool,
    /// Whether a missing mlir-opt is a failure.
    pub require_mlir: bool,
}

impl Environment {
    /// Looks at this machine and at the environment variables.
    pub fn detect() -> Self {
        Self {
            mlir_opt: find_mlir_opt(),
            numpy: imports_numpy(),
            require_mlir: std::env::var(REQUIRE_MLIR_VARIABLE).is_ok_and(|value| value == "1"),
        }
    }

    /// Fails where something is required and missing.
    pub fn check(&self) -> Result<(), String> {
        if self.require_mlir && self.mlir_opt.is_none() {
            let names = MLIR_OPT_NAMES.join("` or `");
            return Err(format!(
                "{REQUIRE_MLIR_VARIABLE}=1, but mlir-opt is missing: found neither `{names}` in PATH nor \
                 `{MLIR_OPT_PATH}`; install Debian's mlir-22-tools, or unset the variable to skip the tests that \
                 need it"
            ));
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
    let mut suite = Tool::standard().suite(root).time_limit(TIME_LIMIT);
    suite = suite.with_builtin("visa-test-opt", command(|args, io| tool().opt(args, io)));
    if let Some(path) = &environment.mlir_opt {
        suite = suite.with_feature("mlir-opt");
        suite = suite.with_substitution("%mlir-opt", &path.to_string_lossy());
    }
    if environment.numpy {
        suite = suite.with_feature("python3-numpy");
    }
    suite
}

fn find_mlir_opt() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let dirs: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let by_name = |name: &str| dirs.iter().map(|dir| dir.join(name)).find(|file| file.is_file());
    let in_path = MLIR_OPT_NAMES.iter().find_map(|name| by_name(name));
    in_path.or_else(|| Some(PathBuf::from(MLIR_OPT_PATH)).filter(|file| file.is_file()))
}

fn imports_numpy() -> bool {
    let mut python = Command::new("python3");
    python.args(["-c", "import numpy"]);
    python.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    python.status().is_ok_and(|status| status.success())
}
