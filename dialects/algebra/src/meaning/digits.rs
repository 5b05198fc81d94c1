//! The digit normal form: a mapping as a mixed-radix number, minor digit first.
//!
//! # The form
//! A position p is written as digits, p = sum of d_k * weight_k with d_k < extent_k and weight_k the product
//! of the extents below k. Scanned from the major digit down, a digit out of its live range (d_k >= live_k)
//! makes the cell padding of that digit's kind; otherwise it adds stride_k * d_k to the coordinate of its
//! axis, and a coordinate that reaches the axis size makes the cell don't-care padding. The first padding
//! met decides, as in [`Map`](crate::Map).
//!
//! The form also has an *offset*, the index at position 0: `A @ 1024` is the digit of `A` from 1024 on.
//! Coordinates are offset plus steps. An axis with an offset never leaves its axis (a mapping that would is
//! [`Ragged`]), so where on the way down the offset is added makes no difference.
//!
//! And it names the *skewed axes* that the mapping is written in: `B' = 1` of `B' = B - A` has no digit along `B'`,
//! and still means that B is A, not 0. A mapping names the same ones at each live position, so they are a part of the
//! form and not of a cell.
//!
//! # Canonical digits
//! 1. extent >= 2, and 1 <= live <= extent;
//! 2. a digit has no axis and stride 0 exactly when all its live positions hold the empty index; a digit
//!    with live = 1 is such a digit;
//! 3. a digit with live = extent has the kind `Top`, which nothing reads;
//! 4. stride * (live - 1) < axis size: a digit by itself never leaves its axis;
//! 5. no two neighbours merge. Minor (a, s, e, l, k) and major (b, t, E, L, K) merge into one digit
//!    - (a, s, e*E, l, K) if L = 1 and (l = e or k = K): above a digit there is only padding;
//! - (a, s, e*E, e*L, K) if l = e, b = a and t = s*e: the major digit continues at the end of the minor one.
//!   Coordinates of the merged digit past the axis are cut off by a smaller live range. The cut coordinates are
//!   don't-care padding, so this needs L = E or K = Top; otherwise the cells go from live to don't-care to kind K,
//!   which no digit holds, and the form is [`Ragged`].
//!
//! # Uniqueness
//! *Two canonical forms denote the same cells iff they are equal.* f(0) is live, and it is the offset; subtract it
//! from every live index. The minor digit (a, s, e, l, k) can be read off the cells f(0), f(1), ..., and f(e*y) is
//! the cell function of the digits above it, so induction does the rest. Reading: f(0) is live and now empty.
//! - If f(1) is padding, l = 1, because by (4) only l makes padding while the digits above are zero. If f(1)
//!   is live, its index is a and s.
//! - l is the length of the longest run f(i) = i * f(1). Within the digit, position l < e is padding.
//!   If l = e, position e is the next digit's 1: by (5) that is live (L >= 2) and not e * s of axis a (it
//!   does not count on), so the run ends there.
//! - If f(l) is padding, k is its kind and e is the end of the run of k: position e is the next digit's 1,
//!   either live or, by (5), padding of another kind. If f(l) is live or nothing, e = l.
//!
//! The same reading shows that padding and truncation below are exact: they answer `Ragged` only where no
//! canonical digit list denotes the result. A stride that skips from one digit into the next is always
//! answered `Ragged`, though padding may hide the skip.

use std::collections::BTreeMap;
use std::fmt;
use visa_words::counted;

use crate::effort::count_effort;
use crate::error::MapError;
use crate::expr::axes::{Axes, AxisId};
use crate::expr::{Expr, PadKind, Side};
use crate::limits::MAX_SIZE;
use crate::meaning::carry::settle;
use crate::meaning::cell::{Cell, Index};
use crate::meaning::placement::place;

/// One digit of a position; see the module's page for its meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Digit {
    /// The axis it moves along; none for broadcast and padding.
    pub axis: Option<AxisId>,
    /// Coordinates a step; 0 without an axis.
    pub stride: u64,
    /// Positions of the digit, padding included.
    pub extent: u64,
    /// Positions that are live: the first ones.
    pub live: u64,
    /// The content of the positions from `live` on.
    pub kind: PadKind,
    /// Size of the axis in positions; 1 without an axis.
    pub axis_size: u64,
}

/// A mapping's canonical digits, minor to major, and the index at position 0.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Digits {
    offset: Vec<Offset>,
    /// The skewed axes that it is written in, in order.
    skewed: Vec<AxisId>,
    digits: Vec<Digit>,
}

