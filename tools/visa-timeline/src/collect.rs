//! From a price to the timeline.

use std::collections::BTreeMap;

use visa_cost::{CommandReport, Held, Moved, Report, Timeline, Traffic};
use visa_hw::program::{self, CommandKind, Program};
use visa_ir::span::Span;
use visa_machine::{Machine, Medium};

use crate::counters::counters;
use crate::document::{
    Advice, Capacity, Command, Compared, Document, Range, Repeated, Roofline, Run, SCHEMA, Text, Track,
    VERSION, Waits,
};

/// A kernel's price, and where it comes from.
pub struct TimelineInput<'a> {
    /// The kernel.
    pub program: &'a Program,
    /// The machine that priced it.
    pub machine: &'a Machine,
    /// Its price.
    pub report: &'a Report,
    /// Its runs; `None` if there are too many: then each command is given as one.
    pub timeline: Option<Timeline>,
    /// The kernel as it is written.
    pub texts: Vec<Text>,
    /// The text and the line, from 1, that a span is in.
    pub place: &'a dyn Fn(Span) -> Option<(usize, usize)>,
    /// The name of the value that is made at a span.
    pub name: &'a dyn Fn(Span) -> Option<String>,
    /// The file that is compared with.
    pub compared: Option<Compared>,
    /// The times of each run in it.
    pub theirs: BTreeMap<usize, Vec<[u64; 2]>>,
    /// The advice.
    pub advice: Vec<Advice>,
}

/// Collects the timeline of a kernel.
#[must_use]
pub fn collect(given: TimelineInput<'_>) -> Document {
    let TimelineInput { program, machine, report, timeline, texts, place, name, compared, theirs, advice } =
        given;
    let positions: Positions =
        report.commands.iter().enumerate().map(|(position, command)| (command.index, position)).collect();
    let (loops, innermost) = loops(program, place, &positions);
    let queues = Tracks::of(report);
    let one = |own: &CommandReport| command(own, &queues, innermost.get(&own.index).copied(), place);
    let commands: Vec<Command> = report.commands.iter().map(one).collect();
    let folded = timeline.is_none();
    let (runs, memory) = match timeline {
        Some(timeline) => each(timeline, theirs, report, &positions, name),
        None => {
            let wholes = report.commands.iter().enumerate().map(|(at, own)| whole(at, own, &positions));
            (wholes.collect(), Vec::new())
        }
    };
    let hbm_peak = hbm_peak(machine, report);
    let counters = if folded { Vec::new() } else { counters(&commands, &runs, hbm_peak) };
    Document {
        schema: SCHEMA,
        version: VERSION,
        program: report.program.clone(),
        machine: report.machine.clone(),
        memory_model: report.memory_model,
        chips: report.chips,
        unit: report.unit,
        clock_ghz: report.clock_ghz,
        total: report.totals.cycles,
        microseconds: report.totals.microseconds,
        noise: report.noise,
        texts,
        tracks: queues.tracks(&commands, &runs, folded),
        loops,
        commands,
        runs,
        folded,
        compared,
        memory,
        capacity: Capacity {
            dm: machine.memory.dm_bytes_per_slice,
            trf: machine.memory.trf_bytes_per_row * machine.memory.trf_rows,
            vrf: machine.memory.vrf_bytes,
        },
        counters,
        bound: report.bound.clone(),
        roofline: roofline(report, hbm_peak),
        advice,
    }
}

/// The places of commands in the report, by their numbers.
type Positions = BTreeMap<usize, usize>;

