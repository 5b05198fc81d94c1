//! Pipelines that share tensors: a register file that contractions read, or a tensor that one pipeline commits and
//! another fetches. Its layout decides the cost of all. Each pipeline is chosen for every layout of its inputs, and
//! variable elimination (`dag.rs`) selects the layouts of the least total cost.

use crate::config::candidate::Clauses;
use crate::config::choice::choose_with_optional;
use crate::config::graph::{Candidate, open_clauses};
use crate::config::memo::Means;
use crate::config::optional::{self, At};
use crate::effort::budget::Cut;
use crate::effort::clock::{Clock, Phase};
use crate::layout::dag;
use crate::layout::trf_layouts::{is_open_load, layouts};
use std::collections::{BTreeMap, BTreeSet};
use visa_ir::context::Context;
use visa_ir::diag::Diagnostic;
use visa_ir::infer::infer_all;
use visa_ir::module::{Module, OpId, OpRef, ValueId};
use visa_ir::open::is_unknown;
use visa_ir::span::Span;
use visa_ir::verify::VerifyCx;
use visa_mapping::tensor::attrs::MAP;
use visa_mapping::view;
use visa_stream::pipeline;

/// Most layouts of a committed tensor that its readers are chosen for: the cheapest to make.
pub(crate) const MOST_LAYOUTS: usize = 4;

/// Most combinations of layouts that a pipeline is chosen for: those of the cheapest layouts.
pub(crate) const MOST_COMBINATIONS: usize = 32;

/// Candidates (e-nodes, and refusals) of a pipeline after which no further combination is made.
pub(crate) const MOST_CANDIDATES: u64 = 20_000;

/// The choice for pipelines that share tensors.
#[derive(Clone)]
pub struct Shared {
    /// The end of the first.
    pub at: Span,
    /// Number of pipelines.
    pub pipelines: usize,
    /// Layouts of the shared tensors.
    pub layouts: usize,
    /// Ways to run them, each for some layouts of its inputs.
    pub ways: usize,
    /// True if there were more than [`MOST_LAYOUTS`], [`MOST_COMBINATIONS`] or [`MOST_CANDIDATES`].
    pub bounded: bool,
    /// Cycles of all of them together, as extracted.
    pub cycles: u64,
    /// The choice for each pipeline, by its end.
    pub taken: BTreeMap<OpId, Vec<(At, Candidate)>>,
}

/// The ends of pipelines, in program order: those in a group share tensors whose type is not known yet.
pub(crate) fn groups(ctx: &Context, module: &Module) -> Vec<Vec<OpId>> {
    let ends = module.walk_all().into_iter().filter(|&id| pipeline::ends(module.op(ctx, id)));
    let mut groups: Vec<Vec<OpId>> = Vec::new();
    for end in ends {
        let makers = makers(ctx, module, &pipeline::Pipeline::up_to(module.op(ctx, end)).ops);
        let (mut own, others): (Vec<_>, Vec<_>) =
            groups.into_iter().partition(|group| group.iter().any(|end| makers.contains(end)));
        let mut group: Vec<OpId> = own.drain(..).flatten().collect();
        group.push(end);
        groups = others;
        groups.push(group);
    }
    // An operation's number does not indicate its place.
    let order = module.walk_all();
    let place = |end: &OpId| order.iter().position(|id| id == end);
    groups.iter_mut().for_each(|group| group.sort_by_key(place));
    groups.sort_by_key(|group| group.first().and_then(place));
    groups
}

/// The ends of the pipelines that make a pipeline's inputs, if their type is not known yet.
fn makers(ctx: &Context, module: &Module, chain: &[OpId]) -> BTreeSet<OpId> {
    let operands = chain.iter().flat_map(|&id| module.op(ctx, id).operands().to_vec());
    let unknown = operands.filter(|&value| is_unknown(ctx, module.ty(value)));
    let made = unknown.filter_map(|value| maker(module.op(ctx, chain[0]), value));
    made.filter(|id| !chain.contains(id)).collect()
}

/// The end of the pipeline that makes a tensor, through views.
fn maker(op: OpRef<'_>, value: ValueId) -> Option<OpId> {
    view::origin(op, value).filter(|made| pipeline::ends(*made)).map(|made| made.id)
}

/// A pipeline of a group.
struct Pipeline {
    chain: Vec<OpId>,
    /// The pipelines, by number, that make its inputs.
    takes: Vec<usize>,
    /// The pipelines that read its result.
    readers: Vec<usize>,
    /// The layouts of its result.
    layouts: Vec<Clauses>,
    ways: Vec<Way>,
}

