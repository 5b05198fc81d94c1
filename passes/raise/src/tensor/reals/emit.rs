//! A real number in normal form as a value.
//!
//! Factors before a sum of exponential functions go into their exponents: exp(s - m) is at most 1 for a maximum m, and
//! exp(s) alone is not bounded.

use super::real::{Factor, Number, Product, Real};
use super::terms::{Reason, Terms};
use egg::Id;
use std::sync::Arc;
use visa_ir::context::Attr;
use visa_mapping::ops::{cast, contract};
use visa_mapping::tensor::attrs::DTYPE;
use visa_numerics::{DType, ReduceName};

/// A writer of values.
pub(crate) struct Emit<'t, 'a> {
    terms: &'t mut Terms<'a>,
    /// The sums that were written, each with its axes.
    pub(crate) sums: Vec<(Id, Vec<Arc<str>>)>,
}

/// A test, and true if elements count where it holds.
type Test = (Id, bool);

impl<'t, 'a> Emit<'t, 'a> {
    /// A writer that has written nothing.
    pub(crate) fn new(terms: &'t mut Terms<'a>) -> Self {
        Self { terms, sums: Vec::new() }
    }

    /// The value of a sum.
    ///
    /// # Errors
    /// A factor that is no value.
    pub(crate) fn real(&mut self, real: &Real) -> Result<Id, Reason> {
        // A difference begins with what is not subtracted.
        let (plus, minus): (Vec<_>, Vec<_>) = real.0.iter().partition(|(_, number)| number.0 > 0.0);
        let mut sum = None;
        for (product, number) in plus {
            let value = self.product(product, number.0)?;
            sum = Some(match sum {
                None => value,
                Some(sum) => self.terms.apply("add", &[sum, value])?,
            });
        }
        for (product, number) in minus {
            sum = Some(match sum {
                None => self.product(product, number.0)?,
                Some(sum) => {
                    let value = self.product(product, -number.0)?;
                    self.terms.apply("sub", &[sum, value])?
                }
            });
        }
        sum.map_or_else(|| self.terms.number(DType::F32, 0.0), Ok)
    }

    fn product(&mut self, product: &Product, number: f64) -> Result<Id, Reason> {
        let product = inward(product);
        let tests = tests(&product);
        let mut value = self.quotient(&product, number)?;
        for test in tests {
            value = self.zero_unless(test, value)?;
        }
        Ok(value)
    }

    /// The factors of a product that are no tests, and its exponential function.
    fn quotient(&mut self, product: &Product, number: f64) -> Result<Id, Reason> {
        let (mut above, mut below) = (Vec::new(), Vec::new());
        for (factor, &power) in &product.powers {
            if matches!(factor, Factor::Where { .. }) {
                continue;
            }
            let value = self.factor(factor)?;
            let side = if power > 0 { &mut above } else { &mut below };
            side.extend(std::iter::repeat_n(value, power.unsigned_abs() as usize));
        }
        if !product.exponent.0.is_empty() {
            let exponent = self.exponent(&product.exponent)?;
            above.push(self.terms.apply("exp", &[exponent])?);
        }
        if number != 1.0 || above.is_empty() {
            above.insert(0, self.terms.number(DType::F32, number)?);
        }
        let top = self.all("mul", &above)?;
        if below.is_empty() {
            return Ok(top);
        }
        let bottom = self.all("mul", &below)?;
        self.terms.apply("div", &[top, bottom])
    }

    fn all(&mut self, function: &str, values: &[Id]) -> Result<Id, Reason> {
        let (&first, rest) = values.split_first().ok_or_else(|| "a product has no factor".to_owned())?;
        rest.iter().try_fold(first, |all, &value| self.terms.apply(function, &[all, value]))
    }

    /// The argument of an exponential function; a factor of all its terms stands before them.
    fn exponent(&mut self, exponent: &Real) -> Result<Id, Reason> {
        let first = exponent.0.values().next().map_or(1.0, |number| number.0.abs());
        if first == 1.0 || exponent.0.values().any(|number| number.0.abs() != first) {
            return self.real(exponent);
        }
        let inner = self.real(&exponent.scaled(1.0 / first))?;
        let number = self.terms.number(DType::F32, first)?;
        self.terms.apply("mul", &[number, inner])
    }

