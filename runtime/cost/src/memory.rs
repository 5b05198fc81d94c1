//! Load of a transfer on the memories, as a price and as a report (books 10, 11).

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use visa_engine::Space;
use visa_hw::program::{CHIP_STRIDE, Dma};
use visa_ir::diag::{Diagnostic, counted};
use visa_ir::span::Span;
use visa_loops::{PairedEntry, PairedProgram, Program, SeqError, Stride, code};
use visa_machine::{Machine, Measured, Medium, Ports};
use visa_memory::detailed::{ChannelTotals, Detailed, MAX_REQUESTS, Timing, extrapolate, simulate};
use visa_memory::{
    Bound, Channels, Descriptor, Engine, HBM_UNIT, Memory, Price, Transfer, book, channel_cycles,
    crossing_requests, partial_rounds, repeated_reads, request_count,
};

use crate::anatomy::Anatomy;
use crate::command::CommandCost;
use crate::model::MemoryModel;
use crate::queues::Queues;
use crate::report::{ChannelReport, EngineCycles, MemoryReport};

/// A transfer's price by a model; `flat` is that of the simplest. `requested` makes the descriptors of each engine.
///
/// # Errors
/// If an address is outside of RNGD's map of HBM, or a memory out of the engines' reach.
pub(crate) fn work(
    model: MemoryModel,
    flat: CommandCost,
    machine: &Machine,
    requested: impl Fn() -> Result<Transfer, SeqError>,
) -> Result<CommandCost, Diagnostic> {
    let transfer = || requested().map_err(|error| refuse(model, flat.span, &error.message));
    let machine = &*parts_apart(machine);
    match model {
        MemoryModel::Flat => Ok(flat),
        MemoryModel::Book => book_work(&transfer()?, flat, machine),
        MemoryModel::Detailed => detailed_work(&transfer()?, flat, machine),
    }
}

impl CommandCost {
    /// Cycles in which a transfer keeps HBM busy: its busiest channel.
    pub(crate) fn hbm_cycles(&self) -> u64 {
        self.engines.iter().find(|busy| busy.engine == "hbm").map_or(0, |busy| busy.cycles)
    }

    /// The transfer as a machine that was measured takes it.
    pub(crate) fn measured(self, machine: &Machine) -> Self {
        let moving = self.cycles.saturating_sub(machine.timing.dma_startup_cycles);
        let anatomy = match self.anatomy {
            Anatomy::Transfer { starts, stores, written, reading, rounds, .. } => {
                Anatomy::Transfer { starts, stores, moving, written, reading, rounds }
            }
            Anatomy::Pass { .. } | Anatomy::Other(_) => self.anatomy,
        };
        let bottleneck = match &machine.measured {
            Some(measured) if anatomy.writes_longest(measured) => "dm",
            Some(_) | None => self.bottleneck,
        };
        let reads_hbm = !self.queues.meet(Queues::PCIE) && self.bytes.of(Medium::Hbm).read > 0;
        let sync = machine.measured.as_ref().filter(|_| reads_hbm).map_or(0, Measured::reload_cycles);
        Self { cycles: anatomy.cycles(machine, self.cycles), anatomy, bottleneck, sync, ..self }
    }
}

/// The machine on which a write of a part of a unit takes HBM as long as one of the whole, where it was measured:
/// there such writes are charged by a figure.
fn parts_apart(machine: &Machine) -> Cow<'_, Machine> {
    let mut machine = Cow::Borrowed(machine);
    if machine.measured.is_some() && machine.timing.hbm_partial_write_times != 1 {
        machine.to_mut().timing.hbm_partial_write_times = 1;
    }
    machine
}

