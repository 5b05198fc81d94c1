//! Cost and regions of a command in an iteration of the loops around it. A price that is known is not worked out
//! again.

use std::collections::HashMap;
use std::rc::Rc;

use visa_engine::Space;
use visa_hw::program::{Command, CommandKind, Dma};
use visa_ir::diag::Diagnostic;
use visa_loops::{PairedProgram, Program, lcm};
use visa_machine::Machine;
use visa_memory::{BankAccesses, CHANNEL_PERIOD};

use crate::command::{CommandCost, exec_work, launch_work};
use crate::footprint::{Region, dma_regions, exec_regions};
use crate::indexed::{indexed_regions, indexed_work};
use crate::known::KnownPrices;
use crate::model::MemoryModel;
use crate::report::{Stalls, Wait};
use crate::rows::Rows;
use crate::transfer::dma_work;
use crate::walks::{Walks, exec_walks, stage_accesses};

/// Inputs of pricing in addition to the program.
#[derive(Clone, Copy)]
pub(crate) struct Terms<'a> {
    pub(crate) machine: &'a Machine,
    pub(crate) chips: usize,
    pub(crate) model: MemoryModel,
    pub(crate) rows: &'a Rows,
    /// Prices of transfers of other programs.
    pub(crate) known: &'a KnownPrices,
}

/// A command in an iteration of the loops around it.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    /// The number of the command in program order.
    pub(crate) command: usize,
    /// The iteration of each loop around it, the outermost first.
    pub(crate) iteration: Rc<[u64]>,
    /// Its work.
    pub(crate) work: Rc<CommandCost>,
    /// Regions that it reads and writes.
    pub(crate) regions: Rc<[Region]>,
    /// Banks of data memory that it takes, if it is a run of the Tensor Unit.
    pub(crate) walks: Rc<Walks>,
    /// Cycles, those included that it waits for main if it is in sub.
    pub(crate) cycles: u64,
    /// Those of them in which it waits, with the reasons.
    pub(crate) stalled: Stalled,
}

/// Waits of a run of sub while it runs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stalled {
    pub(crate) cycles: Stalls,
    /// The runs of main.
    pub(crate) by: Vec<Wait>,
}

impl Run {
    /// Sets the waits of the run while it runs.
    pub(crate) fn stall(&mut self, stalled: Stalled) {
        self.cycles = self.work.cycles.saturating_add(stalled.cycles.total());
        self.stalled = stalled;
    }
}

impl Stalled {
    pub(crate) fn longer_than(&self, other: &Self) -> bool {
        self.cycles.total() > other.cycles.total()
    }
}

/// Number of bytes by which a command's reads, writes and indices have moved.
type Moved = [i64; 3];

/// The prices that are known.
pub(crate) struct Prices<'a> {
    terms: Terms<'a>,
    /// By the number of the command, and the offset of its addresses to the extent that prices depend on it.
    priced: HashMap<(usize, Moved), Rc<CommandCost>>,
    /// Transfers that the `detailed` model has simulated, by the number of the command.
    samples: HashMap<usize, Samples>,
    /// Regions of commands whose addresses have not moved.
    still: HashMap<usize, Rc<[Region]>>,
    /// The walks of commands that have not moved.
    still_walks: HashMap<usize, Rc<Walks>>,
    /// Accesses of stages to banks, by the number of the command, that of the stage, and its offset among the banks.
    accesses: HashMap<(usize, usize, i64), Option<Rc<BankAccesses>>>,
}

impl<'a> Prices<'a> {
    pub(crate) fn new(terms: Terms<'a>) -> Self {
        Self {
            terms,
            priced: HashMap::new(),
            samples: HashMap::new(),
            still: HashMap::new(),
            still_walks: HashMap::new(),
            accesses: HashMap::new(),
        }
    }

    /// The run of command `number` in an iteration.
    ///
    /// # Errors
    /// A transfer for which the model has no price.
    pub(crate) fn run(
        &mut self,
        command: &Command,
        number: usize,
        indices: &Rc<[u64]>,
    ) -> Result<Run, Diagnostic> {
        let key = (number, self.counting(command, moved(command, indices)));
        let work = match self.priced.get(&key) {
            Some(known) => Rc::clone(known),
            None => {
                if let Some(like) = self.samples.get(&number).and_then(Samples::mean) {
                    like
                } else {
                    let work = Rc::new(self.work(command, indices)?);
                    if self.terms.model == MemoryModel::Detailed && work.memory.is_some() {
                        self.samples.entry(number).or_default().add(&work);
                    }
                    self.priced.insert(key, Rc::clone(&work));
                    work
                }
            }
        };
        let (regions, walks) = (self.regions(command, number, indices), self.walks(command, number, indices));
        let (cycles, stalled) = (work.cycles, Stalled::default());
        let iteration = Rc::clone(indices);
        Ok(Run { command: number, iteration, cycles, stalled, work, regions, walks })
    }

