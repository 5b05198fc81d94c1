//! Placement: the position of each index in a buffer. It is the mapping turned around, digit by digit (book 07): a
//! digit moves along an axis, and its weight is the distance of its neighbours.
//!
//! A tensor in memory is several mappings (chip, cluster, slice, element). Their placements join to one.

use crate::expr::axes::{Axes, AxisId};
use crate::expr::{Expr, Side};
use crate::meaning::cell::Index;
use crate::meaning::digits::{Digit, Digits, DigitsError, Offset, digits, in_room};
use std::collections::BTreeMap;

/// A buffer digit and the distance between its positions, in any unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlacedDigit {
    /// The digit.
    pub digit: Digit,
    /// Distance between its neighbours.
    pub weight: i64,
}

/// Where a buffer holds each index: the index `origin` at `base`, all others as the digits count on from there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Placement {
    /// Where the origin is.
    pub base: i64,
    /// The index that the digits count from, in order of axis.
    pub origin: Vec<Offset>,
    /// The digits, minor first within each mapping.
    pub digits: Vec<PlacedDigit>,
}

/// Most choices that the search for an index in overlapping digits tries; beyond, the index counts as not held.
/// Digits of an axis that do not overlap never need more than one choice each.
pub const MAX_CHOICES: usize = 4096;

/// The placement of a contiguous buffer whose positions are `unit` apart.
#[must_use]
pub fn place(digits: &Digits, unit: i64) -> Placement {
    let mut weight = unit;
    let placed = digits.iter().map(|digit| {
        let placed = PlacedDigit { digit: *digit, weight };
        weight = times(weight, digit.extent);
        placed
    });
    Placement { base: 0, digits: placed.collect(), origin: digits.offset().to_vec() }
}

/// The placement of any mapping that has one: of every mapping with digits, and also of a sliding expression (book
/// 03), whose terms are at their strides though their positions overlap, and of padding before the live positions.
///
/// # Errors
/// The error in the mapping, or the part without digits.
pub fn place_expr(map: &Expr, axes: &Axes, unit: i64) -> Result<Placement, DigitsError> {
    let ragged = match digits(map, axes) {
        Ok(digits) => return Ok(place(&digits, unit)),
        Err(error @ DigitsError::Map(_)) => return Err(error),
        Err(error @ DigitsError::Ragged(_)) => error,
    };
    let mut all = Placement::default();
    match map {
        Expr::Alias(name) => return place_expr(axes.alias(name)?, axes, unit),
        Expr::Pair(terms) | Expr::Outer(terms) => {
            let mut weight = unit;
            for term in terms.iter().rev() {
                all = all.join(place_expr(term, axes, weight)?);
                weight = times(weight, term.size(axes)?);
            }
        }
        Expr::Slide(terms) => {
            for (term, stride) in terms {
                all = all.join(place_expr(term, axes, times(unit, *stride))?);
            }
        }
        Expr::Pad { inner, side: Side::High, .. } => return place_expr(inner, axes, unit),
        Expr::Pad { inner, size, side: Side::Low, .. } => {
            all = place_expr(inner, axes, unit)?;
            all.base = all.base.saturating_add(times(unit, size - inner.size(axes)?));
        }
        Expr::Axis(_)
        | Expr::Literal(_)
        | Expr::Resize { .. }
        | Expr::Stride { .. }
        | Expr::Modulo { .. }
        | Expr::Slice { .. }
        | Expr::Gather { .. } => return Err(ragged),
    }
    Ok(all)
}

/// A distance times a count, limited to 64 bits: no memory is that large.
pub fn times(distance: i64, count: u64) -> i64 {
    let product = i128::from(distance) * i128::from(count);
    product.clamp(i64::MIN.into(), i64::MAX.into()) as i64
}

impl Placement {
    /// Both placements: an index is where the two together put it.
    #[must_use]
    pub fn join(mut self, other: Placement) -> Placement {
        self.base = self.base.saturating_add(other.base);
        self.digits.extend(other.digits);
        for offset in other.origin {
            match self.origin.binary_search_by_key(&offset.axis, |own| own.axis) {
                Ok(at) => {
                    let sum = self.origin[at].coordinate.saturating_add(offset.coordinate);
                    self.origin[at].coordinate = sum;
                }
                Err(at) => self.origin.insert(at, offset),
            }
        }
        self
    }