/// A transfer's price by the `detailed` model. The reason for its length is in the words of the `book` model.
///
/// # Errors
/// If an address is outside of RNGD's map of HBM.
fn detailed_work(
    transfer: &Transfer,
    flat: CommandCost,
    machine: &Machine,
) -> Result<CommandCost, Diagnostic> {
    let (span, timing) = (flat.span, Timing::of(machine));
    let refuse = |message: &dyn Display| refuse(MemoryModel::Detailed, span, message);
    let whole = extrapolate(transfer, machine, &timing, MAX_REQUESTS).map_err(|error| refuse(&error))?;
    if let Some(whole) = whole {
        let book = book_work(transfer, flat, machine)?;
        // The work of the part is no measure of channels and banks: those of the `book` model stay.
        let estimated = whole.requests - whole.simulated;
        let memory = book.memory.clone().map(|memory| MemoryReport { estimated, ..memory });
        return Ok(detailed(
            CommandCost { cycles: whole.cycles, memory, error: Some(whole.error), ..book },
            machine,
        ));
    }
    let found = simulate(transfer, machine, &timing, &[]).map_err(|error| refuse(&error))?;
    let book = book_work(transfer, flat, machine)?;
    let engines: Vec<_> = found.engines.iter().map(|(_, totals)| totals.end).collect();
    let all = |of: fn(&ChannelTotals) -> u64| {
        found.chips.iter().flat_map(|chip| &chip.channels).map(of).sum::<u64>()
    };
    let memory = book.memory.clone().map(|report| MemoryReport {
        estimated: 0,
        channels: if report.channels.is_empty() { Vec::new() } else { simulated_channels(&found) },
        hbm_asked: all(|channel| channel.bytes_asked),
        hbm_moved: all(|channel| channel.bytes_moved),
        networks: found.chips.iter().flat_map(|chip| &chip.dmns).map(|network| network.busy).collect(),
        engines,
        banks: banks(&found, machine),
        ..report
    });
    Ok(detailed(CommandCost { cycles: found.cycles, memory, ..book }, machine))
}

/// The work with the assumptions and the bottleneck of the `detailed` model.
fn detailed(mut work: CommandCost, machine: &Machine) -> CommandCost {
    let startup = machine.timing.dma_startup_cycles;
    if startup > work.cycles.saturating_sub(startup) {
        work.bottleneck = "startup";
    }
    work.assumed.retain(|field| !REPLACED.contains(field));
    work.assumed.extend(visa_memory::detailed::ASSUMED.iter().map(|assumption| assumption.field));
    work
}

/// Figures of the `book` model that the `detailed` one has others for.
const REPLACED: [&str; 2] = ["limits.dma_read_ahead", "timing.hbm_row_switch_cycles"];

/// Accesses to each bank of data memory; empty if it takes no part.
fn banks(found: &Detailed, machine: &Machine) -> Vec<u64> {
    let mut banks = vec![0; machine.memory.dm_banks as usize];
    for chip in &found.chips {
        for (number, accesses) in chip.banks.iter().enumerate() {
            banks[number % machine.memory.dm_banks as usize] += accesses;
        }
    }
    if banks.iter().all(|&accesses| accesses == 0) { Vec::new() } else { banks }
}

/// Reason for the time of a transfer that [`repeated_reads`] lengthens.
const REPEATED: &str = "slices read the same bytes, which few channels of HBM hold: copies in HBM shorten it";

/// The components of the time of a transfer on a machine that was measured.
fn requested(flat: Anatomy, transfer: &Transfer, machine: &Machine) -> Result<Anatomy, SeqError> {
    let Anatomy::Transfer { starts, stores, moving, .. } = flat else { return Ok(flat) };
    let ([written, reading], rounds) =
        (in_data_memory(transfer, machine)?, partial_rounds(transfer, machine)?);
    let [starts, stores] = match reads_one_cluster(transfer, machine)? {
        true => [0, starts + stores],
        false => [starts, stores],
    };
    Ok(Anatomy::Transfer { starts, stores, moving, written, reading, rounds })
}

/// Load of a transfer on the data memory of the cluster that gets the most of a chip: bytes that it writes, each
/// request as if it had the most bytes of one, and those that read HBM over a boundary with the share of
/// `measured.crossing` more; and cycles in which the networks carry the bytes that are read there.
fn in_data_memory(transfer: &Transfer, machine: &Machine) -> Result<[u64; 2], SeqError> {
    let mut clusters: BTreeMap<(u64, i64), [u64; 2]> = BTreeMap::new();
    let mut add = |at: &Memory, program: &Program, bytes: [u64; 2]| -> Result<(), SeqError> {
        let Some(own) = at.clusters(program, machine)? else { return Ok(()) };
        // Of loops over several clusters each has as much as the others.
        let count = own.clone().count().max(1) as u64;
        for cluster in own {
            let sums = clusters.entry((at.chip, cluster)).or_default();
            *sums = std::array::from_fn(|side| sums[side].saturating_add(bytes[side] / count));
        }
        Ok(())
    };
    for one in transfer.descriptors().filter(|one| one.to.medium == Medium::Dm) {
        let (read, write) = (one.read(), one.write());
        let Some(all) = request_count(&write, machine) else { continue };
        let all = all.saturating_mul(machine.limits.dma_request_bytes);
        add(&one.to, &write, [all.saturating_add(crossing_bytes(one, machine)?), 0])?;
        let shares = machine.measured.as_ref().is_some_and(|measured| measured.shared_networks.is_some());
        if let Some(bytes) = read.steps().filter(|_| shares && one.from.medium == Medium::Dm) {
            add(&one.from, &read, [0, bytes])?;
        }
    }
    let rate = (machine.dm_bytes_per_cycle() / machine.topology.clusters_per_chip.max(1)).max(1);
    let [written, read] = clusters.into_values().max().unwrap_or_default();
    Ok([written, read.div_ceil(rate)])
}

