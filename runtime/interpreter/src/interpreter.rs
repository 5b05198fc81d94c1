//! A program with its memories: set the arguments, run, read the results.

use std::borrow::Cow;
use std::num::NonZeroUsize;

use rayon::{ThreadPool, ThreadPoolBuilder};
use visa_engine::shadow::{Shadow, ShadowLog};
use visa_hw::program::{Buffer, Command, CommandKind, Loop, Program, runs};
use visa_machine::Machine;

use crate::buffers;
use crate::dma;
use crate::error::RunError;
use crate::exec::{self, ExecCx, Growth, MAX_THREADS};
use crate::index_uses::{IndexLog, IndexUse};
use crate::indexed;
use crate::local::Group;
use crate::memory::{Chunk, Memories};
use crate::result::{Origin, ResultData, Step, UndefinedReport, coordinates};

/// Options of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Threads, 1 to [`MAX_THREADS`] (others are clamped); by default one a core. The bits do not depend on it.
    pub threads: Option<usize>,
    /// True if every byte carries a mark that tells if it is defined; five times the memory.
    pub shadow: bool,
    /// Most bytes of memory that arguments, results, the simulated memories and streams may hold together.
    pub memory_bytes: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self { threads: None, shadow: false, memory_bytes: 8 << 30 }
    }
}

/// An operation by its number in the shadow marks.
struct Op {
    step: Step,
    is_switch: bool,
}

/// A program ready to run.
pub struct Interpreter<'a> {
    program: &'a Program,
    machine: Cow<'a, Machine>,
    memories: Memories,
    pool: ThreadPool,
    log: Option<ShadowLog>,
    /// The indices read, if they are recorded.
    uses: Option<IndexLog>,
    /// Every transfer and every stage, in program order.
    ops: Vec<Op>,
    /// True for each buffer that has data.
    is_set: Vec<bool>,
    has_run: bool,
}

impl<'a> Interpreter<'a> {
    /// Prepares a verified program: empty memories, no arguments.
    pub fn new(program: &'a Program, machine: &'a Machine, options: Options) -> Result<Self, RunError> {
        let cores = || std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        let threads = options.threads.unwrap_or_else(cores).clamp(1, MAX_THREADS);
        let pool = ThreadPoolBuilder::new().num_threads(threads).build();
        let machine = program.device(machine).map_err(RunError::Device)?;
        Ok(Self {
            program,
            memories: Memories::new(&machine, program.chips, options.shadow, options.memory_bytes),
            machine,
            pool: pool.map_err(|error| RunError::Threads(error.to_string()))?,
            log: options.shadow.then(ShadowLog::default),
            uses: None,
            ops: program.commands.iter().flat_map(ops).collect(),
            is_set: vec![false; program.buffers.len()],
            has_run: false,
        })
    }

    /// Records from here on the indices that transfers read; an index that chooses no row counts as row 0 instead of
    /// stopping the run.
    pub fn note_indices(&mut self) {
        self.uses = Some(IndexLog::default());
    }

    /// The indices that transfers read since [`Self::note_indices`], without duplicates.
    pub fn index_uses(&self) -> impl Iterator<Item = IndexUse> {
        self.uses.iter().flat_map(|log| log.uses.iter().copied())
    }

    /// Puts an argument's data (the C-order array, little-endian elements) into memory. The array counts too: the
    /// caller holds it.
    pub fn set_argument(&mut self, name: &str, bytes: &[u8]) -> Result<(), RunError> {
        let (number, buffer) = self.find(true, name)?;
        let expected = buffers::array_bytes(buffer)?;
        let found = bytes.len() as u64;
        if found != expected {
            return Err(RunError::ArgumentSize { name: name.to_owned(), found, expected });
        }
        self.memories.budget.charge(found)?;
        buffers::load(buffer, bytes, &mut self.memories)?;
        self.is_set[number] = true;
        Ok(())
    }

    /// Runs every command in program order and tells `progress` how many of how many are done. Memory stays as it is
    /// at the end, so a second run starts from there.
    pub fn run(&mut self, progress: &mut dyn FnMut(usize, usize)) -> Result<(), RunError> {
        let missing = self.program.buffers.iter().zip(&self.is_set);
        let missing = missing.filter(|(buffer, is_set)| buffer.argument && !**is_set);
        let scalars = self.program.scalars.iter().map(|scalar| &scalar.name);
        let missing: Vec<String> = missing.map(|(buffer, _)| &buffer.name).chain(scalars).cloned().collect();
        if !missing.is_empty() {
            return Err(RunError::MissingArguments(missing));
        }
        let commands = &self.program.commands;
        let mut done = Done { commands: 0, all: runs(commands) as usize, progress };
        self.commands(commands, 0, &mut Vec::new(), &mut done)?;
        self.has_run = true;
        Ok(())
    }