impl Pipeline {
    fn end(&self) -> OpId {
        self.chain[self.chain.len() - 1]
    }
}

/// A configuration of a pipeline.
struct Way {
    /// The layout that it makes.
    layout: usize,
    /// The layout of each tensor that it reads.
    takes: Vec<usize>,
    cycles: u64,
    /// The clauses of its operations, with the rules that proposed them.
    steps: Vec<(At, Candidate)>,
}

/// Ways with the layout that each makes, and how many candidates it took to find them.
type PricedWays = (Vec<(Clauses, Way)>, u64);

/// The pipelines of a group, with the choices so far.
struct Group<'a> {
    ctx: &'a Context,
    module: &'a Module,
    means: &'a Means<'a>,
    pipelines: Vec<Pipeline>,
    bounded: bool,
}

/// Writes the shared layouts of the pipelines that end in `ends`.
///
/// # Errors
/// A pipeline has no legal configuration with any layouts, or no layouts suit all.
pub(crate) fn choose_layouts(
    ctx: &Context,
    module: &mut Module,
    ends: &[OpId],
    means: &Means<'_>,
) -> Result<Shared, Diagnostic> {
    let mut group = Group::new(ctx, module, ends, means);
    for number in 0..group.pipelines.len() {
        group.grow(number)?;
    }
    let nodes = group.nodes();
    let extract = || dag::extract(&nodes, group.pipelines.len());
    let extraction = ctx.data::<Clock>().time(Phase::Program, extract).ok_or_else(|| {
        let message = format!("no layouts suit all {} pipelines that share tensors", ends.len());
        Diagnostic::error("select-configs", module.op(ctx, ends[0]).span(), message)
    })?;
    let chosen = extraction.nodes;
    let shared = Shared {
        at: module.op(ctx, ends[0]).span(),
        pipelines: group.pipelines.len(),
        layouts: group
            .pipelines
            .iter()
            .filter(|one| !one.readers.is_empty())
            .map(|one| one.layouts.len())
            .sum(),
        ways: nodes.len(),
        bounded: group.bounded || extraction.bounded,
        cycles: chosen.iter().map(|&node| nodes[node].cost).sum(),
        taken: group.taken(&chosen),
    };
    let mut writes = Vec::new();
    for (pipeline, node) in group.pipelines.iter().zip(chosen) {
        let end = pipeline.end();
        if !pipeline.readers.is_empty() {
            writes.push((end, pipeline.layouts[nodes[node].value].clone()));
        }
    }
    for (end, clauses) in writes {
        clauses.iter().for_each(|&(name, value)| module.set_clause(end, name, value));
    }
    infer_all(ctx, module)?;
    Ok(shared)
}

impl<'a> Group<'a> {
    fn new(ctx: &'a Context, module: &'a Module, ends: &[OpId], means: &'a Means<'a>) -> Self {
        let chains = ends.iter().map(|&end| pipeline::Pipeline::up_to(module.op(ctx, end)).ops);
        let mut pipelines: Vec<Pipeline> = Vec::new();
        for chain in chains {
            let makers = makers(ctx, module, &chain);
            let takes: Vec<usize> = (0..pipelines.len()).filter(|&one| makers.contains(&ends[one])).collect();
            let number = pipelines.len();
            takes.iter().for_each(|&one| pipelines[one].readers.push(number));
            pipelines.push(Pipeline {
                chain,
                takes,
                readers: Vec::new(),
                layouts: Vec::new(),
                ways: Vec::new(),
            });
        }
        Self { ctx, module, means, pipelines, bounded: false }
    }

    /// Chooses a pipeline for every combination of layouts of its inputs.
    fn grow(&mut self, number: usize) -> Result<(), Diagnostic> {
        let (combinations, mut refused, mut candidates) = (self.combinations(number), None, 0);
        let (tried, mut all) = (combinations.len(), Vec::new());
        for takes in combinations {
            if candidates > MOST_CANDIDATES && !all.is_empty() {
                self.bounded = true;
                break;
            }
            if self.stops(number, !all.is_empty()) {
                break;
            }
            match self.chosen(number, &takes) {
                Ok((found, grown)) => {
                    candidates += grown;
                    all.extend(found);
                }
                Err(error) => refused = Some(error),
            }
        }
        if all.is_empty() {
            return Err(self.none(number, tried, refused));
        }
        self.add(number, all);
        Ok(())
    }

