//! The report as a table, for the kernel's author.

use std::fmt::Write;
use visa_ir::diag::counted;
use visa_machine::Medium;
use visa_words::{columns, shortened};

use visa_ir::span::Span;

use crate::report::{
    Bound, ChannelReport, CommandReport, ContractionReport, MemoryReport, NoiseReport, Report, Stalls,
    TimeUnit,
};
use crate::traffic::{Moved, Traffic};

/// The column of how often commands run, which is there where one runs more than once.
const RUNS: &str = "runs";

/// The column of the tensors that commands move or make, present if some command specifies one.
const NAME: &str = "name";

/// The widest name of a command in a table; the whole is in JSON.
pub const NAME_WIDTH: usize = 40;

/// Heads of the columns, and whether they hold numbers (aligned right).
const COLUMNS: [(&str, bool); 11] = [
    ("#", true),
    ("line", true),
    ("context", false),
    (NAME, false),
    ("command", false),
    (RUNS, true),
    ("start", true),
    ("end", true),
    ("cycles", true),
    ("bottleneck", false),
    ("waits for", false),
];

impl Report {
    /// A table of the commands, then the totals. `lines` gives the line of the source that a span is in.
    pub fn text(&self, lines: impl Fn(Span) -> Option<String>) -> String {
        let chips = if self.chips == 1 { "chip" } else { "chips" };
        let mut text = format!("{} on {}, {} {chips}\n\n", self.program, self.machine, self.chips);
        let rows: Vec<_> = self.commands.iter().map(|command| row(command, lines(command.span))).collect();
        let shown = |head: &str| match head {
            RUNS => self.commands.iter().any(|command| command.runs > 1),
            NAME => self.commands.iter().any(|command| command.name.is_some()),
            _always => true,
        };
        table(&mut text, &rows, self.unit, shown);
        text.push('\n');
        for (name, value) in self.total_rows() {
            push_line(&mut text, &format!("{name:<8}  {value}"));
        }
        text
    }

    fn total_rows(&self) -> Vec<(&'static str, String)> {
        let totals = &self.totals;
        let time = format!(
            "{}, {:.3} us at {} GHz",
            counted(totals.cycles, self.unit.name()),
            totals.microseconds,
            self.clock_ghz
        );
        let busy = totals.busy.iter().filter(|busy| busy.cycles > 0).map(|busy| {
            format!("{} {} ({})", busy.resource.name(), busy.cycles, percent(busy.cycles, totals.cycles))
        });
        let busy = busy.chain(queues(&totals.dma_queues)).collect::<Vec<_>>().join(", ");
        let mut work = format!("{} MACs", totals.macs);
        if let Some(share) = totals.share_of_peak {
            let _infallible = write!(work, ", {:.2}% of peak", share * 100.0);
        }
        if let Some(intensity) = totals.operations_per_hbm_byte {
            let _infallible = write!(work, ", {intensity:.2} operations per HBM byte");
        }
        let mut rows = vec![("total", time)];
        if let Some(NoiseReport { jobs, cold }) = self.noise {
            let [[least, most], [cold_least, cold_most]] = [jobs, cold];
            rows.push((
                "runs",
                format!("medians of warm jobs {least} to {most}, cold runs {cold_least} to {cold_most}"),
            ));
        }
        rows.extend([("busy", busy), ("work", work), ("bytes", traffic(&totals.bytes))]);
        for command in &self.commands {
            rows.extend(command.memory.as_ref().map(|found| ("memory", memory(command.index, found))));
            rows.extend(command.contraction.map(|found| ("reducer", reducer(command.index, &found))));
            if let Some(error) = command.error {
                let off = format!(
                    "{}: its cycles follow from requests that were simulated, and may be {:.1}% off",
                    command.index,
                    error * 100.0
                );
                rows.push(("estimate", off));
            }
            rows.extend(
                stalls(command.index, &command.stalls_for, self.unit).map(|stalls| ("stalls", stalls)),
            );
        }
        for assumed in &self.assumptions {
            rows.push(("assumed", format!("{}: {}", assumed.field, assumed.why)));
        }
        rows.push(("bound", bound(&self.bound, self.unit)));
        rows.retain(|(_, value)| !value.is_empty());
        rows
    }
}

/// The DMA queues of the clusters, where some are busy longer than others.
fn queues(cycles: &[u64]) -> Option<String> {
    let uneven = cycles.windows(2).any(|pair| pair[0] != pair[1]);
    let each = cycles.iter().enumerate().map(|(cluster, cycles)| format!("cluster {cluster} {cycles}"));
    uneven.then(|| format!("of the dma {}", each.collect::<Vec<_>>().join(" and ")))
}

/// Time that a command waits while it runs, and the reason.
fn stalls(index: usize, stalls: &Stalls, unit: TimeUnit) -> impl Iterator<Item = String> {
    let each = [
        (stalls.register_file, "waiting for reads of the register file"),
        (stalls.banks, "waiting for banks of data memory that main takes"),
        (stalls.hbm, "waiting for HBM that the DMA of another cluster takes"),
    ];
    let some = each.into_iter().filter(|(cycles, _)| *cycles > 0);
    some.map(move |(cycles, what)| format!("{index}: {} {what}", counted(cycles, unit.name())))
}

/// Resource that runs a command: of a transfer that takes the queues of some clusters alone, with their numbers.
fn context(command: &CommandReport) -> String {
    let clusters: Vec<_> = command.clusters.iter().map(u64::to_string).collect();
    format!("{}{}", command.kind.name(), clusters.join(","))
}

