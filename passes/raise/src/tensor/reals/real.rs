//! Real numbers in a normal form: sums of products of factors, each of which may stand in an exponent too.
//!
//! Two terms with the same form are equal for all real numbers, because the form uses only the laws of a field and of
//! the exponential function.

use egg::Id;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;
use visa_numerics::DType;

/// Most products of a sum; a longer one is a factor.
const MAX_PRODUCTS: usize = 32;

/// A coefficient, by its bits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Number(pub(crate) f64);

impl Ord for Number {
    fn cmp(&self, other: &Self) -> Ordering {
        // Both zeros are the same number.
        (self.0 + 0.0).total_cmp(&(other.0 + 0.0))
    }
}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Number {}

/// A factor of a product.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Factor {
    /// A value that is not looked into.
    Value(Id),
    /// A value that a loop carries, before an iteration.
    Before(usize),
    /// The same after the iteration.
    After(usize),
    /// A value that is the same for every choice of it, as the reference of exponentials: see `free.rs`.
    Free(Id),
    /// 1 where a test is 0 (or is not 0, if `holds`), and else 0.
    Where {
        /// The test.
        test: Id,
        /// True if elements count where the test holds.
        holds: bool,
    },
    /// A product that is rounded to a format.
    Rounded(DType, Box<(Number, Product)>),
    /// The sum of a product along axes.
    Sum(Vec<Arc<str>>, Box<Product>),
}

/// A product of factors with integer exponents, times the exponential function of a sum.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Product {
    /// The factors, each with its exponent other than 0.
    pub(crate) powers: BTreeMap<Factor, i32>,
    /// The argument of the exponential function.
    pub(crate) exponent: Real,
}

/// A sum of products, each with its coefficient other than 0.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Real(pub(crate) BTreeMap<Product, Number>);

impl Product {
    /// One factor.
    #[must_use]
    pub(crate) fn of(factor: Factor) -> Self {
        Self { powers: BTreeMap::from([(factor, 1)]), exponent: Real::default() }
    }

    /// The exponential function of a sum.
    #[must_use]
    pub(crate) fn exponential(exponent: Real) -> Self {
        Self { powers: BTreeMap::new(), exponent }
    }

    /// The product of two.
    #[must_use]
    pub(crate) fn times(&self, other: &Self) -> Self {
        let mut product = self.clone();
        for (factor, power) in &other.powers {
            let sum = product.powers.get(factor).copied().unwrap_or_default() + power;
            // A test is 0 or 1, and so each power of it is itself.
            let sum = if matches!(factor, Factor::Where { .. }) { sum.min(1) } else { sum };
            product.powers.insert(factor.clone(), sum);
        }
        product.powers.retain(|_, power| *power != 0);
        product.exponent = product.exponent.plus(&other.exponent);
        product
    }

    /// The inverse; `None` if a factor may be 0 by its definition.
    #[must_use]
    pub(crate) fn inverse(&self) -> Option<Self> {
        if self.powers.keys().any(|factor| matches!(factor, Factor::Where { .. })) {
            return None;
        }
        let powers = self.powers.iter().map(|(factor, power)| (factor.clone(), -power)).collect();
        Some(Self { powers, exponent: self.exponent.scaled(-1.0) })
    }

    /// Number of factors, with those inside of others.
    #[must_use]
    fn size(&self) -> usize {
        let inside = |factor: &Factor| match factor {
            Factor::Rounded(_, inner) => inner.1.size(),
            Factor::Sum(_, inner) => inner.size(),
            Factor::Value(_) | Factor::Before(_) | Factor::After(_) => 0,
            Factor::Free(_) | Factor::Where { .. } => 0,
        };
        self.powers.keys().map(|factor| 1 + inside(factor)).sum::<usize>() + self.exponent.size()
    }

    /// Returns true if it is one.
    #[must_use]
    pub(crate) fn is_one(&self) -> bool {
        self.powers.is_empty() && self.exponent.0.is_empty()
    }

