//! Construction of terms, and their parts.

use crate::order::positions;
use crate::tensor::facts::{Graph, Kind, unwritten};
use crate::tensor::term::{Head, Term};
use egg::Id;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;
use visa_algebra::Expr;
use visa_ir::context::{Attr, AttrId};
use visa_ir::decl::OpDecl;
use visa_mapping::expression::Function;
use visa_mapping::ops::{cast, constant, reduce, rename, restrict, where_};
use visa_mapping::tensor::attrs::{COMPARISONS, MAP};
use visa_mapping::tensor::numbers::Number;
use visa_mapping::tensor::value::Value;
use visa_numerics::{Compare, Comparisons, DType, ReduceName, from_number, to_f64};

/// The reason why a loop is not folded.
pub(crate) type Reason = String;

/// An e-graph in which each class has the one term that made it.
pub(crate) struct Terms<'a> {
    /// The graph.
    pub(crate) graph: Graph<'a>,
    needs: HashMap<Id, u64>,
}

impl<'a> Terms<'a> {
    /// The terms of a graph that no rule has changed.
    #[must_use]
    pub(crate) fn new(graph: Graph<'a>) -> Self {
        Self { graph, needs: HashMap::new() }
    }

    /// Adds a term.
    ///
    /// # Errors
    /// A term without a type.
    pub(crate) fn add(&mut self, head: Head, children: Vec<Id>) -> Result<Id, Reason> {
        let id = self.graph.add(Term::new(head, children));
        match self.graph[id].data.kind {
            Kind::Wrong => Err("a folded value would have no type".to_owned()),
            Kind::Value(_) | Kind::Results(_) | Kind::Clause(_) | Kind::Function(_) => Ok(id),
        }
    }

    /// The term of a class: a number if it is one.
    ///
    /// # Errors
    /// A class without a term.
    pub(crate) fn term(&self, id: Id) -> Result<Term, Reason> {
        let nodes = &self.graph[self.graph.find(id)].nodes;
        let number = nodes.iter().find(|term| matches!(term.head, Head::Number(..)));
        number.or(nodes.first()).cloned().ok_or_else(|| "a value has no term".to_owned())
    }

    /// The type of a value.
    ///
    /// # Errors
    /// A class that is no tensor.
    pub(crate) fn value(&self, id: Id) -> Result<Rc<Value>, Reason> {
        let value = self.graph.analysis.value(&self.graph[id].data);
        value.ok_or_else(|| "an index is used as a value".to_owned())
    }

    /// Returns true if a value has an axis.
    #[must_use]
    pub(crate) fn has(&self, id: Id, axis: &str) -> bool {
        self.value(id).is_ok_and(|value| value.has(axis))
    }

    /// The number that a value is everywhere.
    #[must_use]
    pub(crate) fn number_of(&self, id: Id) -> Option<f64> {
        let fact = &self.graph[id].data;
        let dtype = self.graph.analysis.value(fact)?.dtype;
        let term = self.term(id).ok()?;
        if is(&term, &rename::BROADCAST) {
            return self.number_of(*term.children.first()?);
        }
        if self.is_conversion(&term) {
            // A number that the format has is not rounded.
            let number = self.number_of(*term.children.first()?)?;
            let bits = from_number(dtype, number)?;
            return (to_f64(dtype, bits) == number).then_some(number);
        }
        fact.number.map(|bits| to_f64(dtype, bits))
    }

    /// Returns true if a term is a cast of numbers, and not of their bits.
    #[must_use]
    pub(crate) fn is_conversion(&self, term: &Term) -> bool {
        is(term, &cast::DECL) && self.clause(term, "bits").is_none()
    }

    /// The classes of which some values are made.
    #[must_use]
    pub(crate) fn reachable(&self, values: &[Id]) -> HashSet<Id> {
        let (mut open, mut seen) = (values.to_vec(), HashSet::new());
        while let Some(id) = open.pop() {
            let id = self.graph.find(id);
            if let (true, Ok(term)) = (seen.insert(id), self.term(id)) {
                open.extend(term.children);
            }
        }
        seen
    }

