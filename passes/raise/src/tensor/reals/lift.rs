//! The values of loops over blocks of an axis, as values over the whole axis.
//!
//! A loop over [K / 256] is a frame: coordinate k of a lifted value along K is coordinate k % 256 of the value in
//! iteration k / 256. Functions of elements are the same functions of lifted values, the block of a tensor is the
//! tensor, and a branch on indices is a choice. A reduction of a block along K stays one; the recurrences of the loop
//! (`solve.rs`) put those of all blocks together.

use super::condition::Frame;
use super::laws::Laws;
use super::notes::{KeptLoop, Notes};
use super::scope::Scope;
use super::terms::{Reason, Terms, is};
use crate::tensor::computed::held;
use crate::tensor::facts::Kind;
use crate::tensor::term::{Head, Term};
use egg::Id;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use visa_algebra::{AxisId, Expr};
use visa_ir::decl::OpDecl;
use visa_mapping::ops::{cast, contract, reduce, rename, restrict, where_};
use visa_mapping::raise::sets::Set;
use visa_mapping::summed::named;

/// Operations on each element by itself.
static OF_ELEMENTS: &[&OpDecl] = &[&cast::DECL, &where_::DECL, &where_::COMPARE];

/// The values of a loop at its start and at the end of its body.
#[derive(Clone)]
pub(super) struct Carried {
    /// The values before the loop.
    pub(super) initial: Vec<Id>,
    /// The values that the body yields.
    pub(super) given: Vec<Id>,
}

impl Carried {
    /// The values of the term of a loop.
    pub(super) fn of(term: &Term) -> Self {
        let values = term.children.get(1..).unwrap_or_default();
        let (initial, given) = values.split_at(values.len() / 2);
        Self { initial: initial.to_vec(), given: given.to_vec() }
    }
}

/// The lifting of a function's values.
pub(crate) struct Lift<'l, 'a> {
    /// The terms.
    pub(crate) terms: Terms<'a>,
    pub(super) laws: &'l Laws,
    /// The differences that were found.
    pub(crate) notes: Notes,
    /// The reductions of blocks.
    pub(crate) blocks: HashSet<Id>,
    /// The results of each loop or branch that some value uses.
    used: HashMap<Id, BTreeSet<usize>>,
    /// The results of each loop that was looked at outside of frames; none if it is kept.
    folded: HashMap<Id, BTreeMap<usize, Id>>,
    lifted: HashMap<(Id, Scope), Id>,
    /// The values of the loops around the value that is lifted, by depth.
    pub(super) carried: HashMap<usize, Carried>,
}

impl<'l, 'a> Lift<'l, 'a> {
    /// The lifting of the values of a graph.
    pub(crate) fn new(terms: Terms<'a>, laws: &'l Laws, results: &[Id]) -> Self {
        let mut used: HashMap<Id, BTreeSet<usize>> = HashMap::new();
        for id in terms.reachable(results) {
            if let Ok(Term { head: Head::Result(number), children }) = terms.term(id) {
                used.entry(terms.graph.find(children[0])).or_default().insert(number);
            }
        }
        let (notes, blocks, lifted) = (Notes::default(), HashSet::new(), HashMap::new());
        let (folded, carried) = (HashMap::new(), HashMap::new());
        Self { terms, laws, notes, blocks, used, folded, lifted, carried }
    }

