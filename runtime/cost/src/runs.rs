//! The commands of a program as they run: each in every iteration of the loops around it.

use visa_hw::program::{self, Command, CommandKind, Program};
use visa_ir::diag::{Diagnostic, counted};
use visa_ir::span::Span;

use crate::prices::{Prices, Run, Terms};

/// The most commands that run one by one, those of loops in each iteration.
pub const MAX_RUNS: u64 = 1 << 24;

/// All runs in the order of the program.
///
/// # Errors
/// A transfer for which the model has no price, and more than [`MAX_RUNS`] runs.
pub(crate) fn runs(program: &Program, terms: Terms<'_>) -> Result<Vec<Run>, Diagnostic> {
    let count = program::runs(&program.commands);
    if count > MAX_RUNS {
        return Err(too_many(count));
    }
    let mut unrolling = Unrolling { prices: Prices::new(terms), runs: Vec::with_capacity(count as usize) };
    unrolling.block(&program.commands, 0, &mut Vec::new())?;
    Ok(unrolling.runs)
}

/// What is said of more runs than are priced.
pub(crate) fn too_many(count: u64) -> Diagnostic {
    let message = format!("{} run one by one, at most {MAX_RUNS} are priced", counted(count, "command"));
    Diagnostic::error("price", Span::default(), message)
}

struct Unrolling<'a> {
    prices: Prices<'a>,
    runs: Vec<Run>,
}

impl Unrolling<'_> {
    /// Adds the runs of commands in an iteration, the first of which has the number `first`.
    fn block(
        &mut self,
        commands: &[Command],
        first: usize,
        indices: &mut Vec<u64>,
    ) -> Result<(), Diagnostic> {
        let mut number = first;
        for command in commands {
            if !command.runs_in(indices) {
                number += commands_in(command);
                continue;
            }
            if let CommandKind::Loop(repeat) = &command.kind {
                let times = if program::runs(&repeat.body) == 0 { 0 } else { repeat.times };
                for index in 0..times {
                    indices.push(index);
                    self.block(&repeat.body, number, indices)?;
                    indices.pop();
                }
                number += commands_in(command);
                continue;
            }
            let run = self.prices.run(command, number, indices)?;
            self.runs.push(run);
            number += 1;
        }
        Ok(())
    }
}

/// How many commands a command is that have numbers of their own: those of a loop, and else one.
pub(crate) fn commands_in(command: &Command) -> usize {
    match &command.kind {
        CommandKind::Loop(repeat) => repeat.body.iter().map(commands_in).sum(),
        CommandKind::Launch(_) | CommandKind::Dma(_) | CommandKind::Indexed(_) | CommandKind::Exec(_) => 1,
    }
}