/// The coordinate of position 0 along an axis; not zero. A mapping has one an axis, in order of axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Offset {
    /// The axis.
    pub axis: AxisId,
    /// The coordinate.
    pub coordinate: u64,
    /// Size of the axis in positions.
    pub axis_size: u64,
}

/// No digit list denotes the mapping: a padding, truncation or split falls inside a digit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ragged {
    /// The subexpression and the boundary that it misses.
    pub at: String,
}

/// Reason why a mapping has no digits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DigitsError {
    /// The mapping is wrong.
    Map(MapError),
    /// The mapping is right but has no digit form.
    Ragged(Ragged),
}

impl From<MapError> for DigitsError {
    fn from(error: MapError) -> Self {
        DigitsError::Map(error)
    }
}

impl From<Ragged> for DigitsError {
    fn from(ragged: Ragged) -> Self {
        DigitsError::Ragged(ragged)
    }
}

impl fmt::Display for Ragged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.at)
    }
}

impl fmt::Display for DigitsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DigitsError::Map(error) => error.fmt(f),
            DigitsError::Ragged(ragged) => ragged.fmt(f),
        }
    }
}

impl std::error::Error for Ragged {}
impl std::error::Error for DigitsError {}

/// The canonical digits of a mapping.
pub fn digits(expr: &Expr, axes: &Axes) -> Result<Digits, DigitsError> {
    match settle(expr, axes)? {
        None => of_terms(expr, axes),
        Some(settled) => match settled.apart.first() {
            None => of_terms(&settled.map, axes),
            Some(base) => {
                let at = format!("{}: parts of {} carry into each other", expr.quoted(), base.quoted());
                Err(Ragged { at }.into())
            }
        },
    }
}

/// The digits of a mapping without shared parts.
fn of_terms(expr: &Expr, axes: &Axes) -> Result<Digits, DigitsError> {
    if let Some(digits) = one_digit_terms(expr, axes) {
        return Ok(digits);
    }
    expr.size(axes)?;
    derive(expr, axes)
}

/// The same as [`derive`] where each term is a single digit: nearly always, and without a list a term. `None`
/// where it is not so, or something is wrong.
fn one_digit_terms(expr: &Expr, axes: &Axes) -> Option<Digits> {
    let mut all = Digits::unit();
    let mut size = 1;
    push_terms(expr, axes, &mut all, &mut size)?;
    Some(all)
}

fn push_terms(expr: &Expr, axes: &Axes, all: &mut Digits, size: &mut u64) -> Option<()> {
    if let Expr::Pair(terms) | Expr::Outer(terms) = expr {
        all.digits.reserve(terms.len());
        return terms.iter().rev().try_for_each(|term| push_terms(term, axes, all, size));
    }
    let digit = one_digit(expr, axes)?;
    *size = size.checked_mul(digit.extent).filter(|size| *size <= MAX_SIZE)?;
    all.push(digit).ok()
}

/// The digit of a term that has one; its extent may be 1.
fn one_digit(expr: &Expr, axes: &Axes) -> Option<Digit> {
    let inner = |inner: &Expr| one_digit(inner, axes);
    match expr {
        Expr::Axis(name) => {
            let plain = axes.id(name).filter(|&id| axes.skew(id).is_none());
            plain.map(|id| Digit::axis(id, axes.size(id)).normal())
        }
        Expr::Literal(n) => (1..=MAX_SIZE).contains(n).then(|| Digit::bare(*n, *n, PadKind::Top)),
        Expr::Stride { inner: of, n } => {
            let digit = inner(of)?;
            (*n > 0 && digit.extent.is_multiple_of(*n)).then(|| digit.every(*n))
        }
        Expr::Modulo { inner: of, n } => {
            let digit = inner(of)?;
            (*n > 0 && digit.extent.is_multiple_of(*n)).then(|| digit.first(*n))
        }
        Expr::Resize { inner: of, size } => {
            let digit = inner(of)?;
            (1..=digit.extent).contains(size).then(|| digit.first(*size))
        }
        Expr::Pad { inner: of, size, kind, side: Side::High } => {
            let digit = inner(of)?;
            let room = (digit.extent..=MAX_SIZE).contains(size);
            let one = digit.extent == 1 || digit.is_full() || digit.kind == *kind || digit.extent == *size;
            let kind = if digit.extent == *size { digit.kind } else { *kind };
            (room && one).then(|| Digit { extent: *size, kind, ..digit }.normal())
        }
        Expr::Alias(_) | Expr::Pair(_) | Expr::Outer(_) | Expr::Pad { .. } => None,
        Expr::Slice { .. } | Expr::Gather { .. } | Expr::Slide(_) => None,
    }
}

