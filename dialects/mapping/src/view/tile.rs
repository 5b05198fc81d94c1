//! Tiles: parts of a tensor at an index that may depend on loops (book 03, tiling).
//!
//! A tile is `size` positions of a dimension `along`, from one that is affine in the indices of loops. Each of them
//! has the same mappings, with coordinates counted from its first. So its readers and writers are the same in each
//! iteration except for its start: a number of elements into the tensor, or, where the dimension is on chips,
//! clusters, slices or PEs, a number of these ([`crate::facts::frames`]).

use crate::error::mapping_error;
use crate::index::affine::{Affine, Indices};
use crate::tensor::attrs::MAP;
use crate::tensor::{Dim, Tensor};
use std::collections::BTreeSet;
use std::convert::Infallible;
use std::rc::Rc;
use visa_algebra::{
    Axes, Cell, Digit, Digits, Expr, Index, Inverse, Map, PadKind, describe, digit_expr, digits,
    first_missing, inverse,
};
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

/// The position of a tile, in addition to that of its operand.
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
    /// The elements, and each other dimension that is cut.
    parts: Vec<Part>,
    axes: &'a Axes,
}

/// A dimension of a tensor, and of a tile of it.
struct Part {
    dim: Dim,
    /// The tile's own mapping.
    own: Expr,
    /// The tensor's.
    whole: Expr,
    /// From an index to a position of the tensor.
    positions: Inverse,
}

/// The positions of a dimension that a tile has.
struct Cut {
    along: Map,
    text: Expr,
    size: u64,
    /// The first of them.
    first: Affine,
    /// The dimension of the tensor that holds it.
    dim: Dim,
}

/// The clauses of an operation for its tile.
pub(crate) struct Clauses {
    /// The dimension that is cut, or several as terms.
    pub(crate) along: Rc<Expr>,
    /// Positions of it in the tile.
    pub(crate) size: i64,
    /// The first of them.
    pub(crate) index: i64,
    /// The offset that is added to it: a number for each dimension.
    pub(crate) first: Vec<Affine>,
}

impl<'a> Tile<'a> {
    /// The tile, a tensor `part` by itself, that an operation specifies of the tensor `whole`.
    ///
    /// # Errors
    /// A tile that is not inside `along` in some iteration, or a tensor without a digit form.
    pub(crate) fn read(
        op: OpRef<'a>,
        clauses: Clauses,
        (part, whole): (&Tensor, &Tensor),
        axes: &'a Axes,
    ) -> Result<Self, Diagnostic> {
        let Clauses { along, size, index, first } = clauses;
        let size = positions(op, size)?;
        let terms = dimensions(op, &along, (size, index), first.len())?;
        let firsts = first.into_iter().chain(std::iter::repeat(Affine::default()));
        let cuts = terms.into_iter().zip(firsts);
        let cuts = cuts.map(|(text, first)| {
            let dim = home(op, &text, whole, axes)?;
            Cut::read(op, (text, dim), (size, index), &first, axes)
        });
        let cuts = cuts.collect::<Result<Vec<_>, Diagnostic>>()?;
        let is_part = |dim: &&Dim| **dim == Dim::Element || cuts.iter().any(|cut| cut.dim == **dim);
        let parts = whole.kind.dims.iter().filter(is_part).map(|&dim| {
            let (own, whole) = (part.dim(dim), whole.dim(dim));
            let held = digits(&whole, axes).map_err(|error| {
                op.clause_error("C2", "element", format!("cannot place a tile in `{whole}`: {error}"))
            })?;
            Ok(Part { dim, own, whole, positions: inverse(&held) })
        });
        let parts = parts.collect::<Result<_, Diagnostic>>()?;
        Ok(Self { op, cuts, parts, axes })
    }

    /// The dimensions of the tensor that are cut, except its elements.
    pub fn places(&self) -> impl Iterator<Item = Dim> {
        self.parts.iter().map(|part| part.dim).filter(|dim| *dim != Dim::Element)
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
        self.shift_along(at, |_| true)
    }

