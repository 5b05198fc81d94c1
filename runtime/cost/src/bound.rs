//! Lower bound of the cycles of a program's work: the least work of each resource, and the start-ups of the transfers
//! before and after it. Nothing here knows of a schedule, of a choice, or of the pricing of transfers.

use std::ops::Range;

use visa_engine::{Access, Engine, Flow, Space, StageCost};
use visa_hw::program::{Buffer, Command, CommandKind, Context, Dma, Exec, Program};
use visa_loops::{Program as Loops, iterations};
use visa_machine::Machine;
use visa_numerics::DType;

use crate::model::MemoryModel;
use crate::report::{Bound, BoundPart};

/// The work of a program, of all chips.
#[derive(Default)]
struct KernelWork {
    /// Cycles of a chip for the multiply-accumulates, at the peak of their formats.
    contraction: f64,
    /// Bytes that enter the vector engine.
    vector: u128,
    /// Bytes that fetches of main and sub read.
    fetched: u128,
    /// The same of dual: while it fetches, the others do not.
    fetched_dual: u128,
    hbm_read: u128,
    hbm_written: u128,
    host: u128,
}

/// The least cycles of a program that takes `cycles`.
#[must_use]
pub(crate) fn bound(program: &Program, machine: &Machine, model: MemoryModel, cycles: u64) -> Bound {
    let chips = program.chips.max(1) as u128;
    let mut work = KernelWork::default();
    let all = program.flat();
    for (command, loops) in &all {
        // Where it takes too long to count, nothing is counted: the bound is lower than it could be.
        let times = iterations(loops, &command.when).unwrap_or_default();
        add(command, times, chips, machine, &mut work);
    }
    let buffers = |space: Space, argument: bool| {
        let own =
            program.buffers.iter().filter(|buffer| buffer.space == space && buffer.argument == argument);
        own.map(bytes).sum::<u128>()
    };
    // Reading an argument again, or not at all, is the kernel's affair.
    let hbm = work.hbm_read.min(buffers(Space::HBM, true)) + work.hbm_written.min(buffers(Space::HBM, false));
    let host = work.host.min(buffers(Space::HOST, true) + buffers(Space::HOST, false));
    let computing = computing(&work, chips, machine);
    let moving = moving(hbm, host, chips, machine);
    let chain = Chains::new(&all, machine).map_or(0, |chains| {
        // In the order of the engines' work.
        let kinds = [is_contraction, is_vector, |_: &Exec, _: &Machine| true];
        let chain = computing.iter().zip(kinds).map(|(part, kind)| {
            let startups = chains.startups(kind, machine, model);
            let start = startups.saturating_mul(machine.timing.dma_startup_cycles);
            if startups > 0 { part.cycles.saturating_add(start) } else { 0 }
        });
        chain.fold(0, u64::max)
    });
    let idle = idle(program, &all, machine, model);
    let transfers = if idle > 0 { moving[0].cycles.saturating_add(idle) } else { 0 };
    let transfers = BoundPart { of: "dma", cycles: transfers };
    let chain = BoundPart { of: "start-ups", cycles: chain };
    let bounds = computing.into_iter().chain(moving).chain([chain, transfers]);
    let mut parts: Vec<BoundPart> = bounds.filter(|part| part.cycles > 0).collect();
    parts.sort_by_key(|part| std::cmp::Reverse(part.cycles));
    let least = parts.first().map_or(0, |part| part.cycles);
    Bound { cycles: least, times: cycles as f64 / least.max(1) as f64, parts }
}

/// The least that a run of a command must do, the greatest part; and cycles of its multiply-accumulates at the peak of
/// their formats. A copy within data memory has no part.
pub(crate) fn of_command(command: &Command, chips: usize, machine: &Machine) -> (BoundPart, f64) {
    let (mut work, chips) = (KernelWork::default(), chips.max(1) as u128);
    add(command, 1, chips, machine, &mut work);
    let hbm = work.hbm_read.saturating_add(work.hbm_written);
    let parts = computing(&work, chips, machine).into_iter().chain(moving(hbm, work.host, chips, machine));
    let none = BoundPart { of: "none", cycles: 0 };
    let greatest = parts.fold(none, |most, part| if part.cycles > most.cycles { part } else { most });
    (greatest, work.contraction / chips as f64)
}

fn over(work: u128, rate: u128) -> u64 {
    u64::try_from(work.div_ceil(rate.max(1))).unwrap_or(u64::MAX)
}

