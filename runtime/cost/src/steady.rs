//! The schedule of long loops. Iterations are scheduled one after the other until one leaves everything as an earlier
//! one did, but for the time and the indices; from then on they repeat, and all that are left but a few are counted at
//! once. What comes out is the schedule of the program written out ([`crate::schedule`]).
//!
//! An iteration is like an earlier one if
//! - each command costs what it did then ([`Prices::period`]),
//! - what has not ended when something can start next is the same: the same commands, as many iterations ago, as far
//!   from their ends,
//! - and what of that a command will meet in memory is the same. That is so where both move alike with the loop, or
//!   where they never meet.

use std::collections::VecDeque;
use std::ops::Range;
use std::rc::Rc;

use visa_hw::program::{Command, CommandKind, Loop, Program, runs};
use visa_ir::diag::Diagnostic;

use crate::footprint::{Side, sides};
use crate::prices::{Prices, Run, Terms};
use crate::report::{Resource, Wait, Why};
use crate::runs::{MAX_RUNS, too_many};
use crate::schedule::reasons;
use crate::tally::{Counts, Placed, Tallies};

/// The tallies of a program whose writes wait for no reads.
///
/// # Errors
/// A transfer for which the model has no price, and more than [`MAX_RUNS`] runs that do not repeat.
pub(crate) fn tallies(program: &Program, terms: Terms<'_>) -> Result<Tallies, Diagnostic> {
    let flat = program.flat();
    let mut steady = Steady {
        resources: flat.iter().map(|(command, _)| resource(command)).collect(),
        sides: flat.iter().map(|(command, loops)| sides(command, loops, terms.machine)).collect(),
        commands: flat.iter().map(|(command, _)| *command).collect(),
        prices: Prices::new(terms),
        queues: Default::default(),
        tallies: Tallies::default(),
        placed: 0,
    };
    steady.block(&program.commands, 0, &mut Vec::new())?;
    Ok(steady.tallies)
}

/// What runs a command.
fn resource(command: &Command) -> Resource {
    match &command.kind {
        CommandKind::Dma(dma) => Resource::of_transfer(dma),
        CommandKind::Indexed(_) | CommandKind::Loop(_) => Resource::Dma,
        CommandKind::Launch(_) => Resource::Main,
        CommandKind::Exec(exec) => Resource::of_context(exec.context),
    }
}

/// A run that something may still wait for.
#[derive(Clone)]
struct Live {
    command: usize,
    indices: Rc<[u64]>,
    run: Run,
    end: u64,
}

struct Steady<'p> {
    commands: Vec<&'p Command>,
    resources: Vec<Resource>,
    sides: Vec<Vec<Side>>,
    prices: Prices<'p>,
    /// The runs of each resource, in the order in which they end.
    queues: [VecDeque<Live>; Resource::ALL.len()],
    tallies: Tallies,
    /// Runs that were placed one by one.
    placed: u64,
}

/// How things are after an iteration: what has not ended, by command, loops ago and cycles left.
type State = Vec<(usize, Vec<i64>, u64)>;

/// An iteration that later ones are compared with.
struct Mark {
    state: State,
    index: u64,
    now: u64,
    counts: Vec<Counts>,
}

