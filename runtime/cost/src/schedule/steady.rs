//! The schedule of long loops. Iterations are scheduled one after the other until one leaves everything as an earlier
//! one did, but for the time and the indices; from then on they repeat, and all the remaining ones but a few are
//! counted at once. The result is the schedule of the program written out ([`crate::schedule`]).
//!
//! An iteration is like an earlier one if
//! - each command costs the same as then ([`Prices::period`]),
//! - the commands that have not ended when another can start next are the same: as many iterations ago, as far from
//!   their ends,
//! - and their conflicts in memory with later commands are the same. That is so where both move alike with the loop,
//!   or where they never meet.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Range;
use std::rc::Rc;

use visa_hw::program::{Command, CommandKind, Loop, Program, runs};
use visa_ir::diag::Diagnostic;
use visa_loops::{Condition, Steps, gcd, lcm};
use visa_machine::{Machine, Measured};

use crate::footprint::{Side, sides};
use crate::prices::{Prices, Run, Terms};
use crate::queues::Queues;
use crate::report::{Stalls, Why};
use crate::schedule::place::{Before, Slot, place};
use crate::schedule::runs::{MAX_RUNS, commands_in, too_many};
use crate::schedule::tally::{Counts, PlacedRun, Tallies};
use crate::walks;

/// The tallies of a program whose writes wait for no reads.
///
/// # Errors
/// A transfer for which the model has no price, and more than [`MAX_RUNS`] runs that do not repeat.
pub(crate) fn tallies(program: &Program, terms: Terms<'_>) -> Result<Tallies, Diagnostic> {
    let mut steady = Steady::of(program, terms);
    steady.block(&program.commands, 0, &mut Vec::new())?;
    Ok(steady.tallies)
}

/// Number of iterations after which a loop that is in no other one may repeat, to the extent that its commands
/// determine it; `None` if it may not, or branches change with it. With `all_banks` its commands are at the same banks
/// of data memory again.
pub(crate) fn period(program: &Program, command: &Command, terms: Terms<'_>, all_banks: bool) -> Option<u64> {
    let CommandKind::Loop(repeat) = &command.kind else { return None };
    let before = program.commands.iter().take_while(|other| !std::ptr::eq(*other, command));
    let first: usize = before.map(commands_in).sum();
    let steady = Steady { all_banks, ..Steady::of(program, terms) };
    match stretches(repeat, &[]).as_slice() {
        [whole] => steady.period(whole, first..first + commands_in(command), &[]),
        _ => None,
    }
}

/// The queues that a command takes.
fn queues(command: &Command, terms: Terms<'_>) -> Queues {
    match &command.kind {
        CommandKind::Dma(dma) => Queues::of_transfer(dma, terms.machine, terms.model),
        CommandKind::Indexed(transfer) => Queues::of_parts([&transfer.part], terms.machine, terms.model),
        CommandKind::Loop(_) => Queues::default(),
        CommandKind::Launch(_) => Queues::MAIN,
        CommandKind::Exec(exec) => Queues::of_context(exec.context),
    }
}

/// The most accesses in a row to a bank of data memory by a command in any iteration.
fn most_in_a_row(command: &Command, machine: &Machine) -> u64 {
    match &command.kind {
        CommandKind::Exec(exec) => walks::most_in_a_row(exec, machine),
        CommandKind::Dma(_) | CommandKind::Indexed(_) | CommandKind::Loop(_) | CommandKind::Launch(_) => 0,
    }
}

/// Returns true if a command is at other banks of data memory in other iterations of the loops around it.
fn moves_banks(command: &Command, machine: &Machine) -> bool {
    let around = machine.memory.dm_bank_width.saturating_mul(machine.memory.dm_banks);
    let CommandKind::Exec(exec) = &command.kind else { return false };
    let moves = |steps: &Steps| {
        let all = steps.each.iter().flat_map(|step| step.turns.iter().chain([&step.by]));
        all.copied().any(|by| by.rem_euclid(around.cast_signed()) != 0)
    };
    exec.stages.iter().filter(|stage| stage.bank_walk().is_some()).any(|stage| moves(&stage.steps))
}

/// After how many iterations of the loop at a depth the addresses of a command are as far from a multiple of `bytes`
/// again, apart from their turns.
fn aligned_again(command: &Command, depth: usize, bytes: u64) -> u64 {
    match &command.kind {
        CommandKind::Exec(exec) => {
            let steps = exec.stages.iter().filter(|stage| stage.bank_walk().is_some());
            let steps =
                steps.map(|stage| stage.steps.of(depth).rem_euclid(bytes.cast_signed()).cast_unsigned());
            steps.map(|step| bytes / gcd(step, bytes)).fold(1, lcm)
        }
        CommandKind::Dma(_) | CommandKind::Indexed(_) | CommandKind::Loop(_) | CommandKind::Launch(_) => 1,
    }
}

