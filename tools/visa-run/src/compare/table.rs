//! The comparison as text and as JSON.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::Serialize;
use visa_cost::{NAME_WIDTH, TimeUnit};
use visa_ir::diag::counted;
use visa_words::{columns, shortened};

use super::align::{Aligned, Partner};
use super::foreign::{Entry, Foreign, Kind, Ours};

/// Tenths of the commands of each side that must have a partner: else the file is taken for another kernel's.
pub(crate) const LEAST_COMPARED: usize = 5;

/// The same for a file whose order is taken: a command that it lacks has no place in it.
pub(crate) const LEAST_ORDERED: usize = 9;

/// Places that are named where the makespans part.
const PLACES: usize = 5;

/// The data of both sides, side by side.
#[derive(Debug, Serialize)]
pub(crate) struct Comparison {
    /// `the trace` or `the schedule`.
    pub(crate) with: &'static str,
    pub(crate) unit: TimeUnit,
    /// From the first command to the last: ours, theirs.
    pub(crate) makespans: [u64; 2],
    /// Runs of ours with a partner, and all of them.
    pub(crate) aligned: [usize; 2],
    pub(crate) commands: Vec<Pair>,
    pub(crate) kinds: Vec<Sum>,
    /// Commands of ours without a partner.
    pub(crate) ours_alone: Vec<Alone>,
    /// Commands of theirs without one.
    pub(crate) theirs_alone: Vec<Alone>,
    /// Where the makespans part, the greatest change first.
    pub(crate) parts: Vec<Part>,
    pub(crate) warnings: Vec<String>,
    /// The begin and end of each run on their side, by its index among all runs of ours.
    #[serde(skip)]
    pub(crate) spans: BTreeMap<usize, Vec<[u64; 2]>>,
}

/// A command that both sides have.
#[derive(Debug, Serialize)]
pub(crate) struct Pair {
    pub(crate) command: usize,
    /// The tensor that ours moves or makes, in the kernel's names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ours: Option<String>,
    pub(crate) kind: Kind,
    pub(crate) predicted: u64,
    /// The mean of the clusters.
    pub(crate) theirs: f64,
    /// Predicted over theirs; `None` if theirs is hidden by a transfer before it, or waits on every cluster.
    pub(crate) ratio: Option<f64>,
    /// Each cluster's.
    pub(crate) clusters: Vec<u64>,
    /// Probability that the pair is right, of the cluster with the least.
    pub(crate) sure: f64,
    /// Reason for a time that is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) note: Option<&'static str>,
    /// Name of theirs.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) name: String,
}

/// All pairs of a kind.
#[derive(Debug, Serialize)]
pub(crate) struct Sum {
    pub(crate) kind: Kind,
    pub(crate) commands: usize,
    pub(crate) predicted: u64,
    pub(crate) theirs: f64,
    /// `None` if theirs take no time.
    pub(crate) ratio: Option<f64>,
    /// Part of the pairs that are at most a tenth apart.
    pub(crate) within_a_tenth: f64,
}

/// A command that one side lacks.
#[derive(Debug, Serialize)]
pub(crate) struct Alone {
    /// Its number, if it is ours.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) command: Option<usize>,
    pub(crate) kind: Kind,
    pub(crate) begin: u64,
    pub(crate) time: u64,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) name: String,
}

/// A command at whose end one side has fallen behind, or caught up.
#[derive(Debug, Serialize)]
pub(crate) struct Part {
    pub(crate) command: usize,
    /// The tensor that it moves or makes, in the kernel's names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<String>,
    /// Growth of the delay of theirs against ours; less than 0 if it catches up.
    pub(crate) change: f64,
}

