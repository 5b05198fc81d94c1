//! The e-graph of a pipeline. A class is a value: the stream after an engine, or the tensor at the end; its nodes
//! are the ways to make it. The graph grows from the first operation to the last: rules propose clauses, and the
//! candidate pipeline verifies and prices them.

use crate::config::candidate::{CandidatePipeline, Clauses};
use crate::config::constraints::names;
use crate::config::task::Task;
use crate::effort::budget::Budget;
use crate::effort::clock::Phase;
use crate::rules::rule::{Proposal, Site, Value};
use crate::rules::ruleset::RuleSet;
use crate::rules::text::Bound;
use egg::{EGraph, Id, Symbol, SymbolLang};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::rc::Rc;
use visa_algebra::{Axes, AxisId, Equality, Expr, digits, equal_streams};
use visa_cost::PipelineTime;
use visa_ir::context::Attr;
use visa_ir::diag::Diagnostic;
use visa_ir::module::{AttrId, OpRef, TypeId};
use visa_ir::open::{self, Opening};
use visa_ir::view::{Int, Text, unless_auto};
use visa_mapping::{Dim, Tensor, facts};
use visa_stream::ops::fetch;

/// Most nodes of an e-graph. Checked before each: omissions are reported.
pub const MAX_E_NODES: usize = 50_000;

/// A way to make a value: an operation with its clauses on another value.
#[derive(Clone, Debug)]
pub struct Step {
    /// The operation's number in the pipeline.
    pub stage: usize,
    /// The rule's choice; empty for an explicit operation.
    pub clauses: Clauses,
    /// The name of the rule; `None` for an operation that is written.
    pub rule: Option<&'static str>,
    /// The time of its engine.
    pub time: PipelineTime,
    /// The class of the value that it takes; none for the first.
    pub source: Option<usize>,
    /// Its node.
    pub head: Symbol,
}

/// A value.
pub struct Class {
    /// The operation that makes it.
    pub stage: usize,
    /// The ways to make it, in the order in which they were found.
    pub steps: Vec<Step>,
    /// Its class in the e-graph.
    pub id: Id,
    ty: TypeId,
}

impl Class {
    /// The type of the value.
    pub fn ty(&self) -> TypeId {
        self.ty
    }
}

/// The refusals, by the operation and the limit.
pub type Refusals = BTreeMap<(usize, String), Refused>;

/// Candidates that broke the same limit.
#[derive(Clone, Debug)]
pub struct Refused {
    /// Number of refusals.
    pub count: u64,
    /// The first of them: its clauses as text, and the verifier's error.
    pub example: (String, Diagnostic),
}

