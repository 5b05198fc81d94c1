//! Expressions as terms of an e-graph, and the rules as its rewrites.

use super::rule::VectorRule;
use egg::{
    Analysis, ConditionalApplier, DidMerge, EGraph, ENodeOrVar, Id, Language, Pattern, PatternAst, RecExpr,
    Rewrite, Runner, SimpleScheduler, StopReason, Subst, Var,
};
use std::collections::BTreeMap;
use std::time::Duration;
use visa_mapping::expression::{Dag, Function, NodeKind};
use visa_numerics::{Bits, DType};

/// Most rounds of rewriting.
pub const MAX_ITERATIONS: usize = 8;

/// Most nodes of an e-graph; checked after each round.
pub const MAX_E_NODES: usize = 1_000;

/// Never reached: results must not depend on the clock.
const NO_TIME_LIMIT: Duration = Duration::from_secs(24 * 60 * 60);

/// The head of a node, without its children.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Head {
    /// The operand of this number, of its format.
    Operand(usize, DType),
    /// A number of its format.
    Number(Bits, DType),
    /// A function of arguments of this format.
    Apply(&'static Function, DType),
}

/// A node of the e-graph.
pub(crate) type Node = visa_canonical::node::Node<Head>;

/// The known facts of a class: its format, and its value if that is one number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Known {
    dtype: DType,
    number: Option<Bits>,
}

/// The analysis: numbers are computed as the engine does.
#[derive(Clone, Default)]
pub(crate) struct Values;

impl Analysis<Node> for Values {
    type Data = Known;

    fn make(graph: &mut EGraph<Node, Self>, node: &Node, _: Id) -> Known {
        match &node.head {
            Head::Operand(_, dtype) => Known { dtype: *dtype, number: None },
            Head::Number(bits, dtype) => Known { dtype: *dtype, number: Some(*bits) },
            Head::Apply(function, from) => {
                let dtype = function.rows(*from).next().map_or(*from, |row| row.to);
                let args: Option<Vec<Bits>> = node.children.iter().map(|&id| graph[id].data.number).collect();
                let number = args.and_then(|args| function.apply(*from, &args));
                // A clause holds finite numbers only.
                let written = |bits: &Bits| dtype != DType::F32 || f32::from_bits(*bits).is_finite();
                Known { dtype, number: number.filter(written) }
            }
        }
    }

    fn merge(&mut self, to: &mut Known, from: Known) -> DidMerge {
        let (had, has) = (to.number.is_some(), from.number.is_some());
        to.number = to.number.or(from.number);
        DidMerge(!had && has, had && !has)
    }

    fn modify(graph: &mut EGraph<Node, Self>, id: Id) {
        let Known { dtype, number } = graph[id].data.clone();
        if let Some(bits) = number {
            let number = graph.add(Node::new(Head::Number(bits, dtype), []));
            graph.union(id, number);
        }
    }
}

/// Size of an e-graph, and the reason for the end of rewriting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Statistics {
    /// Classes of equal expressions.
    pub e_classes: usize,
    /// Operations, operands and numbers.
    pub e_nodes: usize,
    /// Rounds of rewriting.
    pub iterations: usize,
    /// True if no rule had a further equality; otherwise a bound was reached.
    pub saturated: bool,
}

/// Equal expressions, as plain data: classes by number.
#[derive(Clone, Debug)]
pub(crate) struct Equals {
    /// The classes; arguments may be after their uses.
    pub(crate) classes: Vec<Class>,
    /// The class of the whole expression.
    pub(crate) root: usize,
}

