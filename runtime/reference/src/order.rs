//! The order of a contraction's sum (book 19, docs/numerics.md), on the two kinds of numbers that it adds.

use std::cmp::Ordering;

use visa_engine::words::ContractionKind;
use visa_numerics::{Bits, DType, SumOrder, add, canonical, mul, to_f64};

/// An accumulator's number.
pub(crate) trait Number: Copy + Send + Sync {
    /// The contribution of padding.
    const ZERO: Self;
    /// The start of a running sum: it changes no number that is added to it.
    const START: Self;
    /// An operand of a format that this number accumulates.
    fn operand(dtype: DType, bits: Bits) -> Self;
    /// One product.
    fn product(self, other: Self) -> Self;
    /// One sum.
    fn sum(self, other: Self) -> Self;
    /// The greater of both.
    fn greater(self, other: Self) -> Self;
    /// The accumulator's element: i32 or f32.
    fn bits(self) -> Bits;
}

impl Number for f32 {
    const ZERO: Self = 0.0;
    const START: Self = -0.0;

    /// Exact: f32 has every value of the narrower floats.
    fn operand(dtype: DType, bits: Bits) -> Self {
        to_f64(dtype, bits) as f32
    }

    fn product(self, other: Self) -> Self {
        mul(self, other)
    }

    fn sum(self, other: Self) -> Self {
        add(self, other)
    }

    /// NaN if one is; +0.0 is greater than -0.0.
    fn greater(self, other: Self) -> Self {
        match self.partial_cmp(&other) {
            None => canonical(Self::NAN),
            Some(Ordering::Less) => other,
            Some(Ordering::Greater) => self,
            Some(Ordering::Equal) => {
                if self.is_sign_negative() {
                    other
                } else {
                    self
                }
            }
        }
    }

    fn bits(self) -> Bits {
        self.to_bits()
    }
}

impl Number for i32 {
    const ZERO: Self = 0;
    const START: Self = 0;

    fn operand(_dtype: DType, bits: Bits) -> Self {
        bits.cast_signed()
    }

    fn product(self, other: Self) -> Self {
        self.wrapping_mul(other)
    }

    fn sum(self, other: Self) -> Self {
        self.wrapping_add(other)
    }

    fn greater(self, other: Self) -> Self {
        Ord::max(self, other)
    }

    fn bits(self) -> Bits {
        self.cast_unsigned()
    }
}

/// A sum that packets join in time order, or the greatest of their products.
pub(crate) struct Accumulator<T> {
    reduction: ContractionKind,
    order: SumOrder,
    sum: Option<T>,
}

impl<T: Number> Accumulator<T> {
    /// Nothing added yet.
    pub(crate) fn new(reduction: ContractionKind, order: SumOrder) -> Self {
        Self { reduction, order, sum: None }
    }

    /// Adds the products of one packet, a power of two many; they are overwritten.
    pub(crate) fn add_packet(&mut self, products: &mut [T]) {
        if self.reduction == ContractionKind::Max {
            self.sum = self.sum.into_iter().chain(products.iter().copied()).reduce(T::greater);
            return;
        }
        self.sum = Some(match self.order {
            SumOrder::Tree => {
                let partial = tree(products);
                self.sum.map_or(partial, |sum| sum.sum(partial))
            }
            SumOrder::Sequential => {
                products.iter().fold(self.sum.unwrap_or(T::START), |sum, &product| sum.sum(product))
            }
        });
    }

    /// Adds a packet of one product.
    pub(crate) fn add(&mut self, product: T) {
        self.sum = Some(match (self.reduction, self.sum, self.order) {
            (ContractionKind::Max, Some(sum), _) => sum.greater(product),
            (ContractionKind::Add, Some(sum), _) => sum.sum(product),
            (ContractionKind::Add, None, SumOrder::Sequential) => T::START.sum(product),
            (ContractionKind::Max, None, _) | (ContractionKind::Add, None, SumOrder::Tree) => product,
        });
    }

    /// The sum.
    pub(crate) fn total(self) -> T {
        self.sum.unwrap_or(T::ZERO)
    }
}

/// Level by level, element 2k plus element 2k + 1.
fn tree<T: Number>(products: &mut [T]) -> T {
    let mut width = products.len();
    while width > 1 {
        width /= 2;
        for k in 0..width {
            products[k] = products[2 * k].sum(products[2 * k + 1]);
        }
    }
    products.first().copied().unwrap_or(T::ZERO)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BIG: f32 = 16_777_216.0; // 2^24: adding 1 changes nothing, adding 2 does

    fn total(order: SumOrder, packets: &[&[f32]]) -> u32 {
        let mut accumulator = Accumulator::new(ContractionKind::Add, order);
        for packet in packets {
            accumulator.add_packet(&mut packet.to_vec());
        }
        accumulator.total().to_bits()
    }

    #[test]
    fn the_examples_of_the_numbers_page() {
        for (products, tree, sequential) in [
            ([BIG, 1.0, 1.0, 1.0], BIG + 2.0, BIG),
            ([BIG, -BIG, 1.0, 1.0], 2.0, 2.0),
            ([BIG, 1.0, -BIG, 1.0], 1.0, 1.0),
        ] {
            assert_eq!(total(SumOrder::Tree, &[&products]), tree.to_bits());
            assert_eq!(total(SumOrder::Sequential, &[&products]), sequential.to_bits());
        }
    }

    #[test]
    fn packets_join_in_time_order() {
        // (BIG + 0) + (1 + 1) keeps the 2 that BIG + 1 + 1 loses.
        let packets: [&[f32]; 2] = [&[BIG, 0.0], &[1.0, 1.0]];
        assert_eq!(total(SumOrder::Tree, &packets), (BIG + 2.0).to_bits());
        assert_eq!(total(SumOrder::Sequential, &packets), BIG.to_bits());
        // BIG, then 1, then -BIG: the 1 is lost in both.
        assert_eq!(total(SumOrder::Tree, &[&[BIG], &[1.0], &[-BIG]]), 0);
    }

    #[test]
    fn the_sign_of_zero() {
        for order in [SumOrder::Tree, SumOrder::Sequential] {
            assert_eq!(total(order, &[&[-0.0, -0.0], &[-0.0, -0.0]]), (-0.0_f32).to_bits(), "{order}");
            assert_eq!(total(order, &[&[-0.0, 0.0], &[-0.0, -0.0]]), 0, "{order}");
        }
    }

    #[test]
    fn the_greatest_product() {
        let greatest = |packets: &[&[f32]]| {
            let mut accumulator = Accumulator::new(ContractionKind::Max, SumOrder::Tree);
            packets.iter().for_each(|packet| accumulator.add_packet(&mut packet.to_vec()));
            accumulator.total().to_bits()
        };
        assert_eq!(greatest(&[&[-3.0, -1.0], &[-2.0, -7.0]]), (-1.0_f32).to_bits());
        assert_eq!(greatest(&[&[-0.0], &[0.0], &[-0.0]]), 0);
        assert_eq!(greatest(&[&[1.0, f32::NAN], &[2.0, 3.0]]), 0x7fc0_0000);
    }

    #[test]
    fn integers_wrap() {
        for order in [SumOrder::Tree, SumOrder::Sequential] {
            let mut accumulator = Accumulator::new(ContractionKind::Add, order);
            accumulator.add_packet(&mut [i32::MAX, 1]);
            accumulator.add_packet(&mut [-1, 0]);
            assert_eq!(accumulator.total(), i32::MAX, "{order}");
        }
    }
}
