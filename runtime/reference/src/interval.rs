//! Bounds of sums whose order is free: every order gives a number between them.
//!
//! A sum of n numbers in f32 has n - 1 roundings, each by at most u = 2^-24 of its result, in any order. So it differs
//! from the exact sum by at most gamma(n) = n u / (1 - n u) times the sum of the absolute values (the usual bound of
//! running errors). Here n counts the terms, a rounding more than there are: it covers the roundings of this file's
//! sums in 64 bits, for n below 2^29.

use crate::order::Number;
use crate::tensor::Logical;
use visa_numerics::{Bits, DType, to_f64};

/// Relative error of a rounding in f32.
const ROUNDING: f64 = 1.0 / (1_u64 << 24) as f64;
/// Absolute error of a product or a sum that is flushed to zero.
const FLUSHED: f64 = f32::MIN_POSITIVE as f64;

/// An end of a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The least number.
    Low,
    /// The greatest.
    High,
}

/// An element that lies in a range, or a sum of such elements before its roundings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Interval {
    /// The middle of the range.
    middle: f64,
    /// The greatest distance from the middle.
    radius: f64,
    /// The greatest sum of absolute values of the terms.
    magnitude: f64,
}

impl Interval {
    /// Each number between two.
    pub(crate) fn between(low: f64, high: f64) -> Self {
        let (middle, radius) = (f64::midpoint(low, high), (high - low) / 2.0);
        Self { middle, radius, magnitude: low.abs().max(high.abs()) }
    }

    /// The elements of one value, or of the least and the greatest one.
    pub(crate) fn of_values(values: &[Logical]) -> Vec<Self> {
        let ends = values.first().zip(values.last()).into_iter();
        let pairs = ends.flat_map(|(low, high)| {
            let dtype = low.dtype;
            low.elements()
                .iter()
                .zip(high.elements())
                .map(move |(&low, &high)| Self::element(dtype, low, high))
        });
        pairs.collect()
    }

    /// An element between two.
    pub(crate) fn element(dtype: DType, low: Bits, high: Bits) -> Self {
        Self::between(to_f64(dtype, low), to_f64(dtype, high))
    }

    /// An end of the range of a sum of `terms` terms in f32, rounded outwards; infinite if the sum may overflow.
    pub(crate) fn rounded(self, terms: usize, end: End) -> Bits {
        let all = terms as f64 * ROUNDING;
        let relative = if all < 1.0 { all / (1.0 - all) } else { f64::INFINITY };
        let slack = self.radius + relative * self.magnitude + 2.0 * terms as f64 * FLUSHED;
        let is_bounded = self.magnitude * (1.0 + relative) < f64::from(f32::MAX);
        let number = match end {
            End::Low if is_bounded => at_most(self.middle - slack),
            End::High if is_bounded => -at_most(-(self.middle + slack)),
            End::Low => f32::NEG_INFINITY,
            End::High => f32::INFINITY,
        };
        number.to_bits()
    }
}

/// The greatest f32 that is at most a number.
fn at_most(number: f64) -> f32 {
    let near = number as f32;
    if f64::from(near) > number { near.next_down() } else { near }
}

impl Number for Interval {
    const ZERO: Self = Self { middle: 0.0, radius: 0.0, magnitude: 0.0 };
    const START: Self = Self::ZERO;

    fn operand(dtype: DType, bits: Bits) -> Self {
        Self::element(dtype, bits, bits)
    }

    fn product(self, other: Self) -> Self {
        Self {
            middle: self.middle * other.middle,
            radius: self.middle.abs() * other.radius + self.radius * (other.middle.abs() + other.radius),
            magnitude: self.magnitude * other.magnitude,
        }
    }

    fn sum(self, other: Self) -> Self {
        Self {
            middle: self.middle + other.middle,
            radius: self.radius + other.radius,
            magnitude: self.magnitude + other.magnitude,
        }
    }

    fn greater(self, other: Self) -> Self {
        let [low, high] = [-1.0, 1.0].map(|side| {
            let [left, right] = [self, other].map(|term| term.middle + side * term.radius);
            f64::max(left, right)
        });
        Self::between(low, high)
    }

    /// The middle, rounded.
    fn bits(self) -> Bits {
        (self.middle as f32).to_bits()
    }
}