    fn work(&self, command: &Command, indices: &[u64]) -> Result<CommandCost, Diagnostic> {
        let Terms { machine, chips, model, rows, known } = self.terms;
        match &command.kind {
            CommandKind::Dma(dma) => {
                let (dma, span) = (dma.at(indices), command.span);
                let work =
                    known.transfer(&dma, chips, model, || dma_work(&dma, span, machine, chips, model))?;
                Ok(CommandCost { span, ..work })
            }
            CommandKind::Indexed(transfer) => {
                indexed_work(&transfer.at(indices), command.span, machine, chips, model, rows)
            }
            CommandKind::Exec(exec) => Ok(exec_work(exec, command.span, machine, chips)),
            CommandKind::Launch(kernel) => Ok(launch_work(kernel, command.span, machine)),
            CommandKind::Loop(_) => {
                Err(Diagnostic::error("price", command.span, "a loop is no command by itself"))
            }
        }
    }

    /// Regions that a command touches in an iteration.
    pub(crate) fn regions(&mut self, command: &Command, number: usize, indices: &[u64]) -> Rc<[Region]> {
        if moved(command, indices) != Moved::default() {
            return regions(command, indices, self.terms.machine).into();
        }
        let machine = self.terms.machine;
        let known = self.still.entry(number).or_insert_with(|| regions(command, indices, machine).into());
        Rc::clone(known)
    }

    /// Banks that a command takes in an iteration.
    pub(crate) fn walks(&mut self, command: &Command, number: usize, indices: &[u64]) -> Rc<Walks> {
        let CommandKind::Exec(exec) = &command.kind else { return Rc::default() };
        let still = moved(command, indices) == Moved::default();
        if let Some(known) = self.still_walks.get(&number).filter(|_| still) {
            return Rc::clone(known);
        }
        let machine = self.terms.machine;
        let around = machine.memory.dm_banks.saturating_mul(machine.memory.dm_bank_width).cast_signed();
        let accesses = &mut self.accesses;
        let walks = Rc::new(exec_walks(exec, indices, |stage, moved| {
            let moved = moved.rem_euclid(around);
            let known = accesses.entry((number, stage, moved));
            known.or_insert_with(|| stage_accesses(exec, stage, moved, machine).map(Rc::new)).clone()
        }));
        if still {
            self.still_walks.insert(number, Rc::clone(&walks));
        }
        walks
    }

    /// The moves, reduced to those that prices depend on.
    fn counting(&self, command: &Command, moved: Moved) -> Moved {
        match (&command.kind, self.terms.model) {
            (CommandKind::Exec(_) | CommandKind::Loop(_) | CommandKind::Launch(_), _)
            | (_, MemoryModel::Flat) => Moved::default(),
            (CommandKind::Dma(dma), MemoryModel::Book) => {
                let [read, write, _] = moved;
                let [reads, writes] = hbm_blocks(dma);
                let counts = |moved: i64, block: Option<i64>| match block {
                    Some(block) if moved % block == 0 => 0,
                    Some(_) | None => moved,
                };
                [counts(read, reads), counts(write, writes), 0]
            }
            (CommandKind::Dma(_), MemoryModel::Detailed)
            | (CommandKind::Indexed(_), MemoryModel::Book | MemoryModel::Detailed) => moved,
        }
    }

    /// Number of iterations of the loop at a depth after which a command costs the same again; `None` if it may never.
    pub(crate) fn period(&self, command: &Command, depth: usize) -> Option<u64> {
        // Its distance from the commands that it meets is the same only where its turns begin again.
        let turns = command.turns(depth);
        match (&command.kind, self.terms.model) {
            (CommandKind::Exec(_) | CommandKind::Loop(_) | CommandKind::Launch(_), _)
            | (_, MemoryModel::Flat) => Some(turns),
            (CommandKind::Dma(dma), MemoryModel::Book) => {
                let blocks = hbm_blocks(dma);
                let mut period = 1_u64;
                for (steps, block) in dma.steps.iter().zip(blocks) {
                    let step = steps.of(depth);
                    if step == 0 {
                        continue;
                    }
                    if step % block? != 0 {
                        // Powers of two: the greater one is a multiple of the other.
                        period = period.max(CHANNEL_PERIOD >> step.trailing_zeros());
                    }
                }
                Some(lcm(period, turns))
            }
            (CommandKind::Dma(_), MemoryModel::Detailed)
            | (CommandKind::Indexed(_), MemoryModel::Book | MemoryModel::Detailed) => {
                (0..3).all(|side| step_of(command, side, depth) == 0).then_some(turns)
            }
        }
    }
}

