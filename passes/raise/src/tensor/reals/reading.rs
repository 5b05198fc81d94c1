//! A value as a real number in normal form.

use super::laws::{CHOICE, EXPONENTIAL, Laws, SCALED_ROUNDING, SCALED_SUM};
use super::real::{Factor, Product, Real};
use super::terms::{Reason, Terms, is};
use crate::tensor::term::Term;
use egg::Id;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use visa_ir::context::Attr;
use visa_mapping::ops::{reduce, rename, where_};
use visa_mapping::summed::named;
use visa_numerics::{DType, ReduceName};

/// Most steps of rules for one value. A rule may undo another one.
const MAX_STEPS: usize = 256;

/// Most factors of a number, nested ones included: each step may double them.
const MAX_SIZE: usize = 2_000;

/// The values of a loop's step that are separate factors.
#[derive(Default)]
pub(crate) struct Symbols {
    /// The carried values before an iteration.
    pub(crate) before: Vec<Id>,
    /// The same after it, if they are numbers.
    pub(crate) after: Vec<Option<Id>>,
    /// Values of which every choice gives the same results.
    pub(crate) free: Vec<Id>,
    /// Sums and maxima of a block: values that depend on them are looked into.
    pub(crate) blocks: HashSet<Id>,
}

/// The reader of values.
pub(crate) struct Reading<'t, 'a> {
    terms: &'t mut Terms<'a>,
    laws: &'t Laws,
    symbols: &'t Symbols,
    open: HashMap<Id, bool>,
    known: HashMap<Id, Real>,
    steps: usize,
    /// The laws that were used.
    pub(crate) used: BTreeSet<&'static str>,
}

impl<'t, 'a> Reading<'t, 'a> {
    /// A reader for which `symbols` are factors.
    pub(crate) fn new(terms: &'t mut Terms<'a>, laws: &'t Laws, symbols: &'t Symbols) -> Self {
        Self {
            terms,
            laws,
            symbols,
            open: HashMap::new(),
            known: HashMap::new(),
            steps: 0,
            used: BTreeSet::new(),
        }
    }

    /// The value that a step computes: a symbol at its end is no factor.
    ///
    /// # Errors
    /// A class without a term.
    pub(crate) fn step(&mut self, value: Id) -> Result<Real, Reason> {
        self.inside(value)
    }

    /// A value.
    ///
    /// # Errors
    /// A class without a term.
    pub(crate) fn read(&mut self, value: Id) -> Result<Real, Reason> {
        if let Some(factor) = self.symbol(value) {
            return Ok(Real::factor(factor));
        }
        let value = self.terms.graph.find(value);
        if let Some(known) = self.known.get(&value) {
            return Ok(known.clone());
        }
        let real = self.inside(value)?;
        if real.size() > MAX_SIZE {
            return Err(format!("a number has more than {MAX_SIZE} factors"));
        }
        self.known.insert(value, real.clone());
        Ok(real)
    }

    fn symbol(&self, value: Id) -> Option<Factor> {
        let find = |id: Id| self.terms.graph.find(id);
        let value = find(value);
        let at = |all: &[Id]| all.iter().position(|&id| find(id) == value);
        let after = || self.symbols.after.iter().position(|id| id.is_some_and(|id| find(id) == value));
        let before = at(&self.symbols.before).map(Factor::Before);
        let free = || at(&self.symbols.free).map(|at| Factor::Free(self.symbols.free[at]));
        before.or_else(|| after().map(Factor::After)).or_else(free)
    }

    /// Returns true if a symbol, or a sum of a block, is part of a value.
    ///
    /// # Errors
    /// A class without a term.
    pub(crate) fn is_open(&mut self, value: Id) -> Result<bool, Reason> {
        let value = self.terms.graph.find(value);
        if let Some(&open) = self.open.get(&value) {
            return Ok(open);
        }
        let mut open = self.symbol(value).is_some() || self.symbols.blocks.contains(&value);
        for child in self.terms.term(value)?.children {
            open |= self.is_open(child)?;
        }
        self.open.insert(value, open);
        Ok(open)
    }

    /// Returns true if a value is a symbol.
    #[must_use]
    pub(crate) fn is_symbol(&self, value: Id) -> bool {
        self.symbol(value).is_some()
    }

    /// The format of a value.
    #[must_use]
    pub(crate) fn dtype(&self, value: Id) -> Option<DType> {
        Some(self.terms.value(value).ok()?.dtype)
    }

    /// The children of a value's term.
    ///
    /// # Errors
    /// A class without a term.
    pub(crate) fn children(&self, value: Id) -> Result<Vec<Id>, Reason> {
        Ok(self.terms.term(value)?.children)
    }

    fn inside(&mut self, value: Id) -> Result<Real, Reason> {
        if let Some(number) = self.terms.number_of(value).filter(|number| number.is_finite()) {
            return Ok(Real::number(number));
        }
        let term = self.terms.term(value)?;
        if is(&term, &rename::BROADCAST) {
            return self.read(term.children[0]);
        }
        let dtype = self.terms.value(value)?.dtype;
        let known = match dtype == DType::F32 && self.is_open(value)? {
            true => self.known(value, &term)?,
            false => None,
        };
        Ok(known.unwrap_or_else(|| Real::factor(Factor::Value(value))))
    }

