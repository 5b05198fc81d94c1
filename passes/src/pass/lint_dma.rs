//! Warns about transfers that the memories serve slowly: the rules of books 10 and 11.

use std::collections::BTreeMap;
use visa_cost::measured_ticks;
use visa_engine::words::DmaEngine;
use visa_hw::machine;
use visa_hw::ops::dma::{self, Dma};
use visa_hw::program;
use visa_ir::diag::{Diagnostic, Severity, counted};
use visa_loops::{EngineTable, PairedProgram, Program, SeqError};
use visa_machine::Machine;
use visa_memory::{Access, Channels, HBM_UNIT, Medium, Networks};
use visa_pass::{Level, Pass, PassCx};

/// The pass.
pub static PASS: Pass = Pass {
    name: "lint-dma",
    summary: "warns about transfers that the memories serve slowly",
    doc: "Changes nothing. Each warning has a number:\n\n\
          - T1: writes to HBM are for a part of 256 bytes. HBM reads such a unit before it writes it, which takes \
          about 50 times as long (book 11).\n\
          - T2: a bit of the channel's number never changes, so that channels of HBM have nothing to do (book 10, \
          example 5).\n\
          - T3: reads of HBM go over a boundary of 256 bytes, and take two transfers each (book 11).\n\
          - T4: contiguous runs of both sides are shorter than 256 bytes: HBM moves 256 for each of them.\n\
          - T5: the same bytes of HBM are read again and again, for copies in several slices.\n\
          - T6: engines of the chip have nothing to do, while each of the others makes 256 requests or more.\n\
          - T7: the slices of a cluster have nothing to do, while those of the other take 64 KB or more.\n\
          - T8: one engine ends much later than the others, as it has a descriptor or a loop that they have not \
          (book 10, example 6).\n\
          - T9: 64 KB and more go to few networks of data memory, while those of other slices have nothing to do \
          (book 11).\n\n\
          On a calibrated machine, such as `rngd-silicon`, a note gives the ticks of the transfer, and the ticks in \
          excess of those for its bytes.\n\n\
          `visa-run --memory-model book --report text` shows the cost of each (docs/memory.md).",
    takes: Level::Hardware,
    gives: Level::Hardware,
    statistics: &[("warnings", "warnings given")],
    run,
    ..Pass::BASE
};

/// Requests below which a transfer takes hardly longer than its start.
const FEW_REQUESTS: u64 = 64;

/// Requests of an engine above which others could take some.
const MANY_REQUESTS: u64 = 256;

/// Bytes above which slices of the other cluster could take some.
const MANY_BYTES: u64 = 64 << 10;

fn run(cx: &mut PassCx<'_>) -> Result<(), Vec<Diagnostic>> {
    for id in cx.module.walk_all() {
        let op = cx.module.op(cx.ctx, id);
        let Some(dma) = Dma::cast(op) else { continue };
        let (span, machine) = (op.span(), machine(op));
        let found = warnings(dma, &machine).map_err(|error| vec![error])?;
        let costs = if found.is_empty() { None } else { costs(dma, &machine) };
        for (number, message, fix) in found {
            let mut warning =
                Diagnostic::error(format!("lint-{number}"), span, message).fix(Some(fix.to_owned()));
            if let Some(costs) = &costs {
                warning = warning.note(costs.clone(), None);
            }
            warning.severity = Severity::Warning;
            cx.count("warnings", 1);
            cx.report(warning);
        }
    }
    Ok(())
}

/// A warning's number, the finding, and the fix.
type Warning = (&'static str, String, &'static str);

