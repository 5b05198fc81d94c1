//! The timeline as data: the content of the JSON of `--timeline`, by the schema in docs/timeline.md. Times are in the
//! units that [`Document::unit`] names. Indices of commands, runs, loops, texts and tracks count from 0.

use std::rc::Rc;

use serde::Serialize;
use serde::ser::SerializeMap;
use visa_cost::{Bound, NoiseReport, Resource, TimeUnit, Why};
use visa_engine::Space;

use crate::columns::{Column, Row, as_columns};

/// The name of the schema.
pub const SCHEMA: &str = "visa-timeline";

/// Its version: another one where a field changes its meaning or goes.
pub const VERSION: u32 = 1;

/// The timeline of a kernel.
#[derive(Clone, Debug, Serialize)]
pub struct Document {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// [`VERSION`].
    pub version: u32,
    /// The kernel.
    pub program: String,
    /// The machine that prices it.
    pub machine: String,
    /// The model of memories.
    pub memory_model: &'static str,
    /// Chips that run it, in lockstep.
    pub chips: usize,
    /// The unit of times.
    pub unit: TimeUnit,
    /// The clock.
    pub clock_ghz: f64,
    /// From the first start to the last end.
    pub total: u64,
    /// The same in microseconds.
    pub microseconds: f64,
    /// Of a measured machine: how far its runs are apart.
    pub noise: Option<NoiseReport>,
    /// The kernel as it is written.
    pub texts: Vec<Text>,
    /// The queues that run commands, one at a time.
    pub tracks: Vec<Track>,
    /// Loops around commands.
    pub loops: Vec<Repeated>,
    /// Commands in program order.
    #[serde(serialize_with = "as_columns")]
    pub commands: Vec<Command>,
    /// Their runs in program order.
    #[serde(serialize_with = "as_columns")]
    pub runs: Vec<Run>,
    /// True if there are too many runs: then each command has one here, from its first start to its last end.
    pub folded: bool,
    /// With `--compare`: the file that is compared with.
    pub compared: Option<Compared>,
    /// The memory that runs hold, by when it is written.
    #[serde(serialize_with = "as_columns")]
    pub memory: Vec<Range>,
    /// Bytes of a slice.
    pub capacity: Capacity,
    /// Values over time.
    pub counters: Vec<Counter>,
    /// Lower bound of the time.
    pub bound: Bound,
    /// The limits of memory and arithmetic; `None` without multiply-accumulates or without HBM.
    pub roofline: Option<Roofline>,
    /// The advice.
    pub advice: Vec<Advice>,
}

impl Document {
    /// The end of the last command, theirs of a compared file among them.
    #[must_use]
    pub fn last_end(&self) -> u64 {
        let ends = self.runs.iter().flat_map(|run| run.theirs.iter().map(|span| span[1]).chain([run.end]));
        let alone = self.compared.iter().flat_map(|compared| &compared.alone).map(|alone| alone.end);
        ends.chain(alone).fold(self.total, u64::max)
    }
}

/// A file of the kernel.
#[derive(Clone, Debug, Serialize)]
pub struct Text {
    /// Its name.
    pub name: String,
    /// Its content.
    pub text: String,
}

/// A queue that runs one command at a time.
#[derive(Clone, Debug, Serialize)]
pub struct Track {
    /// Its name: `main`, `sub`, `pcie`, or `dma cluster` and a number.
    pub name: String,
    /// Its busy time.
    pub busy: u64,
}

/// A loop.
#[derive(Clone, Debug, Serialize)]
pub struct Repeated {
    /// The text it is in.
    pub text: Option<usize>,
    /// Its line, from 1.
    pub line: Option<usize>,
    /// Iterations.
    pub times: u64,
    /// The loop around it.
    pub parent: Option<usize>,
    /// Its first and its last command.
    pub commands: [usize; 2],
}

