//! The loops of a `linalg.generic`: their extents, and the elements of each operand that they read.

use crate::import::read::capi;
use crate::import::read::types;
use melior::ir::attribute::ArrayAttribute;
use melior::ir::operation::{OperationLike as _, OperationRef};
use melior::ir::{AffineExpr, ValueLike as _};

/// A part of a division of an index by a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Division {
    /// The quotient, rounded down.
    Floor,
    /// The quotient, rounded up.
    Ceiling,
    /// The remainder, which is not negative.
    Remainder,
}

impl Division {
    /// Its value for a number; the divisor is positive.
    pub(crate) fn of(self, number: i64, by: i64) -> i64 {
        match self {
            Self::Floor => number.div_euclid(by),
            Self::Ceiling => -number.saturating_neg().div_euclid(by),
            Self::Remainder => number.rem_euclid(by),
        }
    }
}

/// A digit of an index: a part of its division by a positive number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Digit {
    pub(crate) of: Linear,
    pub(crate) division: Division,
    pub(crate) by: i64,
    pub(crate) factor: i64,
}

/// A sum of loops, each times a factor, of digits, and a number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Linear {
    /// Loops with their factors, in order; no factor is 0.
    pub(crate) terms: Vec<(usize, i64)>,
    pub(crate) digits: Vec<Digit>,
    pub(crate) offset: i64,
}

impl Linear {
    /// A loop.
    pub(crate) fn of_loop(at: usize) -> Self {
        Self { terms: vec![(at, 1)], ..Self::default() }
    }

    fn number(offset: i64) -> Self {
        Self { offset, ..Self::default() }
    }

    fn is_number(&self) -> bool {
        self.terms.is_empty() && self.digits.is_empty()
    }

    /// Returns true if it depends on a loop for which `holds` is true.
    pub(crate) fn has(&self, holds: &dyn Fn(usize) -> bool) -> bool {
        self.terms.iter().any(|&(at, _)| holds(at)) || self.digits.iter().any(|digit| digit.of.has(holds))
    }

    /// The product with a number; `None` if one of its numbers exceeds 64 bits.
    fn times(mut self, by: i64) -> Option<Self> {
        for factor in self.terms.iter_mut().map(|(_, factor)| factor) {
            *factor = factor.checked_mul(by)?;
        }
        for digit in &mut self.digits {
            digit.factor = digit.factor.checked_mul(by)?;
        }
        self.offset = self.offset.checked_mul(by)?;
        self.terms.retain(|(_, factor)| *factor != 0);
        self.digits.retain(|digit| digit.factor != 0);
        Some(self)
    }

    /// The sum with another index; `None` if one of its numbers exceeds 64 bits.
    fn plus(mut self, other: Self) -> Option<Self> {
        for (at, factor) in other.terms {
            match self.terms.iter_mut().find(|(known, _)| *known == at) {
                Some((_, sum)) => *sum = sum.checked_add(factor)?,
                None => self.terms.push((at, factor)),
            }
        }
        self.digits.extend(other.digits);
        self.offset = self.offset.checked_add(other.offset)?;
        self.terms.retain(|(_, factor)| *factor != 0);
        Some(self)
    }

    /// A part of its division by another index; `None` unless that is a positive number.
    fn divided(self, division: Division, by: &Self) -> Option<Self> {
        let by = Some(by.offset).filter(|&number| by.is_number() && number > 0)?;
        if self.is_number() {
            return Some(Self::number(division.of(self.offset, by)));
        }
        Some(Self { digits: vec![Digit { of: self, division, by, factor: 1 }], ..Self::default() })
    }

    /// The least and the greatest value, for loops of these extents.
    pub(crate) fn ends(&self, extents: &[u64]) -> (i64, i64) {
        let with = |(least, greatest): (i64, i64), factor: i64, (first, last): (i64, i64)| {
            let (one, other) = (first.saturating_mul(factor), last.saturating_mul(factor));
            (least.saturating_add(one.min(other)), greatest.saturating_add(one.max(other)))
        };
        let ends = self.terms.iter().fold((self.offset, self.offset), |ends, &(at, factor)| {
            with(ends, factor, (0, extents[at].saturating_sub(1).cast_signed()))
        });
        self.digits.iter().fold(ends, |ends, digit| {
            let (first, last) = digit.of.ends(extents);
            let (first, last) = match digit.division {
                Division::Remainder if first >= 0 && last < digit.by => (first, last),
                Division::Remainder => (0, digit.by - 1),
                Division::Floor | Division::Ceiling => {
                    (digit.division.of(first, digit.by), digit.division.of(last, digit.by))
                }
            };
            with(ends, digit.factor, (first, last))
        })
    }

