//! Shuffles: which chip gets its part of a tensor from which (book 32).

use crate::transfer::{CHIP_STRIDE, TransferLoop};
use std::collections::BTreeMap;
use visa_algebra::{Axes, AxisId, Digit, Expr, PlacedDigit, digits, place};
use visa_loops::Stride;

/// The part that each chip gets: all that another one holds of a tensor.
#[derive(Clone, Debug)]
pub struct Shuffle {
    /// The digits of the chip mapping, and how many chips apart their positions are.
    digits: Vec<PlacedDigit>,
    /// The chip that each one gets it from.
    from: Vec<u64>,
    /// Number of chips that hold something: the first ones.
    live: u64,
}

impl Shuffle {
    /// The shuffle of a tensor that lies on chips according to `chip`, by a list of as many chips.
    ///
    /// # Errors
    /// A chip that would get something and give nothing, copies that would differ, or a mapping without digits.
    pub fn new(chip: &Expr, from: Vec<u64>, axes: &Axes) -> Result<Self, String> {
        let held = digits(chip, axes).map_err(|error| format!("`{chip}`: {error}"))?;
        let shuffle = Self { digits: place(&held, 1).digits, live: 0, from };
        let is_live = |at: u64| shuffle.digits.iter().all(|placed| value(placed, at) < placed.digit.live);
        let chips = 0..shuffle.from.len() as u64;
        let live = chips.clone().filter(|&at| is_live(at)).count() as u64;
        if let Some(at) = (0..live).find(|&at| !is_live(at)) {
            return Err(format!("chip {at} has no part of `{chip}`, but a later one has"));
        }
        let mut known: BTreeMap<Vec<u64>, (u64, Vec<u64>)> = BTreeMap::new();
        for (at, &from) in (0..live).zip(&shuffle.from) {
            if !is_live(from) {
                return Err(format!(
                    "chip {at} would get the part of `{chip}` on chip {from}, which is empty"
                ));
            }
            let (own, other) = (shuffle.values(at), shuffle.values(from));
            let (first, gets) = known.entry(own).or_insert_with(|| (at, other.clone()));
            if *gets != other {
                return Err(format!(
                    "chips {first} and {at} hold the same of `{chip}`, and would get different parts"
                ));
            }
        }
        Ok(Self { live, ..shuffle })
    }

    /// The axes of the chip mapping.
    pub fn axes(&self) -> impl Iterator<Item = AxisId> + '_ {
        self.digits.iter().filter_map(|placed| placed.digit.axis)
    }

    /// The part of its index that a chip holds: a number for each digit with an axis.
    fn values(&self, chip: u64) -> Vec<u64> {
        self.digits
            .iter()
            .filter(|placed| placed.digit.axis.is_some())
            .map(|placed| value(placed, chip))
            .collect()
    }

    /// Distance of each coordinate of the element that comes to an index from that index, which counts from the first
    /// that the tensor holds.
    pub fn shifts(&self, index: impl Fn(AxisId) -> u64) -> Vec<(AxisId, i64)> {
        let own = |digit: &Digit| digit.axis.map(|axis| index(axis) / digit.stride.max(1) % digit.live);
        let chip =
            self.digits.iter().filter_map(|placed| Some(own(&placed.digit)? * placed.weight.cast_unsigned()));
        let chip: u64 = chip.sum();
        let from = usize::try_from(chip).ok().and_then(|chip| self.from.get(chip)).copied().unwrap_or(chip);
        let shift = |placed: &PlacedDigit| {
            let steps = value(placed, from).cast_signed() - value(placed, chip).cast_signed();
            Some((placed.digit.axis?, steps * placed.digit.stride.cast_signed()))
        };
        self.digits.iter().filter_map(shift).collect()
    }

    /// The loop over the chips that get something.
    #[must_use]
    pub fn over_chips(&self) -> TransferLoop {
        let own = self.from.iter().take(usize::try_from(self.live).unwrap_or(usize::MAX));
        let read: Vec<i64> = own.map(|from| from.cast_signed() * CHIP_STRIDE).collect();
        TransferLoop {
            limit: self.live,
            read: Stride::from(read),
            write: CHIP_STRIDE,
            factor: "chips".to_owned(),
            counts: None,
        }
    }
}

/// The digit's part of a chip's number.
fn value(placed: &PlacedDigit, chip: u64) -> u64 {
    chip / placed.weight.cast_unsigned().max(1) % placed.digit.extent.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axes() -> Axes {
        let mut axes = Axes::new();
        for (name, size) in [("A", 4), ("B", 8), ("C", 2), ("D", 2), ("E", 3)] {
            axes.declare(name, size).expect("declared once");
        }
        axes
    }

    fn shuffle(chip: &str, from: &[u64]) -> Result<Shuffle, String> {
        Shuffle::new(&Expr::parse(chip).expect(chip), from.to_vec(), &axes())
    }

    /// The index that chip `chip` holds at the axes of the mapping, by looking the position up.
    fn held(chip: &str, at: u64) -> Option<visa_algebra::Index> {
        match visa_algebra::map(&Expr::parse(chip).expect(chip), &axes(), at) {
            Some(visa_algebra::Cell::Live(index)) => Some(index),
            Some(visa_algebra::Cell::Shared(_) | visa_algebra::Cell::Pad(_)) | None => None,
        }
    }

    /// The element that comes to the index of each chip is the index of the chip that it comes from.
    #[test]
    fn elements_come_from_where_the_list_says() {
        for (chip, from) in [
            ("[A]", vec![1, 2, 3, 0]),
            ("[A]", vec![3, 1, 0, 2]),
            ("[B / 2]", vec![2, 3, 0, 1]),
            ("[B % 4]", vec![3, 0, 1, 2]),
            ("[C, D]", vec![2, 0, 3, 1]),
            ("[D, 2]", vec![2, 3, 0, 1]),
            ("[E # 4]", vec![2, 0, 1, 3]),
        ] {
            let found = shuffle(chip, &from).expect(chip);
            for (at, &source) in (0..).zip(&from) {
                let (Some(own), Some(other)) = (held(chip, at), held(chip, source)) else { continue };
                for (axis, shift) in found.shifts(|axis| own.get(axis)) {
                    assert_eq!(
                        own.get(axis).cast_signed() + shift,
                        other.get(axis).cast_signed(),
                        "{chip} {at}"
                    );
                }
            }
        }
    }

    #[test]
    fn chips_without_a_part_give_none_and_copies_stay_alike() {
        assert!(shuffle("[E # 4]", &[3, 0, 1, 2]).unwrap_err().contains("chip 0 would get the part of"));
        assert!(shuffle("[D, 2]", &[2, 1, 0, 3]).unwrap_err().contains("chips 0 and 1 hold the same"));
        assert!(shuffle("[D, 2]", &[3, 2, 1, 0]).is_ok());
        assert!(shuffle("[4]", &[3, 1, 0, 2]).is_ok());
        assert_eq!(shuffle("[E # 4]", &[1, 2, 0, 3]).expect("a rotation").over_chips().limit, 3);
    }
}