/// A run that something may still wait for.
#[derive(Clone)]
struct Live {
    command: usize,
    indices: Rc<[u64]>,
    run: Run,
    start: u64,
    end: u64,
}

impl Live {
    fn before(&self) -> Before<'_> {
        Before { command: self.command, run: &self.run, start: self.start, end: self.end }
    }
}

struct Steady<'p> {
    commands: Vec<&'p Command>,
    takes: Vec<Queues>,
    sides: Vec<Vec<Side>>,
    /// The most accesses in a row to a bank of data memory.
    in_a_row: Vec<u64>,
    /// True if a command may be at other banks in other iterations.
    moves_banks: Vec<bool>,
    machine: &'p Machine,
    /// True if a loop repeats only where its commands are at the same banks again.
    all_banks: bool,
    prices: Prices<'p>,
    /// The runs of each queue, in the order in which they end.
    queues: [VecDeque<Live>; Queues::COUNT],
    tallies: Tallies,
    /// Runs that were placed one by one.
    placed: u64,
}

/// State after an iteration: the runs that have not ended, by command, loops ago, cycles left and cycles in all.
type State = Vec<(usize, Vec<i64>, u64, u64)>;

/// An iteration that later ones are compared with.
struct Mark {
    state: State,
    index: u64,
    now: u64,
    counts: BTreeMap<usize, Counts>,
}

