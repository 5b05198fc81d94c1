//! Cuts of a dimension of a step into parts: clusters, slices, time, rows, packets. A part of a cut is a mapping
//! (book 03).

use smallvec::SmallVec;
use std::sync::Arc;
use visa_algebra::{Axes, Equality, Expr, PadKind, digits, equal, rebuild};
use visa_select::rules::rule::cuts_padding;

/// Axes that have the same role in a step, as one dimension. The last axis counts fastest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// The axes, slowest first.
    pub axes: Arc<[Arc<str>]>,
    /// For each axis, the positions of a block, which are one position of the group; `None` without blocks.
    pub blocks: Arc<[Option<u64>]>,
    /// The axes whose last block ends with padding, and their sizes with it.
    pub padded: Arc<[(Arc<str>, u64)]>,
    /// Those with more than one position, and their sizes.
    pub long: Arc<[(Arc<str>, u64)]>,
    /// Number of positions.
    pub size: u64,
    /// Positions of the slowest axis: a loop divides them.
    pub slowest: u64,
    /// Positions of the last axis with its padding, if packets end with it.
    pub row: Option<u64>,
    /// Positions of the last axis.
    pub last: u64,
    /// Positions of the axis before the last one.
    pub rows: u64,
}

/// A part of a cut: where its coordinate counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Part {
    /// Clusters of the chip.
    Cluster,
    /// Slices of a cluster.
    Slice,
    /// Slices of a ring that load different parts and exchange them.
    Share,
    /// Pieces of a sum, which are padded separately.
    Piece,
    /// Time during the computation, slices after the sum between slices.
    Promoted,
    /// Time steps that repeat a packet of the stream.
    Reuse,
    /// Time steps.
    Time,
    /// Rows of the register file.
    Row,
    /// Packets.
    Packet,
}

/// The parts of a cut with their counts. Few cuts have more, so that most need no allocation.
pub type Parts = SmallVec<[(Part, u64); 6]>;

/// A group cut into parts, the slowest first. A loop may divide the group evenly. The product of the parts' counts is
/// at least the size of an iteration; positions beyond it are padding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cut {
    group: Arc<Group>,
    tiles: u64,
    parts: Parts,
}

/// Numbers of iterations of a loop, at most `most`, that divide `slowest` positions evenly: from each power of two to
/// the next one, the first of these.
pub fn tile_counts(slowest: u64, most: u64) -> impl Iterator<Item = u64> {
    let powers = std::iter::successors(Some(1_u64), |power| power.checked_mul(2));
    let divides = move |count: &u64| slowest.is_multiple_of(*count);
    let range = move |power: u64| power..(2 * power).min(most.saturating_add(1));
    powers.take_while(move |power| *power <= most).filter_map(move |power| range(power).find(divides))
}

impl Group {
    /// The axes as one dimension.
    #[must_use]
    pub fn new(names: &[Arc<str>], axes: &Axes) -> Self {
        Self::in_blocks(names, |_| None, axes)
    }

    /// Blocks of the axes as one dimension: `block` has the positions of one. The last block of an axis ends with
    /// padding if they do not divide it.
    #[must_use]
    pub fn in_blocks(names: &[Arc<str>], block: impl Fn(&str) -> Option<u64>, axes: &Axes) -> Self {
        let size = |name: &Arc<str>| {
            let size = axes.size(axes.id(name)?);
            Some(block(name).map_or(size, |block| size.div_ceil(block)))
        };
        let all: Vec<(Arc<str>, u64)> =
            names.iter().filter_map(|name| Some((Arc::clone(name), size(name)?))).collect();
        let blocks = names.iter().map(|name| block(name)).collect();
        let padded = |name: &Arc<str>| {
            let size = axes.size(axes.id(name)?);
            let whole = size.next_multiple_of(block(name)?);
            (whole > size).then(|| (Arc::clone(name), whole))
        };
        let padded = names.iter().filter_map(padded).collect();
        let sizes: Vec<u64> = all.iter().map(|(_, size)| *size).collect();
        let long = all.into_iter().filter(|(_, size)| *size > 1).collect();
        let (size, slowest) = (sizes.iter().product(), sizes.iter().take(1).product());
        let from_last = |at: usize| sizes.iter().rev().nth(at).copied().unwrap_or(1);
        let (last, rows) = (from_last(0), from_last(1));
        Self { axes: names.into(), blocks, padded, long, size, slowest, row: None, last, rows }
    }

