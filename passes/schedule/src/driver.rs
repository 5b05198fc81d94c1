//! Schedules a function: the order of each block, and each loop, the inner ones first. Each candidate is allocated,
//! lowered and estimated as a whole; the one with fewer cycles stays.

use crate::commands::{Command, Commands};
use crate::dependences::{Dependences, Why};
use crate::emit::reorder;
use crate::exact::{self, Unfound};
use crate::explain::{Decision, moved, pipelined};
use crate::hidden::{Hidden, WithHidden};
use crate::places::Places;
use crate::price::{Time, report, times};
use crate::registers;
use crate::rotate::{Body, Plan, Turning, may_turn, rotate, turn};
use crate::stages::{Plans, plans};
use crate::tables::TableTimes;
use crate::tasks::{Task, Tasks};
use crate::{improve, list};
use std::collections::HashMap;
use std::convert::Infallible;
use std::rc::Rc;
use visa_algebra::Axes;
use visa_allocate::NO_ROOM;
use visa_cost::{Queues, Report};
use visa_ir::context::Context;
use visa_ir::diag::Diagnostic;
use visa_ir::module::{BlockId, Module, OpId};
use visa_ir::span::Span;
use visa_machine::{Machine, Measured};
use visa_mapping::facts::address::THEN;
use visa_mapping::ops::control;
use visa_mapping::ops::control::{FOR, For};

/// Limits of the search.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    /// Operations of candidates that are lowered and priced, all together.
    pub(crate) operations: u64,
    /// Conflicts of the solver, for a block.
    pub(crate) conflicts: u64,
    /// True if loops are pipelined.
    pub(crate) pipeline: bool,
}

/// Result of scheduling a function.
pub(crate) struct Scheduled {
    pub(crate) module: Module,
    /// Cycles before.
    pub(crate) before: u64,
    /// The price now.
    pub(crate) report: Report,
    /// The decisions, in order.
    pub(crate) said: Vec<Decision>,
    /// Candidates that were priced.
    pub(crate) priced: u64,
    /// Conflicts of the solver.
    pub(crate) conflicts: u64,
    /// True if the effort ran out.
    pub(crate) exhausted: bool,
}

/// Schedules a function of a module.
///
/// # Errors
/// Why it cannot be allocated, lowered or priced as it is.
pub(crate) fn function(
    ctx: &Context,
    module: &Module,
    func: OpId,
    axes: &Axes,
    effort: Effort,
) -> Result<Scheduled, Diagnostic> {
    let first = report(ctx, module, func)?;
    let times = times(&first);
    let tables = TableTimes::of(&first, &times).map(Rc::new);
    let scheduled = Scheduled {
        module: module.clone(),
        before: first.totals.cycles,
        report: first,
        said: Vec::new(),
        priced: 1,
        conflicts: 0,
        exhausted: false,
    };
    let mut driver = Driver { ctx, func, axes, effort, times, tables, scheduled };
    for block in module.op(ctx, func).regions().to_vec() {
        driver.block(block)?;
    }
    Ok(driver.scheduled)
}

/// An order of a block's commands.
struct Best {
    order: Vec<usize>,
    /// Cycles of the block by itself.
    cycles: u64,
    /// Lower bound of its cycles.
    bound: u64,
    /// True if no order takes less.
    proven: bool,
    /// Conflicts of the solver.
    conflicts: u64,
}

impl Best {
    fn of(tasks: &Tasks, order: Vec<usize>, bound: u64) -> Self {
        let cycles = tasks.placed(&order).1;
        Self { order, cycles, bound, proven: cycles <= bound, conflicts: 0 }
    }

    /// The best order of commands: that of the program, of the list, of the search from both, or of the solver, with
    /// at most `conflicts` conflicts if there are few commands.
    fn search(tasks: &Tasks, conflicts: u64) -> Self {
        let (written, listed) = ((0..tasks.0.len()).collect::<Vec<_>>(), list::order(tasks));
        let mut best = Self::of(tasks, written.clone(), tasks.bound());
        best.or(tasks, listed.clone());
        for start in [written, listed] {
            if !best.proven {
                best.or(tasks, improve::order(tasks, start));
            }
        }
        if best.proven || tasks.0.len() > exact::MAX_COMMANDS {
            return best;
        }
        match exact::sooner(tasks, best.cycles, exact::permitted(tasks.0.len(), conflicts)) {
            Ok(found) => {
                best.conflicts = found.conflicts;
                best.cycles = tasks.placed(&found.order).1;
                (best.order, best.proven) = (found.order, found.proven);
            }
            Err(Unfound::Proven(conflicts)) => (best.conflicts, best.proven) = (conflicts, true),
            Err(Unfound::Undecided(conflicts)) => best.conflicts = conflicts,
            Err(Unfound::TooLong) => {}
        }
        best
    }