/// Expressions that are equal.
#[derive(Clone, Debug)]
pub(crate) struct Class {
    /// Their format.
    pub(crate) dtype: DType,
    /// Their value, if that is one number.
    pub(crate) number: Option<Bits>,
    /// The operand that they are, if any.
    pub(crate) operand: Option<usize>,
    /// The operations that compute them: the function, the format of its arguments, and their classes.
    pub(crate) forms: Vec<(&'static Function, DType, Vec<usize>)>,
}

/// Everything that the rules find equal to `dag` and its parts.
pub(crate) fn saturate(dag: &Dag, rules: &[Rewrite<Node, Values>]) -> (Equals, Statistics) {
    let term = lower(dag, |head| head);
    let runner = Runner::<Node, Values, ()>::new(Values)
        .with_iter_limit(MAX_ITERATIONS)
        .with_node_limit(MAX_E_NODES)
        .with_time_limit(NO_TIME_LIMIT)
        .with_scheduler(SimpleScheduler)
        .with_expr(&term)
        .run(rules);
    let statistics = Statistics {
        e_classes: runner.egraph.number_of_classes(),
        e_nodes: runner.egraph.total_size(),
        iterations: runner.iterations.len(),
        saturated: matches!(runner.stop_reason, Some(StopReason::Saturated)),
    };
    let root = runner.roots[0];
    let stream = dag.nodes.first().map(|node| Node::new(Head::Operand(0, node.dtype), []));
    let stream = stream.and_then(|stream| runner.egraph.lookup(stream));
    (flatten(&runner.egraph, root, stream), statistics)
}

/// The stream's class and those that the root is made of, numbered from it on: so the numbers do not depend on how
/// the e-graph grew.
fn flatten(graph: &EGraph<Node, Values>, root: Id, stream: Option<Id>) -> Equals {
    let mut order = vec![graph.find(root)];
    order.extend(stream.map(|stream| graph.find(stream)).filter(|&stream| stream != order[0]));
    let mut numbers: BTreeMap<Id, usize> = order.iter().enumerate().map(|(at, &id)| (id, at)).collect();
    let mut classes = Vec::new();
    let mut at = 0;
    while let Some(&id) = order.get(at) {
        at += 1;
        let class = &graph[id];
        let Known { dtype, number } = class.data.clone();
        let mut nodes: Vec<&Node> = class.nodes.iter().filter(|_| number.is_none()).collect();
        // Of equally good operations the first is taken: that of fewer arguments.
        nodes.sort_by_key(|node| (node.children.len(), *node));
        let mut found = Class { dtype, number, operand: None, forms: Vec::new() };
        for node in nodes {
            match &node.head {
                Head::Operand(operand, _) => found.operand = Some(*operand),
                Head::Number(..) => {}
                Head::Apply(function, from) => {
                    let args = node.children.iter().map(|&child| {
                        let child = graph.find(child);
                        *numbers.entry(child).or_insert_with(|| {
                            order.push(child);
                            order.len() - 1
                        })
                    });
                    found.forms.push((function, *from, args.collect()));
                }
            }
        }
        classes.push(found);
    }
    Equals { classes, root: 0 }
}

/// A DAG as a term, its root last; `of` makes a node of it.
fn lower<L: Language>(dag: &Dag, of: impl Fn(Node) -> L) -> RecExpr<L> {
    let mut term = RecExpr::default();
    let mut ids: Vec<Id> = Vec::new();
    for node in dag.nodes.iter().take(dag.root + 1) {
        let (head, args): (Head, &[usize]) = match &node.kind {
            NodeKind::Operand(operand) => (Head::Operand(*operand, node.dtype), &[]),
            NodeKind::Number(bits) => (Head::Number(*bits, node.dtype), &[]),
            NodeKind::Apply(function, args) => {
                let from =
                    args.first().and_then(|&arg| dag.nodes.get(arg)).map_or(node.dtype, |arg| arg.dtype);
                (Head::Apply(function, from), args)
            }
        };
        let children = args.iter().filter_map(|&arg| ids.get(arg).copied()).collect();
        ids.push(term.add(of(Node { head, children })));
    }
    term
}

/// The rewrites of the rules that may be used.
///
/// # Errors
/// A rule whose right side has an operand that the left one lacks.
pub(crate) fn rewrites(rules: &[VectorRule], fast: bool) -> Result<Vec<Rewrite<Node, Values>>, String> {
    let mut all = Vec::new();
    for rule in rules.iter().filter(|rule| fast || rule.fast.is_none()) {
        all.push(rewrite(rule, &rule.left, &rule.right, "")?);
        if rule.both_ways {
            all.push(rewrite(rule, &rule.right, &rule.left, "-back")?);
        }
    }
    Ok(all)
}

fn rewrite(
    rule: &VectorRule,
    left: &Dag,
    right: &Dag,
    suffix: &str,
) -> Result<Rewrite<Node, Values>, String> {
    let name = format!("{}-{}{suffix}", rule.name, rule.dtype);
    let (left, right) = (Pattern::new(pattern(left)), Pattern::new(pattern(right)));
    let Some(asked) = rule.condition.clone() else { return Rewrite::new(name, left, right) };
    let condition = move |graph: &mut EGraph<Node, Values>, _: Id, subst: &Subst| {
        let number = |operand: usize| subst.get(variable(operand)).and_then(|&id| graph[id].data.number);
        // Of an operand whose number is not known nothing holds, nor its opposite.
        let holds = asked.holds(&|test| Some(test.predicate.holds(number(test.operand)?)));
        holds == Some(true)
    };
    Rewrite::new(name, left, ConditionalApplier { condition, applier: right })
}

fn variable(operand: usize) -> Var {
    Var::from_u32(u32::try_from(operand).unwrap_or(u32::MAX))
}

fn pattern(dag: &Dag) -> PatternAst<Node> {
    let of = |node: Node| match node.head {
        Head::Operand(operand, _) => ENodeOrVar::Var(variable(operand)),
        Head::Number(..) | Head::Apply(..) => ENodeOrVar::ENode(node),
    };
    lower(dag, of)
}