    /// The axes as one dimension, the last one with padding up to `row` positions.
    #[must_use]
    pub fn with_rows(names: &[Arc<str>], row: u64, axes: &Axes) -> Self {
        let own = Self::new(names, axes);
        Self { size: own.size / own.last.max(1) * row, row: Some(row), ..own }
    }

    /// Returns true if `count` positions are whole positions of some of the inner axes, or a part of one. Any number
    /// of positions of the axis around these is.
    #[must_use]
    pub fn has_whole(&self, count: u64) -> bool {
        if self.row.is_some() {
            return true;
        }
        let mut rest = count;
        for (_, size) in self.long.iter().skip(1).rev() {
            if !rest.is_multiple_of(*size) {
                return size.is_multiple_of(rest);
            }
            rest /= size;
        }
        true
    }

    /// The axes as they are written, blocks of them as parts.
    #[must_use]
    pub fn text(&self) -> String {
        let term = |(name, block): (&Arc<str>, &Option<u64>)| match block {
            None => name.to_string(),
            Some(block) => format!("{name} / {block}"),
        };
        let terms: Vec<String> = self.axes.iter().zip(&*self.blocks).map(term).collect();
        format!("[{}]", terms.join(", "))
    }

    /// The mapping of the whole group.
    #[must_use]
    pub fn mapping(&self) -> Expr {
        let term = |(name, block): (&Arc<str>, &Option<u64>)| match block {
            None => Expr::axis(name),
            Some(block) => self.in_whole_blocks(name).stride(*block),
        };
        let mut terms: Vec<Expr> = self.axes.iter().zip(&*self.blocks).map(term).collect();
        if let (Some(row), Some(last)) = (self.row, self.axes.last()) {
            terms.pop();
            terms.push(self.columns(last, row));
        }
        Expr::pair(terms)
    }

    /// An axis with the padding of its last block.
    #[must_use]
    pub fn in_whole_blocks(&self, name: &str) -> Expr {
        match self.padded.iter().find(|(own, _)| **own == *name) {
            Some((_, whole)) => Expr::axis(name).pad(*whole, PadKind::Top),
            None => Expr::axis(name),
        }
    }

    /// The last axis with its padding up to `row` positions.
    fn columns(&self, last: &str, row: u64) -> Expr {
        let axis = Expr::axis(last);
        if self.last == row { axis } else { axis.pad(row, PadKind::Top) }
    }
}

impl Cut {
    /// A cut into `parts`, the slowest first, of each of `tiles` iterations.
    #[must_use]
    pub fn new(group: &Arc<Group>, tiles: u64, parts: &[(Part, u64)]) -> Self {
        Self::of(group, tiles, parts.into())
    }

    /// The same of parts that are together.
    #[must_use]
    pub fn of(group: &Arc<Group>, tiles: u64, parts: Parts) -> Self {
        Self { group: Arc::clone(group), tiles, parts }
    }

    /// The group.
    #[must_use]
    pub fn group(&self) -> &Group {
        &self.group
    }

    /// The parts with their counts, the slowest first.
    #[must_use]
    pub fn parts(&self) -> &[(Part, u64)] {
        &self.parts
    }