    /// Returns true if the budget allows no further layouts for a pipeline; `known` is true if it has a legal way.
    fn stops(&self, number: usize, known: bool) -> bool {
        let budget = self.means.budget;
        let stops = budget.exhausted() || (known && budget.ended());
        if stops {
            budget.cut(Cut::Layouts(self.module.op(self.ctx, self.pipelines[number].end()).span()));
        }
        stops
    }

    /// Every combination of layouts of a pipeline's inputs, up to a bound.
    fn combinations(&mut self, number: usize) -> Vec<Vec<usize>> {
        let mut all: Vec<Vec<usize>> = vec![Vec::new()];
        for &maker in &self.pipelines[number].takes {
            let layouts = 0..self.pipelines[maker].layouts.len();
            let more = all
                .iter()
                .flat_map(|found| layouts.clone().map(move |layout| [&found[..], &[layout]].concat()));
            all = more.collect();
            // The layouts that are cheapest to make come first.
            all.sort_by_key(|found| found.iter().sum::<usize>());
            self.bounded |= all.len() > MOST_COMBINATIONS;
            all.truncate(MOST_COMBINATIONS);
        }
        all
    }

    /// The ways to run a pipeline on these layouts: the cheapest for each layout that it can make.
    fn chosen(&self, number: usize, takes: &[usize]) -> Result<PricedWays, Diagnostic> {
        let mut module = self.module.clone();
        let pipeline = &self.pipelines[number];
        let mut closed: BTreeSet<usize> = pipeline.takes.iter().copied().collect();
        for (&maker, &layout) in pipeline.takes.iter().zip(takes) {
            self.close(&mut module, (maker, layout), &mut closed);
        }
        infer_all(self.ctx, &mut module)?;
        let end = module.op(self.ctx, pipeline.end());
        if pipeline.readers.is_empty() || !is_open_load(end) {
            return self.ends(number, &module, takes);
        }
        let (mut found, mut candidates, mut refused) = (Vec::new(), 0, None);
        for clauses in self.wanted(number, &module) {
            if self.stops(number, !found.is_empty()) {
                break;
            }
            let mut module = module.clone();
            clauses.iter().for_each(|&(name, value)| module.set_clause(end.id, name, value));
            infer_all(self.ctx, &mut module)?;
            match self.ends(number, &module, takes) {
                Ok((ways, grown)) => {
                    candidates += grown;
                    found.extend(ways.into_iter().map(|(_, way)| (clauses.clone(), way)));
                }
                Err(error) => refused = Some(error),
            }
        }
        match refused {
            Some(error) if found.is_empty() => Err(error),
            Some(_) | None => Ok((found, candidates)),
        }
    }

    /// The layouts of a register file that the pipelines that read it ask for.
    fn wanted(&self, number: usize, module: &Module) -> Vec<Clauses> {
        let cx = VerifyCx::new(self.ctx, module);
        let pipeline = &self.pipelines[number];
        let end = module.op(self.ctx, pipeline.end());
        let ops =
            |chain: &[OpId]| -> Vec<OpRef<'_>> { chain.iter().map(|&id| module.op(self.ctx, id)).collect() };
        let loader = ops(&pipeline.chain);
        let mut found: Vec<Clauses> = Vec::new();
        for &reader in &pipeline.readers {
            let reader = ops(&self.pipelines[reader].chain);
            for (row, element) in layouts(&loader, &reader, &self.means.computations, &cx) {
                let agree = crate::layout::trf_layouts::agrees(end, "row", &row)
                    && crate::layout::trf_layouts::agrees(end, "element", &element);
                let value = |map| Some(self.ctx.body_attr(&MAP, map));
                let clauses: Clauses = [("row", value(row)), ("element", value(element))].into();
                if agree && !found.contains(&clauses) {
                    found.push(clauses);
                }
            }
        }
        found
    }

    /// The cheapest way to each layout that a pipeline of `module` can make, cheapest first.
    fn ends(&self, number: usize, module: &Module, takes: &[usize]) -> Result<PricedWays, Diagnostic> {
        let pipeline = &self.pipelines[number];
        let mut module = module.clone();
        let choice = choose_with_optional(self.ctx, &mut module, &pipeline.chain, self.means, &[])?;
        let at = |stage: usize| match &choice.chain[stage..] {
            [added, before, ..] if !pipeline.chain.contains(added) => module
                .op(self.ctx, *added)
                .decl()
                .map_or(At::Written(*added), |decl| At::Added(decl, *before)),
            rest => At::Written(rest[0]),
        };
        let ways =
            if pipeline.readers.is_empty() { std::slice::from_ref(&choice.best) } else { &choice.ends[..] };
        let found = ways.iter().map(|way| {
            let steps = way.steps(&choice.graph);
            let layout = steps.last().map_or_else(|| [].into(), |step| step.clauses.clone());
            let steps = steps.iter().map(|step| (at(step.stage), (step.rule, step.clauses.clone())));
            let steps = steps.collect();
            (layout, Way { layout: 0, takes: takes.to_vec(), cycles: way.time.cycles(), steps })
        });
        let refused: u64 = choice.graph.refusals.values().map(|refused| refused.count).sum();
        Ok((found.collect(), choice.graph.egraph.total_size() as u64 + refused))
    }

