//! Advice on explicit pipelines: a cheaper way to make the same tensor, the reason that it is the same, and the
//! clauses to write.
//!
//! Every clause that no other text depends on is opened, and the explicit values take part in the choice. If only
//! transfers read the tensor at the end, its layout is opened too: they specify the layout of their results.

use crate::config::candidate::Clauses;
use crate::config::choice::{Choice, choose_for};
use crate::config::computation::Computations;
use crate::config::extract::Way;
use crate::config::graph::{Candidate, Graph};
use crate::config::memo::Means;
use crate::config::task::Task;
use crate::effort::budget::Budget;
use crate::explain::report;
use crate::rules::ruleset::RuleSet;
use std::rc::Rc;
use visa_algebra::{Axes, Equality, Expr, PadKind, equal_streams};
use visa_engine::words::TopologyName;
use visa_ir::context::{Attr, Context};
use visa_ir::diag::{Diagnostic, Severity, counted};
use visa_ir::infer::infer_all;
use visa_ir::module::{AttrId, Module, OpId, OpRef};
use visa_ir::open::{Opening, untyped};
use visa_ir::print::{Form, print_op};
use visa_ir::verify::{Analysis, verify};
use visa_mapping::facts::DeclaredAxes;
use visa_mapping::ops::transfer::is_transfer;
use visa_mapping::{Tensor, facts};
use visa_stream::forgotten::sums;
use visa_stream::ops::switch::Switch;
use visa_stream::ops::{collect, commit, fetch, switch};
use visa_stream::pipeline::Pipeline;

/// Name of the reason that two tensors with other layouts count as one.
const LAYOUT: &str = "layout";

/// Reason why there is no advice.
enum Silent {
    /// No rule makes a pipeline that the verifiers accept and that is cheaper.
    NothingCheaper,
    /// The cheaper one does not fit the rest of the module: for example, its tensor is larger, and meets another.
    DoesNotFit,
}

/// A cheaper pipeline.
pub(crate) struct Advice {
    /// The choice.
    pub choice: Choice,
    /// The explicit clauses, in the same e-graph.
    pub written: Way,
    /// The module with the choice.
    pub module: Module,
    /// Operations that read otherwise there.
    pub changed: Vec<OpId>,
}

impl Advice {
    /// The cheaper pipeline with the same result as the pipeline `chain`; `None` if there is none, or if a clause of
    /// `chain` is open.
    #[must_use]
    pub(crate) fn on(
        ctx: &Context,
        module: &Module,
        chain: &[OpId],
        (rules, budget, computations): (&RuleSet, &Budget, &Rc<Computations>),
    ) -> Option<Self> {
        if chain.iter().any(|&id| untyped(module.op(ctx, id))) {
            return None;
        }
        let free = chain.last().is_some_and(|&end| layout_is_free(module.op(ctx, end)));
        let layouts = if free { &[true, false][..] } else { &[false] };
        for &layout in layouts {
            match Self::found(ctx, module, chain, (rules, budget, computations), layout) {
                Err(Silent::NothingCheaper) => return None,
                Err(Silent::DoesNotFit) => {}
                Ok(advice) => return Some(advice),
            }
        }
        None
    }

    fn found(
        ctx: &Context,
        module: &Module,
        chain: &[OpId],
        (rules, budget, computations): (&RuleSet, &Budget, &Rc<Computations>),
        layout: bool,
    ) -> Result<Self, Silent> {
        let axes = DeclaredAxes::build(ctx, module).0;
        let (open, seed) = with_holes(ctx, module, chain, rules, layout).ok_or(Silent::NothingCheaper)?;
        let ops = |module| -> Vec<OpRef<'_>> { chain.iter().map(|&id| OpRef { module, ctx, id }).collect() };
        let mut task = Task::of(&ops(&open), &axes, computations);
        let explicit = Task::of(&ops(module), &axes, computations).constraints.written;
        task.constraints.written.extend(explicit);
        task.seed = seed;
        let means = Means::new(rules, budget, computations.clone());
        let choice = choose_for(ctx, &open, chain, &means, &task);
        let mut choice = choice.map_err(|_| Silent::NothingCheaper)?;
        let written = written(&choice.graph, &task.seed).ok_or(Silent::NothingCheaper)?;
        if choice.best.time.cycles() >= written.time.cycles() {
            return Err(Silent::NothingCheaper);
        }
        if ops(module).iter().any(|op| sums(*op)) && brings_padding(ctx, module, &choice) {
            return Err(Silent::NothingCheaper);
        }
        let (changed, better) = applied(ctx, module, &choice, &axes).ok_or(Silent::DoesNotFit)?;
        unite(&mut choice, &written);
        Ok(Self { choice, written, module: better, changed })
    }