/// Requests that are simulated of a command in all iterations, after which it is taken to take as long as on average.
pub const MAX_SAMPLED: u64 = 1 << 18;

/// The transfers of a command that were simulated at other addresses.
#[derive(Default)]
struct Samples {
    requests: u64,
    works: Vec<Rc<CommandCost>>,
    mean: Option<Rc<CommandCost>>,
}

impl Samples {
    fn add(&mut self, work: &Rc<CommandCost>) {
        let requests = work.memory.as_ref().map_or(0, |memory| memory.requests - memory.estimated);
        self.requests = self.requests.saturating_add(requests);
        self.works.push(Rc::clone(work));
        if self.requests < MAX_SAMPLED {
            return;
        }
        let cycles = || self.works.iter().map(|work| work.cycles);
        let mean = cycles().map(u128::from).sum::<u128>() / self.works.len().max(1) as u128;
        let (least, most) = (cycles().min().unwrap_or_default(), cycles().max().unwrap_or_default());
        let error = (most - least) as f64 / 2.0 / (mean as f64).max(1.0);
        let like = CommandCost {
            cycles: mean as u64,
            error: Some(error.max(work.error.unwrap_or_default())),
            ..(**work).clone()
        };
        self.mean = Some(Rc::new(like));
    }

    /// Time of the others, once enough were simulated.
    fn mean(&self) -> Option<Rc<CommandCost>> {
        self.mean.clone()
    }
}

/// Of the regions that a transfer reads and writes: the size of the block of HBM, a power of two at a multiple of
/// itself, that holds the region in the first iteration; `None` if it is not in HBM. A move by multiples of the size
/// changes no bit of an address below it, and all bits above alike: channels change places with each other, and rows
/// and banks are as equal as before. So the `book` model has the same price.
fn hbm_blocks(dma: &Dma) -> [Option<i64>; 2] {
    let reads: Vec<Program> = dma.programs().map(PairedProgram::read).collect();
    let writes: Vec<Program> = dma.programs().map(PairedProgram::write).collect();
    [(dma.from, reads), (dma.to, writes)].map(|(space, side)| {
        let (mut least, mut most) = (i64::MAX, i64::MIN);
        for program in side {
            let (start, end) = program.extent().ok()?;
            (least, most) = (least.min(start), most.max(end - 1));
        }
        let inside = space == Space::HBM && least >= 0 && most >= least;
        let differing = i64::BITS - (least ^ most).leading_zeros();
        (inside && differing < 62).then(|| 1 << differing)
    })
}

/// Regions that a command touches in an iteration.
fn regions(command: &Command, indices: &[u64], machine: &Machine) -> Vec<Region> {
    match &command.kind {
        CommandKind::Dma(dma) => dma_regions(&dma.at(indices), machine),
        CommandKind::Indexed(transfer) => indexed_regions(&transfer.at(indices), machine),
        CommandKind::Exec(exec) => exec_regions(exec, indices, machine),
        CommandKind::Loop(_) | CommandKind::Launch(_) => Vec::new(),
    }
}

fn moved(command: &Command, indices: &[u64]) -> Moved {
    match &command.kind {
        CommandKind::Dma(dma) => {
            let [read, write] = dma.steps.each_ref().map(|steps| steps.at(indices));
            [read, write, 0]
        }
        CommandKind::Indexed(transfer) => transfer.steps.each_ref().map(|steps| steps.at(indices)),
        CommandKind::Exec(exec) => {
            let all = exec.stages.iter().map(|stage| &stage.steps).chain([&exec.steps]);
            let moved = all.map(|steps| steps.at(indices)).find(|moved| *moved != 0);
            [moved.unwrap_or_default(), 0, 0]
        }
        CommandKind::Loop(_) | CommandKind::Launch(_) => Moved::default(),
    }
}

/// Step of a side of a transfer in the loop at a depth.
fn step_of(command: &Command, side: usize, depth: usize) -> i64 {
    let steps = match &command.kind {
        CommandKind::Dma(dma) => dma.steps.get(side),
        CommandKind::Indexed(transfer) => transfer.steps.get(side),
        CommandKind::Exec(_) | CommandKind::Loop(_) | CommandKind::Launch(_) => None,
    };
    steps.map_or(0, |steps| steps.of(depth))
}
