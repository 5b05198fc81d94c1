//! The schedule of a long loop in which runs of sub may wait for those of main: for reads of the tensor register file
//! (book 18), or for banks of data memory (book 11).
//!
//! Such a run waits for runs in parallel with it, which may come after it in the program, so that iterations are not
//! scheduled one after the other. The loop is scheduled as a whole with fewer iterations instead, in the middle of
//! which everything repeats, and that middle is made longer. A run waits only for runs that overlap it in time: in
//! each round of [`schedule_with_stalls`] an end of the loop changes a few iterations more, and the middle is longer
//! than all rounds reach.

use visa_hw::program::{CommandKind, Loop, Program};
use visa_ir::diag::Diagnostic;

use crate::prices::Terms;
use crate::schedule::runs::{Cut, runs_of};

use crate::schedule::scheduled::Scheduled;
use crate::schedule::steady;
use crate::schedule::tally::{Tallies, Tally};

/// Periods of the loop that are scheduled.
const PERIODS: u64 = 192;

/// Of those, the first and the last ones in which things may be otherwise.
const EDGE: u64 = 48;

/// The tallies of a program with one long loop that repeats; `None` if there is none, or it was not seen to repeat.
/// With `banks` runs may wait for banks of data memory, so that it repeats where its commands are at the same again.
///
/// # Errors
/// A transfer for which the model has no price.
pub(crate) fn tallies(
    program: &Program,
    terms: Terms<'_>,
    banks: bool,
) -> Result<Option<Tallies>, Diagnostic> {
    let Some((repeat, period)) = longest(program, terms, banks) else { return Ok(None) };
    let some = repeat.times % period + period * PERIODS;
    if repeat.times < some + 2 * period {
        return Ok(None);
    }
    let cut = |times: u64| CutProgram::of(program, terms, Cut { repeat, times });
    let [first, second, third] = [some, some + period, some + 2 * period].map(cut);
    let (first, second, third) = (first?, second?, third?);
    if !first.repeats(period) {
        return Ok(None);
    }
    let [first, second, third] = [first, second, third].map(|cut| cut.tallies);
    let times = (repeat.times - some) / period;
    Ok(grown(&first, &second, 2).filter(|two| same(two, &third)).and_then(|_| grown(&first, &second, times)))
}

/// The loop with most iterations that is in no other one, and after how many iterations it may repeat.
fn longest<'p>(program: &'p Program, terms: Terms<'_>, banks: bool) -> Option<(&'p Loop, u64)> {
    let loops = program.commands.iter().filter_map(|command| match &command.kind {
        CommandKind::Loop(repeat) => Some((command, repeat)),
        CommandKind::Launch(_) | CommandKind::Dma(_) | CommandKind::Indexed(_) | CommandKind::Exec(_) => None,
    });
    let (command, repeat) = loops.max_by_key(|(_, repeat)| repeat.times)?;
    let period = steady::period(program, command, terms, banks)?;
    Some((repeat, period))
}

/// A program with another number of iterations of a loop.
struct CutProgram {
    scheduled: Scheduled,
    tallies: Tallies,
    /// The runs of each iteration of the loop: where they begin, and where the last ends.
    iterations: Vec<usize>,
}

impl CutProgram {
    fn of(program: &Program, terms: Terms<'_>, cut: Cut<'_>) -> Result<Self, Diagnostic> {
        let (runs, iterations) = runs_of(program, terms, Some(cut))?;
        let scheduled = Scheduled::from_runs(runs, terms);
        Ok(Self { tallies: scheduled.tallies(), scheduled, iterations })
    }

    /// Returns true if in the middle each run is as long after the one a period before as all others are.
    fn repeats(&self, period: u64) -> bool {
        let (edge, period) = ((EDGE * period) as usize, period as usize);
        let last = self.iterations.len().saturating_sub(1);
        let Some(middle) = self.iterations.get(edge..last.saturating_sub(edge)) else { return false };
        let (Some(&from), Some(&to)) = (middle.first(), middle.last()) else { return false };
        let Some(apart) = middle.get(period).map(|later| later - from) else { return false };
        let Scheduled { runs, slots } = &self.scheduled;
        let lasts = slots[from + apart].start - slots[from].start;
        (from..to.saturating_sub(apart)).all(|at| {
            let (one, other) = (&slots[at], &slots[at + apart]);
            runs[at].command == runs[at + apart].command
                && other.start - one.start == lasts
                && other.end - one.end == lasts
        })
    }
}

/// The second tallies, plus `times` times their growth over the first.
fn grown(first: &Tallies, second: &Tallies, times: u64) -> Option<Tallies> {
    let mut all = second.clone();
    for (number, tally) in &mut all.0 {
        let before = first.0.get(number)?;
        let more = |now: u64, before: u64| {
            Some(now.checked_sub(before)?.saturating_mul(times - 1).saturating_add(now))
        };
        tally.counts = tally.counts.again(before.counts, times - 1);
        (tally.start, tally.end) = (more(tally.start, before.start)?, more(tally.end, before.end)?);
    }
    Some(all)
}

fn same(one: &Tallies, other: &Tallies) -> bool {
    let of = |tally: &Tally| (tally.counts, tally.start, tally.end);
    one.0.len() == other.0.len()
        && one.0.iter().zip(&other.0).all(|((_, one), (_, other))| of(one) == of(other))
}
