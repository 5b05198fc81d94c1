//! The facts that the e-graph has about each class: its type, its number if it is one, and its definedness.

use crate::tensor::term::{Head, Term};
use egg::{Analysis, DidMerge, EGraph, Id, Symbol};
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;
use visa_algebra::Axes;
use visa_ir::build::NewOp;
use visa_ir::context::{AttrId, Context, TypeId};
use visa_ir::decl::{ClauseDecl, OpDecl, Presence};
use visa_ir::infer::result_types;
use visa_ir::module::{BlockId, Module, ValueId};
use visa_ir::span::Span;
use visa_mapping::expression::Function;
use visa_mapping::ops::{cast, constant, contract, gather, reduce, rename, restrict, skew, where_};
use visa_mapping::tensor::value::{Value, union_of_axes, value_type};
use visa_numerics::{Bits, DType};

/// The e-graph of a function.
pub(crate) type Graph<'a> = EGraph<Term, Facts<'a>>;

/// The name of the step that computes a function of numbers.
pub(crate) const FOLD: &str = "numbers";

/// Operations that are defined everywhere if their operands are.
static TOTAL: &[&OpDecl] = &[
    &cast::DECL,
    &cast::SUBTRACT_ZERO,
    &constant::CONSTANT,
    &constant::INDEX,
    &contract::DECL,
    &gather::LOOKUP,
    &reduce::DECL,
    &rename::BROADCAST,
    &rename::MERGE,
    &rename::RENAME,
    &rename::SPLIT,
    &restrict::CONCAT,
    &restrict::EXTEND,
    &skew::SKEW,
    &where_::COMPARE,
    &where_::DECL,
];

/// The kind of a class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A value, or an index.
    Value(TypeId),
    /// The results of a loop or branch.
    Results(Vec<TypeId>),
    /// A clause; `None` if it is left out.
    Clause(Option<AttrId>),
    /// A function of elements.
    Function(&'static Function),
    /// A term without a type: no rule makes one.
    Wrong,
}

/// The facts of a class.
#[derive(Clone, Debug)]
pub(crate) struct Fact {
    /// Its kind.
    pub(crate) kind: Kind,
    /// The number that it is, the same everywhere.
    pub(crate) number: Option<Bits>,
    /// True if each of its elements is defined.
    pub(crate) total: bool,
}

/// A module in which results are inferred.
struct Scratch {
    module: Module,
    block: BlockId,
    values: HashMap<TypeId, ValueId>,
    known: HashMap<(*const OpDecl, Vec<Kinds>), Option<TypeId>>,
}

/// The kind of a child, for the inference of an operation.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Kinds {
    Value(TypeId),
    Clause(Option<AttrId>),
}

/// The analysis: types are those that the operations infer, and only values of one type are merged.
pub(crate) struct Facts<'a> {
    /// The context of types and attributes.
    pub(crate) ctx: &'a Context,
    /// The axes that are declared.
    pub(crate) axes: Arc<Axes>,
    scratch: RefCell<Scratch>,
    /// True if arguments hold each coordinate along their axes.
    whole: bool,
    /// The rule that is being applied.
    pub(crate) rule: Option<Symbol>,
    /// The first merge of values of different types.
    pub(crate) conflict: Option<String>,
}

impl<'a> Facts<'a> {
    /// Facts of functions of one module.
    #[must_use]
    pub(crate) fn new(ctx: &'a Context, axes: Arc<Axes>) -> Self {
        let module = Module::default();
        let block = module.body();
        let scratch = Scratch { module, block, values: HashMap::new(), known: HashMap::new() };
        Self { ctx, axes, scratch: RefCell::new(scratch), whole: true, rule: None, conflict: None }
    }

    /// The same where arguments may hold only a part of the coordinates along their axes.
    #[must_use]
    pub(crate) fn with_partial_arguments(self) -> Self {
        Self { whole: false, ..self }
    }

    /// The value's type, if it is a tensor.
    #[must_use]
    pub(crate) fn value(&self, fact: &Fact) -> Option<std::rc::Rc<Value>> {
        match fact.kind {
            Kind::Value(ty) => self.ctx.type_value(ty),
            Kind::Results(_) | Kind::Clause(_) | Kind::Function(_) | Kind::Wrong => None,
        }
    }

