//! Every configuration of a pipeline that its space ([`Space`]) has and the verifiers accept: no rules, no e-graph, no
//! fronts. The ordinary verifier refuses, the ordinary passes lower the whole kernel, and its program's stages give
//! their costs.
//!
//! The legal operations after a stream, and their costs, follow from the stream's type (of a load of the tensor
//! register file, and from its fetch): so a type that was met before is not searched again, and its configurations are
//! counted again. This is checked each time: the kernel is lowered with the operations that followed the type the
//! first time.

use super::space::{Space, Values};
use super::whole;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;
use visa_ir::context::{Attr, Context};
use visa_ir::diag::{Diagnostic, Severity};
use visa_ir::infer::{infer_all, result_types};
use visa_ir::module::{AttrId, Module, OpId, OpRef, TypeId};
use visa_ir::print::{Form, print_op};
use visa_ir::span::Span;
use visa_ir::verify::{Analysis, VerifyCx, has_errors, verify};
use visa_machine::Machine;
use visa_mapping::facts::DeclaredAxes;
use visa_select::config::graph::open_clauses;
use visa_stream::ops::{fetch, store};
use visa_stream::unmasked;

/// The result of the search.
#[derive(Default)]
pub(crate) struct Least {
    /// Legal configurations.
    pub(crate) legal: u64,
    /// Values that were tried for an operation after a stream.
    pub(crate) tried: u64,
    /// Kernels that were lowered.
    pub(crate) lowered: u64,
    /// True if that is all of the space.
    pub(crate) whole: bool,
    /// Cycles of the pipeline's command, and its text; none if nothing is legal.
    pub(crate) best: Option<(u64, String)>,
    /// The module with the first legal configuration.
    pub(crate) first: Option<Module>,
}

impl Least {
    /// The work of the search so far, in values: to lower a kernel takes as long as some values that verifiers refuse.
    pub(crate) fn effort(&self) -> u64 {
        self.tried + LOWERED * self.lowered
    }
}

/// Values that are tried while a kernel is lowered.
const LOWERED: u64 = 4;

/// Prices every configuration of the pipeline `chain` of a module in which nothing else is open, unless that takes
/// more than `most` effort.
pub(crate) fn enumerate(ctx: &Context, module: &Module, chain: &[OpId], most: u64) -> Least {
    search(ctx, module, chain, most, false)
}

/// The module with the first legal configuration, in the order of the search.
pub(crate) fn first(ctx: &Context, module: &Module, chain: &[OpId]) -> Option<Module> {
    search(ctx, module, chain, MOST_UNTIL_FIRST, true).first
}

/// Limit of the search for a first legal configuration.
const MOST_UNTIL_FIRST: u64 = 8_000;

fn search(ctx: &Context, module: &Module, chain: &[OpId], most: u64, first_only: bool) -> Least {
    let axes = Rc::new(DeclaredAxes::build(ctx, module));
    let machine = ctx.data::<visa_machine::Machine>();
    let space = Space::of(ctx, module, chain, &machine, &axes.0);
    let spans = chain.iter().map(|&id| module.op(ctx, id).span()).collect();
    let open = |&id: &OpId| open_clauses(module.op(ctx, id)).next().map(|_| module.op(ctx, id).span());
    let mut search = Search {
        ctx,
        chain,
        spans,
        open: chain.iter().map(open).collect(),
        machine: &machine,
        space,
        axes: axes.clone(),
        known: HashMap::new(),
        priced: HashMap::new(),
        most,
        first_only,
        least: Least::default(),
    };
    let mut closed = module.clone();
    let all = search.explore(&mut closed, 0).unwrap_or_default();
    let Search { mut least, space, .. } = search;
    least.whole = least.effort() <= most && space.is_whole() && !first_only;
    least.legal = all.times.values().map(|(count, _)| count).sum();
    if let Some((&(busiest, latency, _), (_, way))) = all.times.iter().min_by_key(|(time, _)| time.0 + time.1)
    {
        write(&mut closed, chain, way);
        let text = chain.iter().map(|&id| print_op(ctx, &closed, id, Form::Pretty));
        least.best = Some((busiest + latency, text.collect::<Vec<_>>().join("\n")));
    }
    least
}

