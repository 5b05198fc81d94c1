//! A whole hw program as plain data: the input of the interpreter and of the cost model.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::{Deref, Range};
use std::sync::Arc;
pub use visa_engine::words::Direction;
use visa_engine::{Access, Space, Stage, Wire};
use visa_ir::span::Span;
use visa_loops::{
    Condition, EnginePart, EngineTable, Entry, PairedProgram, Program as Loops, Steps, Stride, lcm,
};
use visa_machine::{IndexUnit, Machine};
use visa_numerics::DType;

pub use visa_machine::Unit as Context;

/// Distance in bytes between the memories of two chips in a buffer's layout and in a PCIe transfer.
pub const CHIP_STRIDE: i64 = 1 << 40;

/// An executable program.
pub struct Program {
    /// The entry's name.
    pub name: String,
    /// Chips that run it, in lockstep.
    pub chips: usize,
    /// Processing elements of each chip that run it; all if `None`.
    pub pes: Option<u64>,
    /// Arguments in order, then results in order.
    pub buffers: Vec<Buffer>,
    /// Numbers that are known when it starts, in order.
    pub scalars: Vec<Scalar>,
    /// Commands in program order.
    pub commands: Vec<Command>,
}

/// A number that is known when a program starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scalar {
    /// The name that it is given by.
    pub name: String,
    /// It is below this.
    pub count: u64,
    /// Where it is declared.
    pub span: Span,
}

/// An argument or a result: where a C-order array is in host memory or HBM.
#[derive(Clone, Debug, PartialEq)]
pub struct Buffer {
    /// True if it is an argument (else a result).
    pub argument: bool,
    /// The name that the user gives data by.
    pub name: String,
    /// Host memory or HBM.
    pub space: Space,
    /// Element format.
    pub dtype: DType,
    /// Extents of the array; empty for a scalar.
    pub shape: Vec<u64>,
    /// From element number in the array (read side) to byte address (write side); the packet is one element.
    pub layout: PairedProgram,
    /// Where it is declared.
    pub span: Span,
}

/// One command.
pub struct Command {
    /// Where the work is declared in the kernel.
    pub span: Span,
    /// The name of its operand or result in the kernel, taken from its location.
    pub name: Option<String>,
    /// The conditions of the branches around it, on the scalars of the program and the loops around it. It runs where
    /// all hold.
    pub when: Vec<Condition>,
    /// The kind of the command.
    pub kind: CommandKind,
}

impl Command {
    /// A command that always runs.
    #[must_use]
    pub fn new(span: Span, kind: CommandKind) -> Self {
        Self { span, name: None, when: Vec::new(), kind }
    }

    /// Number of iterations of the loop at `depth`, scalars of the program counted as loops, after which all rotating
    /// addresses of the command, and of the commands in it, repeat.
    #[must_use]
    pub fn turns(&self, depth: usize) -> u64 {
        let of = |all: &mut dyn Iterator<Item = &Steps>| all.map(|steps| steps.period(depth)).fold(1, lcm);
        match &self.kind {
            CommandKind::Loop(repeat) => repeat.body.iter().map(|inner| inner.turns(depth)).fold(1, lcm),
            CommandKind::Launch(_) => 1,
            CommandKind::Dma(dma) => of(&mut dma.steps.iter()),
            CommandKind::Indexed(transfer) => of(&mut transfer.steps.iter()),
            CommandKind::Exec(exec) => {
                of(&mut exec.stages.iter().map(|stage| &stage.steps).chain([&exec.steps]))
            }
        }
    }

    /// Returns true if it runs in an iteration of the loops around it.
    #[must_use]
    pub fn runs_in(&self, indices: &[u64]) -> bool {
        self.when.iter().all(|condition| condition.holds(indices))
    }
}

/// Commands that run again and again.
pub struct Loop {
    /// Iterations.
    pub times: u64,
    /// The commands of each iteration, in program order.
    pub body: Vec<Command>,
}

/// Maximum number of commands that run, those of loops in each iteration.
#[must_use]
pub fn runs(commands: &[Command]) -> u64 {
    let runs = |command: &Command| match &command.kind {
        CommandKind::Loop(repeat) => runs(&repeat.body).saturating_mul(repeat.times),
        CommandKind::Launch(_) | CommandKind::Dma(_) | CommandKind::Indexed(_) | CommandKind::Exec(_) => 1,
    };
    commands.iter().map(runs).fold(0, u64::saturating_add)
}

