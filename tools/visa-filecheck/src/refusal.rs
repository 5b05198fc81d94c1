//! Check files and options that cannot be used.

use crate::report::Report;
use crate::source::Diagnostic;
use crate::verdict::Verdict;

/// The reason why a check file or an option cannot be used.
#[derive(Debug)]
pub(crate) struct Refusal {
    diagnostic: Diagnostic,
    code: i32,
}

impl Refusal {
    /// LLVM ends with exit code 1 here, in place of 2.
    pub(crate) fn unclosed_bracket(diagnostic: Diagnostic) -> Self {
        Self { diagnostic, code: 1 }
    }

    pub(crate) fn verdict(self, mut report: Report<'_>) -> Verdict {
        report.diagnostic(&self.diagnostic);
        Verdict { code: self.code, report: report.text() }
    }
}

impl From<Diagnostic> for Refusal {
    fn from(diagnostic: Diagnostic) -> Self {
        Self { diagnostic, code: 2 }
    }
}
