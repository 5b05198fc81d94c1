//! The meaning of a mapping, position by position: the reference that everything else is checked against.
//!
//! A position holds a *cell*: a live tensor index, padding of some kind, or `None` when it is out of bounds (book 03).
//! The walk goes from the major side to the minor side, and the first padding that it meets decides.
//!
//! One rule is ours, because the book is silent: **a coordinate that reaches the size of its axis is
//! don't-care padding**. `A # 8 / 2` steps over A = 5 in twos and `A # 8 % 2` fills the steps, so
//! `[A # 8 / 2, A # 8 % 2]` would name A = 5 at position 5; no such element exists, and with the rule the
//! pair equals `A # 8` there.
//!
//! A sliding expression lets several indices share a position. Then the terms below it continue for each of them, and
//! an index that meets padding is dropped; where none is left, the strictest padding that was met decides.
//!
//! Parts of one composite mapping that carry into each other (`[A, D] / 4` next to `[A, D] % 4`, see `carry.rs`) count
//! positions of it. Their sum is stored like a coordinate; when the walk comes to the last of them, the mapping itself
//! is walked at the sum.
//!
//! Coordinates of a skewed axis (`B' = B - A`) are kept as they are: which B they mean depends on A, which another
//! mapping of the same tensor may hold. Every live position of a mapping is written in the same skewed axes, those
//! that its text names ([`crate::skewed_names`]), also where they are at 0. [`Index::resolved`] answers for a
//! mapping that is alone.

use std::ops::ControlFlow;

use crate::effort::count_effort;
use crate::error::MapError;
use crate::expr::axes::{Axes, AxisId, Skew};
use crate::expr::{Expr, PadKind, Side};
use crate::meaning::carry::{Part, settle};

/// A tensor index: coordinates by axis. Axes at coordinate zero are left out, so that equal indices
/// compare equal.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Index(Vec<(AxisId, u64)>);

impl Index {
    /// The empty index: every coordinate is zero.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns true if every coordinate is zero.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The coordinate along an axis.
    pub fn get(&self, axis: AxisId) -> u64 {
        self.0.binary_search_by_key(&axis, |entry| entry.0).map_or(0, |at| self.0[at].1)
    }

    /// Adds to the coordinate along an axis and returns the sum.
    pub fn add(&mut self, axis: AxisId, coordinate: u64) -> u64 {
        match self.0.binary_search_by_key(&axis, |entry| entry.0) {
            Ok(at) => {
                self.0[at].1 = self.0[at].1.saturating_add(coordinate);
                self.0[at].1
            }
            Err(at) => {
                if coordinate > 0 {
                    self.0.insert(at, (axis, coordinate));
                }
                coordinate
            }
        }
    }

    /// Adds every coordinate of another index.
    pub fn add_index(&mut self, other: &Index) {
        for (axis, coordinate) in other.iter() {
            self.add(axis, coordinate);
        }
    }

    /// The same element without the skewed axes listed (book 03): with `B' = B - A`, B is `(B' + A) mod |B|`, also
    /// where B' is
    /// 0. So the axes listed are those that the mapping mentions. Axes that are not mentioned are at 0.
    pub fn resolved(&self, skewed: &[AxisId], axes: &Axes) -> Index {
        let mut resolved: Index = self.iter().filter(|(axis, _)| !skewed.contains(axis)).collect();
        for &axis in skewed {
            if let Some(Skew { of, by }) = axes.skew(axis) {
                let size = axes.size(of);
                let sum = (resolved.get(of) % size + self.get(axis) % size + self.get(by) % size) % size;
                resolved.set(of, sum);
            }
        }
        resolved
    }

    fn set(&mut self, axis: AxisId, coordinate: u64) {
        self.take(axis);
        self.add(axis, coordinate);
    }

    /// The same index with these axes shown also where they are at 0, for messages.
    fn written_in(mut self, axes: &[AxisId]) -> Index {
        for &axis in axes {
            if let Err(at) = self.0.binary_search_by_key(&axis, |entry| entry.0) {
                self.0.insert(at, (axis, 0));
            }
        }
        self
    }

    /// Sets the coordinate along an axis to zero and returns its previous value.
    fn take(&mut self, axis: AxisId) -> u64 {
        let coordinate = self.get(axis);
        self.0.retain(|entry| entry.0 != axis);
        coordinate
    }