type Row = [String; COLUMNS.len()];

fn row(command: &CommandReport, line: Option<String>) -> Row {
    let waits = command.waits.iter().map(|wait| format!("{} {}", wait.command, wait.why.name()));
    [
        command.index.to_string(),
        line.unwrap_or_else(|| "-".to_owned()),
        context(command),
        command.name.as_deref().map_or_else(|| "-".to_owned(), |name| shortened(name, NAME_WIDTH)),
        command.label.clone(),
        command.runs.to_string(),
        command.start.to_string(),
        command.end.to_string(),
        command.cycles.to_string(),
        command.bottleneck.to_owned(),
        waits.collect::<Vec<_>>().join(", "),
    ]
}

fn table(text: &mut String, rows: &[Row], unit: TimeUnit, shown: impl Fn(&str) -> bool) {
    let heads = COLUMNS.map(|(head, _)| match (head, unit) {
        ("cycles", TimeUnit::Tick) => "ticks".to_owned(),
        (head, TimeUnit::Tick | TimeUnit::Cycle) => head.to_owned(),
    });
    let width =
        |column: usize| rows.iter().chain([&heads]).map(|row| columns(&row[column])).max().unwrap_or(0);
    let widths: Vec<usize> = (0..COLUMNS.len()).map(width).collect();
    for row in [&heads].into_iter().chain(rows) {
        let cells = row.iter().zip(COLUMNS).zip(&widths);
        let cells = cells.filter(|((_, (head, _)), _)| shown(head));
        let cells = cells.map(|((cell, (_, is_number)), &width)| {
            let blank = " ".repeat(width.saturating_sub(columns(cell)));
            if is_number { blank + cell } else { cell.clone() + &blank }
        });
        push_line(text, &cells.collect::<Vec<_>>().join("  "));
    }
}

/// Lower bound of the cycles of the work, and its resource.
fn bound(bound: &Bound, unit: TimeUnit) -> String {
    let Some((binding, others)) = bound.parts.split_first() else { return String::new() };
    let least = format!("{} by {}", counted(bound.cycles, unit.name()), binding.of);
    let others =
        others.iter().map(|part| format!("{} {}", part.of, part.cycles)).collect::<Vec<_>>().join(", ");
    let others = if others.is_empty() { others } else { format!(" ({others})") };
    format!("{least}{others}; the program takes {:.2} times as long", bound.times)
}

/// Load of a transfer on the memories, and the reason for its time.
fn memory(index: usize, found: &MemoryReport) -> String {
    let mut parts = vec![counted(found.requests, "request")];
    if found.estimated > 0 {
        parts.push(format!("{} of them taken to be like the others", found.estimated));
    }
    if !found.channels.is_empty() {
        let sum = |of: fn(&ChannelReport) -> u64| found.channels.iter().map(of).sum::<u64>();
        let used = found.channels.iter().filter(|channel| channel.transfers > 0).count();
        let most = found.channels.iter().map(|channel| channel.transfers).fold(0, u64::max);
        parts.push(format!("{} of HBM moved for {}", counted(found.hbm_moved, "byte"), found.hbm_asked));
        let transfers = sum(|channel| channel.transfers);
        let even = percent(transfers, most.saturating_mul(found.channels.len() as u64));
        parts.push(format!("{used} of {} channels ({even} even)", found.channels.len()));
        parts.push(format!("{} row hits", percent(sum(|channel| channel.row_hits), transfers)));
        let switches = sum(|channel| channel.switches);
        if switches > 0 {
            let exposed: Option<u64> = found.channels.iter().map(|channel| channel.exposed).sum();
            let exposed = exposed.map(|exposed| format!(" ({exposed} not hidden)")).unwrap_or_default();
            parts.push(format!("{}{exposed}", counted(switches, "row switch")));
        }
        if sum(|channel| channel.partial) > 0 {
            parts.push(counted(sum(|channel| channel.partial), "partial write"));
        }
    }
    let most = found.engines.iter().copied().fold(0, u64::max);
    let even = percent(found.engines.iter().sum(), most.saturating_mul(found.engines.len() as u64));
    parts.push(format!("{} ({even} even)", counted(found.engines.len(), "engine")));
    format!("{index}: {}; {}", parts.join(", "), found.reason)
}

/// Use of the Reducer by a contraction.
fn reducer(index: usize, found: &ContractionReport) -> String {
    format!(
        "{index}: {} of {} rows, {:.1}% of the MACs, {} in {}, {}, {:.1}% of the reads hit the cache",
        found.rows,
        found.all_rows,
        found.share_of_macs * 100.0,
        counted(found.tree_levels, "tree level"),
        counted(found.tree_cycles, "cycle"),
        counted(found.reads, "packet"),
        found.hit_rate() * 100.0
    )
}

fn traffic(bytes: &Traffic) -> String {
    let moved = Medium::ALL.iter().map(|&medium| (medium.decl().title, bytes.of(medium)));
    moved
        .filter(|(_, moved)| *moved != Moved::default())
        .map(|(title, Moved { read, written })| format!("{title} {read} read {written} written"))
        .collect::<Vec<_>>()
        .join(", ")
}

fn percent(part: u64, whole: u64) -> String {
    format!("{:.1}%", 100.0 * part as f64 / whole.max(1) as f64)
}

fn push_line(text: &mut String, line: &str) {
    text.push_str(line.trim_end());
    text.push('\n');
}
