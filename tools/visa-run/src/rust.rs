//! Findings about a module that was imported from Rust, at the lines of the Rust files.

use std::path::Path;
use visa_import::{Imported, SourcePosition};
use visa_ir::diag::{Diagnostic, FilePlace, Note};
use visa_ir::span::{Source, Span};

/// Where the lines of an imported module come from.
pub(crate) struct RustLines {
    /// For each line of the module's text.
    places: Vec<Option<SourcePosition>>,
    /// The files that were read.
    files: Vec<Source>,
}

impl RustLines {
    pub(crate) fn of(imported: Imported) -> Self {
        let places = imported.places();
        Self { places, files: imported.sources }
    }

    /// The origin of a span of the module's text.
    fn place(&self, module: &Source, span: Span) -> Option<&SourcePosition> {
        self.places.get(module.line(span.range().start).checked_sub(1)?)?.as_ref()
    }

    /// The line of the Rust file; with the file's name, if there are several.
    pub(crate) fn line(&self, module: &Source, span: Span) -> Option<String> {
        let place = self.place(module, span)?;
        let mut files: Vec<&str> = self.places.iter().flatten().map(|place| &*place.file).collect();
        files.dedup();
        let several = files.iter().any(|file| *file != &*place.file);
        let name = Path::new(&*place.file).file_name().map(|name| name.display().to_string());
        Some(match name.filter(|_| several) {
            Some(name) => format!("{name}:{}", place.line),
            None => place.line.to_string(),
        })
    }

    /// The name of the Rust file, without its folder, and the line.
    pub(crate) fn file_line(&self, module: &Source, span: Span) -> Option<(String, usize)> {
        let place = self.place(module, span)?;
        let name = Path::new(&*place.file).file_name()?;
        Some((name.to_string_lossy().into_owned(), place.line))
    }

    /// The files that were read.
    pub(crate) fn files(&self) -> &[Source] {
        &self.files
    }

    /// The number of the Rust file among those, and the line.
    pub(crate) fn file_number_line(&self, module: &Source, span: Span) -> Option<(usize, usize)> {
        let place = self.place(module, span)?;
        Some((self.files.iter().position(|file| *file.name == *place.file)?, place.line))
    }

    /// The place in the Rust file, as text.
    pub(crate) fn place_text(&self, module: &Source, span: Span) -> Option<String> {
        self.place(module, span).map(ToString::to_string)
    }

    /// A finding about the module as one about a Rust file; `None` for code that the importer itself made.
    pub(crate) fn shown(&self, module: &Source, finding: &Diagnostic) -> Option<(&Source, Diagnostic)> {
        let place = self.place(module, finding.span)?;
        let file = self.files.iter().find(|file| *file.name == *place.file)?;
        let notes = finding.notes.iter().filter_map(|note| self.note(module, (file, place), note)).collect();
        Some((file, Diagnostic { span: place.word(file)?, notes, ..finding.clone() }))
    }

    /// A note under a finding at a position. Its origin has been reported already.
    fn note(&self, module: &Source, (file, at): (&Source, &SourcePosition), note: &Note) -> Option<Note> {
        let is_here = |place: &FilePlace| {
            *place.file == *at.file && (place.line as usize, place.column as usize) == (at.line, at.column)
        };
        if !note.places.is_empty() && note.places.iter().all(is_here) {
            return None;
        }
        let Some(place) = note.span.and_then(|span| self.place(module, span)) else {
            return Some(Note { span: None, ..note.clone() });
        };
        Some(match (place == at, *place.file == *file.name) {
            (true, _) => Note { span: None, ..note.clone() },
            (false, true) => Note { span: place.word(file), ..note.clone() },
            (false, false) => {
                Note { message: format!("{}: {place}", note.message), span: None, ..note.clone() }
            }
        })
    }
}