/// The work of the engines, spread over all slices at their full rate.
fn computing(work: &KernelWork, chips: u128, machine: &Machine) -> [BoundPart; 3] {
    let slices = u128::from(machine.slices_per_chip()) * chips;
    // An access of each context a cycle; the vector engine takes a flit.
    let access = |context| machine.fetch_sizes(context, DType::I8, DType::I8).into_iter().max();
    let rate = |contexts: &[Context]| {
        contexts.iter().filter_map(|context| access(*context)).map(u128::from).sum::<u128>()
    };
    let (fetch, dual) = (rate(&[Context::Main, Context::Sub]), rate(&[Context::Dual]));
    let fetched = over(work.fetched, fetch * slices).saturating_add(over(work.fetched_dual, dual * slices));
    [
        BoundPart { of: "contraction", cycles: (work.contraction / chips as f64).ceil() as u64 },
        BoundPart { of: "vector", cycles: over(work.vector, u128::from(machine.limits.flit_bytes) * slices) },
        BoundPart { of: "fetch", cycles: fetched },
    ]
}

/// Bytes of HBM and of host memory, at full rate.
fn moving(hbm: u128, host: u128, chips: u128, machine: &Machine) -> [BoundPart; 2] {
    let timing = &machine.timing;
    [
        BoundPart { of: "hbm", cycles: over(hbm, u128::from(timing.hbm_bytes_per_cycle) * chips) },
        BoundPart { of: "pcie", cycles: over(host, u128::from(timing.pcie_bytes_per_cycle) * chips) },
    ]
}

/// Bytes of the array that a buffer is.
fn bytes(buffer: &Buffer) -> u128 {
    let elements = buffer.shape.iter().map(|&extent| u128::from(extent)).product::<u128>();
    (elements * u128::from(buffer.dtype.bits())).div_ceil(8)
}

/// Adds the work of a command that runs `times` times; a loop has none except its commands'. A launch does none.
fn add(command: &Command, times: u128, chips: u128, machine: &Machine, work: &mut KernelWork) {
    match &command.kind {
        CommandKind::Loop(_) | CommandKind::Launch(_) => {}
        CommandKind::Dma(dma) => {
            let moved = u128::from(dma.bytes().unwrap_or(u64::MAX)).saturating_mul(times);
            // Loops of PCIe count the chips.
            moves([dma.from, dma.to], if dma.pcie { moved } else { moved.saturating_mul(chips) }, work);
        }
        CommandKind::Indexed(transfer) => {
            let moved = u128::from(transfer.unindexed().bytes().unwrap_or(u64::MAX)).saturating_mul(times);
            moves([transfer.from, transfer.to], moved.saturating_mul(chips), work);
        }
        CommandKind::Exec(exec) => {
            let slices = exec.slices.iter().map(ExactSizeIterator::len).sum::<usize>() as u128;
            run(exec, times.saturating_mul(slices).saturating_mul(chips), machine, work);
        }
    }
}

fn moves([from, to]: [Space; 2], bytes: u128, work: &mut KernelWork) {
    for (space, sum) in [(from, &mut work.hbm_read), (to, &mut work.hbm_written)] {
        if space == Space::HBM {
            *sum = sum.saturating_add(bytes);
        }
    }
    if [from, to].contains(&Space::HOST) {
        work.host = work.host.saturating_add(bytes);
    }
}

/// Adds the work of a run in its slices, `times` times.
fn run(exec: &Exec, times: u128, machine: &Machine, work: &mut KernelWork) {
    let of =
        |flow: Flow| u128::from(flow.packets).saturating_mul(u128::from(flow.packet)).saturating_mul(times);
    let (mut flow, mut vector) = (Flow { packets: 0, packet: 0 }, false);
    let fetched = match exec.context {
        Context::Main | Context::Sub => &mut work.fetched,
        Context::Dual => &mut work.fetched_dual,
    };
    for stage in &exec.stages {
        let cost = stage.cost(machine, flow);
        *fetched = fetched.saturating_add(u128::from(stage.fetched()).saturating_mul(times));
        if cost.engine == Engine::VECTOR && !vector {
            work.vector = work.vector.saturating_add(of(flow));
            vector = true;
        }
        let peak = machine.peak_operations_per_cycle(stage.entering.dtype);
        if let Some(peak) = peak.filter(|_| cost.macs > 0) {
            work.contraction += 2.0 * cost.macs as f64 * times as f64 / peak as f64;
        }
        flow = cost.out;
    }
}

