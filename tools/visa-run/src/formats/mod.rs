//! The formats of `--report`, a file each.

mod html;
mod json;
mod text;
mod timeline;

pub use json::Document;

use crate::author_names::AuthorNames;
use crate::compare::Comparison;
use crate::order_line::OrderLine;
use crate::ports::Ports;
use crate::ran::Ran;
use crate::relabelled::RelabelledEntry;
use std::fmt;
use visa_cost::Report;
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

/// The format without `--report`.
pub(crate) static DEFAULT: &dyn Format = &text::Text;

/// All formats.
static FORMATS: &[&dyn Format] = &[&text::Text, &json::Json, &timeline::Chart, &html::Page];

/// The data of a run that a format shows.
pub(crate) struct Shown<'a> {
    pub(crate) ports: &'a Ports,
    /// The results; none where the price alone is asked for.
    pub(crate) ran: Option<&'a Ran>,
    /// The cost; `None` for a kernel that was evaluated.
    pub(crate) report: Option<&'a Report>,
    /// The order of its commands, if it is not that of the text.
    pub(crate) order: Option<&'a OrderLine>,
    pub(crate) compared: Option<&'a Comparison>,
    pub(crate) relabelled: Vec<RelabelledEntry>,
    /// The timeline, if a picture is asked for.
    pub(crate) document: Option<&'a visa_timeline::Document>,
    /// True if a report is requested, and not the total alone.
    pub(crate) whole: bool,
    /// Columns of a chart, if they are asked for.
    pub(crate) width: Option<usize>,
    /// The names of operations in the author's Rust, if the kernel is in Rust.
    pub(crate) names: Option<&'a AuthorNames>,
    /// The line of the author's text that a span is in.
    pub(crate) line: &'a dyn Fn(Span) -> Option<String>,
}

impl Shown<'_> {
    /// The timeline, which a picture is drawn from.
    ///
    /// # Errors
    /// If none was made: a mistake in the format, which does not declare that it is a picture.
    pub(crate) fn timeline(&self) -> Result<&visa_timeline::Document, (&'static str, String)> {
        self.document.ok_or_else(|| ("timeline", "no timeline was made for this report".to_owned()))
    }
}

/// The names of the formats, for the command line, which refuses others.
pub(crate) fn names() -> Vec<&'static str> {
    FORMATS.iter().map(|format| format.name()).collect()
}

/// The format of that name.
pub(crate) fn named(name: &str) -> Option<&'static dyn Format> {
    FORMATS.iter().copied().find(|format| format.name() == name)
}

impl fmt::Debug for dyn Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