/// All runs, and the memory that they hold.
fn each(
    timeline: Timeline,
    mut theirs: BTreeMap<usize, Vec<[u64; 2]>>,
    report: &Report,
    positions: &Positions,
    name: &dyn Fn(Span) -> Option<String>,
) -> (Vec<Run>, Vec<Range>) {
    let Timeline { runs, held, sources: _, slices: _ } = timeline;
    let memory = held.into_iter().map(|held| range(held, &runs, report, positions, name)).collect();
    let run = |(number, run): (usize, visa_cost::Occurrence)| Run {
        command: positions[&run.command],
        start: run.start,
        end: run.end,
        stalls: run.stalls,
        iteration: run.iteration,
        waits: run.waits.into_iter().map(|wait| Waits(wait.run, wait.why)).collect(),
        // Most runs have none in parallel with them.
        theirs: theirs.remove(&number).unwrap_or_default(),
    };
    (runs.into_iter().enumerate().map(run).collect(), memory)
}

/// The queues that some command takes, as tracks.
struct Tracks(Vec<(usize, String)>);

impl Tracks {
    fn of(report: &Report) -> Self {
        let mut numbers: Vec<usize> =
            report.commands.iter().flat_map(|command| command.queues.numbers().collect::<Vec<_>>()).collect();
        numbers.sort_unstable();
        numbers.dedup();
        Self(numbers.into_iter().map(|number| (number, visa_cost::Queues::name(number))).collect())
    }

    fn at(&self, queues: visa_cost::Queues) -> Vec<usize> {
        let taken: Vec<usize> = queues.numbers().collect();
        (0..self.0.len()).filter(|&track| taken.contains(&self.0[track].0)).collect()
    }

    fn tracks(&self, commands: &[Command], runs: &[Run], folded: bool) -> Vec<Track> {
        let mut busy = vec![0_u64; self.0.len()];
        for run in runs {
            let command = &commands[run.command];
            let time = if folded { command.cycles.saturating_mul(command.runs) } else { run.end - run.start };
            command.tracks.iter().for_each(|&track| busy[track] = busy[track].saturating_add(time));
        }
        self.0.iter().zip(busy).map(|((_, name), busy)| Track { name: name.clone(), busy }).collect()
    }
}

fn command(
    own: &CommandReport,
    queues: &Tracks,
    innermost: Option<usize>,
    place: &dyn Fn(Span) -> Option<(usize, usize)>,
) -> Command {
    let at = place(own.span);
    let memory = own.memory.as_ref();
    let channels = memory.filter(|memory| !memory.channels.is_empty());
    Command {
        name: own.name.clone(),
        label: own.label.clone(),
        kind: own.kind,
        tracks: queues.at(own.queues),
        r#loop: innermost,
        text: at.map(|(text, _)| text),
        line: at.map(|(_, line)| line),
        bottleneck: own.bottleneck,
        cycles: own.cycles,
        runs: own.runs,
        least: own.least.cycles,
        least_of: own.least.of,
        stalls: own.stalls,
        macs: own.macs,
        peak: own.peak,
        engines: own.engines.iter().map(|engine| (engine.engine, engine.cycles)).collect(),
        bytes: bytes(&own.bytes),
        reason: memory.map(|memory| memory.reason.clone()),
        channels: channels.map(|memory| memory.channels.iter().map(|channel| channel.transfers).collect()),
        banks: memory.filter(|memory| !memory.banks.is_empty()).map(|memory| memory.banks.clone()),
    }
}

/// Bytes read and written of each memory, in the order of the page: HBM, data memory, scratchpad memory, the host.
fn bytes(of: &Traffic) -> [u64; 8] {
    let mut all = [0; 8];
    let order = [Medium::Hbm, Medium::Dm, Medium::Spm, Medium::Host];
    for (sides, medium) in all.as_chunks_mut::<2>().0.iter_mut().zip(order) {
        let Moved { read, written } = of.of(medium);
        *sides = [read, written];
    }
    all
}

/// All runs of a command as one.
fn whole(at: usize, own: &CommandReport, positions: &Positions) -> Run {
    // The command waited for is one run, too.
    let waits = own.waits.iter().filter_map(|wait| Some(Waits(*positions.get(&wait.command)?, wait.why)));
    Run {
        command: at,
        start: own.start,
        end: own.end,
        stalls: own.stalls,
        iteration: [].into(),
        waits: waits.filter(|wait| wait.0 != at).collect(),
        theirs: Vec::new(),
    }
}

