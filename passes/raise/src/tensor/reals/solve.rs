//! The values that a loop carries, as reductions over all of its blocks.
//!
//! A carried value x becomes max(x, y), with y of the block alone, or a x + b. In the second case there must be a
//! number g of carried values and their exponentials: a is g before the step, divided by g after it. The product g x
//! grows by b times g after the step. If that does not depend on a carried value, it is summed over all blocks. The
//! online softmax has the maximum m, the factor a = exp(m before - m after), and so g = exp(m).

use super::condition::Frame;
use super::emit::Emit;
use super::laws::Laws;
use super::notes::Notes;
use super::reading::{Reading, Symbols};
use super::real::{Factor, Product, Real};
use super::terms::{Reason, Terms, is};
use egg::Id;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use visa_ir::context::Attr;
use visa_mapping::ops::reduce;
use visa_mapping::summed::named;
use visa_numerics::ReduceName;

/// A step of a loop, with values over whole axes.
pub(crate) struct Step {
    /// The loop.
    pub(crate) frame: Frame,
    /// The tests of the blocks that count, each with true if it holds there.
    pub(crate) tests: Vec<(Id, bool)>,
    /// The carried values before the loop.
    pub(crate) initial: Vec<Id>,
    /// The symbols of the step.
    pub(crate) symbols: Symbols,
}

/// A part of a maximum, and the axes along which it is reduced too.
type Leaf = (Id, Vec<Arc<str>>);

/// The carried values of which a factor is made: their powers, and their factors in an exponent.
type Scale = (BTreeMap<usize, i32>, Vec<(usize, f64)>);

/// Solves the recurrences of a step.
pub(crate) struct Solver<'t, 'a> {
    /// The terms.
    pub(crate) terms: &'t mut Terms<'a>,
    /// The laws.
    pub(crate) laws: &'t Laws,
    /// The step.
    pub(crate) step: Step,
    /// The notes about differences.
    pub(crate) notes: &'t mut Notes,
    done: HashMap<usize, Id>,
    begun: Vec<usize>,
}

/// The recurrence of a sum: the product whose factors are `power` times carried values, and the parts that are added.
struct Recurrence {
    powers: BTreeMap<usize, i32>,
    exponents: Vec<(usize, f64)>,
    /// The summands times g after the step, each a product of the block.
    added: Real,
}

impl<'t, 'a> Solver<'t, 'a> {
    /// The solver of a step.
    pub(crate) fn new(terms: &'t mut Terms<'a>, laws: &'t Laws, step: Step, notes: &'t mut Notes) -> Self {
        Self { terms, laws, step, notes, done: HashMap::new(), begun: Vec::new() }
    }

    /// A carried value after the loop.
    ///
    /// # Errors
    /// A value that is no reduction of the blocks.
    pub(crate) fn solve(&mut self, number: usize) -> Result<Id, Reason> {
        if let Some(&done) = self.done.get(&number) {
            return Ok(done);
        }
        if self.begun.contains(&number) {
            return Err(format!("{} depends on itself", self.name(number)));
        }
        let after = self.step.symbols.after.get(number).copied().flatten();
        let after = after.ok_or_else(|| format!("{} is no number", self.name(number)))?;
        self.begun.push(number);
        let value = match self.leaves(number, after)? {
            Some(leaves) => self.greatest(number, leaves)?,
            None => match self.wrapping_sum(number, after)? {
                Some(sum) => sum,
                None => self.sum(number, after)?,
            },
        };
        self.begun.pop();
        self.done.insert(number, value);
        Ok(value)
    }

    fn name(&self, number: usize) -> String {
        format!("carried value {number} of the loop over {}", super::notes::dimension(&self.step.frame))
    }

    pub(super) fn depends(&mut self, id: Id) -> Result<bool, Reason> {
        self.terms.depends(id, self.step.frame.depth)
    }

    // ---- Maxima

