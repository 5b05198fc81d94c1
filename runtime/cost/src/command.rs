//! The price of one run of the Tensor Unit.

use std::collections::BTreeMap;
use std::ops::Range;

use visa_engine::read_cache::CacheReads;
use visa_engine::{BankUse, Engine, Flow, Pace, Space, TreeUse};
use visa_hw::program::{Exec, PlacedStage};
use visa_ir::span::Span;
use visa_machine::{Machine, Medium, OddFetch};
use visa_numerics::DType;

use crate::anatomy::Anatomy;
use crate::pipeline::PipelineTime;
use crate::queues::Queues;
use crate::report::{EngineCycles, MemoryReport, Resource};
use crate::traffic::Traffic;

/// A command priced by itself, before it has its place in the schedule.
#[derive(Clone, Debug)]
pub(crate) struct CommandCost {
    pub(crate) resource: Resource,
    /// The queues that it takes.
    pub(crate) queues: Queues,
    /// Cycles at its start in which registers of the switch are written, while nothing else of the device runs (book
    /// 13).
    pub(crate) setup: u64,
    /// Cycles that it waits after a store whose bytes it reads back, if the two run on several clusters.
    pub(crate) sync: u64,
    /// True if it is the start of a kernel, which the device's other commands do not cross.
    pub(crate) launches: bool,
    pub(crate) label: String,
    pub(crate) span: Span,
    pub(crate) engines: Vec<EngineCycles>,
    pub(crate) latency: u64,
    pub(crate) cycles: u64,
    pub(crate) bottleneck: &'static str,
    pub(crate) bytes: Traffic,
    /// Multiply-accumulates of all slices and chips, by the format multiplied.
    pub(crate) macs: BTreeMap<DType, u64>,
    /// The assumed fields of the machine description that its price rests on.
    pub(crate) assumed: Vec<&'static str>,
    /// Share of the Reducer that it uses, with its multiply-accumulates of a slice.
    pub(crate) trees: Option<(TreeUse, u64)>,
    /// Its reads of the tensor register file.
    pub(crate) bank_reads: Option<CacheReads>,
    /// Flits that it writes to the tensor register file.
    pub(crate) bank_writes: u64,
    /// Of a transfer, by a model of requests: its load on the memories.
    pub(crate) memory: Option<MemoryReport>,
    /// Components of its time.
    pub(crate) anatomy: Anatomy,
    /// Bound of the error of its cycles, as a share of them, where they follow from those of others.
    pub(crate) error: Option<f64>,
}

