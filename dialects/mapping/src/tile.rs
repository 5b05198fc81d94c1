//! Tiles: parts of a tensor at an index that may depend on loops (book 03, tiling).
//!
//! A tile is `size` positions of a dimension `along`, from one that is affine in the indices of loops. Each of them
//! has the same mapping, with coordinates counted from its first. So what reads or writes it is the same in each
//! iteration but for where it starts.

use crate::affine::{Affine, Indices};
use crate::attrs::MAP;
use crate::axes::Axes;
use crate::cell::{Cell, Index, Map, describe};
use crate::digits::{Digit, Digits, digits};
use crate::equal::first_missing;
use crate::error::mapping_error;
use crate::expr::{Expr, PadKind};
use crate::inverse::{Inverse, inverse};
use crate::rebuild::factor;
use std::collections::BTreeSet;
use std::convert::Infallible;
use std::rc::Rc;
use visa_ir::decl::{ClauseDecl, ClauseKind};
use visa_ir::diag::{Diagnostic, counted};
use visa_ir::module::OpRef;

/// The dimension that is cut.
#[visa_ir::clause]
pub(crate) const ALONG: ClauseDecl =
    ClauseDecl::required("along", ClauseKind::body::<Expr>(&MAP), "the dimension that is cut into tiles");

/// The size of a tile.
#[visa_ir::clause]
pub(crate) const SIZE: ClauseDecl =
    ClauseDecl::default("size", ClauseKind::Int, "1", "positions of `along` in a tile");

/// Where a tile is, besides what its operand says.
#[visa_ir::clause]
pub(crate) const INDEX: ClauseDecl = ClauseDecl::default(
    "index",
    ClauseKind::Int,
    "0",
    "the first position of `along` in this tile; the operand `first` is added to it",
);

/// The tile's own layout.
#[visa_ir::clause]
pub(crate) const ELEMENT: ClauseDecl = ClauseDecl::optional(
    "element",
    ClauseKind::body::<Expr>(&MAP),
    "the tile's layout, in elements; if absent, the tensor's, with the tile's positions of `along` live",
);

/// A tile of a tensor.
pub struct Tile<'a> {
    op: OpRef<'a>,
    cuts: Vec<Cut>,
    /// The tile's own element mapping.
    part: Expr,
    /// The tensor's.
    whole: Expr,
    /// From an index to a position of the tensor.
    positions: Inverse,
    axes: &'a Axes,
}

/// Which positions of a dimension a tile has.
struct Cut {
    along: Map,
    text: Expr,
    size: u64,
    /// The first of them.
    first: Affine,
}

/// What an operation says of its tile.
pub(crate) struct Clauses {
    /// The dimension that is cut, or several as terms.
    pub(crate) along: Rc<Expr>,
    /// Positions of it in the tile.
    pub(crate) size: i64,
    /// The first of them.
    pub(crate) index: i64,
    /// What is added to it: a number for each dimension.
    pub(crate) first: Vec<Affine>,
}

impl<'a> Tile<'a> {
    /// The tile of layout `part` that an operation says of a tensor of layout `whole`.
    ///
    /// # Errors
    /// A tile that is not inside `along` in some iteration, or a tensor without a digit form.
    pub(crate) fn read(
        op: OpRef<'a>,
        clauses: Clauses,
        (part, whole): (Expr, Expr),
        axes: &'a Axes,
    ) -> Result<Self, Diagnostic> {
        let held = digits(&whole, axes).map_err(|error| {
            op.clause_error("C2", "element", format!("cannot place a tile in `{whole}`: {error}"))
        })?;
        let Clauses { along, size, index, first } = clauses;
        let size = positions(op, size)?;
        let terms = dimensions(op, &along, (size, index), first.len())?;
        let firsts = first.into_iter().chain(std::iter::repeat(Affine::default()));
        let cuts = terms.into_iter().zip(firsts);
        let cuts = cuts.map(|(text, first)| Cut::read(op, text, (size, index), &first, axes));
        let cuts = cuts.collect::<Result<Vec<_>, Diagnostic>>()?;
        Ok(Self { op, cuts, part, whole, positions: inverse(&held), axes })
    }

