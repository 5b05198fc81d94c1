//! The timeline as a trace for Perfetto, in its protobuf form:
//! <https://perfetto.dev/docs/reference/synthetic-track-event>.
//!
//! A unit of time is a nanosecond of the trace. Tracks are plain ones: one for each queue, below it one for each of
//! its engines, and one for the compared file. A run is a slice on each track that it takes. If a run waits for
//! another one, a flow goes from the one that starts first to the other. Counters have the moved bytes and the
//! multiplications. Slices that overlap are on tracks side by side: Perfetto nests the slices of a track at one time.

mod proto;

use std::collections::{BTreeMap, HashMap};
use std::io::{self, BufWriter, Write};

use prost::Message;

use crate::document::{Command, Document, Run};
use crate::lanes::lanes;
use proto::{
    CounterDescriptor, DebugAnnotation, InternedData, InternedString, Named, TracePacket, TrackDescriptor,
    TrackEvent,
};

/// The sequence that all packets are of.
const SEQUENCE: u32 = 1;
/// The track that all others are below.
const ROOT: u64 = 1;
/// Most runs whose engines have separate tracks, and whose slices have all annotations.
const MOST_IN_FULL: usize = 200_000;
/// Later times are no times for Perfetto.
const MOST_TIME: u64 = 1 << 63;

/// The reason why there is no trace of a timeline: Perfetto has no space for its times.
#[must_use]
pub fn refused(document: &Document) -> Option<String> {
    let latest = document.last_end();
    (latest >= MOST_TIME)
        .then(|| format!("the kernel ends at {latest}, Perfetto has times below {MOST_TIME}"))
}

/// Writes the trace of a timeline.
///
/// # Errors
/// The system's error.
pub fn trace(document: &Document, out: &mut dyn Write) -> io::Result<()> {
    let mut writer = Writer { out: BufWriter::new(out), failed: None };
    let tracks = Tracks::new(document);
    let mut descriptors = tracks.descriptors(document).into_iter();
    // The first packet has the names that all later ones refer to.
    writer.packet(TracePacket {
        sequence_flags: Some(3),
        interned_data: Some(names(document)),
        track_descriptor: descriptors.next(),
        ..TracePacket::default()
    });
    for descriptor in descriptors {
        writer.packet(TracePacket { track_descriptor: Some(descriptor), ..TracePacket::default() });
    }
    slices(document, &tracks, &mut writer);
    counters(document, &tracks, &mut writer);
    writer.finish()
}

/// Packets one after the other: a trace is nothing else.
struct Writer<'a> {
    out: BufWriter<&'a mut dyn Write>,
    /// The first thing that went wrong.
    failed: Option<io::Error>,
}

impl Writer<'_> {
    fn finish(mut self) -> io::Result<()> {
        match self.failed.take() {
            Some(why) => Err(why),
            None => self.out.flush(),
        }
    }

    fn packet(&mut self, packet: TracePacket) {
        let packet = TracePacket {
            trusted_packet_sequence_id: Some(SEQUENCE),
            sequence_flags: packet.sequence_flags.or(Some(2)),
            ..packet
        };
        // Field 1 of the trace, with a length before it.
        let bytes = packet.encode_length_delimited_to_vec();
        if self.failed.is_none() {
            self.failed = self.out.write_all(&[0x0a]).and_then(|()| self.out.write_all(&bytes)).err();
        }
    }

    fn event(&mut self, time: u64, event: TrackEvent) {
        self.packet(TracePacket {
            timestamp: Some(time),
            track_event: Some(event),
            ..TracePacket::default()
        });
    }
}

fn in_full(document: &Document) -> bool {
    document.runs.len() <= MOST_IN_FULL
}

/// Numbers of the tracks in the trace.
struct Tracks {
    queues: usize,
    /// For each queue, its engines.
    engines: Vec<Vec<&'static str>>,
    /// Numbers of engines' tracks, by queue and engine.
    numbers: HashMap<(usize, &'static str), u64>,
    /// The runs of each queue.
    ours: Vec<Group>,
    /// The runs in a compared file, for each queue and cluster that it covers.
    theirs: BTreeMap<(usize, usize), Group>,
    /// The first counter's.
    counters: u64,
}

impl Tracks {
    fn new(document: &Document) -> Self {
        let queues = document.tracks.len();
        let mut engines: Vec<Vec<&'static str>> = vec![Vec::new(); queues];
        if in_full(document) && !document.folded {
            for command in &document.commands {
                for (&queue, &(engine, _)) in command
                    .tracks
                    .iter()
                    .flat_map(|queue| command.engines.iter().map(move |engine| (queue, engine)))
                {
                    if !engines[queue].contains(&engine) {
                        engines[queue].push(engine);
                    }
                }
            }
        }
        let mut next = ROOT + 1 + queues as u64;
        let mut take = || {
            next += 1;
            next - 1
        };
        let all = engines.iter().enumerate();
        let numbers = all.flat_map(|(queue, engines)| engines.iter().map(move |engine| (queue, *engine)));
        let numbers = numbers.map(|own| (own, take())).collect();
        let ours = runs_of_queues(document).into_iter().enumerate();
        let ours =
            ours.map(|(queue, spans)| Group::new(spans, Some(Self::queue(queue)), &mut take)).collect();
        let theirs = theirs_of_queues(document).into_iter();
        let theirs = theirs.map(|(of, spans)| (of, Group::new(spans, None, &mut take))).collect();
        Self { queues, engines, numbers, ours, theirs, counters: take() }
    }

