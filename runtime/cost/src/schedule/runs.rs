//! The commands of a program as they run: each in every iteration of the loops around it.

use std::rc::Rc;

use visa_hw::program::{self, Command, CommandKind, Loop, Program};
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
    runs_of(program, terms, None).map(|(runs, _)| runs)
}

/// A loop with other iterations than it has.
#[derive(Clone, Copy)]
pub(crate) struct Cut<'p> {
    pub(crate) repeat: &'p Loop,
    pub(crate) times: u64,
}

/// All runs in the order of the program, one of whose loops is cut. With them, the number of runs before each of its
/// iterations, and before the first command after it.
///
/// # Errors
/// A transfer for which the model has no price, and more than [`MAX_RUNS`] runs.
pub(crate) fn runs_of(
    program: &Program,
    terms: Terms<'_>,
    cut: Option<Cut<'_>>,
) -> Result<(Vec<Run>, Vec<usize>), Diagnostic> {
    let mut unrolling =
        Unrolling { prices: Prices::new(terms), runs: Vec::new(), cut, iterations: Vec::new() };
    unrolling.block(&program.commands, 0, &mut Vec::new())?;
    Ok((unrolling.runs, unrolling.iterations))
}

/// The error if there are more runs than can be priced.
pub(crate) fn too_many(count: u64) -> Diagnostic {
    let message = format!("{} run one by one, at most {MAX_RUNS} are priced", counted(count, "command"));
    Diagnostic::error("price", Span::default(), message)
}

struct Unrolling<'a, 'p> {
    prices: Prices<'a>,
    runs: Vec<Run>,
    cut: Option<Cut<'p>>,
    /// Number of runs before each iteration of the loop that is cut.
    iterations: Vec<usize>,
}

impl Unrolling<'_, '_> {
    /// Adds the runs of commands in an iteration, the first of which has the number `first`.
    fn block(
        &mut self,
        commands: &[Command],
        first: usize,
        indices: &mut Vec<u64>,
    ) -> Result<(), Diagnostic> {
        let (mut number, iteration) = (first, Rc::from(indices.as_slice()));
        for command in commands {
            if !command.runs_in(indices) {
                number += commands_in(command);
                continue;
            }
            if let CommandKind::Loop(repeat) = &command.kind {
                self.repeat(repeat, number, indices)?;
                number += commands_in(command);
                continue;
            }
            let run = self.prices.run(command, number, &iteration)?;
            self.runs.push(run);
            number += 1;
        }
        Ok(())
    }
}

impl Unrolling<'_, '_> {
    /// Adds the runs of a loop, whose first command has the number `first`.
    fn repeat(&mut self, repeat: &Loop, first: usize, indices: &mut Vec<u64>) -> Result<(), Diagnostic> {
        let cut = self.cut.filter(|cut| std::ptr::eq(cut.repeat, repeat)).map(|cut| cut.times);
        let times = if program::runs(&repeat.body) == 0 { 0 } else { cut.unwrap_or(repeat.times) };
        let count = self.runs.len() as u64;
        if count > MAX_RUNS {
            return Err(too_many(count));
        }
        for index in 0..times {
            if cut.is_some() {
                self.iterations.push(self.runs.len());
            }
            indices.push(index);
            self.block(&repeat.body, first, indices)?;
            indices.pop();
        }
        if cut.is_some() {
            self.iterations.push(self.runs.len());
        }
        Ok(())
    }
}

/// Number of commands in a command that have separate numbers: those of a loop, and else one.
pub(crate) fn commands_in(command: &Command) -> usize {
    match &command.kind {
        CommandKind::Loop(repeat) => repeat.body.iter().map(commands_in).sum(),
        CommandKind::Launch(_) | CommandKind::Dma(_) | CommandKind::Indexed(_) | CommandKind::Exec(_) => 1,
    }
}
