//! The results of an import.

use crate::error::{Error, SourcePosition};
use visa_ir::diag::{Diagnostic, Severity};
use visa_ir::span::Source;

/// The result for a kernel.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// Its name in the text.
    pub name: String,
    /// Its text, or why there is none.
    pub text: Result<String, Error>,
    /// Where each line of its text is in the input.
    pub places: Vec<Option<SourcePosition>>,
}

/// The results for files.
#[derive(Clone, Debug, Default)]
pub struct Imported {
    /// The axes and tables that the kernels have.
    pub axes: String,
    /// The kernels, in the order of the files.
    pub kernels: Vec<Kernel>,
    /// Parts of the files, outside kernels, that cannot be read.
    pub errors: Vec<Error>,
    /// The name in the text of the kernel that was requested, if it is the only one.
    pub entry: Option<String>,
    /// True if a kernel was requested by its name: its errors come before those of other parts.
    pub names_entry: bool,
    /// Reasons for leaving out functions that launch kernels and parts of the input, neither of which was requested.
    pub left_out: Vec<Error>,
    /// Notes about kernels that are no errors.
    pub remarks: Vec<Error>,
    /// The files that were read, by their names in places.
    pub sources: Vec<Source>,
}

impl Imported {
    /// The errors of unread parts: of the files, and of kernels.
    pub fn refused(&self) -> impl Iterator<Item = &Error> {
        let of_kernels = || self.kernels.iter().filter_map(|kernel| kernel.text.as_ref().err());
        let first = of_kernels().filter(|_| self.names_entry);
        let last = of_kernels().filter(|_| !self.names_entry);
        let all = first.chain(&self.errors).chain(last);
        // Kernels that use the same wrong part of the input share its error.
        let mut known: Vec<&Error> = Vec::new();
        all.filter(move |&error| {
            let is_new = error.place.is_none() || !known.contains(&error);
            known.push(error);
            is_new
        })
    }

    /// The module with all kernels that could be read.
    #[must_use]
    pub fn module(&self) -> String {
        let kernels = self.kernels.iter().filter_map(|kernel| kernel.text.as_ref().ok());
        let all: Vec<&str> = kernels.map(String::as_str).collect();
        format!("visa 1\n{}\n{}", self.axes, all.join("\n"))
    }

    /// Position in the input of each line of the module; `None` for a line that belongs to no function.
    #[must_use]
    pub fn places(&self) -> Vec<Option<SourcePosition>> {
        let mut places = vec![None; 1 + self.axes.lines().count()];
        for kernel in self.kernels.iter().filter(|kernel| kernel.text.is_ok()) {
            places.extend(kernel.places.iter().cloned().chain([None]));
        }
        places
    }
}

impl Imported {
    /// The notes as findings of the tools, with the files that their spans are in: those about parts that are left out
    /// first.
    pub fn notes(&self) -> impl Iterator<Item = (Option<&Source>, Diagnostic)> {
        self.left_out.iter().chain(&self.remarks).map(|remark| {
            let (source, finding) = self.finding(remark);
            (source, Diagnostic { severity: Severity::Remark, ..finding })
        })
    }

    /// An error as a finding of the tools, with the file that its span is in.
    #[must_use]
    pub fn finding(&self, error: &Error) -> (Option<&Source>, Diagnostic) {
        let place = error.place.as_ref();
        let source = place.and_then(|place| self.sources.iter().find(|own| *own.name == *place.file));
        let span = place.zip(source).and_then(|(place, source)| place.word(source));
        let finding =
            Diagnostic::error("import", span.unwrap_or_default(), &error.message).fix(error.fix.clone());
        match (place, span) {
            (Some(place), None) => {
                (None, Diagnostic { message: format!("{place}: {}", finding.message), ..finding })
            }
            (_, _) => (source, finding),
        }
    }
}