/// The digits of an expression whose sizes are checked.
fn derive(expr: &Expr, axes: &Axes) -> Result<Digits, DigitsError> {
    let name = |ragged: Ragged| Ragged { at: format!("{}: {}", expr.quoted(), ragged.at) };
    Ok(match expr {
        Expr::Axis(axis) => {
            let id = axes.resolve(axis)?;
            let skewed = axes.skew(id).map(|_| id).into_iter().collect();
            Digits { skewed, ..Digits::of(Digit::axis(id, axes.size(id))) }
        }
        Expr::Alias(alias) => derive(axes.alias(alias)?, axes)?,
        Expr::Literal(n) => Digits::of(Digit::bare(*n, *n, PadKind::Top)),
        Expr::Pair(terms) | Expr::Outer(terms) => {
            let mut all = Digits::unit();
            for term in terms.iter().rev() {
                all.extend(&derive(term, axes)?).map_err(name)?;
            }
            all
        }
        Expr::Pad { inner, size, kind, side: Side::High } => {
            derive(inner, axes)?.padded(*size, *kind).map_err(name)?
        }
        Expr::Pad { inner, size, side: Side::Low, .. } if inner.size(axes)? == *size => derive(inner, axes)?,
        Expr::Pad { side: Side::Low, .. } => {
            return Err(name(Ragged { at: "padding comes before the live positions".to_owned() }).into());
        }
        Expr::Resize { inner, size: n } | Expr::Modulo { inner, n } => {
            derive(inner, axes)?.first(*n).map_err(name)?
        }
        Expr::Stride { inner, n } => derive(inner, axes)?.every(*n).map_err(name)?,
        Expr::Slice { inner, offset } => derive(inner, axes)?.from(*offset).map_err(name)?,
        Expr::Gather { inner, table } => gathered(&derive(inner, axes)?, table).map_err(name)?,
        Expr::Slide(terms) => slid(terms, axes)?
            .ok_or_else(|| name(Ragged { at: "the terms overlap or leave gaps".to_owned() }))?,
    })
}

/// A table that counts up by one is a slice.
fn gathered(inner: &Digits, table: &[u64]) -> Result<Digits, Ragged> {
    let counts_up = table.windows(2).all(|pair| pair[1] == pair[0] + 1);
    match table.first() {
        Some(&first) if counts_up => inner.from(first)?.first(table.len() as u64),
        _ => Err(Ragged { at: "the offset table does not count up by one".to_owned() }),
    }
}

/// A sliding expression whose strides are the sizes of the terms below is their pair, larger stride first.
fn slid(terms: &[(Expr, u64)], axes: &Axes) -> Result<Option<Digits>, DigitsError> {
    let mut terms: Vec<&(Expr, u64)> = terms.iter().collect();
    terms.sort_by_key(|(_, stride)| *stride);
    let mut all = Digits::unit();
    for (term, stride) in terms {
        if *stride != all.size() {
            return Ok(None);
        }
        all.extend(&derive(term, axes)?)?;
    }
    Ok(Some(all))
}

impl Digit {
    /// All positions of an axis.
    fn axis(id: AxisId, size: u64) -> Digit {
        let kind = PadKind::Top;
        Digit { axis: Some(id), stride: 1, extent: size, live: size, kind, axis_size: size }
    }

    /// A digit without an axis.
    fn bare(extent: u64, live: u64, kind: PadKind) -> Digit {
        Digit { axis: None, stride: 0, extent, live, kind, axis_size: 1 }
    }

    /// Returns true if the digit has no padding.
    pub fn is_full(&self) -> bool {
        self.live == self.extent
    }

    /// Every n-th position, `n` a divisor of the extent.
    fn every(self, n: u64) -> Digit {
        // Saturation is harmless: a digit whose second step is live keeps stride * n inside its axis.
        let (stride, extent) = (self.stride.saturating_mul(n), self.extent / n);
        Digit { stride, extent, live: self.live.div_ceil(n), ..self }.normal()
    }

    /// The first `n` positions, `n` at most the extent.
    fn first(self, n: u64) -> Digit {
        Digit { extent: n, live: self.live.min(n), ..self }.normal()
    }