    /// The non-zero coordinates, in order of axis declaration.
    pub fn iter(&self) -> impl Iterator<Item = (AxisId, u64)> {
        self.0.iter().copied()
    }
}

impl FromIterator<(AxisId, u64)> for Index {
    fn from_iter<T: IntoIterator<Item = (AxisId, u64)>>(entries: T) -> Self {
        let mut index = Index::new();
        for (axis, coordinate) in entries {
            index.add(axis, coordinate);
        }
        index
    }
}

/// The content of a position of a mapping.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cell {
    /// The tensor element of this index.
    Live(Index),
    /// One element that several indices name, in order: a sliding expression overlaps there.
    Shared(Vec<Index>),
    /// Padding.
    Pad(PadKind),
}

impl Cell {
    /// The same cell with these axes shown also where they are at 0, for messages.
    pub(crate) fn written_in(self, axes: &[AxisId]) -> Cell {
        match self {
            Cell::Live(index) => Cell::Live(index.written_in(axes)),
            Cell::Shared(all) => Cell::Shared(all.into_iter().map(|index| index.written_in(axes)).collect()),
            Cell::Pad(kind) => Cell::Pad(kind),
        }
    }
}

/// A cell as messages show it: `A=1, B=7`, `zero padding`, or `nothing` when out of bounds. Indices that share a
/// position are in braces.
pub fn describe(cell: Option<&Cell>, axes: &Axes) -> String {
    match cell {
        None => "nothing".to_owned(),
        Some(Cell::Pad(kind)) => kind.to_string(),
        Some(Cell::Live(index)) if index.0.is_empty() => "the empty index".to_owned(),
        Some(Cell::Live(index)) => coordinates(index, axes),
        Some(Cell::Shared(indices)) => {
            let shown: Vec<String> =
                indices.iter().map(|index| format!("{{{}}}", coordinates(index, axes))).collect();
            shown.join(" ")
        }
    }
}

fn coordinates(index: &Index, axes: &Axes) -> String {
    let terms: Vec<String> = index.iter().map(|(axis, n)| format!("{}={n}", axes.name(axis))).collect();
    terms.join(", ")
}

/// The content of position `i` of the mapping; `None` when it is out of bounds or the mapping breaks a size rule. For
/// many positions of one mapping, prepare a [`Map`] once.
pub fn map(expr: &Expr, axes: &Axes, i: u64) -> Option<Cell> {
    Map::new(expr, axes).ok()?.cell(i)
}

/// A mapping with its axes resolved and its sizes checked, ready to be asked for cells.
#[derive(Clone, Debug)]
pub struct Map {
    size: u64,
    node: Node,
}

#[derive(Clone, Debug)]
enum Node {
    Axis {
        id: AxisId,
        size: u64,
    },
    Broadcast,
    Pair(Vec<Map>),
    /// Positions from the inner size on are padding.
    Pad {
        inner: Box<Map>,
        kind: PadKind,
    },
    /// Positions before `lead` are padding.
    PadLeft {
        inner: Box<Map>,
        kind: PadKind,
        lead: u64,
    },
    /// Resize and modulo: the first positions.
    First(Box<Map>),
    Stride {
        inner: Box<Map>,
        n: u64,
    },
    Slice {
        inner: Box<Map>,
        offset: u64,
    },
    Gather {
        inner: Box<Map>,
        table: std::sync::Arc<[u64]>,
    },
    /// Terms with their strides, largest stride first.
    Slide(Vec<(Map, u64)>),
    /// The last part of a shared mapping: then the mapping at the sum of its parts, which is in the slot.
    Shared {
        last: Box<Map>,
        slot: AxisId,
        whole: Box<Map>,
    },
}

/// A mapping that several parts share.
struct Shared {
    base: Expr,
    slot: AxisId,
    /// Parts that are still to come.
    parts: usize,
}

/// Builds nodes, in the order of the walk.
struct Builder<'a> {
    axes: &'a Axes,
    shared: Vec<Shared>,
}