impl Steady<'_> {
    fn block(
        &mut self,
        commands: &[Command],
        first: usize,
        indices: &mut Vec<u64>,
    ) -> Result<usize, Diagnostic> {
        let mut number = first;
        for command in commands {
            if let CommandKind::Loop(repeat) = &command.kind {
                number = self.repeat(repeat, number, indices)?;
                continue;
            }
            let run = self.prices.run(command, number, indices)?;
            self.place(&run, indices)?;
            number += 1;
        }
        Ok(number)
    }

    /// As [`crate::schedule::schedule`] places a run.
    fn place(&mut self, run: &Run, indices: &[u64]) -> Result<(), Diagnostic> {
        self.placed += 1;
        if self.placed > MAX_RUNS {
            return Err(too_many(self.placed));
        }
        let own = run.work.resource as usize;
        let before = self.queues[own].back();
        let mut start = before.map_or(0, |live| live.end);
        let mut waits: Vec<(u64, Wait)> = before
            .map(|live| (live.end, Wait { command: live.command, why: Why::Busy }))
            .into_iter()
            .collect();
        let earliest = start;
        for live in
            self.queues.iter().flat_map(|queue| queue.iter().rev().take_while(|live| live.end >= earliest))
        {
            // What is found on the way may have put it off.
            if live.end < start {
                continue;
            }
            let found = reasons(&live.run, run);
            if !found.is_empty() {
                start = live.end;
            }
            waits.extend(found.into_iter().map(|why| (live.end, Wait { command: live.command, why })));
        }
        waits.retain(|(end, _)| start > 0 && *end == start);
        let end = start.saturating_add(run.cycles);
        let waits = waits.into_iter().map(|(_, wait)| wait).collect();
        let (cycles, stalls, work) = (run.cycles, run.stalls, &run.work);
        self.tallies.add(Placed { command: run.command, work, cycles, stalls, start, end, waits });
        self.queues[own].push_back(Live {
            command: run.command,
            indices: indices.into(),
            run: run.clone(),
            end,
        });
        Ok(())
    }

    /// Schedules a loop whose first command has the number `first`. Returns the number after its commands.
    fn repeat(&mut self, repeat: &Loop, first: usize, indices: &mut Vec<u64>) -> Result<usize, Diagnostic> {
        if runs(&repeat.body) == 0 {
            return Ok(first);
        }
        let depth = indices.len();
        let mut after = first;
        let mut mark: Option<Mark> = None;
        // What is compared is marked anew where twice as many iterations have passed (Brent).
        let (mut index, mut next_mark) = (0, 1);
        let mut period = None;
        while index < repeat.times {
            indices.push(index);
            after = self.block(&repeat.body, first, indices)?;
            indices.pop();
            index += 1;
            if index == 1 {
                period = self.period(repeat, first..after, depth);
                let left = runs(&repeat.body).saturating_mul(repeat.times - 1);
                if period.is_none() && left.saturating_add(self.placed) > MAX_RUNS {
                    return Err(too_many(left));
                }
            }
            let Some(every) = period.filter(|every| index % every == 0) else { continue };
            let Some((state, now)) = self.state(first..after, indices, index) else { continue };
            match &mark {
                Some(known) if known.state == state => {
                    let (length, lasts) = (index - known.index, now - known.now);
                    let times = (repeat.times - index) / length;
                    let skipped = Skipped {
                        times,
                        depth,
                        iterations: times * length,
                        cycles: times.saturating_mul(lasts),
                    };
                    self.skip(known, first..after, &skipped);
                    index += times * length;
                    period = None;
                }
                Some(known) if index < next_mark.max(known.index + every) => {}
                Some(_) | None => {
                    let counts = self.tallies.0.iter().map(|tally| tally.counts).collect();
                    mark = Some(Mark { state, index, now, counts });
                    next_mark = index.saturating_mul(2);
                }
            }
        }
        Ok(after)
    }

    /// After how many iterations a loop may repeat, as far as its commands tell by themselves; nothing if it may not.
    fn period(&self, repeat: &Loop, inside: Range<usize>, depth: usize) -> Option<u64> {
        if repeat.times < 4 || !self.meet_alike(inside.clone(), depth) {
            return None;
        }
        // A resource that the loop leaves idle may run a later command at once: it would meet iterations of any age.
        let used = |resource: Resource| self.resources[inside.clone()].contains(&resource);
        let later = if depth == 0 { inside.start } else { 0 };
        if !self.resources[later..].iter().all(|&resource| used(resource)) {
            return None;
        }
        let mut periods = self.commands[inside].iter().map(|command| self.prices.period(command, depth));
        periods.try_fold(1_u64, |all, own| Some(all.max(own?)))
    }

    /// Whether any two commands of a loop move alike with it, or never meet.
    fn meet_alike(&self, inside: Range<usize>, depth: usize) -> bool {
        let sides: Vec<&Side> = self.sides[inside].iter().flatten().collect();
        let pairs =
            sides.iter().enumerate().flat_map(|(at, one)| sides[at..].iter().map(move |other| (one, other)));
        let mut pairs = pairs.filter(|(one, other)| one.may_meet(other));
        pairs.all(|(one, other)| one.moves_like(other, depth))
    }

    /// How things are after iteration `index - 1` of a loop; nothing if something else than the loop has not ended.
    /// With it the cycle from which on something can start.
    fn state(&mut self, inside: Range<usize>, outer: &[u64], index: u64) -> Option<(State, u64)> {
        let used: Vec<Resource> =
            Resource::ALL.into_iter().filter(|own| self.resources[inside.clone()].contains(own)).collect();
        let last = |own: &Resource| self.queues[*own as usize].back().map_or(0, |live| live.end);
        let now = used.iter().map(last).min()?;
        let mut state = Vec::new();
        for queue in &mut self.queues {
            while queue.front().is_some_and(|live| live.end < now) && queue.len() > 1 {
                queue.pop_front();
            }
            for live in queue.iter().filter(|live| live.end >= now) {
                if !inside.contains(&live.command) {
                    return None;
                }
                let current = outer.iter().copied().chain([index]);
                let ago = live.indices.iter().zip(current.map(Some).chain(std::iter::repeat(None)));
                let ago = ago.map(|(own, current)| match current {
                    Some(current) => current.cast_signed() - own.cast_signed(),
                    // The loops inside begin anew with each iteration.
                    None => own.cast_signed(),
                });
                state.push((live.command, ago.collect(), live.end - now));
            }
        }
        Some((state, now))
    }

    /// Counts what was done since a mark so many times more.
    fn skip(&mut self, mark: &Mark, inside: Range<usize>, skipped: &Skipped) {
        let Skipped { times, depth, iterations, cycles } = *skipped;
        if times == 0 {
            return;
        }
        for (tally, before) in self.tallies.0[inside.clone()].iter_mut().zip(&mark.counts[inside.clone()]) {
            tally.counts = tally.counts.again(*before, times);
            tally.end = tally.end.saturating_add(cycles);
        }
        for live in self.queues.iter_mut().flatten().filter(|live| inside.contains(&live.command)) {
            let mut indices = live.indices.to_vec();
            indices[depth] += iterations;
            live.end = live.end.saturating_add(cycles);
            live.run.regions = self.prices.regions(self.commands[live.command], live.command, &indices);
            live.indices = indices.into();
        }
    }
}

/// Iterations of a loop that are counted at once.
struct Skipped {
    /// How often what was done since a mark is done again.
    times: u64,
    /// The loops around the one that repeats.
    depth: usize,
    /// Its iterations in all.
    iterations: u64,
    /// The cycles that they take.
    cycles: u64,
}
