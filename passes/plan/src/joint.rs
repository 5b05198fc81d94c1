//! Chooses the plans of several steps together: a step may leave a value in data memory, in the place where the next
//! one reads it, so that neither a store nor a load moves it. Where the next one reads it elsewhere in data memory,
//! one transfer moves it there.
//!
//! Each step has entries: plans with the ways of their values, and their cycles by counts. Steps are added in order
//! to the states of the values between them, and the least cycles of each state are kept. The best sequences are
//! lowered as a whole, with their commands in the order of `schedule`, next to the one in which all values are in
//! HBM, and the report decides.

pub mod assemble;
pub mod straight;

use crate::contraction::emit::Planned;
use crate::contraction::guess::guess;
use crate::contraction::layout::Layout;
use crate::contraction::parts::Parts;
use crate::contraction::space::{Space, Visited};
use crate::contraction::{Choice, Contraction};
use crate::flow::{Ways, place};
use crate::joint::assemble::Assembly;
use crate::memory::Transfers;
use crate::placed::{Place as WrittenPlace, honours};
use crate::program::{Kernel, Operand, Step, Work};
use crate::region::planned::PlannedRegion;
use crate::region::{Region, RegionChoice, guess as region_guess};
use crate::search::{Candidate, Outcome, Plan, Search, in_queues};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::ControlFlow;
use std::rc::Rc;
use std::sync::Arc;
use visa_ir::diag::Diagnostic;
use visa_ir::module::{Module, OpId};
use visa_machine::Unit;

/// Most steps that are planned together.
const MOST_STEPS: usize = 24;
/// Most operations of these steps: kernels with more take seconds to lower.
const MOST_OPERATIONS: usize = 1024;
/// States of the values between steps that are kept.
const MOST_STATES: usize = 2048;
/// Plans of a step with the same places of its values that are priced.
const MOST_ALIKE: usize = 2;
/// Plans of a step among them that leave a value for a move.
const MOST_MOVED: usize = 6;
/// Values of a step whose ways are all tried.
const MOST_FREE: usize = 6;
/// Places of a value between steps that are considered, by each count of cycles.
const MOST_PLACES: usize = 200;
/// Sequences that are lowered as a whole.
const MOST_LOWERED: usize = 12;
/// Sequences among them with the same values in data memory.
const MOST_SIMILAR: usize = 4;

/// The number of a place in data memory.
type Place = usize;

/// Places in data memory, by their texts.
#[derive(Default)]
struct Places(HashMap<String, Place>);

impl Places {
    fn number(&mut self, text: String) -> Place {
        let next = self.0.len();
        *self.0.entry(text).or_insert(next)
    }
}

/// A plan that could leave its results where later steps read them, or read values where they are.
struct Open {
    plan: OpenPlan,
    /// The place of each input when pipelines read it; `None` for one that the step always loads.
    takes: Vec<Option<Place>>,
    /// The place of each result; `None` for one that no other step reads there.
    gives: Vec<Option<Place>>,
}

/// The values of a step that may pass in data memory: true for each input and each result that may.
struct Wanted {
    inputs: Vec<bool>,
    results: Vec<bool>,
}

/// A plan before its transfers are priced.
enum OpenPlan {
    Contraction(Choice, Parts),
    Region(RegionChoice),
}

/// A plan of a step with the ways of its values.
struct Entry {
    plan: Plan,
    ways: Ways,
    takes: Vec<Option<Place>>,
    gives: Vec<Option<Place>>,
    /// Cycles by counts and the prices of transfers.
    cycles: u64,
    /// True if it is the best plan of the step by itself.
    is_own: bool,
}

/// The ways and places that entries have in common.
type Alike = (Ways, Vec<Option<Place>>, Vec<Option<Place>>);

/// A value between steps: its place in data memory, and true if it is in HBM.
type Between = (Option<Place>, bool);

/// The values between steps, by the numbers of their arrays.
type State = BTreeMap<usize, Between>;

/// The numbers of the entries of the first steps, with their cycles.
#[derive(Clone)]
struct Sequence {
    entries: Vec<usize>,
    /// The arrays that a step finds in data memory, each with true if they are moved there.
    passed: BTreeSet<(usize, bool)>,
    cycles: u64,
}