    /// Another order, if it takes less.
    fn or(&mut self, tasks: &Tasks, order: Vec<usize>) {
        let other = Self::of(tasks, order, self.bound);
        if other.cycles < self.cycles {
            *self = other;
        }
    }
}

/// The result of offering the plans of a loop.
#[derive(Default)]
struct Offered<'p> {
    /// The plan that takes the fewest cycles, if one takes fewer than before.
    taken: Option<&'p Plan>,
    refused: Option<Diagnostic>,
}

struct Driver<'a> {
    ctx: &'a Context,
    func: OpId,
    axes: &'a Axes,
    effort: Effort,
    times: HashMap<Span, Time>,
    /// The times with the loads of tables; `None` if there are none.
    tables: Option<Rc<TableTimes>>,
    scheduled: Scheduled,
}

impl Driver<'_> {
    /// Schedules the content of a block, and then the block.
    fn block(&mut self, block: BlockId) -> Result<(), Diagnostic> {
        let commands = Commands::of(self.ctx, &self.scheduled.module, block);
        for command in &commands.all {
            let last = command.last();
            for inner in self.scheduled.module.op(self.ctx, last).regions().to_vec() {
                self.block(inner)?;
            }
            if self.scheduled.module.op(self.ctx, last).is(&FOR) && self.effort.pipeline {
                self.pipeline(last)?;
            }
        }
        self.order(block)
    }

    fn places(&self) -> Result<Places, Diagnostic> {
        Places::of(self.scheduled.module.op(self.ctx, self.func), self.axes)
    }

    /// Takes a candidate if it takes fewer cycles.
    fn offer(&mut self, module: Module) -> Result<bool, Diagnostic> {
        let count = module.op(self.ctx, self.func).regions().iter().map(|&block| module.walk(block).len());
        let count = count.sum::<usize>() as u64;
        if count > self.effort.operations {
            self.scheduled.exhausted = true;
            return Ok(false);
        }
        self.effort.operations -= count;
        self.scheduled.priced += 1;
        let report = report(self.ctx, &module, self.func)?;
        if report.totals.cycles >= self.scheduled.report.totals.cycles {
            return Ok(false);
        }
        (self.scheduled.module, self.scheduled.report) = (module, report);
        Ok(true)
    }

    /// Puts the commands of a block in a better order, first without regard to register files. An order that needs
    /// more of them than there is gives way to one that keeps the tensors where they are.
    fn order(&mut self, block: BlockId) -> Result<(), Diagnostic> {
        let places = self.places()?;
        if self.order_by(block, &places)? {
            return Ok(());
        }
        let Some(pinned) = registers::pinned(self.ctx, &self.scheduled.module, self.func) else {
            return Ok(());
        };
        let pinned = Places::of(pinned.op(self.ctx, self.func), self.axes)?;
        self.order_by(block, &pinned).map(|_| ())
    }

    /// The same for values in these places. Returns false if the order cannot be allocated.
    fn order_by(&mut self, block: BlockId, places: &Places) -> Result<bool, Diagnostic> {
        let module = &self.scheduled.module;
        let commands = Commands::of(self.ctx, module, block);
        let dependences = Dependences::of(self.ctx, module, &commands, places);
        let (tables, times) = (self.tables.clone(), &self.times);
        let times = tables.as_ref().map_or(times, |tables| &tables.commands);
        let work = CommandTimes { ctx: self.ctx, module, times, axes: self.axes };
        let tasks = work.tasks(&commands, dependences.numbers())?;
        let (best, order) = self.best_with_hidden(&tasks, &commands, &dependences);
        self.scheduled.conflicts += best.conflicts;
        if order.is_sorted() {
            return Ok(true);
        }
        let mut candidate = self.scheduled.module.clone();
        reorder(self.ctx, &mut candidate, block, &commands, &order);
        let before = self.scheduled.report.totals.cycles;
        let offered = self.offer(candidate);
        if matches!(offered, Ok(true)) {
            let cycles = [before, self.scheduled.report.totals.cycles];
            let module = &self.scheduled.module;
            let said = moved(self.ctx, module, &commands, &order, &dependences);
            self.scheduled.said.push(said.cycles(cycles).bound(best.cycles, best.bound, best.proven));
        }
        Ok(offered.is_ok())
    }

    /// The best order of commands with the hidden tasks, and the order of the commands in it.
    fn best_with_hidden(
        &self,
        tasks: &Tasks,
        commands: &Commands,
        dependences: &Dependences,
    ) -> (Rc<Best>, Vec<usize>) {
        let with = WithHidden::of(tasks, &self.hidden(tasks, commands, dependences));
        let best = self.best(with.tasks.clone());
        let order = with.order(&best.order);
        (best, order)
    }

    /// The hidden tasks of each command.
    fn hidden(&self, tasks: &Tasks, commands: &Commands, dependences: &Dependences) -> Vec<Hidden> {
        let (ctx, module) = (self.ctx, &self.scheduled.module);
        let wait = ctx.data::<Machine>().measured.as_ref().map_or(0, Measured::reload_ticks);
        let clusters =
            |one: usize, other: usize| tasks.0[one].uses.and(tasks.0[other].uses).numbers().count();
        let is_transfer =
            |number: usize| tasks.0[number].uses.are_dma() && !commands.all[number].has_body(ctx, module);
        let stores = |number: usize| is_transfer(number) && commands.all[number].writes_hbm(ctx, module);
        let reload = |store: usize, number: usize| {
            stores(store) && is_transfer(number) && !stores(number) && clusters(store, number) > 1
        };
        let of = |(number, command): (usize, &Command)| {
            let span = module.op(ctx, command.last()).span();
            let table = self.tables.as_ref().and_then(|tables| tables.transfer(span));
            let needed = dependences.before[number].iter().filter(|(_, why)| *why == Why::Needs);
            let reloads = needed.filter(|(store, _)| wait > 0 && reload(*store, number));
            Hidden {
                table: table.map(|time| (time.cycles, time.queues)),
                reloads: reloads.map(|(store, _)| (*store, wait)).collect(),
            }
        };
        commands.all.iter().enumerate().map(of).collect()
    }

    /// The best order of commands. A search of kernels orders commands of equal costs many times.
    fn best(&self, tasks: Tasks) -> Rc<Best> {
        let conflicts = self.effort.conflicts;
        let search = || Ok::<_, Infallible>(Best::search(&tasks, conflicts));
        let Ok(best) = self.ctx.once((tasks.clone(), conflicts), search);
        best
    }

    /// Offers plans that differ by their buffers alone: two of each first.
    fn offer_alike<'p>(
        &mut self,
        first: &Module,
        body: &Body,
        alike: &'p [Plan],
        Offered { taken, refused }: &mut Offered<'p>,
    ) {
        let mut fits = false;
        // One buffer saves room, not cycles.
        for plan in alike {
            if fits && plan.turns == 1 {
                return;
            }
            let candidate = match as_planned(self.ctx, first, body, plan) {
                Ok(Some(candidate)) => candidate,
                Ok(None) => continue,
                Err(why) => {
                    refused.get_or_insert(why);
                    continue;
                }
            };
            match self.offer(candidate) {
                Ok(true) => (*taken, fits) = (Some(plan), true),
                // Where two buffers do not help, more do not either.
                Ok(false) if !fits => return,
                Ok(false) => {}
                // A refusal for lack of room is the most informative one.
                Err(why) => {
                    let informs = |known: &Diagnostic| known.code == NO_ROOM || why.code != NO_ROOM;
                    if !refused.as_ref().is_some_and(informs) {
                        *refused = Some(why);
                    }
                }
            }
        }
    }

    /// Lets the iterations of a loop overlap, if that pays.
    fn pipeline(&mut self, op: OpId) -> Result<(), Diagnostic> {
        let module = &self.scheduled.module;
        let Some(body) = body(self.ctx, module, op, self.axes)? else { return Ok(()) };
        let plans = plans_of(self.ctx, module, &body, &self.places()?, (&self.times, self.axes))?;
        let (first, before) = (module.clone(), self.scheduled.report.totals.cycles);
        let mut offered = Offered::default();
        for alike in plans.all.chunk_by(Plan::is_alike) {
            self.offer_alike(&first, &body, alike, &mut offered);
        }
        let Offered { taken, refused } = offered;
        let refused = refused.filter(|why| taken.is_none() || why.code == NO_ROOM);
        let cycles = [before, self.scheduled.report.totals.cycles];
        let said = pipelined(self.ctx, &first, &body, taken, plans.refused, refused);
        self.scheduled.said.push(said.cycles(cycles));
        Ok(())
    }
}