    /// The same cells with rules 2 and 3 of the canonical form.
    fn normal(self) -> Digit {
        let kind = if self.is_full() { PadKind::Top } else { self.kind };
        match self.live {
            1 => Digit::bare(self.extent, 1, kind),
            _ => Digit { kind, ..self },
        }
    }

    /// Rule 5: the one digit that counts like this one below `major`, if there is one.
    fn merge(&self, major: &Digit) -> Result<Option<Digit>, Ragged> {
        let extent = self.extent * major.extent;
        if major.live == 1 && (self.is_full() || self.kind == major.kind) {
            return Ok(Some(Digit { extent, kind: major.kind, ..*self }.normal()));
        }
        let counts_on =
            self.is_full() && major.axis == self.axis && major.stride == self.stride * self.extent;
        if !counts_on {
            return Ok(None);
        }
        let live = self.extent * major.live;
        let in_axis = match self.axis {
            Some(_) => self.axis_size.div_ceil(self.stride),
            None => live,
        };
        if live > in_axis && major.kind != PadKind::Top {
            let at = format!("the axis ends at position {in_axis} of {live}, before the {}", major.kind);
            return Err(Ragged { at });
        }
        Ok(Some(Digit { extent, live: live.min(in_axis), kind: major.kind, ..*self }.normal()))
    }
}

impl Digits {
    /// The mapping of one position: no digits.
    pub fn unit() -> Digits {
        Digits::default()
    }

    /// The mapping of one digit.
    pub fn of(digit: Digit) -> Digits {
        match digit.extent {
            1 => Digits::unit(),
            _ => Digits { digits: vec![digit.normal()], ..Digits::default() },
        }
    }

    /// Positions, padding included.
    pub fn size(&self) -> u64 {
        self.digits.iter().map(|digit| digit.extent).product()
    }

    /// The index at position 0, axis by axis; every other live index counts from it.
    pub fn offset(&self) -> &[Offset] {
        &self.offset
    }

    /// The skewed axes that the mapping is written in, in order of declaration, those at coordinate 0 among them:
    /// a tensor with `B' = B - A` holds B = A where B' is 0 (book 03).
    pub fn skewed(&self) -> &[AxisId] {
        &self.skewed
    }

    /// The same digits from the empty index on, written in the skewed axes that they move along.
    pub fn without_offset(mut self) -> Digits {
        self.offset.clear();
        self.skewed.retain(|axis| self.digits.iter().any(|digit| digit.axis == Some(*axis)));
        self
    }

    /// The same cells, written in these skewed axes too.
    #[must_use]
    pub fn written_in(mut self, skewed: &[AxisId]) -> Digits {
        self.skewed.extend(skewed);
        self.skewed.sort_unstable();
        self.skewed.dedup();
        self
    }

    fn move_by(&mut self, offset: Offset) {
        match self.offset.binary_search_by_key(&offset.axis, |own| own.axis) {
            Ok(at) => {
                self.offset[at].coordinate = self.offset[at].coordinate.saturating_add(offset.coordinate)
            }
            Err(at) if offset.coordinate > 0 => self.offset.insert(at, offset),
            Err(_) => {}
        }
    }