fn range(
    held: Held,
    runs: &[visa_cost::Occurrence],
    report: &Report,
    positions: &Positions,
    name: &dyn Fn(Span) -> Option<String>,
) -> Range {
    let writer = &report.commands[positions[&runs[held.writer].command]];
    Range {
        space: held.space,
        slices: [held.slices.start, held.slices.end],
        bytes: [held.bytes.start, held.bytes.end],
        start: held.start,
        end: held.end,
        writer: held.writer,
        readers: held.readers,
        // Not every value has a name: this one's is empty.
        name: name(writer.span).unwrap_or_default(),
    }
}

/// The loops that have commands in the report, and the innermost one around each command, by its number.
fn loops(
    program: &Program,
    place: &dyn Fn(Span) -> Option<(usize, usize)>,
    positions: &Positions,
) -> (Vec<Repeated>, BTreeMap<usize, usize>) {
    let mut found = Loops { place, positions, all: Vec::new(), innermost: BTreeMap::new(), number: 0 };
    found.block(&program.commands, None);
    (found.all, found.innermost)
}

struct Loops<'a> {
    place: &'a dyn Fn(Span) -> Option<(usize, usize)>,
    positions: &'a Positions,
    all: Vec<Repeated>,
    innermost: BTreeMap<usize, usize>,
    /// The number of the next command.
    number: usize,
}

impl Loops<'_> {
    fn block(&mut self, commands: &[program::Command], around: Option<usize>) {
        for command in commands {
            match &command.kind {
                CommandKind::Loop(repeat) => self.repeat(command.span, repeat, around),
                CommandKind::Launch(_)
                | CommandKind::Dma(_)
                | CommandKind::Indexed(_)
                | CommandKind::Exec(_) => {
                    if let Some(around) = around {
                        self.innermost.insert(self.number, around);
                    }
                    self.number += 1;
                }
            }
        }
    }

    fn repeat(&mut self, span: Span, repeat: &program::Loop, around: Option<usize>) {
        let (own, first) = (self.all.len(), self.number);
        let at = (self.place)(span);
        self.all.push(Repeated {
            text: at.map(|(text, _)| text),
            line: at.map(|(_, line)| line),
            times: repeat.times,
            parent: around,
            commands: [0, 0],
        });
        self.block(&repeat.body, Some(own));
        // Commands that never run are not in the report.
        let mut run = (first..self.number).filter_map(|number| self.positions.get(&number).copied());
        match run.next() {
            Some(first) => self.all[own].commands = [first, run.next_back().unwrap_or(first)],
            None => {
                self.all.truncate(own);
                self.innermost.retain(|_, innermost| *innermost < own);
            }
        }
    }
}

/// The most bytes of HBM of all chips in a unit of time.
fn hbm_peak(machine: &Machine, report: &Report) -> f64 {
    // A tick of a schedule's machine is a cycle.
    let ticks = machine.measured.as_ref().map_or(1.0, |measured| measured.ticks_per_cycle.value);
    machine.timing.hbm_bytes_per_cycle as f64 * report.chips as f64 / ticks
}

fn roofline(report: &Report, hbm_peak: f64) -> Option<Roofline> {
    let totals = &report.totals;
    let (share, operations) = (totals.share_of_peak?, 2.0 * totals.macs as f64);
    let hbm_bytes = totals.bytes.of(Medium::Hbm).both() as f64;
    (share > 0.0 && hbm_bytes > 0.0).then(|| Roofline {
        operations,
        hbm_bytes,
        peak_operations: operations / (share * totals.cycles as f64),
        peak_hbm_bytes: hbm_peak,
    })
}
