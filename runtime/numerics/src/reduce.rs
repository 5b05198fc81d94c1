//! The order of a contraction's sum, and the kernels that keep it (book 19).
//!
//! A row of the Reducer multiplies a packet element by element and adds the products in a tree: at each level element
//! `2k` is added to `2k + 1`. Partial sums then join the accumulator in time order. f32 addition does not associate,
//! so the order is part of the result's definition; integer sums wrap and are the same in any order.

use std::fmt;
use std::str::FromStr;

use crate::float::{add, canonical, flush};

/// Rows of the Reducer, which the kernels treat as vector lanes (book 19).
pub const ROWS: usize = 8;

/// The most products that the kernels add at once: the i4 tree, 7 levels (book 19).
pub const DOT_MAX: usize = 128;

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
    /// What stood in its place.
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

/// `start` and then each product in turn; to begin a sum, start from -0.0, which changes nothing that it is added to.
pub fn sequential_sum_f32(start: f32, products: &[f32]) -> f32 {
    let start = canonical(flush(start));
    products.iter().fold(start, |sum, &x| add(sum, x))
}

/// The wrapping sum of `start` and all products.
pub fn sequential_sum_i32(start: i32, products: &[i32]) -> i32 {
    products.iter().fold(start, |sum, &x| sum.wrapping_add(x))
}

/// The eight rows' values of one tree node.
type Lanes<T> = [T; ROWS];

/// For each of eight rows the tree-ordered sum over `k` of `a[k] * w[k][row]`.
///
/// Bit for bit [`tree_sum_f32`] of the row's [`mul`](crate::mul) products, for any operands.
///
/// # Panics
/// If `a` and `w` differ in length, or the length is not a power of two up to [`DOT_MAX`].
pub fn dot8_f32(a: &[f32], w: &[Lanes<f32>], out: &mut Lanes<f32>) {
    // Asking costs far less than flushing at every step.
    *out = if flush_free(a) && flush_free(w.as_flattened()) {
        dot8_tree::<false>(a, w)
    } else {
        dot8_tree::<true>(a, w)
    };
}

/// [`dot8_f32`] for operands that are all [`flush_free`]: the same bits sooner, for callers that ask once and reuse.
///
/// # Panics
/// As [`dot8_f32`]. In debug builds also if an operand is not flush-free; release builds then leave out the flushes.
pub fn dot8_f32_flush_free(a: &[f32], w: &[Lanes<f32>], out: &mut Lanes<f32>) {
    debug_assert!(flush_free(a) && flush_free(w.as_flattened()));
    *out = dot8_tree::<false>(a, w);
}

/// Whether no product or sum of these numbers with others for which this holds can be subnormal.
///
/// It holds where every number is zero or at least `2^-51` in magnitude. A product of two such is zero or has an
/// exponent of at least -102, so it is a multiple of `2^-125`; so is every sum of such products, rounded or not; and a
/// multiple of `2^-125` is zero or normal.
pub fn flush_free(numbers: &[f32]) -> bool {
    const LEAST: u32 = (127 - 51) << 23;
    // Magnitudes compare as integers below 2^31: both differences are negative for 0 < magnitude < LEAST only, so the
    // sign bits collect every such number and the loop vectorises.
    let signs = numbers.iter().fold(0, |signs, x| {
        let magnitude = x.to_bits() & 0x7fff_ffff;
        signs | (magnitude.wrapping_sub(LEAST) & magnitude.wrapping_neg())
    });
    signs >> 31 == 0
}

/// Adds to each of eight running sums its products `a[k] * w[k][row]`, one after the other.
///
/// Bit for bit [`sequential_sum_f32`] of the row's [`mul`](crate::mul) products.
///
/// # Panics
/// If `a` and `w` differ in length.
pub fn dot8_sequential_f32(a: &[f32], w: &[Lanes<f32>], running: &mut Lanes<f32>) {
    assert_eq!(a.len(), w.len(), "operands of different lengths");
    let steps = a.iter().zip(w);
    let total = steps
        .fold(running.map(flush), |total, (&x, weights)| sums::<true>(total, products::<true>(x, weights)));
    *running = total.map(canonical);
}

