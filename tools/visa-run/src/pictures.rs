//! The timeline of a run, and the files that are asked for of it.

use std::collections::BTreeMap;
use std::io::{self, BufWriter, Write};

use serde::Serialize as _;
use serde_json::ser::{Formatter, Serializer};
use visa_cost::{Each, Report, Timeline};
use visa_hw::program::{Program, runs};
use visa_ir::diag::{Diagnostic, visible_json};
use visa_ir::span::{Source, Span};
use visa_machine::Machine;
use visa_timeline::document::{Advice, Alone, Compared, Text};
use visa_timeline::{Document, TimelineInput, collect};

use crate::compare::Comparison;
use crate::flags::Flags;
use crate::rust::RustLines;

/// Most runs that a picture has one by one.
const MOST_RUNS: u64 = 1 << 21;
/// Most runs whose memory a picture follows.
const MOST_WITH_MEMORY: u64 = 200_000;

/// The source of advice that is the explanation of a plan.
pub(crate) const PLAN: &str = "plan";

/// Returns true if a timeline is requested.
pub(crate) fn asked(flags: &Flags) -> bool {
    flags.timeline.is_some() || flags.trace.is_some() || flags.viewer.is_some() || flags.format().is_picture()
}

/// Returns true if advice is collected.
pub(crate) fn advised(flags: &Flags) -> bool {
    flags.timeline.is_some() || flags.format().shows_advice() || flags.advise
}

/// The extent of the record of each run of a program: for a chart as much as it can show.
pub(crate) fn extent(flags: &Flags, program: &Program) -> Each {
    let pictures = asked(flags);
    let count = runs(&program.commands);
    let compares = flags.compare.is_some();
    if (compares || pictures) && count <= MOST_WITH_MEMORY {
        Each::PlaceAndMemory
    } else if compares || pictures && count <= MOST_RUNS {
        Each::Place
    } else {
        Each::Nothing
    }
}

/// The kernel as written, and the positions of its findings.
pub(crate) struct Written<'a> {
    pub(crate) source: Option<&'a Source>,
    pub(crate) rust: Option<&'a RustLines>,
}

impl Written<'_> {
    fn texts(&self) -> Vec<Text> {
        let text = |source: &Source| Text { name: source.name.to_string(), text: source.text.to_string() };
        match (self.rust, self.source) {
            (Some(rust), _) => rust.files().iter().map(text).collect(),
            (None, source) => source.into_iter().map(text).collect(),
        }
    }

    /// The text and the line that a span is in.
    fn place(&self, span: Span) -> Option<(usize, usize)> {
        let source = self.source?;
        match self.rust {
            Some(rust) => rust.file_number_line(source, span),
            None if span == Span::default() => None,
            None => Some((0, source.line(span.range().start))),
        }
    }

    /// The name of the value that a line makes: `%name = ...`, or `let name = ...` in Rust.
    fn name(&self, span: Span) -> Option<String> {
        let (text, line) = self.place(span)?;
        let source = match self.rust {
            Some(rust) => rust.files().get(text)?,
            None => self.source?,
        };
        let line = source.text.get(source.line_range(line)?)?.trim();
        let made = line.strip_prefix("let mut ").or_else(|| line.strip_prefix("let ")).unwrap_or(line);
        let (name, _) = made.split_once([' ', ',', ':', '='])?;
        let is_name = name.starts_with('%') || made.len() < line.len();
        (is_name && !name.is_empty()).then(|| name.to_owned())
    }
}

/// The subject of the timeline.
pub(crate) struct Kernel<'a> {
    pub(crate) program: &'a Program,
    pub(crate) machine: &'a Machine,
    pub(crate) report: &'a Report,
    pub(crate) compared: Option<&'a Comparison>,
    pub(crate) written: Written<'a>,
    /// The advice of passes, with their names.
    pub(crate) advice: Vec<(&'static str, Diagnostic)>,
}

/// The timeline as data.
pub(crate) fn document(kernel: Kernel<'_>, timeline: Option<Timeline>) -> Document {
    let Kernel { program, machine, report, compared, written, advice } = kernel;
    let names = written.rust.map(RustLines::names);
    let advice = advice.into_iter().map(|(from, finding)| {
        let place = written.place(finding.span);
        let (text, line) = (place.map(|(text, _)| text), place.map(|(_, line)| line));
        let named = names.and_then(|names| names.of_finding(&finding));
        let message = std::iter::once(whole(from, &finding)).chain(named).collect::<Vec<_>>().join("\n");
        Advice { from, message, text, line }
    });
    let mut document = collect(TimelineInput {
        program,
        machine,
        report,
        timeline,
        texts: written.texts(),
        place: &|span| written.place(span),
        name: &|span| written.name(span),
        compared: compared.map(beside),
        theirs: compared.map_or_else(BTreeMap::new, |compared| compared.spans.clone()),
        advice: advice.collect(),
    });
    if let Some(names) = names {
        document.commands.iter_mut().for_each(|command| command.label = names.label(&command.label));
    }
    document
}

/// The message of a finding; of a plan also its notes, in lines after it.
fn whole(from: &str, finding: &Diagnostic) -> String {
    if from != PLAN {
        return finding.message.clone();
    }
    let lines = std::iter::once(&finding.message).chain(finding.notes.iter().map(|note| &note.message));
    lines.map(String::as_str).collect::<Vec<_>>().join("\n")
}

fn beside(compared: &Comparison) -> Compared {
    let alone = compared.theirs_alone.iter().map(|alone| Alone {
        kind: alone.kind.name(),
        start: alone.begin,
        end: alone.begin.saturating_add(alone.time),
        name: alone.name.clone(),
    });
    Compared { with: compared.with, makespan: compared.makespans[1], alone: alone.collect() }
}

/// JSON without blanks, whose strings a terminal may show.
struct Visible;

impl Formatter for Visible {
    fn write_string_fragment<W: ?Sized + Write>(&mut self, out: &mut W, fragment: &str) -> io::Result<()> {
        out.write_all(visible_json(fragment).as_bytes())
    }
}

/// A file that is asked for.
pub(crate) enum Picture {
    /// The timeline as data.
    Data,
    /// For Perfetto.
    Trace,
    /// For the vendor's viewer.
    Viewer(String),
}

impl Picture {
    /// Writes it.
    pub(crate) fn write(&self, document: &Document, out: &mut dyn Write) -> io::Result<()> {
        match self {
            Self::Data => {
                let mut out = BufWriter::new(out);
                document.serialize(&mut Serializer::with_formatter(&mut out, Visible))?;
                out.write_all(b"\n")?;
                out.flush()
            }
            Self::Trace => visa_timeline::perfetto::trace(document, out),
            Self::Viewer(text) => out.write_all(text.as_bytes()),
        }
    }
}

/// The files that are asked for, by name.
///
/// # Errors
/// Why one cannot be made.
pub(crate) fn files(flags: &Flags, document: &Document) -> Result<Vec<(String, Picture)>, String> {
    let mut files = Vec::new();
    files.extend(flags.timeline.clone().map(|name| (name, Picture::Data)));
    if let Some(name) = flags.trace.clone() {
        if let Some(why) = visa_timeline::perfetto::refused(document) {
            return Err(why);
        }
        files.push((name, Picture::Trace));
    }
    if let Some(name) = flags.viewer.clone() {
        files.push((name, Picture::Viewer(visa_timeline::viewer::schedule(document)?)));
    }
    Ok(files)
}