    /// Returns true if two kinds are the same; the order of axes does not count.
    #[must_use]
    pub(crate) fn same(&self, left: &Kind, right: &Kind) -> bool {
        let ty = |left: TypeId, right: TypeId| {
            if left == right {
                return true;
            }
            let values = [left, right].map(|ty| self.ctx.type_value::<Value>(ty));
            let [Some(left), Some(right)] = values else { return false };
            let has_all = || left.axes.iter().all(|axis| right.has(axis));
            left.dtype == right.dtype && left.axes.len() == right.axes.len() && has_all()
        };
        match (left, right) {
            (Kind::Value(left), Kind::Value(right)) => ty(*left, *right),
            (Kind::Results(left), Kind::Results(right)) => {
                left.len() == right.len() && left.iter().zip(right).all(|(left, right)| ty(*left, *right))
            }
            (left, right) => left == right,
        }
    }

    /// The facts of a term with such children.
    pub(crate) fn infer(&self, head: &Head, children: &[&Fact]) -> Fact {
        let total = || children.iter().all(|child| child.total);
        let (kind, number, total) = match head {
            Head::Argument(_, ty) => (Kind::Value(*ty), None, self.is_whole_argument(*ty)),
            Head::Index(_, ty) => (Kind::Value(*ty), None, true),
            Head::Carried { ty, .. } => (Kind::Value(*ty), None, false),
            Head::Number(dtype, bits) => {
                (Kind::Value(value_type(self.ctx, *dtype, Vec::new())), Some(*bits), true)
            }
            Head::Apply => self.applied(children).map_or((Kind::Wrong, None, false), |(ty, number)| {
                (Kind::Value(ty), number, children[1..].iter().all(|child| child.total))
            }),
            Head::WhereDefined => self
                .guarded(children)
                .map_or((Kind::Wrong, None, false), |ty| (Kind::Value(ty), None, total())),
            Head::Operation(declared) => {
                let kind = self.operation(declared.0, children).map_or(Kind::Wrong, Kind::Value);
                let kept = || declared.0.clauses.iter().position(|clause| clause.name == "keep");
                let keeps = |at: usize| {
                    let at = children.len() - declared.0.clauses.len() + at;
                    children[at].kind != Kind::Clause(None)
                };
                let whole = TOTAL.iter().any(|decl| std::ptr::eq(*decl, declared.0));
                (kind, None, whole && total() && !kept().is_some_and(keeps))
            }
            Head::Loop(_) => (self.results(children, 1), None, false),
            Head::Branch => (self.results(children, 3), None, false),
            Head::Result(number) => {
                let ty = match children.first().map(|child| &child.kind) {
                    Some(Kind::Results(types)) => types.get(*number).copied(),
                    Some(_) | None => None,
                };
                (ty.map_or(Kind::Wrong, Kind::Value), None, false)
            }
            Head::Clause(attr) => (Kind::Clause(Some(*attr)), None, true),
            Head::Absent => (Kind::Clause(None), None, true),
            Head::Name(function) => (Kind::Function(function), None, true),
        };
        Fact { kind, number, total }
    }

    /// Returns true if an argument holds each coordinate along its axes: it does but along a skewed one.
    fn is_whole_argument(&self, ty: TypeId) -> bool {
        let Some(value) = self.ctx.type_value::<Value>(ty) else { return true };
        let skewed = |axis: &Arc<str>| self.axes.id(axis).is_none_or(|id| self.axes.skew(id).is_some());
        self.whole && !value.axes.iter().any(skewed)
    }

    /// The results of a loop or branch: after `before` children the initial values, then as many yielded ones.
    fn results(&self, children: &[&Fact], before: usize) -> Kind {
        let Some(values) = children.get(before..) else { return Kind::Wrong };
        let (initial, given) = values.split_at(values.len() / 2);
        let mut types = Vec::new();
        for (initial, given) in initial.iter().zip(given) {
            match (&initial.kind, &given.kind) {
                (Kind::Value(ty), given) if self.same(&Kind::Value(*ty), given) => types.push(*ty),
                (_, _) => return Kind::Wrong,
            }
        }
        Kind::Results(types)
    }

    /// The type of a function of elements, and its number if those of its arguments are known.
    fn applied(&self, children: &[&Fact]) -> Option<(TypeId, Option<Bits>)> {
        let (name, args) = children.split_first()?;
        let Kind::Function(function) = name.kind else { return None };
        let values: Option<Vec<_>> = args.iter().map(|arg| self.value(arg)).collect();
        let values = values.filter(|values| values.len() == function.arity)?;
        let of = values.first()?.dtype;
        let row = function.rows(of).next()?;
        for (at, (value, arg)) in values.iter().zip(args).enumerate() {
            let width = function.is_conversion() && at == 1;
            let fits = if width {
                value.dtype == DType::I32 && arg.number.is_some_and(|width| width < 32)
            } else {
                value.dtype == of
            };
            if !fits {
                return None;
            }
        }
        let numbers: Option<Vec<Bits>> = args.iter().map(|arg| arg.number).collect();
        let number = numbers.and_then(|numbers| function.apply(of, &numbers));
        let axes = union_of_axes(values.iter().map(|value| &**value));
        Some((value_type(self.ctx, row.to, axes), number))
    }

