//! Chooses the plan of a step: all plans are ranked by counts, the best are lowered, and the report decides.

use crate::array::Array;
use crate::contraction::emit::{Planned, Values};
use crate::contraction::guess::guess;
use crate::contraction::layout::Layout;
use crate::contraction::parts::Parts;
use crate::contraction::space::{SMALL_BYTES, Space, Visited};
use crate::contraction::{Choice, Contraction, Gather, Mode};
use crate::effort::{Effort, Ending};
use crate::flow::{Given, Ways, Written};
use crate::memory::Transfers;
use crate::placed::{Place, honours};
use crate::program::{Step, Work};
use crate::region::planned::PlannedRegion;
use crate::region::{Region, RegionChoice, guess as region_guess};
use crate::writer::{Writer, new};
use rayon::prelude::*;
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use visa_algebra::Axes;
use visa_cost::{Bound, Components, MemoryModel, Report};
use visa_engine::words::TensorMemory;
use visa_ir::context::Context;
use visa_ir::diag::{Diagnostic, Severity};
use visa_ir::module::{Module, ValueId};
use visa_ir::verify::verify;
use visa_machine::Machine;
use visa_mapping::ops::empty::Empty;
use visa_mapping::ops::func::Return;
use visa_mapping::{Dim, Tensor};
use visa_pass::{Options, PassCx};
use visa_select::price::{allocated, first, report};

/// Plans that are lowered.
const MOST_LOWERED: usize = 8;
/// Plans of regions that are lowered: their ranks are close to each other.
const REGIONS_LOWERED: usize = 2 * MOST_LOWERED;
/// Operations of regions that are lowered: long regions have fewer candidates.
const MOST_OPERATIONS: usize = 4096;
/// Operations of regions that are ranked: of long regions, evenly spaced candidates are.
const MOST_RANKED_OPERATIONS: usize = 1 << 18;
/// Plans that are lowered, however much their rank is above the best plan so far.
const LEAST_LOWERED: usize = 3;
/// The same limits for contractions of at most [`SMALL_BYTES`].
const SMALL_LOWERED: (usize, usize) = (24, 64);
/// Ranks of overlapping iterations are up to a twentieth too high: beyond, no plan is better than the best so far.
const RANK_MARGIN: u64 = 20;
/// Plans that are lowered or refused by an engine. As many are ranked after the time has ended.
const MOST_TRIED: usize = 48;
/// Refused plans after which the other plans of their family are left out.
const MOST_REFUSED: usize = 12;
/// Rankings of plans, each without the families that engines refused before.
const MOST_ROUNDS: usize = 16;
/// Plans that are ranked by the prices of their transfers: two orders of slices of each of some hundred distributions.
const MOST_RANKED: usize = 800;

/// The environment of a search.
pub struct Search<'a> {
    /// The context.
    pub ctx: &'a Context,
    /// The declarations of axes.
    pub declarations: &'a Module,
    /// The axes.
    pub axes: &'a Axes,
    /// The machine.
    pub machine: &'a Machine,
    /// The model of memories.
    pub model: MemoryModel,
    /// The limits of the search.
    pub effort: &'a Effort,
    /// The prices of transfers, which all steps share.
    pub prices: &'a Transfers<'a>,
}

/// A plan of a step.
#[derive(Clone)]
pub enum Plan {
    /// Of a contraction.
    Contraction(Box<(Choice, Layout)>),
    /// Of a region.
    Region(RegionChoice),
    /// Of a step that has one plan.
    Single,
}

/// A plan with its cost.
#[derive(Clone)]
pub struct Candidate {
    /// The plan.
    pub plan: Plan,
    /// The ways of its inputs and results.
    pub ways: Ways,
    /// Cycles by counts and the prices of transfers.
    pub ranked: u64,
    /// Cycles of the report.
    pub cycles: u64,
    /// The bound of the report, which shares no code with the search.
    pub bound: Bound,
    /// The cycles by the work of the commands.
    pub components: Components,
    /// The resource that binds, in words.
    pub binding: Option<String>,
}