    /// The same for the part that some dimensions of the tensor hold.
    fn shift_along(&self, at: &[u64], of: impl Fn(Dim) -> bool) -> Result<Index, Diagnostic> {
        let mut shift = Index::new();
        for (cut, &at) in self.cuts.iter().zip(at).filter(|(cut, _)| of(cut.dim)) {
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

    /// Number of positions of a dimension into the tensor at which a tile starts, given its position along each of the
    /// dimensions that are cut.
    ///
    /// # Errors
    /// If the tensor holds its first index nowhere.
    fn start(&self, part: &Part, at: &[u64]) -> Result<u64, Diagnostic> {
        let first = self.shift_along(at, |dim| dim == part.dim)?;
        part.positions.position(&first).ok_or_else(|| {
            let at = describe(Some(&Cell::Live(first)), self.axes);
            let message = format!("the view starts at {at}, which `{}` does not hold", part.whole);
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

    /// Where the tile starts, in elements of the tensor, and how far it moves with each loop.
    ///
    /// # Errors
    /// If tiles are not evenly apart.
    pub fn starts(&self) -> Result<Affine, Diagnostic> {
        self.starts_in(Dim::Element)
    }

    /// Where the tile starts in a dimension of the tensor, in its positions.
    ///
    /// # Errors
    /// As of [`Tile::starts`].
    pub fn starts_in(&self, dim: Dim) -> Result<Affine, Diagnostic> {
        match self.parts.iter().find(|part| part.dim == dim) {
            Some(part) => self.starts_of(part),
            None => Ok(Affine::default()),
        }
    }

    fn starts_of(&self, part: &Part) -> Result<Affine, Diagnostic> {
        let refuse = || self.op.error("C3", "the tile's address does not fit 64 bits".to_owned());
        let first = self.first()?;
        let mut last = first.clone();
        let base = i64::try_from(self.start(part, &first)?).map_err(|_| refuse())?;
        let (mut starts, mut end) = (Affine::constant(base), base);
        for (number, cut) in self.cuts.iter().enumerate().filter(|(_, cut)| cut.dim == part.dim) {
            let Some(step) = self.step(part, number)? else { continue };
            let moved = cut.first.plus(&Affine::constant(-first[number].cast_signed()));
            let moved = moved.and_then(|moved| moved.times(step));
            starts = moved.and_then(|moved| starts.plus(&moved)).ok_or_else(refuse)?;
            last[number] =
                cut.first.range().and_then(|(_, most)| u64::try_from(most).ok()).ok_or_else(refuse)?;
            let apart = last[number].cast_signed() - first[number].cast_signed();
            end = apart.checked_mul(step).and_then(|moved| end.checked_add(moved)).ok_or_else(refuse)?;
        }
        // Terms that are parts of one axis and overlap: a tile may be outside although each of its indices is inside.
        if u64::try_from(end) == Ok(self.start(part, &last)?) {
            return Ok(starts);
        }
        let message = format!("the terms of the tile's dimension are not apart in `{}`", part.whole);
        Err(self.op.clause_error("C3", "along", message))
    }

    /// The tiles that are looked at along a dimension: the samples of that, the first of the others.
    fn samples(&self, part: &Part, number: usize) -> Result<Vec<Vec<u64>>, Diagnostic> {
        let base = self.first()?;
        let sample = |at: u64| {
            let mut sample = base.clone();
            sample[number] = at;
            sample
        };
        Ok(self.boundaries(part, number)?.into_iter().map(sample).collect())
    }

    /// Distance between tiles whose indices along a dimension differ by 1, in positions of the tensor; `None` if there
    /// is one only.
    fn step(&self, part: &Part, number: usize) -> Result<Option<i64>, Diagnostic> {
        let samples = self.samples(part, number)?;
        let Some((first, rest)) = samples.split_first() else { return Ok(None) };
        let Some(second) = rest.first() else { return Ok(None) };
        let from = |at: &[u64]| -> Result<i128, Diagnostic> {
            Ok(i128::from(self.start(part, at)?) - i128::from(self.start(part, first)?))
        };
        let apart = |at: &[u64]| i128::from(at[number]) - i128::from(first[number]);
        let step = from(second)?.div_euclid(apart(second));
        for at in rest {
            if from(at)? != step * apart(at) {
                let message = format!(
                    "tiles along `{}` are not evenly apart in `{}`: from {} to {}, other than from there to {}",
                    self.cuts[number].text, part.whole, first[number], at[number], second[number]
                );
                let fix = "cut the dimension along which the index counts, as it is in the tensor".to_owned();
                return Err(self.op.clause_error("C3", "along", message).fix(fix));
            }
        }
        i64::try_from(step).map(Some).map_err(|_| self.op.error("C3", "tiles are too far apart".to_owned()))
    }

    /// Positions along a dimension at which tiles start, in order: the first and the last, and the ones around each
    /// place where a digit of the tensor or of the dimension begins to count. Between those, tiles are alike.
    fn boundaries(&self, part: &Part, number: usize) -> Result<Vec<u64>, Diagnostic> {
        let cut = &self.cuts[number];
        let Some((least, most)) = cut.first.range() else { return Ok(Vec::new()) };
        let mut samples = BTreeSet::from([least, most]);
        samples.extend(cut.first.first_from(least.saturating_add(1)));
        for weight in self.weights(part, cut)? {
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

    /// Number of positions along a dimension in a step of each digit of the dimension and of the tensor.
    fn weights(&self, part: &Part, cut: &Cut) -> Result<BTreeSet<u64>, Diagnostic> {
        let refuse =
            |error: visa_algebra::DigitsError| self.op.clause_error("C3", "along", error.to_string());
        let along = digits(&cut.text, self.axes).map_err(refuse)?;
        let whole = digits(&part.whole, self.axes).map_err(refuse)?;
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

    /// Returns true if the layout is the one that follows from the tensor's, where the index and the coordinates
    /// within a tile are digits apart: then the tile is right wherever it starts.
    fn follows(&self, part: &Part) -> bool {
        let mut whole = part.whole.clone();
        for Cut { text, size, .. } in self.cuts.iter().filter(|cut| cut.dim == part.dim) {
            match cut(text, *size, &whole, self.axes) {
                Ok(LaidOut { layout, digits }) if *size == 1 || digits <= 1 => whole = layout,
                Ok(_) | Err(_) => return false,
            }
        }
        let [own, whole] = [&part.own, &whole].map(|map| digits(&keeping(map), self.axes));
        matches!((own, whole), (Ok(own), Ok(whole)) if own == whole)
    }

    /// Checks the tile of every iteration: the tensor holds the element at each position of the tile, moved by its
    /// first index, as many positions after its start.
    ///
    /// # Errors
    /// C2 of `tm.tile` and of `tm.to_tile`.
    pub fn check(&self) -> Result<(), Diagnostic> {
        self.parts.iter().try_for_each(|part| self.check_dimension(part))
    }

    fn check_dimension(&self, part: &Part) -> Result<(), Diagnostic> {
        let mut samples = Vec::new();
        if !self.follows(part) {
            samples.push(self.first()?);
            for number in (0..self.cuts.len()).filter(|&number| self.cuts[number].dim == part.dim) {
                samples.extend(self.samples(part, number)?);
            }
        }
        for at in samples {
            let shift = self.shift_along(&at, |dim| dim == part.dim)?;
            let start = self.start(part, &at)?;
            check_part(self.op, (&part.own, &shift), (&part.whole, start), self.axes)?;
        }
        self.starts_of(part).map(drop)
    }
}

impl Cut {
    /// C3: the positions of a dimension, from `index` on, moved by the loops.
    fn read(
        op: OpRef<'_>,
        (text, dim): (Expr, Dim),
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
        Ok(Self { along, text, size, first, dim })
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

/// The dimension of a tensor that holds the one that is cut: its elements, or where it is.
fn home(op: OpRef<'_>, along: &Expr, whole: &Tensor, axes: &Axes) -> Result<Dim, Diagnostic> {
    let Ok(cut) = digits(along, axes) else { return Ok(Dim::Element) };
    let within = |digit: &Digit| digit.stride..digit.stride.saturating_mul(digit.live);
    let meets = |own: &Digit, cut: &Digit| {
        let (own_range, range) = (within(own), within(cut));
        own.axis.is_some()
            && own.axis == cut.axis
            && own_range.start.max(range.start) < own_range.end.min(range.end)
    };
    let holds = |dim: &Dim| {
        let held = digits(&whole.dim(*dim), axes);
        held.is_ok_and(|held| held.iter().any(|own| cut.iter().any(|cut| meets(own, cut))))
    };
    let found: Vec<Dim> = whole.kind.dims.iter().copied().filter(holds).collect();
    match found[..] {
        [] => Ok(Dim::Element),
        [dim] => Ok(dim),
        [one, other, ..] => {
            let [left, right] =
                [one, other].map(|dim| format!("{} mapping `{}`", dim.name(), whole.dim(dim)));
            let message = format!("`{along}` is in two dimensions of the tensor, the {left} and the {right}");
            let fix = "cut each with a separate term and index".to_owned();
            Err(op.clause_error("C3", "along", message).fix(fix))
        }
    }
}

/// The mappings of a tile of the tensor `whole` that are others than the tensor's: that of the elements, as it is
/// written or else as it follows, and those of other dimensions that are cut.
///
/// # Errors
/// A dimension that the tensor does not have, or a layout that does not follow from the tensor's.
pub fn layout(
    op: OpRef<'_>,
    written: Option<Rc<Expr>>,
    (along, size): (&Expr, i64),
    indices: usize,
    whole: &Tensor,
    axes: &Axes,
) -> Result<Vec<(Dim, Expr)>, Diagnostic> {
    let mut found = vec![(Dim::Element, whole.dim(Dim::Element))];
    for term in dimensions(op, along, (1, 0), indices)? {
        let dim = home(op, &term, whole, axes)?;
        if dim == Dim::Element && written.is_some() {
            continue;
        }
        let size = positions(op, size)?;
        let at = found.iter().position(|(own, _)| *own == dim).unwrap_or_else(|| {
            found.push((dim, whole.dim(dim)));
            found.len() - 1
        });
        found[at].1 = cut(&term, size, &found[at].1, axes).map(|cut| cut.layout).map_err(|why| {
            let message = format!("the tile's layout does not follow from the tensor's: {why}");
            let refused = op.clause_error("C2", "along", message);
            refused.fix((dim == Dim::Element).then(|| "write it, with `element`".to_owned()))
        })?;
    }
    if let Some(written) = written {
        found[0].1 = (*written).clone();
    }
    Ok(found)
}

/// The layout of a tile.
struct LaidOut {
    layout: Expr,
    /// The digits of the tensor that the dimension is.
    digits: usize,
}

/// A mapping of a tile of a tensor: the tensor's, with `size` of the positions of `along` live.
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
        if let Some(first) = own.then(|| first_of_padded(digit, &cut, left)).flatten() {
            terms.push(digit_expr(&first, axes).map_err(|error| error.message)?);
            (left, cut_digits) = (1, cut_digits + 1);
            continue;
        }
        for piece in if own { pieces(digit, &[low, high])? } else { vec![*digit] } {
            let inside = own && (low..high).contains(&piece.stride);
            let live = if inside { left.min(piece.extent) } else { piece.live };
            if inside {
                // The part below the first digit is not in this mapping.
                let begins = cut_digits > 0 || piece.stride == low || left == 1;
                if live == 0 || left % live != 0 || !begins {
                    return Err(format!("{left} positions of `{along}` are no part of `{whole}` by itself"));
                }
                left /= live;
                cut_digits += 1;
            }
            let term =
                digit_expr(&Digit { live: piece.live, ..piece }, axes).map_err(|error| error.message)?;
            terms.push(if live < piece.live {
                term.resize(live).pad(piece.extent, PadKind::Top)
            } else {
                term
            });
        }
    }
    if left != 1 || !held.iter().any(|digit| digit.axis == Some(axis)) || !held.offset().is_empty() {
        return Err(format!("`{whole}` does not hold `{along}` at separate positions"));
    }
    terms.reverse();
    Ok(LaidOut { layout: Expr::pair(terms), digits: cut_digits })
}

/// The first `count` positions of `cut` in a digit that ends with padding, which the step of `cut` does not divide:
/// the padding stays behind them.
fn first_of_padded(digit: &Digit, cut: &Digit, count: u64) -> Option<Digit> {
    let ends = |digit: &Digit| digit.stride.checked_mul(digit.live);
    let step = cut.stride / digit.stride;
    let whole = cut.stride.is_multiple_of(digit.stride) && step > 1 && ends(digit) == ends(cut);
    let amid = digit.live < digit.extent && !digit.extent.is_multiple_of(step);
    let live = step.checked_mul(count).filter(|live| *live <= digit.live)?;
    (whole && amid && count > 0).then_some(Digit { live, ..*digit })
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

/// Checks that a tensor holds the elements of a part of it, moved by an index, the given number of positions after its
/// start.
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
    let cell = |map: &Expr, at: u64| describe(visa_algebra::map(map, axes, at).as_ref(), axes);
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

/// The same of a tile's layout, except for the innermost terms that the tensor has too: their padding is the tensor's
/// own. A tile begins where these are at 0: one whose elements are the tensor's cannot begin amid a padded term that
/// it has whole.
#[must_use]
pub(crate) fn keeping_others(tile: &Expr, whole: &Expr) -> Expr {
    let terms = |map: &Expr| if let Expr::Pair(terms) = map { terms.clone() } else { vec![map.clone()] };
    let (mut own, whole) = (terms(tile), terms(whole));
    let shared = own.iter().rev().zip(whole.iter().rev()).take_while(|(own, other)| own == other).count();
    let others = own.len() - shared;
    own[..others].iter_mut().for_each(|term| *term = keeping(term));
    if own.len() == 1 { own.remove(0) } else { Expr::Pair(own) }
}