    fn factor(&mut self, factor: &Factor) -> Result<Id, Reason> {
        match factor {
            Factor::Value(id) | Factor::Free(id) => Ok(*id),
            Factor::Rounded(format, inner) => {
                let narrow = self.narrow(*format, inner)?;
                self.cast(narrow, DType::F32)
            }
            Factor::Sum(axes, inner) => self.sum(axes, inner),
            Factor::Before(_) | Factor::After(_) | Factor::Where { .. } => {
                Err("a value of an iteration remains".to_owned())
            }
        }
    }

    /// A product that is rounded.
    fn narrow(&mut self, format: DType, inner: &(Number, Product)) -> Result<Id, Reason> {
        let value = self.product(&inner.1, inner.0.0)?;
        self.cast(value, format)
    }

    fn cast(&mut self, value: Id, format: DType) -> Result<Id, Reason> {
        let dtype = self.terms.graph.analysis.ctx.body_attr(&DTYPE, format);
        self.terms.operation(&cast::DECL, &[value], &[("dtype", dtype)])
    }

    /// A value, and 0 where a test does not count.
    fn zero_unless(&mut self, (test, holds): Test, value: Id) -> Result<Id, Reason> {
        let zero = self.terms.number(self.terms.value(value)?.dtype, 0.0)?;
        let (then, otherwise) = if holds { (value, zero) } else { (zero, value) };
        self.terms.choose(test, then, otherwise)
    }

    /// The sum of a product along axes: a contraction if it is one of two narrow factors.
    fn sum(&mut self, axes: &[Arc<str>], inner: &Product) -> Result<Id, Reason> {
        // An element that a test leaves out may be undefined.
        let others_defined = inner.powers.keys().all(|factor| match factor {
            Factor::Value(id) => self.terms.graph[*id].data.total,
            Factor::Rounded(..) | Factor::Where { .. } => true,
            Factor::Before(_) | Factor::After(_) | Factor::Free(_) | Factor::Sum(..) => false,
        });
        let inner = if others_defined { with_tests_rounded(inner) } else { inner.clone() };
        let sum = match self.operands(&inner)? {
            Some(operands) => self.contraction(axes, operands)?,
            None => {
                let value = self.product(&inner, 1.0)?;
                let value = self.along(value, axes)?;
                self.terms.reduce(ReduceName::Add, value, axes)?
            }
        };
        self.sums.push((sum, axes.to_vec()));
        Ok(sum)
    }

    /// The operands of a contraction; 0 where a test does not count.
    fn operands(&mut self, inner: &Product) -> Result<Option<[Id; 2]>, Reason> {
        let tests = tests(inner);
        let factors: Vec<&Factor> =
            inner.powers.keys().filter(|factor| !matches!(factor, Factor::Where { .. })).collect();
        let plain = inner.exponent.0.is_empty() && inner.powers.values().all(|&power| power == 1);
        let ([left, right], true) = (factors.as_slice(), plain) else { return Ok(None) };
        let formats = [self.format(left), self.format(right)];
        let [Some(format), Some(other)] = formats else { return Ok(None) };
        if format != other || contract::accumulator(format) != Some(DType::F32) {
            return Ok(None);
        }
        let mut operands = [self.operand(left)?, self.operand(right)?];
        for operand in &mut operands {
            for &test in &tests {
                *operand = self.zero_unless(test, *operand)?;
            }
        }
        Ok(Some(operands))
    }

    /// The narrow format of a factor.
    fn format(&self, factor: &Factor) -> Option<DType> {
        match factor {
            Factor::Rounded(format, _) => Some(*format),
            Factor::Value(id) => {
                let term = self.terms.term(*id).ok().filter(|term| self.terms.is_conversion(term))?;
                Some(self.terms.value(*term.children.first()?).ok()?.dtype)
            }
            Factor::Before(_) | Factor::After(_) | Factor::Free(_) => None,
            Factor::Where { .. } | Factor::Sum(..) => None,
        }
    }

