//! The commands of a program as they run: each in every iteration of the loops around it.

use std::collections::HashMap;
use std::rc::Rc;

use visa_hw::program::{Command, CommandKind, Program};
use visa_ir::diag::{Diagnostic, counted};
use visa_ir::span::Span;
use visa_machine::Machine;

use crate::command::{Work, exec_work};
use crate::footprint::{Region, dma_regions, exec_regions};
use crate::indexed::{indexed_regions, indexed_work};
use crate::memory::MemoryModel;
use crate::rows::AssumedRows;
use crate::transfer::dma_work;

/// The most commands that run, those of loops in each iteration.
pub const MAX_RUNS: u64 = 1 << 24;

/// A command in an iteration of the loops around it.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    /// The number of the command in program order.
    pub(crate) command: usize,
    /// What it does.
    pub(crate) work: Rc<Work>,
    /// What it reads and writes.
    pub(crate) regions: Rc<[Region]>,
    /// Cycles, those included that its writes wait for reads of the other context.
    pub(crate) cycles: u64,
    /// How many of them it waits.
    pub(crate) stalls: u64,
}

/// What pricing depends on besides the program.
#[derive(Clone, Copy)]
pub(crate) struct Terms<'a> {
    pub(crate) machine: &'a Machine,
    pub(crate) chips: usize,
    pub(crate) model: MemoryModel,
    pub(crate) rows: AssumedRows,
}

/// All runs in the order of the program.
///
/// # Errors
/// A transfer for which the model has no price, and more than [`MAX_RUNS`] runs.
pub(crate) fn runs(program: &Program, terms: Terms<'_>) -> Result<Vec<Run>, Diagnostic> {
    let count = count(&program.commands);
    if count > MAX_RUNS {
        let message = format!("{} run, at most {MAX_RUNS} are priced", counted(count, "command"));
        return Err(Diagnostic::error("price", Span::default(), message));
    }
    let runs = Vec::with_capacity(count as usize);
    let mut unrolling = Unrolling { terms, priced: HashMap::new(), still: HashMap::new(), runs };
    unrolling.block(&program.commands, 0, &mut Vec::new())?;
    Ok(unrolling.runs)
}

/// How many commands run.
fn count(commands: &[Command]) -> u64 {
    let runs = |command: &Command| match &command.kind {
        CommandKind::Loop(repeat) => count(&repeat.body).saturating_mul(repeat.times),
        CommandKind::Dma(_) | CommandKind::Indexed(_) | CommandKind::Exec(_) => 1,
    };
    commands.iter().map(runs).fold(0, u64::saturating_add)
}

/// How many bytes what a command reads, writes, and takes indices from has moved.
type Moved = [i64; 3];

struct Unrolling<'a> {
    terms: Terms<'a>,
    /// What commands cost where their addresses have moved so far.
    priced: HashMap<(usize, Moved), Rc<Work>>,
    /// What commands touch whose addresses have not moved.
    still: HashMap<usize, Rc<[Region]>>,
    runs: Vec<Run>,
}

impl Unrolling<'_> {
    /// Adds the runs of commands in an iteration, the first of which has the number `first`. Returns the number after
    /// them.
    fn block(
        &mut self,
        commands: &[Command],
        first: usize,
        indices: &mut Vec<u64>,
    ) -> Result<usize, Diagnostic> {
        let mut number = first;
        for command in commands {
            if let CommandKind::Loop(repeat) = &command.kind {
                let mut after = number;
                for index in 0..repeat.times {
                    indices.push(index);
                    after = self.block(&repeat.body, number, indices)?;
                    indices.pop();
                }
                number = after;
                continue;
            }
            let run = self.run(command, number, indices)?;
            self.runs.push(run);
            number += 1;
        }
        Ok(number)
    }

    fn run(&mut self, command: &Command, number: usize, indices: &[u64]) -> Result<Run, Diagnostic> {
        let moved = moved(command, indices);
        // The flat model does not look at addresses, nor does the Tensor Unit.
        let blind = self.terms.model == MemoryModel::Flat || matches!(command.kind, CommandKind::Exec(_));
        let key = (number, if blind { Moved::default() } else { moved });
        let work = match self.priced.get(&key) {
            Some(known) => Rc::clone(known),
            None => {
                let work = Rc::new(self.work(command, indices)?);
                self.priced.insert(key, Rc::clone(&work));
                work
            }
        };
        let regions = match self.still.get(&number).filter(|_| moved == Moved::default()) {
            Some(known) => Rc::clone(known),
            None => regions(command, indices, self.terms.machine).into(),
        };
        if moved == Moved::default() {
            self.still.insert(number, Rc::clone(&regions));
        }
        Ok(Run { command: number, cycles: work.cycles, stalls: 0, work, regions })
    }

    fn work(&self, command: &Command, indices: &[u64]) -> Result<Work, Diagnostic> {
        let Terms { machine, chips, model, rows } = self.terms;
        match &command.kind {
            CommandKind::Dma(dma) => dma_work(&dma.at(indices), command.span, machine, chips, model),
            CommandKind::Indexed(transfer) => {
                indexed_work(&transfer.at(indices), command.span, machine, chips, model, rows)
            }
            CommandKind::Exec(exec) => Ok(exec_work(exec, command.span, machine, chips)),
            CommandKind::Loop(_) => {
                Err(Diagnostic::error("price", command.span, "a loop is no command by itself"))
            }
        }
    }
}

/// What a command touches in an iteration.
fn regions(command: &Command, indices: &[u64], machine: &Machine) -> Vec<Region> {
    match &command.kind {
        CommandKind::Dma(dma) => dma_regions(&dma.at(indices), machine),
        CommandKind::Indexed(transfer) => indexed_regions(&transfer.at(indices), machine),
        CommandKind::Exec(exec) => exec_regions(exec, indices),
        CommandKind::Loop(_) => Vec::new(),
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
            let fetched = exec.stages.iter().map(|stage| stage.steps.at(indices)).find(|moved| *moved != 0);
            [fetched.unwrap_or_default(), 0, 0]
        }
        CommandKind::Loop(_) => Moved::default(),
    }
}