    /// The parts of a maximum of a carried value and others, each with the axes along which it is reduced too; `None`
    /// if the value is no such maximum.
    fn leaves(&mut self, number: usize, after: Id) -> Result<Option<Vec<Leaf>>, Reason> {
        let (mut leaves, mut open, mut own) = (Vec::new(), vec![(after, Vec::<Arc<str>>::new())], 0);
        let mut seen = HashSet::new();
        while let Some((id, axes)) = open.pop() {
            // A maximum of a value with itself is the value.
            let term = self.terms.term(id)?;
            if !seen.insert((self.terms.graph.find(id), axes.clone())) {
                continue;
            }
            if self.terms.graph.find(id) == self.terms.graph.find(self.step.symbols.before[number]) {
                // The maximum of a value along its own axis is not the value.
                own += if axes.iter().any(|axis| self.terms.has(id, axis)) { 2 } else { 1 };
                continue;
            }
            if let Some(("max", arguments)) = self.terms.function(&term) {
                open.extend(arguments.into_iter().map(|argument| (argument, axes.clone())));
                continue;
            }
            if is(&term, &reduce::DECL)
                && let Some(more) = self.maximum_over(id)
            {
                open.push((term.children[0], [axes, more].concat()));
                continue;
            }
            if self.depends(id)? {
                return Ok(None);
            }
            leaves.push((id, axes));
        }
        Ok((own == 1).then_some(leaves))
    }

    /// The axes of a maximum of a block.
    fn maximum_over(&self, id: Id) -> Option<Vec<Arc<str>>> {
        let term = self.terms.term(id).ok()?;
        let ctx = self.terms.graph.analysis.ctx;
        let word = ctx.attr_data(self.terms.clause(&term, "op")?);
        let is_max = matches!(word, Attr::Str(word) if *word == *ReduceName::Max.word());
        let over: std::rc::Rc<visa_algebra::Expr> = ctx.attr_value(self.terms.clause(&term, "over")?)?;
        let is_block = self.step.symbols.blocks.contains(&self.terms.graph.find(id));
        (is_max && is_block).then(|| named(&over))
    }

    fn greatest(&mut self, number: usize, leaves: Vec<Leaf>) -> Result<Id, Reason> {
        let initial = self.step.initial[number];
        let axis = Arc::clone(&self.step.frame.axis);
        let mut plain: Option<Id> = None;
        for (value, mut axes) in leaves {
            axes.retain(|axis| self.terms.has(value, axis));
            if self.terms.has(value, &axis) && !axes.contains(&axis) {
                axes.push(Arc::clone(&axis));
            }
            if !axes.contains(&axis) && !self.step.tests.is_empty() {
                return Err(format!("{} has a maximum that not each block has", self.name(number)));
            }
            axes.sort();
            let mut value = value;
            for &(test, holds) in self.step.tests.iter().filter(|_| axes.contains(&axis)) {
                let (then, otherwise) = if holds { (value, initial) } else { (initial, value) };
                value = self.terms.choose(test, then, otherwise)?;
            }
            if !axes.is_empty() {
                value = self.terms.reduce(ReduceName::Max, value, &axes)?;
            }
            plain = Some(match plain {
                None => value,
                Some(plain) => self.terms.apply("max", &[plain, value])?,
            });
        }
        let Some(plain) = plain else { return Ok(initial) };
        let bounded = self.terms.apply("max", &[plain, initial])?;
        self.notes.maximum(&self.step.frame, plain, bounded);
        Ok(bounded)
    }

    // ---- Sums

    fn sum(&mut self, number: usize, after: Id) -> Result<Id, Reason> {
        let recurrence = self.recurrence(number, after)?;
        let Recurrence { powers, exponents, added } = recurrence;
        let mut finals: BTreeMap<usize, Id> = BTreeMap::new();
        for carried in powers.keys().copied().chain(exponents.iter().map(|(carried, _)| *carried)) {
            let value = self.solve(carried)?;
            finals.insert(carried, value);
        }
        let last: BTreeMap<usize, Real> =
            finals.iter().map(|(at, id)| (*at, Real::factor(Factor::Value(*id)))).collect();
        let total = self.total(number, &added)?;
        let mut first = BTreeMap::new();
        for &carried in finals.keys() {
            first.insert(carried, self.read(self.step.initial[carried])?);
        }
        let initial = self.read(self.step.initial[number])?;
        let too_long = || format!("{} is too long a sum", self.name(number));
        let whole = match initial.0.is_empty() {
            true => total,
            false => {
                let scale = scale(&powers, &exponents, &first, 1).ok_or_else(too_long)?;
                total.plus(&initial.times(&scale).ok_or_else(too_long)?)
            }
        };
        let scale = scale(&powers, &exponents, &last, -1).ok_or_else(too_long)?;
        let real = whole.times(&scale).ok_or_else(too_long)?;
        let mut emit = Emit::new(self.terms);
        let value = emit.real(&real)?;
        let sums = std::mem::take(&mut emit.sums);
        let references: Vec<Id> = finals.values().copied().collect();
        self.notes.sums(&self.step.frame, sums, &references, &real);
        Ok(value)
    }

