//! The price of a DMA transfer (books 10, 11).

use std::collections::BTreeMap;

use visa_engine::Space;
use visa_hw::program::Dma;
use visa_ir::diag::Diagnostic;
use visa_ir::span::Span;
use visa_machine::{Machine, Medium};

use crate::anatomy::Anatomy;
use crate::command::{CommandCost, first_of_busiest};
use crate::memory;
use crate::model::MemoryModel;
use crate::ports;
use crate::queues::Queues;
use crate::report::{EngineCycles, Resource};
use crate::traffic::Traffic;

/// The cost of a transfer by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TransferCost {
    /// Cycles until its end.
    pub cycles: u64,
    /// Cycles in which it keeps HBM busy: its busiest channel.
    pub hbm: u64,
}

/// The cost of a transfer by itself.
///
/// # Errors
/// A transfer that has no address in the model.
pub fn transfer_cost(dma: &Dma, machine: &Machine, model: MemoryModel) -> Result<TransferCost, Diagnostic> {
    let work = dma_work(dma, Span::default(), machine, 1, model)?;
    Ok(TransferCost { cycles: work.cycles, hbm: work.hbm_cycles() })
}

/// Ticks of a transfer by itself on a calibrated machine, and those that its bytes need: a start-up, and HBM or data
/// memory at full rate. `None` on other machines, and for a transfer that has no address in the `book` model.
#[must_use]
pub fn measured_ticks(dma: &Dma, machine: &Machine) -> Option<[u64; 2]> {
    let measured = machine.measured.as_ref()?;
    let work = dma_work(dma, Span::default(), machine, 1, MemoryModel::Book).ok()?;
    let Anatomy::Transfer { starts, stores, written, reading, .. } = work.anatomy else { return None };
    let moving = cycles(work.bytes.of(Medium::Hbm).both(), machine.timing.hbm_bytes_per_cycle);
    let needed = Anatomy::Transfer { starts, stores, moving, written, reading, rounds: 0 }.ticks(measured);
    Some([work.anatomy.ticks(measured).round() as u64, needed.round() as u64])
}

/// Prices a transfer. All chips move at once, each its own bytes.
///
/// # Errors
/// A transfer that has no address in the model.
pub(crate) fn dma_work(
    dma: &Dma,
    span: Span,
    machine: &Machine,
    chips: usize,
    model: MemoryModel,
) -> Result<CommandCost, Diagnostic> {
    let work =
        memory::work(model, flat_work(dma, span, machine, chips), machine, || memory::table(dma, machine))?;
    Ok(CommandCost { queues: Queues::of_transfer(dma, machine, model), ..work }.measured(machine))
}

/// Prices a transfer by a start-up and the rate of the narrowest place on the way. A memory that is read and written
/// carries the bytes twice, as its reads and writes share one bandwidth (book 11).
pub(crate) fn flat_work(dma: &Dma, span: Span, machine: &Machine, chips: usize) -> CommandCost {
    // As all that follows: a price that is more than `u64::MAX` is that.
    let units = dma.bytes().unwrap_or(u64::MAX);
    let chips = chips.max(1) as u64;
    // PCIe loops count the chips; the tensor DMA's program is one chip's.
    let (chip_bytes, all_bytes) =
        if dma.pcie { (units.div_ceil(chips), units) } else { (units, units.saturating_mul(chips)) };
    let engines = ways(dma, machine, chip_bytes);
    let busiest = first_of_busiest(&engines);
    let startup = machine.timing.dma_startup_cycles;
    CommandCost {
        resource: Resource::of_transfer(dma),
        queues: Queues::of_transfer(dma, machine, MemoryModel::Flat),
        setup: 0,
        launches: false,
        sync: 0,
        label: format!("{}>{}", dma.from.name(), dma.to.name()),
        span,
        cycles: startup.saturating_add(busiest.cycles),
        bottleneck: if startup > busiest.cycles { "startup" } else { busiest.engine },
        engines,
        latency: startup,
        bytes: read(dma.from, all_bytes).plus(written(dma.to, all_bytes)),
        macs: BTreeMap::new(),
        assumed: match dma.pcie {
            true => vec!["timing.dma_startup_cycles", "timing.pcie_bytes_per_cycle"],
            false => vec!["timing.dma_startup_cycles"],
        },
        trees: None,
        bank_reads: None,
        bank_writes: 0,
        memory: None,
        anatomy: Anatomy::Transfer {
            starts: 1,
            stores: 0,
            moving: busiest.cycles,
            written: 0,
            reading: 0,
            rounds: 0,
        },
        error: None,
    }
}

/// Every place that the bytes of a chip pass, and how long they take there.
fn ways(dma: &Dma, machine: &Machine, bytes: u64) -> Vec<EngineCycles> {
    let timing = &machine.timing;
    let mut ways = Vec::new();
    for (space, engine, rate) in
        [(Space::HBM, "hbm", timing.hbm_bytes_per_cycle), (Space::DM, "dm", machine.dm_bytes_per_cycle())]
    {
        let times = u64::from(dma.from == space) + u64::from(dma.to == space);
        if times > 0 {
            ways.push(EngineCycles { engine, cycles: cycles(bytes.saturating_mul(times), rate) });
        }
    }
    let ports = ports::cycles(dma, machine).into_iter();
    ways.extend(ports.map(|(medium, cycles)| EngineCycles { engine: medium.word(), cycles }));
    if dma.pcie {
        ways.push(EngineCycles { engine: "pcie", cycles: cycles(bytes, timing.pcie_bytes_per_cycle) });
    } else {
        let rate = machine.topology.dma_engines_per_chip.saturating_mul(timing.dma_bytes_per_cycle);
        ways.push(EngineCycles { engine: "dma", cycles: cycles(bytes, rate) });
    }
    ways
}

/// A machine description has no rate of 0.
pub(crate) fn cycles(bytes: u64, bytes_per_cycle: u64) -> u64 {
    bytes.div_ceil(bytes_per_cycle.max(1))
}

/// The traffic of bytes that are read from a memory; register files count none.
pub(crate) fn read(space: Space, bytes: u64) -> Traffic {
    let mut traffic = Traffic::default();
    if let Some(medium) = space.medium() {
        traffic.of_mut(medium).read = bytes;
    }
    traffic
}

fn written(space: Space, bytes: u64) -> Traffic {
    let mut traffic = Traffic::default();
    if let Some(medium) = space.medium() {
        traffic.of_mut(medium).written = bytes;
    }
    traffic
}