    /// The coordinate along an axis that the digits count from.
    #[must_use]
    pub fn start(&self, axis: AxisId) -> u64 {
        self.origin.iter().find(|offset| offset.axis == axis).map_or(0, |offset| offset.coordinate)
    }

    /// Number of live positions. `None` if digits of one axis overlap and also leave it, as in `[A, A]`: which of
    /// their sums stay inside is a subset-sum question, and no layout asks it.
    #[must_use]
    pub fn live_count(&self) -> Option<u64> {
        let mut bare: u64 = 1;
        let mut axes: BTreeMap<AxisId, Vec<Digit>> = BTreeMap::new();
        for digit in self.digits.iter().map(|placed| placed.digit) {
            match digit.axis {
                Some(axis) => axes.entry(axis).or_default().push(digit),
                None => bare = bare.checked_mul(digit.live)?,
            }
        }
        axes.into_iter().try_fold(bare, |count, (axis, mut digits)| {
            digits.sort_by_key(|digit| std::cmp::Reverse(digit.stride));
            let room = digits[0].axis_size.checked_sub(self.start(axis))?;
            count.checked_mul(in_room(&digits, room)?)
        })
    }

    /// The digits of an axis with their numbers.
    pub fn of_axis(&self, axis: AxisId) -> impl Iterator<Item = (usize, &PlacedDigit)> {
        self.digits.iter().enumerate().filter(move |(_, placed)| placed.digit.axis == Some(axis))
    }

    /// The value of each digit of the axis, by number, that gives `distance` coordinates from the origin. `None` if
    /// there is no such value.
    #[must_use]
    pub fn reach(&self, axis: AxisId, distance: u64) -> Option<Vec<(usize, u64)>> {
        let mut own: Vec<(usize, Digit)> =
            self.of_axis(axis).map(|(at, placed)| (at, placed.digit)).collect();
        own.sort_by_key(|(_, digit)| std::cmp::Reverse(digit.stride));
        let mut values = Vec::new();
        let mut choices = MAX_CHOICES;
        search(&own, distance, &mut values, &mut choices).then_some(values)
    }

    /// Where the buffer holds an index: its first place, should it hold it several times. `None` where it does not.
    #[must_use]
    pub fn address(&self, index: &Index) -> Option<i64> {
        let mut axes: Vec<AxisId> = self.digits.iter().filter_map(|placed| placed.digit.axis).collect();
        axes.extend(self.origin.iter().map(|offset| offset.axis));
        axes.extend(index.iter().map(|(axis, _)| axis));
        axes.sort();
        axes.dedup();
        let mut address = self.base;
        for axis in axes {
            let distance = index.get(axis).checked_sub(self.start(axis))?;
            if self.of_axis(axis).any(|(_, placed)| index.get(axis) >= placed.digit.axis_size) {
                return None;
            }
            for (at, value) in self.reach(axis, distance)? {
                address = address.saturating_add(times(self.digits[at].weight, value));
            }
        }
        Some(address)
    }
}

