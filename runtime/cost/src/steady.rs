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

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Range;
use std::rc::Rc;

use visa_hw::program::{Command, CommandKind, Loop, Program, runs};
use visa_ir::diag::Diagnostic;
use visa_loops::{Condition, lcm};

use crate::footprint::{Side, sides};
use crate::prices::{Prices, Run, Terms};
use crate::report::{Resource, Wait, Why};
use crate::runs::{MAX_RUNS, commands_in, too_many};
use crate::schedule::reasons;
use crate::tally::{Counts, Placed, Tallies};

/// The tallies of a program whose writes wait for no reads.
///
/// # Errors
/// A transfer for which the model has no price, and more than [`MAX_RUNS`] runs that do not repeat.
pub(crate) fn tallies(program: &Program, terms: Terms<'_>) -> Result<Tallies, Diagnostic> {
    let mut steady = Steady::of(program, terms);
    steady.block(&program.commands, 0, &mut Vec::new())?;
    Ok(steady.tallies)
}

/// After how many iterations a loop that is in no other one may repeat, as far as its commands tell by themselves;
/// nothing if it may not, or branches change with it.
pub(crate) fn period(program: &Program, command: &Command, terms: Terms<'_>) -> Option<u64> {
    let CommandKind::Loop(repeat) = &command.kind else { return None };
    let before = program.commands.iter().take_while(|other| !std::ptr::eq(*other, command));
    let first: usize = before.map(commands_in).sum();
    let steady = Steady::of(program, terms);
    match stretches(repeat, &[]).as_slice() {
        [whole] => steady.period(whole, first..first + commands_in(command), &[]),
        _ => None,
    }
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
    counts: BTreeMap<usize, Counts>,
}

/// Iterations of a loop in which the same commands run, as far as branches depend on this loop and those around it.
struct Stretch {
    iterations: Range<u64>,
    /// Whether the commands are the same in all of them.
    alike: bool,
}

/// The stretches of a loop in an iteration of those around it: each ends where a branch changes its mind.
fn stretches(repeat: &Loop, outer: &[u64]) -> Vec<Stretch> {
    let mut ends = BTreeSet::from([0, repeat.times]);
    let mut alike = true;
    conditions(&repeat.body, &mut |condition| {
        let rest = condition.after(outer);
        let factor = i128::from(rest.factor(0));
        if factor == 0 {
            return;
        }
        alike &= rest.factors.iter().skip(1).all(|factor| *factor == 0);
        // The sum is `factor * index`. It enters and leaves the range, in whichever order, where it passes an end
        // of it.
        for bound in [rest.range.start, rest.range.end] {
            let passed = match factor > 0 {
                true => -(-bound).div_euclid(factor),
                false => (bound - 1).div_euclid(factor),
            };
            ends.extend(u64::try_from(passed).ok().filter(|passed| *passed < repeat.times));
        }
    });
    let ends: Vec<u64> = ends.into_iter().collect();
    ends.windows(2).map(|ends| Stretch { iterations: ends[0]..ends[1], alike }).collect()
}

/// Looks at the conditions of commands, and of those of loops.
fn conditions(commands: &[Command], look: &mut dyn FnMut(&Condition)) {
    for command in commands {
        command.when.iter().for_each(&mut *look);
        if let CommandKind::Loop(repeat) = &command.kind {
            conditions(&repeat.body, look);
        }
    }
}

impl<'p> Steady<'p> {
    fn of(program: &'p Program, terms: Terms<'p>) -> Self {
        let flat = program.flat();
        Self {
            resources: flat.iter().map(|(command, _)| resource(command)).collect(),
            sides: flat.iter().map(|(command, loops)| sides(command, loops, terms.machine)).collect(),
            commands: flat.iter().map(|(command, _)| *command).collect(),
            prices: Prices::new(terms),
            queues: Default::default(),
            tallies: Tallies::default(),
            placed: 0,
        }
    }
}

