//! MLIR in this process: a context that has loaded our dialects from IRDL.

use melior::Context;
use melior::diagnostic::{Diagnostic, DiagnosticSeverity};
use melior::dialect::DialectRegistry;
use melior::ir::Module;
use melior::utility::{load_irdl_dialects, register_all_dialects};
use std::cell::RefCell;
use std::rc::Rc;
use visa_ir::diag::Severity;

/// What MLIR says of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// How bad it is.
    pub severity: Severity,
    /// What it is, in MLIR's words.
    pub message: String,
    /// Line and column in the text, counted from 1; `None` if it has no place there.
    pub place: Option<(usize, usize)>,
    /// More to know, in MLIR's words.
    pub notes: Vec<String>,
}

impl Finding {
    fn new(diagnostic: &Diagnostic<'_>) -> Self {
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
        let notes = notes.map(|note| note.to_string()).collect();
        Self { severity, message: diagnostic.to_string(), place, notes }
    }
}

/// An MLIR context that knows the dialects of an IRDL text.
#[derive(Debug)]
pub struct Mlir {
    context: Context,
    /// Where the context puts what it finds.
    found: Rc<RefCell<Vec<Finding>>>,
}

impl Mlir {
    /// Loads the dialects that `irdl` declares.
    ///
    /// # Errors
    /// What MLIR says of a text that it does not take.
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

    /// What MLIR finds in a module: nothing of which is an error if it takes it.
    #[must_use]
    pub fn verify(&self, text: &str) -> Vec<Finding> {
        match Module::parse(&self.context, text) {
            Some(_) => self.found.take(),
            None => self.refused(),
        }
    }

    /// What was found in a text that MLIR does not take: at least one error.
    fn refused(&self) -> Vec<Finding> {
        let mut found = self.found.take();
        if !found.iter().any(|finding| finding.severity == Severity::Error) {
            let message = "MLIR does not take the text, and does not say why".to_owned();
            found.push(Finding { severity: Severity::Error, message, place: None, notes: Vec::new() });
        }
        found
    }
}