fn warnings(op: Dma<'_>, machine: &Machine) -> Result<Vec<Warning>, Diagnostic> {
    let (from, to) = (op.from()?, op.to()?);
    match op.engine()? {
        // Memories hide the time that PCIe takes.
        DmaEngine::Pcie => return Ok(Vec::new()),
        DmaEngine::Tensor => {}
    }
    let (clause, table) = dma::engine_table(op)?;
    let parts: Vec<&PairedProgram> = table.0.iter().map(|part| &part.loops).collect();
    let asked = |side: fn(&PairedProgram) -> Program, access| {
        let refuse = |error: SeqError| op.clause_error("C5", clause, error.message);
        parts.iter().try_fold(Channels::none(), |sum, loops| {
            Ok::<_, Diagnostic>(sum.plus(&Channels::of(&side(loops), access, machine).map_err(refuse)?))
        })
    };
    let mut found = Vec::new();
    if to == Medium::Hbm {
        let written = asked(PairedProgram::write, Access::Write)?;
        found.extend(partial_writes(&written));
        found.extend(left_out(&written));
    }
    if from == Medium::Hbm {
        let read = asked(PairedProgram::read, Access::Read)?;
        found.extend(left_out(&read));
        found.extend(over_boundaries(&read));
        found.extend(parts.iter().find_map(|loops| copies(loops)));
    }
    if from == Medium::Hbm || to == Medium::Hbm {
        found.extend(parts.iter().find_map(|loops| short_runs(loops)));
    }
    let engines = EngineLoad::of(&table, machine);
    found.extend(idle_engines(&engines, machine));
    found.extend(late_engine(&engines, machine));
    if to == Medium::Dm {
        let written: Vec<Program> = parts.iter().map(|loops| loops.write()).collect();
        found.extend(idle_cluster(&written, machine));
        found.extend(few_networks(&written, machine));
    }
    Ok(found)
}

/// T1.
fn partial_writes(written: &Channels) -> Option<Warning> {
    let total = written.total();
    let message = format!(
        "{} of {} to HBM are for a part of {HBM_UNIT} bytes, which are read first (book 11)",
        total.partial,
        counted(total.transfers, "write")
    );
    let fix = "let at least 256 bytes be contiguous on both sides and start at a multiple of 256: gather rows in a \
               slice first, or pad them";
    (total.partial > 0).then_some(("T1", message, fix))
}

/// T2.
fn left_out(asked: &Channels) -> Option<Warning> {
    let idle = asked.requests >= FEW_REQUESTS && !asked.constant_bits().is_empty();
    let fix = "place the tensor so that neighbours in the transfer are 256 bytes apart, or pad its rows to an odd \
               multiple of 256 bytes";
    idle.then(|| ("T2", format!("{} (book 10)", asked.in_words()), fix))
}

/// T3.
fn over_boundaries(read: &Channels) -> Option<Warning> {
    let over = read.total().transfers.saturating_sub(read.requests);
    let message = format!(
        "{over} of {} of HBM go over a boundary of {HBM_UNIT} bytes, and take two transfers (book 11)",
        counted(read.requests, "read")
    );
    let fix = "start rows at multiples of 256 bytes: change the tensor's address, or pad its rows to such a multiple";
    (over > 0).then_some(("T3", message, fix))
}

/// T4.
fn short_runs(loops: &PairedProgram) -> Option<Warning> {
    let requests = loops.accesses()?;
    if loops.packet >= HBM_UNIT || requests < FEW_REQUESTS {
        return None;
    }
    let message = format!(
        "{} of {}: HBM moves {HBM_UNIT} bytes for each (book 11)",
        counted(requests, "request"),
        counted(loops.packet, "byte")
    );
    Some(("T4", message, "keep at least 256 bytes contiguous on both sides innermost in `element`"))
}

/// T5.
fn copies(loops: &PairedProgram) -> Option<Warning> {
    let still = loops.entries.iter().filter(|entry| entry.read.fixed() == Some(0));
    let copies: u64 = still.map(|entry| entry.limit).product();
    let bytes = loops.steps()?;
    let message = format!(
        "the same {} of HBM are read {copies} times: {bytes} bytes (book 10)",
        counted(bytes / copies.max(1), "byte")
    );
    let fix = "read them once, and let the Switch Engine broadcast them, or hold a part in each slice";
    (copies > 1 && bytes >= MANY_BYTES).then_some(("T5", message, fix))
}

/// The load of an engine.
#[derive(Clone, Copy, Default)]
struct EngineLoad {
    descriptors: u64,
    requests: u64,
}

impl EngineLoad {
    /// The engines that have something to do, by number.
    fn of(table: &EngineTable, machine: &Machine) -> BTreeMap<u64, Self> {
        let mut engines: BTreeMap<u64, Self> = BTreeMap::new();
        for part in &table.0 {
            let packets = part.loops.accesses().unwrap_or(u64::MAX) / part.count().max(1);
            let packet = part.loops.packet.div_ceil(machine.limits.dma_request_bytes);
            for engine in part.engines.clone() {
                let own = engines.entry(engine).or_default();
                own.descriptors += 1;
                own.requests = own.requests.saturating_add(packets.saturating_mul(packet));
            }
        }
        engines
    }