/// A command.
#[derive(Clone, Debug)]
pub struct Command {
    /// The tensor that it moves or makes, in the kernel's names.
    pub name: Option<String>,
    /// Its engines in order, or its memories.
    pub label: String,
    /// The kind of its queue.
    pub kind: Resource,
    /// The tracks that it takes.
    pub tracks: Vec<usize>,
    /// The innermost loop around it.
    pub r#loop: Option<usize>,
    /// The text it is in.
    pub text: Option<usize>,
    /// Its line, from 1.
    pub line: Option<usize>,
    /// Its bottleneck while it runs: its busiest engine.
    pub bottleneck: &'static str,
    /// Cycles of a run.
    pub cycles: u64,
    /// Number of its runs.
    pub runs: u64,
    /// Lower bound of the work of a run.
    pub least: u64,
    /// The resource that takes that.
    pub least_of: &'static str,
    /// Sum of the waits of all runs for others that go first.
    pub stalls: u64,
    /// Multiply-accumulates of a run.
    pub macs: u64,
    /// Their time at the peak of their formats.
    pub peak: f64,
    /// Busy time of each engine in a run.
    pub engines: Vec<(&'static str, u64)>,
    /// Bytes that a run moves: HBM read and written, data memory, scratchpads, host.
    pub bytes: [u64; 8],
    /// Of a transfer: why it takes as long as it does.
    pub reason: Option<String>,
    /// Of a transfer: units of 256 bytes that it asks of each channel of HBM.
    pub channels: Option<Vec<u64>>,
    /// Of a transfer by the `detailed` model: accesses to each bank of data memory.
    pub banks: Option<Vec<u64>>,
}

impl Command {
    /// The first text in bars: its name, or if it has none its engines or memories.
    #[must_use]
    pub fn title(&self) -> &str {
        self.name.as_deref().unwrap_or(&self.label)
    }
}

impl Row for Command {
    fn columns<M: SerializeMap>(rows: &[Self], map: &mut M) -> Result<(), M::Error> {
        map.serialize_entry("name", &Column(rows, |command: &Self| command.name.clone()))?;
        map.serialize_entry("label", &Column(rows, |command: &Self| command.label.clone()))?;
        map.serialize_entry("kind", &Column(rows, |command: &Self| command.kind))?;
        map.serialize_entry("tracks", &Column(rows, |command: &Self| command.tracks.clone()))?;
        map.serialize_entry("loop", &Column(rows, |command: &Self| command.r#loop))?;
        map.serialize_entry("text", &Column(rows, |command: &Self| command.text))?;
        map.serialize_entry("line", &Column(rows, |command: &Self| command.line))?;
        map.serialize_entry("bottleneck", &Column(rows, |command: &Self| command.bottleneck))?;
        map.serialize_entry("cycles", &Column(rows, |command: &Self| command.cycles))?;
        map.serialize_entry("runs", &Column(rows, |command: &Self| command.runs))?;
        map.serialize_entry("least", &Column(rows, |command: &Self| command.least))?;
        map.serialize_entry("least_of", &Column(rows, |command: &Self| command.least_of))?;
        map.serialize_entry("stalls", &Column(rows, |command: &Self| command.stalls))?;
        map.serialize_entry("macs", &Column(rows, |command: &Self| command.macs))?;
        map.serialize_entry("peak", &Column(rows, |command: &Self| command.peak))?;
        map.serialize_entry("engines", &Column(rows, |command: &Self| command.engines.clone()))?;
        map.serialize_entry("bytes", &Column(rows, |command: &Self| command.bytes))?;
        map.serialize_entry("reason", &Column(rows, |command: &Self| command.reason.clone()))?;
        map.serialize_entry("channels", &Column(rows, |command: &Self| command.channels.clone()))?;
        map.serialize_entry("banks", &Column(rows, |command: &Self| command.banks.clone()))
    }
}

/// A command in an iteration of the loops around it.
#[derive(Clone, Debug)]
pub struct Run {
    /// The command.
    pub command: usize,
    /// Where it starts.
    pub start: u64,
    /// Where it has ended.
    pub end: u64,
    /// Sum of the waits between them for others that go first.
    pub stalls: u64,
    /// The iteration of each loop around it, the outermost first.
    pub iteration: Rc<[u64]>,
    /// The runs that it waited for, and why.
    pub waits: Vec<Waits>,
    /// Its times in the compared file: begin and end on each cluster.
    pub theirs: Vec<[u64; 2]>,
}

impl Row for Run {
    fn columns<M: SerializeMap>(rows: &[Self], map: &mut M) -> Result<(), M::Error> {
        map.serialize_entry("command", &Column(rows, |run: &Self| run.command))?;
        map.serialize_entry("start", &Column(rows, |run: &Self| run.start))?;
        map.serialize_entry("end", &Column(rows, |run: &Self| run.end))?;
        map.serialize_entry("stalls", &Column(rows, |run: &Self| run.stalls))?;
        map.serialize_entry("iteration", &Column(rows, |run: &Self| run.iteration.to_vec()))?;
        map.serialize_entry("waits", &Column(rows, |run: &Self| run.waits.clone()))?;
        map.serialize_entry("theirs", &Column(rows, |run: &Self| run.theirs.clone()))
    }
}

/// A run that another one waits for, and why: `busy`, `RAW`, `WAR`, `WAW`, `launch`, `starvation`, `set-up`, `TRF`,
/// `banks` or `HBM`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Waits(pub usize, #[serde(serialize_with = "name_of")] pub Why);

#[expect(clippy::trivially_copy_pass_by_ref, reason = "what serde asks for")]
fn name_of<S: serde::Serializer>(why: &Why, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(why.name())
}

/// A trace or a schedule, compared with ours.
#[derive(Clone, Debug, Serialize)]
pub struct Compared {
    /// `the trace` or `the schedule`.
    pub with: &'static str,
    /// From its first command to its last.
    pub makespan: u64,
    /// Commands of theirs that are none of ours.
    pub alone: Vec<Alone>,
}

/// A command that only they have.
#[derive(Clone, Debug, Serialize)]
pub struct Alone {
    /// Its kind.
    pub kind: &'static str,
    /// Where it begins.
    pub start: u64,
    /// Where it has ended.
    pub end: u64,
    /// Its name.
    pub name: String,
}

/// Bytes of a memory of the device, from when they are written until they are read for the last time.
#[derive(Clone, Debug)]
pub struct Range {
    /// Data memory, scratchpad memory, or a register file.
    pub space: Space,
    /// The first slice, and the one behind the last.
    pub slices: [u64; 2],
    /// The first address in each of them, and the one behind the last.
    pub bytes: [u64; 2],
    /// When they begin to be written.
    pub start: u64,
    /// When they have been read for the last time.
    pub end: u64,
    /// The run that writes them.
    pub writer: usize,
    /// The runs that read them.
    pub readers: Vec<usize>,
    /// The value's name in the text, if it has one.
    pub name: String,
}

impl Row for Range {
    fn columns<M: SerializeMap>(rows: &[Self], map: &mut M) -> Result<(), M::Error> {
        map.serialize_entry("space", &Column(rows, |range: &Self| range.space.name()))?;
        map.serialize_entry("slices", &Column(rows, |range: &Self| range.slices))?;
        map.serialize_entry("bytes", &Column(rows, |range: &Self| range.bytes))?;
        map.serialize_entry("start", &Column(rows, |range: &Self| range.start))?;
        map.serialize_entry("end", &Column(rows, |range: &Self| range.end))?;
        map.serialize_entry("writer", &Column(rows, |range: &Self| range.writer))?;
        map.serialize_entry("readers", &Column(rows, |range: &Self| range.readers.clone()))?;
        map.serialize_entry("name", &Column(rows, |range: &Self| range.name.clone()))
    }
}

/// Bytes of a slice.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Capacity {
    /// Of its data memory.
    pub dm: u64,
    /// Of its tensor register file.
    pub trf: u64,
    /// Of its vector register file.
    pub vrf: u64,
}

/// A number that changes over time: from each time on it has the value.
#[derive(Clone, Debug, Serialize)]
pub struct Counter {
    /// Its name.
    pub name: &'static str,
    /// The counted quantity, in a unit of time.
    pub unit: &'static str,
    /// The most that it can be; where it is not known, the most that it is.
    pub peak: f64,
    /// Times.
    pub times: Vec<u64>,
    /// A value each; the last is 0.
    pub values: Vec<f64>,
}

/// The limits of memory and arithmetic.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Roofline {
    /// Multiplications and additions of the kernel.
    pub operations: f64,
    /// Bytes that it moves to and from HBM.
    pub hbm_bytes: f64,
    /// The most operations in a unit of time, of formats in the shares that the kernel has.
    pub peak_operations: f64,
    /// The most bytes of HBM in a unit of time.
    pub peak_hbm_bytes: f64,
}

/// A suggestion.
#[derive(Clone, Debug, Serialize)]
pub struct Advice {
    /// Its source: `advise` and `lint` for passes that suggest it, `plan` for the decisions of a plan.
    pub from: &'static str,
    /// Its text.
    pub message: String,
    /// The text that it is about.
    pub text: Option<usize>,
    /// The line, from 1.
    pub line: Option<usize>,
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A timeline of `commands` commands on one track, without runs.
    pub(crate) fn document(commands: usize) -> Document {
        let command = Command {
            name: None,
            label: "a>b".to_owned(),
            kind: Resource::Main,
            tracks: vec![0],
            r#loop: None,
            text: None,
            line: None,
            bottleneck: "a",
            cycles: 1,
            runs: 1,
            least: 0,
            least_of: "none",
            stalls: 0,
            macs: 0,
            peak: 0.0,
            engines: Vec::new(),
            bytes: [0; 8],
            reason: None,
            channels: None,
            banks: None,
        };
        Document {
            schema: SCHEMA,
            version: VERSION,
            program: "test".to_owned(),
            machine: "test".to_owned(),
            memory_model: "book",
            chips: 1,
            unit: TimeUnit::Cycle,
            clock_ghz: 1.0,
            total: 0,
            microseconds: 0.0,
            noise: None,
            texts: Vec::new(),
            tracks: vec![Track { name: "main".to_owned(), busy: 0 }],
            loops: Vec::new(),
            commands: vec![command; commands],
            runs: Vec::new(),
            folded: false,
            compared: None,
            memory: Vec::new(),
            capacity: Capacity { dm: 0, trf: 0, vrf: 0 },
            counters: Vec::new(),
            bound: Bound { cycles: 0, times: 0.0, parts: Vec::new() },
            roofline: None,
            advice: Vec::new(),
        }
    }

    #[test]
    fn rows_are_columns() {
        let json = serde_json::to_value(document(2)).expect("JSON");
        assert_eq!(json["commands"]["label"], serde_json::json!(["a>b", "a>b"]));
        assert_eq!(json["commands"]["loop"], serde_json::json!([null, null]));
        assert_eq!(json["runs"]["waits"], serde_json::json!([]));
    }
}