    /// The digits, minor to major.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Digit> + ExactSizeIterator {
        self.digits.iter()
    }

    /// The axes that it moves along, in order of declaration, each with its digits minor to major.
    pub fn axes(&self) -> BTreeMap<AxisId, Vec<Digit>> {
        let mut axes: BTreeMap<AxisId, Vec<Digit>> = BTreeMap::new();
        for digit in &self.digits {
            if let Some(axis) = digit.axis {
                axes.entry(axis).or_default().push(*digit);
            }
        }
        axes
    }

    /// `[major, minor]`: the major digits above the minor ones.
    pub fn concat(major: &Digits, minor: &Digits) -> Result<Digits, DigitsError> {
        if major.size().checked_mul(minor.size()).is_none_or(|size| size > MAX_SIZE) {
            let (high, low) = (major.size(), minor.size());
            let message = format!("{high} times {low} positions are more than {MAX_SIZE} (2^62)");
            return Err(MapError::new("map-size-overflow", message).into());
        }
        let mut all = minor.clone();
        all.extend(major)?;
        Ok(all)
    }

    /// The low digits of `low` positions and the digits above, which `concat` puts together again. The offset
    /// stays with the low digits.
    pub fn split(&self, low: u64) -> Result<(Digits, Digits), Ragged> {
        let size = self.size();
        if low == 0 || !size.is_multiple_of(low) {
            return Err(Ragged { at: format!("{low} does not divide {}", counted(size, "position")) });
        }
        let (minor, major) = (self.first(low)?, self.every(low)?.without_offset());
        match Digits::concat(&major, &minor) {
            Ok(whole) if whole == *self => Ok((minor, major)),
            _ => Err(Ragged { at: format!("the split at {low} falls between live positions and padding") }),
        }
    }

    /// Returns true if the digits stay valid below other terms of a group. Those may be along the same axis: then a
    /// position can leave the axis before or after it meets strict padding, and with an offset the digits do not tell
    /// which comes first. So such a part of an expression is not replaced by its digits.
    pub fn holds_in_groups(&self) -> bool {
        let strict = |digit: &Digit| !digit.is_full() && digit.kind != PadKind::Top;
        self.offset.is_empty() || !self.digits.iter().any(strict)
    }

    /// The same digits with `one`, which has as many positions, in place of those of `whole` where they are one
    /// above the other. The major one of these may be padded, go on, or have its first positions only.
    pub(crate) fn replaced(&self, whole: &Digits, one: Digit) -> Option<Digits> {
        let (top, below) = whole.digits.split_last()?;
        let same = |own: &Digit| (own.axis, own.stride) == (top.axis, top.stride);
        let starts = 0..=self.digits.len().checked_sub(whole.digits.len())?;
        let mut places = starts.map(|at| (at, &self.digits[at..]));
        let (at, own) = places
            .find_map(|(at, rest)| Some((at, rest.strip_prefix(below)?.first().filter(|own| same(own))?)))?;
        let parts = match own.live {
            live if live <= top.live && top.is_full() => {
                let around = one.extent / top.extent;
                vec![Digit { extent: around * own.extent, live: around * live, kind: own.kind, ..one }]
            }
            _ if own == top => vec![one],
            live if top.is_full()
                && live.is_multiple_of(top.extent)
                && own.extent.is_multiple_of(top.extent) =>
            {
                let stride = own.stride.saturating_mul(top.extent);
                vec![one, Digit { stride, extent: own.extent / top.extent, live: live / top.extent, ..*own }]
            }
            _ => return None,
        };
        let mut replaced = Digits { digits: self.digits[..at].to_vec(), ..self.clone() };
        for digit in parts.iter().chain(&self.digits[at + whole.digits.len()..]) {
            replaced.push(*digit).ok()?;
        }
        Some(replaced)
    }

    /// The content of position `i`; `None` from `size` on.
    pub fn cell(&self, mut i: u64) -> Option<Cell> {
        count_effort(1);
        let mut weight = self.size();
        if i >= weight {
            return None;
        }
        let mut index: Index = self.offset.iter().map(|offset| (offset.axis, offset.coordinate)).collect();
        for digit in self.digits.iter().rev() {
            weight /= digit.extent;
            let d = i / weight;
            i %= weight;
            if d >= digit.live {
                return Some(Cell::Pad(digit.kind));
            }
            if let Some(axis) = digit.axis
                && index.add(axis, digit.stride * d) >= digit.axis_size
            {
                return Some(Cell::Pad(PadKind::Top));
            }
        }
        Some(Cell::Live(index))
    }

    /// Number of live positions. `None` if digits of one axis overlap and also leave it, as in `[A, A]`: which of
    /// their sums stay inside is a subset-sum question, and no layout asks it.
    pub fn live_count(&self) -> Option<u64> {
        place(self, 1).live_count()
    }

    /// Puts one digit on top, merged with the digit below where they count as one.
    ///
    /// A merge never enables another one further down: it leaves the lower digit's axis, stride and
    /// live = 1 as they were, and its kind unless it was full.
    fn push(&mut self, digit: Digit) -> Result<(), Ragged> {
        let digit = digit.normal();
        if digit.extent == 1 {
            return Ok(());
        }
        if let Some(top) = self.digits.last_mut()
            && let Some(merged) = top.merge(&digit)?
        {
            *top = merged;
        } else {
            self.digits.push(digit);
        }
        Ok(())
    }

    /// Puts all digits of `major` on top.
    fn extend(&mut self, major: &Digits) -> Result<(), Ragged> {
        if !major.skewed.is_empty() {
            *self = std::mem::take(self).written_in(&major.skewed);
        }
        if !self.offset.is_empty() || !major.offset.is_empty() {
            major.offset.iter().for_each(|offset| self.move_by(*offset));
            self.check_offset(major)?;
        }
        major.digits.iter().try_for_each(|digit| self.push(*digit))
    }

    /// Checks that no axis with an offset is left, the digits of `major` included.
    fn check_offset(&self, major: &Digits) -> Result<(), Ragged> {
        for offset in &self.offset {
            let own = self.digits.iter().chain(&major.digits).filter(|digit| digit.axis == Some(offset.axis));
            let last = own.fold(offset.coordinate, |reach, digit| {
                reach.saturating_add(digit.stride.saturating_mul(digit.live - 1))
            });
            if last >= offset.axis_size {
                let from = offset.coordinate;
                return Err(Ragged { at: format!("a slice from {from} on runs past the end of its axis") });
            }
        }
        Ok(())
    }

    /// The positions from `n` on, `n` less than the size.
    fn from(&self, n: u64) -> Result<Digits, Ragged> {
        let mut sliced = self.clone();
        let mut left = n;
        let mut weight = self.size();
        while left > 0 {
            let Some(top) = sliced.digits.pop() else { break };
            weight /= top.extent;
            let step = left / weight;
            left %= weight;
            if step >= top.live {
                return Err(Ragged { at: format!("the slice from {n} on starts in padding") });
            }
            if left > 0 && step + 1 < top.extent {
                return Err(Ragged {
                    at: format!("the slice from {n} on starts inside a block of {weight}"),
                });
            }
            if let Some(axis) = top.axis {
                sliced.move_by(Offset { axis, coordinate: top.stride * step, axis_size: top.axis_size });
            }
            let rest = Digit { extent: top.extent - step, live: top.live - step, ..top };
            sliced.push(rest)?;
        }
        sliced.check_offset(&Digits::unit())?;
        Ok(sliced)
    }

    /// Position 0 alone.
    fn at_first(&self) -> Digits {
        Digits { offset: self.offset.clone(), skewed: self.skewed.clone(), digits: Vec::new() }
    }

    /// The first `n >= 1` positions, `n` at most the size.
    fn first(&self, n: u64) -> Result<Digits, Ragged> {
        let mut kept = self.at_first();
        let mut left = n;
        for digit in &self.digits {
            if left <= digit.extent {
                kept.push(digit.first(left))?;
                break;
            }
            left = multiple(left, digit.extent, "the end of the truncation")?;
            kept.push(*digit)?;
        }
        Ok(kept)
    }

    /// Every n-th position, `n` a divisor of the size.
    fn every(&self, n: u64) -> Result<Digits, Ragged> {
        let mut kept = self.at_first();
        let mut left = n;
        for digit in &self.digits {
            if left.is_multiple_of(digit.extent) {
                left /= digit.extent;
                continue;
            }
            multiple(digit.extent, left, "the digit")?;
            kept.push(digit.every(left))?;
            left = 1;
        }
        Ok(kept)
    }

    /// Padded to `n` positions in total, `n` at least the size.
    fn padded(mut self, n: u64, kind: PadKind) -> Result<Digits, Ragged> {
        let size = self.size();
        if n == size {
            return Ok(self);
        }
        let Some(top) = self.digits.pop() else {
            self.digits = Digits::of(Digit::bare(n, 1, kind)).digits;
            return Ok(self);
        };
        if top.is_full() || top.kind == kind {
            let extent = multiple(n, size / top.extent, "the end of the padding")?;
            self.push(Digit { extent, kind, ..top })?;
        } else {
            self.push(top)?;
            self.push(Digit::bare(multiple(n, size, "the end of the padding")?, 1, kind))?;
        }
        Ok(self)
    }
}