    /// A bit for each loop on whose index or carried values a value depends.
    ///
    /// # Errors
    /// A class without a term.
    pub(crate) fn needs(&mut self, id: Id) -> Result<u64, Reason> {
        let id = self.graph.find(id);
        if let Some(&needs) = self.needs.get(&id) {
            return Ok(needs);
        }
        let term = self.term(id)?;
        let mut needs = 0;
        for &child in &term.children {
            needs |= self.needs(child)?;
        }
        match term.head {
            Head::Index(depth, _) | Head::Carried { depth, .. } => needs |= 1 << depth,
            Head::Loop(depth) => needs &= !(1 << depth),
            Head::Argument(..) | Head::Number(..) | Head::Apply | Head::WhereDefined | Head::Branch => {}
            Head::Operation(_) | Head::Result(_) | Head::Clause(_) | Head::Absent | Head::Name(_) => {}
        }
        self.needs.insert(id, needs);
        Ok(needs)
    }

    /// Returns true if a value depends on the loop at a depth.
    ///
    /// # Errors
    /// A class without a term.
    pub(crate) fn depends(&mut self, id: Id, depth: usize) -> Result<bool, Reason> {
        Ok(self.needs(id)? & (1 << depth) != 0)
    }

    /// A function of elements, by its name.
    ///
    /// # Errors
    /// Arguments that it does not take.
    pub(crate) fn apply(&mut self, name: &str, arguments: &[Id]) -> Result<Id, Reason> {
        let function = Function::find(name).ok_or_else(|| format!("there is no function `{name}`"))?;
        let name = self.graph.add(Term::new(Head::Name(function), []));
        self.add(Head::Apply, [&[name], arguments].concat())
    }

    /// A number.
    ///
    /// # Errors
    /// A number that the format does not have.
    pub(crate) fn number(&mut self, dtype: DType, number: f64) -> Result<Id, Reason> {
        let bits = from_number(dtype, number).ok_or_else(|| format!("{number} is no `{dtype}`"))?;
        self.add(Head::Number(dtype, bits), Vec::new())
    }

    /// An operation with some of its clauses; others have their defaults.
    ///
    /// # Errors
    /// Operands or clauses that it does not take.
    pub(crate) fn operation(
        &mut self,
        decl: &'static OpDecl,
        operands: &[Id],
        clauses: &[(&str, AttrId)],
    ) -> Result<Id, Reason> {
        let mut children = operands.to_vec();
        for declared in decl.clauses {
            let written = clauses.iter().find(|(name, _)| *name == declared.name);
            let head = match written {
                Some((_, attr)) => Some(Head::Clause(*attr)),
                None => unwritten(self.graph.analysis.ctx, declared),
            };
            let head = head.ok_or_else(|| format!("`{}` lacks clause `{}`", decl.name, declared.name))?;
            children.push(self.graph.add(Term::new(head, [])));
        }
        self.add(Head::operation(decl), children)
    }

    /// A mapping as a clause.
    #[must_use]
    pub(crate) fn map(&self, expr: Expr) -> AttrId {
        self.graph.analysis.ctx.body_attr(&MAP, expr)
    }

    /// A reduction along whole axes in any order; one of floats, whose order counts, is free.
    ///
    /// # Errors
    /// A value without one of the axes.
    pub(crate) fn reduce(&mut self, op: ReduceName, value: Id, axes: &[Arc<str>]) -> Result<Id, Reason> {
        let ctx = self.graph.analysis.ctx;
        let over = self.map(list(axes));
        let mut clauses = vec![("op", ctx.attr(Attr::Str(op.word().into()))), ("over", over)];
        if op == ReduceName::Add {
            clauses.push(("free", ctx.attr(Attr::Unit)));
        }
        self.operation(&reduce::DECL, &[value], &clauses)
    }

    /// The choice of `then` where a condition is not 0.
    ///
    /// # Errors
    /// Values of different formats.
    pub(crate) fn choose(&mut self, condition: Id, then: Id, otherwise: Id) -> Result<Id, Reason> {
        self.operation(&where_::DECL, &[condition, then, otherwise], &[])
    }

    /// 1 where an integer is less than a number.
    ///
    /// # Errors
    /// A value that is no integer.
    pub(crate) fn less(&mut self, value: Id, bound: i64) -> Result<Id, Reason> {
        let with = Comparisons(vec![(Compare::Less, Some(Number(bound as f64)))]);
        let with = self.graph.analysis.ctx.body_attr(&COMPARISONS, with);
        self.operation(&where_::COMPARE, &[value], &[("with", with)])
    }