impl Comparison {
    /// Aligns both sides.
    pub(crate) fn new(ours: &[Ours], foreign: &Foreign, aligned: &Aligned) -> Self {
        let entry = |at: &usize| &foreign.entries[*at];
        let pairs = ours.iter().zip(&aligned.pairs).filter(|(_, theirs)| !theirs.is_empty());
        let commands: Vec<Pair> = pairs.map(|(own, theirs)| pair(own, theirs, foreign)).collect();
        let alone = ours.iter().zip(&aligned.pairs).filter(|(_, theirs)| theirs.is_empty());
        let start = ours.iter().map(|own| own.start).min().unwrap_or_default();
        let end = ours.iter().map(|own| own.end).max().unwrap_or_default();
        Self {
            with: foreign.what,
            unit: foreign.unit,
            makespans: [end - start, foreign.makespan],
            aligned: [commands.len(), ours.len()],
            kinds: Kind::ALL.into_iter().filter_map(|kind| sum(kind, &commands)).collect(),
            commands,
            ours_alone: alone
                .map(|(own, _)| Alone {
                    command: Some(own.command),
                    kind: own.kind,
                    begin: own.start,
                    time: own.time(),
                    name: own.name.clone().unwrap_or_default(),
                })
                .collect(),
            theirs_alone: aligned.theirs.iter().map(entry).map(of_theirs).collect(),
            parts: parts(ours, foreign, aligned),
            warnings: foreign.warnings.clone(),
            spans: spans(ours, foreign, aligned),
        }
    }

    /// The warning if so few commands align, in tenths of each side's, that the file may be another kernel's.
    pub(crate) fn other_kernel(&self, tenths: usize) -> Option<String> {
        let [found, all] = self.aligned;
        let theirs = self.commands.iter().map(|pair| pair.clusters.len()).sum::<usize>();
        let all_theirs = theirs + self.theirs_alone.len();
        let least = |whole: usize| (whole * tenths).div_ceil(10).max(1);
        (found < least(all) || theirs < least(all_theirs)).then(|| {
            format!(
                "{found} of {all} commands align with {}, and {theirs} of its {all_theirs} with ours: it looks \
                 like another kernel's, expected at least {} and {}",
                self.with,
                least(all),
                least(all_theirs)
            )
        })
    }
}

fn spans(ours: &[Ours], foreign: &Foreign, aligned: &Aligned) -> BTreeMap<usize, Vec<[u64; 2]>> {
    let span = |at: &Partner| [foreign.entries[at.entry].begin, foreign.entries[at.entry].end];
    let pairs = ours.iter().zip(&aligned.pairs).filter(|(_, theirs)| !theirs.is_empty());
    pairs.map(|(own, theirs)| (own.run, theirs.iter().map(span).collect())).collect()
}

fn of_theirs(entry: &Entry) -> Alone {
    Alone {
        command: None,
        kind: entry.kind,
        begin: entry.begin,
        time: entry.time(),
        name: entry.name.clone(),
    }
}

fn pair(own: &Ours, partners: &[Partner], foreign: &Foreign) -> Pair {
    let entries: Vec<&Entry> = partners.iter().map(|at| &foreign.entries[at.entry]).collect();
    let (synced, idle) =
        (entries.iter().any(|entry| entry.synced), entries.iter().any(|entry| own.is_idle(entry)));
    // Clusters that wait or are idle are left out of the mean, if another one did the work.
    let working = entries.iter().filter(|entry| !entry.synced && !own.is_idle(entry));
    let mut times: Vec<u64> = working.map(|entry| entry.time()).collect();
    let ratio_is_known = !times.is_empty();
    let clusters: Vec<u64> = entries.iter().map(|entry| entry.time()).collect();
    if times.is_empty() {
        times.clone_from(&clusters);
    }
    let mean = times.iter().map(|&time| time as f64).sum::<f64>() / times.len().max(1) as f64;
    Pair {
        command: own.command,
        ours: own.name.clone(),
        kind: own.kind,
        predicted: own.time(),
        theirs: mean,
        ratio: ratio(own.time(), mean).filter(|_| ratio_is_known),
        clusters,
        sure: partners.iter().map(|partner| partner.sure).fold(1.0, f64::min),
        note: match (synced, idle) {
            (true, _) => Some("waits for the other cluster"),
            (false, true) => Some("one cluster moves nothing"),
            (false, false) => None,
        },
        name: entries.first().map(|entry| entry.name.clone()).unwrap_or_default(),
    }
}