/// For each of eight rows the wrapping sum over `k` of `a[k] * w[k][row]`.
///
/// # Panics
/// If `a` and `w` differ in length.
pub fn dot8_i32(a: &[i32], w: &[Lanes<i32>], out: &mut Lanes<i32>) {
    assert_eq!(a.len(), w.len(), "operands of different lengths");
    let mut sums = [0_i32; ROWS];
    for (&x, weights) in a.iter().zip(w) {
        for (sum, &weight) in sums.iter_mut().zip(weights) {
            *sum = sum.wrapping_add(x.wrapping_mul(weight));
        }
    }
    *out = sums;
}

/// The tree over eight rows at once.
///
/// NaN is made canonical at the end only: it spreads to the root whatever its bits.
fn dot8_tree<const FLUSH: bool>(a: &[f32], w: &[Lanes<f32>]) -> Lanes<f32> {
    let len = a.len();
    assert_eq!(len, w.len(), "operands of different lengths");
    assert!(len.is_power_of_two() && len <= DOT_MAX, "length {len} is not a power of two up to {DOT_MAX}");
    subtree::<FLUSH>(a, w).map(canonical)
}

/// The sum of one node of the tree, whose two operands are the sums of its halves.
fn subtree<const FLUSH: bool>(a: &[f32], w: &[Lanes<f32>]) -> Lanes<f32> {
    if let (Ok(a), Ok(w)) = (a.try_into(), w.try_into()) {
        return octet::<FLUSH>(a, w);
    }
    if let ([x], [weights]) = (a, w) {
        return products::<FLUSH>(*x, weights);
    }
    let (a_left, a_right) = a.split_at(a.len() / 2);
    let (w_left, w_right) = w.split_at(w.len() / 2);
    sums::<FLUSH>(subtree::<FLUSH>(a_left, w_left), subtree::<FLUSH>(a_right, w_right))
}

/// The tree over eight products: straight-line code that keeps its sums in registers.
#[inline(always)]
fn octet<const FLUSH: bool>(a: &[f32; 8], w: &[Lanes<f32>; 8]) -> Lanes<f32> {
    let leaf = |k: usize| products::<FLUSH>(a[k], &w[k]);
    let pair = |k: usize| sums::<FLUSH>(leaf(k), leaf(k + 1));
    let quad = |k: usize| sums::<FLUSH>(pair(k), pair(k + 2));
    sums::<FLUSH>(quad(0), quad(4))
}

#[inline(always)]
fn products<const FLUSH: bool>(x: f32, weights: &Lanes<f32>) -> Lanes<f32> {
    let x = if FLUSH { flush(x) } else { x };
    weights.map(|weight| match FLUSH {
        true => flush(x * flush(weight)),
        false => x * weight,
    })
}

