//! The place of each load of a look-up table in a program.
//!
//! In the schedules, the transfer of a table comes before that of the data that its pass looks up, and the table
//! before may not be stored yet. So two tables have room in data memory. In a loop, a table is loaded right before its
//! pass: no schedule of a loop is known, and the measured one (V0 `decoder_feedforward`) hides no load of a table.

use visa_hw::program::{Command, CommandKind, Exec, Loop, Program};
use visa_machine::Machine;

use crate::footprint::{dma_regions, exec_regions, hazards};
use crate::tables::{load, place, store, uses_table};

/// The program with a load before each pass that looks up a table, where the machine was measured. It is for prices
/// alone: where the loads go is the end of each slice's data memory.
#[must_use]
pub fn with_table_loads(program: Program, machine: &Machine) -> Program {
    let Ok(device) = program.device(machine) else { return program };
    if device.measured.is_none() {
        return program;
    }
    let device = device.into_owned();
    Program { commands: Loads { machine: &device, tables: 0 }.block(program.commands, false), ..program }
}

/// The loads of a program's tables.
struct Loads<'a> {
    machine: &'a Machine,
    /// The tables so far.
    tables: u64,
}

/// The commands of a block with loads of tables.
#[derive(Default)]
struct Block {
    commands: Vec<Command>,
    /// Where the transfer of the next table may be at the earliest: the number of commands that come before it. The
    /// last table may be stored after it, the one before may not.
    from: usize,
    /// The commands up to the run that stores the last table.
    stored: usize,
    /// True for the body of a loop.
    repeats: bool,
}

impl Block {
    /// No transfer of a later table comes before the commands so far.
    fn keeps(&mut self) {
        (self.from, self.stored) = (self.commands.len(), self.commands.len());
    }
}

impl Loads<'_> {
    fn block(&mut self, commands: Vec<Command>, repeats: bool) -> Vec<Command> {
        let mut block = Block { repeats, ..Block::default() };
        for command in commands {
            match command.kind {
                CommandKind::Loop(Loop { times, body }) => {
                    let before = self.tables;
                    let kind = CommandKind::Loop(Loop { times, body: self.block(body, true) });
                    block.commands.push(Command { kind, ..command });
                    if self.tables > before {
                        block.keeps();
                    }
                }
                CommandKind::Exec(ref exec) => {
                    if uses_table(exec) {
                        self.load(&mut block, exec, &command);
                    }
                    block.commands.push(command);
                }
                // The host launches a kernel when the one before has ended: its tables are its own.
                CommandKind::Launch(_) => {
                    block.commands.push(command);
                    block.keeps();
                }
                CommandKind::Dma(_) | CommandKind::Indexed(_) => block.commands.push(command),
            }
        }
        block.commands
    }

    /// Adds the load of the table of a pass that comes next.
    fn load(&mut self, block: &mut Block, exec: &Exec, pass: &Command) {
        let place = place(self.machine, self.tables % 2);
        self.tables += 1;
        let of = |kind| Command {
            span: pass.span,
            name: pass.name.as_ref().map(|name| format!("table of {name}")),
            when: pass.when.clone(),
            kind,
        };
        let at = if block.repeats { block.commands.len() } else { self.before_data(block, exec) };
        block.commands.insert(at, of(CommandKind::Dma(load(self.machine, &place))));
        block.from = (block.stored + 1).max(at + 1);
        block.commands.push(of(CommandKind::Exec(store(exec, self.machine, place, pass.span))));
        block.stored = block.commands.len();
    }

    /// The position before the last transfer whose data a pass reads, or the first possible one after it; the end if
    /// no transfer gives the data.
    fn before_data(&self, block: &Block, exec: &Exec) -> usize {
        let mut reads = exec_regions(exec, &[], self.machine);
        reads.retain(|region| !region.write);
        let feeds = |command: &Command| match &command.kind {
            CommandKind::Dma(dma) => !hazards(&dma_regions(dma, self.machine), &reads).is_empty(),
            CommandKind::Loop(_)
            | CommandKind::Launch(_)
            | CommandKind::Exec(_)
            | CommandKind::Indexed(_) => false,
        };
        block.commands.iter().rposition(feeds).map_or(block.commands.len(), |at| at.max(block.from))
    }
}