/// The grown e-graph.
pub struct Graph {
    /// egg's, with a proof for each union.
    pub egraph: EGraph<SymbolLang, ()>,
    /// Its classes, in the order in which they were found.
    pub classes: Vec<Class>,
    /// Refused candidates.
    pub refusals: Refusals,
    /// Proposals that disagree with explicit clauses.
    pub disagreeing: u64,
    /// Operations that something legal reaches, and the next one.
    pub rounds: usize,
    /// True if [`MAX_E_NODES`] ended the growth.
    pub full: bool,
    /// True if the budget ended the growth.
    pub cut: bool,
    /// True if it holds a way to the end of the pipeline.
    complete: bool,
    /// By operation, the rule of a text of which a bound left something out, and the bound.
    pub limits: BTreeMap<usize, (&'static str, Bound)>,
    /// The class of the value that an operation makes with a type, and with a run ([`CandidatePipeline::run`]).
    known: HashMap<(usize, TypeId, bool), usize>,
    /// The number of the task ([`CandidatePipeline::task`]).
    task: usize,
}

/// Clauses of an operation, and the rule that proposes them; `None` for explicit ones.
pub type Candidate = (Option<&'static str>, Clauses);

/// The proposals of rules for an operation.
#[derive(Default)]
pub struct Candidates {
    /// Each of them.
    pub found: Vec<Candidate>,
    /// Proposals that disagree with explicit clauses.
    pub disagreeing: u64,
    /// The rule of a text of which a bound left something out, and the bound.
    pub limit: Option<(&'static str, Bound)>,
}

impl Graph {
    /// Grows the e-graph of a pipeline by `rules`.
    ///
    /// # Errors
    /// An explicit operation that is not legal after any choice is no error here: it shows as no class at the end.
    pub fn grow(candidate: &mut CandidatePipeline<'_>, rules: &RuleSet, task: &Task) -> Self {
        let egraph = EGraph::new(()).with_explanations_enabled();
        let mut graph = Self {
            egraph,
            classes: Vec::new(),
            refusals: Refusals::new(),
            disagreeing: 0,
            rounds: 0,
            full: false,
            cut: false,
            complete: false,
            limits: BTreeMap::new(),
            known: HashMap::new(),
            task: candidate.task(task),
        };
        graph.expand(candidate, rules, task, (0, None));
        graph.egraph.rebuild();
        graph
    }

    /// Adds every way to apply operation `stage` to the value `source`, which the candidate pipeline holds, and its
    /// consequences: depth first, so that the candidate pipeline changes little. An optional operation is also omitted
    /// as a candidate: the following one then takes `source` itself.
    fn expand(
        &mut self,
        candidate: &mut CandidatePipeline<'_>,
        rules: &RuleSet,
        task: &Task,
        (stage, source): (usize, Option<usize>),
    ) {
        if stage == candidate.operations() {
            self.complete = true;
            return;
        }
        self.rounds = self.rounds.max(stage + 1);
        let optional = task.optional.contains(&stage);
        // The first attempt is all that a budget that has ended leaves.
        let absent_first = optional && task.seed_of(stage).is_none();
        if absent_first {
            self.without(candidate, rules, task, (stage, source));
        }
        self.with(candidate, rules, task, (stage, source));
        if optional && !absent_first {
            self.without(candidate, rules, task, (stage, source));
        }
    }

    /// The consequences if the pipeline omits operation `stage`.
    fn without(
        &mut self,
        candidate: &mut CandidatePipeline<'_>,
        rules: &RuleSet,
        task: &Task,
        (stage, source): (usize, Option<usize>),
    ) {
        candidate.skip();
        self.expand(candidate, rules, task, (stage + 1, source));
        candidate.pop();
    }

    /// The consequences of each way to apply operation `stage`.
    fn with(
        &mut self,
        candidate: &mut CandidatePipeline<'_>,
        rules: &RuleSet,
        task: &Task,
        (stage, source): (usize, Option<usize>),
    ) {
        let optional = task.optional.contains(&stage);
        let clock = candidate.clock();
        let ask = || candidates(candidate, rules, task, stage);
        let candidates = clock.time(Phase::Propose, || candidate.candidates(self.task, ask));
        self.disagreeing += candidates.disagreeing;
        if let Some(limit) = candidates.limit {
            self.limits.entry(stage).or_insert(limit);
        }
        for at in candidate.budget().tried(candidates.found.len()) {
            let (rule, ref clauses) = candidates.found[at];
            if self.egraph.total_size() >= MAX_E_NODES {
                self.full = true;
                return;
            }
            if self.stops(candidate.budget()) {
                self.cut = true;
                return;
            }
            match clock.time(Phase::Check, || candidate.push(clauses)) {
                Ok(_) if optional && candidate.changes_nothing(stage) => candidate.pop(),
                Ok((ty, time)) => {
                    let head = Symbol::from(described(candidate.op(stage), clauses));
                    let step = Step { stage, clauses: clauses.clone(), rule, time, source, head };
                    if let Some(class) = self.add(step, ty, candidate.run()) {
                        self.expand(candidate, rules, task, (stage + 1, Some(class)));
                    }
                    candidate.pop();
                }
                Err(refused) => self.refuse(candidate.op(stage), stage, clauses, &refused),
            }
        }
    }

    /// Returns true if the budget allows no more: with a way to the end there is a result.
    fn stops(&self, budget: &Budget) -> bool {
        budget.exhausted() || (self.complete && budget.ended())
    }

    /// Adds a way to make a value of type `ty`: one class for all with the same cost of the following operations.
    /// Returns the class, if it is new.
    fn add(&mut self, step: Step, ty: TypeId, run: bool) -> Option<usize> {
        let children = step.source.map(|source| self.classes[source].id).into_iter().collect();
        let id = self.egraph.add(SymbolLang { op: step.head, children });
        let new = self.classes.len();
        let number = *self.known.entry((step.stage, ty, run)).or_insert(new);
        if number == new {
            self.classes.push(Class { stage: step.stage, steps: Vec::new(), id, ty });
        }
        let class = &mut self.classes[number];
        if class.id != id {
            self.egraph.union_trusted(class.id, id, step.rule.unwrap_or("written"));
        }
        class.steps.push(step);
        (number == new).then_some(number)
    }

    fn refuse(&mut self, op: OpRef<'_>, stage: usize, clauses: &Clauses, refused: &Diagnostic) {
        let example = || (described(op, clauses), refused.clone());
        let entry = self.refusals.entry((stage, refused.code.clone()));
        entry.or_insert_with(|| Refused { count: 0, example: example() }).count += 1;
    }

    /// The stream type of a class, for reports.
    pub fn tensor(&self, class: usize, op: OpRef<'_>) -> Option<Rc<Tensor>> {
        op.ctx.type_value(self.classes[class].ty)
    }

    /// The classes of the pipeline's last operation.
    pub fn ends(&self, stages: usize) -> impl Iterator<Item = usize> + '_ {
        (0..self.classes.len()).filter(move |&class| self.classes[class].stage + 1 == stages)
    }
}

/// The proposals of rules for operation `stage`; for an explicit one, its clauses.
fn candidates(candidate: &CandidatePipeline<'_>, rules: &RuleSet, task: &Task, stage: usize) -> Candidates {
    let op = candidate.original(stage);
    if open_clauses(op).next().is_none() {
        return Candidates { found: vec![(None, Rc::from([]))], ..Candidates::default() };
    }
    let Some(site) = candidate.site(stage, task) else { return Candidates::default() };
    let seed = task.seed_of(stage);
    let mut found: Vec<Candidate> = seed.cloned().into_iter().collect();
    let mut known: HashSet<Clauses> = found.iter().map(|(_, clauses)| clauses.clone()).collect();
    let written: Vec<Proposal> = seed.map(|(_, seed)| proposal(op, seed)).into_iter().collect();
    let proposals = candidate.budget().charge(|| rules.proposals(&site, &written));
    candidate.budget().spend(proposals.found.len() as u64);
    let held = must_hold(&site);
    let holds_all = |proposal: &Proposal| held.is_empty() || held.is_subset(&proposed(&site, proposal));
    let mut disagreeing = 0;
    for (rule, proposal) in proposals.found.into_iter().filter(|(_, proposal)| holds_all(proposal)) {
        match chosen(op, &proposal, site.axes) {
            Some(clauses) if known.insert(clauses.clone()) => {
                found.push((Some(rule), clauses));
            }
            Some(_) => {}
            None => disagreeing += 1,
        }
    }
    Candidates { found, disagreeing, limit: proposals.limit }
}

/// The axes that must still be named after an operation: for a fetch, every axis of its tensor. If it left one out,
/// the operations after it would conclude that the result does not depend on that axis.
fn must_hold(site: &Site<'_>) -> BTreeSet<AxisId> {
    if !site.op.is(&fetch::DECL) {
        return BTreeSet::new();
    }
    let held = [Dim::Time, Dim::Packet].iter().flat_map(|&dim| moves(&site.dim(dim), site.axes));
    let written = ["time", "packet"].iter().filter_map(|name| facts::written(site.written, name));
    let named: BTreeSet<AxisId> = written.flat_map(|map| names(&map, site.axes)).collect();
    held.filter(|axis| !named.contains(axis)).collect()
}

/// The axes that the mappings of a proposal name.
fn proposed(site: &Site<'_>, proposal: &Proposal) -> BTreeSet<AxisId> {
    let maps = proposal.iter().filter_map(|(_, value)| match value {
        Value::Map(map) => Some(map),
        Value::Word(_) | Value::Int(_) | Value::Absent => None,
    });
    maps.flat_map(|map| names(map, site.axes)).collect()
}

/// The axes along which a mapping has more than one position.
fn moves(map: &Expr, axes: &Axes) -> BTreeSet<AxisId> {
    match digits(map, axes) {
        Ok(digits) => digits.iter().filter(|digit| digit.live > 1).filter_map(|digit| digit.axis).collect(),
        Err(_) => names(map, axes),
    }
}

/// The open clauses of an operation that are no addresses.
pub fn open_clauses(op: OpRef<'_>) -> impl Iterator<Item = &'static str> {
    open::clauses(op).filter(|clause| clause.opening == Opening::Configuration).map(|clause| clause.name)
}

/// The proposal's values of open clauses, if it has one for each and agrees with the written ones.
pub(crate) fn chosen(op: OpRef<'_>, proposal: &Proposal, axes: &Axes) -> Option<Clauses> {
    let open: Vec<&str> = open_clauses(op).collect();
    let mut clauses = Vec::new();
    // A clause in front specifies the meaning of others and whether they are there.
    let adds = op.decl().is_some_and(|decl| decl.clauses.iter().any(|c| c.lead && open.contains(&c.name)));
    for (name, value) in proposal {
        if open.contains(name) || (adds && op.attr(name).is_none()) {
            clauses.push((*name, value.attr(op.ctx)));
        } else if !agrees(op, name, value, axes) {
            return None;
        }
    }
    let all = open.iter().all(|name| clauses.iter().any(|(own, _)| own == name));
    all.then(|| clauses.into())
}

/// The clauses of an operation as a proposal.
fn proposal(op: OpRef<'_>, clauses: &Clauses) -> Proposal {
    let values = clauses.iter().filter_map(|&(name, value)| {
        let clause = op.decl()?.clauses.iter().find(|clause| clause.name == name)?;
        Some((name, Value::of(op.ctx, clause.kind, value)?))
    });
    values.collect()
}

/// Returns true if an explicit clause has a proposed value.
fn agrees(op: OpRef<'_>, name: &str, value: &Value, axes: &Axes) -> bool {
    match value {
        // A mapping that is not there follows from the rest.
        Value::Map(map) => facts::written(op, name)
            .is_none_or(|written| matches!(equal_streams(&written, map, axes), Equality::Equal)),
        Value::Word(word) => unless_auto::<Text>(&op, name).is_ok_and(|own| own.as_deref() == Some(word)),
        Value::Int(number) => unless_auto::<Int>(&op, name) == Ok(Some(*number)),
        Value::Absent => op.attr(name).is_none(),
    }
}

/// An operation with its choices, in our syntax.
pub fn described(op: OpRef<'_>, clauses: &Clauses) -> String {
    let there = clauses.iter().filter_map(|&(name, value)| Some((name, value?)));
    let clauses: Vec<_> = there.map(|(name, value)| clause(op, name, value)).collect();
    format!("{op} {}", clauses.join(", ")).trim_end().to_owned()
}

/// A clause in our syntax.
pub fn clause(op: OpRef<'_>, name: &str, value: AttrId) -> String {
    let value = match op.ctx.attr_value::<Expr>(value) {
        Some(map) => map.to_string(),
        None => match op.ctx.attr_data(value) {
            Attr::Str(word) => word.to_string(),
            Attr::Int(number) => number.to_string(),
            Attr::Symbol(_) | Attr::Ints(_) | Attr::Strs(_) | Attr::Unit | Attr::Auto => String::new(),
            Attr::OpenInts(_) | Attr::Body(..) | Attr::Opaque(_) => String::new(),
        },
    };
    let lead = op.decl().is_some_and(|decl| decl.clauses.iter().any(|c| c.lead && c.name == name));
    if lead { value } else { format!("{name} {value}") }
}