/// Cycles of the busiest of some engines, until they have filled, and until later ones get their first packet.
pub(crate) type Time = (u64, u64, u64);

pub(crate) fn join(one: Time, other: Time) -> Time {
    (one.0.max(one.2 + other.0), one.1 + other.1, one.2 + other.2)
}

/// The clauses of operations, first to last.
enum Way {
    End,
    Step(usize, Values, Rc<Way>),
}

/// The continuations of a stream: each possible time, the number of configurations that take it, and one of them.
#[derive(Default)]
struct After {
    times: BTreeMap<Time, (u64, Rc<Way>)>,
}

impl After {
    fn end() -> Self {
        Self { times: [((0, 0, 0), (1, Rc::new(Way::End)))].into() }
    }

    /// Adds everything that begins with these values for an operation.
    fn add(&mut self, (stage, values, time): (usize, &Values, Time), after: &Self) {
        for (&rest, (count, way)) in &after.times {
            let step = || (0, Rc::new(Way::Step(stage, values.clone(), way.clone())));
            self.times.entry(join(time, rest)).or_insert_with(step).0 += count;
        }
    }
}

fn write(module: &mut Module, chain: &[OpId], mut way: &Rc<Way>) {
    while let Way::Step(stage, values, next) = &**way {
        values.iter().for_each(|&(name, value)| module.set_clause(chain[*stage], name, Some(value)));
        way = next;
    }
}

struct Search<'a> {
    ctx: &'a Context,
    chain: &'a [OpId],
    spans: Vec<Span>,
    /// The same of those that have something open: nothing else is to blame.
    open: Vec<Option<Span>>,
    machine: &'a Machine,
    space: Space<'a>,
    axes: Rc<DeclaredAxes>,
    known: HashMap<(usize, TypeId, Values), Rc<After>>,
    /// The times of lowered kernels, by the values of all clauses of the pipeline: the same kernel is lowered once.
    priced: HashMap<Vec<AttrId>, Rc<[Time]>>,
    most: u64,
    first_only: bool,
    least: Least,
}