/// The prediction divided by theirs; `None` if theirs takes no time.
fn ratio(predicted: u64, theirs: f64) -> Option<f64> {
    (theirs > 0.0).then(|| predicted as f64 / theirs)
}

/// A ratio in text: `-` where there is none.
fn shown(ratio: Option<f64>) -> String {
    ratio.map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.3}"))
}

fn sum(kind: Kind, commands: &[Pair]) -> Option<Sum> {
    let hidden = |pair: &Pair| pair.theirs == 0.0;
    let own: Vec<&Pair> =
        commands.iter().filter(|pair| pair.kind == kind && (pair.ratio.is_some() || hidden(pair))).collect();
    let (predicted, theirs) =
        (own.iter().map(|pair| pair.predicted).sum::<u64>(), own.iter().map(|pair| pair.theirs).sum::<f64>());
    let near = own.iter().filter(|pair| pair.ratio.is_some_and(|ratio| (ratio - 1.0).abs() <= 0.1)).count();
    (!own.is_empty()).then(|| Sum {
        kind,
        commands: own.len(),
        predicted,
        theirs,
        ratio: ratio(predicted, theirs),
        within_a_tenth: near as f64 / own.len() as f64,
    })
}

/// Where the ends of pairs drift apart: when the commands up to each of ours have ended, on both sides.
fn parts(ours: &[Ours], foreign: &Foreign, aligned: &Aligned) -> Vec<Part> {
    let start = ours.iter().map(|own| own.start).min().unwrap_or_default();
    let mut ends: Vec<(u64, usize, &Option<String>, f64)> = Vec::new();
    for (own, theirs) in ours.iter().zip(&aligned.pairs).filter(|(_, theirs)| !theirs.is_empty()) {
        let each = theirs.iter().map(|at| foreign.entries[at.entry].end as f64);
        ends.push((own.end, own.command, &own.name, each.sum::<f64>() / theirs.len() as f64));
    }
    ends.sort_by_key(|(end, command, ..)| (*end, *command));
    let (mut before, mut reached) = (0.0, 0.0_f64);
    let mut parts: Vec<Part> = ends
        .into_iter()
        .map(|(own, command, name, theirs)| {
            reached = reached.max(theirs);
            let lag = reached - (own - start) as f64;
            let change = lag - before;
            before = lag;
            Part { command, name: name.clone(), change }
        })
        .collect();
    parts.sort_by(|own, other| other.change.abs().total_cmp(&own.change.abs()));
    parts.truncate(PLACES);
    parts
}

/// The comparison for people. `line` gives a command's line in the source.
pub(crate) fn text(found: &Comparison, line: impl Fn(usize) -> Option<String>) -> String {
    let unit = found.unit.name();
    let mut out = format!("compared with {}, in {unit}s\n\n", found.with);
    table(found, line, &mut out);
    out.push('\n');
    let [ours, theirs] = found.makespans;
    let total = shown(ratio(ours, theirs as f64));
    let _ = writeln!(out, "total     {ours} predicted, {theirs} by {}, ratio {total}", found.with);
    for sum in &found.kinds {
        let _ = writeln!(
            out,
            "{:<8}  {}: {} predicted, {:.0} theirs, ratio {}; {:.0}% of them within a tenth",
            sum.kind.name(),
            counted(sum.commands as u64, "command"),
            sum.predicted,
            sum.theirs,
            shown(sum.ratio),
            sum.within_a_tenth * 100.0
        );
    }
    for alone in &found.ours_alone {
        let number = alone.command.map(|command| command.to_string()).unwrap_or_default();
        let _ = writeln!(
            out,
            "ours      {number}: {} of {} {unit}s{} has no partner",
            alone.kind.name(),
            alone.time,
            bracketed(&alone.name)
        );
    }
    for alone in &found.theirs_alone {
        let name = bracketed(&alone.name);
        let (kind, time, begin) = (alone.kind.name(), alone.time, alone.begin);
        let _ = writeln!(out, "theirs    {kind} of {time} {unit}s at {begin}{name} has no partner");
    }
    for part in &found.parts {
        let way = if part.change < 0.0 { "catches up" } else { "falls behind" };
        let change = part.change.abs();
        let name = bracketed(part.name.as_deref().unwrap_or_default());
        let _ =
            writeln!(out, "parts     at {}{name} {} {way} by {change:.0} {unit}s", part.command, found.with);
    }
    out
}