/// Bytes that the requests of a descriptor which read HBM over a boundary count in addition.
fn crossing_bytes(one: &Descriptor, machine: &Machine) -> Result<u64, SeqError> {
    let crossing = machine.measured.as_ref().and_then(|measured| measured.crossing.as_ref());
    match crossing.filter(|_| one.from.medium == Medium::Hbm) {
        Some(crossing) => {
            let requests = crossing_requests(&one.read(), machine)?;
            Ok(crossing.bytes(requests, machine.limits.dma_request_bytes))
        }
        None => Ok(0),
    }
}

/// Returns true if all that a transfer reads is in the data memory of one cluster.
fn reads_one_cluster(transfer: &Transfer, machine: &Machine) -> Result<bool, SeqError> {
    let mut all = BTreeSet::new();
    for one in transfer.descriptors() {
        match one.from.clusters(&one.read(), machine)?.filter(|_| one.from.medium == Medium::Dm) {
            Some(clusters) => all.extend(clusters),
            None => return Ok(false),
        }
    }
    Ok(all.len() == 1)
}

fn simulated_channels(found: &Detailed) -> Vec<ChannelReport> {
    let channels = found.chips.iter().flat_map(|chip| &chip.channels);
    let report = channels.map(|channel| ChannelReport {
        transfers: channel.requests(),
        row_hits: channel.row_hits,
        switches: channel.row_switches,
        exposed: None,
        partial: channel.read_modify_writes,
        cycles: None,
    });
    report.collect()
}

fn refuse(model: MemoryModel, span: Span, message: &dyn Display) -> Diagnostic {
    let message = format!("the `{}` model has no price for it: {message}", model.name());
    Diagnostic::error("memory-model", span, message).fix(Some("choose the `flat` model".to_owned()))
}

/// A transfer's price by the `book` model; `flat` has the parts that the models have in common.
///
/// # Errors
/// If an address is outside of RNGD's map of HBM.
fn book_work(transfer: &Transfer, flat: CommandCost, machine: &Machine) -> Result<CommandCost, Diagnostic> {
    let refuse = |error: SeqError| refuse(MemoryModel::Book, flat.span, &error.message);
    let mut price = book(transfer, machine).map_err(refuse)?;
    let (mut reason, mut anatomy) = (reason(&price, machine), flat.anatomy);
    let mut assumed = flat.assumed.clone();
    assumed.extend(["limits.dma_read_ahead", "timing.hbm_row_switch_cycles"]);
    if machine.measured.is_some() {
        anatomy = requested(anatomy, transfer, machine).map_err(refuse)?;
        let moving = repeated_reads(transfer, machine).map_err(refuse)?;
        let repeated = moving.saturating_add(machine.timing.dma_startup_cycles);
        if repeated > price.cycles {
            (price.cycles, price.bound) = (repeated, Bound::Channel);
            reason = REPEATED.to_owned();
        }
    } else {
        assumed.push("timing.hbm_partial_write_times");
    }
    let report = MemoryReport {
        reason,
        requests: price.requests,
        estimated: price.estimated,
        engines: price.engines.iter().map(|(_, cycles)| *cycles).collect(),
        channels: price.hbm.values().flat_map(|asked| channels(asked, machine)).collect(),
        hbm_asked: price.hbm_bytes,
        hbm_moved: price.hbm.values().map(|asked| asked.total().transfers.saturating_mul(HBM_UNIT)).sum(),
        networks: price.networks.values().flatten().copied().collect(),
        banks: Vec::new(),
    };
    Ok(CommandCost {
        cycles: price.cycles,
        bottleneck: name(price.bound),
        engines: busy(&price, machine),
        memory: Some(report),
        anatomy,
        assumed,
        ..flat
    })
}

