//! Coordinates of each axis that a tensor type holds.
//!
//! A position of a mapping is live when each of its digits is, and its coordinate along an axis is the sum of the
//! contributions of that axis's digits. So the indices that a type holds are a product: any combination of the
//! coordinates that it holds along each axis.

mod gathered;
pub mod skew;

use crate::coverage::gathered::Gathered;
use crate::coverage::skew::Skewed;
use crate::error::mapping_error;
use crate::tensor::{Dim, Tensor};
use std::collections::BTreeMap;
use std::sync::Arc;
use visa_algebra::{
    Axes, AxisId, Carries, Digit, Expr, Opaque, PlacedDigit, Placement, padded_terms, place_expr,
};
use visa_ir::diag::Diagnostic;
use visa_ir::span::Span;

/// Most positions of a padded term that are put together. No more fit the data memory of a slice.
pub const MAX_POSITIONS: u64 = 1 << 20;

/// The digits of some mappings of a tensor type, by axis.
pub struct Coverage {
    /// The digits along each axis that the mappings mention, even if they hold coordinate 0 only.
    along: BTreeMap<AxisId, Vec<Digit>>,
    /// The contribution of gathered terms along each axis.
    gathered: Vec<Gathered>,
    /// All digits with the index that they count from.
    placement: Placement,
    /// The skewed axes that are declared.
    skewed: Vec<Skewed>,
    /// Number of positions of each index, by broadcast alone.
    pub copies: u64,
}

/// The coordinates that some dimensions of a tensor type count from, and the repetitions of its indices there.
///
/// Unlike a coverage, dimensions have them that hold only some positions of a composite whose parts carry.
pub struct Starts(Coverage);

impl Starts {
    /// Of some dimensions of a type.
    ///
    /// # Errors
    /// A type whose mappings are wrong.
    pub fn of(tensor: &Tensor, dims: &[Dim], axes: &Axes, span: Span) -> Result<Self, Diagnostic> {
        let maps: Vec<Expr> = dims.iter().map(|&dim| tensor.dim(dim)).collect();
        let (coverage, _) = Coverage::parted(tensor.axis_names(axes), &maps, axes, span)?;
        Ok(Self(coverage))
    }

    /// The first coordinate along an axis.
    pub fn along(&self, axis: AxisId) -> u64 {
        self.0.start(axis)
    }

    /// Number of positions of each index, by broadcast alone.
    pub fn copies(&self) -> u64 {
        self.0.copies
    }
}

impl Coverage {
    /// Of all dimensions of a type.
    pub fn new(tensor: &Tensor, axes: &Axes, span: Span) -> Result<Self, Diagnostic> {
        Self::of(tensor, tensor.kind.dims, axes, span)
    }

    /// Of some dimensions of a type.
    pub fn of(tensor: &Tensor, dims: &[Dim], axes: &Axes, span: Span) -> Result<Self, Diagnostic> {
        let maps: Vec<Expr> = dims.iter().map(|&dim| tensor.dim(dim)).collect();
        Self::of_maps(tensor.axis_names(axes), &maps, axes, span)
    }

    /// Of a mapping.
    pub fn of_map(map: &Expr, axes: &Axes, span: Span) -> Result<Self, Diagnostic> {
        Self::of_maps(map.axis_names(axes), std::slice::from_ref(map), axes, span)
    }

    /// Of mappings, which mention axes of these names or fewer.
    fn of_maps(names: Vec<Arc<str>>, of: &[Expr], axes: &Axes, span: Span) -> Result<Self, Diagnostic> {
        let (coverage, incomplete) = Self::parted(names, of, axes, span)?;
        incomplete.map_or(Ok(coverage), |text| Err(Self::lacking(&text, span)))
    }

    fn lacking(text: &str, span: Span) -> Diagnostic {
        Diagnostic::error("ragged", span, format!("`{text}`: not all of its positions are held"))
    }