    /// The advice as a remark: the cycles of both, the chain of rewrites, and the operations to write.
    pub(crate) fn remark(&mut self, ctx: &Context, module: &Module) -> Diagnostic {
        let (found, best) = (self.written.time.cycles(), self.choice.best.time.cycles());
        let message =
            format!("this pipeline takes {}; the same tensor can be made in {best}", counted(found, "cycle"));
        let span = module.op(ctx, self.choice.chain[0]).span();
        let mut remark =
            Diagnostic { severity: Severity::Remark, ..Diagnostic::error("advise", span, message) };
        remark = remark.note(format!("it would be\n{}", report::explained(&self.choice)), None);
        if let Some(proof) = report::proof_from(&mut self.choice, &self.written) {
            remark = remark.note(format!("the same tensor:\n  {proof}"), None);
        }
        let lines = self.changed.iter().map(|&id| print_op(ctx, &self.module, id, Form::Pretty));
        let lines: Vec<_> = lines.map(|line| format!("`{}`", line.trim())).collect();
        remark.fix(format!("write {}", lines.join(", ")))
    }
}

/// The operations that pipelines end in, in program order.
#[must_use]
pub(crate) fn ends(ctx: &Context, module: &Module) -> Vec<OpId> {
    let stream = |op: OpRef<'_>, value| {
        op.ctx.type_value::<Tensor>(op.module.ty(value)).is_some_and(|tensor| tensor.kind.stream)
    };
    let is_end = |op: OpRef<'_>| {
        op.operands().first().is_some_and(|&value| stream(op, value))
            && !op.results().iter().any(|&value| stream(op, value))
    };
    module.walk_all().into_iter().filter(|&id| is_end(module.op(ctx, id))).collect()
}

/// The operations of the pipeline that ends in `end`.
#[must_use]
pub(crate) fn pipeline(ctx: &Context, module: &Module, end: OpId) -> Vec<OpId> {
    Pipeline::up_to(module.op(ctx, end)).ops
}

/// Returns true if all readers of an operation's tensor specify the layout of their results.
fn layout_is_free(end: OpRef<'_>) -> bool {
    let users: Vec<_> = end.results().iter().flat_map(|&result| end.module.uses(result)).collect();
    let free = |user: OpRef<'_>| is_transfer(user) && facts::written(user, "element").is_some();
    end.is(&commit::DECL) && !users.is_empty() && users.iter().all(|&&user| free(end.other(user)))
}

/// The module with the pipeline's configuration open, and the explicit values there.
fn with_holes(
    ctx: &Context,
    module: &Module,
    chain: &[OpId],
    rules: &RuleSet,
    layout: bool,
) -> Option<(Module, Vec<Candidate>)> {
    let (mut open, mut seed) = (module.clone(), Vec::new());
    for (at, &id) in chain.iter().enumerate() {
        let op = module.op(ctx, id);
        let opens = rules.covers(op) && (layout || at + 1 < chain.len());
        let clauses = op.decl()?.clauses.iter();
        let names =
            clauses.filter(|clause| opens && clause.opening == Opening::Configuration).map(|c| c.name);
        let names = names.filter(|name| !op.is(&switch::DECL) || follows(op, name));
        let present: Clauses = names.map(|name| (name, value(op, name))).collect();
        for &(name, value) in present.iter() {
            open.set_clause(id, name, value.map(|_| ctx.attr(Attr::Auto)));
        }
        // A written configuration may do without clauses that others need.
        seed.push((None, if present.iter().any(|(_, value)| value.is_some()) { present } else { [].into() }));
    }
    infer_all(ctx, &mut open).ok()?;
    Some((open, seed))
}

