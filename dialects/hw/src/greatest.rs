//! Maxima instead of sums: the Reducer's max mode (book 19).

use crate::number::Number;
use visa_numerics::maximum;

/// A number of which the greatest is taken.
pub(crate) trait Greatest: Number {
    /// None is less.
    const LEAST: Self;
    /// The greater of both.
    fn greater(self, other: Self) -> Self;
}

impl Greatest for f32 {
    const LEAST: Self = f32::NEG_INFINITY;

    fn greater(self, other: Self) -> Self {
        maximum(self, other)
    }
}

impl Greatest for i32 {
    const LEAST: Self = i32::MIN;

    fn greater(self, other: Self) -> Self {
        self.max(other)
    }
}

/// The greatest value of each column of row 0, by slot (`[slot][column]`). A packet has `terms` values for each of
/// its groups, of which the first `columns` are kept, and goes to the slot with its number.
pub(crate) fn greatest<T: Greatest>(
    packets: &[T],
    packet: usize,
    (slots, kept): (&[u32], usize),
    columns: usize,
    terms: usize,
) -> Vec<T> {
    let mut buffer = vec![T::LEAST; kept * columns];
    for (values, &slot) in packets.chunks_exact(packet).zip(slots) {
        let held = &mut buffer[slot as usize * columns..][..columns];
        for (greatest, values) in held.iter_mut().zip(values.chunks_exact(terms)) {
            *greatest = values.iter().fold(*greatest, |greatest, &value| greatest.greater(value));
        }
    }
    buffer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_greatest_of_each_slot_and_column() {
        // Three packets of three groups of two, of which two are kept; the first and the last meet in slot 0.
        let packets = [1, 5, -4, -3, 9, 9, 2, 2, 0, -1, 9, 9, 7, -8, -5, -6, 9, 9];
        assert_eq!(greatest(&packets, 6, (&[0, 1, 0], 2), 2, 2), [7, -3, 2, 0]);
        assert_eq!(
            greatest(&[-0.0, f32::NEG_INFINITY], 1, (&[0, 0], 1), 1, 1)[0].to_bits(),
            (-0.0_f32).to_bits()
        );
    }
}
