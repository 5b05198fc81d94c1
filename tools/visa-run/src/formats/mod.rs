//! The formats of `--report`, a file each.

mod html;
mod json;
mod text;
mod timeline;

pub use json::Document;

use crate::compare::Comparison;
use crate::flags::Flags;
use crate::relabelled::RelabelledEntry;
use crate::stages::run::Ran;
use visa_cost::{Each, Report};
use visa_hw::program::{Program, runs};
use visa_ir::span::Span;

/// Most runs that a picture has one by one.
const MOST_RUNS: u64 = 1 << 21;
/// Most runs whose memory a picture follows.
const MOST_WITH_MEMORY: u64 = 200_000;

/// A format of `--report`.
pub(crate) trait Format: Sync {
    /// Its name on the command line.
    fn name(&self) -> &'static str;

    /// Whether it is drawn from the timeline.
    fn is_picture(&self) -> bool {
        false
    }

    /// Whether it shows what could be better.
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

/// What a format shows of a run.
pub(crate) struct Shown<'a> {
    pub(crate) program: &'a Program,
    /// The results; none where the price alone is asked for.
    pub(crate) ran: Option<&'a Ran>,
    pub(crate) report: &'a Report,
    pub(crate) compared: Option<&'a Comparison>,
    pub(crate) relabelled: Vec<RelabelledEntry>,
    /// The timeline, if a picture is asked for.
    pub(crate) document: Option<&'a visa_timeline::Document>,
    pub(crate) flags: &'a Flags,
    /// The line of the author's text that a span is in.
    pub(crate) line: &'a dyn Fn(Span) -> Option<String>,
}

/// The names of the formats, for the command line, which refuses others.
pub(crate) fn names() -> Vec<&'static str> {
    FORMATS.iter().map(|format| format.name()).collect()
}

/// The format that the flags name; the first without one.
pub(crate) fn of(flags: &Flags) -> &'static dyn Format {
    let named = flags.report.as_deref();
    *FORMATS.iter().find(|format| Some(format.name()) == named).unwrap_or(&FORMATS[0])
}

/// Whether what could be better is shown.
pub(crate) fn wants_advice(flags: &Flags) -> bool {
    flags.timeline.is_some() || of(flags).shows_advice()
}

/// What is wanted of each run of a program: of those of a picture as much as it can show.
pub(crate) fn extent(flags: &Flags, program: &Program) -> Each {
    let pictures = crate::pictures::asked(flags);
    let count = runs(&program.commands);
    if pictures && count <= MOST_WITH_MEMORY {
        Each::PlaceAndMemory
    } else if flags.compare.is_some() || pictures && count <= MOST_RUNS {
        Each::Place
    } else {
        Each::Nothing
    }
}