    fn guarded(&self, children: &[&Fact]) -> Option<TypeId> {
        let values: Option<Vec<_>> = children.iter().map(|child| self.value(child)).collect();
        let values = values?;
        let dtype = values.first()?.dtype;
        Some(value_type(self.ctx, dtype, union_of_axes(values.iter().map(|value| &**value))))
    }

    /// The type that an operation infers.
    fn operation(&self, decl: &'static OpDecl, children: &[&Fact]) -> Option<TypeId> {
        let kinds: Option<Vec<Kinds>> = children
            .iter()
            .map(|child| match &child.kind {
                Kind::Value(ty) => Some(Kinds::Value(*ty)),
                Kind::Clause(attr) => Some(Kinds::Clause(*attr)),
                Kind::Results(_) | Kind::Function(_) | Kind::Wrong => None,
            })
            .collect();
        let kinds = kinds?;
        let mut scratch = self.scratch.borrow_mut();
        let key = (std::ptr::from_ref(decl), kinds);
        if let Some(known) = scratch.known.get(&key) {
            return *known;
        }
        let ty = scratch.infer(self.ctx, decl, &key.1);
        scratch.known.insert(key, ty);
        ty
    }
}

impl Scratch {
    fn infer(&mut self, ctx: &Context, decl: &'static OpDecl, kinds: &[Kinds]) -> Option<TypeId> {
        let (values, clauses) = kinds.split_at_checked(kinds.len().checked_sub(decl.clauses.len())?)?;
        let mut operands = Vec::new();
        for value in values {
            let Kinds::Value(ty) = *value else { return None };
            let (module, block) = (&mut self.module, self.block);
            let add = || module.add_arg(block, ty, None, Span::default());
            operands.push(*self.values.entry(ty).or_insert_with(add));
        }
        let mut new = NewOp::written(decl, ctx, Span::default()).operands(operands);
        for (declared, clause) in decl.clauses.iter().zip(clauses) {
            match clause {
                Kinds::Clause(Some(attr)) => new = new.attr(declared.name, ctx.attr_data(*attr)),
                Kinds::Clause(None) if matches!(declared.presence, Presence::Optional) => {}
                Kinds::Clause(None) | Kinds::Value(_) => return None,
            }
        }
        let id = self.module.append(self.block, new.spec());
        let types = result_types(self.module.op(ctx, id), decl, decl.infer?).ok();
        self.module.erase(id);
        types?.first().copied()
    }
}

impl<'a> Analysis<Term> for Facts<'a> {
    type Data = Fact;

    fn make(graph: &mut Graph<'a>, term: &Term, _: Id) -> Fact {
        let children: Vec<&Fact> = term.children.iter().map(|&child| &graph[child].data).collect();
        graph.analysis.infer(&term.head, &children)
    }

    fn merge(&mut self, to: &mut Fact, from: Fact) -> DidMerge {
        if !self.same(&to.kind, &from.kind) && self.conflict.is_none() {
            let rule = self.rule.map_or("a rule", |rule| rule.as_str());
            self.conflict = Some(format!("`{rule}` merges {:?} and {:?}", to.kind, from.kind));
        }
        if let (Kind::Value(to), Kind::Value(from)) = (&mut to.kind, &from.kind) {
            // Of two orders of the axes that of the function that was read is known first.
            *to = (*to).min(*from);
        }
        let total = to.total || from.total;
        let number = to.number.or(from.number);
        let did =
            DidMerge(total != to.total || number != to.number, total != from.total || number != from.number);
        (to.total, to.number) = (total, number);
        did
    }

    fn modify(graph: &mut Graph<'a>, id: Id) {
        let Some(bits) = graph[id].data.number else { return };
        let Some(value) = graph.analysis.value(&graph[id].data) else { return };
        if value.axes.is_empty() {
            let number = graph.add(Term::new(Head::Number(value.dtype, bits), []));
            graph.union_trusted(id, number, FOLD);
        }
    }
}

/// The value of a clause that is not written: its default, or none; `None` if it must be written.
#[must_use]
pub(crate) fn unwritten(ctx: &Context, clause: &ClauseDecl) -> Option<Head> {
    match clause.presence {
        Presence::Optional => Some(Head::Absent),
        Presence::Default(text) => clause.kind.read_default(text).map(|attr| Head::Clause(ctx.attr(attr))),
        Presence::Required => None,
    }
}
