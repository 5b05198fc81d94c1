//! Plans for a loop: which commands may run ahead of the others, or after them, and in which order. All are tried, and
//! priced (`driver`).

use crate::commands::{Commands, name, quoted};
use crate::dependences::{Dependences, accesses};
use crate::places::Places;
use crate::rotate::{Body, Plan, Turning};
use crate::tasks::Tasks;
use std::collections::{BTreeSet, HashMap};
use visa_cost::Queues;
use visa_ir::context::Context;
use visa_ir::module::{Module, ValueId};
use visa_mapping::ops::control::carried;

/// The plans of a loop.
pub(crate) struct Plans {
    pub(crate) all: Vec<Plan>,
    /// Reasons why no command can leave its iteration, if none can.
    pub(crate) refused: Vec<String>,
}

/// The inputs of plans.
struct Loop<'a> {
    ctx: &'a Context,
    module: &'a Module,
    body: &'a Body,
    before: Vec<Vec<usize>>,
    tasks: &'a Tasks,
    /// The first command of those that stay in one stage, of each.
    together: Vec<usize>,
    /// The places because of which commands stay together.
    held: HashMap<usize, ValueId>,
}

/// The plans of a loop, the plainest first.
pub(crate) fn plans(ctx: &Context, module: &Module, body: &Body, places: &Places, tasks: &Tasks) -> Plans {
    let dependences = Dependences::of(ctx, module, &body.commands, places);
    let (together, held) = together(ctx, module, body, places);
    let own = Loop { ctx, module, body, before: dependences.numbers(), tasks, together, held };
    own.plans()
}

/// Commands that stay in one stage: those that touch carried values, values made outside, or values that several of
/// them write.
fn together(
    ctx: &Context,
    module: &Module,
    body: &Body,
    places: &Places,
) -> (Vec<usize>, HashMap<usize, ValueId>) {
    let mut touched: HashMap<ValueId, (Vec<usize>, usize)> = HashMap::new();
    let count = body.commands.all.len();
    for (number, command) in body.commands.all.iter().enumerate() {
        let own = accesses(ctx, module, &command.ops, places);
        for place in own.reads.union(&own.writes) {
            let entry = touched.entry(*place).or_default();
            entry.0.push(number);
            entry.1 += usize::from(own.writes.contains(place));
        }
    }
    let through: BTreeSet<ValueId> =
        carried(module.op(ctx, body.op)).iter().map(|own| places.at(own.initial)).collect();
    let made = made(ctx, module, &body.commands, places);
    let (mut first, mut held) = ((0..count).collect::<Vec<_>>(), HashMap::new());
    let mut all: Vec<_> = touched.iter().collect();
    all.sort_by_key(|(place, _)| **place);
    for (place, (commands, writers)) in all {
        let outside = !made.contains(place);
        if *writers == 0 || *writers == 1 && !outside && !through.contains(place) {
            continue;
        }
        for &number in commands {
            held.entry(number).or_insert(*place);
        }
        let joined: BTreeSet<usize> = commands.iter().map(|&number| first[number]).collect();
        let Some(&least) = joined.first() else { continue };
        first.iter_mut().filter(|own| joined.contains(own)).for_each(|own| *own = least);
    }
    (first, held)
}

/// The storage of the results of a block's commands.
fn made(ctx: &Context, module: &Module, commands: &Commands, places: &Places) -> BTreeSet<ValueId> {
    let ops = commands.all.iter().flat_map(|command| &command.ops).chain(&commands.free);
    ops.flat_map(|&id| module.op(ctx, id).results()).map(|&value| places.at(value)).collect()
}