/// Number of iterations of commands in all loops together.
fn iterations(commands: &[Command]) -> u64 {
    let iterations = |command: &Command| match &command.kind {
        CommandKind::Loop(repeat) => iterations(&repeat.body).saturating_add(1).saturating_mul(repeat.times),
        CommandKind::Launch(_) | CommandKind::Dma(_) | CommandKind::Indexed(_) | CommandKind::Exec(_) => 0,
    };
    commands.iter().map(iterations).fold(0, u64::saturating_add)
}

impl Program {
    /// Number of iterations of all its loops together, those of inner loops in each iteration of the outer ones.
    #[must_use]
    pub fn iterations(&self) -> u64 {
        iterations(&self.commands)
    }

    /// The machine that runs it: `whole` with the number of processing elements of the program.
    ///
    /// # Errors
    /// A number of them that `whole` cannot give.
    pub fn device<'m>(&self, whole: &'m Machine) -> Result<Cow<'m, Machine>, String> {
        self.pes.map_or(Ok(Cow::Borrowed(whole)), |pes| whole.device(pes).map(Cow::Owned))
    }

    /// The program as it is started with a number for each of its scalars: none are left to be known.
    #[must_use]
    pub fn started(self, numbers: &[u64]) -> Self {
        Self { commands: started(self.commands, numbers), scalars: Vec::new(), ..self }
    }

    /// The program as it is started with 0 for each of its scalars.
    #[must_use]
    pub fn started_first(self) -> Self {
        let numbers = vec![0; self.scalars.len()];
        self.started(&numbers)
    }

    /// The commands that are no loops, in program order, each with the iterations of the loops around it, the
    /// outermost first.
    #[must_use]
    pub fn flat(&self) -> Vec<(&Command, Vec<u64>)> {
        let mut all = Vec::new();
        flatten(&self.commands, &mut Vec::new(), &mut all);
        all
    }
}

fn started(commands: Vec<Command>, numbers: &[u64]) -> Vec<Command> {
    let command = |command: Command| {
        let kind = match command.kind {
            CommandKind::Loop(repeat) => {
                CommandKind::Loop(Loop { body: started(repeat.body, numbers), ..repeat })
            }
            CommandKind::Launch(kernel) => CommandKind::Launch(kernel),
            CommandKind::Dma(dma) => {
                let steps = dma.steps.each_ref().map(|steps| steps.after(numbers.len()));
                CommandKind::Dma(Dma { steps, ..dma.at(numbers).into_owned() })
            }
            CommandKind::Indexed(transfer) => {
                let steps = transfer.steps.each_ref().map(|steps| steps.after(numbers.len()));
                CommandKind::Indexed(Indexed { steps, ..transfer.at(numbers).into_owned() })
            }
            CommandKind::Exec(mut exec) => {
                exec.steps = exec.steps.after(numbers.len());
                exec.stages.iter_mut().for_each(|stage| stage.steps = stage.steps.after(numbers.len()));
                CommandKind::Exec(exec)
            }
        };
        let when = command.when.iter().map(|condition| condition.after(numbers)).collect();
        Command { span: command.span, name: command.name, when, kind }
    };
    commands.into_iter().map(command).collect()
}

fn flatten<'p>(commands: &'p [Command], loops: &mut Vec<u64>, all: &mut Vec<(&'p Command, Vec<u64>)>) {
    for command in commands {
        match &command.kind {
            CommandKind::Loop(repeat) => {
                loops.push(repeat.times);
                flatten(&repeat.body, loops, all);
                loops.pop();
            }
            CommandKind::Launch(_) | CommandKind::Dma(_) | CommandKind::Indexed(_) | CommandKind::Exec(_) => {
                all.push((command, loops.clone()));
            }
        }
    }
}

/// The kind of a command.
pub enum CommandKind {
    /// A loop over commands.
    Loop(Loop),
    /// The host starts the kernel of this name when the one before has ended.
    Launch(String),
    /// A transfer between memories, the same on every chip.
    Dma(Dma),
    /// A transfer of the rows of a table that indices choose, the same on every chip.
    Indexed(Indexed),
    /// A run of a Tensor Unit context.
    Exec(Exec),
}