/// Prices a run: engines are one pipeline, so it takes as long as the busiest, after the pipeline has filled.
pub(crate) fn exec_work(exec: &Exec, span: Span, machine: &Machine, chips: usize) -> CommandCost {
    let count = |slices: &[Range<usize>]| {
        let slices = slices.iter().map(ExactSizeIterator::len).sum::<usize>() as u64;
        slices.saturating_mul(chips as u64)
    };
    let lanes = count(&exec.slices);
    let mut flow = Flow { packets: 0, packet: 0 };
    let (mut engines, mut time) = (Vec::new(), PipelineTime::default());
    let (mut bytes, mut macs) = (Traffic::default(), BTreeMap::new());
    let (mut trees, mut bank_reads, mut bank_writes) = (None, None, 0);
    let (mut steps, mut rows) = ([0; Pace::ALL.len()], 0);
    for stage in &exec.stages {
        let cost = stage.cost(machine, flow);
        trees = stage.tree_use(machine, flow).map(|trees| (trees, cost.macs)).or(trees);
        match stage.bank_use(machine, flow) {
            Some(BankUse::Reads(reads)) => bank_reads = Some(reads),
            Some(BankUse::Writes(flits)) => bank_writes = flits,
            None => {}
        }
        busy(&mut engines, cost.engine, cost.cycles);
        time = time.then(&cost, stage.streaming());
        if machine.measured.is_some() {
            measure(stage, cost.cycles, &mut steps);
            rows = rows.max(stage.operand_rows(&stage.entering));
        }
        if cost.macs > 0 {
            let sum: &mut u64 = macs.entry(stage.entering.dtype).or_default();
            *sum = sum.saturating_add(cost.macs.saturating_mul(lanes));
        }
        let moved = cost.out.packets.saturating_mul(cost.out.packet);
        let stored = stage.stored_slices().map_or(lanes, count);
        let accesses: Vec<_> =
            stage.accesses().into_iter().filter(|access| access.space == Space::DM).collect();
        let writes = accesses.iter().any(|access| access.write);
        for access in &accesses {
            if access.write {
                bytes.of_mut(Medium::Dm).written = moved.saturating_mul(stored);
            } else if writes {
                // Counts that a store reads in addition to the stream.
                let read = access.range.end.saturating_sub(access.range.start).saturating_mul(stored);
                let sum = &mut bytes.of_mut(Medium::Dm).read;
                *sum = sum.saturating_add(read);
            } else {
                bytes.of_mut(Medium::Dm).read = moved.saturating_mul(lanes);
            }
        }
        flow = cost.out;
    }
    let busiest = first_of_busiest(&engines);
    let ring = exec.stages.iter().map(|stage| stage.ring()).fold(0, u64::max);
    let around = ring.saturating_mul(machine.timing.inter_slice_cycles);
    // The vendor's schedules go around all slices where some of a cluster hold padding.
    let all = machine.topology.slices_per_cluster;
    let ring = if ring > 0 && is_partial(&exec.slices, all) { all.max(ring) } else { ring };
    let fill = match machine.measured {
        // The vendor's schedules and the chip start such a load as late as a pass, and no step later.
        Some(_) if loads_a_register_file(exec, &engines) => 0,
        Some(_) | None => time.latency.saturating_sub(around),
    };
    let contracts = engines.iter().any(|own| own.engine == Engine::CONTRACTION.0);
    let odd = if contracts { odd_accesses(exec, machine) } else { 0 };
    let anatomy = Anatomy::Pass { fill, ring, steps, rows, contractions: contracts.into(), odd };
    CommandCost {
        resource: Resource::of_context(exec.context),
        queues: Queues::of_context(exec.context),
        // The vendor's schedules load the registers of a switch by a transfer before, which nothing else waits for.
        setup: match machine.measured {
            Some(_) => 0,
            None => exec.stages.iter().map(|stage| stage.setup(machine)).fold(0, u64::saturating_add),
        },
        launches: false,
        sync: 0,
        label: exec.stages.iter().map(|stage| short(stage.name)).collect::<Vec<_>>().join(">"),
        span,
        cycles: anatomy.cycles(machine, time.cycles()),
        bottleneck: bottleneck(&anatomy, machine, busiest.engine),
        engines,
        latency: time.latency,
        bytes,
        macs,
        assumed: exec.stages.iter().flat_map(|stage| stage.assumed()).collect(),
        trees,
        bank_reads,
        bank_writes,
        memory: None,
        anatomy,
        error: None,
    }
}

/// Returns true if a run does nothing but fetch, collect and write a register file.
fn loads_a_register_file(exec: &Exec, engines: &[EngineCycles]) -> bool {
    let plain = [Engine::FETCH, Engine::COLLECT, Engine::COMMIT];
    let writes = |stage: &PlacedStage| {
        let accesses = stage.accesses();
        accesses.iter().any(|access| access.write && matches!(access.space, Space::Trf | Space::Vrf))
    };
    engines.iter().all(|own| plain.iter().any(|engine| engine.0 == own.engine))
        && exec.stages.iter().any(writes)
}

/// Counts a stage's steps to its pace: of several stages, the slowest. Cycles beyond the steps of a table are
/// at their own pace.
fn measure(stage: &PlacedStage, cycles: u64, steps: &mut [u64; Pace::ALL.len()]) {
    let mut count = |pace: Pace, own: u64| {
        for (other, steps) in Pace::ALL.into_iter().zip(&mut *steps) {
            if other == pace {
                *steps = own.max(*steps);
            }
        }
    };
    match stage.paced() {
        Some(paced) => {
            count(stage.pace(), paced);
            count(Pace::Cycle, cycles);
        }
        None => count(stage.pace(), cycles),
    }
}

