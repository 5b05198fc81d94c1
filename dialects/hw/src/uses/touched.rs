//! The addresses that the commands of a program touch, as programs of addresses: in data memory `slice * bytes +
//! byte`, as DMA counts.
//!
//! Where buffers rotate, a loop is examined with as many copies of its body as there are rotations: in each of them a
//! buffer moves by strides alone.

use crate::program::{
    Buffer, CHIP_STRIDE, Command, CommandKind, Dma, Exec, Indexed, Loop, PlacedStage, Program,
};
use std::ops::Range;
use visa_engine::words::Direction;
use visa_engine::{Access, Space};
use visa_ir::span::Span;
use visa_loops::{Condition, Entry, Program as Loops, Step, Steps, lcm};
use visa_machine::Machine;

/// A loop around a command, or its iterations one turn after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Around {
    /// The number of the loop: no two loops of a program have the same number.
    pub(super) number: usize,
    pub(super) times: u64,
}

/// The iterations of a loop that a copy of its body stands for: the first one, and the distance between them.
#[derive(Clone, Copy, Debug)]
struct Turn {
    first: u64,
    apart: u64,
}

/// The addresses that a command reads or writes in one memory.
#[derive(Clone, Debug)]
pub(super) struct Touch {
    pub(super) span: Span,
    pub(super) space: Space,
    pub(super) write: bool,
    /// The position of the command, in program order; 0 stands for the contents before the first one.
    pub(super) position: usize,
    /// The scalars of the program, and then the loops around the command.
    pub(super) loops: Vec<Around>,
    turns: Vec<Turn>,
    pub(super) when: Vec<Condition>,
    /// True if each condition is on one index.
    pub(super) narrow: bool,
    pub(super) steps: Steps,
    pub(super) program: Loops,
}

impl Touch {
    /// Step per iteration of the scalar or loop at `depth`.
    pub(super) fn step(&self, depth: usize) -> Step {
        self.steps.each.get(depth).cloned().unwrap_or_default()
    }

    /// An iteration of the program's loop, given that of the loop at `depth`.
    pub(super) fn iteration(&self, depth: usize, index: u64) -> u64 {
        self.turns.get(depth).map_or(index, |turn| turn.first + turn.apart * index)
    }

    /// Number of outermost loops that both are in.
    pub(super) fn shared(&self, other: &Self) -> usize {
        self.loops.iter().zip(&other.loops).take_while(|(one, other)| one == other).count()
    }
}

/// The addresses that a program touches, after those that its arguments fill.
pub(super) fn touches(program: &Program, machine: &Machine) -> Vec<Touch> {
    let scalars = program.scalars.iter().enumerate();
    let around: Vec<_> = scalars.map(|(number, scalar)| Around { number, times: scalar.count }).collect();
    let turns = vec![Turn { first: 0, apart: 1 }; around.len()];
    let loops = program.scalars.len();
    let mut touched = Touched { machine, all: Vec::new(), loops, commands: 0, around, turns };
    let arguments = program.buffers.iter().filter(|buffer| buffer.argument);
    arguments.for_each(|buffer| touched.argument(buffer));
    touched.commands(&program.commands);
    touched.all
}

struct Touched<'m> {
    machine: &'m Machine,
    all: Vec<Touch>,
    /// Number of loops and commands so far.
    loops: usize,
    commands: usize,
    around: Vec<Around>,
    turns: Vec<Turn>,
}

/// Most copies of a loop's body. Of more turns strides and turns are looked at together.
const MAX_COPIES: u64 = 64;