/// The body of a loop; `None` if it is no loop of several iterations with a command that takes time.
///
/// # Errors
/// A size that is not known.
pub(crate) fn body(
    ctx: &Context,
    module: &Module,
    op: OpId,
    axes: &Axes,
) -> Result<Option<Body>, Diagnostic> {
    let Some(own) = For::cast(module.op(ctx, op)) else { return Ok(None) };
    let times = control::times(own, axes)?;
    let Some(&block) = own.regions().first() else { return Ok(None) };
    let commands = Commands::of(ctx, module, block);
    // Where buffers rotate already, an iteration has its place.
    let turns =
        |command: &Command| command.ops.iter().any(|&id| module.op(ctx, id).attr(THEN.name).is_some());
    if commands.all.iter().any(turns) {
        return Ok(None);
    }
    Ok((times > 1 && !commands.all.is_empty()).then_some(Body { op, block, commands, times }))
}

/// The plans of a loop.
///
/// # Errors
/// A size that is not known.
pub(crate) fn plans_of(
    ctx: &Context,
    module: &Module,
    body: &Body,
    places: &Places,
    (times, axes): (&HashMap<Span, Time>, &Axes),
) -> Result<Plans, Diagnostic> {
    let tasks = CommandTimes { ctx, module, times, axes }.alone(&body.commands)?;
    Ok(plans(ctx, module, body, places, &tasks))
}