impl Loop<'_> {
    fn count(&self) -> usize {
        self.body.commands.all.len()
    }

    fn is_transfer(&self, number: usize) -> bool {
        let uses = self.tasks.0[number].uses;
        uses != Queues::default()
            && !uses.meet(Queues::MAIN.and(Queues::SUB))
            && !self.body.commands.all[number].has_body(self.ctx, self.module)
    }

    /// The commands that stay with one.
    fn with(&self, number: usize) -> Vec<usize> {
        (0..self.count()).filter(|&other| self.together[other] == self.together[number]).collect()
    }

    /// Transfers that need no result of the iteration but those of other such transfers.
    fn loads(&self) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        loop {
            let may = |number: usize| {
                let own = self.with(number);
                own.iter().all(|&own| {
                    let before = &self.before[own];
                    let inside =
                        |other: &usize| found.contains(other) || self.together[*other] == self.together[own];
                    self.is_transfer(own) && before.iter().all(inside)
                })
            };
            let more: Vec<usize> =
                (0..self.count()).filter(|&number| !found.contains(&number) && may(number)).collect();
            if more.is_empty() {
                return found;
            }
            found.extend(more);
        }
    }

    /// Transfers whose results the iteration does not need.
    fn stores(&self) -> BTreeSet<usize> {
        let needed: BTreeSet<usize> = (0..self.count())
            .flat_map(|number| self.before[number].iter().map(move |&before| (number, before)))
            .filter(|&(number, before)| self.together[number] != self.together[before])
            .map(|(_, before)| self.together[before])
            .collect();
        let is_last = |&number: &usize| {
            !needed.contains(&self.together[number])
                && self.with(number).iter().all(|&own| self.is_transfer(own))
        };
        (0..self.count()).filter(is_last).collect()
    }

    fn plans(&self) -> Plans {
        let (loads, stores) = (self.loads(), self.stores());
        let stores: BTreeSet<usize> = stores.difference(&loads).copied().collect();
        let all = 0..self.count();
        let stage = |first: &BTreeSet<usize>, last: &BTreeSet<usize>| -> Vec<usize> {
            let middle = usize::from(!first.is_empty());
            all.clone()
                .map(|number| match (first.contains(&number), last.contains(&number)) {
                    (true, _) => 0,
                    (false, true) => middle + 1,
                    (false, false) => middle,
                })
                .collect()
        };
        let none = BTreeSet::new();
        let mut cuts = vec![stage(&none, &none)];
        // Where all run ahead, none does.
        let loads = if loads.len() == self.count() { BTreeSet::new() } else { loads };
        if !loads.is_empty() {
            cuts.push(stage(&loads, &none));
        }
        if !stores.is_empty() {
            cuts.push(stage(&none, &stores));
        }
        if !loads.is_empty() && !stores.is_empty() {
            cuts.push(stage(&loads, &stores));
        }
        if loads.len() > 1 {
            let each = loads.iter().map(|&load| self.with(load).into_iter().collect::<BTreeSet<_>>());
            let closed = each.filter(|own| {
                own.iter().all(|&own_number| self.before[own_number].iter().all(|other| own.contains(other)))
            });
            cuts.extend(closed.take(MAX_SINGLE).map(|load| stage(&load, &none)));
        }
        let refused = if cuts.len() == 1 { self.refused() } else { Vec::new() };
        let mut plans = Vec::new();
        for stages in cuts {
            let depth = stages.iter().max().map_or(1, |most| most + 1);
            if depth as u64 > self.body.times {
                continue;
            }
            for order in self.orders(&stages) {
                let turns =
                    [(Turning::Crossing, 2), (Turning::All, 2), (Turning::All, 3), (Turning::Crossing, 1)];
                for (turning, turns) in turns {
                    // One iteration at a time with one buffer is the present state.
                    if depth > 1 || turning == Turning::All {
                        plans.push(Plan { stages: stages.clone(), order: order.clone(), turns, turning });
                    }
                }
            }
        }
        Plans { all: plans, refused }
    }

    /// Orders of the new body: the commands that run ahead are first, last, or after a loop.
    fn orders(&self, stages: &[usize]) -> Vec<Vec<usize>> {
        let (early, rest): (Vec<usize>, Vec<usize>) = (0..self.count())
            .partition(|&number| stages[number] == 0 && stages.iter().any(|stage| *stage > 0));
        let loops = rest.iter().enumerate();
        let behind =
            loops.filter(|(_, number)| self.body.commands.all[**number].has_body(self.ctx, self.module));
        let mut places: BTreeSet<usize> = behind.map(|(at, _)| at + 1).collect();
        places.extend([0, rest.len()]);
        let mut orders: Vec<Vec<usize>> = Vec::new();
        // Of three stages, the last one may run before the middle one.
        let (late, middle): (Vec<usize>, Vec<usize>) = rest.iter().partition(|number| stages[**number] > 1);
        for at in places {
            let (before, behind) = rest.split_at(at);
            orders.push([before, &early, behind].concat());
        }
        if !late.is_empty() && !middle.is_empty() {
            orders.push([&early[..], &late, &middle].concat());
        }
        orders.sort();
        orders.dedup();
        orders
    }

    /// Reasons why every transfer stays in its iteration.
    fn refused(&self) -> Vec<String> {
        let transfers = (0..self.count()).filter(|&number| self.is_transfer(number));
        let because = |number: usize| {
            let command = |number: usize| name(self.ctx, self.module, &self.body.commands.all[number]);
            let own = command(number);
            let needed =
                self.before[number].iter().find(|&&other| self.together[other] != self.together[number]);
            match (self.held.get(&number), needed) {
                (Some(&place), _) => {
                    let place = quoted(self.module, place);
                    format!("{own} stays in its iteration: iterations pass on the value at {place}")
                }
                (None, Some(&other)) => {
                    format!("{own} stays in its iteration: it needs the result of {} there", command(other))
                }
                (None, None) => format!("{own} stays in its iteration: others there need its result"),
            }
        };
        let found: Vec<String> = transfers.take(MAX_NAMED).map(because).collect();
        match found.is_empty() {
            true => vec!["there is no transfer that could run ahead, or after the others".to_owned()],
            false => found,
        }
    }
}

/// Most transfers whose reasons are listed.
const MAX_NAMED: usize = 4;

/// Most loads that are tried alone.
const MAX_SINGLE: usize = 3;