impl Search<'_> {
    fn op<'m>(&'m self, module: &'m Module, stage: usize) -> OpRef<'m> {
        module.op(self.ctx, self.chain[stage])
    }

    fn over(&self) -> bool {
        self.least.effort() > self.most || (self.first_only && self.least.first.is_some())
    }

    /// Everything from operation `stage` on. If lowering refuses an operation before it, its number.
    fn explore(&mut self, module: &mut Module, stage: usize) -> Result<After, usize> {
        let mut all = After::default();
        let id = self.chain[stage];
        let open: Vec<&'static str> = open_clauses(self.op(module, stage)).collect();
        let auto = self.ctx.attr(Attr::Auto);
        for values in self.space.values(self.op(module, stage), &open) {
            self.least.tried += 1;
            if self.over() {
                break;
            }
            values.iter().for_each(|&(name, value)| module.set_clause(id, name, Some(value)));
            let next = if self.legal(module, stage) { self.step(module, stage) } else { Ok(None) };
            match next {
                Ok(Some((time, after))) => all.add((stage, &values, time), &after),
                Ok(None) => {}
                Err(blamed) if blamed < stage => {
                    open.iter().for_each(|name| module.set_clause(id, name, Some(auto)));
                    return Err(blamed);
                }
                Err(_) => {}
            }
        }
        open.iter().for_each(|name| module.set_clause(id, name, Some(auto)));
        Ok(all)
    }

    /// Returns true if an operation is legal; the operations before it are.
    fn legal(&self, module: &mut Module, stage: usize) -> bool {
        let op = self.op(module, stage);
        let Some((decl, infer)) = op.decl().and_then(|decl| Some((decl, decl.infer?))) else { return false };
        let Ok(types) = result_types(op, decl, infer) else { return false };
        let results = op.results().to_vec();
        results.into_iter().zip(&*types).for_each(|(value, &ty)| module.set_type(value, ty));
        let op = self.op(module, stage);
        let known = VerifyCx::new(self.ctx, module);
        known.know(self.axes.clone());
        // A sum over undefined elements is legal for the machine, but it is not the same tensor.
        decl.verify.is_none_or(|verify| verify(op, &known).is_ok())
            && unmasked::warnings(op, &self.axes.0).is_empty()
    }

    /// The time of an operation, and its continuations. If lowering refuses it, or one before it, the number of that.
    fn step(&mut self, module: &mut Module, stage: usize) -> Result<Option<(Time, Rc<After>)>, usize> {
        if stage + 1 == self.chain.len() {
            let times = self.price(module, stage)?;
            return Ok(Some((times[stage], Rc::new(After::end()))));
        }
        let result = self.op(module, stage).results()[0];
        let key = (stage, module.ty(result), self.fetched(module));
        let after = match self.known.get(&key) {
            Some(after) => after.clone(),
            None => {
                let after = Rc::new(self.explore(module, stage + 1)?);
                if !self.over() {
                    self.known.insert(key, after.clone());
                }
                after
            }
        };
        let Some((&expected, (_, way))) = after.times.first_key_value() else { return Ok(None) };
        let way = way.clone();
        let mut closed = module.clone();
        write(&mut closed, self.chain, &way);
        let times = self.price(&closed, stage)?;
        let found = times[stage + 1..].iter().copied().fold((0, 0, 0), join);
        assert_eq!(found, expected, "what follows a stream depends on its type alone");
        Ok(Some((times[stage], after)))
    }

    /// Of a load of the tensor register file how it was fetched: that decides whether it is a short command (book
    /// 18), which is no matter of types.
    fn fetched(&self, module: &Module) -> Values {
        if !self.op(module, self.chain.len() - 1).is(&store::TO_TRF) {
            return Vec::new();
        }
        let fetch = self.chain.iter().map(|&id| module.op(self.ctx, id)).find(|op| op.is(&fetch::DECL));
        let value = |name: &'static str| {
            let clauses = fetch.iter().flat_map(|op| op.clauses());
            clauses.into_iter().find(|clause| clause.name == name).map(|clause| (name, clause.value))
        };
        ["time", "packet"].into_iter().filter_map(value).collect()
    }

    /// The time of each operation of a module. If an operation of the pipeline is refused, its number; `stage` if
    /// none is blamed.
    fn price(&mut self, module: &Module, stage: usize) -> Result<Rc<[Time]>, usize> {
        let clauses = self.chain.iter().flat_map(|&id| module.op(self.ctx, id).clauses().iter());
        let key: Vec<AttrId> = clauses.map(|clause| clause.value).collect();
        if let Some(times) = self.priced.get(&key) {
            return Ok(times.clone());
        }
        self.least.lowered += 1;
        let times: Rc<[Time]> = self.lower(module, stage)?.into();
        self.priced.insert(key, times.clone());
        Ok(times)
    }

    /// As [`Self::price`], for a kernel that was not lowered before.
    fn lower(&mut self, module: &Module, stage: usize) -> Result<Vec<Time>, usize> {
        let mut closed = module.clone();
        let blamed = |findings: &[Diagnostic]| {
            let at = |finding: &Diagnostic| self.open.iter().position(|span| *span == Some(finding.span));
            findings
                .iter()
                .filter(|finding| finding.severity == Severity::Error)
                .find_map(at)
                .unwrap_or(stage)
        };
        infer_all(self.ctx, &mut closed).map_err(|error| blamed(&[error]))?;
        let findings = verify(self.ctx, &closed);
        if has_errors(&findings) {
            return Err(blamed(&findings));
        }
        let program = whole::compile(self.ctx, closed.clone()).map_err(|findings| blamed(&findings))?;
        self.least.first.get_or_insert(closed);
        let mut times = vec![(0, 0, 0); self.spans.len()];
        for (span, cost, wait) in whole::stages(&program, self.machine, self.spans[self.spans.len() - 1]) {
            let at = self.spans.iter().position(|own| *own == span).expect("a stage of the pipeline");
            times[at] = join(times[at], (cost.cycles, cost.latency, wait));
        }
        Ok(times)
    }
}