/// A name after its subject, if there is one.
fn bracketed(name: &str) -> String {
    if name.is_empty() { String::new() } else { format!(" ({})", shortened(name, NAME_WIDTH)) }
}

/// The column of the tensors that our commands move or make; present if some command has one.
const OURS: usize = 2;

/// Heads of the columns, and whether they hold numbers (aligned right).
const COLUMNS: [(&str, bool); 10] = [
    ("#", true),
    ("line", true),
    ("command", false),
    ("kind", false),
    ("predicted", true),
    ("theirs", true),
    ("ratio", true),
    ("sure", true),
    ("clusters", false),
    ("name", false),
];

/// The pairs, a row each.
fn table(found: &Comparison, line: impl Fn(usize) -> Option<String>, out: &mut String) {
    let head = COLUMNS.map(|(head, _)| head.to_owned());
    let rows: Vec<_> = found.commands.iter().map(|pair| row(pair, &line)).collect();
    let width =
        |column: usize| rows.iter().chain([&head]).map(|row| columns(&row[column])).max().unwrap_or(0);
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    let named = found.commands.iter().any(|pair| pair.ours.is_some());
    for row in [&head].into_iter().chain(&rows) {
        let cells = row.iter().zip(COLUMNS).zip(&widths).enumerate();
        let shown = cells.filter(|(column, _)| named || *column != OURS);
        let cells: Vec<String> = shown
            .map(|(_, ((cell, (_, is_number)), &width))| {
                let blank = " ".repeat(width.saturating_sub(columns(cell)));
                if is_number { blank + cell } else { cell.clone() + &blank }
            })
            .collect();
        out.push_str(cells.join("  ").trim_end());
        out.push('\n');
    }
}

fn row(pair: &Pair, line: &impl Fn(usize) -> Option<String>) -> [String; COLUMNS.len()] {
    let clusters: Vec<String> = pair.clusters.iter().map(u64::to_string).collect();
    [
        pair.command.to_string(),
        line(pair.command).unwrap_or_else(|| "-".to_owned()),
        pair.ours.as_deref().map_or_else(|| "-".to_owned(), |name| shortened(name, NAME_WIDTH)),
        pair.kind.name().to_owned(),
        pair.predicted.to_string(),
        format!("{:.0}", pair.theirs),
        shown(pair.ratio),
        format!("{:.0}%", pair.sure * 100.0),
        if clusters.len() > 1 { clusters.join(" ") } else { String::new() },
        pair.note.map_or_else(|| pair.name.clone(), ToOwned::to_owned),
    ]
}

#[cfg(test)]
mod tests {
    use super::{ratio, shown};

    #[test]
    fn no_time_gives_no_ratio() {
        assert_eq!(ratio(5, 0.0), None);
        assert_eq!(
            (shown(ratio(5, 0.0)), shown(ratio(0, 4.0)), shown(ratio(1, 1.0))),
            ("-".into(), "0.000".into(), "1.000".into())
        );
    }
}