    /// The laws of real arithmetic.
    pub(crate) fn laws(&self) -> &'l Laws {
        self.laws
    }

    /// A value without the loops that can be folded.
    ///
    /// # Errors
    /// A value that is not lifted.
    pub(crate) fn value(&mut self, id: Id) -> Result<Id, Reason> {
        self.lift(id, &Scope::default())
    }

    pub(super) fn lift(&mut self, id: Id, scope: &Scope) -> Result<Id, Reason> {
        let id = self.terms.graph.find(id);
        let key = (id, scope.clone());
        if let Some(&known) = self.lifted.get(&key) {
            return Ok(known);
        }
        let new = if scope.frames.is_empty() { self.copy(id)? } else { self.lift_in(id, scope)? };
        self.lifted.insert(key, new);
        Ok(new)
    }

    pub(super) fn all(&mut self, ids: &[Id], scope: &Scope) -> Result<Vec<Id>, Reason> {
        ids.iter().map(|&id| self.lift(id, scope)).collect()
    }

    // ---- Outside of frames

    /// The same term with folded loops in it.
    fn copy(&mut self, id: Id) -> Result<Id, Reason> {
        let term = self.terms.term(id)?;
        let outside = Scope::default();
        if let Head::Result(number) = term.head
            && let Some(value) = self.without_loop(term.children[0], number)?
        {
            return self.fitted(value, id);
        }
        let mut children = self.all(&term.children, &outside)?;
        if let Head::Loop(_) | Head::Branch = term.head {
            for (new, old) in children.iter_mut().zip(&term.children) {
                if let Kind::Value(_) = self.terms.graph[*old].data.kind {
                    *new = self.fitted(*new, *old)?;
                }
            }
        }
        self.terms.add(term.head, children)
    }

    /// A result of a loop that is folded: all of its results that are used are. `None` if it is kept, or no loop.
    fn without_loop(&mut self, of: Id, number: usize) -> Result<Option<Id>, Reason> {
        let of = self.terms.graph.find(of);
        let term = self.terms.term(of)?;
        let (Head::Loop(depth), Some(&dimension)) = (term.head, term.children.first()) else {
            return Ok(None);
        };
        if !self.folded.contains_key(&of) {
            let before = self.notes.clone();
            let over = self.terms.mapping(dimension).map(|over| over.to_string());
            let numbers = self.used.get(&of).cloned().unwrap_or_default();
            let values = numbers.into_iter().map(|number| {
                let value = self.fold(of, number, &Scope::default());
                value.map(|value| (number, value))
            });
            let values: Result<BTreeMap<usize, Id>, Reason> = values.collect();
            let values = values.unwrap_or_else(|reason| {
                self.notes = before;
                self.notes.kept.insert(KeptLoop { reason, over });
                self.carried.remove(&depth);
                BTreeMap::new()
            });
            self.folded.insert(of, values);
        }
        Ok(self.folded.get(&of).and_then(|values| values.get(&number)).copied())
    }

    /// A value with all axes of another one.
    fn fitted(&mut self, value: Id, like: Id) -> Result<Id, Reason> {
        let Ok(wanted) = self.terms.value(like) else { return Ok(value) };
        let value = self.terms.along(value, &wanted.axes)?;
        let found = self.terms.value(value)?;
        match found.axes.iter().find(|axis| !wanted.has(axis)) {
            Some(axis) => Err(format!("a folded value depends on axis `{axis}`, which the kernel's lacks")),
            None => Ok(value),
        }
    }

    // ---- Inside of frames

    fn lift_in(&mut self, id: Id, scope: &Scope) -> Result<Id, Reason> {
        let needs = self.terms.needs(id)? & scope.bits();
        let axes: Vec<Arc<str>> = match self.terms.value(id) {
            Ok(value) => value.axes.iter().filter(|axis| scope.along(axis).is_some()).cloned().collect(),
            Err(_) => Vec::new(),
        };
        if needs == 0 && axes.is_empty() {
            return self.lift(id, &Scope::default());
        }
        let term = self.terms.term(id)?;
        match &term.head {
            Head::Apply | Head::WhereDefined => {
                let children = self.operands(&term, scope)?;
                self.terms.add(term.head, children)
            }
            Head::Operation(declared) if OF_ELEMENTS.iter().any(|decl| std::ptr::eq(*decl, declared.0)) => {
                let children = self.operands(&term, scope)?;
                self.terms.add(term.head, children)
            }
            Head::Operation(_) => self.operation(id, &term, scope, needs == 0),
            Head::Result(number) => {
                let of = self.terms.term(term.children[0])?;
                match of.head == Head::Branch {
                    true => self.branch(&of, *number, scope),
                    false => self.fold(term.children[0], *number, scope),
                }
            }
            Head::Carried { .. } if needs == 0 => self.repeated(id, &axes, scope),
            Head::Carried { depth, number, ty } => self.symbol(*depth, *number, *ty, scope),
            Head::Argument(..) => self.repeated(id, &axes, scope),
            Head::Index(..) => Err("the index of a folded loop is used as a number".to_owned()),
            Head::Number(..) | Head::Loop(_) | Head::Branch => Err("a value has no type".to_owned()),
            Head::Clause(_) | Head::Absent | Head::Name(_) => Err("a clause is used as a value".to_owned()),
        }
    }

    /// The children of a term of elements: values are lifted, clauses and names stay.
    fn operands(&mut self, term: &Term, scope: &Scope) -> Result<Vec<Id>, Reason> {
        let mut children = Vec::new();
        for &child in &term.children {
            children.push(match self.terms.graph[child].data.kind {
                Kind::Value(_) => self.lift(child, scope)?,
                Kind::Results(_) | Kind::Clause(_) | Kind::Function(_) | Kind::Wrong => child,
            });
        }
        Ok(children)
    }

    /// A value that does not depend on the frames' indices: each block has its first coordinates.
    fn repeated(&mut self, id: Id, axes: &[Arc<str>], scope: &Scope) -> Result<Id, Reason> {
        let mut value = self.lift(id, &Scope::default())?;
        for axis in axes {
            let block = scope.along(axis).map(|frame| frame.block).ok_or("an axis has no frame")?;
            value = self.terms.repeated(value, axis, block)?;
        }
        Ok(value)
    }

    fn operation(&mut self, id: Id, term: &Term, scope: &Scope, invariant: bool) -> Result<Id, Reason> {
        if is(term, &rename::BROADCAST) {
            return self.broadcast(term, scope);
        }
        if is(term, &restrict::RESTRICT) {
            return self.restricted(term, scope);
        }
        if is(term, &restrict::EXTRACT) && !invariant {
            return self.extracted(term, scope);
        }
        if is(term, &contract::DECL) || is(term, &reduce::DECL) {
            return self.reduction(term, scope);
        }
        if invariant {
            let value = self.terms.value(id)?;
            let axes: Vec<Arc<str>> =
                value.axes.iter().filter(|axis| scope.along(axis).is_some()).cloned().collect();
            return self.repeated(id, &axes, scope);
        }
        let Head::Operation(declared) = &term.head else { return Err("a term is no operation".to_owned()) };
        Err(format!("`{}` depends on the index of a loop", declared.0.name))
    }

    fn broadcast(&mut self, term: &Term, scope: &Scope) -> Result<Id, Reason> {
        let value = self.lift(term.children[0], scope)?;
        let along = self.terms.mapping(term.children[1]).ok_or("a broadcast has no axes")?;
        self.terms.along(value, &named(&along))
    }

    /// A restriction: a block is not restricted inside, and an axis that is gone is at its coordinate 0.
    fn restricted(&mut self, term: &Term, scope: &Scope) -> Result<Id, Reason> {
        let to = self.terms.mapping(term.children[1]).ok_or("a restriction has no mapping")?;
        let gone: Vec<Arc<str>> = {
            let stay = named(&to);
            let value = self.terms.value(term.children[0])?;
            value.axes.iter().filter(|axis| !stay.contains(axis)).cloned().collect()
        };
        let frames: Vec<Frame> = gone.iter().filter_map(|axis| scope.along(axis)).cloned().collect();
        let mut value = match frames.iter().find(|frame| frame.block > 1) {
            None => self.lift(term.children[0], scope)?,
            Some(frame) => self.local(term.children[0], frame, 0, scope)?,
        };
        for axis in gone.iter().filter(|axis| scope.along(axis).is_none()) {
            value = self.terms.at(value, axis, 0)?;
        }
        self.cut(value, &to, scope)
    }

    /// A value restricted to a mapping, along the axes that no frame has.
    pub(super) fn cut(&mut self, value: Id, to: &Expr, scope: &Scope) -> Result<Id, Reason> {
        let partial = self.partial(to, scope)?;
        if partial.is_empty() {
            return Ok(value);
        }
        let axes = Arc::clone(&self.terms.graph.analysis.axes);
        let terms: Vec<Expr> = self
            .terms
            .value(value)?
            .axes
            .iter()
            .map(|name| {
                let set = partial.iter().find(|(axis, _)| *axes.name(*axis) == **name);
                set.map_or_else(|| Expr::axis(name), |(axis, set)| set.expr(*axis, &axes))
            })
            .collect();
        let to = self.terms.map(Expr::pair(terms));
        self.terms.operation(&restrict::RESTRICT, &[value], &[("to", to)])
    }

    /// The axes along which a mapping holds a part only; along those of frames it holds all of a block.
    pub(super) fn partial(&self, part: &Expr, scope: &Scope) -> Result<Vec<(AxisId, Set)>, Reason> {
        let axes = &self.terms.graph.analysis.axes;
        let held = held(&self.terms.graph.analysis, part).ok_or_else(|| format!("`{part}` is not known"))?;
        let mut partial = Vec::new();
        for (axis, set) in held {
            let name = axes.name(axis);
            match scope.along(name) {
                Some(frame) => {
                    let mut block = 0..frame.block;
                    let has = |at: u64| usize::try_from(at).is_ok_and(|at| set.has(at));
                    if !block.all(has) {
                        return Err(format!("`{part}` holds a part of a block along `{name}`"));
                    }
                }
                None if !set.is_all() => partial.push((axis, set)),
                None => {}
            }
        }
        Ok(partial)
    }
}