/// The steps of a kernel, with the best plans of each by itself.
pub struct Joint<'a> {
    /// The environment.
    pub search: &'a Search<'a>,
    /// The kernel.
    pub kernel: &'a Kernel,
    /// The best plans of each step by itself.
    pub outcomes: &'a [Rc<Outcome>],
    /// The module with the function.
    pub source: &'a Module,
}

/// The fewest cycles of a step that leaves each array in each place, or reads it there.
#[derive(Default)]
struct Fastest(BTreeMap<usize, BTreeMap<Place, u64>>);

impl Fastest {
    fn add(&mut self, array: usize, place: Option<Place>, cycles: u64) {
        let Some(place) = place else { return };
        let known = self.0.entry(array).or_default().entry(place).or_insert(cycles);
        *known = cycles.min(*known);
    }
}

impl Joint<'_> {
    /// The outcomes of all steps, with plans that leave values in data memory first where they take fewer cycles
    /// together.
    ///
    /// # Errors
    /// A plan that an engine refuses.
    pub fn run(&self, func: OpId) -> Result<Vec<Rc<Outcome>>, Diagnostic> {
        let steps = self.kernel.steps.len();
        let operations: usize = self.kernel.steps.iter().map(|step| step.work.operations()).sum();
        let own = || self.outcomes.to_vec();
        if steps == 1 || steps > MOST_STEPS || operations > MOST_OPERATIONS || self.search.effort.look() {
            return Ok(own());
        }
        let mut places = Places::default();
        let passed = self.passed();
        let all = self.kernel.steps.iter().zip(self.outcomes);
        let open: Vec<Vec<Open>> =
            all.map(|(step, own)| self.open(step, own, &passed, &mut places)).collect();
        let shared = self.shared(&open, self.search.prices);
        if shared.values().all(HashSet::is_empty) {
            return Ok(own());
        }
        let entries: Vec<Vec<Entry>> =
            (0..steps).map(|number| self.entries(number, &open[number], &shared, &mut places)).collect();
        let mut best = (self.cycles(func, &self.stored())?, None);
        for sequence in self.sequences(&entries) {
            let chosen: Vec<&Entry> =
                entries.iter().zip(&sequence.entries).map(|(all, &number)| &all[number]).collect();
            let plans: Vec<(&Plan, &Ways)> = chosen.iter().map(|entry| (&entry.plan, &entry.ways)).collect();
            if let Ok(cycles) = self.cycles(func, &plans)
                && cycles < best.0
            {
                best = (cycles, Some(chosen));
            }
        }
        let Some(chosen) = best.1 else { return Ok(own()) };
        chosen.into_iter().enumerate().map(|(number, entry)| self.outcome(number, entry)).collect()
    }

    /// The best plans of each step by itself.
    fn stored(&self) -> Vec<(&Plan, &Ways)> {
        let best = self.outcomes.iter().filter_map(|outcome| outcome.lowered.first());
        best.map(|best| (&best.plan, &best.ways)).collect()
    }

    /// Cycles of the kernel with these plans.
    fn cycles(&self, func: OpId, plans: &[(&Plan, &Ways)]) -> Result<u64, Diagnostic> {
        let (search, kernel) = (self.search, self.kernel);
        let assembly = Assembly { search, kernel, plans, source: self.source };
        let module = assembly.write(search.declarations.clone(), func)?;
        Ok(search.report_of(module, true)?.totals.cycles)
    }

    /// The outcome of a step with the plan of an entry in front.
    fn outcome(&self, number: usize, entry: &Entry) -> Result<Rc<Outcome>, Diagnostic> {
        let (step, own) = (&self.kernel.steps[number], &self.outcomes[number]);
        if entry.is_own {
            return Ok(Rc::clone(own));
        }
        let inputs: Vec<_> = step.inputs.iter().map(|&array| &self.kernel.arrays[array]).collect();
        let plan = (entry.plan.clone(), entry.ways.clone());
        let best = self.search.candidate(&step.work, &inputs, plan, entry.cycles)?;
        let mut lowered: Vec<Candidate> = vec![best];
        lowered.extend(own.lowered.iter().cloned());
        Ok(Rc::new(Outcome {
            lowered,
            counted: own.counted,
            ending: own.ending,
            refused: own.refused.clone(),
        }))
    }

    /// True for each input of a step that it could read in data memory.
    fn readable(step: &Step) -> Vec<bool> {
        let readable = |_: &usize| match &step.work {
            Work::Contraction(_) | Work::Region(_) => true,
            Work::Single(_) => false,
        };
        step.inputs.iter().map(readable).collect()
    }

    /// The arrays that a step could leave in data memory for another one.
    fn passed(&self) -> HashSet<usize> {
        let steps = &self.kernel.steps;
        let left = steps.iter().filter(|step| match step.work {
            Work::Contraction(_) | Work::Region(_) => true,
            Work::Single(_) => false,
        });
        let left: HashSet<usize> = left.flat_map(|step| step.outputs.iter().copied()).collect();
        let read = steps.iter().flat_map(|step| step.inputs.iter().zip(Self::readable(step)));
        read.filter(|(_, readable)| *readable)
            .map(|(array, _)| *array)
            .filter(|own| left.contains(own))
            .collect()
    }

    /// The plans of a step, if one of its values may pass in data memory.
    fn open(&self, step: &Step, own: &Outcome, passed: &HashSet<usize>, places: &mut Places) -> Vec<Open> {
        let inputs = step.inputs.iter().zip(Self::readable(step));
        let inputs = inputs.map(|(array, readable)| readable && passed.contains(array)).collect();
        let wanted =
            Wanted { inputs, results: step.outputs.iter().map(|own| passed.contains(own)).collect() };
        if !wanted.inputs.contains(&true) && !wanted.results.contains(&true) {
            return Vec::new();
        }
        match &step.work {
            Work::Contraction(problem) => {
                let most = own.lowered.first().map_or(0, |best| best.ranked);
                self.contractions((problem, &step.places), &wanted, most, places)
            }
            Work::Region(region) => self.regions(region, &wanted, places),
            Work::Single(_) => Vec::new(),
        }
    }

    /// The plans of a contraction without loops that take at most `most` cycles, without their transfers: of those
    /// that differ by their context alone, the fastest.
    fn contractions(
        &self,
        (problem, written): (&Contraction, &[Option<Arc<WrittenPlace>>]),
        wanted: &Wanted,
        most: u64,
        places: &mut Places,
    ) -> Vec<Open> {
        let Search { axes, machine, model, .. } = *self.search;
        let mut fastest: BTreeMap<Choice, (Choice, Parts)> = BTreeMap::new();
        let visited = Visited::Straight { most };
        let count = |choice: Choice, layout: Layout, _: u64| {
            let parts = guess(problem, &choice, &layout, machine, (model, u64::MAX));
            parts.filter(|parts| parts.weights + parts.pipelines() <= most).map(|parts| (choice, parts))
        };
        let vocabulary = self.search.prices.vocabulary;
        Space { problem, axes, machine, model, vocabulary, visited }.each(&count, &mut |plan| {
            if let Some((choice, parts)) = plan {
                let best = fastest.entry(Choice { unit: Unit::Main, ..choice }).or_insert((choice, parts));
                if parts.pipelines() < best.1.pipelines() {
                    *best = (choice, parts);
                }
            }
            if self.search.effort.ends() { ControlFlow::Break(()) } else { ControlFlow::Continue(u64::MAX) }
        });
        let mut all = Vec::new();
        for (choice, parts) in fastest.into_values() {
            let Some(layout) = Layout::new(problem, &choice) else { continue };
            let planned = Planned { problem, choice: &choice, layout: &layout, axes, machine };
            if !honours(written, axes, &|number| planned.input(number)) {
                continue;
            }
            // Zeros beyond the end of the sum would go into a value that other steps may read.
            if wanted
                .inputs
                .iter()
                .take(2)
                .enumerate()
                .any(|(operand, wanted)| *wanted && planned.fills(operand))
            {
                continue;
            }
            let takes = wanted.inputs.iter().enumerate().map(|(number, wanted)| {
                let image = problem.operands.get(number).is_some_and(|array| array.image.is_some());
                (*wanted && !image).then(|| places.number(place(&planned.input(number))))
            });
            let takes = takes.collect();
            let gives =
                wanted.results.iter().map(|wanted| wanted.then(|| places.number(place(&planned.results()))));
            let gives = gives.collect();
            all.push(Open { plan: OpenPlan::Contraction(choice, parts), takes, gives });
        }
        all
    }

    /// The plans of a region without loops.
    fn regions(&self, region: &Region, wanted: &Wanted, places: &mut Places) -> Vec<Open> {
        let Search { axes, machine, .. } = *self.search;
        let choices = region_guess::choices(region, axes, machine);
        let mut all = Vec::new();
        for choice in choices.into_iter().filter(|choice| choice.tiles == 1) {
            let Some(planned) = PlannedRegion::new(region, &choice, axes, machine) else { continue };
            let takes = region.inputs.iter().zip(&wanted.inputs);
            let takes =
                takes.map(|(&slot, wanted)| wanted.then(|| places.number(place(&planned.input(slot)))));
            let takes = takes.collect();
            let gives = region.outputs.iter().zip(&wanted.results);
            let gives =
                gives.map(|(&slot, wanted)| wanted.then(|| places.number(place(&planned.output(slot)))));
            let gives = gives.collect();
            all.push(Open { plan: OpenPlan::Region(choice), takes, gives });
        }
        all
    }

    /// The places that a step can leave each array in and another one can read it in: those with the fewest cycles
    /// of both steps, with the transfers that remain if all values between steps stay in data memory, and those with
    /// the fewest cycles without any transfers, whose counts are not exact.
    fn shared(&self, open: &[Vec<Open>], prices: &Transfers<'_>) -> HashMap<usize, HashSet<Place>> {
        let passed = |own: &Open| Ways {
            here: own.takes.iter().map(Option::is_some).collect(),
            stores: own.gives.iter().map(Option::is_none).collect(),
        };
        let none =
            |own: &Open| Ways { here: vec![true; own.takes.len()], stores: vec![false; own.gives.len()] };
        let mut shared = self.fastest(open, prices, &passed);
        for (array, places) in self.fastest(open, prices, &none) {
            shared.entry(array).or_default().extend(places);
        }
        shared
    }

    /// The places of each array with the fewest cycles of the step that leaves it there and the one that reads it
    /// there, if values go these ways.
    fn fastest(
        &self,
        open: &[Vec<Open>],
        prices: &Transfers<'_>,
        ways: &dyn Fn(&Open) -> Ways,
    ) -> HashMap<usize, HashSet<Place>> {
        let (mut given, mut taken) = (Fastest::default(), Fastest::default());
        for (step, open) in self.kernel.steps.iter().zip(open) {
            for own in open {
                let Some(cycles) = self.counted(step, own, &ways(own), prices) else { continue };
                let (inputs, results) =
                    (step.inputs.iter().zip(&own.takes), step.outputs.iter().zip(&own.gives));
                inputs.for_each(|(array, place)| taken.add(*array, *place, cycles));
                results.for_each(|(array, place)| given.add(*array, *place, cycles));
            }
        }
        let both = |(array, given): (usize, BTreeMap<Place, u64>)| {
            let taken = taken.0.get(&array)?;
            let sum = |(place, cycles): (Place, u64)| Some((cycles + taken.get(&place)?, place));
            let mut all: Vec<(u64, Place)> = given.into_iter().filter_map(sum).collect();
            all.sort_unstable();
            Some((array, all.into_iter().take(MOST_PLACES).map(|(_, place)| place).collect()))
        };
        given.0.into_iter().filter_map(both).collect()
    }

    /// Returns true if all steps that read an array could read it in data memory, and the kernel does not return it.
    fn can_stay(&self, array: usize) -> bool {
        let kernel = self.kernel;
        let reads = |step: &Step| {
            step.inputs.iter().zip(Self::readable(step)).all(|(own, readable)| *own != array || readable)
        };
        !kernel.results.contains(&array) && kernel.steps.iter().all(reads)
    }

    /// The entries of a step: its best plan by itself, and the best ones for each way of its values.
    fn entries(
        &self,
        number: usize,
        open: &[Open],
        shared: &HashMap<usize, HashSet<Place>>,
        places: &mut Places,
    ) -> Vec<Entry> {
        let step = &self.kernel.steps[number];
        let mut all: Vec<Entry> = self.own(number, places).into_iter().collect();
        let prices = self.search.prices;
        let is_shared =
            |array: &usize, place: &Place| shared.get(array).is_some_and(|all| all.contains(place));
        let mut alike: BTreeMap<Alike, Vec<(u64, &Open)>> = BTreeMap::new();
        for own in open {
            let takes = step.inputs.iter().zip(&own.takes);
            let takes: Vec<Option<Place>> =
                takes.map(|(array, place)| place.filter(|place| is_shared(array, place))).collect();
            let gives = step.outputs.iter().zip(&own.gives);
            let gives: Vec<Option<Place>> =
                gives.map(|(array, place)| place.filter(|place| is_shared(array, place))).collect();
            for ways in self.ways(step, &takes, &gives) {
                let counted = moved_as_stored(&ways, &gives);
                let Some(cycles) = self.counted(step, own, &counted, prices) else { continue };
                let taken = takes.iter().zip(&ways.here).map(|(place, here)| place.filter(|_| *here));
                let best = alike.entry((ways.clone(), taken.collect(), gives.clone())).or_default();
                let at = best.partition_point(|(known, _)| *known <= cycles);
                best.insert(at, (cycles, own));
                best.truncate(if counted == ways { MOST_ALIKE } else { MOST_MOVED });
            }
        }
        for ((ways, takes, gives), best) in alike {
            let counted = moved_as_stored(&ways, &gives);
            let priced = best.into_iter().filter_map(|(_, own)| self.priced(step, own, &counted, prices));
            let mut priced: Vec<(u64, Plan)> = priced.collect();
            priced.sort_by_key(|(cycles, _)| *cycles);
            // Those with the same cycles differ by little.
            priced.dedup_by_key(|(cycles, _)| *cycles);
            let moved =
                ways.stores.iter().zip(&counted.stores).filter(|(own, counted)| own != counted).count();
            let startup = self.search.machine.timing.dma_startup_cycles;
            // The slices that hold a value decide how fast it moves, which its store does not tell exactly.
            for (cycles, plan) in priced.into_iter().take(if moved == 0 { 1 } else { MOST_MOVED }) {
                let cycles = cycles.saturating_sub(moved as u64 * startup);
                let (ways, takes, gives) = (ways.clone(), takes.clone(), gives.clone());
                all.push(Entry { plan, ways, takes, gives, cycles, is_own: false });
            }
        }
        all
    }

    /// The best plan of a step by itself; `None` if it has none.
    fn own(&self, number: usize, places: &mut Places) -> Option<Entry> {
        let (step, best) = (&self.kernel.steps[number], self.outcomes[number].lowered.first()?);
        let Search { axes, machine, .. } = *self.search;
        let gives = match (&step.work, &best.plan) {
            (Work::Contraction(problem), Plan::Contraction(plan)) if !best.plan.has_loops() => {
                let planned = Planned { problem, choice: &plan.0, layout: &plan.1, axes, machine };
                vec![Some(places.number(place(&planned.results())))]
            }
            (Work::Region(region), Plan::Region(choice)) if !best.plan.has_loops() => {
                let planned = PlannedRegion::new(region, choice, axes, machine)?;
                let output = |&slot| Some(places.number(place(&planned.output(slot))));
                region.outputs.iter().map(output).collect()
            }
            (Work::Contraction(_) | Work::Region(_) | Work::Single(_), _) => vec![None; step.outputs.len()],
        };
        let (takes, ways) = (vec![None; step.inputs.len()], best.ways.clone());
        let (plan, cycles) = (best.plan.clone(), best.ranked);
        Some(Entry { plan, ways, takes, gives, cycles, is_own: true })
    }

    /// The ways of the values of a step: each input with a place may be there, and each result may stay in its place,
    /// or in data memory anywhere, from which the step that reads it moves it.
    fn ways(&self, step: &Step, takes: &[Option<Place>], gives: &[Option<Place>]) -> Vec<Ways> {
        let inputs = (0..takes.len()).filter(|&at| takes[at].is_some()).map(|at| (true, at));
        let results = (0..gives.len()).filter(|&at| self.can_stay(step.outputs[at]));
        let free: Vec<(bool, usize)> = inputs.chain(results.map(|at| (false, at))).take(MOST_FREE).collect();
        let mut all = Vec::new();
        for chosen in 0..1_u32 << free.len() {
            let mut ways = Ways::stored(takes.len(), gives.len());
            for (bit, &(is_input, at)) in free.iter().enumerate() {
                match (chosen >> bit & 1 == 1, is_input) {
                    (true, true) => ways.here[at] = true,
                    (true, false) => ways.stores[at] = false,
                    (false, _) => {}
                }
            }
            if gives.iter().any(Option::is_some) || ways.are_linked() {
                all.push(ways);
            }
        }
        all
    }

    /// Cycles of a plan by counts.
    fn counted(&self, step: &Step, own: &Open, ways: &Ways, prices: &Transfers<'_>) -> Option<u64> {
        match (&step.work, &own.plan) {
            (Work::Contraction(problem), OpenPlan::Contraction(choice, parts)) => {
                let layout = Layout::new(problem, choice)?;
                let mut parts = *parts;
                if ways.here[choice.stationary] {
                    parts.rows = 0;
                }
                if ways.here[1 - choice.stationary] {
                    parts.stream = 0;
                }
                if !ways.stores[0] {
                    parts.store = 0;
                }
                let operands = &ways.here[problem.operands.len()..];
                let loaded = operands.iter().filter(|here| !**here).count();
                parts.operands = parts.operands * loaded as u64 / operands.len().max(1) as u64;
                Some(parts.total(&layout))
            }
            (Work::Region(_), OpenPlan::Region(_)) => {
                self.priced(step, own, ways, prices).map(|(cycles, _)| cycles)
            }
            (Work::Single(_), OpenPlan::Contraction(..) | OpenPlan::Region(_))
            | (Work::Contraction(_), OpenPlan::Region(_))
            | (Work::Region(_), OpenPlan::Contraction(..)) => None,
        }
    }

    /// Cycles of a plan by counts and the prices of its transfers.
    fn priced(&self, step: &Step, own: &Open, ways: &Ways, prices: &Transfers<'_>) -> Option<(u64, Plan)> {
        match (&step.work, &own.plan) {
            (Work::Contraction(problem), OpenPlan::Contraction(choice, parts)) => {
                let layout = Layout::new(problem, choice)?;
                let (cycles, choice) = in_queues(problem, *choice, &layout, (*parts, ways), prices)?;
                Some((cycles, Plan::Contraction(Box::new((choice, layout)))))
            }
            (Work::Region(region), OpenPlan::Region(choice)) => {
                let (cycles, choice) =
                    self.search.region_in_queues((region, &step.places), *choice, ways, prices)?;
                Some((cycles, Plan::Region(choice)))
            }
            (Work::Single(_), OpenPlan::Contraction(..) | OpenPlan::Region(_))
            | (Work::Contraction(_), OpenPlan::Region(_))
            | (Work::Region(_), OpenPlan::Contraction(..)) => None,
        }
    }

    /// The best sequences of entries, those of the fewest cycles first.
    fn sequences(&self, entries: &[Vec<Entry>]) -> Vec<Sequence> {
        let arguments = self.kernel.arguments.iter().filter_map(Operand::array);
        let arguments: State = arguments.map(|array| (array, (None, true))).collect();
        let mut states = BTreeMap::from([(
            arguments,
            vec![Sequence { entries: Vec::new(), passed: BTreeSet::new(), cycles: 0 }],
        )]);
        for (number, entries) in entries.iter().enumerate() {
            states = self.with_step(number, entries, states);
        }
        let mut all: Vec<Sequence> = states.into_values().flatten().collect();
        keep_different(&mut all);
        all
    }

    /// The best states after step `number`, from those before it.
    fn with_step(
        &self,
        number: usize,
        entries: &[Entry],
        states: BTreeMap<State, Vec<Sequence>>,
    ) -> BTreeMap<State, Vec<Sequence>> {
        let mut states: Vec<(State, Vec<Sequence>)> = states.into_iter().collect();
        states.sort_by_key(|(_, sequences)| sequences[0].cycles);
        let mut numbers: Vec<usize> = (0..entries.len()).collect();
        numbers.sort_by_key(|&at| entries[at].cycles);
        let (mut next, mut limit) = (BTreeMap::new(), u64::MAX);
        for (state, sequences) in &states {
            for &at in &numbers {
                let entry = &entries[at];
                // As many states as are kept take fewer cycles.
                if sequences[0].cycles + entry.cycles > limit {
                    break;
                }
                let Some(after) = self.after(number, state, entry) else { continue };
                let passing = self.passing(number, state, entry);
                let best: &mut Vec<Sequence> = next.entry(after).or_default();
                best.extend(sequences.iter().map(|sequence| sequence.with(at, entry, &passing)));
                keep_different(best);
            }
            if next.len() > 2 * MOST_STATES {
                (next, limit) = best_states(next);
            }
        }
        best_states(next).0
    }

    /// The inputs of a step that are in data memory, each with true if a transfer moves it there.
    fn passing(&self, number: usize, state: &State, entry: &Entry) -> Vec<(usize, bool)> {
        let inputs = self.kernel.steps[number].inputs.iter().zip(&entry.ways.here);
        let stored = |array: &usize| state.get(array).is_none_or(|(_, stored)| *stored);
        let passing = inputs.filter(|(array, here)| **here || !stored(array));
        passing.map(|(array, here)| (*array, !*here)).collect()
    }

    /// The values between steps after step `number`; `None` if one of its inputs is elsewhere.
    fn after(&self, number: usize, state: &State, entry: &Entry) -> Option<State> {
        let (kernel, step) = (self.kernel, &self.kernel.steps[number]);
        for (at, array) in step.inputs.iter().enumerate() {
            let (place, stored) = *state.get(array)?;
            let found = if entry.ways.here[at] {
                place.is_some() && place == entry.takes[at]
            } else {
                stored || !entry.plan.has_loops()
            };
            if !found {
                return None;
            }
        }
        let mut after = state.clone();
        for (at, array) in step.outputs.iter().enumerate() {
            after.insert(*array, (entry.gives[at], entry.ways.stores[at]));
        }
        let later = |array: &usize| {
            kernel.results.contains(array)
                || kernel.steps[number + 1..].iter().any(|step| step.inputs.contains(array))
        };
        after.retain(|array, _| later(array));
        Some(after)
    }
}