/// Iterations of a loop in which the same commands run, if branches depend on this loop and those around it only.
struct Stretch {
    iterations: Range<u64>,
    /// True if the commands are the same in all of them.
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
            takes: flat.iter().map(|(command, _)| queues(command, terms)).collect(),
            in_a_row: flat.iter().map(|(command, _)| most_in_a_row(command, terms.machine)).collect(),
            moves_banks: flat.iter().map(|(command, _)| moves_banks(command, terms.machine)).collect(),
            machine: terms.machine,
            all_banks: false,
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
                    let run = self.prices.run(command, number, &indices.as_slice().into())?;
                    self.place(&run, indices)?;
                }
            }
            number = next;
        }
        Ok(())
    }

    /// Places a run as [`crate::schedule::schedule`] does.
    fn place(&mut self, run: &Run, indices: &[u64]) -> Result<(), Diagnostic> {
        self.placed += 1;
        if self.placed > MAX_RUNS {
            return Err(too_many(self.placed));
        }
        let last = |queue: usize| self.queues[queue].iter().rev().map(Live::before);
        let Slot { start, end, stalls, waits } = place(run, last, self.machine.limits.dm_bank_starvation);
        let (command, work) = (run.command, &run.work);
        let bank_shares = run.walks.shares(work, self.moves_banks[command]);
        let (cycles, stalls) = (run.cycles.saturating_add(stalls), Stalls::of(Why::Hbm, stalls));
        self.tallies.add(PlacedRun { command, work, cycles, stalls, bank_shares, start, end, waits });
        let live = Live { command, indices: indices.into(), run: run.clone(), start, end };
        work.queues.numbers().for_each(|own| self.queues[own].push_back(live.clone()));
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
        // The mark for comparison is set again where twice as many iterations have passed (Brent).
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

    /// Number of iterations of a stretch after which a loop may repeat, to the extent that its commands determine it;
    /// `None` if it may not.
    fn period(&self, stretch: &Stretch, inside: Range<usize>, outer: &[u64]) -> Option<u64> {
        let depth = outer.len();
        let Range { start, end } = stretch.iterations;
        if end - start < 4 || !stretch.alike || !self.meet_alike(inside.clone(), depth) {
            return None;
        }
        // A queue that the loop leaves idle may run a later command at once: it would meet iterations of any age.
        let indices: Vec<u64> = outer.iter().copied().chain([start]).collect();
        let always = inside.clone().filter(|own| self.runs_always(*own, &indices));
        let used = always.map(|own| self.takes[own]).fold(Queues::default(), Queues::and);
        let later = if depth == 0 { inside.start } else { 0 };
        if !self.takes[later..].iter().all(|needed| needed.are_in(used)) {
            return None;
        }
        let banks = self.bank_period(inside.clone(), depth)?;
        let mut periods = self.commands[inside].iter().map(|command| self.prices.period(command, depth));
        periods.try_fold(banks, |all, own| Some(lcm(all, own?)))
    }

    /// Number of iterations of a loop after which the banks of data memory that its commands take are the same again,
    /// to the extent that it matters: they lie alike in the width of a bank, and where a run may wait for one, in all
    /// banks. `None` if the slices of those that may starve and be starved do not move alike.
    fn bank_period(&self, inside: Range<usize>, depth: usize) -> Option<u64> {
        let memory = &self.machine.memory;
        let again = |bytes: u64| {
            self.commands[inside.clone()].iter().map(|own| aligned_again(own, depth, bytes)).fold(1, lcm)
        };
        let starving = self.may_starve(inside.clone());
        if starving && !self.slices_move_alike(inside.clone(), depth) {
            return None;
        }
        let banks = if starving || self.all_banks { memory.dm_banks } else { 1 };
        Some(again(memory.dm_bank_width.saturating_mul(banks)))
    }

    /// Returns true if all slices that commands of a loop touch are as many further in each iteration.
    fn slices_move_alike(&self, inside: Range<usize>, depth: usize) -> bool {
        let mut apart = BTreeSet::new();
        for own in inside {
            match &self.commands[own].kind {
                CommandKind::Exec(exec) => {
                    apart.insert(Some(exec.steps.of(depth)));
                }
                CommandKind::Dma(_)
                | CommandKind::Indexed(_)
                | CommandKind::Loop(_)
                | CommandKind::Launch(_) => {
                    let sides = self.sides[own].iter().filter(|side| side.is_data_memory());
                    apart.extend(sides.map(|side| side.slices_apart(depth)));
                }
            }
        }
        !apart.contains(&None) && apart.len() <= 1
    }

    /// Returns true if runs of a loop may keep one of its transfers from a bank, in main and sub together.
    fn may_starve(&self, inside: Range<usize>) -> bool {
        let most = |queues: Queues| {
            let own = inside.clone().filter(|own| self.takes[*own].meet(queues));
            own.map(|own| self.in_a_row[own]).fold(0, u64::max)
        };
        let transfers = inside.clone().filter(|own| !self.takes[*own].meet(Queues::MAIN.and(Queues::SUB)));
        let mut transfers = transfers.flat_map(|own| &self.sides[own]);
        let all = most(Queues::MAIN).saturating_add(most(Queues::SUB));
        all >= self.machine.limits.dm_bank_starvation && transfers.any(Side::is_data_memory)
    }

    /// Returns true if a command runs in all iterations of the loops inside the ones whose indices are known.
    fn runs_always(&self, command: usize, indices: &[u64]) -> bool {
        self.commands[command]
            .when
            .iter()
            .map(|condition| condition.after(indices))
            .all(|rest| rest.factors.iter().all(|factor| *factor == 0) && rest.holds(&[]))
    }

    /// Returns true if any two commands of a loop move alike with it, or never meet.
    fn meet_alike(&self, inside: Range<usize>, depth: usize) -> bool {
        let sides: Vec<&Side> = self.sides[inside].iter().flatten().collect();
        let pairs =
            sides.iter().enumerate().flat_map(|(at, one)| sides[at..].iter().map(move |other| (one, other)));
        let mut pairs = pairs.filter(|(one, other)| one.may_meet(other));
        pairs.all(|(one, other)| one.moves_like(other, depth))
    }

    /// State after iteration `index - 1` of a loop; `None` if a command outside the loop has not ended. With it the
    /// first cycle in which a command can start.
    fn state(&mut self, inside: Range<usize>, outer: &[u64], index: u64) -> Option<(State, u64)> {
        let used = self.takes[inside.clone()].iter().copied().fold(Queues::default(), Queues::and);
        let last = |own: usize| self.queues[own].back().map_or(0, |live| live.end);
        let now = used.numbers().map(last).min()?;
        // A transfer may wait for one that has ended.
        let sync = self.machine.measured.as_ref().map_or(0, Measured::reload_cycles);
        let ended = |live: &Live| live.end.saturating_add(sync);
        let mut state = Vec::new();
        for queue in &mut self.queues {
            while queue.front().is_some_and(|live| ended(live) < now) && queue.len() > 1 {
                queue.pop_front();
            }
            for live in queue.iter().filter(|live| ended(live) >= now) {
                if !inside.contains(&live.command) {
                    return None;
                }
                let current = outer.iter().copied().chain([index]);
                let ago = live.indices.iter().zip(current.map(Some).chain(std::iter::repeat(None)));
                let ago = ago.map(|(own, current)| match current {
                    Some(current) => current.cast_signed() - own.cast_signed(),
                    // The loops inside begin again with each iteration.
                    None => own.cast_signed(),
                });
                state.push((live.command, ago.collect(), ended(live) - now, live.end - live.start));
            }
        }
        Some((state, now))
    }

    /// Adds the counts since a mark `times` more times.
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
            live.start = live.start.saturating_add(cycles);
            live.end = live.end.saturating_add(cycles);
            let command = self.commands[live.command];
            live.run.regions = self.prices.regions(command, live.command, &indices);
            live.run.walks = self.prices.walks(command, live.command, &indices);
            live.indices = indices.into();
        }
    }
}

/// Iterations of a loop that are counted at once.
struct Skipped {
    /// Number of repetitions of the counts since a mark.
    times: u64,
    /// The loops around the one that repeats.
    depth: usize,
    /// Its iterations in all.
    iterations: u64,
    /// The cycles that they take.
    cycles: u64,
}