/// A module in which a loop follows the plan; `None` if the plan changes nothing.
///
/// # Errors
/// Why the plan cannot be.
pub(crate) fn as_planned(
    ctx: &Context,
    module: &Module,
    body: &Body,
    plan: &Plan,
) -> Result<Option<Module>, Diagnostic> {
    let mut candidate = module.clone();
    if plan.depth() > 1 {
        rotate(ctx, &mut candidate, body, plan)?;
        return Ok(Some(candidate));
    }
    let ops = body.commands.all.iter().flat_map(|command| &command.ops);
    let turning: Vec<OpId> = ops.copied().filter(|&id| may_turn(module.op(ctx, id))).collect();
    if plan.turning != Turning::All || turning.is_empty() {
        return Ok(None);
    }
    turning.into_iter().for_each(|id| turn(ctx, &mut candidate, id, plan.turns));
    Ok(Some(candidate))
}

/// Cycles of each command of a function by itself, by position in the source.
///
/// # Errors
/// Why it cannot be allocated, lowered or priced.
pub(crate) fn times_of(
    ctx: &Context,
    module: &Module,
    func: OpId,
) -> Result<HashMap<Span, Time>, Diagnostic> {
    report(ctx, module, func).map(|report| times(&report))
}

/// Cycles of commands.
pub(crate) struct CommandTimes<'a> {
    pub(crate) ctx: &'a Context,
    pub(crate) module: &'a Module,
    pub(crate) times: &'a HashMap<Span, Time>,
    pub(crate) axes: &'a Axes,
}

impl CommandTimes<'_> {
    /// The commands of a block as tasks, each after some of the others.
    pub(crate) fn tasks(&self, commands: &Commands, after: Vec<Vec<usize>>) -> Result<Tasks, Diagnostic> {
        let task = |(command, after): (&Command, Vec<usize>)| {
            self.of(command).map(|(cycles, uses)| Task { cycles, uses, after })
        };
        commands.all.iter().zip(after).map(task).collect::<Result<_, _>>().map(Tasks)
    }

    /// The same without dependences.
    fn alone(&self, commands: &Commands) -> Result<Tasks, Diagnostic> {
        self.tasks(commands, vec![Vec::new(); commands.all.len()])
    }

    /// Cycles of a command; of a loop, its busiest queue in all iterations.
    fn of(&self, command: &Command) -> Result<(u64, Queues), Diagnostic> {
        let op = self.module.op(self.ctx, command.last());
        if op.regions().is_empty() {
            return Ok(match self.times.get(&op.span()) {
                Some(time) => (time.cycles, time.queues),
                None => (0, Queues::default()),
            });
        }
        let times = For::cast(op).map_or(Ok(1), |op| control::times(op, self.axes))?;
        let (mut busy, mut uses) = ([0_u64; Queues::COUNT], Queues::default());
        for &block in op.regions() {
            for task in self.alone(&Commands::of(self.ctx, self.module, block))?.0 {
                uses = uses.and(task.uses);
                for queue in task.uses.numbers() {
                    busy[queue] = busy[queue].saturating_add(task.cycles);
                }
            }
        }
        Ok((busy.into_iter().fold(0, u64::max).saturating_mul(times), uses))
    }
}