    /// The normal form of a term, if the laws have one.
    fn known(&mut self, value: Id, term: &Term) -> Result<Option<Real>, Reason> {
        if let Some((name, arguments)) = self.terms.function(term) {
            if let Some(real) = self.function(name, &arguments)? {
                return Ok(Some(real));
            }
        } else if is(term, &where_::DECL) {
            if let Some(real) = self.choice(term)? {
                return Ok(Some(real));
            }
        } else if self.terms.is_conversion(term) {
            if let Some(real) = self.rounded(term.children[0])? {
                return Ok(Some(real));
            }
        } else if is(term, &reduce::DECL)
            && let Some(real) = self.sum(term)?
        {
            return Ok(Some(real));
        }
        let Some((right, name)) = self.laws.step(&mut self.terms.graph, value) else { return Ok(None) };
        self.steps += 1;
        if self.steps > MAX_STEPS {
            return Err(format!("more than {MAX_STEPS} steps of rules, of which one is `{name}`"));
        }
        self.used.insert(name);
        self.open.insert(right, true);
        self.read(right).map(Some)
    }

    fn function(&mut self, name: &str, arguments: &[Id]) -> Result<Option<Real>, Reason> {
        let binary = ["add", "sub", "mul", "div"];
        if name != "exp" && !binary.contains(&name) {
            return Ok(None);
        }
        let arguments: Vec<Real> = arguments.iter().map(|&id| self.read(id)).collect::<Result<_, _>>()?;
        Ok(match (name, arguments.as_slice()) {
            ("add", [x, y]) => Some(x.plus(y)),
            ("sub", [x, y]) => Some(x.plus(&y.scaled(-1.0))),
            ("mul", [x, y]) => x.times(y),
            ("div", [x, y]) => x.over(y),
            ("exp", [x]) => {
                self.used.insert(EXPONENTIAL);
                Some(Real::one(Product::exponential(x.clone()), 1.0))
            }
            (_, _) => None,
        })
    }

    /// A choice of which one alternative is 0.
    fn choice(&mut self, term: &Term) -> Result<Option<Real>, Reason> {
        let &[test, then, otherwise] = term.children.as_slice() else { return Ok(None) };
        let is_zero = |id: Id| self.terms.number_of(id) == Some(0.0);
        let (holds, value) = match (is_zero(then), is_zero(otherwise)) {
            (_, true) => (true, then),
            (true, false) => (false, otherwise),
            (false, false) => return Ok(None),
        };
        self.used.insert(CHOICE);
        let real = self.read(value)?;
        Ok(real.times(&Real::factor(Factor::Where { test, holds })))
    }

    /// The rounding of a value to a narrow format; the factors that change with the loop stand before it.
    fn rounded(&mut self, narrow: Id) -> Result<Option<Real>, Reason> {
        let term = self.terms.term(narrow)?;
        let format = self.terms.value(narrow)?.dtype;
        let from = term.children.first().and_then(|&id| self.terms.value(id).ok());
        if !self.terms.is_conversion(&term)
            || from.is_none_or(|from| from.dtype != DType::F32)
            || !format.is_float()
        {
            return Ok(None);
        }
        let real = self.read(term.children[0])?;
        let Some((product, number)) = real.only() else { return Ok(None) };
        let mut changes =
            |factor: &Factor| matches!(factor, Factor::Before(_) | Factor::After(_) | Factor::Free(_));
        let (before, inside) = product.divided(&mut changes);
        if !before.is_one() {
            self.used.insert(SCALED_ROUNDING);
        }
        let inside = Factor::Rounded(format, Box::new((super::real::Number(number), inside)));
        Ok(Some(Real::one(before.times(&Product::of(inside)), 1.0)))
    }

    /// A sum along axes, of each product separately; the factors that lack these axes stand before it.
    fn sum(&mut self, term: &Term) -> Result<Option<Real>, Reason> {
        let ctx = self.terms.graph.analysis.ctx;
        let word = self.terms.clause(term, "op").map(|attr| ctx.attr_data(attr));
        let is_sum = matches!(word, Some(Attr::Str(word)) if *word == *ReduceName::Add.word());
        let over = self.terms.clause(term, "over").and_then(|attr| ctx.attr_value(attr));
        let (Some(over), true, None) = (over, is_sum, self.terms.clause(term, "keep")) else {
            return Ok(None);
        };
        let over: std::rc::Rc<visa_algebra::Expr> = over;
        let mut axes = named(&over);
        axes.sort();
        let Some(count) = self.terms.counted_once(&over) else { return Ok(None) };
        // Its factors, not their product, are the operands of a contraction.
        let summed = self.terms.graph.find(term.children[0]);
        self.open.insert(summed, true);
        let real = self.read(summed)?;
        let mut all = Real::default();
        for (product, number) in &real.0 {
            let (inside, before) = self.divided(product, &axes);
            if !before.is_one() {
                self.used.insert(SCALED_SUM);
            }
            let (sum, times) = if inside.is_one() {
                (Product::default(), count as f64)
            } else {
                (Product::of(Factor::Sum(axes.clone(), Box::new(inside))), 1.0)
            };
            all = all.plus(&Real::one(before.times(&sum), number.0 * times));
        }
        Ok(Some(all))
    }

    /// The parts of a product that depend on some axes, and the others.
    fn divided(&self, product: &Product, axes: &[Arc<str>]) -> (Product, Product) {
        let mut depends = |factor: &Factor| {
            factor.any(&mut |factor| match factor {
                Factor::Value(id) | Factor::Free(id) | Factor::Where { test: id, .. } => {
                    axes.iter().any(|axis| self.terms.has(*id, axis))
                }
                Factor::Before(number) | Factor::After(number) => {
                    axes.iter().any(|axis| self.terms.has(self.symbols.before[*number], axis))
                }
                Factor::Rounded(..) | Factor::Sum(..) => false,
            })
        };
        product.divided(&mut depends)
    }
}