/// Descriptors of each engine of a chip. Chips are alike, so this is one of them; all of them where they write to each
/// other.
pub(crate) fn table(dma: &Dma, machine: &Machine) -> Result<Transfer, SeqError> {
    let (from, to) = (memory(dma.from)?, memory(dma.to)?);
    if dma.pcie && from.medium != Medium::Host && to.medium != Medium::Host {
        return between_chips(dma, from, to);
    }
    let mut engines = dma.by_engine();
    for loops in engines.values_mut().flatten() {
        loops.entries.retain(|entry| !counts_chips(&entry.read) && !counts_chips(&entry.write));
    }
    Ok(Transfer::of_chip(engines, [from.medium, to.medium], machine))
}

/// Descriptors of the PCIe engine of each chip: one for each pair of chips and place, as a descriptor names one chip
/// on either side. The chip that is written to has it.
fn between_chips(dma: &Dma, from: Memory, to: Memory) -> Result<Transfer, SeqError> {
    let mut engines: BTreeMap<u64, Vec<Descriptor>> = BTreeMap::new();
    for loops in dma.programs() {
        for (from_chip, to_chip, loops) in by_chips(loops)? {
            let (from, to) = (Memory { chip: from_chip, ..from }, Memory { chip: to_chip, ..to });
            engines.entry(to_chip).or_default().push(Descriptor { from, to, loops });
        }
    }
    let engine = |chip| Engine { chip, cluster: 0, pe: 0 };
    Ok(Transfer { engines: engines.into_iter().map(|(chip, told)| (engine(chip), told)).collect() })
}

/// Loops from chip to chip as those of each pair of chips and place, with the chips that are read and written.
fn by_chips(loops: &PairedProgram) -> Result<Vec<(u64, u64, PairedProgram)>, SeqError> {
    let chips = |entry: &PairedEntry| counts_chips(&entry.read) || counts_chips(&entry.write);
    let (outer, inner): (Vec<_>, Vec<_>) = loops.entries.iter().cloned().partition(chips);
    let count = outer.len();
    let all = outer.iter().try_fold(1_u64, |all, entry| all.checked_mul(entry.limit));
    let Some(all) = all.filter(|&all| all <= MAX_DESCRIPTORS) else {
        let message = format!("the loops from chip to chip need more than {MAX_DESCRIPTORS} descriptors");
        return Err(SeqError { code: code::ADDRESS, message, fix: None, range: None });
    };
    let whole = PairedProgram { entries: [outer, inner].concat(), ..loops.clone() };
    let pair = |number: u64| {
        let own = whole.iteration(count, number);
        let chip = |address: i64| address.div_euclid(CHIP_STRIDE).unsigned_abs();
        let (from, to) = (chip(own.read_base), chip(own.write_base));
        let (read_base, write_base) =
            (own.read_base.rem_euclid(CHIP_STRIDE), own.write_base.rem_euclid(CHIP_STRIDE));
        (from, to, PairedProgram { read_base, write_base, ..own })
    };
    Ok((0..all).map(pair).collect())
}

/// Most descriptors of a transfer between chips that are priced one by one.
const MAX_DESCRIPTORS: u64 = 1 << 12;

/// Returns true if a loop of PCIe goes from chip to chip.
fn counts_chips(stride: &Stride) -> bool {
    stride.divided(CHIP_STRIDE).is_some_and(|chips| chips.numbers().iter().any(|&chip| chip != 0))
}

pub(crate) fn memory(space: Space) -> Result<Memory, SeqError> {
    let unreachable = || {
        let message = "a DMA engine has no way to the register files".to_owned();
        SeqError { code: code::ADDRESS, message, fix: None, range: None }
    };
    let medium = space.medium().ok_or_else(unreachable)?;
    Ok(Memory { medium, chip: 0 })
}

fn channels(asked: &Channels, machine: &Machine) -> Vec<ChannelReport> {
    let report = asked.loads.iter().map(|load| ChannelReport {
        transfers: load.transfers,
        row_hits: load.transfers.saturating_sub(load.switches),
        switches: load.switches,
        exposed: Some(load.exposed),
        partial: load.partial,
        cycles: Some(channel_cycles(load, machine).0),
    });
    report.collect()
}

