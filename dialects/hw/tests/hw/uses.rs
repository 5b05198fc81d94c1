//! Early uses of random programs, against a run that remembers which bytes were written.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use visa_engine::Space;
use visa_hw::early_uses;
use visa_hw::program::{Buffer, Command, CommandKind, Dma, Loop, Program};
use visa_ir::span::Span;
use visa_loops::{Condition, PairedEntry, PairedProgram, Step, Steps};
use visa_machine::Machine;
use visa_numerics::DType;
use visa_support::Random;

/// Commands of a body, which runs in the iteration `taken` of the loops around it, under the conditions around it.
fn commands(random: &mut Random, taken: &[u64], around: &[Condition], count: &mut usize) -> Vec<Command> {
    let mut all = Vec::new();
    for _ in 0..1 + random.below(3) {
        *count += 1;
        let span = Span::new(*count * 10..*count * 10 + 1);
        let mut when = around.to_vec();
        if !taken.is_empty() && random.below(4) == 0 {
            let factors: Vec<i64> = taken.iter().map(|_| random.below(3) as i64 - 1).collect();
            let sum: i64 =
                factors.iter().zip(taken).map(|(factor, index)| factor * index.cast_signed()).sum();
            let below = (random.below(2) == 0).then(|| sum + 1 + random.below(3) as i64);
            when.push(Condition::new(factors, Some(sum - random.below(2) as i64), below));
        }
        let kind = if taken.len() < 2 && random.below(3) == 0 {
            let times = 1 + random.below(5) as u64;
            let inside: Vec<u64> = taken.iter().copied().chain([random.bits() % times]).collect();
            CommandKind::Loop(Loop { times, body: commands(random, &inside, &when, count) })
        } else {
            CommandKind::Dma(transfer(random, taken.len()))
        };
        let command = Command { when, ..Command::new(span, kind) };
        all.push(command);
    }
    all
}

/// A transfer between the first bytes of HBM, which are an argument's, those after them, and data memory.
fn transfer(random: &mut Random, depth: usize) -> Dma {
    let ends = [[Space::HBM, Space::DM], [Space::DM, Space::HBM], [Space::DM, Space::DM]][random.below(3)];
    let base = |random: &mut Random, space: Space| match space {
        Space::HBM => 8 * random.below(16) as i64,
        Space::Memory(_) | Space::Trf | Space::Vrf => 8 * random.below(8) as i64,
    };
    let rows = 1 + random.below(3) as u64;
    let apart = |random: &mut Random| [8, 16, 24][random.below(3)];
    let entries = vec![PairedEntry::new(rows, apart(random), apart(random)), PairedEntry::new(8, 1, 1)];
    let bases = ends.map(|space| base(random, space));
    let loops = PairedProgram { entries, packet: 8, read_base: bases[0], write_base: bases[1] };
    let step = |random: &mut Random| Step {
        by: [0, 0, 8, 16, 24][random.below(5)],
        turns: (0..[0, 0, 0, 2, 3][random.below(5)]).map(|_| 8 * random.below(4) as i64).collect(),
    };
    let mut steps = || Steps { each: (0..random.below(depth + 1)).map(|_| step(random)).collect(), plus: 0 };
    let steps = [steps(), steps()];
    Dma { steps, ..Dma::homogeneous(false, ends, loops, 0) }
}

/// The state of the bytes of memory during a run.
#[derive(Default)]
struct Run {
    written: HashSet<(u8, i64)>,
    /// Bytes that were read before anything wrote them, with the command.
    unwritten: BTreeMap<usize, BTreeSet<(u8, i64)>>,
    /// Of those, the commands whose bytes were written then.
    early: BTreeSet<usize>,
}

fn place(space: Space, at: i64) -> (u8, i64) {
    (u8::from(space == Space::DM), at)
}

impl Run {
    fn write(&mut self, space: Space, at: i64) {
        let byte = place(space, at);
        self.written.insert(byte);
        let early = self.unwritten.iter().filter(|(_, bytes)| bytes.contains(&byte));
        self.early.extend(early.map(|(command, _)| *command));
    }

    fn commands(&mut self, commands: &[Command], indices: &mut Vec<u64>) {
        for command in commands {
            if !command.runs_in(indices) {
                continue;
            }
            match &command.kind {
                CommandKind::Loop(repeat) => {
                    for index in 0..repeat.times {
                        indices.push(index);
                        self.commands(&repeat.body, indices);
                        indices.pop();
                    }
                }
                CommandKind::Dma(dma) => {
                    let dma = dma.at(indices);
                    let number = command.span.range().start;
                    for loops in dma.programs() {
                        for at in loops.read().addresses().flat_map(|at| at..at + 8) {
                            if !self.written.contains(&place(dma.from, at)) {
                                self.unwritten.entry(number).or_default().insert(place(dma.from, at));
                            }
                        }
                        loops
                            .write()
                            .addresses()
                            .flat_map(|at| at..at + 8)
                            .for_each(|at| self.write(dma.to, at));
                    }
                }
                CommandKind::Launch(_) | CommandKind::Indexed(_) | CommandKind::Exec(_) => unreachable!(),
            }
        }
    }
}

#[test]
fn early_uses_are_those_of_a_run() {
    let mut random = Random(20);
    let (mut found, mut fine) = (0, 0);
    for case in 0..300 {
        let layout = PairedProgram {
            entries: vec![PairedEntry::new(16, 1, 4)],
            packet: 1,
            read_base: 0,
            write_base: 0,
        };
        let buffer = Buffer {
            argument: true,
            name: "x".to_owned(),
            space: Space::HBM,
            dtype: DType::I32,
            shape: vec![16],
            layout,
            span: Span::default(),
        };
        let commands = commands(&mut random, &[], &[], &mut 0);
        let program = Program {
            name: "p".to_owned(),
            chips: 1,
            pes: None,
            buffers: vec![buffer],
            scalars: Vec::new(),
            commands,
        };
        let mut run = Run::default();
        (0..64).for_each(|at| run.write(Space::HBM, at));
        run.commands(&program.commands, &mut Vec::new());
        let uses = early_uses(&program, &Machine::rngd());
        assert_eq!(uses.undecided, [], "case {case}");
        let early: BTreeSet<usize> = uses.early.iter().map(|early| early.read.range().start).collect();
        assert_eq!(early, run.early, "case {case}");
        found += early.len();
        fine += usize::from(early.is_empty());
    }
    assert!(found > 75 && fine > 40, "{found} early uses, {fine} programs without any");
}