    /// The first position along each dimension in an iteration.
    ///
    /// # Errors
    /// None in an iteration of the loops around the tile.
    pub fn at(&self, indices: &Indices) -> Result<Vec<u64>, Diagnostic> {
        let at = |cut: &Cut| cut.first.at(indices).and_then(|at| u64::try_from(at).ok());
        let all: Option<Vec<u64>> = self.cuts.iter().map(at).collect();
        all.ok_or_else(|| self.not_inside())
    }

    /// The tensor's index of the first element of the tile that starts at a position along each dimension.
    ///
    /// # Errors
    /// A tile that does not start with an element.
    pub fn shift(&self, at: &[u64]) -> Result<Index, Diagnostic> {
        let mut shift = Index::new();
        for (cut, &at) in self.cuts.iter().zip(at) {
            match cut.along.cell(at) {
                Some(Cell::Live(index)) => shift.add_index(&index),
                Some(Cell::Shared(_) | Cell::Pad(_)) | None => {
                    let message = format!("`{}` holds no element at {at}", cut.text);
                    return Err(self.op.clause_error("C3", "index", message));
                }
            }
        }
        Ok(shift)
    }

    /// How many positions into the tensor the tile starts that begins at a position along each dimension.
    ///
    /// # Errors
    /// If the tensor holds its first index nowhere.
    pub fn start(&self, at: &[u64]) -> Result<u64, Diagnostic> {
        let first = self.shift(at)?;
        self.positions.position(&first).ok_or_else(|| {
            let at = describe(Some(&Cell::Live(first)), self.axes);
            let message = format!("the view starts at {at}, which `{}` does not hold", self.whole);
            self.op.clause_error("C2", "element", message)
        })
    }

    /// The first position along each dimension in the first iteration that counts.
    fn first(&self) -> Result<Vec<u64>, Diagnostic> {
        let first = |cut: &Cut| cut.first.first().and_then(|at| u64::try_from(at).ok());
        let all: Option<Vec<u64>> = self.cuts.iter().map(first).collect();
        all.ok_or_else(|| self.not_inside())
    }

    fn not_inside(&self) -> Diagnostic {
        self.op.clause_error("C3", "index", "the tile is not inside".to_owned())
    }

    /// Where the tile starts, in positions of the tensor, and how far it moves with each loop.
    ///
    /// # Errors
    /// If tiles are not evenly apart.
    pub fn starts(&self) -> Result<Affine, Diagnostic> {
        let refuse = || self.op.error("C3", "the tile's address does not fit 64 bits".to_owned());
        let first = self.first()?;
        let mut last = first.clone();
        let base = i64::try_from(self.start(&first)?).map_err(|_| refuse())?;
        let (mut starts, mut end) = (Affine::constant(base), base);
        for (number, cut) in self.cuts.iter().enumerate() {
            let Some(step) = self.step(number)? else { continue };
            let moved = cut.first.plus(&Affine::constant(-first[number].cast_signed()));
            let moved = moved.and_then(|moved| moved.times(step));
            starts = moved.and_then(|moved| starts.plus(&moved)).ok_or_else(refuse)?;
            last[number] =
                cut.first.range().and_then(|(_, most)| u64::try_from(most).ok()).ok_or_else(refuse)?;
            let apart = last[number].cast_signed() - first[number].cast_signed();
            end = apart.checked_mul(step).and_then(|moved| end.checked_add(moved)).ok_or_else(refuse)?;
        }
        // Terms that are parts of one axis and overlap: a tile may be outside although each of its indices is inside.
        if u64::try_from(end) == Ok(self.start(&last)?) {
            return Ok(starts);
        }
        let message = format!("the terms of the tile's dimension are not apart in `{}`", self.whole);
        Err(self.op.clause_error("C3", "along", message))
    }

    /// The tiles that are looked at along a dimension: the samples of that, the first of the others.
    fn samples(&self, number: usize) -> Result<Vec<Vec<u64>>, Diagnostic> {
        let base = self.first()?;
        let sample = |at: u64| {
            let mut sample = base.clone();
            sample[number] = at;
            sample
        };
        Ok(self.boundaries(number)?.into_iter().map(sample).collect())
    }

