//! Findings about a module that was imported from Rust, at the lines of the Rust files.

use crate::author_names::AuthorNames;
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
    /// The author's names of operations.
    names: AuthorNames,
}

impl RustLines {
    /// The lines of an imported module, whose text is `text`.
    pub(crate) fn of(imported: Imported, text: &str) -> Self {
        let places = imported.places();
        let methods = text.lines().zip(&places).filter_map(|(line, place)| {
            let place = place.as_ref()?;
            let file = imported.sources.iter().find(|file| *file.name == *place.file)?;
            Some((operation(line)?, method(file, place)?))
        });
        let names = AuthorNames::of(methods);
        Self { places, files: imported.sources, names }
    }

    /// The author's names of operations.
    pub(crate) fn names(&self) -> &AuthorNames {
        &self.names
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
        let notes = finding.notes.iter().filter_map(|note| self.note(module, (file, place), note));
        let names =
            self.names.of_finding(finding).map(|message| Note { message, span: None, places: Vec::new() });
        let notes = notes.chain(names).collect();
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

/// The operation of a line of a module's text.
fn operation(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let made = line.split_once(" = ").filter(|_| line.starts_with('%')).map_or(line, |(_, made)| made);
    let name = made.split_whitespace().next()?;
    name.contains('.').then_some(name)
}

/// The method that is called at a position of a Rust file.
fn method<'a>(file: &'a Source, place: &SourcePosition) -> Option<&'a str> {
    let span = place.word(file)?.range();
    let calls = file.text[..span.start].trim_end().ends_with('.');
    calls.then(|| &file.text[span])
}