/// A DMA transfer. DM addresses are `slice * dm_bytes_per_slice + byte`, SPM addresses `PE * spm_bytes_per_pe + byte`,
/// slices and PEs counted through the chip's clusters.
#[derive(Clone, Debug, PartialEq)]
pub struct Dma {
    /// The engine: true for PCIe to the host, false for the tensor DMA of the chip.
    pub pcie: bool,
    /// Memory read.
    pub from: Space,
    /// Memory written.
    pub to: Space,
    /// The work of the engines of a chip. They work at the same time.
    pub parts: Vec<DmaPart>,
    /// The steps of the read side and of the written side with the loops around the command.
    pub steps: [Steps; 2],
}

/// A part of a transfer: the work of consecutive engines, each on an iteration of the outermost loops.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DmaPart {
    /// The first engine, counted through the PEs of a chip's clusters.
    pub first: u64,
    /// Number of outermost loops that count engines.
    pub engine_loops: usize,
    /// Byte addresses; the packet is contiguous on both sides.
    pub loops: PairedProgram,
}

impl DmaPart {
    /// The same part with its read side and its written side moved by `read` and `write` bytes.
    fn moved(&self, read: i64, write: i64) -> Self {
        let (read_base, write_base) =
            (self.loops.read_base.wrapping_add(read), self.loops.write_base.wrapping_add(write));
        Self { loops: PairedProgram { read_base, write_base, ..self.loops.clone() }, ..self.clone() }
    }

    /// The work of each engine: the loops with the bases of its iteration of the outer ones.
    pub fn by_engine(&self) -> impl Iterator<Item = (u64, PairedProgram)> + '_ {
        let outer = &self.loops.entries[..self.engine_loops];
        let all = outer.iter().map(|entry| entry.limit).product::<u64>();
        (0..all).map(move |engine| (self.first + engine, self.loops.iteration(self.engine_loops, engine)))
    }
}

impl Dma {
    /// A transfer of one part, from the first engine on.
    #[must_use]
    pub fn homogeneous(
        pcie: bool,
        [from, to]: [Space; 2],
        loops: PairedProgram,
        engine_loops: usize,
    ) -> Self {
        let parts = vec![DmaPart { first: 0, engine_loops, loops }];
        Self { pcie, from, to, parts, steps: Default::default() }
    }

    /// The transfer of a table; `None` if the loops of a part do not count its engines.
    #[must_use]
    pub fn of_table(pcie: bool, [from, to]: [Space; 2], table: &EngineTable) -> Option<Self> {
        let part = |part: &EnginePart| {
            let engine_loops = part.engine_loops()?;
            Some(DmaPart { first: part.engines.start, engine_loops, loops: part.loops.clone() })
        };
        let parts = table.0.iter().map(part).collect::<Option<_>>()?;
        Some(Self { pcie, from, to, parts, steps: Default::default() })
    }

    /// The transfer in an iteration of the loops around it.
    #[must_use]
    pub fn at(&self, indices: &[u64]) -> Cow<'_, Self> {
        let [read, write] = self.steps.each_ref().map(|steps| steps.at(indices));
        if (read, write) == (0, 0) {
            return Cow::Borrowed(self);
        }
        let parts = self.parts.iter().map(|part| part.moved(read, write)).collect();
        Cow::Owned(Self { parts, ..self.clone() })
    }

    /// The descriptors of each engine that has any, in the order in which it runs them.
    #[must_use]
    pub fn by_engine(&self) -> BTreeMap<u64, Vec<PairedProgram>> {
        let mut engines: BTreeMap<u64, Vec<PairedProgram>> = BTreeMap::new();
        for (engine, loops) in self.parts.iter().flat_map(DmaPart::by_engine) {
            engines.entry(engine).or_default().push(loops);
        }
        engines
    }

    /// Bytes that all engines move together; `None` past 64 bits.
    #[must_use]
    pub fn bytes(&self) -> Option<u64> {
        self.parts.iter().try_fold(0_u64, |sum, part| sum.checked_add(part.loops.steps()?))
    }

    /// The loops of each part.
    pub fn programs(&self) -> impl Iterator<Item = &PairedProgram> {
        self.parts.iter().map(|part| &part.loops)
    }
}

/// A transfer of the rows of a table that indices in memory choose. Each iteration of the outermost loops reads an
/// index, and the offset that it selects is added to the addresses of the table's side.
#[derive(Clone, Debug, PartialEq)]
pub struct Indexed {
    /// Memory read.
    pub from: Space,
    /// Memory written.
    pub to: Space,
    /// The work of the engines if every index chooses row 0.
    pub part: DmaPart,
    /// The side that is the table.
    pub direction: Direction,
    /// The memory that the indices are in.
    pub index: Space,
    /// Where the indices are, as byte addresses: its loops but the last, which is over the 4 bytes of an index, are
    /// those of the outermost loops of `part`.
    pub indices: Loops,
    /// Distance between the rows of the table, in bytes.
    pub distance: u64,
    /// The rows of the table.
    pub count: u64,
    /// The steps of the read side, the written side, and the indices with the loops around the command.
    pub steps: [Steps; 3],
}