/// `n / unit`, where unit must divide n.
fn multiple(n: u64, unit: u64, what: &str) -> Result<u64, Ragged> {
    match n.is_multiple_of(unit) {
        true => Ok(n / unit),
        false => Err(Ragged { at: format!("{what} ({n}) is not a multiple of {unit}") }),
    }
}

/// Number of coordinates of the digits, largest stride first, that are below `room`.
pub(crate) fn in_room(digits: &[Digit], room: u64) -> Option<u64> {
    let all = |digits: &[Digit]| -> u64 { digits.iter().map(|digit| digit.live).product() };
    let reach = |digits: &[Digit]| {
        let steps = digits.iter().map(|digit| digit.stride * (digit.live - 1));
        steps.fold(0, u64::saturating_add)
    };
    let Some((first, rest)) = digits.split_first() else {
        return Some(1);
    };
    if reach(digits) < room {
        return Some(all(digits));
    }
    if reach(rest) >= first.stride {
        return None;
    }
    // Without overlap, all of `rest` fits below each step but the last one that starts inside.
    let last = (room - 1) / first.stride;
    Some(last * all(rest) + in_room(rest, room - last * first.stride)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axes() -> Axes {
        let mut axes = Axes::new();
        for (name, size) in [("A", 8), ("B", 512), ("F", 5), ("K", 61), ("H", MAX_SIZE)] {
            axes.declare(name, size).unwrap();
        }
        axes
    }

    fn form(text: &str) -> Result<Digits, DigitsError> {
        digits(&Expr::parse(text).unwrap(), &axes())
    }

    /// (axis name or `-`, stride, extent, live, kind), minor to major.
    fn shown(text: &str) -> Vec<(String, u64, u64, u64, PadKind)> {
        let table = axes();
        let name = |axis: Option<AxisId>| axis.map_or("-".to_owned(), |id| table.name(id).to_owned());
        let digits = form(text).unwrap();
        digits.iter().map(|d| (name(d.axis), d.stride, d.extent, d.live, d.kind)).collect()
    }

    fn ragged(text: &str) -> String {
        match form(text) {
            Err(DigitsError::Ragged(ragged)) => ragged.at,
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn forms_worked_out_by_hand() {
        use PadKind::{Top, Zero};
        let row = |axis: &str, s, e, l, k| (axis.to_owned(), s, e, l, k);
        assert_eq!(shown("[1]"), []);
        assert_eq!(shown("[B / 32 % 2]"), [row("B", 32, 2, 2, Top)]);
        assert_eq!(shown("[A, B]"), [row("B", 1, 512, 512, Top), row("A", 1, 8, 8, Top)]);
        assert_eq!(shown("[1 # 256]"), [row("-", 0, 256, 1, Top)]);
        assert_eq!(shown("[A / 4, 4]"), [row("-", 0, 4, 4, Top), row("A", 4, 2, 2, Top)]);
        assert_eq!(shown("[2, 3]"), [row("-", 0, 6, 6, Top)]);
        assert_eq!(shown("[K # 64 / 16]"), [row("K", 16, 4, 4, Top)]);
        assert_eq!(shown("[B % 4 = 3]"), [row("B", 1, 3, 3, Top)]);
        assert_eq!(shown("[A # 16 {0} # 32]"), [row("A", 1, 16, 8, Zero), row("-", 0, 2, 1, Top)]);
        assert_eq!(shown("[1 # 2, A]"), [row("A", 1, 16, 8, Top)]);
        assert_eq!(shown("[A = 1, F]"), [row("F", 1, 5, 5, Top)]);
    }

    #[test]
    fn neighbours_that_count_on_become_one() {
        for (left, right) in [
            ("[B / 64, B % 64]", "[B]"),
            ("[B / 64, B / 8 % 8, B % 8]", "[B]"),
            ("[F # 8 / 2, F # 8 % 2]", "[F # 8]"),
            ("[K # 64 / 16, K # 64 % 16]", "[K # 64]"),
            ("[[A, F] / 5]", "[A]"),
            ("[[A, F] % 5]", "[F]"),
            ("[A # 16 # 64]", "[A # 64]"),
            ("[A # 12 # 20]", "[A # 20]"),
            ("[1 # 4, A # 16]", "[A # 64]"),
        ] {
            assert_eq!(form(left), form(right), "{left} {right}");
        }
    }

    #[test]
    fn what_differs_stays_different() {
        for (left, right) in [
            ("[B % 64, B / 64]", "[B]"),
            ("[A # 16 {0}]", "[A # 16]"),
            ("[A # 16 {0} # 32]", "[A # 32 {0}]"),
            ("[A # 16 {0} # 32]", "[A # 32]"),
            ("[1 # 4]", "[4]"),
            ("[A, 1 # 2]", "[1 # 2, A]"),
            ("[A / 2]", "[A % 4]"),
            ("[F # 8 {0} / 2]", "[F # 8 / 2]"),
        ] {
            assert_ne!(form(left).unwrap(), form(right).unwrap(), "{left} {right}");
        }
    }

    #[test]
    fn boundaries_inside_a_digit_are_ragged_and_named() {
        assert_eq!(
            ragged("[1, [A, F] # 64]"),
            "`[A, F] # 64`: the end of the padding (64) is not a multiple of 5"
        );
        assert_eq!(
            ragged("[[A, F] = 7]"),
            "`[A, F] = 7`: the end of the truncation (7) is not a multiple of 5"
        );
        assert_eq!(ragged("[[A, F] / 4]"), "`[A, F] / 4`: the digit (5) is not a multiple of 4");
        assert_eq!(
            ragged("[F # 8 {0} # 20]"),
            "`F # 8 {0} # 20`: the end of the padding (20) is not a multiple of 8"
        );
        let split_zero = ragged("[F # 8 {0} / 2, F # 8 % 2]");
        assert!(
            split_zero.ends_with("the axis ends at position 5 of 6, before the zero padding"),
            "{split_zero}"
        );
    }

    #[test]
    fn errors_of_the_mapping_are_told_apart() {
        assert!(matches!(form("[A / 3]"), Err(DigitsError::Map(e)) if e.code == "map-stride"));
        assert!(matches!(form("[Q]"), Err(DigitsError::Map(e)) if e.code == "map-undeclared-axis"));
    }

    #[test]
    fn split_parts_concatenate_to_the_whole() {
        for (text, low) in [
            ("[B]", 64),
            ("[F # 8]", 2),
            ("[F # 8]", 8),
            ("[A, F # 8]", 16),
            ("[A # 16]", 8),
            ("[6]", 2),
            ("[A]", 1),
        ] {
            let whole = form(text).unwrap();
            let (minor, major) = whole.split(low).unwrap();
            assert_eq!((minor.size(), minor.size() * major.size()), (low, whole.size()));
            assert_eq!(Digits::concat(&major, &minor), Ok(whole));
        }
        for (text, low) in
            [("[B]", 0), ("[B]", 3), ("[B]", 1024), ("[B = 5 # 8]", 2), ("[F # 8 {0}]", 2), ("[A, F]", 4)]
        {
            assert!(form(text).unwrap().split(low).is_err(), "{text} {low}");
        }
    }

    #[test]
    fn concat_never_wraps() {
        let huge = form("[H]").unwrap();
        assert_eq!(Digits::concat(&huge, &Digits::unit()), Ok(huge.clone()));
        let two = form("[2]").unwrap();
        assert!(
            matches!(Digits::concat(&two, &huge), Err(DigitsError::Map(e)) if e.code == "map-size-overflow")
        );
        assert!(matches!(Digits::concat(&huge, &huge), Err(DigitsError::Map(_))));
    }

    #[test]
    fn the_largest_sizes_stay_exact() {
        let top = MAX_SIZE - 1;
        let h = axes().id("H").unwrap();
        for text in ["[H]", "[H / 1073741824, H % 1073741824]", "[H / 4611686018427387904, H]"] {
            let digits = form(text).unwrap();
            assert_eq!(digits.cell(top), Some(Cell::Live(Index::from_iter([(h, top)]))), "{text}");
            assert_eq!((digits.cell(MAX_SIZE), digits.live_count()), (None, Some(MAX_SIZE)));
        }
        let padded = form("[H / 1073741824 # 4611686018427387904]").unwrap();
        assert_eq!(padded.cell(top), Some(Cell::Pad(PadKind::Top)));
        assert_eq!(padded.live_count(), Some(1 << 32));
    }

    #[test]
    fn live_positions_are_counted() {
        let cases = [
            ("[1]", Some(1)),
            ("[A, F # 8]", Some(40)),
            ("[K # 64 / 16, A, K # 64 % 16]", Some(61 * 8)),
            ("[K # 64 % 4, A, K # 64 / 16, K # 64 / 4 % 4]", Some(61 * 8)),
            ("[A / 4, A]", None),
            ("[A / 4, 1, A % 2]", Some(4)),
        ];
        for (text, count) in cases {
            assert_eq!(form(text).unwrap().live_count(), count, "{text}");
        }
    }

    #[test]
    fn axes_are_listed_with_their_digits() {
        let table = axes();
        let digits = form("[B / 64, A, 3, B % 32]").unwrap();
        let axes = digits.axes();
        let strides = |name: &str| -> Vec<u64> {
            axes[&table.id(name).unwrap()].iter().map(|digit| digit.stride).collect()
        };
        assert_eq!((axes.len(), strides("A"), strides("B")), (2, vec![1], vec![1, 64]));
    }
}