impl Sequence {
    /// The sequence with entry number `at` of the next step.
    fn with(&self, at: usize, entry: &Entry, passing: &[(usize, bool)]) -> Self {
        let entries = self.entries.iter().copied().chain([at]).collect();
        let passed = self.passed.iter().chain(passing).copied().collect();
        Self { entries, passed, cycles: self.cycles + entry.cycles }
    }
}

/// The states of the fewest cycles, as many as are kept, and the most cycles of these; without a limit if all are.
fn best_states(states: BTreeMap<State, Vec<Sequence>>) -> (BTreeMap<State, Vec<Sequence>>, u64) {
    let mut kept: Vec<(State, Vec<Sequence>)> = states.into_iter().collect();
    if kept.len() < MOST_STATES {
        return (kept.into_iter().collect(), u64::MAX);
    }
    kept.sort_by_key(|(_, sequences)| sequences[0].cycles);
    kept.truncate(MOST_STATES);
    let limit = kept.last().map_or(u64::MAX, |(_, sequences)| sequences[0].cycles);
    (kept.into_iter().collect(), limit)
}

/// The ways of values by which a plan is ranked: the spread of a value over slices makes a move of it fast, as it does
/// a store.
fn moved_as_stored(ways: &Ways, gives: &[Option<Place>]) -> Ways {
    let stores = ways.stores.iter().zip(gives).map(|(stores, place)| *stores || place.is_none());
    Ways { here: ways.here.clone(), stores: stores.collect() }
}

/// Keeps the best sequences, the fewest cycles first, of which few have the same values in data memory.
fn keep_different(all: &mut Vec<Sequence>) {
    all.sort_by_key(|sequence| sequence.cycles);
    let mut similar: HashMap<BTreeSet<(usize, bool)>, usize> = HashMap::new();
    all.retain(|sequence| {
        let count = similar.entry(sequence.passed.clone()).or_default();
        *count += 1;
        *count <= MOST_SIMILAR
    });
    all.truncate(MOST_LOWERED);
}
