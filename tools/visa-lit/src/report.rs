//! The result of each test, and its report.

use std::fmt;
use std::path::PathBuf;
use visa_words::visible;

/// Most lines shown of each output of a failed command. The end is shown: that is where the error is.
const MAX_TAIL_LINES: usize = 120;

/// The result of one test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Every RUN line succeeded.
    Pass,
    /// A RUN line failed.
    Fail(Failure),
    /// A RUN line failed, as `XFAIL:` requires.
    XFail,
    /// `XFAIL:` requires a failure, and the test passed: a failure.
    XPass,
    /// The test does not run here.
    Unsupported {
        /// Terms of `REQUIRES:` that do not hold.
        missing: Vec<String>,
        /// Features that are present and that `UNSUPPORTED:` names.
        excluded_by: Vec<String>,
    },
    /// The test could not be run as written, so it has no result: a failure. Holds the reason.
    Unresolved(String),
}

impl Verdict {
    /// Returns true if this makes the run fail.
    pub fn is_failure(&self) -> bool {
        match self {
            Self::Fail(_) | Self::XPass | Self::Unresolved(_) => true,
            Self::Pass | Self::XFail | Self::Unsupported { .. } => false,
        }
    }

    fn label(&self) -> &'static str {
        match self {
            Self::Pass => "PASS",
            Self::Fail(_) => "FAIL",
            Self::XFail => "XFAIL",
            Self::XPass => "XPASS",
            Self::Unsupported { .. } => "UNSUPPORTED",
            Self::Unresolved(_) => "UNRESOLVED",
        }
    }
}

/// Failure of a RUN line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The line of the RUN line in the test, from 1.
    pub line: usize,
    /// The RUN line as written.
    pub run: String,
    /// The command that failed, with substitutions made.
    pub command: String,
    /// Its exit code, or how it died.
    pub reason: String,
    /// The end of its standard output.
    pub stdout: String,
    /// The end of the standard error of the pipeline up to it.
    pub stderr: String,
}

/// One test and its verdict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestResult {
    /// The test, as a path below the root as it was given.
    pub name: String,
    /// Its result.
    pub verdict: Verdict,
}

/// All results of a run, sorted by name.
///
/// `{}` shows failures and the summary line; `{:#}` names every test.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// The results, sorted by name.
    pub results: Vec<TestResult>,
    /// The golden files that blessing rewrote.
    pub blessed: Vec<PathBuf>,
}

impl Report {
    /// Returns true if no test failed.
    pub fn is_success(&self) -> bool {
        self.failed() == 0
    }

    /// Number of tests that passed.
    pub fn passed(&self) -> usize {
        self.count(|verdict| matches!(verdict, Verdict::Pass))
    }

    /// Number of tests that failed as expected.
    pub fn expectedly_failed(&self) -> usize {
        self.count(|verdict| matches!(verdict, Verdict::XFail))
    }

    /// Number of tests that do not run here.
    pub fn unsupported(&self) -> usize {
        self.count(|verdict| matches!(verdict, Verdict::Unsupported { .. }))
    }

    /// Number of tests that failed, passed unexpectedly or could not be run as written.
    pub fn failed(&self) -> usize {
        self.count(Verdict::is_failure)
    }

    fn count(&self, predicate: impl Fn(&Verdict) -> bool) -> usize {
        self.results.iter().filter(|result| predicate(&result.verdict)).count()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for result in &self.results {
            match result.verdict {
                Verdict::Pass | Verdict::XFail if !f.alternate() => {}
                _ => write!(f, "{result}")?,
            }
        }
        for file in &self.blessed {
            writeln!(f, "BLESSED: {}", file.display())?;
        }
        let (passed, expectedly) = (self.passed(), self.expectedly_failed());
        let (unsupported, failed) = (self.unsupported(), self.failed());
        writeln!(
            f,
            "lit: {passed} passed, {expectedly} expectedly failed, {unsupported} unsupported, {failed} failed"
        )
    }
}

impl fmt::Display for TestResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.verdict.label(), visible(&self.name))?;
        match &self.verdict {
            Verdict::Pass | Verdict::XFail => writeln!(f),
            Verdict::XPass => writeln!(f, " (passed, but XFAIL expects a failure: remove the XFAIL line)"),
            Verdict::Unresolved(reason) => writeln!(f, " ({})", visible(reason)),
            Verdict::Unsupported { missing, excluded_by } => {
                let missing = missing.iter().map(|term| format!("requires {term}"));
                let excluded = excluded_by.iter().map(|term| format!("unsupported with {term}"));
                let reasons: Vec<String> = missing.chain(excluded).collect();
                writeln!(f, " ({})", visible(&reasons.join(", ")))
            }
            Verdict::Fail(failure) => write!(f, ":{}\n{failure}", failure.line),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "  RUN: {}", visible(&self.run))?;
        writeln!(f, "  command: {}", visible(&self.command))?;
        writeln!(f, "  {}", visible(&self.reason))?;
        for (name, output) in [("stdout", &self.stdout), ("stderr", &self.stderr)] {
            if !output.is_empty() {
                writeln!(f, "  {name}:")?;
            }
            for line in output.lines() {
                writeln!(f, "    {}", visible(line))?;
            }
        }
        Ok(())
    }
}

/// The last lines of an output.
pub(crate) fn tail(output: &[u8]) -> String {
    let text = String::from_utf8_lossy(output);
    let lines: Vec<&str> = text.lines().collect();
    let skipped = lines.len().saturating_sub(MAX_TAIL_LINES);
    let shown = lines[skipped..].join("\n");
    match skipped {
        0 => shown,
        _ => format!("... {skipped} lines before\n{shown}"),
    }
}