    /// How far tiles are apart whose indices along a dimension differ by 1, in positions of the tensor; nothing if
    /// there is one only.
    fn step(&self, number: usize) -> Result<Option<i64>, Diagnostic> {
        let samples = self.samples(number)?;
        let Some((first, rest)) = samples.split_first() else { return Ok(None) };
        let Some(second) = rest.first() else { return Ok(None) };
        let from = |at: &[u64]| -> Result<i128, Diagnostic> {
            Ok(i128::from(self.start(at)?) - i128::from(self.start(first)?))
        };
        let apart = |at: &[u64]| i128::from(at[number]) - i128::from(first[number]);
        let step = from(second)?.div_euclid(apart(second));
        for at in rest {
            if from(at)? != step * apart(at) {
                let message = format!(
                    "tiles along `{}` are not evenly apart in `{}`: from {} to {}, other than from there to {}",
                    self.cuts[number].text, self.whole, first[number], at[number], second[number]
                );
                let fix = "cut the dimension along which the index counts, as it is in the tensor".to_owned();
                return Err(self.op.clause_error("C3", "along", message).fix(fix));
            }
        }
        i64::try_from(step).map(Some).map_err(|_| self.op.error("C3", "tiles are too far apart".to_owned()))
    }

    /// Positions along a dimension at which tiles start, in order: the first and the last, and the ones around each
    /// place where a digit of the tensor or of the dimension begins to count. Between those, tiles are alike.
    fn boundaries(&self, number: usize) -> Result<Vec<u64>, Diagnostic> {
        let cut = &self.cuts[number];
        let Some((least, most)) = cut.first.range() else { return Ok(Vec::new()) };
        let mut samples = BTreeSet::from([least, most]);
        samples.extend(cut.first.first_from(least.saturating_add(1)));
        for weight in self.weights(cut)? {
            let (weight, size) = (weight.cast_signed(), cut.size.cast_signed());
            // The first multiple that tiles start at or behind, and the first one that they reach across.
            let multiple = least.saturating_add(size).div_euclid(weight).saturating_mul(weight);
            for multiple in [multiple, multiple.saturating_add(weight)] {
                let across = multiple.saturating_sub(size).saturating_add(1).max(least);
                samples.extend(cut.first.first_from(across));
                samples.extend(cut.first.first_from(multiple.max(least)));
            }
        }
        Ok(samples.into_iter().filter_map(|at| u64::try_from(at).ok()).collect())
    }

    /// How many positions along a dimension make a step of each digit of the dimension and of the tensor.
    fn weights(&self, cut: &Cut) -> Result<BTreeSet<u64>, Diagnostic> {
        let refuse = |error: crate::DigitsError| self.op.clause_error("C3", "along", error.to_string());
        let along = digits(&cut.text, self.axes).map_err(refuse)?;
        let whole = digits(&self.whole, self.axes).map_err(refuse)?;
        let mut found = BTreeSet::new();
        let mut weight = 1_u64;
        for digit in along.iter() {
            found.insert(weight);
            let of_axis = whole.iter().filter(|own| own.axis == digit.axis && digit.axis.is_some());
            let inside = of_axis.flat_map(|own| [own.stride, own.stride.saturating_mul(own.extent)]);
            let inside =
                inside.filter(|stride| *stride > digit.stride && stride.is_multiple_of(digit.stride));
            found.extend(inside.map(|stride| weight.saturating_mul(stride / digit.stride)));
            weight = weight.saturating_mul(digit.extent);
        }
        found.remove(&0);
        Ok(found)
    }

    /// Whether the layout is the one that follows from the tensor's, where the index and the coordinates within a tile
    /// are digits apart: then the tile is right wherever it starts.
    fn follows(&self) -> bool {
        let mut whole = self.whole.clone();
        for Cut { text, size, .. } in &self.cuts {
            match cut(text, *size, &whole, self.axes) {
                Ok(LaidOut { layout, digits }) if *size == 1 || digits <= 1 => whole = layout,
                Ok(_) | Err(_) => return false,
            }
        }
        let [own, whole] = [&self.part, &whole].map(|map| digits(&keeping(map), self.axes));
        matches!((own, whole), (Ok(own), Ok(whole)) if own == whole)
    }

    /// Checks the tile of every iteration: what it holds at a position, moved by its first index, the tensor holds as
    /// many positions after its start.
    ///
    /// # Errors
    /// C2 of `tm.tile` and of `tm.to_tile`.
    pub fn check(&self) -> Result<(), Diagnostic> {
        if self.follows() {
            return self.starts().map(drop);
        }
        for number in 0..self.cuts.len() {
            for at in self.samples(number)? {
                let (shift, start) = (self.shift(&at)?, self.start(&at)?);
                check_part(self.op, (&self.part, &shift), (&self.whole, start), self.axes)?;
            }
        }
        self.starts().map(drop)
    }
}