impl Indexed {
    /// The transfer in an iteration of the loops around it.
    #[must_use]
    pub fn at(&self, indices: &[u64]) -> Cow<'_, Self> {
        let [read, write, index] = self.steps.each_ref().map(|steps| steps.at(indices));
        if (read, write, index) == (0, 0, 0) {
            return Cow::Borrowed(self);
        }
        let base = self.indices.base.wrapping_add(index);
        let indices = Loops { base, ..self.indices.clone() };
        Cow::Owned(Self { part: self.part.moved(read, write), indices, ..self.clone() })
    }

    /// Number of outermost loops that read an index.
    #[must_use]
    pub fn index_loops(&self) -> usize {
        self.indices.entries.len().saturating_sub(1)
    }

    /// Number of the loops that count engines and read an index.
    #[must_use]
    pub fn engines_with_indices(&self) -> usize {
        self.index_loops().min(self.part.engine_loops)
    }

    /// The loops outside of a row, which read indices, and those of a row.
    #[must_use]
    pub fn split(&self) -> (PairedProgram, PairedProgram) {
        let loops = &self.part.loops;
        let (outer, inner) = loops.entries.split_at(self.index_loops());
        let outer = PairedProgram { entries: outer.to_vec(), packet: 1, ..loops.clone() };
        let inner = PairedProgram { entries: inner.to_vec(), read_base: 0, write_base: 0, ..loops.clone() };
        (outer, inner)
    }

    /// All that may be read, whichever rows are chosen.
    #[must_use]
    pub fn reads(&self) -> Loops {
        self.reach(self.part.loops.read(), Direction::Gather)
    }

    /// All that may be written, whichever rows are chosen.
    #[must_use]
    pub fn writes(&self) -> Loops {
        self.reach(self.part.loops.write(), Direction::Scatter)
    }

    /// One side, with a loop over all rows if it is the table's.
    fn reach(&self, mut side: Loops, table: Direction) -> Loops {
        if self.direction == table {
            let stride = Stride::Fixed(self.distance.cast_signed());
            side.entries.insert(0, Entry { limit: self.count, stride });
        }
        side
    }

    /// The transfer as it is if every index chooses row 0.
    #[must_use]
    pub fn unindexed(&self) -> Dma {
        let [read, write, _] = self.steps.clone();
        let parts = vec![self.part.clone()];
        Dma { pcie: false, from: self.from, to: self.to, parts, steps: [read, write] }
    }

    /// Bytes that an index of 1 counts: in HBM a byte, in scratchpad memory a row.
    #[must_use]
    pub fn unit(&self) -> u64 {
        match self.index.medium().and_then(|medium| medium.decl().indices) {
            Some(IndexUnit::Row) => self.distance,
            Some(IndexUnit::Byte) | None => 1,
        }
    }
}

/// A run of the Tensor Unit: one pipeline from fetch to a store, on every active slice.
#[derive(Clone)]
pub struct Exec {
    /// Main, sub, or both as one.
    pub context: Context,
    /// Active slices of each chip, counted through its clusters, where the run is first.
    pub slices: Vec<Range<usize>>,
    /// Distance in slices that they move with the loops around the run.
    pub steps: Steps,
    /// Engines in pipeline order.
    pub stages: Vec<PlacedStage>,
}

/// A stage, and the operation that it comes from.
#[derive(Clone)]
pub struct PlacedStage {
    /// The operation's name, for reports and marks.
    pub name: &'static str,
    /// Where the operation is in the source.
    pub span: Span,
    /// The stage.
    pub stage: Arc<Stage>,
    /// The wire that enters it.
    pub entering: Wire,
    /// The steps of its addresses with the loops around the run.
    pub steps: Steps,
}

impl Deref for PlacedStage {
    type Target = Stage;

    fn deref(&self) -> &Stage {
        &self.stage
    }
}

impl Exec {
    /// The slice memories that the run touches.
    #[must_use]
    pub fn accesses(&self) -> Vec<Access> {
        self.stages.iter().flat_map(|stage| stage.accesses()).collect()
    }
}
