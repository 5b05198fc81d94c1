//! Campaigns that are programs of their own.

use crate::settings::{Settings, root};
use std::process::Command;

/// A program with its arguments and environment. `{count}` and `{seed}` stand for the settings.
#[derive(Clone, Copy)]
pub struct Step {
    /// The program and its arguments, with blanks between them.
    pub line: &'static str,
    /// Variables.
    pub variables: &'static [(&'static str, &'static str)],
}

/// Choices against all configurations.
pub const SELECT: &[Step] = &[Step {
    line: "cargo bench -p visa-select --bench select_configs",
    variables: &[("VISA_PIPELINES", "{count}"), ("VISA_SEED", "{seed}")],
}];

/// FileCheck against LLVM's.
pub const FILECHECK: &[Step] = &[Step {
    line: "cargo test -p visa-filecheck --test main llvm -- --nocapture",
    variables: &[("VISA_FILECHECK_PAIRS", "{count}"), ("VISA_SEED", "{seed}"), ("VISA_REQUIRE_MLIR", "1")],
}];

/// Questions about mappings against enumeration.
pub const DECIDE: &[Step] = &[Step {
    line: "cargo test --release -p visa-algebra --test main decide -- --nocapture",
    variables: &[("VISA_DECIDE", "full")],
}];

/// Plans of expressions.
pub const EXPRESSIONS: &[Step] = &[Step {
    line: "cargo test --release -p visa-vector --test plan_vector -- --nocapture",
    variables: &[("VISA_PLAN_VECTOR_FULL", "1")],
}];

/// Mistakes in the code, a crate a step.
pub const CODE_MUTANTS: &[Step] = &[
    Step { line: "cargo build --release -p visa-lit", variables: &[] },
    Step {
        line: "cargo run --release --manifest-path test/mutants/Cargo.toml -- visa-hw dialects/hw \
               test/dialects/hw test/kernels",
        variables: &[],
    },
    Step {
        line: "cargo run --release --manifest-path test/mutants/Cargo.toml -- visa-cost runtime/cost",
        variables: &[],
    },
    Step {
        line: "cargo run --release --manifest-path test/mutants/Cargo.toml -- visa-numerics \
               runtime/chip/numerics",
        variables: &[],
    },
];

/// All targets of the fuzzer.
pub const FUZZ: &[Step] = &[Step { line: "test/fuzz/run.sh {count}", variables: &[] }];

/// Runs the steps in the repository; what the first that fails says.
///
/// # Errors
/// A step that does not start, or fails.
pub fn run(steps: &[Step], settings: &Settings<'_>) -> Result<(), String> {
    let filled = |text: &str| {
        text.replace("{count}", &settings.count.to_string()).replace("{seed}", &settings.seed.to_string())
    };
    for step in steps {
        let line = filled(step.line);
        let mut words = line.split_whitespace();
        let mut command = Command::new(words.next().unwrap_or_default());
        command.args(words).current_dir(root());
        for (name, value) in step.variables {
            command.env(name, filled(value));
        }
        println!("{line}");
        let status = command.status().map_err(|error| format!("`{line}`: {error}"))?;
        if !status.success() {
            return Err(format!("`{line}`: {status}"));
        }
    }
    Ok(())
}