    /// Adds ways to a pipeline, and the layouts that they make: the cheapest ones, unless readers ask for them.
    fn add(&mut self, number: usize, mut found: Vec<(Clauses, Way)>) {
        let pipeline = &mut self.pipelines[number];
        let asked_for = is_open_load(self.module.op(self.ctx, pipeline.end()));
        if !asked_for {
            found.sort_by_key(|(_, way)| way.cycles);
        }
        for (clauses, way) in found {
            let known = pipeline.layouts.iter().position(|layout| *layout == clauses);
            if known.is_none() && !asked_for && pipeline.layouts.len() == MOST_LAYOUTS {
                self.bounded = true;
                continue;
            }
            let layout = known.unwrap_or(pipeline.layouts.len());
            if known.is_none() {
                pipeline.layouts.push(clauses);
            }
            pipeline.ways.push(Way { layout, ..way });
        }
    }

    /// Writes some configuration of a pipeline that makes a layout: its tensor's type does not depend on which.
    /// Those in `closed` have their own already: each is written once.
    fn close(&self, module: &mut Module, (number, layout): (usize, usize), closed: &mut BTreeSet<usize>) {
        let pipeline = &self.pipelines[number];
        let Some(way) = pipeline.ways.iter().find(|way| way.layout == layout) else { return };
        for (&maker, &layout) in pipeline.takes.iter().zip(&way.takes) {
            if closed.insert(maker) {
                self.close(module, (maker, layout), closed);
            }
        }
        let end = (At::Written(pipeline.end()), (None, pipeline.layouts[layout].clone()));
        for (at, (_, clauses)) in way.steps.iter().chain([&end]) {
            let id = match at {
                At::Written(id) => Some(*id),
                At::Added(name, before) => optional::put(self.ctx, module, name, *before),
            };
            id.iter()
                .for_each(|&id| clauses.iter().for_each(|&(name, value)| module.set_clause(id, name, value)));
        }
    }

    /// The choice for each pipeline, by its end; `chosen` are numbers of `nodes`, which has all ways of the first
    /// pipeline, then of the next.
    fn taken(&self, chosen: &[usize]) -> BTreeMap<OpId, Vec<(At, Candidate)>> {
        let ways: Vec<&Way> = self.pipelines.iter().flat_map(|pipeline| &pipeline.ways).collect();
        let ends = self.pipelines.iter().map(Pipeline::end);
        ends.zip(chosen).map(|(end, &node)| (end, ways[node].steps.clone())).collect()
    }

    /// The candidates of all pipelines, for extraction.
    fn nodes(&self) -> Vec<dag::Node> {
        let pipelines = self.pipelines.iter().enumerate();
        let nodes = pipelines.flat_map(|(maker, pipeline)| {
            pipeline.ways.iter().map(move |way| dag::Node {
                maker,
                value: way.layout,
                takes: pipeline.takes.iter().copied().zip(way.takes.iter().copied()).collect(),
                cost: way.cycles,
            })
        });
        nodes.collect()
    }

    /// That a pipeline has no configuration.
    fn none(&self, number: usize, tried: usize, refused: Option<Diagnostic>) -> Diagnostic {
        let op = |id| self.module.op(self.ctx, id);
        let mut ends = self.pipelines[number].takes.iter().map(|&maker| op(self.pipelines[maker].end()));
        let open = ends.find(|end| open_clauses(*end).next().is_some());
        let (Some(end), Some(last)) = (open, refused.clone()) else {
            return refused.unwrap_or_else(|| {
                let message = "no layout of what this pipeline reads is known".to_owned();
                Diagnostic::error("select-configs", op(self.pipelines[number].chain[0]).span(), message)
            });
        };
        let what =
            if is_open_load(end) { "register file lets its contraction" } else { "tensor lets its reader" };
        let message = format!("no layout of this {what} be chosen; {tried} were tried");
        let error = Diagnostic::error("select-configs", end.span(), message);
        error.note(format!("the last one: {}", last.message), Some(last.span))
    }
}