    fn read(&mut self, id: Id) -> Result<Real, Reason> {
        Reading::new(self.terms, self.laws, &Symbols::default()).read(id)
    }

    /// The recurrence of a carried value.
    fn recurrence(&mut self, number: usize, after: Id) -> Result<Recurrence, Reason> {
        let mut reading = Reading::new(self.terms, self.laws, &self.step.symbols);
        let real = reading.step(after)?;
        let used = std::mem::take(&mut reading.used);
        let is_own = |factor: &Factor| *factor == Factor::Before(number);
        let (own, others): (Vec<_>, Vec<_>) =
            real.0.iter().partition(|(product, _)| product.any(&mut { is_own }));
        let no = |why: &str| format!("{} {why}", self.name(number));
        let [(product, coefficient)] = own.as_slice() else {
            return Err(no("is neither a maximum nor a multiple of itself plus a number"));
        };
        if coefficient.0 != 1.0 || product.powers.get(&Factor::Before(number)) != Some(&1) {
            return Err(no("is neither a maximum nor a multiple of itself plus a number"));
        }
        let mut factor = (*product).clone();
        factor.powers.remove(&Factor::Before(number));
        let (powers, exponents) = quotient(&factor).ok_or_else(|| {
            no("is multiplied by a factor that is no quotient of its values before and after")
        })?;
        let after_scale = symbols(&powers, &exponents);
        let mut added = Real::default();
        for (product, coefficient) in others {
            added = added.plus(&Real::one(product.times(&after_scale), coefficient.0));
        }
        self.check_free(number, &added)?;
        self.notes.laws(used);
        Ok(Recurrence { powers, exponents, added })
    }

    /// Refuses summands that depend on carried values, or on a reduction of the block that is no sum of theirs.
    fn check_free(&mut self, number: usize, added: &Real) -> Result<(), Reason> {
        let mut found = None;
        added.any(&mut |factor| {
            let carried = match factor {
                Factor::Before(other) | Factor::After(other) => Some(*other),
                Factor::Value(id) | Factor::Where { test: id, .. } => {
                    let opaque = self.terms.depends(*id, self.step.frame.depth).unwrap_or(true)
                        || self.holds_block(*id);
                    opaque.then_some(number)
                }
                Factor::Free(_) | Factor::Rounded(..) | Factor::Sum(..) => None,
            };
            found = found.or(carried);
            carried.is_some()
        });
        match found {
            None => Ok(()),
            Some(other) if other == number => {
                Err(format!("{} adds a number that is not of the block alone", self.name(number)))
            }
            Some(other) => Err(format!(
                "what {} adds is not relative to carried value {other} as its factor is",
                self.name(number)
            )),
        }
    }

    /// Returns true if a value is computed of a reduction of one block.
    fn holds_block(&self, id: Id) -> bool {
        self.terms.reachable(&[id]).iter().any(|id| self.step.symbols.blocks.contains(id))
    }

    /// The sum of the summands of all blocks.
    fn total(&mut self, number: usize, added: &Real) -> Result<Real, Reason> {
        let axis = Arc::clone(&self.step.frame.axis);
        let mut tests = Product::default();
        for &(test, holds) in &self.step.tests {
            tests = tests.times(&Product::of(Factor::Where { test, holds }));
        }
        let mut all = Real::default();
        for (product, coefficient) in &added.0 {
            let sums: Vec<_> = product.powers.iter().filter(|(factor, _)| sums_over(factor, &axis)).collect();
            let (before, axes, inside) = match sums.as_slice() {
                [(Factor::Sum(axes, inside), 1)] => {
                    let mut before = product.clone();
                    before.powers.retain(|factor, _| !sums_over(factor, &axis));
                    (before, axes.clone(), (**inside).clone())
                }
                [] => {
                    let mut depends = |factor: &Factor| self.is_along(factor, &axis);
                    let (inside, before) = product.divided(&mut depends);
                    (before, vec![Arc::clone(&axis)], inside)
                }
                [_, ..] => return Err(format!("{} adds a product of sums", self.name(number))),
            };
            let mut depends = |factor: &Factor| self.is_along(factor, &axis);
            let block = sums.is_empty() && self.step.frame.block != 1 && !inside.is_one();
            if before.any(&mut depends) || block {
                return Err(format!("{} is added to along the axis of its loop", self.name(number)));
            }
            // A number that each block adds counts once for a block, not for each of its coordinates.
            let constant = inside.is_one();
            let inside = inside.times(&tests);
            let (sum, times) = match (inside.is_one(), constant) {
                (true, _) => (Product::default(), self.step.frame.count as f64),
                (false, true) => {
                    let part = 1.0 / self.step.frame.block as f64;
                    (Product::of(Factor::Sum(axes, Box::new(inside))), part)
                }
                (false, false) => (Product::of(Factor::Sum(axes, Box::new(inside))), 1.0),
            };
            all = all.plus(&Real::one(before.times(&sum), coefficient.0 * times));
        }
        Ok(all)
    }