    /// The number of the block of `size` coordinates along an axis in which each coordinate is.
    ///
    /// # Errors
    /// An axis that is not declared.
    pub(crate) fn block_number(&mut self, axis: &Arc<str>, size: u64) -> Result<Id, Reason> {
        let clause = self.map(list(std::slice::from_ref(axis)));
        let index = self.operation(&constant::INDEX, &[], &[("axis", clause)])?;
        if size == 1 {
            return Ok(index);
        }
        let count = self.axis_size(axis)? / size;
        let from = self.map(Expr::pair([Expr::axis(axis).resize(count), Expr::Literal(size)]));
        let to = self.map(list(std::slice::from_ref(axis)));
        self.operation(&rename::REARRANGE, &[index], &[("from", from), ("to", to)])
    }

    /// A value whose first `size` coordinates along an axis are repeated in each block of as many.
    ///
    /// # Errors
    /// An axis that is not declared.
    pub(crate) fn repeated(&mut self, value: Id, axis: &Arc<str>, size: u64) -> Result<Id, Reason> {
        let count = self.axis_size(axis)? / size;
        if count == 1 {
            return Ok(value);
        }
        let from = self.map(Expr::pair([Expr::Literal(count), Expr::axis(axis).modulo(size)]));
        let to = self.map(list(std::slice::from_ref(axis)));
        self.operation(&rename::REARRANGE, &[value], &[("from", from), ("to", to)])
    }

    /// A value with axes, along which it is the same everywhere if it lacked them.
    ///
    /// # Errors
    /// A class that is no value.
    pub(crate) fn along(&mut self, value: Id, axes: &[Arc<str>]) -> Result<Id, Reason> {
        let missing: Vec<Arc<str>> = axes.iter().filter(|axis| !self.has(value, axis)).cloned().collect();
        if missing.is_empty() {
            return Ok(value);
        }
        let along = self.map(list(&missing));
        self.operation(&rename::BROADCAST, &[value], &[("along", along)])
    }

    /// Number of positions of a mapping that hold an index; `None` if two hold the same one.
    #[must_use]
    pub(crate) fn counted_once(&self, over: &Expr) -> Option<u64> {
        let all: Vec<_> = positions(over, &self.graph.analysis.axes)?.into_iter().flatten().collect();
        let different: BTreeSet<_> = all.iter().collect();
        (different.len() == all.len()).then_some(all.len() as u64)
    }

    /// The size of an axis.
    ///
    /// # Errors
    /// An axis that is not declared.
    pub(crate) fn axis_size(&self, axis: &str) -> Result<u64, Reason> {
        let axes = &self.graph.analysis.axes;
        let id = axes.id(axis).ok_or_else(|| format!("axis `{axis}` is not declared"))?;
        Ok(axes.size(id))
    }

    /// A value at one coordinate along an axis, which is gone.
    ///
    /// # Errors
    /// A term without a type.
    pub(crate) fn at(&mut self, value: Id, axis: &Arc<str>, coordinate: u64) -> Result<Id, Reason> {
        if !self.has(value, axis) {
            return Ok(value);
        }
        let term = self.term(value)?;
        if let Head::Apply = term.head {
            let arguments: Vec<Id> = term.children[1..]
                .iter()
                .map(|&child| self.at(child, axis, coordinate))
                .collect::<Result<_, _>>()?;
            return self.add(Head::Apply, [&term.children[..1], &arguments].concat());
        }
        if is(&term, &where_::DECL) {
            let test = self.at(term.children[0], axis, coordinate)?;
            if let Some(number) = self.number_of(test) {
                let chosen = if number == 0.0 { term.children[2] } else { term.children[1] };
                return self.at(chosen, axis, coordinate);
            }
            let then = self.at(term.children[1], axis, coordinate)?;
            let otherwise = self.at(term.children[2], axis, coordinate)?;
            return self.choose(test, then, otherwise);
        }
        if is(&term, &constant::INDEX) {
            return self.number(DType::I32, coordinate as f64);
        }
        if is(&term, &restrict::EXTRACT)
            && let Some((inner, first)) = self.shifted(&term, axis)
        {
            return self.at(inner, axis, first + coordinate);
        }
        self.picked(value, axis, coordinate)
    }