/// Writes `distance` in digits, largest stride first. A digit takes as many steps as it can and leaves no more
/// than the digits below it reach.
fn search(
    digits: &[(usize, Digit)],
    distance: u64,
    values: &mut Vec<(usize, u64)>,
    choices: &mut usize,
) -> bool {
    let Some((&(at, digit), below)) = digits.split_first() else { return distance == 0 };
    let reach = below
        .iter()
        .fold(0_u64, |reach, (_, digit)| reach.saturating_add(digit.stride.saturating_mul(digit.live - 1)));
    let most = (distance / digit.stride).min(digit.live - 1);
    let least = distance.saturating_sub(reach).div_ceil(digit.stride);
    for value in (least..=most).rev() {
        let Some(left) = choices.checked_sub(1) else { return false };
        *choices = left;
        values.push((at, value));
        if search(below, distance - digit.stride * value, values, choices) {
            return true;
        }
        values.pop();
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axes() -> Axes {
        let mut axes = Axes::new();
        for (name, size) in [("A", 16), ("B", 3), ("N", 5), ("F", 3)] {
            axes.declare(name, size).unwrap();
        }
        axes
    }

    fn address(map: &str, index: &[(&str, u64)]) -> Option<i64> {
        let axes = axes();
        let index = index.iter().map(|(name, at)| (axes.id(name).unwrap(), *at)).collect();
        place_expr(&Expr::parse(map).unwrap(), &axes, 1).unwrap().address(&index)
    }

    #[test]
    fn joined_digits_count_within_their_axis() {
        let axes = axes();
        let placed = |map: &str| place_expr(&Expr::parse(map).unwrap(), &axes, 1).unwrap();
        let joined = |time: &str, packet: &str| placed(packet).join(placed(time)).live_count();
        // N has 5 coordinates: 0, 1 | 2, 3 | 4, and the last packet's second place is none.
        assert_eq!(joined("[N # 6 / 2]", "[N # 6 % 2]"), Some(5));
        assert_eq!(joined("[N # 8 / 2]", "[N # 8 % 2 # 4]"), Some(5));
        assert_eq!(joined("[N # 6 / 2, B]", "[N # 6 % 2]"), Some(15));
        // From 2 on: 2, 3 | 4.
        assert_eq!(joined("[N @ 2 # 4 / 2]", "[N # 6 % 2]"), Some(3));
        assert_eq!(joined("[N, 3]", "[N]"), None);
    }

    #[test]
    fn indices_stand_where_the_mapping_says() {
        assert_eq!(address("[A, B]", &[("A", 7), ("B", 2)]), Some(23));
        assert_eq!(address("[A % 4, B, A / 4]", &[("A", 7), ("B", 2)]), Some(12 * 3 + 4 * 2 + 1));
        assert_eq!(address("[A @ 4]", &[("A", 7)]), Some(3));
        // A comes twice: the first place.
        assert_eq!(address("[A, 2]", &[("A", 7)]), Some(14));
        // Overlapping digits: 7 = 7 * 1 in the first, as the larger stride takes all it can.
        assert_eq!(address("[A / 2, A % 4]", &[("A", 7)]), Some(3 * 4 + 1));
    }

    #[test]
    fn indices_that_are_not_held() {
        assert_eq!(address("[A @ 4]", &[("A", 3)]), None);
        assert_eq!(address("[A @ 4]", &[]), None);
        assert_eq!(address("[A = 5]", &[("A", 5)]), None);
        assert_eq!(address("[A / 2]", &[("A", 7)]), None);
        assert_eq!(address("[A]", &[("B", 1)]), None);
        assert_eq!(address("[A]", &[("A", 16)]), None);
    }

    #[test]
    fn sliding_expressions_and_padding_before() {
        // Book 03: element (N, F) at N + 2 F.
        assert_eq!(address("[$(N:1, F:2)]", &[("N", 3), ("F", 1)]), Some(5));
        assert_eq!(address("[A, $(N:1, F:2)]", &[("A", 2), ("N", 4), ("F", 2)]), Some(2 * 9 + 8));
        assert_eq!(address("[$(N:1, F:2), B]", &[("N", 1), ("F", 1), ("B", 1)]), Some(10));
        assert_eq!(address("[$(N:1, F:2) # 16]", &[("F", 2)]), Some(4));
        assert_eq!(address("[$(N:1, F:2)]", &[("N", 5)]), None);
        assert_eq!(address("[B, A # 20 {left}]", &[("A", 1)]), Some(5));
        let sliced = Expr::parse("[$(N:1, F:2) @ 1]").unwrap();
        assert!(matches!(place_expr(&sliced, &axes(), 1), Err(DigitsError::Ragged(_))));
    }

    #[test]
    fn overlapping_digits_are_searched() {
        // Strides 6 and 4: 8 is 4 + 4, though 6 is the larger step; 9 and 12 are no sum of them.
        let text = "[A = 12 / 6, A = 12 / 4]";
        let found = |at| address(text, &[("A", at)]);
        assert_eq!([0, 4, 6, 8, 10, 14].map(found), [0, 1, 3, 2, 4, 5].map(Some));
        assert_eq!([2, 9, 12, 15].map(found), [None; 4]);
    }
}
