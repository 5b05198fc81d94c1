//! FileCheck: compares a text with the checks in a file, with the verdicts of LLVM's `FileCheck`.
//!
//! [`Options::parse`] reads the command line, and [`check`] compares two texts; nothing here reads or writes files. An
//! exit code is 0 if the input matches, 1 if it does not, and 2 if the checks or the call are wrong.
//!
//! # Agreement with LLVM 22
//!
//! All directives (`CHECK`, `-NEXT`, `-SAME`, `-EMPTY`, `-NOT`, `-DAG`, `-LABEL`, `-COUNT-n`, `{LITERAL}`), comment
//! prefixes, string and numeric variables with their expressions and formats, POSIX extended regular expressions
//! (`regex`), and the options of [`Options`]. A test compares exit codes with LLVM's own program on generated pairs
//! of checks and input.
//!
//! # Documented differences
//!
//! | case | LLVM | here |
//! |---|---|---|
//! | a wrong command line: an unknown option, a missing or malformed value | 1 | 2 |
//! | a pattern of `--implicit-check-not` that is empty or malformed | prints an error and continues without it | 2 |
//! | `-D#VAR=` without an expression | crashes | 2 |
//! | a back-reference to a group in an operand of `{0}`, as in `(a){0}\1` | reads states of other parts | 2 |
//! | a regular expression, a number or an expression beyond the bounds of this crate | no bound | 2 |
//!
//! Messages have LLVM's content, in the form of visa's other messages.

mod cursor;
mod directive;
mod expression;
mod format;
mod fuzzy;
mod matcher;
mod options;
mod pattern;
mod program;
mod refusal;
pub mod regex;
mod report;
mod source;
mod variables;
mod verdict;

pub use options::{Call, DumpInput, HELP, Options, options_from_environment};

use matcher::Matcher;
use program::Program;
use report::Report;
use source::{Sources, canonical};
pub use verdict::{Text, Verdict};

/// Compares `input` with the checks in `checks`.
pub fn check(options: &Options, checks: Text<'_>, input: Text<'_>) -> Verdict {
    if let Err(message) = options.validate() {
        return Verdict { code: 2, report: format!("error: {message}\n") };
    }
    let checks = Text { bytes: &canonical(checks.bytes, options.strict_whitespace), ..checks };
    let canonical_input = Text { bytes: &canonical(input.bytes, options.strict_whitespace), ..input };
    let sources = Sources::new(options, checks, canonical_input);
    let mut report = Report::new(&sources);
    let mut program = match Program::read(options, &sources) {
        Ok(program) => program,
        Err(refusal) => return refusal.verdict(report),
    };
    if input.bytes.is_empty() && !options.allow_empty {
        let message = format!("`{}` is empty, expected text to check: --allow-empty permits it", input.name);
        report.message(report::Severity::Error, None, &message);
        return Verdict { code: 2, report: report.text() };
    }
    let result = Matcher::new(options, &sources, &mut program, &mut report).run();
    let code = match result {
        Ok(true) => 0,
        Ok(false) => 1,
        Err(limit) => {
            report.diagnostic(&limit);
            2
        }
    };
    let dump = match options.dump_input {
        DumpInput::Always => true,
        DumpInput::Fail => code == 1,
        DumpInput::Never => false,
    };
    if dump {
        report.dump_input(options);
    }
    Verdict { code, report: report.text() }
}