impl Steady<'_> {
    fn block(
        &mut self,
        commands: &[Command],
        first: usize,
        indices: &mut Vec<u64>,
    ) -> Result<(), Diagnostic> {
        let mut number = first;
        for command in commands {
            let next = number + commands_in(command);
            if command.runs_in(indices) {
                if let CommandKind::Loop(repeat) = &command.kind {
                    self.repeat(repeat, number..next, indices)?;
                } else {
                    let run = self.prices.run(command, number, indices)?;
                    self.place(&run, indices)?;
                }
            }
            number = next;
        }
        Ok(())
    }

    /// As [`crate::schedule::schedule`] places a run.
    fn place(&mut self, run: &Run, indices: &[u64]) -> Result<(), Diagnostic> {
        self.placed += 1;
        if self.placed > MAX_RUNS {
            return Err(too_many(self.placed));
        }
        let own = run.work.resource.takes();
        let before = own.iter().filter_map(|&own| self.queues[own as usize].back());
        let mut waits: Vec<(u64, Wait)> =
            before.map(|live| (live.end, Wait { command: live.command, why: Why::Busy })).collect();
        let mut start = waits.iter().map(|(end, _)| *end).max().unwrap_or(0);
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
        let live = Live { command: run.command, indices: indices.into(), run: run.clone(), end };
        own.iter().for_each(|&own| self.queues[own as usize].push_back(live.clone()));
        Ok(())
    }

    /// Schedules a loop whose commands have the numbers `inside`.
    fn repeat(
        &mut self,
        repeat: &Loop,
        inside: Range<usize>,
        indices: &mut Vec<u64>,
    ) -> Result<(), Diagnostic> {
        if runs(&repeat.body) == 0 {
            return Ok(());
        }
        for stretch in stretches(repeat, indices) {
            self.stretch(repeat, &stretch, inside.clone(), indices)?;
        }
        Ok(())
    }

    /// Schedules iterations of a loop.
    fn stretch(
        &mut self,
        repeat: &Loop,
        stretch: &Stretch,
        inside: Range<usize>,
        indices: &mut Vec<u64>,
    ) -> Result<(), Diagnostic> {
        let depth = indices.len();
        let Range { start, end } = stretch.iterations;
        let mut mark: Option<Mark> = None;
        let mut period = self.period(stretch, inside.clone(), indices);
        let left = runs(&repeat.body).saturating_mul(end - start);
        if period.is_none() && left.saturating_add(self.placed) > MAX_RUNS {
            return Err(too_many(left));
        }
        // What is compared is marked anew where twice as many iterations have passed (Brent).
        let (mut index, mut next_mark) = (start, 1);
        while index < end {
            indices.push(index);
            self.block(&repeat.body, inside.start, indices)?;
            indices.pop();
            index += 1;
            let Some(every) = period.filter(|every| index % every == 0) else { continue };
            let Some((state, now)) = self.state(inside.clone(), indices, index) else { continue };
            match &mark {
                Some(known) if known.state == state => {
                    let (length, lasts) = (index - known.index, now - known.now);
                    let times = (end - index) / length;
                    let skipped = Skipped {
                        times,
                        depth,
                        iterations: times * length,
                        cycles: times.saturating_mul(lasts),
                    };
                    self.skip(known, inside.clone(), &skipped);
                    index += times * length;
                    period = None;
                }
                Some(known) if index < next_mark.max(known.index + every) => {}
                Some(_) | None => {
                    let counts =
                        self.tallies.0.iter().map(|(&number, tally)| (number, tally.counts)).collect();
                    mark = Some(Mark { state, index, now, counts });
                    next_mark = index.saturating_mul(2);
                }
            }
        }
        Ok(())
    }

    /// After how many iterations of a stretch a loop may repeat, as far as its commands tell by themselves; nothing if
    /// it may not.
    fn period(&self, stretch: &Stretch, inside: Range<usize>, outer: &[u64]) -> Option<u64> {
        let depth = outer.len();
        let Range { start, end } = stretch.iterations;
        if end - start < 4 || !stretch.alike || !self.meet_alike(inside.clone(), depth) {
            return None;
        }
        // A resource that the loop leaves idle may run a later command at once: it would meet iterations of any age.
        let indices: Vec<u64> = outer.iter().copied().chain([start]).collect();
        let used = |resource: Resource| {
            inside
                .clone()
                .any(|own| self.resources[own].takes().contains(&resource) && self.runs_always(own, &indices))
        };
        let later = if depth == 0 { inside.start } else { 0 };
        let needed = |resource: &Resource| resource.takes().iter().all(|&own| used(own));
        if !self.resources[later..].iter().all(needed) {
            return None;
        }
        let mut periods = self.commands[inside].iter().map(|command| self.prices.period(command, depth));
        periods.try_fold(1_u64, |all, own| Some(lcm(all, own?)))
    }

    /// Whether a command runs in all iterations of the loops inside the ones whose indices are known.
    fn runs_always(&self, command: usize, indices: &[u64]) -> bool {
        self.commands[command]
            .when
            .iter()
            .map(|condition| condition.after(indices))
            .all(|rest| rest.factors.iter().all(|factor| *factor == 0) && rest.holds(&[]))
    }

    /// Whether any two commands of a loop move alike with it, or never meet.
    fn meet_alike(&self, inside: Range<usize>, depth: usize) -> bool {
        let sides: Vec<&Side> = self.sides[inside].iter().flatten().collect();
        let pairs =
            sides.iter().enumerate().flat_map(|(at, one)| sides[at..].iter().map(move |other| (one, other)));
        let mut pairs = pairs.filter(|(one, other)| one.may_meet(other));
        pairs.all(|(one, other)| one.moves_like(other, depth))
    }

    /// Whether commands with these numbers take a resource.
    fn takes(&self, inside: Range<usize>, resource: Resource) -> bool {
        self.resources[inside].iter().any(|own| own.takes().contains(&resource))
    }

    /// How things are after iteration `index - 1` of a loop; nothing if something else than the loop has not ended.
    /// With it the cycle from which on something can start.
    fn state(&mut self, inside: Range<usize>, outer: &[u64], index: u64) -> Option<(State, u64)> {
        let used: Vec<Resource> =
            Resource::ALL.into_iter().filter(|own| self.takes(inside.clone(), *own)).collect();
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
        for (number, tally) in self.tallies.0.range_mut(inside.clone()) {
            // One that has not run since ends when it did.
            let before = mark.counts.get(number).copied().unwrap_or_default();
            if tally.counts != before {
                tally.counts = tally.counts.again(before, times);
                tally.end = tally.end.saturating_add(cycles);
            }
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
