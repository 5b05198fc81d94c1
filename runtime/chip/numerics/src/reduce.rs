//! The order of a contraction's sum (book 19); the kernels that keep it are in `dot.rs`.
//!
//! A row of the Reducer multiplies a packet element by element and adds the products in a tree: at each level element
//! `2k` is added to `2k + 1`. Partial sums then join the accumulator in time order. f32 addition does not associate,
//! so the order is part of the result's definition; integer sums wrap and are the same in any order.

use std::fmt;
use std::str::FromStr;

use crate::float::{add, canonical, flush};

/// Rows of the Reducer, which the kernels treat as vector lanes (book 19).
pub const ROWS: usize = 8;

/// The order in which a contraction adds the products of one packet.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum SumOrder {
    /// Neighbours in pairs, level by level; then the packets' sums in time order.
    #[default]
    Tree,
    /// One product after the other onto the running sum, in the order of the wire.
    Sequential,
}

impl SumOrder {
    /// Its name in a machine description.
    pub const fn name(self) -> &'static str {
        match self {
            SumOrder::Tree => "tree",
            SumOrder::Sequential => "sequential",
        }
    }
}

impl fmt::Display for SumOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A sum order that is neither "tree" nor "sequential".
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SumOrderError {
    /// The text found instead.
    pub found: String,
}

impl fmt::Display for SumOrderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sum order {:?} is unknown, expected \"tree\" or \"sequential\"", self.found)
    }
}

impl std::error::Error for SumOrderError {}

impl FromStr for SumOrder {
    type Err = SumOrderError;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        [SumOrder::Tree, SumOrder::Sequential]
            .into_iter()
            .find(|order| order.name() == name)
            .ok_or_else(|| SumOrderError { found: name.to_owned() })
    }
}

/// The sum of `products` in tree order; a length that is no power of two is filled up with +0.0.
pub fn tree_sum_f32(products: &[f32]) -> f32 {
    let mut level = products.to_vec();
    level.resize(products.len().next_power_of_two(), 0.0);
    while level.len() > 1 {
        level = level.chunks(2).map(|pair| add(pair[0], pair[1])).collect();
    }
    canonical(flush(level[0]))
}

/// The wrapping sum of `products`.
pub fn tree_sum_i32(products: &[i32]) -> i32 {
    sequential_sum_i32(0, products)
}

/// `start` plus each product, one after the other; to begin a sum, start from -0.0, which changes no number that it is
/// added to.
pub fn sequential_sum_f32(start: f32, products: &[f32]) -> f32 {
    let start = canonical(flush(start));
    products.iter().fold(start, |sum, &x| add(sum, x))
}

/// The wrapping sum of `start` and all products.
pub fn sequential_sum_i32(start: i32, products: &[i32]) -> i32 {
    products.iter().fold(start, |sum, &x| sum.wrapping_add(x))
}

#[cfg(test)]
mod tests {
    use super::*;

    const BIG: f32 = 16_777_216.0; // 2^24: adding 1 changes nothing, adding 2 does

    fn bits(values: &[f32]) -> Vec<u32> {
        values.iter().map(|x| x.to_bits()).collect()
    }

    #[test]
    fn tree_adds_neighbours_first() {
        // (BIG + 1) + (1 + 1) = BIG + 2; one after the other each 1 is lost.
        let products = [BIG, 1.0, 1.0, 1.0];
        assert_eq!(tree_sum_f32(&products), BIG + 2.0);
        assert_eq!(sequential_sum_f32(-0.0, &products), BIG);
        // Pairs are 2k and 2k + 1, not k and k + n / 2: (BIG - BIG) + (1 + 1), against (BIG + 1) + (-BIG + 1).
        assert_eq!(tree_sum_f32(&[BIG, -BIG, 1.0, 1.0]), 2.0);
        assert_eq!(tree_sum_f32(&[BIG, 1.0, -BIG, 1.0]), 1.0);
        // The second level pairs neighbours too: (BIG + 1) + (-BIG + 0), then (BIG - BIG) + (1 + 0).
        assert_eq!(tree_sum_f32(&[BIG, 0.0, 1.0, 0.0, -BIG, 0.0, 0.0, 0.0]), 0.0);
        assert_eq!(tree_sum_f32(&[BIG, 0.0, -BIG, 0.0, 1.0, 0.0, 0.0, 0.0]), 1.0);
    }

    #[test]
    fn every_sum_flushes() {
        let min = f32::MIN_POSITIVE;
        // 1.5 min - min is subnormal: zero before it meets min.
        assert_eq!(tree_sum_f32(&[1.5 * min, -min, min, 0.0]), min);
        assert_eq!(sequential_sum_f32(-0.0, &[1.5 * min, -min, min]), min);
        assert_eq!(bits(&[tree_sum_f32(&[-min / 2.0])]), [0x8000_0000]);
    }

    #[test]
    fn zeros_and_missing_products() {
        assert_eq!(bits(&[tree_sum_f32(&[])]), [0]);
        assert_eq!(bits(&[tree_sum_f32(&[-0.0, -0.0])]), [0x8000_0000]);
        // Padding is +0.0 and takes the sign of a negative zero.
        assert_eq!(bits(&[tree_sum_f32(&[-0.0, -0.0, -0.0])]), [0]);
        assert_eq!(tree_sum_f32(&[1.0, 2.0, 4.0]), 7.0);
        assert_eq!(bits(&[sequential_sum_f32(-0.0, &[-0.0])]), [0x8000_0000]);
    }

    #[test]
    fn integer_sums_wrap() {
        assert_eq!(tree_sum_i32(&[i32::MAX, 1, -1, 2]), i32::MIN + 1);
        assert_eq!(sequential_sum_i32(i32::MIN, &[-1]), i32::MAX);
        assert_eq!(tree_sum_i32(&[]), 0);
    }

    #[test]
    fn orders_have_names() {
        for order in [SumOrder::Tree, SumOrder::Sequential] {
            assert_eq!(order.to_string().parse(), Ok(order));
        }
        for name in ["", "Tree", "tree ", "pairs"] {
            let error = name.parse::<SumOrder>().unwrap_err();
            assert!(error.to_string().contains(&format!("{name:?}")), "{error}");
        }
    }
}