    fn queue(queue: usize) -> u64 {
        ROOT + 1 + queue as u64
    }

    fn descriptors(&self, document: &Document) -> Vec<TrackDescriptor> {
        // Siblings of one name are not to become one; children are in the order of their ranks.
        let track = |uuid: u64, parent: Option<u64>, name: String, rank: i32| TrackDescriptor {
            uuid: Some(uuid),
            parent_uuid: parent,
            name: Some(name),
            child_ordering: Some(3),
            sibling_order_rank: Some(rank),
            sibling_merge_behavior: Some(2),
            counter: None,
        };
        let unit = document.unit.name();
        let chips =
            if document.chips == 1 { "1 chip".to_owned() } else { format!("{} chips alike", document.chips) };
        let root = format!("{} on {}, {chips}, 1 ns is a {unit}", document.program, document.machine);
        let mut all = vec![track(ROOT, None, root, 0)];
        for queue in 0..self.queues {
            let (own, rank) = (Self::queue(queue), queue as i32);
            let name = &document.tracks[queue].name;
            all.push(track(own, Some(ROOT), name.clone(), rank));
            for (lane, &number) in self.ours[queue].tracks.iter().enumerate().skip(1) {
                all.push(track(number, Some(ROOT), lane_name(name, lane), rank));
            }
            for (rank, engine) in self.engines[queue].iter().enumerate() {
                let number = self.numbers[&(queue, *engine)];
                all.push(track(number, Some(own), (*engine).to_owned(), 100 + rank as i32));
            }
        }
        let with = document.compared.as_ref().map_or("the trace", |compared| compared.with);
        for (&(queue, cluster), group) in &self.theirs {
            let name = format!("{}, by {with}, cluster {cluster}", document.tracks[queue].name);
            for (lane, &number) in group.tracks.iter().enumerate() {
                all.push(track(number, Some(Self::queue(queue)), lane_name(&name, lane), cluster as i32));
            }
        }
        for (rank, counter) in document.counters.iter().enumerate() {
            let name = format!("{} ({} a {unit})", counter.name, counter.unit);
            let counter = Some(CounterDescriptor { unit_name: Some(counter.unit.to_owned()) });
            let number = self.counters + rank as u64;
            all.push(TrackDescriptor { counter, ..track(number, Some(ROOT), name, -10 + rank as i32) });
        }
        all
    }
}

fn lane_name(name: &str, lane: usize) -> String {
    if lane == 0 { name.to_owned() } else { format!("{name} ({})", lane + 1) }
}

/// Slices of one kind, on as many tracks as those of one time need.
struct Group {
    /// The runs that the slices are of, in order.
    runs: Vec<usize>,
    /// The lane of each.
    lanes: Vec<usize>,
    /// The track of each lane.
    tracks: Vec<u64>,
}

impl Group {
    /// Slices of `spans`, runs and their times; the first lane's track is `first`, if it has one.
    fn new(spans: Vec<(usize, [u64; 2])>, first: Option<u64>, take: &mut impl FnMut() -> u64) -> Self {
        let (runs, times): (Vec<_>, Vec<_>) = spans.into_iter().unzip();
        let lanes = lanes(&times);
        let count = lanes.iter().map(|lane| lane + 1).max().unwrap_or(0);
        let tracks = first.into_iter().chain(std::iter::repeat_with(take)).take(count).collect();
        Self { runs, lanes, tracks }
    }