    fn operand(&mut self, factor: &Factor) -> Result<Id, Reason> {
        match factor {
            Factor::Rounded(format, inner) => self.narrow(*format, inner),
            Factor::Value(id) => Ok(self.terms.term(*id)?.children[0]),
            Factor::Before(_)
            | Factor::After(_)
            | Factor::Free(_)
            | Factor::Where { .. }
            | Factor::Sum(..) => Err("a factor of a contraction has no format".to_owned()),
        }
    }

    fn contraction(&mut self, axes: &[Arc<str>], [left, right]: [Id; 2]) -> Result<Id, Reason> {
        let (left, right) = (self.along(left, axes)?, self.along(right, axes)?);
        let over = self.terms.map(super::terms::list(axes));
        let free = self.terms.graph.analysis.ctx.attr(Attr::Unit);
        self.terms.operation(&contract::DECL, &[left, right], &[("over", over), ("free", free)])
    }

    fn along(&mut self, value: Id, axes: &[Arc<str>]) -> Result<Id, Reason> {
        self.terms.along(value, axes)
    }
}

/// The tests of a product.
fn tests(product: &Product) -> Vec<Test> {
    let test = |factor: &Factor| match factor {
        Factor::Where { test, holds } => Some((*test, *holds)),
        Factor::Value(_) | Factor::Before(_) | Factor::After(_) | Factor::Free(_) => None,
        Factor::Rounded(..) | Factor::Sum(..) => None,
    };
    product.powers.keys().filter_map(test).collect()
}

/// A product whose exponential function is part of those in its only sum, if there are any.
fn inward(product: &Product) -> Product {
    let sums: Vec<_> =
        product.powers.iter().filter(|(factor, _)| matches!(factor, Factor::Sum(..))).collect();
    let [(Factor::Sum(axes, inner), 1)] = sums.as_slice() else { return product.clone() };
    let Some(inner) = with_exponent(inner, &product.exponent) else { return product.clone() };
    let mut moved = product.clone();
    moved.powers.retain(|factor, _| !matches!(factor, Factor::Sum(..)));
    moved.exponent = Real::default();
    moved.times(&Product::of(Factor::Sum(axes.clone(), Box::new(inner))))
}

/// The rounded factors of a product that occur once, with their formats and their contents.
fn rounded_factors(product: &Product) -> impl Iterator<Item = (Factor, DType, Box<(Number, Product)>)> {
    product.powers.iter().filter(|(_, power)| **power == 1).filter_map(|(factor, _)| match factor {
        Factor::Rounded(format, inside) => Some((factor.clone(), *format, inside.clone())),
        Factor::Value(_)
        | Factor::Before(_)
        | Factor::After(_)
        | Factor::Free(_)
        | Factor::Where { .. }
        | Factor::Sum(..) => None,
    })
}

/// A product whose exponential function, or that of a rounded factor, has a further summand; `None` without one.
fn with_exponent(inner: &Product, more: &Real) -> Option<Product> {
    if !inner.exponent.0.is_empty() {
        return Some(Product { powers: inner.powers.clone(), exponent: inner.exponent.plus(more) });
    }
    let (factor, format, mut inside) =
        rounded_factors(inner).find(|(_, _, inside)| !inside.1.exponent.0.is_empty())?;
    inside.1.exponent = inside.1.exponent.plus(more);
    let mut moved = inner.clone();
    moved.powers.remove(&factor);
    Some(moved.times(&Product::of(Factor::Rounded(format, inside))))
}

/// A product whose tests are part of a rounded factor, if there is one: so all sums have the same weights.
fn with_tests_rounded(inner: &Product) -> Product {
    let is_test = |factor: &Factor| matches!(factor, Factor::Where { .. });
    let Some((factor, format, inside)) = rounded_factors(inner).next() else { return inner.clone() };
    let mut moved = inner.clone();
    let mut tests = Product::default();
    tests
        .powers
        .extend(moved.powers.iter().filter(|(factor, _)| is_test(factor)).map(|(f, p)| (f.clone(), *p)));
    moved.powers.retain(|other, _| !is_test(other) && *other != factor);
    let inside = Box::new((inside.0, inside.1.times(&tests)));
    moved.times(&Product::of(Factor::Rounded(format, inside)))
}