/// Busy time of the busiest engine of each kind.
fn busy(price: &Price, machine: &Machine) -> Vec<EngineCycles> {
    let startup = machine.timing.dma_startup_cycles;
    let channel = |asked: &Channels| asked.loads.iter().map(|load| channel_cycles(load, machine).0).max();
    let hbm = price.hbm.values().filter_map(channel).max().map(|cycles| ("hbm", cycles));
    let dm = price.networks.values().flatten().copied().max().map(|cycles| ("dm", cycles));
    let mut ports: BTreeMap<Medium, u64> = BTreeMap::new();
    for (&(medium, _), parts) in &price.ports {
        let busiest = parts.iter().copied().fold(0, u64::max);
        let most = ports.entry(medium).or_default();
        *most = busiest.max(*most);
    }
    let ports = ports.into_iter().map(|(medium, cycles)| (medium.word(), cycles));
    let link = |bytes: &u64| ("pcie", bytes.div_ceil(machine.timing.pcie_bytes_per_cycle));
    let pcie = price.pcie_in.values().chain(price.pcie_out.values()).max().map(link);
    let engine = price.engines.iter().map(|(_, cycles)| ("dma", cycles.saturating_sub(startup))).max();
    let all = [hbm, dm].into_iter().flatten().chain(ports).chain([pcie, engine].into_iter().flatten());
    all.map(|(engine, cycles)| EngineCycles { engine, cycles }).collect()
}

const fn name(bound: Bound) -> &'static str {
    match bound {
        Bound::Startup => "startup",
        Bound::Engine => "dma",
        Bound::Channel => "hbm",
        Bound::Rows => "hbm rows",
        Bound::PartialWrites => "hbm parts",
        Bound::Network => "dm",
        Bound::Port(medium) => medium.word(),
        Bound::Pcie => "pcie",
    }
}

/// Reason for the time of a transfer, in words.
fn reason(price: &Price, machine: &Machine) -> String {
    let total = price.hbm.values().fold(Channels::none(), |sum, asked| sum.plus(asked));
    let loads = total.total();
    match price.bound {
        Bound::Startup => {
            format!(
                "the slowest engine starts for longer than it moves: {} a descriptor",
                counted(machine.timing.dma_startup_cycles, "cycle")
            )
        }
        Bound::Engine => {
            let all = machine.topology.dma_engines_per_chip;
            let some = price.engines.len();
            let bytes = price.bytes / price.requests.max(1);
            let mut text =
                format!("{some} of {all} engines work, and make a request of {bytes} bytes a cycle");
            if loads.transfers > total.requests {
                let over = loads.transfers - total.requests;
                text.push_str(&format!(", of which {over} go over a boundary of {HBM_UNIT} bytes in HBM"));
            }
            text
        }
        Bound::Channel => total.in_words(),
        Bound::Rows => format!(
            "{} of {} go to another row of their bank, and other banks do not hide them",
            loads.exposed,
            counted(loads.transfers, "request")
        ),
        Bound::PartialWrites => format!(
            "{} of {} write a part of {HBM_UNIT} bytes of HBM, which are read first",
            loads.partial,
            counted(loads.transfers, "request")
        ),
        Bound::Network => {
            let all = price.networks.values().flatten();
            let used = all.clone().filter(|&&busy| busy > 0).count();
            let rate = machine.timing.dm_bytes_per_cycle_per_dmn;
            format!("{used} of {} networks of data memory, each of {rate} bytes a cycle", all.count())
        }
        Bound::Port(medium) => {
            let all = price.ports.iter().filter(|((own, _), _)| *own == medium);
            let all = all.flat_map(|(_, parts)| parts);
            let used = all.clone().filter(|&&busy| busy > 0).count();
            let rate = match medium.decl().ports {
                Ports::Each(rate) => rate(machine),
                Ports::Unbounded | Ports::Channels | Ports::Networks => 0,
            };
            format!(
                "{used} of {} parts of {}, each of {rate} bytes a cycle",
                all.count(),
                medium.decl().about
            )
        }
        Bound::Pcie => format!("PCIe carries {} bytes a cycle each way", machine.timing.pcie_bytes_per_cycle),
    }
}