    /// The same with the text of a composite of which these mappings hold some positions only, which are no digits.
    /// The coverage lacks its elements.
    fn parted(
        names: Vec<Arc<str>>,
        of: &[Expr],
        axes: &Axes,
        span: Span,
    ) -> Result<(Self, Option<String>), Diagnostic> {
        let mut coverage = Self {
            along: BTreeMap::new(),
            gathered: Vec::new(),
            placement: Placement::default(),
            skewed: skew::declared(axes),
            copies: 1,
        };
        for name in names {
            let axis = axes.resolve(&name).map_err(|error| mapping_error(error, span))?;
            coverage.along.insert(axis, Vec::new());
        }
        let mut maps = Vec::new();
        for map in of {
            let refuse = |why: String| Diagnostic::error("ragged", span, format!("`{map}`: {why}"));
            let (rest, gathered) = gathered::split(map, axes).map_err(refuse)?;
            coverage.gathered.extend(gathered);
            maps.push(rest);
        }
        let wrong = |error| mapping_error(error, span);
        let carries = Carries::new(&maps.iter().collect::<Vec<_>>(), axes).map_err(wrong)?;
        let axes = carries.as_ref().map_or(axes, Carries::axes);
        if let Some(carries) = &carries {
            maps = maps.iter().map(|map| carries.view(map)).collect::<Result<_, _>>().map_err(wrong)?;
        }
        let mut terms = padded_terms(&maps.iter().collect::<Vec<_>>(), axes).map_err(wrong)?;
        let whole = maps.iter().all(|map| place_expr(map, axes, 1).is_ok());
        terms.retain(|term| term.split && !whole);
        let opaque = Opaque::new(terms.clone(), axes);
        for map in &maps {
            let refuse = |error| Diagnostic::error("ragged", span, format!("`{map}`: {error}"));
            let view = opaque.view(map).map_err(wrong)?;
            let placed = place_expr(&view, &opaque.axes, 1).map_err(refuse)?;
            coverage.placement = coverage.placement.join(placed);
        }
        let mut incomplete = None;
        for term in &terms {
            let axis = opaque.axis(term);
            if !coverage.put_together(&term.text, &term.inner, axis, term.size, axes, span)? {
                incomplete = Some(term.text.clone());
            }
        }
        for (whole, axis) in carries.iter().flat_map(Carries::wholes) {
            let text = axes.name(axis);
            if !coverage.put_together(text, whole, Some(axis), axes.size(axis), axes, span)? {
                incomplete = Some(text.to_owned());
            }
        }
        for digit in coverage.placement.digits.iter().map(|placed| placed.digit) {
            match digit.axis {
                Some(axis) => coverage.along.entry(axis).or_default().push(digit),
                None => coverage.copies = coverage.copies.saturating_mul(digit.live),
            }
        }
        Ok((coverage, incomplete))
    }

    /// Replaces the parts of `axis`, which stands for them, by elements. Returns false if the parts neither cover it
    /// nor are parts of one digit: then they are removed.
    fn put_together(
        &mut self,
        text: &str,
        elements: &Expr,
        axis: Option<AxisId>,
        size: u64,
        axes: &Axes,
        span: Span,
    ) -> Result<bool, Diagnostic> {
        let refuse = |why: String| Diagnostic::error("ragged", span, format!("`{text}`: {why}"));
        let digits = &mut self.placement.digits;
        let parts: Vec<PlacedDigit> = digits.extract_if(.., |placed| placed.digit.axis == axis).collect();
        let size = usize::try_from(size).ok().filter(|&size| size as u64 <= MAX_POSITIONS);
        let size = size.ok_or_else(|| refuse(format!("more than {MAX_POSITIONS} positions")))?;
        let first: Vec<bool> = (0..size).map(|position| position == 0).collect();
        let elements = place_expr(elements, axes, 1).map_err(|error| refuse(error.to_string()))?;
        let held = parts.iter().fold(first, |held, part| with_digit(&held, &part.digit));
        if held.into_iter().all(|held| held) {
            self.placement = std::mem::take(&mut self.placement).join(elements);
            return Ok(true);
        }
        let parts = joined(parts.into_iter().map(|part| part.digit), size as u64);
        let last: u64 = parts.iter().map(|part| part.live.saturating_sub(1) * part.stride).sum();
        // Repetitions would be lost with the parts.
        let repeats = elements.digits.iter().any(|placed| placed.digit.axis.is_none());
        let [PlacedDigit { digit: whole, .. }] = elements.digits[..] else {
            return if repeats { Err(Self::lacking(text, span)) } else { Ok(false) };
        };
        // Padding in front of the digit, or among the positions, is none of its coordinates.
        let whole_term = saturated(whole.live) == size && elements.base == 0 && elements.origin.is_empty();
        if saturated(last) >= size || !whole_term {
            return if repeats { Err(Self::lacking(text, span)) } else { Ok(false) };
        }
        let (axis, axis_size) = (whole.axis, whole.axis_size);
        let of_whole = |part: Digit| {
            let stride = part.stride.saturating_mul(whole.stride);
            PlacedDigit { digit: Digit { axis, stride, axis_size, ..part }, weight: 1 }
        };
        self.placement.digits.extend(parts.into_iter().map(of_whole));
        Ok(true)
    }

