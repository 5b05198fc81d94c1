//! The best order of few commands, with a proof: a constraint solver decides when each starts. It counts conflicts,
//! and has one thread: the same commands get the same order on every machine.

use crate::tasks::Tasks;
use pumpkin_conflict_resolvers::resolvers::ResolutionResolver;
use pumpkin_core::conflict_resolving::{ConflictAnalysisContext, ConflictResolver};
use pumpkin_core::optimisation::OptimisationDirection;
use pumpkin_core::optimisation::linear_sat_unsat::LinearSatUnsat;
use pumpkin_core::results::{OptimisationResult, ProblemSolution, SolutionReference};
use pumpkin_core::termination::TerminationCondition;
use pumpkin_core::variables::{DomainId, TransformableVariable};
use pumpkin_core::{DefaultBrancher, Solver};
use std::cell::Cell;
use std::ops::ControlFlow;
use std::rc::Rc;

/// Most commands whose order is looked for exactly.
pub const MAX_COMMANDS: usize = 40;

/// Commands of a block whose search may have all conflicts. A conflict takes longer if there are more commands: of
/// larger blocks, fewer conflicts are permitted in inverse proportion.
const FULL_COMMANDS: u64 = 16;

/// An order that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Solution {
    /// The commands in the order in which they start.
    pub order: Vec<usize>,
    /// True if no order takes less.
    pub proven: bool,
    /// Conflicts that it took.
    pub conflicts: u64,
}

/// The conflicts that the search of the order of `commands` may have, if that of a few may have `conflicts`.
#[must_use]
pub fn permitted(commands: usize, conflicts: u64) -> u64 {
    conflicts.saturating_mul(FULL_COMMANDS) / FULL_COMMANDS.max(commands as u64)
}

/// An order in which all commands end in less than `known` cycles; the search has at most `conflicts` conflicts.
///
/// # Errors
/// That there is none, or that none was found.
pub fn sooner(tasks: &Tasks, known: u64, conflicts: u64) -> Result<Solution, Unfound> {
    let Some(latest) = known.checked_sub(1) else { return Err(Unfound::Proven(0)) };
    let Ok(latest) = i32::try_from(latest) else { return Err(Unfound::TooLong) };
    let counter = Rc::new(Cell::new(0));
    let mut solver = Solver::default();
    let Some((starts, end)) = model(&mut solver, tasks, latest) else { return Err(Unfound::Proven(0)) };
    let mut resolver = Counting { inner: ResolutionResolver::default(), conflicts: Rc::clone(&counter) };
    let mut limit = Limit { conflicts: Rc::clone(&counter), most: conflicts };
    let mut brancher = solver.default_brancher();
    let going_on = |_: &Solver, _: SolutionReference<'_>, _: &DefaultBrancher, _: &Counting| {
        ControlFlow::<()>::Continue(())
    };
    let procedure = LinearSatUnsat::new(OptimisationDirection::Minimise, end, going_on);
    let found = solver.optimise(&mut brancher, &mut limit, &mut resolver, procedure);
    let ordered = |solution: &dyn Fn(DomainId) -> i32, proven: bool| {
        let mut order: Vec<usize> = (0..tasks.0.len()).collect();
        order.sort_by_key(|&number| (solution(starts[number]), number));
        Solution { order, proven, conflicts: counter.get() }
    };
    match found {
        OptimisationResult::Optimal(best) => Ok(ordered(&|start| best.get_integer_value(start), true)),
        OptimisationResult::Satisfiable(best) | OptimisationResult::Stopped(best, ()) => {
            Ok(ordered(&|start| best.get_integer_value(start), false))
        }
        OptimisationResult::Unsatisfiable => Err(Unfound::Proven(counter.get())),
        OptimisationResult::Unknown => Err(Unfound::Undecided(counter.get())),
    }
}

/// Reason why no order was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfound {
    /// There is none; the conflicts of the proof.
    Proven(u64),
    /// So many conflicts did not decide it.
    Undecided(u64),
    /// The commands take more cycles than the solver counts.
    TooLong,
}

/// The start of each command, and the end of all, at most `latest`; `None` if there is no such order.
fn model(solver: &mut Solver, tasks: &Tasks, latest: i32) -> Option<(Vec<DomainId>, DomainId)> {
    let tag = solver.new_constraint_tag();
    let cycles: Vec<i32> = tasks.0.iter().map(|task| task.cycles as i32).collect();
    let (heads, tails) = (tasks.heads(), tasks.tails());
    let end = solver.new_bounded_integer(0, latest);
    let mut starts = Vec::new();
    for (&head, &tail) in heads.iter().zip(&tails) {
        let last = i64::from(latest) - i64::try_from(tail).ok()?;
        let (head, last) = (i32::try_from(head).ok()?, i32::try_from(last).ok()?);
        if last < head {
            return None;
        }
        starts.push(solver.new_bounded_integer(head, last));
    }
    for (number, task) in tasks.0.iter().enumerate() {
        let ends = pumpkin_constraints::binary_less_than_or_equals(
            starts[number].offset(cycles[number]),
            end.offset(0),
            tag,
        );
        solver.add_constraint(ends).post();
        for &before in &task.after {
            let order = pumpkin_constraints::binary_less_than_or_equals(
                starts[before].offset(cycles[before]),
                starts[number].offset(0),
                tag,
            );
            solver.add_constraint(order).post();
        }
    }
    for queue in tasks.queues() {
        let own: Vec<usize> = queue.into_iter().filter(|&number| cycles[number] > 0).collect();
        // The constraint wants tasks that it can watch.
        if own.len() < 2 {
            continue;
        }
        let one_at_a_time = pumpkin_constraints::cumulative(
            own.iter().map(|&number| starts[number]).collect::<Vec<_>>(),
            own.iter().map(|&number| cycles[number]).collect::<Vec<_>>(),
            vec![1; own.len()],
            1,
            tag,
        );
        solver.add_constraint(one_at_a_time).post();
    }
    Some((starts, end))
}

/// Counts the conflicts that it resolves.
#[derive(Clone, Debug)]
struct Counting {
    inner: ResolutionResolver,
    conflicts: Rc<Cell<u64>>,
}

impl ConflictResolver for Counting {
    fn resolve_conflict(&mut self, context: &mut ConflictAnalysisContext<'_>) {
        self.conflicts.set(self.conflicts.get() + 1);
        self.inner.resolve_conflict(context);
    }
}

/// Ends a search after a number of conflicts.
struct Limit {
    conflicts: Rc<Cell<u64>>,
    most: u64,
}

impl TerminationCondition for Limit {
    fn should_stop(&mut self) -> bool {
        self.conflicts.get() >= self.most
    }
}