impl Cut {
    /// C3: the positions of a dimension, from `index` on, moved as the loops say.
    fn read(
        op: OpRef<'_>,
        text: Expr,
        (size, index): (u64, i64),
        moved: &Affine,
        axes: &Axes,
    ) -> Result<Self, Diagnostic> {
        let along = Map::new(&text, axes).map_err(|error| mapping_error(error, op.clause_span("along")))?;
        let clause = if op.attr("index").is_some() { "index" } else { "along" };
        let refuse = |why: String| op.clause_error("C3", clause, why);
        let first = moved.plus(&Affine::constant(index));
        let range = first.as_ref().and_then(Affine::range);
        let (Some(first), Some((least, most))) = (first, range) else {
            return Err(refuse("in some iteration the index does not fit 64 bits".to_owned()));
        };
        for at in [least, most] {
            let in_loop = if first.terms.is_empty() { "" } else { " in some iteration" };
            let start = u64::try_from(at).map_err(|_| refuse(format!("tile {at} is negative{in_loop}")))?;
            if start.checked_add(size).is_none_or(|end| end > along.size()) {
                let positions = counted(along.size(), "position");
                let message =
                    format!("`{text}` has {positions}, a tile of {size} from {at} on is not inside{in_loop}");
                return Err(refuse(message));
            }
        }
        Ok(Self { along, text, size, first })
    }
}

/// The dimensions that are cut: `along` itself, or each of its terms where there are several indices.
fn dimensions(
    op: OpRef<'_>,
    along: &Expr,
    (size, index): (u64, i64),
    indices: usize,
) -> Result<Vec<Expr>, Diagnostic> {
    if indices < 2 {
        return Ok(vec![along.clone()]);
    }
    let terms = if let Expr::Pair(terms) = along { terms.clone() } else { vec![along.clone()] };
    if terms.len() != indices {
        let (terms, indices) = (counted(terms.len(), "term"), counted(indices, "operand"));
        return Err(op.clause_error("C3", "along", format!("`{along}` has {terms} for {indices}")));
    }
    if size != 1 {
        return Err(op.clause_error(
            "C3",
            "size",
            "with several indices a tile has one position of each term",
        ));
    }
    if index != 0 {
        return Err(op.clause_error("C3", "index", "one number for several indices"));
    }
    Ok(terms)
}

/// C3: the positions of a dimension that a tile has.
fn positions(op: OpRef<'_>, size: i64) -> Result<u64, Diagnostic> {
    u64::try_from(size).ok().filter(|size| *size > 0).ok_or_else(|| {
        let message = format!("a tile of {}, expected 1 or more", counted(size, "position"));
        op.clause_error("C3", "size", message)
    })
}

/// The element mapping of a tile of a tensor of layout `whole`, as it is written or else as it follows.
pub(crate) fn element(
    op: OpRef<'_>,
    written: Option<Rc<Expr>>,
    (along, size): (&Expr, i64),
    indices: usize,
    whole: Expr,
    axes: &Axes,
) -> Result<Expr, Diagnostic> {
    if let Some(written) = written {
        return Ok((*written).clone());
    }
    let size = positions(op, size)?;
    let terms = dimensions(op, along, (1, 0), indices)?;
    let cut = |whole: Expr, term: &Expr| cut(term, size, &whole, axes).map(|cut| cut.layout);
    terms.iter().try_fold(whole, cut).map_err(|why| {
        let message = format!("the tile's layout does not follow from the tensor's: {why}");
        op.clause_error("C2", "along", message).fix("write it, with `element`".to_owned())
    })
}

/// The layout of a tile.
struct LaidOut {
    layout: Expr,
    /// The digits of the tensor that the dimension is.
    digits: usize,
}

