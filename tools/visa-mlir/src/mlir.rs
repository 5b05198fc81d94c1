//! MLIR in this process: a context that has loaded our dialects from IRDL.

use melior::Context;
use melior::diagnostic::{Diagnostic, DiagnosticSeverity};
use melior::dialect::DialectRegistry;
use melior::ir::Module;
use melior::utility::{load_irdl_dialects, register_all_dialects};
use std::cell::RefCell;
use std::fmt::{Display, Write as _};
use std::rc::Rc;
use visa_ir::diag::Severity;

/// Words at which MLIR's parser reads without a bound on nesting, such as `- - - d0`: such a text could end the
/// process.
const UNBOUNDED: [&str; 4] = ["affine_map", "affine_set", "affine.", "sparse_tensor."];

/// A finding of MLIR in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Severity.
    pub severity: Severity,
    /// Its text, in MLIR's words.
    pub message: String,
    /// Line and column in the text, counted from 1; `None` if it has no place there.
    pub place: Option<(usize, usize)>,
    /// More to know, in MLIR's words.
    pub notes: Vec<String>,
}

impl Finding {
    pub(crate) fn error(message: impl Into<String>) -> Self {
        Self { severity: Severity::Error, message: message.into(), place: None, notes: Vec::new() }
    }

    pub(crate) fn new(diagnostic: &Diagnostic<'_>) -> Self {
        let severity = match diagnostic.severity() {
            DiagnosticSeverity::Error => Severity::Error,
            DiagnosticSeverity::Warning => Severity::Warning,
            DiagnosticSeverity::Note | DiagnosticSeverity::Remark => Severity::Remark,
        };
        let location = diagnostic.location();
        let place = location.is_file_line_col_range().then(|| {
            (location.file_line_col_range_start_line(), location.file_line_col_range_start_column())
        });
        let notes = (0..diagnostic.note_count()).filter_map(|index| diagnostic.note(index).ok());
        let notes = notes.map(|note| printed(&note)).collect();
        Self { severity, message: printed(diagnostic), place, notes }
    }
}

/// The text that MLIR prints. Names of a bytecode may be no UTF-8: then the text ends before them.
pub(crate) fn printed(value: &impl Display) -> String {
    let mut text = String::new();
    if write!(text, "{value}").is_err() {
        text.push_str("... (no UTF-8)");
    }
    text
}

/// An MLIR context that knows the dialects of an IRDL text.
#[derive(Debug)]
pub struct Mlir {
    context: Context,
    /// The context's list of findings.
    found: Rc<RefCell<Vec<Finding>>>,
}

impl Mlir {
    /// Loads the dialects that `irdl` declares.
    ///
    /// # Errors
    /// The findings of MLIR in a text that it refuses.
    pub fn new(irdl: &str) -> Result<Self, Vec<Finding>> {
        let registry = DialectRegistry::new();
        register_all_dialects(&registry);
        // One thread: findings come in the order of the text.
        let context = Context::new_with_registry(&registry, false);
        let found = Rc::new(RefCell::new(Vec::new()));
        let kept = Rc::clone(&found);
        context.attach_diagnostic_handler(move |diagnostic| {
            kept.borrow_mut().push(Finding::new(&diagnostic));
            true
        });
        let mlir = Self { context, found };
        let loaded = Module::parse(&mlir.context, irdl).is_some_and(|module| load_irdl_dialects(&module));
        if loaded { Ok(mlir) } else { Err(mlir.refused()) }
    }

    /// The findings of MLIR in a module: none of them is an error if it accepts it.
    #[must_use]
    pub fn verify(&self, text: &str) -> Vec<Finding> {
        if let Some(word) = UNBOUNDED.into_iter().find(|word| has_word(text, word)) {
            let message = format!(
                "found `{word}`: MLIR reads it without a bound, so it is not given to MLIR; visa has no use for \
                 it"
            );
            return vec![Finding::error(message)];
        }
        match Module::parse(&self.context, text) {
            Some(_) => self.found.take(),
            None => self.refused(),
        }
    }

    /// The findings in a text that MLIR refuses: at least one error.
    fn refused(&self) -> Vec<Finding> {
        let mut found = self.found.take();
        if !found.iter().any(|finding| finding.severity == Severity::Error) {
            found.push(Finding::error("MLIR does not take the text, and does not say why"));
        }
        found
    }
}

/// Returns true if a word begins somewhere in a text, other than in a name or a string that begins with it.
fn has_word(text: &str, word: &str) -> bool {
    let in_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"_.$-@%#!\"".contains(byte);
    text.match_indices(word).any(|(at, _)| !text[..at].bytes().next_back().as_ref().is_some_and(in_name))
}