    /// The skewed axes that are declared.
    pub fn skewed(&self) -> &[Skewed] {
        &self.skewed
    }

    /// The axes that the type mentions.
    pub fn axes(&self) -> impl Iterator<Item = AxisId> + '_ {
        self.along.keys().copied()
    }

    /// Returns true if the type mentions an axis.
    pub fn mentions(&self, axis: AxisId) -> bool {
        self.along.contains_key(&axis)
    }

    /// The first coordinate that is held.
    pub fn start(&self, axis: AxisId) -> u64 {
        self.placement.start(axis)
    }

    /// The held coordinates below `end`; coordinate 0 alone along an axis that is not mentioned.
    pub fn held(&self, axis: AxisId, end: usize) -> Vec<bool> {
        let first = self.start(axis);
        let start: Vec<bool> = (0..end).map(|coordinate| coordinate as u64 == first).collect();
        let digits = self.along.get(&axis).map_or(&[][..], Vec::as_slice);
        let held = digits.iter().fold(start, |held, digit| with_digit(&held, digit));
        let own = self.gathered.iter().filter(|gathered| gathered.axis == axis);
        own.fold(held, |held, gathered| with_entries(&held, &gathered.adds))
    }
}

/// Digits of an axis of `size` positions, of which those that count on from each other are one.
fn joined(digits: impl Iterator<Item = Digit>, size: u64) -> Vec<Digit> {
    let mut digits: Vec<Digit> = digits.collect();
    digits.sort_by_key(|digit| digit.stride);
    let mut joined: Vec<Digit> = Vec::new();
    for digit in digits {
        match joined.last_mut() {
            Some(minor) if minor.stride.checked_mul(minor.live) == Some(digit.stride) => {
                minor.extent = minor.live.saturating_mul(digit.extent);
                minor.live = size.div_ceil(minor.stride.max(1)).min(minor.live.saturating_mul(digit.live));
            }
            Some(_) | None => joined.push(digit),
        }
    }
    joined
}