/// Where a command reads or writes: a memory, bytes of it, and the slices whose memory it is.
struct AccessRange {
    space: Space,
    write: bool,
    bytes: Range<i64>,
    slices: Vec<Range<i64>>,
}

impl AccessRange {
    fn meets(&self, other: &Self) -> bool {
        let meet = |one: &Range<i64>, other: &Range<i64>| one.start.max(other.start) < one.end.min(other.end);
        let slices = self.slices.iter().any(|one| other.slices.iter().any(|other| meet(one, other)));
        self.space == other.space && meet(&self.bytes, &other.bytes) && slices
    }
}

/// Cycles of start-ups in which HBM moves nothing. Where one queue makes all transfers, each argument and each result
/// in HBM takes one at least, unless fewer transfers do. Otherwise the first transfer does.
fn idle(program: &Program, all: &[(&Command, Vec<u64>)], machine: &Machine, model: MemoryModel) -> u64 {
    let makes = |command: &Command| match &command.kind {
        CommandKind::Dma(dma) => !dma.pcie && [dma.from, dma.to].contains(&Space::HBM),
        CommandKind::Exec(_) | CommandKind::Indexed(_) | CommandKind::Loop(_) | CommandKind::Launch(_) => {
            false
        }
    };
    let always = |command: &Command, loops: &[u64]| {
        command.when.is_empty() && iterations(loops, &command.when).is_some_and(|times| times > 0)
    };
    let transfers = all.iter().filter(|(command, loops)| makes(command) && always(command, loops)).count();
    let buffers = program.buffers.iter().filter(|buffer| buffer.space == Space::HBM).count();
    let starts = match model {
        MemoryModel::Flat => transfers.min(buffers),
        MemoryModel::Book | MemoryModel::Detailed => transfers.min(buffers).min(1),
    };
    (starts as u64).saturating_mul(machine.timing.dma_startup_cycles)
}

/// A kind of runs of the Tensor Unit.
type RunKind = fn(&Exec, &Machine) -> bool;

/// Returns true if a run multiplies.
fn is_contraction(exec: &Exec, machine: &Machine) -> bool {
    costs(exec, machine).any(|cost| cost.macs > 0)
}

/// Returns true if a run passes the vector engine.
fn is_vector(exec: &Exec, machine: &Machine) -> bool {
    costs(exec, machine).any(|cost| cost.engine == Engine::VECTOR)
}

/// The costs of the stages of a run.
fn costs<'a>(exec: &'a Exec, machine: &'a Machine) -> impl Iterator<Item = StageCost> + 'a {
    exec.stages.iter().scan(Flow { packets: 0, packet: 0 }, |flow, stage| {
        let cost = stage.cost(machine, *flow);
        *flow = cost.out;
        Some(cost)
    })
}

/// The tensor transfers that the runs of the Tensor Unit depend on, and those that depend on them.
struct Chains<'a> {
    commands: Vec<&'a Command>,
    /// For each command, the commands whose data it needs, directly or not.
    needed: Vec<Vec<bool>>,
}