    /// Positions of an iteration, without padding.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.group.size / self.tiles
    }

    /// Positions of an iteration, with the padding.
    #[must_use]
    pub fn padded(&self) -> u64 {
        self.parts.iter().map(|(_, count)| count).product()
    }

    /// Iterations of the loop over tiles.
    #[must_use]
    pub fn tiles(&self) -> u64 {
        self.tiles
    }

    /// The axis that the tiles divide, and how much of it a tile has.
    #[must_use]
    pub fn first_tile(&self) -> Option<(Arc<str>, u64)> {
        let (axis, block) = self.group.axes.first().zip(self.group.blocks.first())?;
        let positions = self.group.slowest / self.tiles;
        Some((Arc::clone(axis), block.map_or(positions, |block| positions * block)))
    }

    /// The mapping that counts the tiles.
    #[must_use]
    pub fn tile(&self) -> Expr {
        if self.tiles == 1 { Expr::Literal(1) } else { self.group.mapping().stride(self.size()) }
    }

    /// Number of positions of a part; 1 for a part that the cut lacks.
    #[must_use]
    pub fn count(&self, part: Part) -> u64 {
        self.parts.iter().filter(|(own, _)| *own == part).map(|(_, count)| count).product()
    }

    /// The positions of an iteration with their padding.
    fn whole(&self) -> Expr {
        let (mapping, size, padded) = (self.group.mapping(), self.size(), self.padded());
        let tile = if self.tiles == 1 { mapping } else { mapping.modulo(size) };
        if padded == size { tile } else { tile.pad(padded, PadKind::Top) }
    }

    /// The mapping of a part; `1` for a part that the cut lacks.
    #[must_use]
    pub fn part(&self, part: Part) -> Expr {
        let Some(at) = self.parts.iter().position(|(own, _)| *own == part) else { return Expr::Literal(1) };
        self.span(at, at + 1)
    }

    /// The mapping of the adjacent parts from number `from` up to `to`.
    fn span(&self, from: usize, to: usize) -> Expr {
        let product = |parts: &[(Part, u64)]| parts.iter().map(|(_, count)| count).product::<u64>();
        let (count, step) = (product(&self.parts[from..to]), product(&self.parts[to..]));
        if count == 1 {
            return Expr::Literal(1);
        }
        let first = product(&self.parts[..from]) == 1;
        let parts = self.around_rows(count, step, first).or_else(|| self.of_few_axes(count, step, first));
        parts.unwrap_or_else(|| part_of(self.whole(), count, step, first))
    }

    /// The mapping of `count` positions `step` apart without the axes that it counts in whole, and of one axis alone
    /// if it is a part of one: a mapping that names others depends on them for its readers. `None` if it has all axes.
    /// Parts of a group with padding name all: packets may cut others of them so that they carry.
    fn of_few_axes(&self, count: u64, step: u64, first: bool) -> Option<Expr> {
        let group = &self.group;
        let whole = self.tiles == 1 && self.padded() == group.size;
        if !whole || group.row.is_some() || group.blocks.iter().any(Option::is_some) {
            return None;
        }
        let (mut axes, mut step) = (&group.long[..], step);
        while let [_, .., (_, size)] = axes
            && step.is_multiple_of(*size)
        {
            (axes, step) = (&axes[..axes.len() - 1], step / size);
        }
        let (last, size) = axes.last()?;
        if axes.len() > 1 && size.is_multiple_of(count * step) {
            return Some(part_of(Expr::axis(last), count, step, count * step == *size));
        }
        if axes.len() == group.long.len() {
            return None;
        }
        let outer = Expr::pair(axes.iter().map(|(name, _)| Expr::axis(name)));
        Some(part_of(outer, count, step, first))
    }

    /// The mapping of `count` positions `step` apart as whole rows and a part of a row, if the group has rows; the
    /// `first` ones have no others around them.
    fn around_rows(&self, count: u64, step: u64, first: bool) -> Option<Expr> {
        let (row, reach) = (self.group.row.filter(|_| self.tiles == 1)?, count * step);
        let (last, outer) = self.group.axes.split_last()?;
        let (rows, padded) = (self.group.size / row, self.padded() / row);
        let whole = Expr::pair(outer.iter().map(|axis| Expr::axis(axis)));
        let whole = if padded == rows { whole } else { whole.pad(padded, PadKind::Top) };
        let columns = self.group.columns(last, row);
        if step.is_multiple_of(row) {
            return Some(part_of(whole, count, step / row, first));
        }
        if row.is_multiple_of(reach) {
            return Some(part_of(columns, count, step, reach == row));
        }
        let splits = reach.is_multiple_of(row) && row.is_multiple_of(step);
        let rows = || part_of(whole, reach / row, 1, first);
        splits.then(|| side_by_side([rows(), part_of(columns, row / step, step, true)]))
    }

    /// The parts before `part`, and those after it.
    #[must_use]
    pub fn around(&self, part: Part) -> [Vec<Part>; 2] {
        let at = self.parts.iter().position(|(own, _)| *own == part).unwrap_or(self.parts.len());
        let names = |parts: &[(Part, u64)]| parts.iter().map(|(part, _)| *part).collect();
        [names(&self.parts[..at]), names(self.parts.get(at + 1..).unwrap_or_default())]
    }

    /// Returns true if the parts count whole positions of the group's axes, or parts of one axis: others carry into
    /// each other (book 03). The slowest axis may have padding, and slices of a ring exchange any parts.
    #[must_use]
    pub fn is_even(&self) -> bool {
        let whole = self.padded();
        let mut step = 1;
        self.parts.iter().enumerate().rev().all(|(at, (_, count))| {
            step *= count;
            let outer = self.parts[..at].iter().rfind(|(_, count)| *count > 1);
            let exchanged = outer.is_some_and(|(part, _)| *part == Part::Share);
            exchanged || step >= whole || self.group.has_whole(step)
        })
    }

    /// Returns true if each slice has whole rows of windows, and of whole images or of one image.
    #[must_use]
    pub fn has_whole_rows(&self) -> bool {
        let Some(row) = self.group.row else { return true };
        let product = |parts: &[Part]| parts.iter().map(|part| self.count(*part)).product::<u64>();
        let (within, all) = (product(&[Part::Time, Part::Packet]), self.group.size / row);
        let rows = product(&[Part::Promoted, Part::Time, Part::Packet]) / row;
        let whole = all == self.group.rows
            || rows > 0 && (self.group.rows.is_multiple_of(rows) || rows.is_multiple_of(self.group.rows));
        let divided = product(&[Part::Cluster, Part::Slice, Part::Share]);
        whole && within.is_multiple_of(row) && divided <= all.next_power_of_two()
    }

    /// The mappings of all parts but those in `except`, slowest first. Adjacent parts are one mapping.
    #[must_use]
    pub fn rest(&self, except: &[Part]) -> Vec<Expr> {
        let kept = |at: &usize| !except.contains(&self.parts[*at].0) && self.parts[*at].1 > 1;
        let one = |at: &usize| self.parts[*at].1 == 1;
        let (mut terms, mut at) = (Vec::new(), 0);
        while at < self.parts.len() {
            let end = (at..self.parts.len()).find(|at| !kept(at) && !one(at)).unwrap_or(self.parts.len());
            if (at..end).any(|at| kept(&at)) {
                terms.push(self.span(at, end));
            }
            at = end + 1;
        }
        terms
    }
}

/// `count` positions of a mapping, `step` apart; the first ones have no others around them.
fn part_of(map: Expr, count: u64, step: u64, first: bool) -> Expr {
    if count == 1 {
        return Expr::Literal(1);
    }
    let strided = if step == 1 { map } else { map.stride(step) };
    if first { strided } else { strided.modulo(count) }
}

/// Several mappings as one dimension, without terms of one position.
#[must_use]
pub fn side_by_side(terms: impl IntoIterator<Item = Expr>) -> Expr {
    Expr::pair(terms.into_iter().filter(|term| !matches!(term, Expr::Literal(1))))
}

/// The same mapping in its shortest text, if there is one that is equal. Parts of a padded mapping are kept: each by
/// itself does not tell where the padding is.
#[must_use]
pub fn tidy(map: &Expr, axes: &Axes) -> Expr {
    if cuts_padding(map) {
        return map.clone();
    }
    let rebuilt = digits(map, axes).ok().and_then(|digits| rebuild(&digits, axes).ok());
    rebuilt.filter(|short| equal(short, map, axes) == Equality::Equal).unwrap_or_else(|| map.clone())
}