    /// The track of a run's slice.
    fn track(&self, run: usize) -> Option<u64> {
        let at = self.runs.binary_search(&run).ok()?;
        self.tracks.get(self.lanes[at]).copied()
    }
}

/// The runs of each queue, with their times.
fn runs_of_queues(document: &Document) -> Vec<Vec<(usize, [u64; 2])>> {
    let mut queues = vec![Vec::new(); document.tracks.len()];
    for (number, run) in document.runs.iter().enumerate() {
        for &queue in &document.commands[run.command].tracks {
            queues[queue].push((number, [run.start, run.end]));
        }
    }
    queues
}

/// Spans of a queue: the number of each, its start and its end.
type Spans = Vec<(usize, [u64; 2])>;

/// The runs in a compared file, by the first queue that each takes, and by cluster.
fn theirs_of_queues(document: &Document) -> BTreeMap<(usize, usize), Spans> {
    let mut theirs: BTreeMap<(usize, usize), Spans> = BTreeMap::new();
    for (number, run) in document.runs.iter().enumerate() {
        let Some(&queue) = document.commands[run.command].tracks.first() else { continue };
        for (cluster, &span) in run.theirs.iter().enumerate() {
            theirs.entry((queue, cluster)).or_default().push((number, span));
        }
    }
    theirs
}

/// Titles have the numbers of their commands, from 1; strings are those of [`strings`].
fn names(document: &Document) -> InternedData {
    let titles = document.commands.iter().enumerate();
    InternedData {
        event_names: titles
            .map(|(at, command)| Named { iid: Some(at as u64 + 1), name: Some(command.title().to_owned()) })
            .collect(),
        debug_annotation_names: Annotation::NAMES
            .iter()
            .zip(1..)
            .map(|(name, iid)| Named { iid: Some(iid), name: Some((*name).to_owned()) })
            .collect(),
        debug_annotation_string_values: strings(document)
            .into_iter()
            .zip(1..)
            .map(|(name, iid)| InternedString { iid: Some(iid), str: Some(name.as_bytes().to_vec()) })
            .collect(),
    }
}

/// The annotations that many slices share, in order.
fn strings(document: &Document) -> Vec<&str> {
    let of = |command| {
        let Command { bottleneck, label, name, .. }: &Command = command;
        [bottleneck, &**label].into_iter().chain(name.as_deref())
    };
    let mut all: Vec<&str> = document.commands.iter().flat_map(of).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// An event: a slice begins or ends.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Edge {
    time: u64,
    /// At one time, slices that began before end first; then runs begin in their order, and those that take no time
    /// end.
    begins: bool,
    run: usize,
    ends: bool,
}

fn edges(runs: &[Run]) -> Vec<Edge> {
    let mut all: Vec<Edge> = Vec::with_capacity(2 * runs.len());
    for (run, Run { start, end, .. }) in runs.iter().enumerate() {
        all.push(Edge { time: *start, begins: true, run, ends: false });
        all.push(Edge { time: *end, begins: start == end, run, ends: true });
    }
    all.sort_unstable();
    all
}

fn slices(document: &Document, tracks: &Tracks, writer: &mut Writer<'_>) {
    let strings = strings(document);
    let flows = Flows::new(document);
    let edges = edges(&document.runs);
    for &Edge { time, run: number, ends, .. } in &edges {
        let run = &document.runs[number];
        let command = &document.commands[run.command];
        for (copy, &queue) in command.tracks.iter().enumerate() {
            let track_uuid = tracks.ours[queue].track(number);
            if ends {
                writer.event(time, TrackEvent { r#type: Some(2), track_uuid, ..TrackEvent::default() });
                continue;
            }
            // A run is one run, also on two tracks.
            let ((flow_ids, terminating_flow_ids), debug_annotations) = match copy {
                0 => (flows.of(number), annotations(document, number, &strings)),
                _other => Default::default(),
            };
            writer.event(
                time,
                TrackEvent {
                    r#type: Some(1),
                    track_uuid,
                    name_iid: Some(run.command as u64 + 1),
                    debug_annotations,
                    flow_ids,
                    terminating_flow_ids,
                    ..TrackEvent::default()
                },
            );
        }
    }
    for run in &document.runs {
        engines(&document.commands[run.command], run, tracks, writer);
    }
    compared(document, tracks, writer);
}

fn annotations(document: &Document, number: usize, strings: &[&str]) -> Vec<DebugAnnotation> {
    let run = &document.runs[number];
    let command = &document.commands[run.command];
    let count = |name: Annotation, value: u64| DebugAnnotation {
        name_iid: Some(name as u64),
        uint_value: Some(value),
        ..DebugAnnotation::default()
    };
    let text = |name: Annotation, text: String| DebugAnnotation {
        name_iid: Some(name as u64),
        string_value: Some(text),
        ..DebugAnnotation::default()
    };
    let known = |name: Annotation, text: &str| {
        strings.binary_search(&text).ok().map(|at| DebugAnnotation {
            name_iid: Some(name as u64),
            string_value_iid: Some(at as u64 + 1),
            ..DebugAnnotation::default()
        })
    };
    let mut all = vec![count(Annotation::Run, number as u64)];
    all.extend(command.name.as_deref().and_then(|name| known(Annotation::Name, name)));
    all.extend(known(Annotation::Engines, &command.label));
    all.extend(known(Annotation::Bottleneck, command.bottleneck));
    all.extend(command.line.map(|line| count(Annotation::Line, line as u64)));
    all.extend((run.stalls > 0).then(|| count(Annotation::Stalls, run.stalls)));
    if !in_full(document) {
        return all;
    }
    let listed = |all: Vec<String>| (!all.is_empty()).then(|| all.join(", "));
    let iteration = listed(run.iteration.iter().map(u64::to_string).collect());
    all.extend(iteration.map(|iteration| text(Annotation::Iteration, iteration)));
    let waits = listed(run.waits.iter().map(|wait| format!("{} {}", wait.0, wait.1.name())).collect());
    all.extend(waits.map(|waits| text(Annotation::WaitsFor, waits)));
    all
}

/// An annotation of a slice: numbers of the names in the trace.
#[derive(Clone, Copy)]
enum Annotation {
    Run = 1,
    Bottleneck,
    Line,
    Stalls,
    Iteration,
    WaitsFor,
    Name,
    Engines,
}

impl Annotation {
    const NAMES: [&str; 8] =
        ["run", "bottleneck", "line", "stalls", "iteration", "waits for", "name", "engines"];
}

/// Arrows from the run that begins first to the one that waits for it, or that it waits for meanwhile. An arrow does
/// not fork: each has a separate number.
struct Flows {
    from: Vec<(usize, u64)>,
    to: Vec<(usize, u64)>,
}

impl Flows {
    fn new(document: &Document) -> Self {
        let runs = &document.runs;
        let (mut from, mut to) = (Vec::new(), Vec::new());
        for (number, run) in runs.iter().enumerate() {
            for wait in &run.waits {
                let other = wait.0;
                let (first, second) = match (runs[other].start, other) < (run.start, number) {
                    true => (other, number),
                    false => (number, other),
                };
                let id = from.len() as u64 + 1;
                from.push((first, id));
                to.push((second, id));
            }
        }
        from.sort_unstable();
        to.sort_unstable();
        Self { from, to }
    }

    /// Arrows that start at a run, and those that end there.
    fn of(&self, run: usize) -> (Vec<u64>, Vec<u64>) {
        let own = |all: &[(usize, u64)]| {
            let first = all.partition_point(|(other, _)| *other < run);
            all[first..].iter().take_while(|(other, _)| *other == run).map(|(_, id)| *id).collect()
        };
        (own(&self.from), own(&self.to))
    }
}

/// Each engine is busy from the start of a run for as long as it works.
fn engines(command: &Command, run: &Run, tracks: &Tracks, writer: &mut Writer<'_>) {
    for &queue in &command.tracks {
        for &(engine, time) in &command.engines {
            let Some(&number) = tracks.numbers.get(&(queue, engine)) else { continue };
            let end = run.end.min(run.start.saturating_add(time));
            slice(number, engine.to_owned(), [run.start, end], writer);
        }
    }
}

fn slice(track: u64, name: String, [start, end]: [u64; 2], writer: &mut Writer<'_>) {
    let track_uuid = Some(track);
    let begin = TrackEvent { r#type: Some(1), track_uuid, name: Some(name), ..TrackEvent::default() };
    writer.event(start, begin);
    writer.event(end, TrackEvent { r#type: Some(2), track_uuid, ..TrackEvent::default() });
}

/// The tracks of a compared file.
fn compared(document: &Document, tracks: &Tracks, writer: &mut Writer<'_>) {
    for (&(_, cluster), group) in &tracks.theirs {
        for (&number, &lane) in group.runs.iter().zip(&group.lanes) {
            let run = &document.runs[number];
            let name = document.commands[run.command].title().to_owned();
            slice(group.tracks[lane], name, run.theirs[cluster], writer);
        }
    }
}

fn counters(document: &Document, tracks: &Tracks, writer: &mut Writer<'_>) {
    for (counter, number) in document.counters.iter().zip(tracks.counters..) {
        for (&time, &value) in counter.times.iter().zip(&counter.values) {
            writer.event(
                time,
                TrackEvent {
                    r#type: Some(4),
                    track_uuid: Some(number),
                    double_counter_value: Some(value),
                    ..TrackEvent::default()
                },
            );
        }
    }
}
