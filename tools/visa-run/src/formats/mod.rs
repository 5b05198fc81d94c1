//! The formats of `--report`, a file each.

mod html;
mod json;
mod text;
mod timeline;

pub use json::Document;

use crate::compare::Comparison;
use crate::ran::Ran;
use crate::relabelled::RelabelledEntry;
use visa_cost::Report;
use visa_hw::program::Program;
use visa_ir::span::Span;

/// A format of `--report`.
pub(crate) trait Format: Sync {
    /// Its name on the command line.
    fn name(&self) -> &'static str;

    /// Returns true if it is drawn from the timeline.
    fn is_picture(&self) -> bool {
        false
    }

    /// Returns true if it shows advice.
    fn shows_advice(&self) -> bool {
        false
    }

    /// The text of a run.
    ///
    /// # Errors
    /// A code, and the reason why there is no text.
    fn show(&self, run: &Shown<'_>) -> Result<String, (&'static str, String)>;
}

/// All formats; the first is the default.
static FORMATS: &[&dyn Format] = &[&text::Text, &json::Json, &timeline::Chart, &html::Page];

/// The data of a run that a format shows.
pub(crate) struct Shown<'a> {
    pub(crate) program: &'a Program,
    /// The results; none where the price alone is asked for.
    pub(crate) ran: Option<&'a Ran>,
    pub(crate) report: &'a Report,
    pub(crate) compared: Option<&'a Comparison>,
    pub(crate) relabelled: Vec<RelabelledEntry>,
    /// The timeline, if a picture is asked for.
    pub(crate) document: Option<&'a visa_timeline::Document>,
    /// True if a report is requested, and not the total alone.
    pub(crate) whole: bool,
    /// Columns of a chart, if they are asked for.
    pub(crate) width: Option<usize>,
    /// The line of the author's text that a span is in.
    pub(crate) line: &'a dyn Fn(Span) -> Option<String>,
}

/// The names of the formats, for the command line, which refuses others.
pub(crate) fn names() -> Vec<&'static str> {
    FORMATS.iter().map(|format| format.name()).collect()
}

/// The format of that name; the first without one.
pub(crate) fn of(name: Option<&str>) -> &'static dyn Format {
    *FORMATS.iter().find(|format| Some(format.name()) == name).unwrap_or(&FORMATS[0])
}