impl<'a> Chains<'a> {
    /// The dependences of a program; `None` if there are too many commands to compare.
    fn new(all: &[(&'a Command, Vec<u64>)], machine: &Machine) -> Option<Self> {
        if all.len() > MAX_COMMANDS {
            return None;
        }
        // Commands that run in some iterations only may leave others without the bytes that they need.
        let always = |command: &Command| command.when.is_empty();
        let places = |command| if always(command) { places(command, machine) } else { Vec::new() };
        let commands: Vec<&Command> = all.iter().map(|(command, _)| *command).collect();
        let places: Vec<_> = commands.iter().map(|command| places(command)).collect();
        let direct = |later: usize, earlier: usize| {
            let writes =
                |read: &AccessRange| places[earlier].iter().any(|place| place.write && place.meets(read));
            places[later].iter().filter(|place| !place.write).any(writes)
        };
        let mut needed: Vec<Vec<bool>> = Vec::new();
        for later in 0..commands.len() {
            let mut own = vec![false; commands.len()];
            for earlier in (0..later).filter(|&earlier| direct(later, earlier)) {
                own[earlier] = true;
                own.iter_mut().zip(&needed[earlier]).for_each(|(own, other)| *own |= other);
            }
            needed.push(own);
        }
        Some(Self { commands, needed })
    }

    /// Start-ups of transfers in a row before the first run of a kind, and after the last one. Each run has the data
    /// of as many transfers before it, and is the source of as many after it. Queues of several clusters work in
    /// parallel, unless every transfer takes all of them.
    fn startups(&self, kind: RunKind, machine: &Machine, model: MemoryModel) -> u64 {
        let queues = match model {
            MemoryModel::Flat => 1,
            MemoryModel::Book | MemoryModel::Detailed => machine.topology.clusters_per_chip.max(1),
        };
        let count = self.commands.len();
        let is_transfer = |at: &usize| match &self.commands[*at].kind {
            CommandKind::Dma(dma) => !dma.pcie,
            CommandKind::Indexed(_) => true,
            CommandKind::Exec(_) | CommandKind::Loop(_) | CommandKind::Launch(_) => false,
        };
        let is_run = |at: &usize| match &self.commands[*at].kind {
            CommandKind::Exec(exec) => kind(exec, machine),
            CommandKind::Dma(_) | CommandKind::Indexed(_) | CommandKind::Loop(_) | CommandKind::Launch(_) => {
                false
            }
        };
        let before = |run: usize| (0..run).filter(is_transfer).filter(|&at| self.needed[run][at]).count();
        let after = |run: usize| (run..count).filter(is_transfer).filter(|&at| self.needed[at][run]).count();
        let least = |around: &dyn Fn(usize) -> usize| {
            let least = (0..count).filter(is_run).map(around).min();
            least.map_or(0, |least| (least as u64).div_ceil(queues))
        };
        least(&before) + least(&after)
    }
}

/// Most commands whose dependences are checked, each command with each other.
const MAX_COMMANDS: usize = 4096;

/// Addresses that a command reads and writes in every iteration. Others are left out: it is unknown if they meet.
fn places(command: &Command, machine: &Machine) -> Vec<AccessRange> {
    match &command.kind {
        CommandKind::Loop(_) | CommandKind::Launch(_) => Vec::new(),
        CommandKind::Dma(dma) => moved(dma, machine),
        CommandKind::Indexed(transfer) => moved(&transfer.unindexed(), machine),
        CommandKind::Exec(exec) => {
            let still = exec.stages.iter().filter(|stage| exec.steps.is_still() && stage.steps.is_still());
            still.flat_map(|stage| stage.accesses()).map(|access| touched(exec, access)).collect()
        }
    }
}

fn touched(exec: &Exec, access: Access) -> AccessRange {
    let signed = |at: u64| i64::try_from(at).unwrap_or(i64::MAX);
    let stored = exec.stages.last().and_then(|stage| stage.stored_slices()).filter(|_| access.write);
    let slices = stored.unwrap_or(&exec.slices).iter();
    AccessRange {
        space: access.space,
        write: access.write,
        bytes: signed(access.range.start)..signed(access.range.end),
        slices: slices.map(|range| range.start as i64..range.end as i64).collect(),
    }
}

/// Regions of data memory that a transfer reads and writes, if its loops count whole slices or stay within them.
fn moved(dma: &Dma, machine: &Machine) -> Vec<AccessRange> {
    let slice = machine.memory.dm_bytes_per_slice.cast_signed();
    let side = |space: Space, write: bool, loops: Loops| {
        let still = dma.steps[usize::from(write)].is_still();
        let (counting, within): (Vec<_>, Vec<_>) =
            loops.entries.iter().cloned().partition(|entry| entry.stride.divided(slice).is_some());
        let part = |entries, base, unit: i64| {
            let (start, end) = Loops { entries, packet: 1, base }.extent().ok()?;
            Some(start.div_euclid(unit)..(end - 1).div_euclid(unit) + 1)
        };
        let bytes = part(within, loops.base.rem_euclid(slice), 1).filter(|bytes| bytes.end <= slice)?;
        let slices = part(counting, loops.base.div_euclid(slice) * slice, slice)?;
        (space == Space::DM && still && !dma.pcie).then(|| AccessRange {
            space,
            write,
            bytes,
            slices: vec![slices],
        })
    };
    let sides = dma
        .programs()
        .flat_map(|loops| [side(dma.from, false, loops.read()), side(dma.to, true, loops.write())]);
    sides.flatten().collect()
}