/// Accesses of a contraction's fetch that starts at an odd multiple of [`ODD_UNIT`](visa_machine::ODD_UNIT) bytes.
/// 0 on a machine for which no such effect is reported.
fn odd_accesses(exec: &Exec, machine: &Machine) -> u64 {
    let is_reported = machine.measured.as_ref().is_some_and(|measured| measured.odd_fetch.is_some());
    if !is_reported {
        return 0;
    }
    let odd = |stage: &&PlacedStage| {
        let reads = stage.bank_walk().filter(|_| stage.fetched() > 0);
        reads.is_some_and(|walk| u64::try_from(walk.loops.base).is_ok_and(OddFetch::is_odd))
    };
    let walks = exec.stages.iter().filter(odd).filter_map(|stage| stage.bank_walk());
    walks.filter_map(|walk| walk.loops.accesses()).fold(0, u64::saturating_add)
}

/// Prices the start of a kernel.
pub(crate) fn launch_work(kernel: &str, span: Span, machine: &Machine) -> CommandCost {
    CommandCost {
        resource: Resource::Main,
        queues: Queues::MAIN,
        setup: 0,
        launches: true,
        sync: 0,
        label: format!("launch {kernel}"),
        span,
        engines: Vec::new(),
        latency: 0,
        cycles: machine.timing.launch_cycles,
        bottleneck: "launch",
        bytes: Traffic::default(),
        macs: BTreeMap::new(),
        assumed: vec!["timing.launch_cycles"],
        trees: None,
        bank_reads: None,
        bank_writes: 0,
        memory: None,
        anatomy: Anatomy::Other(machine.timing.launch_cycles),
        error: None,
    }
}

/// Returns true if some slices of a cluster of `all` are active and others are not.
fn is_partial(slices: &[Range<usize>], all: u64) -> bool {
    let mut clusters: BTreeMap<u64, u64> = BTreeMap::new();
    for slice in slices.iter().flat_map(Clone::clone) {
        *clusters.entry(slice as u64 / all.max(1)).or_default() += 1;
    }
    clusters.into_values().any(|active| active < all)
}

/// The engine that a run waits for: the busiest by the book, or by the measured figures.
fn bottleneck(anatomy: &Anatomy, machine: &Machine, book: &'static str) -> &'static str {
    if machine.measured.as_ref().is_some_and(|measured| anatomy.reads_rows_longest(measured)) {
        return Engine::VECTOR.0;
    }
    if machine.measured.as_ref().is_some_and(|measured| anatomy.fetches_oddly(measured)) {
        return Engine::FETCH.0;
    }
    let slow = machine.measured.as_ref().and_then(|measured| anatomy.busiest(measured));
    match slow {
        Some(Pace::Table) => Engine::FETCH.0,
        Some(Pace::Cycle) | None => book,
    }
}

/// Counts a stage's cycles to its engine: of several, the slowest.
fn busy(engines: &mut Vec<EngineCycles>, Engine(engine): Engine, cycles: u64) {
    match engines.iter_mut().find(|entry| entry.engine == engine) {
        Some(entry) => entry.cycles = entry.cycles.max(cycles),
        None => engines.push(EngineCycles { engine, cycles }),
    }
}

/// The busiest engine; the first in pipeline order of equals.
pub(crate) fn first_of_busiest(engines: &[EngineCycles]) -> EngineCycles {
    let none = EngineCycles { engine: "none", cycles: 0 };
    let first = engines.first().copied().unwrap_or(none);
    engines
        .iter()
        .fold(first, |busiest, &engine| if engine.cycles > busiest.cycles { engine } else { busiest })
}

/// An operation's name without its dialect.
fn short(name: &str) -> &str {
    name.rsplit_once('.').map_or(name, |(_, short)| short)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A command that only takes time.
    pub(crate) fn work(resource: Resource, cycles: u64) -> CommandCost {
        let queues = match resource {
            Resource::Main => Queues::MAIN,
            Resource::Sub => Queues::SUB,
            Resource::Dual => Queues::MAIN.and(Queues::SUB),
            Resource::Pcie => Queues::PCIE,
            Resource::Dma => Queues::of_cluster(0).and(Queues::of_cluster(1)),
        };
        CommandCost {
            resource,
            queues,
            setup: 0,
            launches: false,
            sync: 0,
            label: String::new(),
            span: Span::default(),
            engines: Vec::new(),
            latency: 0,
            cycles,
            bottleneck: "",
            bytes: Traffic::default(),
            macs: BTreeMap::new(),
            assumed: Vec::new(),
            trees: None,
            bank_reads: None,
            bank_writes: 0,
            memory: None,
            anatomy: Anatomy::Other(cycles),
            error: None,
        }
    }
}