/// Returns true if a clause of a switch follows from others: its time, but for a bitmap, which has nothing else. The
/// slices after it are part of the result's type, and the ring that makes them is as large in any topology.
fn follows(switch: OpRef<'_>, clause: &str) -> bool {
    let topology = Switch::cast(switch).and_then(|switch| switch.topology_unless_auto().ok()?);
    clause == "time" && topology.is_some_and(|topology| topology != TopologyName::Custom)
}

fn value(op: OpRef<'_>, name: &str) -> Option<AttrId> {
    op.clauses().iter().find(|clause| clause.name == name).map(|clause| clause.value)
}

/// The way through the e-graph that was written.
fn written(graph: &Graph, seed: &[Candidate]) -> Option<Way> {
    let (mut path, mut source) = (Vec::new(), None);
    let mut time = visa_cost::PipelineTime::default();
    let mut text = String::new();
    for (stage, (_, clauses)) in seed.iter().enumerate() {
        let steps = graph.classes.iter().enumerate().flat_map(|(class, found)| {
            found.steps.iter().enumerate().map(move |(at, step)| (class, at, step))
        });
        let mut own = steps.filter(|(_, _, step)| step.stage == stage && step.source == source);
        let (class, at, step) = own.find(|(_, _, step)| step.clauses == *clauses)?;
        path.push((class, at));
        time = time.join(step.time);
        text = format!("{text}\n{}", step.head);
        source = Some(class);
    }
    Some(Way { time, text, path })
}

/// Both ends hold the same tensor, if in another layout.
fn unite(choice: &mut Choice, written: &Way) {
    let end = |way: &Way, graph: &Graph| way.path.last().map(|&(class, _)| graph.classes[class].id);
    let ends = (end(written, &choice.graph), end(&choice.best, &choice.graph));
    let egraph = &mut choice.graph.egraph;
    if let (Some(written), Some(best)) = ends
        && egraph.find(written) != egraph.find(best)
    {
        egraph.union_trusted(written, best, LAYOUT);
        egraph.rebuild();
    }
}

/// The module with the choice, and the operations that read otherwise; `None` if anything is found wrong with it
/// that was not before.
fn applied(ctx: &Context, module: &Module, choice: &Choice, axes: &Axes) -> Option<(Vec<OpId>, Module)> {
    let (mut better, mut changed) = (module.clone(), Vec::new());
    for step in choice.best.steps(&choice.graph) {
        let id = choice.chain[step.stage];
        let op = module.op(ctx, id);
        let new = step.clauses.iter().filter(|(name, value)| differs(op, name, *value, axes));
        let new: Vec<_> = new.collect();
        if new.is_empty() {
            continue;
        }
        new.into_iter().for_each(|&(name, value)| better.set_clause(id, name, value));
        changed.push(id);
    }
    infer_all(ctx, &mut better).ok()?;
    (verify(ctx, &better).len() <= verify(ctx, module).len()).then_some((changed, better))
}

/// Returns true if a choice fetches or collects more than the elements. Flits of such a packet can look full though
/// the last of them is not, and the additional summands are not known to be zero: a pipeline that sums stays.
fn brings_padding(ctx: &Context, module: &Module, choice: &Choice) -> bool {
    fn padded(map: &Expr) -> bool {
        matches!(map, Expr::Pad { kind: PadKind::Top, .. }) || map.children().into_iter().any(padded)
    }
    let brings = |stage: usize| {
        let op = module.op(ctx, choice.chain[stage]);
        op.is(&fetch::DECL) || op.is(&collect::DECL)
    };
    let steps = choice.best.steps(&choice.graph).into_iter().filter(|step| brings(step.stage));
    let mut maps =
        steps.flat_map(|step| step.clauses.iter()).filter_map(|&(_, value)| ctx.attr_value::<Expr>(value?));
    maps.any(|map| padded(&map))
}

/// Returns true if a clause has another value than the explicit one.
fn differs(op: OpRef<'_>, name: &str, new: Option<AttrId>, axes: &Axes) -> bool {
    let old = value(op, name);
    let map = |value: Option<AttrId>| value.and_then(|value| op.ctx.attr_value::<Expr>(value));
    match (map(old), map(new)) {
        (Some(old), Some(new)) => !matches!(equal_streams(&old, &new, axes), Equality::Equal),
        (None, _) | (_, None) => old != new,
    }
}