impl Touched<'_> {
    fn argument(&mut self, buffer: &Buffer) {
        let mut program = buffer.layout.write();
        program.entries.push(Entry::new(buffer.dtype.align(), 1));
        let command = Command::new(buffer.span, CommandKind::Launch(String::new()));
        self.add(&command, (buffer.space, true), program, &Steps::default());
    }

    fn commands(&mut self, commands: &[Command]) {
        for command in commands {
            if let CommandKind::Loop(repeat) = &command.kind {
                self.repeat(repeat);
                continue;
            }
            self.commands += 1;
            match &command.kind {
                CommandKind::Loop(_) | CommandKind::Launch(_) => {}
                CommandKind::Dma(dma) => self.dma(command, dma),
                CommandKind::Indexed(transfer) => self.indexed(command, transfer),
                CommandKind::Exec(exec) => self.exec(command, exec),
            }
        }
    }

    /// The body of a loop, once for each turn; and again for iterations that are left at the end.
    fn repeat(&mut self, repeat: &Loop) {
        let turns = repeat.body.iter().map(|command| command.turns(self.around.len())).fold(1, lcm);
        let apart = if turns <= MAX_COPIES { turns } else { 1 };
        let whole = repeat.times / apart;
        let rest = repeat.times % apart;
        for (start, times, copies) in [(0, whole, apart), (whole * apart, 1, rest)] {
            if times == 0 {
                continue;
            }
            self.loops += 1;
            self.around.push(Around { number: self.loops, times });
            for turn in 0..copies {
                self.turns.push(Turn { first: start + turn, apart });
                self.commands(&repeat.body);
                self.turns.pop();
            }
            self.around.pop();
        }
    }

    fn add(&mut self, command: &Command, (space, write): (Space, bool), program: Loops, steps: &Steps) {
        let (mut steps, mut when) = (steps.clone(), command.when.clone());
        for (depth, turn) in self.turns.iter().enumerate().filter(|(_, turn)| turn.apart > 1) {
            if let Some(step) = steps.each.get_mut(depth) {
                let (by, first) = (step.by.wrapping_mul(turn.apart.cast_signed()), step.at(turn.first));
                *step = Step { by, turns: Vec::new() };
                steps.plus = steps.plus.wrapping_add(first);
            }
            for condition in &mut when {
                let factor = condition.factor(depth);
                let moved = i128::from(factor) * i128::from(turn.first);
                condition.range = condition.range.start - moved..condition.range.end - moved;
                if let Some(own) = condition.factors.get_mut(depth) {
                    *own = factor.wrapping_mul(turn.apart.cast_signed());
                }
            }
        }
        let single =
            |condition: &Condition| condition.factors.iter().filter(|factor| **factor != 0).count() <= 1;
        self.all.push(Touch {
            span: command.span,
            space,
            write,
            position: self.commands,
            loops: if self.commands == 0 { Vec::new() } else { self.around.clone() },
            turns: self.turns.clone(),
            narrow: when.iter().all(single),
            when,
            steps,
            program: Loops { packet: 1, ..program },
        });
    }

    fn dma(&mut self, command: &Command, dma: &Dma) {
        for loops in dma.programs() {
            let [read, write] = &dma.steps;
            self.add(command, (dma.from, false), on_a_chip(loops.read()), read);
            self.add(command, (dma.to, true), on_a_chip(loops.write()), write);
        }
    }

    /// The rows of the table that are read are not known: reads are not examined. Written rows count as all.
    fn indexed(&mut self, command: &Command, transfer: &Indexed) {
        let [read, write, index] = &transfer.steps;
        self.add(command, (transfer.index, false), transfer.indices.clone(), index);
        if transfer.direction == Direction::Scatter {
            self.add(command, (transfer.from, false), transfer.reads(), read);
        }
        self.add(command, (transfer.to, true), transfer.writes(), write);
    }

    fn exec(&mut self, command: &Command, exec: &Exec) {
        let bytes = self.machine.memory.dm_bytes_per_slice.cast_signed();
        for stage in &exec.stages {
            let steps = stage.steps.with(&exec.steps, bytes);
            for access in stage.accesses() {
                let slices = stage.stored_slices().filter(|_| access.write).unwrap_or(&exec.slices);
                for slices in slices {
                    let program = self.in_slices(stage, &access, slices);
                    self.add(command, (access.space, access.write), program, &steps);
                }
            }
        }
    }

    /// The addresses that a stage touches in some slices.
    fn in_slices(&self, stage: &PlacedStage, access: &Access, slices: &Range<usize>) -> Loops {
        let bytes = self.machine.memory.dm_bytes_per_slice.cast_signed();
        let Range { start, end } = access.range;
        let whole = Loops { entries: vec![Entry::new(end - start, 1)], packet: 1, base: start.cast_signed() };
        let own = stage.walk().filter(|_| access.space == Space::DM).cloned().unwrap_or(whole);
        let slice = Entry::new((slices.end - slices.start) as u64, bytes);
        Loops {
            entries: std::iter::once(slice).chain(own.entries).collect(),
            base: own.base + slices.start as i64 * bytes,
            ..own
        }
    }
}

/// The addresses of a transfer without the chips that they count.
fn on_a_chip(mut side: Loops) -> Loops {
    side.entries.retain(|entry| {
        entry.limit <= 1 || entry.stride.divided(CHIP_STRIDE).is_none_or(|chips| chips.fixed() == Some(0))
    });
    side.base = side.base.rem_euclid(CHIP_STRIDE);
    side
}