    /// The parts of which `is` holds, and those of which it does not. Exponents are divided by their products.
    #[must_use]
    pub(crate) fn divided(&self, is: &mut dyn FnMut(&Factor) -> bool) -> (Self, Self) {
        let (mut inside, mut outside) = (Self::default(), Self::default());
        for (factor, power) in &self.powers {
            let part = if is(factor) { &mut inside } else { &mut outside };
            part.powers.insert(factor.clone(), *power);
        }
        for (product, number) in &self.exponent.0 {
            let part = if product.any(is) { &mut inside } else { &mut outside };
            part.exponent.0.insert(product.clone(), *number);
        }
        (inside, outside)
    }

    /// Returns true if `is` holds of a factor, wherever it stands.
    pub(crate) fn any(&self, is: &mut dyn FnMut(&Factor) -> bool) -> bool {
        self.powers.keys().any(|factor| factor.any(is)) || self.exponent.any(is)
    }
}

impl Factor {
    /// Returns true if `is` holds of the factor or of one inside of it.
    pub(crate) fn any(&self, is: &mut dyn FnMut(&Factor) -> bool) -> bool {
        is(self)
            || match self {
                Self::Rounded(_, inner) => inner.1.any(is),
                Self::Sum(_, inner) => inner.any(is),
                Self::Value(_) | Self::Before(_) | Self::After(_) | Self::Free(_) | Self::Where { .. } => {
                    false
                }
            }
    }
}

impl Real {
    /// A product with a coefficient.
    #[must_use]
    pub(crate) fn one(product: Product, number: f64) -> Self {
        let mut sum = Self::default();
        sum.add(product, number);
        sum
    }

    /// A number.
    #[must_use]
    pub(crate) fn number(number: f64) -> Self {
        Self::one(Product::default(), number)
    }

    /// Number of products and factors, with those inside of others.
    #[must_use]
    pub(crate) fn size(&self) -> usize {
        self.0.keys().map(|product| 1 + product.size()).sum()
    }

    /// A factor.
    #[must_use]
    pub(crate) fn factor(factor: Factor) -> Self {
        Self::one(Product::of(factor), 1.0)
    }

    fn add(&mut self, product: Product, number: f64) {
        let sum = self.0.get(&product).map_or(0.0, |known| known.0) + number;
        if sum == 0.0 {
            self.0.remove(&product);
        } else {
            self.0.insert(product, Number(sum));
        }
    }

    /// The sum of two.
    #[must_use]
    pub(crate) fn plus(&self, other: &Self) -> Self {
        let mut sum = self.clone();
        for (product, number) in &other.0 {
            sum.add(product.clone(), number.0);
        }
        sum
    }

    /// The sum times a number.
    #[must_use]
    pub(crate) fn scaled(&self, by: f64) -> Self {
        let mut all = Self::default();
        for (product, number) in &self.0 {
            all.add(product.clone(), number.0 * by);
        }
        all
    }

    /// The product of two; `None` if it is too long.
    #[must_use]
    pub(crate) fn times(&self, other: &Self) -> Option<Self> {
        if self.0.len() * other.0.len() > MAX_PRODUCTS {
            return None;
        }
        let mut all = Self::default();
        for (left, by) in &self.0 {
            for (right, number) in &other.0 {
                all.add(left.times(right), by.0 * number.0);
            }
        }
        Some(all)
    }

    /// The only product; `None` if there are several or none.
    #[must_use]
    pub(crate) fn only(&self) -> Option<(&Product, f64)> {
        let mut all = self.0.iter();
        let (product, number) = all.next()?;
        all.next().is_none().then_some((product, number.0))
    }

    /// The quotient of two; `None` if the second is a sum.
    #[must_use]
    pub(crate) fn over(&self, other: &Self) -> Option<Self> {
        let (product, number) = other.only()?;
        self.times(&Self::one(product.inverse()?, 1.0 / number))
    }

    /// Returns true if `is` holds of a factor, wherever it stands.
    pub(crate) fn any(&self, is: &mut dyn FnMut(&Factor) -> bool) -> bool {
        self.0.keys().any(|product| product.any(is))
    }
}