#[inline(always)]
fn sums<const FLUSH: bool>(left: Lanes<f32>, right: Lanes<f32>) -> Lanes<f32> {
    std::array::from_fn(|row| match FLUSH {
        true => flush(left[row] + right[row]),
        false => left[row] + right[row],
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mul;
    use crate::testing::Random;

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

    fn operands(len: usize, mut draw: impl FnMut() -> f32) -> (Vec<f32>, Vec<Lanes<f32>>) {
        let a = (0..len).map(|_| draw()).collect();
        let w = (0..len).map(|_| std::array::from_fn(|_| draw())).collect();
        (a, w)
    }

    fn row_products(a: &[f32], w: &[Lanes<f32>], row: usize) -> Vec<f32> {
        a.iter().zip(w).map(|(&x, w)| mul(x, w[row])).collect()
    }

    #[test]
    fn kernels_give_the_bits_of_their_definitions() {
        let mut random = Random::new(1);
        for len in [1, 2, 4, 8, 16, 32, 64] {
            for round in 0..200 {
                // Arbitrary bits soon make every sum NaN or infinite; moderate numbers and tiny ones do not.
                let (a, w) = operands(len, || match round % 4 {
                    0 => random.any_f32(),
                    1 => random.moderate_f32(),
                    2 => random.moderate_f32() * 2_f32.powi(-62),
                    _ => f32::from_bits(random.next() & 0x80ff_ffff),
                });
                let mut out = [7.0; ROWS];
                dot8_f32(&a, &w, &mut out);
                let expected: Vec<_> =
                    (0..ROWS).map(|row| tree_sum_f32(&row_products(&a, &w, row))).collect();
                assert_eq!(bits(&out), bits(&expected), "tree of {len}");

                let start = [0.25; ROWS];
                let mut sums = start;
                dot8_sequential_f32(&a, &w, &mut sums);
                let expected: Vec<_> =
                    (0..ROWS).map(|row| sequential_sum_f32(start[row], &row_products(&a, &w, row))).collect();
                assert_eq!(bits(&sums), bits(&expected), "sequence of {len}");
            }
        }
    }

    /// Numbers just above the bound with all fraction bits in use, cancelling often: the worst case of the argument.
    #[test]
    fn flush_free_operands_need_no_flush() {
        let mut random = Random::new(2);
        for len in [1, 2, 4, 8, 32, 64] {
            for _ in 0..300 {
                let (a, w) = operands(len, || match random.next() % 8 {
                    0 => 0.0,
                    1 => f32::INFINITY,
                    _ => f32::from_bits((76 << 23) | (random.next() & 0x8000_0003)),
                });
                assert!(flush_free(&a) && flush_free(w.as_flattened()));
                let mut fast = [0.0; ROWS];
                dot8_f32_flush_free(&a, &w, &mut fast);
                let exact = dot8_tree::<true>(&a, &w);
                assert_eq!(bits(&exact), bits(&fast), "{len}");
            }
        }
    }

    #[test]
    fn flush_free_at_its_bound() {
        let bound = 2_f32.powi(-51);
        assert!(flush_free(&[]));
        assert!(flush_free(&[0.0, -0.0, bound, -bound, f32::INFINITY, f32::NAN]));
        for small in [bound.next_down(), -bound.next_down(), 1e-40, -1e-45] {
            assert!(!flush_free(&[1.0, small, 1.0]), "{small:e}");
        }
    }

    #[test]
    fn integer_kernel_wraps() {
        let mut random = Random::new(3);
        for len in [1, 2, 64] {
            let a: Vec<_> = (0..len).map(|_| random.next().cast_signed()).collect();
            let w: Vec<Lanes<i32>> =
                (0..len).map(|_| std::array::from_fn(|_| random.next().cast_signed())).collect();
            let mut out = [1; ROWS];
            dot8_i32(&a, &w, &mut out);
            for (row, &found) in out.iter().enumerate() {
                let exact: i128 = a.iter().zip(&w).map(|(&x, w)| i128::from(x) * i128::from(w[row])).sum();
                assert_eq!(found, exact as i32);
            }
        }
    }

    #[test]
    #[should_panic(expected = "length 3 is not a power of two")]
    fn kernel_refuses_other_lengths() {
        dot8_f32(&[1.0; 3], &[[1.0; ROWS]; 3], &mut [0.0; ROWS]);
    }

    #[test]
    #[should_panic(expected = "length 256 is not a power of two up to 128")]
    fn kernel_refuses_more_than_the_tree_adds() {
        dot8_f32(&[1.0; 256], &[[1.0; ROWS]; 256], &mut [0.0; ROWS]);
    }

    #[test]
    #[should_panic(expected = "operands of different lengths")]
    fn kernel_refuses_unequal_operands() {
        dot8_i32(&[1; 2], &[[1; ROWS]; 4], &mut [0; ROWS]);
    }
}