/// A coordinate as a `usize`. One that is too large for it saturates: no array has as many elements.
fn saturated(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// The sums of a coordinate of `held` and a coordinate of the digit.
fn with_digit(held: &[bool], digit: &Digit) -> Vec<bool> {
    let stride = saturated(digit.stride);
    // How many steps of the digit lead from the nearest coordinate of `held` to each one.
    let mut steps: Vec<Option<u64>> = Vec::with_capacity(held.len());
    for (coordinate, &here) in held.iter().enumerate() {
        let before = coordinate.checked_sub(stride).and_then(|before| steps.get(before).copied().flatten());
        let further = before.map(|count| count + 1).filter(|&count| count < digit.live);
        steps.push(if here { Some(0) } else { further });
    }
    steps.iter().map(Option::is_some).collect()
}

/// The coordinates that are one of `held` plus one of `adds`.
fn with_entries(held: &[bool], adds: &[u64]) -> Vec<bool> {
    let mut all = vec![false; held.len()];
    for coordinate in coordinates(held) {
        for add in adds.iter().filter_map(|&add| usize::try_from(add).ok()) {
            if let Some(marked) = all.get_mut(coordinate.saturating_add(add)) {
                *marked = true;
            }
        }
    }
    all
}

/// The coordinates that together with `part` make up `whole`: each of `whole` is in one way the sum of one of
/// `part` and one of the result. Sums past the end are left out. `None` if there is no such set.
///
/// There is at most one: the smallest coordinate that is not made up yet can only be a sum with the smallest of
/// the part.
pub fn complement(whole: &[bool], part: &[bool]) -> Option<Vec<bool>> {
    let part = coordinates(part);
    let least = *part.first()?;
    let mut made = vec![false; whole.len()];
    let mut rest = vec![false; whole.len()];
    for coordinate in coordinates(whole) {
        if made[coordinate] {
            continue;
        }
        let start = coordinate.checked_sub(least)?;
        rest[start] = true;
        for sum in part.iter().map(|step| start + step).take_while(|&sum| sum < whole.len()) {
            if made[sum] || !whole[sum] {
                return None;
            }
            made[sum] = true;
        }
    }
    (made == whole).then_some(rest)
}

/// The coordinates that are marked, in order.
pub fn coordinates(marked: &[bool]) -> Vec<usize> {
    marked.iter().enumerate().filter_map(|(coordinate, &is)| is.then_some(coordinate)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor::memories::HOST;
    use crate::tensor::parse_tensor;

    fn held(map: &str, axis: &str, end: usize) -> Vec<usize> {
        let mut axes = Axes::new();
        for (name, size) in [("J", 64), ("N", 100), ("K", 8)] {
            axes.declare(name, size).unwrap();
        }
        let body = parse_tensor(&HOST, &format!("i8, {map}")).unwrap().into_any();
        let coverage = Coverage::new(body.downcast_ref().unwrap(), &axes, Span::default()).unwrap();
        coordinates(&coverage.held(axes.id(axis).unwrap(), end))
    }

    fn marks(end: usize, marked: &[usize]) -> Vec<bool> {
        (0..end).map(|coordinate| marked.contains(&coordinate)).collect()
    }

    #[test]
    fn coordinates_that_mappings_hold() {
        assert_eq!(held("[J]", "J", 64), (0..64).collect::<Vec<_>>());
        assert_eq!(held("[J / 16]", "J", 64), [0, 16, 32, 48]);
        assert_eq!(held("[J / 16, J % 4 = 3]", "J", 64), [0, 1, 2, 16, 17, 18, 32, 33, 34, 48, 49, 50]);
        assert_eq!(held("[N # 128 / 32, N # 128 % 32]", "N", 100), (0..100).collect::<Vec<_>>());
        assert_eq!(held("[J]", "J", 3), [0, 1, 2]);
        assert_eq!(held("[J]", "K", 8), [0]);
        assert_eq!(held("[K / 4, K % 2, K / 4]", "K", 8), [0, 1, 4, 5]);
        assert_eq!(held("[J @ 60]", "J", 64), [60, 61, 62, 63]);
        assert_eq!(held("[J / 16 @ 1, J % 16 @ 14]", "J", 64), [30, 31, 46, 47, 62, 63]);
        // A table adds its entries, in any order.
        assert_eq!(held("[K @ (6, 1, 6)]", "K", 8), [1, 6]);
        assert_eq!(held("[J / 16 @ (3, 0), J % 16 @ (5, 2) # 4]", "J", 64), [2, 5, 50, 53]);
        assert_eq!(held("[J / 16 @ (2, 0, 3), N]", "J", 64), [0, 32, 48]);
        // A sliding window holds each coordinate with each of the other axis.
        assert_eq!(held("[$(J % 4:1, K:2)]", "K", 8), [0, 1, 2, 3, 4, 5, 6, 7]);
        // Cut, its parts make up the whole.
        assert_eq!(held("[$(J % 4:1, K:2) # 20 / 4, $(J % 4:1, K:2) # 20 % 4]", "J", 64), [0, 1, 2, 3]);
    }

    #[test]
    fn complements() {
        // Inner, outer and middle digits are left out.
        assert_eq!(
            complement(&marks(8, &[0, 1, 2, 3, 4, 5, 6, 7]), &marks(8, &[0, 4])),
            Some(marks(8, &[0, 1, 2, 3]))
        );
        assert_eq!(complement(&[true; 8], &marks(8, &[0, 1, 2, 3])), Some(marks(8, &[0, 4])));
        assert_eq!(complement(&[true; 8], &marks(8, &[0, 1, 4, 5])), Some(marks(8, &[0, 2])));
        assert_eq!(complement(&[true; 8], &marks(8, &[0])), Some(vec![true; 8]));
        assert_eq!(complement(&[true; 8], &[true; 8]), Some(marks(8, &[0])));
        // 10 = 8 + 2 would be cut off by the axis.
        // A set that starts at 4 is 4 from 0 on, or the part that starts there.
        assert_eq!(complement(&marks(8, &[4, 5, 6, 7]), &marks(8, &[4, 5, 6, 7])), Some(marks(8, &[0])));
        assert_eq!(complement(&marks(8, &[4, 5, 6, 7]), &marks(8, &[0])), Some(marks(8, &[4, 5, 6, 7])));
        assert_eq!(complement(&marks(8, &[4, 5, 6, 7]), &marks(8, &[4, 6])), Some(marks(8, &[0, 1])));
        assert_eq!(complement(&[true; 10], &marks(10, &[0, 4, 8])), Some(marks(10, &[0, 1, 2, 3])));
    }

    #[test]
    fn no_complement() {
        // 3 would be 0 + 3 and 2 + 1; a gap of the whole would be filled; the part is not within the whole.
        assert_eq!(complement(&[true; 4], &marks(4, &[0, 1, 3])), None);
        assert_eq!(complement(&marks(5, &[0, 1, 3]), &marks(5, &[0, 1])), None);
        assert_eq!(complement(&marks(4, &[1, 2]), &marks(4, &[2])), None);
        assert_eq!(complement(&marks(4, &[0, 2]), &marks(4, &[0, 1])), None);
    }
}