    /// About how many cycles: a start-up for each descriptor, and a cycle for each request (book 10).
    fn cycles(self, machine: &Machine) -> u64 {
        let startup = machine.timing.dma_startup_cycles;
        self.descriptors.saturating_mul(startup).saturating_add(self.requests)
    }

    fn in_words(self) -> String {
        format!("{} and {}", counted(self.descriptors, "descriptor"), counted(self.requests, "request"))
    }
}

/// T6.
fn idle_engines(engines: &BTreeMap<u64, EngineLoad>, machine: &Machine) -> Option<Warning> {
    let all = machine.topology.dma_engines_per_chip;
    let used = engines.len() as u64;
    let each = engines
        .values()
        .map(|load| load.requests)
        .max()
        .filter(|&each| used < all && each >= MANY_REQUESTS)?;
    let message = format!(
        "{used} of {} of the chip {} to do, with {} each (book 10)",
        counted(all, "DMA engine"),
        if used == 1 { "has something" } else { "have something" },
        counted(each, "request")
    );
    Some(("T6", message, "split the outermost loop by a factor of 8, and give it to `engines`"))
}

/// T8.
fn late_engine(engines: &BTreeMap<u64, EngineLoad>, machine: &Machine) -> Option<Warning> {
    let cycles = |load: &EngineLoad| load.cycles(machine);
    let (last, load) = engines.iter().max_by_key(|(_, load)| cycles(load))?;
    let others = engines.iter().filter(|(engine, _)| *engine != last).map(|(_, load)| load);
    let next = others.max_by_key(|load| cycles(load))?;
    let late = cycles(load).saturating_sub(cycles(next));
    let message = format!(
        "engine {last} ends about {} after the others: it has {}, another has {} (book 10)",
        counted(late, "cycle"),
        load.in_words(),
        next.in_words()
    );
    let fix =
        "choose sizes that divide evenly among the engines, or give a part of it to an engine that has less";
    (late >= machine.timing.dma_startup_cycles / 2).then_some(("T8", message, fix))
}

/// The ticks of the transfer on a calibrated machine.
fn costs(op: Dma<'_>, machine: &Machine) -> Option<String> {
    let spaces = [op.from().ok()?.into(), op.to().ok()?.into()];
    let (_, table) = dma::engine_table(op).ok()?;
    let dma = program::Dma::of_table(false, spaces, &table)?;
    let [ticks, needed] = measured_ticks(&dma, machine)?;
    let (all, more) = (counted(ticks, "tick"), ticks.saturating_sub(needed));
    Some(format!("on {} it takes about {all}, {more} more than its bytes need", machine.name))
}

/// T9.
fn few_networks(writes: &[Program], machine: &Machine) -> Option<Warning> {
    let asked = writes.iter().map(|write| Networks::of(write, machine).ok()).collect::<Option<Vec<_>>>()?;
    let all = asked.first()?.busy.len();
    let used = (0..all).filter(|&network| asked.iter().any(|own| own.busy[network] > 0)).count();
    let moved = writes.iter().try_fold(0_u64, |sum, write| sum.checked_add(write.steps()?))?;
    // One cluster alone is T7.
    let few =
        used > 0 && used < all / machine.topology.clusters_per_chip.max(1) as usize && moved >= MANY_BYTES;
    let message = format!(
        "all {} go to slices of {used} of {} of data memory (book 11)",
        counted(moved, "byte"),
        counted(all as u64, "network")
    );
    let fix = "spread the tensor over more slices: 32 neighbours share a network, so let the outermost term of \
               `slice` count the elements of one";
    few.then_some(("T9", message, fix))
}

/// T7.
fn idle_cluster(writes: &[Program], machine: &Machine) -> Option<Warning> {
    let bytes = (machine.topology.slices_per_cluster * machine.memory.dm_bytes_per_slice).cast_signed();
    let extents = writes.iter().map(|write| write.extent().ok()).collect::<Option<Vec<_>>>()?;
    let first = extents.iter().map(|(first, _)| first / bytes).min()?;
    let last = extents.iter().map(|&(first, end)| (end - 1).max(first) / bytes).max()?;
    let moved = writes.iter().try_fold(0_u64, |sum, write| sum.checked_add(write.steps()?))?;
    let one = machine.topology.clusters_per_chip > 1 && first == last && moved >= MANY_BYTES;
    let message =
        format!("all {} go to cluster {first}: the others have nothing to do", counted(moved, "byte"));
    one.then_some((
        "T7",
        message,
        "give an axis to `cluster`, so that each cluster holds and computes a part",
    ))
}