    /// The operand of an extraction along one whole axis without indices or a part, and its first coordinate.
    fn shifted(&self, term: &Term, axis: &Arc<str>) -> Option<(Id, u64)> {
        let (operands, clauses) = self.parts(term).ok()?;
        let (&[value], [along, index, part]) = (operands, clauses) else { return None };
        let along = self.mapping(*along)?;
        let first = self.integer(*index)?;
        let is_whole = *along == list(std::slice::from_ref(axis)) || *along == Expr::axis(axis);
        let absent = matches!(self.graph[*part].data.kind, Kind::Clause(None));
        (is_whole && absent).then(|| Some((value, u64::try_from(first).ok()?)))?
    }

    fn picked(&mut self, value: Id, axis: &Arc<str>, coordinate: u64) -> Result<Id, Reason> {
        let mut value = value;
        if coordinate != 0 {
            let along = self.map(list(std::slice::from_ref(axis)));
            let index = i64::try_from(coordinate).map_err(|_| "a coordinate is too large".to_owned())?;
            let index = self.graph.analysis.ctx.attr(Attr::Int(index));
            value = self.operation(&restrict::EXTRACT, &[value], &[("along", along), ("index", index)])?;
        }
        let others: Vec<Arc<str>> =
            self.value(value)?.axes.iter().filter(|other| *other != axis).cloned().collect();
        let to = if others.is_empty() { Expr::Literal(1) } else { list(&others) };
        let to = self.map(to);
        self.operation(&restrict::RESTRICT, &[value], &[("to", to)])
    }

    /// The operands and the clauses of an operation's term.
    ///
    /// # Errors
    /// A term that is no operation.
    pub(crate) fn parts<'t>(&self, term: &'t Term) -> Result<(&'t [Id], &'t [Id]), Reason> {
        match &term.head {
            Head::Operation(declared) => {
                Ok(term.children.split_at(term.children.len() - declared.0.clauses.len()))
            }
            Head::Argument(..)
            | Head::Index(..)
            | Head::Carried { .. }
            | Head::Number(..)
            | Head::Apply
            | Head::WhereDefined
            | Head::Loop(_)
            | Head::Branch
            | Head::Result(_)
            | Head::Clause(_)
            | Head::Absent
            | Head::Name(_) => Err("a term is no operation".to_owned()),
        }
    }

    /// The clause of an operation's term; `None` if it is left out.
    #[must_use]
    pub(crate) fn clause(&self, term: &Term, name: &str) -> Option<AttrId> {
        let Head::Operation(declared) = &term.head else { return None };
        let at = declared.0.clauses.iter().position(|clause| clause.name == name)?;
        let first = term.children.len() - declared.0.clauses.len();
        self.attribute(*term.children.get(first + at)?)
    }

    fn attribute(&self, clause: Id) -> Option<AttrId> {
        match self.graph[clause].data.kind {
            Kind::Clause(attr) => attr,
            Kind::Value(_) | Kind::Results(_) | Kind::Function(_) | Kind::Wrong => None,
        }
    }

    /// The mapping that a clause is.
    #[must_use]
    pub(crate) fn mapping(&self, clause: Id) -> Option<Rc<Expr>> {
        self.graph.analysis.ctx.attr_value(self.attribute(clause)?)
    }

    /// The integer that a clause is.
    #[must_use]
    pub(crate) fn integer(&self, clause: Id) -> Option<i64> {
        match self.graph.analysis.ctx.attr_data(self.attribute(clause)?) {
            Attr::Int(number) => Some(number),
            Attr::Str(_) | Attr::Symbol(_) | Attr::Ints(_) | Attr::Strs(_) | Attr::Unit => None,
            Attr::Auto | Attr::OpenInts(_) | Attr::Body(..) | Attr::Opaque(_) => None,
        }
    }

    /// The name of a function of elements, and its arguments.
    #[must_use]
    pub(crate) fn function(&self, term: &Term) -> Option<(&'static str, Vec<Id>)> {
        let (Head::Apply, Some((&name, arguments))) = (&term.head, term.children.split_first()) else {
            return None;
        };
        match self.graph[name].data.kind {
            Kind::Function(function) => Some((function.name, arguments.to_vec())),
            Kind::Value(_) | Kind::Results(_) | Kind::Clause(_) | Kind::Wrong => None,
        }
    }
}

/// Returns true if a term is an operation of a declaration.
#[must_use]
pub(crate) fn is(term: &Term, decl: &'static OpDecl) -> bool {
    term.head == Head::operation(decl)
}

/// A list of axes.
#[must_use]
pub(crate) fn list(axes: &[Arc<str>]) -> Expr {
    Expr::pair(axes.iter().map(|axis| Expr::axis(axis)))
}