/// The result of a search.
pub struct Outcome {
    /// The lowered plans, the best first.
    pub lowered: Vec<Candidate>,
    /// The extent of the search.
    pub counted: Counted,
    /// The reason why it ended.
    pub ending: Ending,
    /// The error of the first plan that an engine refused, if there is one.
    pub refused: Option<Diagnostic>,
}

/// Plans of a contraction that cut its sum alike. An engine that refuses the mappings of one often refuses all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Family {
    stationary: usize,
    mode: Mode,
    /// Parts of the sum.
    sum: u64,
    /// True if the parts are padded.
    padded: bool,
    /// True if slices order their results.
    ordered: bool,
    /// True if slices of a ring load different positions of the stream or of the batch.
    shared: bool,
    /// True if a loop divides the stream.
    tiled: bool,
}

impl Family {
    fn of(choice: &Choice) -> Self {
        Self {
            stationary: choice.stationary,
            mode: choice.mode,
            sum: choice.sum * choice.share_sum,
            padded: choice.padded,
            ordered: choice.gather == Gather::Own,
            shared: choice.share > choice.share_sum,
            tiled: choice.stream_tiles > 1,
        }
    }
}

/// The plans that engines refused.
#[derive(Default)]
struct Refusals {
    families: HashMap<Family, usize>,
    /// The first error.
    first: Option<Diagnostic>,
}

impl Refusals {
    fn add(&mut self, family: Option<Family>, why: Diagnostic) {
        if let Some(family) = family {
            *self.families.entry(family).or_default() += 1;
        }
        self.first.get_or_insert(why);
    }

    /// Returns true if plans of a family are left out.
    fn covers(&self, family: Family) -> bool {
        self.families.get(&family).is_some_and(|refused| *refused >= MOST_REFUSED)
    }
}

/// Plans with their cycles by counts, the best first, and the extent of the search.
type Ranked = (Vec<(u64, Plan)>, Counted);

/// The extent of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counted {
    /// Plans that were ranked.
    pub explored: u64,
    /// Distributions without a plan of interest, by the bound of their multiplications and start-ups.
    pub pruned: u64,
    /// True if ranked plans were left out, because their number is limited.
    pub limited: bool,
}

impl Plan {
    /// The family of a plan of a contraction.
    fn family(&self) -> Option<Family> {
        match self {
            Self::Contraction(plan) => Some(Family::of(&plan.0)),
            Self::Region(_) | Self::Single => None,
        }
    }

    /// True if loops repeat the pipelines, so that iterations can overlap.
    #[must_use]
    pub fn has_loops(&self) -> bool {
        match self {
            Self::Contraction(plan) => plan.1.rows.tiles() * plan.1.stream.tiles() > 1,
            Self::Region(choice) => choice.tiles > 1,
            Self::Single => false,
        }
    }
}