    /// Returns true if a factor has an axis that is not summed inside of it.
    fn is_along(&self, factor: &Factor, axis: &str) -> bool {
        match factor {
            Factor::Value(id) | Factor::Free(id) | Factor::Where { test: id, .. } => {
                self.terms.has(*id, axis)
            }
            Factor::Before(number) | Factor::After(number) => {
                self.terms.has(self.step.symbols.before[*number], axis)
            }
            Factor::Rounded(_, inner) => inner.1.any(&mut |factor| self.is_along(factor, axis)),
            Factor::Sum(axes, inner) => {
                !axes.iter().any(|summed| **summed == *axis)
                    && inner.any(&mut |factor| self.is_along(factor, axis))
            }
        }
    }
}

/// Returns true if a factor is a sum along an axis.
fn sums_over(factor: &Factor, axis: &str) -> bool {
    matches!(factor, Factor::Sum(axes, _) if axes.iter().any(|summed| **summed == *axis))
}

/// The carried values of which a factor is the quotient of g before and g after, with their powers and the factors of
/// their exponentials.
fn quotient(factor: &Product) -> Option<Scale> {
    let (mut powers, mut exponents) = (BTreeMap::new(), BTreeMap::new());
    let mut after = (BTreeMap::new(), BTreeMap::new());
    for (factor, &power) in &factor.powers {
        match factor {
            Factor::Before(number) => powers.insert(*number, power),
            Factor::After(number) => after.0.insert(*number, -power),
            Factor::Value(_) | Factor::Free(_) | Factor::Where { .. } => return None,
            Factor::Rounded(..) | Factor::Sum(..) => return None,
        };
    }
    for (product, number) in &factor.exponent.0 {
        let mut factors = product.powers.iter();
        match (factors.next(), factors.next(), product.exponent.0.is_empty()) {
            (Some((Factor::Before(carried), 1)), None, true) => exponents.insert(*carried, number.0),
            (Some((Factor::After(carried), 1)), None, true) => after.1.insert(*carried, -number.0),
            (_, _, _) => return None,
        };
    }
    (powers == after.0 && exponents == after.1).then(|| (powers, exponents.into_iter().collect()))
}

/// g after the step.
fn symbols(powers: &BTreeMap<usize, i32>, exponents: &[(usize, f64)]) -> Product {
    let mut scale = Product::default();
    scale.powers.extend(powers.iter().map(|(number, power)| (Factor::After(*number), *power)));
    for (number, by) in exponents {
        scale.exponent = scale.exponent.plus(&Real::factor(Factor::After(*number)).scaled(*by));
    }
    scale
}

/// g of some values, or one over it if `sign` is -1; `None` if it has no normal form.
fn scale(
    powers: &BTreeMap<usize, i32>,
    exponents: &[(usize, f64)],
    values: &BTreeMap<usize, Real>,
    sign: i32,
) -> Option<Real> {
    let mut scale = Real::number(1.0);
    for (number, power) in powers {
        for _ in 0..power.unsigned_abs() {
            let value = values.get(number)?;
            scale = if power * sign > 0 { scale.times(value)? } else { scale.over(value)? };
        }
    }
    let mut exponent = Real::default();
    for (number, by) in exponents {
        exponent = exponent.plus(&values.get(number)?.scaled(by * f64::from(sign)));
    }
    scale.times(&Real::one(Product::exponential(exponent), 1.0))
}