impl Builder<'_> {
    /// Counts the parts of shared mappings as [`Builder::build`] comes to them.
    fn count(&mut self, expr: &Expr) {
        let part = if self.shared.is_empty() { None } else { Part::of(expr, self.axes) };
        let own = part.and_then(|part| self.shared.iter_mut().find(|shared| shared.base == *part.base));
        match own {
            Some(shared) => {
                shared.parts += 1;
                if shared.parts == 1 {
                    let base = shared.base.clone();
                    self.count(&base);
                }
            }
            None => expr.children().into_iter().for_each(|child| self.count(child)),
        }
    }

    /// A part of a shared mapping; `None` for any other expression.
    fn part(&mut self, expr: &Expr) -> Result<Option<Map>, MapError> {
        let part = if self.shared.is_empty() { None } else { Part::of(expr, self.axes) };
        let Some(part) = part else { return Ok(None) };
        let Some(own) = self.shared.iter_mut().find(|shared| shared.base == *part.base) else {
            return Ok(None);
        };
        own.parts = own.parts.saturating_sub(1);
        let (slot, is_last) = (own.slot, own.parts == 0);
        let whole = part.base.size(self.axes)?;
        let sum = Box::new(Map { size: whole, node: Node::Axis { id: slot, size: whole } });
        let map = Map { size: part.size, node: Node::Stride { inner: sum, n: part.step } };
        if !is_last {
            return Ok(Some(map));
        }
        let whole = Box::new(self.build(part.base)?);
        Ok(Some(Map { size: part.size, node: Node::Shared { last: Box::new(map), slot, whole } }))
    }

    fn build(&mut self, expr: &Expr) -> Result<Map, MapError> {
        if let Some(part) = self.part(expr)? {
            return Ok(part);
        }
        let axes = self.axes;
        let mut prepare = |inner: &Expr| -> Result<(Box<Map>, u64), MapError> {
            let map = self.build(inner)?;
            let size = expr.applied(inner, map.size)?;
            Ok((Box::new(map), size))
        };
        let (node, size) = match expr {
            Expr::Axis(name) => {
                let id = axes.resolve(name)?;
                let size = axes.size(id);
                (Node::Axis { id, size }, size)
            }
            Expr::Alias(name) => return self.build(axes.alias(name)?),
            Expr::Literal(_) => (Node::Broadcast, expr.size(axes)?),
            Expr::Pair(terms) | Expr::Outer(terms) => {
                let terms = terms.iter().map(|term| self.build(term));
                let terms = terms.collect::<Result<Vec<Map>, MapError>>()?;
                let size = terms.iter().try_fold(1, |size, term| expr.times(size, term.size))?;
                (Node::Pair(terms), size)
            }
            Expr::Pad { inner, kind, side, .. } => {
                let (inner, size) = prepare(inner)?;
                let (kind, lead) = (*kind, size - inner.size);
                match side {
                    Side::High => (Node::Pad { inner, kind }, size),
                    Side::Low => (Node::PadLeft { inner, kind, lead }, size),
                }
            }
            Expr::Resize { inner, .. } | Expr::Modulo { inner, .. } => {
                let (inner, size) = prepare(inner)?;
                (Node::First(inner), size)
            }
            Expr::Stride { inner, n } => {
                let (inner, size) = prepare(inner)?;
                (Node::Stride { inner, n: *n }, size)
            }
            Expr::Slice { inner, offset } => {
                let (inner, size) = prepare(inner)?;
                (Node::Slice { inner, offset: *offset }, size)
            }
            Expr::Gather { inner, table } => {
                let (inner, size) = prepare(inner)?;
                (Node::Gather { inner, table: table.clone() }, size)
            }
            Expr::Slide(terms) => {
                let size = expr.size(axes)?;
                let mut terms: Vec<&(Expr, u64)> = terms.iter().collect();
                terms.sort_by_key(|(_, stride)| std::cmp::Reverse(*stride));
                let terms = terms.into_iter().map(|(term, stride)| Ok((self.build(term)?, *stride)));
                (Node::Slide(terms.collect::<Result<_, MapError>>()?), size)
            }
        };
        Ok(Map { size, node })
    }
}

impl Map {
    /// Resolves and checks the expression.
    pub fn new(expr: &Expr, axes: &Axes) -> Result<Map, MapError> {
        let Some(settled) = settle(expr, axes)? else {
            return Builder { axes, shared: Vec::new() }.build(expr);
        };
        let slots = settled.apart.into_iter().zip(0..);
        let shared = slots.map(|(base, n)| Shared { base, slot: AxisId::scratch(n), parts: 0 });
        let mut builder = Builder { axes, shared: shared.collect() };
        builder.count(&settled.map);
        builder.build(&settled.map)
    }