    /// Reads an affine expression.
    fn of(expr: AffineExpr<'_>) -> Result<Self, String> {
        if expr.is_dim() {
            return Ok(Self::of_loop(expr.dim_position()));
        }
        if expr.is_constant() {
            return Ok(Self::number(expr.constant_value()));
        }
        let (left, right) = (|| Self::of(expr.lhs()), || Self::of(expr.rhs()));
        let division = match (expr.is_floor_div(), expr.is_ceil_div(), expr.is_mod()) {
            (true, _, _) => Some(Division::Floor),
            (false, true, _) => Some(Division::Ceiling),
            (false, false, true) => Some(Division::Remainder),
            (false, false, false) => None,
        };
        let index = if expr.is_add() {
            left()?.plus(right()?)
        } else if expr.is_mul() {
            let (left, right) = (left()?, right()?);
            let (index, by) = if right.is_number() { (left, right) } else { (right, left) };
            if by.is_number() { index.times(by.offset) } else { None }
        } else if let Some(division) = division {
            left()?.divided(division, &right()?)
        } else {
            None
        };
        index.ok_or_else(|| {
            format!(
                "the index `{expr}` is no sum of loops times constants, nor of quotients and remainders of such sums \
                 by positive constants"
            )
        })
    }

    /// The loop that it is, if it is one.
    pub(crate) fn single(&self) -> Option<usize> {
        match (self.terms.as_slice(), self.digits.is_empty(), self.offset) {
            ([(at, 1)], true, 0) => Some(*at),
            _ => None,
        }
    }
}

/// The loops of an operation.
pub(crate) struct Loops {
    /// The map of each operand: an index for each of its dimensions.
    pub(crate) maps: Vec<Vec<Linear>>,
    pub(crate) extents: Vec<u64>,
    /// True for the loops that no result counts.
    pub(crate) reduced: Vec<bool>,
    /// Number of inputs, which come before the outputs.
    pub(crate) inputs: usize,
}

impl Loops {
    /// Reads the loops of a `linalg.generic`.
    ///
    /// # Errors
    /// Maps with other indices than sums, types without a static shape.
    pub(crate) fn of(op: OperationRef<'_, '_>) -> Result<Self, String> {
        let maps = op.attribute("indexing_maps").map_err(|_| "it has no `indexing_maps`".to_owned())?;
        let maps = ArrayAttribute::try_from(maps).map_err(|error| error.to_string())?;
        let (mut all, mut count) = (Vec::new(), 0);
        for at in 0..maps.len() {
            let map = maps.element(at).ok().and_then(capi::affine_map);
            let map = map.ok_or("an entry of `indexing_maps` is no map")?;
            if map.symbol_count() > 0 {
                return Err("its maps have symbols".to_owned());
            }
            count = map.dim_count();
            let results = (0..map.result_count())
                .map(|at| map.result(at).map_err(|error| error.to_string()).and_then(Linear::of));
            all.push(results.collect::<Result<Vec<_>, _>>()?);
        }
        let inputs = op.operand_count().saturating_sub(op.result_count());
        let extents = extents(op, &all, count)?;
        let counted =
            |at: usize| all.iter().skip(inputs).flatten().any(|index| index.has(&|known| known == at));
        let reduced = (0..count).map(|at| !counted(at)).collect();
        Ok(Self { extents, reduced, inputs, maps: all })
    }
}

fn extents(op: OperationRef<'_, '_>, maps: &[Vec<Linear>], count: usize) -> Result<Vec<u64>, String> {
    let mut extents = vec![None; count];
    for (operand, map) in op.operands().zip(maps) {
        let (_, shape) = types::tensor(operand.r#type())?;
        for (index, size) in map.iter().zip(shape) {
            if let Some(extent) = index.single().and_then(|at| extents.get_mut(at)) {
                *extent = Some(size);
            }
        }
    }
    let known = extents.into_iter().enumerate();
    known.map(|(at, extent)| extent.ok_or(format!("no operand has the extent of loop d{at}"))).collect()
}