impl Search<'_> {
    /// The best plans of a step that reads `inputs`. Where engines refuse all plans that were lowered, plans of other
    /// families are ranked.
    #[must_use]
    pub fn run(&self, step: &Step, inputs: &[&Array]) -> Outcome {
        let (work, places) = (&step.work, &step.places[..]);
        let mut refusals = Refusals::default();
        let mut explored = Counted { explored: 0, pruned: 0, limited: false };
        let (mut lowered, mut ending) = (Vec::new(), Ending::Complete);
        for _ in 0..MOST_ROUNDS {
            let (ranked, counted) = match work {
                Work::Contraction(problem) => self.contractions(problem, places, &refusals),
                Work::Region(region) => self.regions(region, places),
                Work::Single(_) => {
                    (vec![(0, Plan::Single)], Counted { explored: 1, pruned: 0, limited: false })
                }
            };
            explored.explored += counted.explored;
            explored.pruned += counted.pruned;
            explored.limited |= counted.limited;
            let before = refusals.families.len();
            (lowered, ending) = self.lower(work, inputs, ranked, &mut refusals, counted.limited);
            if !lowered.is_empty() || refusals.families.len() == before {
                break;
            }
        }
        lowered.sort_by_key(|candidate| candidate.cycles);
        if self.effort.is_over() {
            ending = Ending::Time;
        }
        Outcome { lowered, counted: explored, ending, refused: refusals.first }
    }

    /// Lowers the best plans of those that are ranked; `limited` if others are not. Returns the reason why it ended.
    fn lower(
        &self,
        work: &Work,
        inputs: &[&Array],
        ranked: Vec<(u64, Plan)>,
        refusals: &mut Refusals,
        limited: bool,
    ) -> (Vec<Candidate>, Ending) {
        let (mut lowered, mut tried, (least, most)) = (Vec::new(), 0, limits(work));
        let mut ending = if limited { Ending::Nodes } else { Ending::Complete };
        let every = self.effort.is_every();
        let step = self.effort.sample().map_or(1, |count| ranked.len().div_ceil(count).max(1));
        for (ranked, plan) in ranked.into_iter().step_by(step) {
            let best = lowered.iter().map(|known: &Candidate| known.cycles).min();
            let worse = best.is_some_and(|best| ranked > best + best / RANK_MARGIN);
            if !every && worse && lowered.len() >= least {
                ending = Ending::Complete;
                break;
            }
            if !every && (tried == MOST_TRIED.max(most) || lowered.len() == most) {
                ending = Ending::Nodes;
                break;
            }
            if !lowered.is_empty() && self.effort.look() {
                break;
            }
            if !every && plan.family().is_some_and(|family| refusals.covers(family)) {
                continue;
            }
            tried += 1;
            let family = plan.family();
            let ways = Ways::stored(inputs.len(), work.results());
            match self.candidate(work, inputs, (plan, ways), ranked) {
                Ok(candidate) => lowered.push(candidate),
                Err(why) => refusals.add(family, why),
            }
        }
        (lowered, ending)
    }

    /// A plan with its report.
    ///
    /// # Errors
    /// A plan that an engine refuses.
    pub fn candidate(
        &self,
        work: &Work,
        inputs: &[&Array],
        (plan, ways): (Plan, Ways),
        ranked: u64,
    ) -> Result<Candidate, Diagnostic> {
        let report = self.report(work, inputs, &plan, &ways)?;
        let (components, binding) = (Components::of(&report), report.binding());
        let (cycles, bound) = (report.totals.cycles, report.bound);
        Ok(Candidate { plan, ways, ranked, cycles, bound, components, binding })
    }

    /// The plans of a contraction.
    fn contractions(
        &self,
        problem: &Contraction,
        places: &[Option<Arc<Place>>],
        refusals: &Refusals,
    ) -> Ranked {
        let prices = self.prices;
        let (mut all, mut explored, mut limit, mut limited) = (Vec::new(), 0, u64::MAX, false);
        let (axes, machine, model, visited) = (self.axes, self.machine, self.model, Visited::All);
        let space = Space { problem, axes, machine, model, vocabulary: prices.vocabulary, visited };
        let every = self.effort.is_every();
        let count = |choice: Choice, layout: Layout, limit: u64| {
            let planned = Planned { problem, choice: &choice, layout: &layout, axes, machine };
            if !honours(places, axes, &|number| planned.input(number)) {
                return None;
            }
            let parts = guess(problem, &choice, &layout, machine, (model, limit))?;
            let total = parts.total(&layout);
            // Without a limit, all plans are of interest.
            (total < limit && planned.is_mapped()).then(|| (total, Box::new((choice, layout, parts))))
        };
        let pruned = space.each(&count, &mut |plan| {
            explored += 1;
            all.extend(plan.filter(|(_, plan)| !refusals.covers(Family::of(&plan.0))));
            if !every && all.len() == 2 * MOST_RANKED {
                limited |= select(&mut all, |(total, _)| *total);
                limit = all.last().map_or(u64::MAX, |(total, _)| *total);
            }
            let ends = self.effort.ends() && all.len() >= MOST_TRIED;
            if ends { ControlFlow::Break(()) } else { ControlFlow::Continue(limit) }
        });
        limited |= !every && select(&mut all, |(total, _)| *total);
        let mut priced: Vec<(u64, Plan)> = Vec::new();
        let ways = Ways::stored(problem.operands.len() + problem.epilogue.operands.len(), 1);
        let price = |(_, plan): &(u64, Box<(Choice, Layout, Parts)>)| {
            let (choice, layout, parts) = &**plan;
            let (total, choice) = in_queues(problem, *choice, layout, (*parts, &ways), prices)?;
            Some((total, Plan::Contraction(Box::new((choice, layout.clone())))))
        };
        for some in all.chunks(MOST_TRIED) {
            if priced.len() >= MOST_TRIED && self.effort.look() {
                break;
            }
            priced.par_extend(some.par_iter().filter_map(price));
        }
        priced.sort_by_key(|(total, _)| *total);
        (priced, Counted { explored, pruned, limited })
    }

    /// Cycles of a plan of a region by the prices of its transfers, and the plan: its transfers are in the queues of
    /// two clusters, and its slices apart, if that is faster. `None` if its inputs have no written place then.
    #[must_use]
    pub fn region_in_queues(
        &self,
        (region, places): (&Region, &[Option<Arc<Place>>]),
        choice: RegionChoice,
        ways: &Ways,
        prices: &Transfers<'_>,
    ) -> Option<(u64, RegionChoice)> {
        let cycles = |choice: &RegionChoice| {
            let planned = PlannedRegion::new(region, choice, self.axes, self.machine)?;
            let input = |number: usize| planned.input(region.inputs[number]);
            honours(places, self.axes, &input).then(|| region_guess::cycles(&planned, ways, prices))?
        };
        let used = choice.slices * choice.sum.map_or(1, |sum| sum.slices);
        let spreads = used > 1 && used < self.machine.topology.slices_per_cluster;
        let queues = prices.has_queues() && choice.tiles == 1;
        let either = |may: bool| [false, true].into_iter().take(1 + usize::from(may));
        let variants = either(spreads).flat_map(|spread| either(queues).map(move |queues| (spread, queues)));
        let variants = variants.map(|(spread, queues)| RegionChoice { spread, queues, ..choice });
        variants.filter_map(|variant| Some((cycles(&variant)?, variant))).min_by_key(|(total, _)| *total)
    }

    /// The plans of a region.
    fn regions(&self, region: &Region, places: &[Option<Arc<Place>>]) -> Ranked {
        let prices = self.prices;
        let (mut all, mut explored, mut best) = (Vec::new(), 0, u64::MAX);
        let ways = Ways::stored(region.inputs.len(), region.outputs.len());
        let planned = |choice: &RegionChoice| PlannedRegion::new(region, choice, self.axes, self.machine);
        let mut choices = region_guess::choices(region, self.axes, self.machine);
        let every = self.effort.is_every();
        let ranked = |choices: &[RegionChoice]| {
            (choices.len() * region.operations.len()).div_ceil(MOST_RANKED_OPERATIONS)
        };
        if !every && ranked(&choices) > 1 {
            // Few distributions of a long region fit, and those that are evenly spaced may miss them.
            choices.retain(|choice| planned(choice).is_some_and(|planned| planned.fits()));
        }
        let step = if every { 1 } else { ranked(&choices).max(1) };
        let least = |choice: RegionChoice| Some((region_guess::least(&planned(&choice)?)?, choice));
        let mut choices: Vec<_> = choices.into_iter().step_by(step).filter_map(least).collect();
        choices.sort_by_key(|(least, _)| *least);
        let count = choices.len() as u64;
        for (least, choice) in choices {
            let worse = !every && all.len() >= MOST_TRIED && least > best + best / RANK_MARGIN;
            if worse || self.effort.ends() && all.len() >= MOST_TRIED {
                break;
            }
            explored += 1;
            let priced = self.region_in_queues((region, places), choice, &ways, prices);
            let Some((total, choice)) = priced else { continue };
            best = best.min(total);
            all.push((total, Plan::Region(choice)));
        }
        all.sort_by_key(|(total, _)| *total);
        (all, Counted { explored, pruned: count - explored, limited: step > 1 })
    }

    /// The report of a plan.
    fn report(&self, work: &Work, inputs: &[&Array], plan: &Plan, ways: &Ways) -> Result<Report, Diagnostic> {
        self.report_of(self.kernel(work, inputs, plan, ways)?, plan.has_loops())
    }

    /// The report of a kernel, whose commands are ordered first if it has loops.
    ///
    /// # Errors
    /// A kernel that an engine refuses.
    pub fn report_of(&self, mut module: Module, has_loops: bool) -> Result<Report, Diagnostic> {
        let findings = verify(self.ctx, &module);
        if findings.iter().any(|finding| finding.severity == Severity::Error) {
            return Err(first(findings));
        }
        if has_loops {
            // The passes of the vector engine are the same in every order of the commands.
            for pass in [&visa_vector::passes::plan_vector::PASS, &visa_schedule::passes::schedule::PASS] {
                let options = Options::defaults(pass.options);
                (pass.run)(&mut PassCx::new(self.ctx, &mut module, &options)).map_err(first)?;
            }
        }
        report(self.ctx, allocated(self.ctx, &module)?, None)
    }

    /// A kernel that is one step.
    fn kernel(&self, work: &Work, inputs: &[&Array], plan: &Plan, ways: &Ways) -> Result<Module, Diagnostic> {
        let mut writer = Writer::new(self.ctx, self.declarations.clone());
        let body = writer.function("step");
        let ty = |array: &Array| array.ty(self.ctx, self.axes);
        let mut given = Vec::new();
        for (number, array) in inputs.iter().enumerate() {
            given.push(if ways.here[number] {
                let tensor = self.input(work, plan, number)?;
                let op = new!(writer, Empty).memory(TensorMemory::Dm).dtype(array.dtype).at_auto();
                let op = op.cluster(Some(tensor.dim(Dim::Cluster))).slice(Some(tensor.dim(Dim::Slice)));
                Given::Here(writer.value(op.element(tensor.dim(Dim::Element)), &array.name)?)
            } else {
                Given::Stored(writer.argument(body, ty(array), &array.name))
            });
        }
        let results = self.write(&mut writer, work, plan, (&given, &ways.stores))?;
        writer.end(new!(writer, Return, results.into_iter().filter_map(|result| result.stored)));
        Ok(writer.module)
    }

    /// The tensor of an input when a plan has it in data memory.
    fn input(&self, work: &Work, plan: &Plan, number: usize) -> Result<Tensor, Diagnostic> {
        let (axes, machine) = (self.axes, self.machine);
        match (work, plan) {
            (Work::Contraction(problem), Plan::Contraction(plan)) => {
                let (choice, layout) = &**plan;
                Ok(Planned { problem, choice, layout, axes, machine }.input(number))
            }
            (Work::Region(region), Plan::Region(choice)) => {
                let planned = PlannedRegion::new(region, choice, axes, machine).ok_or_else(other_step)?;
                Ok(planned.input(region.inputs[number]))
            }
            (Work::Single(_), Plan::Contraction(_) | Plan::Region(_) | Plan::Single)
            | (Work::Contraction(_), Plan::Region(_) | Plan::Single)
            | (Work::Region(_), Plan::Contraction(_) | Plan::Single) => Err(other_step()),
        }
    }

    /// Writes a step by a plan, and stores those results that `stores` has.
    ///
    /// # Errors
    /// A plan that an engine refuses.
    pub fn write(
        &self,
        writer: &mut Writer<'_>,
        work: &Work,
        plan: &Plan,
        (inputs, stores): (&[Given], &[bool]),
    ) -> Result<Vec<Written>, Diagnostic> {
        let (axes, machine) = (self.axes, self.machine);
        match (work, plan) {
            (Work::Contraction(problem), Plan::Contraction(plan)) => {
                let (choice, layout) = &**plan;
                let values = Values { operands: [inputs[0], inputs[1]], epilogue: inputs[2..].to_vec() };
                let planned = Planned { problem, choice, layout, axes, machine };
                planned.write(writer, &values, stores[0]).map(|out| vec![out])
            }
            (Work::Region(region), Plan::Region(choice)) => {
                let planned = PlannedRegion::new(region, choice, axes, machine);
                planned.ok_or_else(other_step)?.write(writer, inputs, stores)
            }
            (Work::Single(single), Plan::Single) => {
                let out = single.write(writer, &loaded(inputs)?, axes, machine)?;
                Ok(vec![Written { stored: Some(out), held: None }])
            }
            (Work::Single(_), Plan::Contraction(_) | Plan::Region(_))
            | (Work::Contraction(_), Plan::Region(_) | Plan::Single)
            | (Work::Region(_), Plan::Contraction(_) | Plan::Single) => Err(other_step()),
        }
    }
}