    /// Positions of the mapping.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// The content of position `i`; `None` from `size` on.
    pub fn cell(&self, i: u64) -> Option<Cell> {
        if i >= self.size {
            return None;
        }
        count_effort(1);
        let mut found = vec![Index::new()];
        Some(match self.walk(i, &mut found) {
            ControlFlow::Break(kind) => Cell::Pad(kind),
            ControlFlow::Continue(()) => {
                found.sort();
                found.dedup();
                match found.pop() {
                    Some(index) if found.is_empty() => Cell::Live(index),
                    last => {
                        found.extend(last);
                        Cell::Shared(found)
                    }
                }
            }
        })
    }

    /// Adds the coordinates of position `i < size` to every index found so far, major side first, and stops at
    /// padding: where it meets all of them.
    fn walk(&self, mut i: u64, found: &mut Vec<Index>) -> ControlFlow<PadKind> {
        match &self.node {
            Node::Broadcast => ControlFlow::Continue(()),
            Node::Axis { id, size } => {
                found.retain_mut(|index| index.add(*id, i) < *size);
                if found.is_empty() { ControlFlow::Break(PadKind::Top) } else { ControlFlow::Continue(()) }
            }
            Node::Pair(terms) => {
                let mut weight = self.size;
                for term in terms {
                    weight /= term.size;
                    term.walk(i / weight, found)?;
                    i %= weight;
                }
                ControlFlow::Continue(())
            }
            Node::Pad { inner, kind } if i >= inner.size => ControlFlow::Break(*kind),
            Node::PadLeft { kind, lead, .. } if i < *lead => ControlFlow::Break(*kind),
            Node::PadLeft { inner, lead, .. } => inner.walk(i - lead, found),
            Node::Pad { inner, .. } | Node::First(inner) => inner.walk(i, found),
            Node::Stride { inner, n } => inner.walk(i * n, found),
            Node::Slice { inner, offset } => inner.walk(i + offset, found),
            Node::Gather { inner, table } => inner.walk(table[i as usize], found),
            Node::Slide(terms) => slide(terms, i, found),
            Node::Shared { last, slot, whole } => {
                last.walk(i, found)?;
                each(std::mem::take(found), found, |mut index: Index, part| {
                    let at = index.take(*slot);
                    part.push(index);
                    whole.walk(at, part)
                })
            }
        }
    }
}

/// Continues with each of several possible indices, and calls `found` with each result: an index that meets padding is
/// dropped, and if none is left the strictest padding decides.
fn each<T>(
    ways: impl IntoIterator<Item = T>,
    found: &mut Vec<Index>,
    mut walk: impl FnMut(T, &mut Vec<Index>) -> ControlFlow<PadKind>,
) -> ControlFlow<PadKind> {
    let mut strictest = None;
    for way in ways {
        let mut part = Vec::new();
        match walk(way, &mut part) {
            ControlFlow::Continue(()) => found.extend(part),
            ControlFlow::Break(kind) => strictest = strictest.min(Some(kind)).or(Some(kind)),
        }
    }
    if found.is_empty() {
        return ControlFlow::Break(strictest.unwrap_or(PadKind::Top));
    }
    ControlFlow::Continue(())
}

/// Continues with every combination of the terms that reaches `i`.
fn slide(terms: &[(Map, u64)], i: u64, found: &mut Vec<Index>) -> ControlFlow<PadKind> {
    let before = std::mem::take(found);
    each(combinations(terms, i), found, |combination, part| {
        part.clone_from(&before);
        terms.iter().zip(&combination).try_for_each(|((term, _), &at)| term.walk(at, part))
    })
}

