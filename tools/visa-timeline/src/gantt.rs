//! The timeline as a Gantt chart in a terminal: tracks, then the commands that take longest.

use std::fmt::Write;

use visa_ir::diag::counted;
use visa_words::{columns, printable, shortened};

use crate::document::{Document, Run};
use crate::lanes::union;
use crate::limits::drawn;

/// Commands that are shown at most.
const MOST_COMMANDS: usize = 60;
/// The narrowest chart.
const LEAST_WIDTH: usize = 40;
/// The widest one.
const MOST_WIDTH: usize = 1000;
/// Columns of a command's name.
const NAME: usize = 32;

/// The chart, in lines of `width` columns.
#[must_use]
pub fn gantt(document: &Document, width: usize) -> String {
    let document = &*drawn(document);
    let width = width.clamp(LEAST_WIDTH, MOST_WIDTH);
    let name = NAME.min(width / 3);
    let chart = Chart {
        document,
        name,
        columns: width.saturating_sub(name + 8).max(8),
        end: document.last_end().max(1),
    };
    let mut text =
        format!("{}: {} {}s\n", printable(&document.program), document.total, document.unit.name());
    if document.runs.is_empty() {
        text.push_str("no commands\n");
        return text;
    }
    text.push('\n');
    chart.axis(&mut text);
    for (track, own) in document.tracks.iter().enumerate() {
        let spans = document.runs.iter().filter(|run| document.commands[run.command].tracks.contains(&track));
        let busy = format!("{:.0}%", 100.0 * own.busy as f64 / document.total.max(1) as f64);
        chart.row(&own.name, &busy, spans.map(|run| [run.start, run.end]), &mut text);
    }
    text.push('\n');
    chart.commands(&mut text);
    text
}

struct Chart<'a> {
    document: &'a Document,
    name: usize,
    columns: usize,
    end: u64,
}

impl Chart<'_> {
    /// A tick at the left end of each time that is written.
    fn axis(&self, text: &mut String) {
        let mut line = String::new();
        let step = (self.end.to_string().len() + 3).max(12);
        for column in (0..self.columns).step_by(step) {
            let time = u128::from(self.end) * column as u128 / self.columns as u128;
            let label = format!("|{time}");
            if column + label.len() <= self.columns {
                let _infallible = write!(line, "{label:<step$}");
            }
        }
        push(text, &format!("{:<width$}{line}", "", width = self.name + 8));
    }

    /// A name, a number, and where the spans are.
    fn row(&self, name: &str, number: &str, spans: impl Iterator<Item = [u64; 2]>, text: &mut String) {
        push(text, &format!("{} {number:>5}  {}", fitted(name, self.name), self.bars(spans)));
    }

    /// A letter for each column: how much of its time is taken.
    fn bars(&self, spans: impl Iterator<Item = [u64; 2]>) -> String {
        let mut taken = vec![0.0_f64; self.columns];
        let mut touched = vec![false; self.columns];
        let width = self.end as f64 / self.columns as f64;
        let column = |time: u64| (time as f64 / width) as usize;
        for [start, end] in union(spans) {
            let (first, last) = (column(start).min(self.columns - 1), column(end).min(self.columns - 1));
            for (at, taken) in taken.iter_mut().enumerate().take(last + 1).skip(first) {
                let left = (at as f64 * width).max(start as f64);
                let right = ((at + 1) as f64 * width).min(end as f64);
                *taken += (right - left).max(0.0) / width;
            }
            touched[first] = true;
        }
        taken.into_iter().zip(touched).map(|(share, touched)| shade(share, touched)).collect()
    }

    /// The commands that take longest, in program order.
    fn commands(&self, text: &mut String) {
        let document = self.document;
        let mut runs: Vec<Vec<&Run>> = vec![Vec::new(); document.commands.len()];
        document.runs.iter().for_each(|run| runs[run.command].push(run));
        let time = |own: &[&Run]| own.iter().map(|run| run.end - run.start).fold(0_u64, u64::saturating_add);
        let mut shown: Vec<usize> = (0..runs.len()).collect();
        shown.sort_by_key(|&command| std::cmp::Reverse(time(&runs[command])));
        shown.truncate(MOST_COMMANDS);
        shown.sort_unstable();
        for &command in &shown {
            let own = &document.commands[command];
            let line = own.line.map_or_else(String::new, |line| format!(" (line {line})"));
            let name = format!("{}{line}", own.title());
            let number = format!("#{command}");
            self.row(&name, &number, runs[command].iter().map(|run| [run.start, run.end]), text);
            if let Some(compared) = &document.compared {
                let theirs = runs[command].iter().filter_map(|run| hull(&run.theirs));
                self.row(&format!("  {}", compared.with), "", theirs, text);
            }
        }
        let hidden = runs.len() - shown.len();
        if hidden > 0 {
            push(text, &format!("and {} of less time", counted(hidden, "command")));
        }
    }
}

/// From the first begin to the last end, of all clusters.
fn hull(spans: &[[u64; 2]]) -> Option<[u64; 2]> {
    let begin = spans.iter().map(|[begin, _]| *begin).min()?;
    Some([begin, spans.iter().map(|[_, end]| *end).fold(begin, u64::max)])
}

fn shade(share: f64, touched: bool) -> char {
    match share {
        share if share > 0.95 => '█',
        share if share > 0.6 => '▓',
        share if share > 0.3 => '▒',
        share if share > 0.0 || touched => '░',
        _free => ' ',
    }
}

/// A text in `width` columns: shortened, or with spaces after it.
fn fitted(text: &str, width: usize) -> String {
    let text = shortened(text, width);
    let blank = " ".repeat(width.saturating_sub(columns(&text)));
    text + &blank
}

fn push(text: &mut String, line: &str) {
    text.push_str(line.trim_end());
    text.push('\n');
}