    /// Runs commands in an iteration of the loops around them; the first operation of theirs has number `op`.
    fn commands(
        &mut self,
        commands: &[Command],
        mut op: u32,
        indices: &mut Vec<u64>,
        done: &mut Done<'_>,
    ) -> Result<(), RunError> {
        let mut next = 0;
        while let Some(command) = commands.get(next) {
            if !command.runs_in(indices) {
                done.ran(runs(std::slice::from_ref(command)) as usize);
                op += count(command);
                next += 1;
                continue;
            }
            let (memories, log) = (&mut self.memories, self.log.as_ref());
            let cx = ExecCx { machine: &self.machine, log, chip: 0, first_op: op, indices };
            let group = Group::of(&commands[next..], memories, cx)?;
            if group.commands() > 0 {
                self.pool.install(|| group.run(memories));
                op += group.ops;
                next += group.commands();
                done.ran(group.commands());
                continue;
            }
            match &command.kind {
                CommandKind::Loop(repeat) => self.repeat(repeat, op, indices, done)?,
                // Commands run in order as it is.
                CommandKind::Launch(_) => done.ran(1),
                CommandKind::Dma(dma) => {
                    self.pool.install(|| dma::run(&dma.at(indices), memories, op, log))?;
                    done.ran(1);
                }
                CommandKind::Indexed(transfer) => {
                    let uses = self.uses.as_mut();
                    indexed::run(&transfer.at(indices), command.span, memories, op, log, uses)?;
                    done.ran(1);
                }
                CommandKind::Exec(exec) => {
                    exec::reserve(exec, memories, (&self.machine, indices), &mut Growth::default())?;
                    self.pool.install(|| exec::run(exec, memories, cx));
                    done.ran(1);
                }
            }
            op += count(command);
            next += 1;
        }
        Ok(())
    }

    /// Runs each iteration of a loop; the first operation in it has number `op`.
    fn repeat(
        &mut self,
        repeat: &Loop,
        op: u32,
        indices: &mut Vec<u64>,
        done: &mut Done<'_>,
    ) -> Result<(), RunError> {
        // However often nothing is done, nothing is done.
        if runs(&repeat.body) == 0 {
            return Ok(());
        }
        for index in 0..repeat.times {
            indices.push(index);
            self.commands(&repeat.body, op, indices, done)?;
            indices.pop();
        }
        Ok(())
    }

    /// Reads a result, which counts as resident from then on. In shadow mode it gives the first of its elements that
    /// depends on an undefined byte.
    pub fn result(&mut self, name: &str) -> Result<ResultData, RunError> {
        let (_, buffer) = self.find(false, name)?;
        if !self.has_run {
            return Err(RunError::NotRun);
        }
        let Chunk { bytes, marks } = buffers::read(buffer, &mut self.memories)?;
        self.memories.budget.charge(bytes.len() as u64)?;
        let undefined = self.undefined(buffer, &marks);
        Ok(ResultData { bytes, undefined })
    }

    fn find(&self, argument: bool, name: &str) -> Result<(usize, &'a Buffer), RunError> {
        let same_role = || self.program.buffers.iter().enumerate().filter(|(_, b)| b.argument == argument);
        same_role().find(|(_, buffer)| buffer.name == name).ok_or_else(|| RunError::UnknownBuffer {
            role: if argument { "argument" } else { "result" },
            found: name.to_owned(),
            expected: same_role().map(|(_, buffer)| buffer.name.clone()).collect(),
        })
    }

    fn undefined(&self, buffer: &Buffer, marks: &[Shadow]) -> Option<UndefinedReport> {
        let log = self.log.as_ref()?;
        let at = marks.iter().position(|mark| !mark.is_defined())?;
        let element = at as u64 * 8 / u64::from(buffer.dtype.bits());
        let chain: Vec<&Op> =
            log.chain(marks[at]).iter().filter_map(|&op| self.ops.get(op as usize)).collect();
        let from_switch = chain.first().is_some_and(|op| op.is_switch);
        Some(UndefinedReport {
            result: buffer.name.clone(),
            index: coordinates(element, &buffer.shape),
            chain: chain.into_iter().map(|op| op.step.clone()).collect(),
            origin: if log.origin(marks[at]) == Shadow::OUTSIDE_TABLE {
                Origin::OutsideTable
            } else if from_switch {
                Origin::InactiveSlice
            } else {
                Origin::NeverWritten
            },
        })
    }
}

/// Progress of a run.
struct Done<'a> {
    commands: usize,
    all: usize,
    progress: &'a mut dyn FnMut(usize, usize),
}

impl Done<'_> {
    fn ran(&mut self, commands: usize) {
        for _ in 0..commands {
            self.commands += 1;
            (self.progress)(self.commands, self.all);
        }
    }
}

/// The operations of a command that shadow marks can name; of a loop, those of its body.
fn ops(command: &Command) -> Vec<Op> {
    match &command.kind {
        CommandKind::Loop(repeat) => repeat.body.iter().flat_map(ops).collect(),
        CommandKind::Launch(_) => Vec::new(),
        CommandKind::Dma(_) => vec![transfer("hw.dma", command.span)],
        CommandKind::Indexed(_) => vec![transfer("hw.dma_indexed", command.span)],
        CommandKind::Exec(exec) => {
            let stages = exec.stages.iter().map(|stage| Op {
                step: Step { name: stage.name.to_owned(), span: stage.span, excludes: stage.excludes() },
                is_switch: stage.as_exchange().is_some(),
            });
            stages.collect()
        }
    }
}

/// Number of its operations.
fn count(command: &Command) -> u32 {
    match &command.kind {
        CommandKind::Loop(repeat) => repeat.body.iter().map(count).sum(),
        CommandKind::Launch(_) => 0,
        CommandKind::Dma(_) | CommandKind::Indexed(_) => 1,
        CommandKind::Exec(exec) => exec.stages.len() as u32,
    }
}

fn transfer(name: &str, span: visa_ir::span::Span) -> Op {
    Op { step: Step { name: name.to_owned(), span, excludes: None }, is_switch: false }
}