/// The positions of the terms, in their order, whose strides add up to `i`.
fn combinations(terms: &[(Map, u64)], i: u64) -> Vec<Vec<u64>> {
    let Some(((term, stride), rest)) = terms.split_first() else {
        return if i == 0 { vec![Vec::new()] } else { Vec::new() };
    };
    if rest.is_empty() {
        let reached = i.is_multiple_of(*stride) && i / stride < term.size;
        return if reached { vec![vec![i / stride]] } else { Vec::new() };
    }
    let reach: u64 = rest.iter().map(|(term, stride)| (term.size - 1) * stride).sum();
    let first = i.saturating_sub(reach).div_ceil(*stride);
    let last = (i / stride).min(term.size - 1);
    let mut all = Vec::new();
    for at in first..=last {
        for tail in combinations(rest, i - at * stride) {
            let mut combination = vec![at];
            combination.extend(tail);
            all.push(combination);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axes(declared: &[(&str, u64)]) -> Axes {
        let mut axes = Axes::new();
        for (name, size) in declared {
            axes.declare(name, *size).unwrap();
        }
        axes
    }

    /// The cell in words.
    fn at(text: &str, axes: &Axes, i: u64) -> String {
        describe(map(&Expr::parse(text).unwrap(), axes, i).as_ref(), axes)
    }

    #[test]
    fn m1_pair() {
        let axes = axes(&[("A", 8), ("B", 512)]);
        assert_eq!(Expr::parse("[A, B]").unwrap().size(&axes), Ok(4096));
        assert_eq!(at("[A, B]", &axes, 519), "A=1, B=7");
        assert_eq!(at("[A, B]", &axes, 0), "the empty index");
        assert_eq!(at("[A, B]", &axes, 4095), "A=7, B=511");
        assert_eq!(at("[A, B]", &axes, 4096), "nothing");
    }

    #[test]
    fn m2_padding() {
        let axes = axes(&[("C", 13), ("D", 61)]);
        assert_eq!(Expr::parse("[C, D # 64]").unwrap().size(&axes), Ok(832));
        assert_eq!(at("[C, D # 64]", &axes, 60), "D=60");
        for i in 61..64 {
            assert_eq!(at("[C, D # 64]", &axes, i), "padding");
        }
        assert_eq!(at("[C, D # 64]", &axes, 64), "C=1");
        assert_eq!(at("[C, D # 64 {0}]", &axes, 61), "zero padding");
        assert_eq!(at("[C, D # 64 {!}]", &axes, 63), "must-not-write padding");
    }

    #[test]
    fn m3_resize() {
        let axes = axes(&[("C", 2), ("D", 3)]);
        let cells: Vec<String> = (0..5).map(|i| at("[C, D = 2]", &axes, i)).collect();
        assert_eq!(cells, ["the empty index", "D=1", "C=1", "C=1, D=1", "nothing"]);
    }

    #[test]
    fn m5_rearranged_bits() {
        let axes = axes(&[("B", 512)]);
        let text = "[B / 64, B % 32, B / 32 % 2]";
        assert_eq!(at(text, &axes, 67), "B=97");
        let map = Map::new(&Expr::parse(text).unwrap(), &axes).unwrap();
        let b = axes.id("B").unwrap();
        for (i, j, k) in (0..8).flat_map(|i| (0..64).map(move |jk| (i, jk / 2, jk % 2))) {
            let expected = Index::from_iter([(b, 64 * i + j + 32 * k)]);
            assert_eq!(map.cell(64 * i + 2 * j + k), Some(Cell::Live(expected)));
        }
        assert_eq!(map.cell(512), None);
    }

    #[test]
    fn literals_broadcast() {
        let axes = axes(&[("A", 8)]);
        assert_eq!(at("[A / 4, 4]", &axes, 3), "the empty index");
        assert_eq!(at("[A / 4, 4]", &axes, 4), "A=4");
        assert_eq!(at("[1 # 2]", &axes, 0), "the empty index");
        assert_eq!(at("[1 # 2]", &axes, 1), "padding");
    }

    #[test]
    fn the_major_padding_wins() {
        let axes = axes(&[("A", 1), ("B", 1)]);
        let text = "[A # 2 {0}, B # 2 {!}]";
        let cells: Vec<String> = (0..4).map(|i| at(text, &axes, i)).collect();
        let zero = "zero padding";
        assert_eq!(cells, ["the empty index", "must-not-write padding", zero, zero]);
    }

    #[test]
    fn a_composite_operand_stays_whole() {
        // [A, B] # 64 has 15 live cells; every eighth is 0 = (0,0) and 8 = (1,3).
        let axes = axes(&[("A", 3), ("B", 5)]);
        let cells: Vec<String> = (0..4).map(|i| at("[[A, B] # 64 / 8]", &axes, i)).collect();
        assert_eq!(cells, ["the empty index", "A=1, B=3", "padding", "padding"]);
    }

    #[test]
    fn a_coordinate_past_its_axis_is_padding() {
        let axes = axes(&[("A", 5)]);
        assert_eq!(at("[A # 8 / 2, A # 8 % 2]", &axes, 4), "A=4");
        assert_eq!(at("[A # 8 / 2, A # 8 % 2]", &axes, 5), "padding");
        assert_eq!(at("[A, A]", &axes, 9), "padding");
        // Position 45 is A = 4, then A = 2: past the axis before the minor side's zero padding.
        assert_eq!(at("[A, A, 1 # 2 {0}]", &axes, 45), "padding");
        assert_eq!(at("[A, A, 1 # 2 {0}]", &axes, 1), "zero padding");
    }

    #[test]
    fn m8_a_skewed_axis_wraps() {
        let mut axes = axes(&[("A", 4), ("B", 4)]);
        let skewed = axes.declare_skew("B'", "B", "A").unwrap();
        let b = axes.id("B").unwrap();
        let map = Map::new(&Expr::parse("[A, B' = 4]").unwrap(), &axes).unwrap();
        for (a, step) in (0..4).flat_map(|a| (0..4).map(move |step| (a, step))) {
            let Some(Cell::Live(index)) = map.cell(4 * a + step) else { panic!("{a} {step}") };
            assert_eq!(index.resolved(&[skewed], &axes).get(b), (a + step) % 4, "{a} {step}");
        }
    }

    #[test]
    fn m9_a_sliding_position_holds_several_indices() {
        let axes = axes(&[("N", 5), ("F", 3)]);
        assert_eq!(Expr::parse("[$(N:1, F:2)]").unwrap().size(&axes), Ok(9));
        let cells = ["the empty index", "N=1", "{N=2} {F=1}", "{N=1, F=1} {N=3}"];
        for (i, cell) in cells.into_iter().enumerate() {
            assert_eq!(at("[$(N:1, F:2)]", &axes, i as u64), cell);
        }
        assert_eq!(at("[$(N:1, F:2)]", &axes, 4), "{N=2, F=1} {N=4} {F=2}");
        assert_eq!(at("[$(N:1, F:2)]", &axes, 8), "N=4, F=2");
        // Nothing reaches an odd position; a term's padding drops its combinations.
        assert_eq!(at("[$(N:2)]", &axes, 3), "padding");
        assert_eq!(at("[$(N:1, F # 4 {0}:5)]", &axes, 15), "zero padding");
        assert_eq!(at("[$(N:1, F # 4 {0}:1)]", &axes, 3), "{N=1, F=2} {N=2, F=1} {N=3}");
        // Major padding wins over a minor slide, and a slide over minor padding.
        assert_eq!(at("[1 # 2 {!}, $(N:1, F:2)]", &axes, 13), "must-not-write padding");
    }

    #[test]
    fn shared_positions_are_bounded() {
        let axes = axes(&[("A", 65536), ("B", 65537)]);
        let size = |text: &str| Expr::parse(text).unwrap().size(&axes).map_err(|error| error.code);
        assert_eq!(size("[$(A:1, B:1)]"), Ok(131072));
        assert_eq!(size("[$(B:1, B:1)]"), Err("map-slide-wide"));
        assert_eq!(size("[$(A / 256:1, A / 256:1), $(A / 256:1, A / 256:1)]"), Ok(511 * 511));
        assert_eq!(size("[$(A / 256:1, A / 256:1), $(A / 128:1, A / 128:1)]"), Err("map-slide-wide"));
        assert_eq!(size("[$($(A / 256:1, A / 256:1):1, $(A / 256:1, A / 256:1):1)]"), Err("map-slide-wide"));
        assert_eq!(size("[$(A:0)]"), Err("map-slide-stride"));
        assert_eq!(size("[$(A:4611686018427387904)]"), Err("map-size-overflow"));
    }

    #[test]
    fn broken_expressions_hold_nothing() {
        let axes = axes(&[("A", 5)]);
        assert_eq!(at("[A / 2]", &axes, 0), "nothing");
        assert_eq!(at("[B]", &axes, 0), "nothing");
        assert_eq!(at("[A, 0]", &axes, 0), "nothing");
    }

    #[test]
    fn indices_add_by_coordinate() {
        let axes = axes(&[("A", 5), ("B", 5)]);
        let (a, b) = (axes.id("A").unwrap(), axes.id("B").unwrap());
        let mut index = Index::from_iter([(b, 2), (a, 0)]);
        index.add_index(&Index::from_iter([(a, 1), (b, 1)]));
        assert_eq!(index.iter().collect::<Vec<_>>(), [(a, 1), (b, 3)]);
        assert_eq!((index.get(a), index.get(b), Index::new().get(a)), (1, 3, 0));
    }
}