/// The element mapping of a tile of a tensor: the tensor's, with `size` of the positions of `along` live.
///
/// # Errors
/// If a mapping is wrong, or the tensor does not hold the dimension so that one term of its mapping is cut.
fn cut(along: &Expr, size: u64, whole: &Expr, axes: &Axes) -> Result<LaidOut, String> {
    let of = |map: &Expr| digits(map, axes).map_err(|error| format!("`{map}`: {error}"));
    let (dimension, held) = (of(along)?, of(whole)?);
    if dimension.size() == 1 {
        return Ok(LaidOut { layout: whole.clone(), digits: 0 });
    }
    let single: Vec<&Digit> = dimension.iter().collect();
    let refuse = || format!("`{along}` is no part of one axis");
    let [&cut @ Digit { axis: Some(axis), .. }] = single[..] else { return Err(refuse()) };
    if cut.live != cut.extent {
        return Err(refuse());
    }
    let (low, high) = (cut.stride, cut.stride.saturating_mul(cut.extent));
    let (mut terms, mut left, mut cut_digits) = (Vec::new(), size, 0);
    for digit in held.iter() {
        let own = digit.axis == Some(axis);
        for piece in if own { pieces(digit, &[low, high])? } else { vec![*digit] } {
            let inside = own && (low..high).contains(&piece.stride);
            let live = if inside { left.min(piece.extent) } else { piece.live };
            if inside {
                if live == 0 || left % live != 0 {
                    return Err(format!("{left} positions of `{along}` are no part of `{whole}` by itself"));
                }
                left /= live;
                cut_digits += 1;
            }
            let term = factor(&Digit { live: piece.live, ..piece }, axes).map_err(|error| error.message)?;
            terms.push(if live < piece.live {
                term.resize(live).pad(piece.extent, PadKind::Top)
            } else {
                term
            });
        }
    }
    if left != 1 || !held.iter().any(|digit| digit.axis == Some(axis)) || !held.offset().is_empty() {
        return Err(format!("`{whole}` does not hold `{along}` as positions of its own"));
    }
    terms.reverse();
    Ok(LaidOut { layout: Expr::pair(terms), digits: cut_digits })
}

/// A digit in parts, minor first, none of which goes across a step of one of `strides`.
fn pieces(digit: &Digit, strides: &[u64]) -> Result<Vec<Digit>, String> {
    let mut pieces = vec![*digit];
    for &stride in strides {
        let across =
            |piece: &Digit| piece.stride < stride && stride < piece.stride.saturating_mul(piece.extent);
        let Some(at) = pieces.iter().position(across) else { continue };
        let piece = pieces[at];
        if !stride.is_multiple_of(piece.stride) {
            return Err(format!("a step of {stride} is amid a step of {}", piece.stride));
        }
        let (minor, major) =
            Digits::of(piece).split(stride / piece.stride).map_err(|ragged| ragged.to_string())?;
        pieces.splice(at..=at, minor.iter().chain(major.iter()).copied());
    }
    Ok(pieces)
}

/// Checks that a tensor holds, so many positions after its start, what a part of it holds, moved by an index.
///
/// # Errors
/// C2 of a slice, and of a tile.
pub(crate) fn check_part(
    op: OpRef<'_>,
    (part, shift): (&Expr, &Index),
    (whole, start): (&Expr, u64),
    axes: &Axes,
) -> Result<(), Diagnostic> {
    let missing = first_missing(part, shift, whole, start, axes)
        .map_err(|error| mapping_error(error, op.clause_span("element")))?;
    let Some(at) = missing else { return Ok(()) };
    let cell = |map: &Expr, at: u64| describe(crate::map(map, axes, at).as_ref(), axes);
    let (ours, theirs) = (cell(part, at), cell(whole, start + at));
    let moved = if shift.is_empty() { "" } else { " before it is moved to the tile" };
    let message = format!(
        "`{part}` holds {ours}{moved} at position {at}, but `{whole}` holds {theirs} {} further",
        counted(start, "position"),
    );
    let fix = "pad inner terms to the source's size (`# n`), so that positions keep their distances";
    Err(op.clause_error("C2", "element", message).fix(Some(fix.to_owned())))
}

/// A mapping whose don't-care padding must not be written: behind it, in a tile, is the rest of the tensor.
#[must_use]
pub fn keeping(map: &Expr) -> Expr {
    let Ok(kept) = map.map_children(|child| Ok::<_, Infallible>(keeping(child)));
    match kept {
        Expr::Pad { inner, size, kind: PadKind::Top, side } => {
            Expr::Pad { inner, size, kind: PadKind::Bottom, side }
        }
        kept => kept,
    }
}