/// Cycles of a plan by the prices of its transfers, and the plan with them in the queues of two clusters if that is
/// faster.
#[must_use]
pub fn in_queues(
    problem: &Contraction,
    choice: Choice,
    layout: &Layout,
    (parts, ways): (Parts, &Ways),
    prices: &Transfers<'_>,
) -> Option<(u64, Choice)> {
    let (axes, machine) = (prices.axes, prices.machine);
    let priced =
        |choice: &Choice| Planned { problem, choice, layout, axes, machine }.transfers(parts, ways, prices);
    let all = priced(&choice)?;
    let plain = (all.total(layout), choice);
    let divided = Choice { queues: true, ..choice };
    let Some(queued) = priced(&divided).filter(|_| prices.has_queues()) else { return Some(plain) };
    let total = all.in_queues(&queued, layout, machine.timing.dma_startup_cycles);
    Some(if total < plain.0 { (total, divided) } else { plain })
}

/// Plans of a step that are lowered: as many as are lowered in any case, and most.
fn limits(work: &Work) -> (usize, usize) {
    match work {
        Work::Contraction(problem) if problem.bytes() <= SMALL_BYTES => SMALL_LOWERED,
        Work::Contraction(_) | Work::Single(_) => (LEAST_LOWERED, MOST_LOWERED),
        Work::Region(region) => {
            (LEAST_LOWERED, (MOST_OPERATIONS / region.operations.len().max(1)).clamp(1, REGIONS_LOWERED))
        }
    }
}

/// Keeps the best plans. Returns true if there are others.
fn select<T>(all: &mut Vec<T>, key: impl Fn(&T) -> u64) -> bool {
    all.sort_by_key(&key);
    let limited = all.len() > MOST_RANKED;
    all.truncate(MOST_RANKED);
    limited
}

/// Inputs that are all in HBM.
fn loaded(inputs: &[Given]) -> Result<Vec<ValueId>, Diagnostic> {
    let value = |given: &Given| match given {
        Given::Stored(value) => Ok(*value),
        Given::Here(_) => Err(other_step()),
    };
    inputs.iter().map(value).collect()
}

/// That a plan is one of another step.
fn other_step() -> Diagnostic {
    Diagnostic::error("plan-kernel", visa_ir::span::Span::default(), "the plan is one of another step")
}
