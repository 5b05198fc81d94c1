//! Equality of mappings: same size and the same cell at every position (book 03); and refinement.
//!
//! Three tiers, each exact: the digit normal form decides at any size; if a side has none, the runs of both are
//! compared over their common mixed radix; if those are too many, or indices share positions, position by position up
//! to a bound. Common terms at the start and at the end are removed first: the rest is mostly short. Past the bound
//! the answer is *unknown*, never a guess.

use std::collections::BTreeSet;
use std::fmt;
use visa_words::counted;

use crate::equality::runs::{NoRuns, Relation, Runs};
use crate::error::MapError;
use crate::expr::axes::{Axes, AxisId};
use crate::expr::skew::skewed_names;
use crate::expr::{Expr, PadKind};
use crate::limits::MAX_SIZE;
use crate::meaning::carry::{settle, views};
use crate::meaning::cell::{Cell, Index, Map};
use crate::meaning::digits::{Digit, Digits, DigitsError, digits};

/// Most positions that are compared one by one.
pub const ENUMERATION_BOUND: u64 = 1 << 16;

/// The answer of [`equal()`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Equality {
    /// Same size and the same cells.
    Equal,
    /// Not the same.
    Different {
        /// The first position that differs; the smaller size where one is the beginning of the other.
        at: u64,
        /// The content of the left side there.
        left: Option<Cell>,
        /// The content of the right side there.
        right: Option<Cell>,
    },
    /// Not decided.
    Unknown {
        /// The reason: the error of a broken mapping, or the ragged position and the bound.
        why: String,
    },
}

/// The answer of [`refines()`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refinement {
    /// Same size, and every cell refines the other's.
    Refines,
    /// It does not.
    Violated {
        /// The first position where it does not; the smaller size where it does on all positions of both.
        at: u64,
        /// The content of the left side there.
        left: Option<Cell>,
        /// The content of the right side there.
        right: Option<Cell>,
    },
    /// Not decided.
    Unknown {
        /// The reason.
        why: String,
    },
}

/// The tier that decided a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tier {
    /// The two are written alike.
    Shape,
    /// The digit normal forms.
    Digits,
    /// The runs over a common mixed radix.
    Runs,
    /// All positions, one by one.
    Enumeration,
    /// Nothing.
    Undecided,
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Shape => "shape",
            Self::Digits => "digits",
            Self::Runs => "runs",
            Self::Enumeration => "enumeration",
            Self::Undecided => "undecided",
        })
    }
}

/// Compares the cells of two mappings. A mapping that breaks a size rule equals nothing and differs from nothing: the
/// answer is [`Equality::Unknown`] with the rule.
pub fn equal(a: &Expr, b: &Expr, axes: &Axes) -> Equality {
    decide(a, b, axes).0
}

/// [`equal()`], and the tier that decided it.
pub fn decide(a: &Expr, b: &Expr, axes: &Axes) -> (Equality, Tier) {
    match (digits(a, axes), digits(b, axes)) {
        (Ok(left), Ok(right)) => match by_digits(&left, &right) {
            FirstDifference::Nowhere if left.skewed() == right.skewed() => (Equality::Equal, Tier::Digits),
            found => (found.or_written_apart(a, b, axes).equality(), Tier::Digits),
        },
        (Err(DigitsError::Map(error)), _) | (_, Err(DigitsError::Map(error))) => {
            (Equality::Unknown { why: error.message }, Tier::Undecided)
        }
        (Err(ragged), _) | (_, Err(ragged)) => {
            if let Some((Equality::Equal, tier)) = apart(a, b, axes).map(|(a, b)| decide(&a, &b, axes)) {
                return (Equality::Equal, tier);
            }
            let (found, tier) = first_violation(a, b, Relation::Same, &ragged, axes);
            (found.or_written_apart(a, b, axes).equality(), tier)
        }
    }
}

/// Two mappings without the terms that both begin or end with: if the rests are equal, so are the mappings. `None` if
/// they share no such term.
///
/// The terms after a term continue from its index, and so from the same one. In front there is one catch: a coordinate
/// that begins within an axis may leave it, which is don't-care padding, before or after other padding is met. So
/// terms in front stay unless their axes are others or all padding after is don't-care.
///
/// Parts that carry into each other stay together: the content of one depends on the others.
fn apart(a: &Expr, b: &Expr, axes: &Axes) -> Option<(Expr, Expr)> {
    let alone = |map: &Expr| match settle(map, axes) {
        Ok(None) => Some(map.clone()),
        Ok(Some(settled)) if settled.apart.is_empty() => Some(settled.map),
        Ok(Some(_)) | Err(_) => None,
    };
    let (a, b) = (&alone(a)?, &alone(b)?);
    let (mut left, mut right) = (a.terms(), b.terms());
    let last = left.iter().rev().zip(right.iter().rev()).take_while(|(a, b)| a == b).count();
    left.truncate(left.len() - last);
    right.truncate(right.len() - last);
    let first = left.iter().zip(&right).take_while(|(a, b)| a == b).count();
    let names =
        |terms: &[&Expr]| -> BTreeSet<_> { terms.iter().flat_map(|term| term.axis_names(axes)).collect() };
    let (common, rest) = (names(&left[..first]), [&left[first..], &right[first..]].concat());
    let first = match names(&rest).is_disjoint(&common) || rest.iter().all(|term| only_loose(term)) {
        true => first,
        false => 0,
    };
    let rest = |terms: &[&Expr]| Expr::pair(terms[first..].iter().map(|&term| term.clone()));
    (first + last > 0).then(|| (rest(&left), rest(&right)))
}

/// Returns true if the text of a mapping has no padding but don't-care, and one index a position.
fn only_loose(map: &Expr) -> bool {
    match map {
        Expr::Alias(_) | Expr::Slide(_) => false,
        Expr::Pad { kind, .. } if *kind != PadKind::Top => false,
        Expr::Axis(_)
        | Expr::Literal(_)
        | Expr::Pair(_)
        | Expr::Outer(_)
        | Expr::Pad { .. }
        | Expr::Resize { .. }
        | Expr::Stride { .. }
        | Expr::Modulo { .. }
        | Expr::Slice { .. }
        | Expr::Gather { .. } => map.children().into_iter().all(only_loose),
    }
}

/// Decides if `a` may replace `b`: the same size, and at every position the same live cell, or padding at least as
/// strict as the padding of `b`, or anything if `b` does not care. Strict to loose: must-not-write, zero, don't-care.
/// One direction only: it orders mappings, and [`equal()`] is refinement in both directions.
pub fn refines(a: &Expr, b: &Expr, axes: &Axes) -> Refinement {
    let undecided = |error: MapError| Refinement::Unknown { why: error.message };
    let why = match (digits(a, axes), digits(b, axes)) {
        (Err(DigitsError::Map(error)), _) | (_, Err(DigitsError::Map(error))) => return undecided(error),
        (Ok(a), Ok(b)) if a == b => return Refinement::Refines,
        (Err(ragged), _) | (_, Err(ragged)) => ragged.to_string(),
        (Ok(_), Ok(_)) => "the padding differs".to_owned(),
    };
    match first_violation(a, b, Relation::Refines, &why, axes).0.or_written_apart(a, b, axes) {
        FirstDifference::Nowhere => Refinement::Refines,
        FirstDifference::At(at, left, right) => Refinement::Violated { at, left, right },
        FirstDifference::Unknown(why) => Refinement::Unknown { why },
    }
}

/// The first position `i` of `part` that is live and whose content, with `shift` added, differs from `whole` at `start
/// + i`. A view of that mapping is valid there if the result is `None`.
///
/// # Errors
/// A mapping that breaks a size rule, or a question that the runs do not answer.
pub fn first_missing(
    part: &Expr,
    shift: &Index,
    whole: &Expr,
    start: u64,
    axes: &Axes,
) -> Result<Option<u64>, MapError> {
    let (size, own) = (whole.size(axes)?, part.size(axes)?);
    if skewed_names(part, axes) != skewed_names(whole, axes) {
        let view = Map::new(part, axes)?;
        return Ok(first_live(&view));
    }
    let end = start.checked_add(own).filter(|end| *end <= MAX_SIZE).ok_or_else(|| {
        MapError::new("map-size-overflow", format!("{} from {start} on ends past 2^62", part.quoted()))
    })?;
    // After the end of the source, the view may hold padding only.
    let padded = whole.clone().pad(end.max(size), PadKind::Bottom);
    let runs = Runs::new(part, axes).and_then(|view| Ok((view, Runs::new(&padded, axes)?)));
    match runs {
        // Only where no coordinate is shifted past its axis: there, cells would turn into padding.
        Ok((view, source)) if view.fits(shift) => {
            if let Ok(found) = view.first_violation(shift, &source, start, Relation::Holds, axes) {
                return Ok(found);
            }
        }
        Ok(_) | Err(_) => {}
    }
    first_missing_listed(part, shift, &padded, start, axes)
}

/// [`first_missing`] position by position.
fn first_missing_listed(
    part: &Expr,
    shift: &Index,
    whole: &Expr,
    start: u64,
    axes: &Axes,
) -> Result<Option<u64>, MapError> {
    let (view, source) = (Map::new(part, axes)?, Map::new(whole, axes)?);
    if view.size() > ENUMERATION_BOUND {
        let message = format!(
            "{}: {} are too many to compare one by one",
            part.quoted(),
            counted(view.size(), "position")
        );
        return Err(MapError::new("map-undecided", message));
    }
    let shifted = |index: &Index| {
        let mut index = index.clone();
        index.add_index(shift);
        index
    };
    let missing = |i: &u64| match view.cell(*i) {
        Some(Cell::Live(index)) => source.cell(start + i) != Some(Cell::Live(shifted(&index))),
        Some(Cell::Shared(all)) => {
            source.cell(start + i) != Some(Cell::Shared(all.iter().map(shifted).collect()))
        }
        Some(Cell::Pad(_)) | None => false,
    };
    Ok((0..view.size()).find(missing))
}

/// The first position that is live in one mapping and not in the other, or padding of another kind: whether one is
/// the other under other axes. For different sizes, the smaller size.
///
/// # Errors
/// A mapping that breaks a size rule, or a question that is not decided.
pub fn first_unlike(a: &Expr, b: &Expr, axes: &Axes) -> Result<Option<u64>, MapError> {
    a.size(axes)?;
    b.size(axes)?;
    match first_violation(a, b, Relation::Alike, &"the axes differ", axes).0 {
        FirstDifference::Nowhere => Ok(None),
        FirstDifference::At(at, ..) => Ok(Some(at)),
        FirstDifference::Unknown(why) => Err(MapError::new("map-undecided", why)),
    }
}

/// Where the coordinates of two canonical forms differ first.
fn by_digits(a: &Digits, b: &Digits) -> FirstDifference {
    let (left, right) = (a.size(), b.size());
    let beginning = || (left != right).then_some(left.min(right));
    match first_difference(a, b).or_else(beginning) {
        Some(at) => FirstDifference::At(at, a.cell(at), b.cell(at)),
        None => FirstDifference::Nowhere,
    }
}

/// The first live position, among those within the bound.
fn first_live(map: &Map) -> Option<u64> {
    let live = |at: &u64| matches!(map.cell(*at), Some(Cell::Live(_) | Cell::Shared(_)));
    (0..map.size().min(ENUMERATION_BOUND)).find(live)
}

/// Where a relation is broken first.
enum FirstDifference {
    Nowhere,
    At(u64, Option<Cell>, Option<Cell>),
    Unknown(String),
}

impl FirstDifference {
    /// Where all coordinates agree, two mappings may still be written in different skewed axes, which shows where
    /// they are 0: `B' = 1` is not `1`, for B is A there (book 03).
    fn or_written_apart(self, a: &Expr, b: &Expr, axes: &Axes) -> FirstDifference {
        let (ours, theirs) = (skewed_names(a, axes), skewed_names(b, axes));
        match (self, Map::new(a, axes), Map::new(b, axes)) {
            (FirstDifference::Nowhere, Ok(left), Ok(right)) if ours != theirs => match first_live(&left) {
                Some(at) => {
                    let shown = |map: &Map, names: &[AxisId]| map.cell(at).map(|cell| cell.written_in(names));
                    FirstDifference::At(at, shown(&left, &ours), shown(&right, &theirs))
                }
                None => FirstDifference::Nowhere,
            },
            (found, ..) => found,
        }
    }

    fn equality(self) -> Equality {
        match self {
            FirstDifference::Nowhere => Equality::Equal,
            FirstDifference::At(at, left, right) => Equality::Different { at, left, right },
            FirstDifference::Unknown(why) => Equality::Unknown { why },
        }
    }
}

/// Tiers 2 and 3: where `relation` does not hold between two mappings whose sizes are checked.
fn first_violation(
    a: &Expr,
    b: &Expr,
    relation: Relation,
    why: &dyn fmt::Display,
    axes: &Axes,
) -> (FirstDifference, Tier) {
    let (left, right) = match (Map::new(a, axes), Map::new(b, axes)) {
        (Ok(left), Ok(right)) => (left, right),
        (Err(error), _) | (_, Err(error)) => {
            return (FirstDifference::Unknown(error.message), Tier::Undecided);
        }
    };
    let at = |at: u64| FirstDifference::At(at, left.cell(at), right.cell(at));
    if a == b {
        return (FirstDifference::Nowhere, Tier::Shape);
    }
    let common = left.size().min(right.size());
    let by_runs = |a: &Expr, b: &Expr, axes: &Axes| {
        let runs = Runs::new(a, axes).and_then(|a| Ok((a, Runs::new(b, axes)?)));
        runs.and_then(|(a, b)| a.first_violation(&Index::new(), &b, 0, relation, axes))
    };
    let mut found = by_runs(a, b, axes);
    if found == Err(NoRuns::Carries)
        && relation != Relation::Alike
        && let Ok(Some((a, b, axes))) = views(a, b, axes)
    {
        // Up to where the positions of a shared mapping differ, its content there is the same; its content at that
        // position need not differ.
        found = by_runs(&a, &b, &axes).and_then(|at| match at {
            Some(at) if related(left.cell(at).as_ref(), right.cell(at).as_ref(), relation) => {
                Err(NoRuns::Carries)
            }
            _ => Ok(at),
        });
    }
    match found {
        Ok(Some(position)) => (at(position), Tier::Runs),
        Ok(None) if left.size() != right.size() => (at(common), Tier::Runs),
        Ok(None) => (FirstDifference::Nowhere, Tier::Runs),
        Err(no_runs) => enumerate(&left, &right, relation, &format!("{why}; {no_runs}")),
    }
}

/// Compares the first positions one by one.
fn enumerate(left: &Map, right: &Map, relation: Relation, why: &str) -> (FirstDifference, Tier) {
    let size = left.size().max(right.size());
    let positions = size.min(ENUMERATION_BOUND);
    for i in 0..positions {
        let (ours, theirs) = (left.cell(i), right.cell(i));
        if !related(ours.as_ref(), theirs.as_ref(), relation) {
            return (FirstDifference::At(i, ours, theirs), Tier::Enumeration);
        }
    }
    if positions == size {
        return (FirstDifference::Nowhere, Tier::Enumeration);
    }
    let compared = format!("the first {ENUMERATION_BOUND} of {size} positions are alike");
    (FirstDifference::Unknown(format!("{why}; {compared}, the others were not compared")), Tier::Undecided)
}

fn related(left: Option<&Cell>, right: Option<&Cell>, relation: Relation) -> bool {
    let padding = |cell: Option<&Cell>| match cell {
        Some(Cell::Pad(kind)) => Some(*kind),
        Some(Cell::Live(_) | Cell::Shared(_)) | None => None,
    };
    let (ours, theirs) = (padding(left), padding(right));
    match (ours, theirs) {
        _ if left.is_none() || right.is_none() => left.is_none() && right.is_none(),
        (None, None) => relation == Relation::Alike || left == right,
        _ => relation.allows(ours, theirs),
    }
}

/// The first position at which two canonical forms differ; none where one is the beginning of the other.
///
/// Below the first unequal digit everything agrees, so the position is that digit's weight times the
/// place where the two digits part. Why they part exactly there is the uniqueness argument of the
/// `digits` module.
fn first_difference(a: &Digits, b: &Digits) -> Option<u64> {
    if a.offset() != b.offset() {
        return Some(0);
    }
    let mut weight = 1;
    for (a, b) in a.iter().zip(b.iter()) {
        if a != b {
            return Some(weight * parting(a, b));
        }
        weight *= a.extent;
    }
    None
}

/// The value at which two unequal digits start to differ. A full digit and a padded one differ from its extent on,
/// which is its live range.
fn parting(a: &Digit, b: &Digit) -> u64 {
    if (a.axis, a.stride) != (b.axis, b.stride) {
        1
    } else if a.live != b.live {
        a.live.min(b.live)
    } else if a.kind != b.kind {
        a.live
    } else {
        a.extent.min(b.extent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::meaning::cell::describe;

    fn axes() -> Axes {
        let mut axes = Axes::new();
        for (name, size) in [("A", 8), ("B", 512), ("C", 13), ("D", 61), ("E", 1 << 20)] {
            axes.declare(name, size).unwrap();
        }
        axes
    }

    fn compare(a: &str, b: &str) -> Equality {
        equal(&Expr::parse(a).unwrap(), &Expr::parse(b).unwrap(), &axes())
    }

    /// `at: left / right` of an inequality.
    fn witness(a: &str, b: &str) -> String {
        match compare(a, b) {
            Equality::Different { at, left, right } => {
                let axes = axes();
                format!("{at}: {} / {}", describe(left.as_ref(), &axes), describe(right.as_ref(), &axes))
            }
            other => panic!("{a} {b}: {other:?}"),
        }
    }

    #[test]
    fn m4_and_m6_the_listed_equivalences() {
        for (a, b) in [
            ("[B / 64, B % 64]", "[B]"),
            ("[A, 1]", "[A]"),
            ("[1, A]", "[A]"),
            ("[[A, B] / 512]", "[A]"),
            ("[[A, B] % 512]", "[B]"),
            ("[A, B, C]", "[[A, B], C]"),
            ("[A, B, C]", "[A, [B, C]]"),
            ("[B / 1]", "[B]"),
            ("[B # 512]", "[B]"),
            ("[B = 512]", "[B]"),
            ("[B % 1]", "[1]"),
            ("[B % 64]", "[B = 64]"),
        ] {
            assert_eq!(compare(a, b), Equality::Equal, "{a} {b}");
        }
    }

    #[test]
    fn a_difference_has_its_first_witness() {
        assert_eq!(witness("[A, B]", "[B, A]"), "1: B=1 / A=1");
        assert_eq!(witness("[A]", "[B]"), "1: A=1 / B=1");
        assert_eq!(witness("[B % 8]", "[B]"), "8: nothing / B=8");
        assert_eq!(witness("[B % 8, A]", "[A]"), "8: B=1 / nothing");
        assert_eq!(witness("[[A, C] # 128]", "[[A, C] # 120]"), "120: padding / nothing");
        assert_eq!(witness("[A # 16]", "[A # 16 {0}]"), "8: padding / zero padding");
        assert_eq!(witness("[A # 16 {!}]", "[2, A]"), "8: must-not-write padding / the empty index");
        assert_eq!(witness("[C, D # 64]", "[C, D # 64 {0}]"), "61: padding / zero padding");
        assert_eq!(witness("[A, B = 256 # 512]", "[A, B]"), "256: padding / B=256");
        assert_eq!(witness("[A # 16 {0} # 64]", "[A # 32 {0} # 64]"), "16: padding / zero padding");
    }

    #[test]
    fn digits_find_differences_far_beyond_enumeration() {
        assert_eq!(witness("[E, E % 4, B]", "[E, 4, B]"), "512: E=1 / the empty index");
        assert_eq!(witness("[B # 1024, E]", "[B # 1024 {0}, E]"), "536870912: padding / zero padding");
        assert_eq!(compare("[E / 1024, E % 1024, B]", "[E, B]"), Equality::Equal);
    }

    #[test]
    fn ragged_mappings_are_compared_one_by_one_up_to_the_bound() {
        assert_eq!(compare("[[A, C] # 128]", "[[A, C] # 112 # 128]"), Equality::Equal);
        assert_eq!(witness("[[A, C] # 128]", "[[A, C] # 112 {0} # 128]"), "104: padding / zero padding");
        // Inside and just outside: 65536 positions, then 65537.
        let slide = |size: u64| (format!("[$(A:1, C:2) # {size}]"), format!("[$(C:2, A:1) # 40 # {size}]"));
        let (a, b) = slide(65536);
        assert_eq!(compare(&a, &b), Equality::Equal);
        let (a, b) = slide(65537);
        let Equality::Unknown { why } = compare(&a, &b) else { panic!("decided past the bound") };
        assert!(why.starts_with("`$(A:1, C:2)`") && why.contains("first 65536 of 65537"), "{why}");
        assert_eq!(compare(&a, &a), Equality::Equal);
        assert_eq!(witness(&a, "[$(C:1, A:2) # 65537]"), "1: A=1 / C=1");
    }

    /// The deciding tier, for mappings that are no digit lists, and far beyond enumeration.
    fn by(a: &str, b: &str) -> (bool, Tier) {
        let (answer, tier) = decide(&Expr::parse(a).unwrap(), &Expr::parse(b).unwrap(), &axes());
        (answer == Equality::Equal, tier)
    }

    #[test]
    fn runs_decide_ragged_mappings_of_any_size() {
        // [A, C] has 104 positions, no multiple of 13 times anything of these.
        assert_eq!(by("[E, [A, C] # 128]", "[E, [A, C] # 112 # 128]"), (true, Tier::Runs));
        assert_eq!(by("[E, [A, C] # 128]", "[E, [A, C] # 112 {0} # 128]"), (false, Tier::Runs));
        assert_eq!(
            by("[[E, C] # 2097152 {left}]", "[[E, C] # 2000000 {left} # 2097152 {left}]").1,
            Tier::Undecided
        );
        assert_eq!(by("[E # 2097152 {left}]", "[E # 2000000 {left} # 2097152 {left}]"), (true, Tier::Runs));
        // Halves of a padded pair: carries run from one half into the other.
        assert_eq!(by("[[E, C] # 13631500 / 2 / 5]", "[[E, C] # 13631500 / 10]"), (true, Tier::Runs));
        assert_eq!(by("[[E, C] # 13631500 / 2 / 5]", "[[E, C] # 13631500 {0} / 10]"), (false, Tier::Runs));
        assert_eq!(by("[E, D = 60 @ 3, B]", "[E, D @ 3 = 57, B]"), (true, Tier::Digits));
        assert_eq!(by("[E @ (5, 4, 3), B, C # 16]", "[E @ (5, 4, 2), B, C # 16]"), (false, Tier::Runs));
    }

    #[test]
    fn terms_in_common_are_left_aside() {
        // 2^20 times 65536 positions, of which 65536 are compared.
        let slide = |size: u64| format!("[E, $(A:1, C:2) # {size}, B]");
        let other = |size: u64| format!("[E, $(C:2, A:1) # 40 # {size}, B]");
        assert_eq!(by(&slide(65536), &other(65536)), (true, Tier::Enumeration));
        assert_eq!(by(&slide(65537), &other(65537)).1, Tier::Undecided);
        let parts = |a: &str, b: &str| {
            let (a, b) = (Expr::parse(a).unwrap(), Expr::parse(b).unwrap());
            apart(&a, &b, &axes()).map(|(a, b)| (a.to_string(), b.to_string()))
        };
        let found = |a: &str, b: &str| Some((a.to_owned(), b.to_owned()));
        assert_eq!(parts("[A, C # 16, B]", "[A, [C # 20, B]]"), found("[C # 16]", "[C # 20]"));
        assert_eq!(parts("[A, C]", "[D, B]"), None);
        // C / 4 begins within C, so that C % 4 # 8 may leave it: before or after the zeros.
        assert_eq!(parts("[C / 4, C % 4 # 8, 2]", "[C / 4, C = 8, 2]"), found("[C % 4 # 8]", "[C = 8]"));
        assert_eq!(
            parts("[C / 4, C % 4 # 8 {0}, 2]", "[C / 4, C = 8, 2]"),
            found("[C / 4, C % 4 # 8 {0}]", "[C / 4, C = 8]")
        );
    }

    #[test]
    fn what_is_left_decides_as_all_positions_do() {
        let pool = [
            "C # 16 / 8",
            "[C # 14, 1] # 16 / 8",
            "[A, C] # 110 / 2",
            "[A, C] # 107 # 110 / 2",
            "C # 16 {0} / 4",
            "C # 14 {0} # 16 {0} / 4",
            "[C # 16 {0} / 4, C = 4] # 24 / 2",
            "[C # 16 {0} / 4, C = 4] # 20 # 24 / 2",
        ];
        let axes = axes();
        let cells = |map: &Expr| -> Vec<Option<Cell>> {
            let map = Map::new(map, &axes).unwrap();
            (0..map.size()).map(|at| map.cell(at)).collect()
        };
        let mut equal_ones = 0;
        for (first, last) in
            pool.iter().flat_map(|first| ["1", "C # 14 % 2", "A # 9 {0}"].map(|last| (first, last)))
        {
            let maps = pool.map(|rest| Expr::parse(&format!("[{first}, {rest}, {last}]")).unwrap());
            let listed: Vec<_> = maps.iter().map(|map| (map, cells(map))).collect();
            for ((a, left), (b, right)) in listed.iter().flat_map(|a| listed.iter().map(move |b| (a, b))) {
                equal_ones += u32::from(left == right);
                assert_eq!(equal(a, b, &axes) == Equality::Equal, left == right, "{a} {b}");
            }
        }
        assert!(equal_ones > 100, "{equal_ones}");
    }

    #[test]
    fn runs_name_the_first_difference() {
        assert_eq!(
            witness("[E, [A, C] # 128]", "[E, [A, C] # 112 {0} # 128]"),
            "104: padding / zero padding"
        );
        assert_eq!(witness("[E, [A, C] # 128]", "[E, [A, C] = 103 # 128]"), "103: A=7, C=12 / padding");
        assert_eq!(
            witness("[E, [A, C] # 128]", "[E % 1024, 1024, [A, C] # 128]"),
            "128: E=1 / the empty index"
        );
    }

    #[test]
    fn refinement_is_one_way() {
        let refine = |a: &str, b: &str| refines(&Expr::parse(a).unwrap(), &Expr::parse(b).unwrap(), &axes());
        let violated = |a: &str, b: &str| match refine(a, b) {
            Refinement::Violated { at, .. } => at,
            other => panic!("{a} {b}: {other:?}"),
        };
        for (a, b) in [
            ("[A # 16]", "[A # 16]"),
            ("[A # 16 {0}]", "[A # 16]"),
            ("[A # 16 {!}]", "[A # 16 {0}]"),
            ("[A # 16 {!}]", "[A # 16]"),
            ("[B = 16]", "[B = 8 # 16]"),
            ("[E, [A, C] # 120 {!} # 128 {0}]", "[E, [A, C] # 128]"),
        ] {
            assert_eq!(refine(a, b), Refinement::Refines, "{a} {b}");
        }
        assert_eq!(violated("[A # 16]", "[A # 16 {0}]"), 8);
        assert_eq!(violated("[A # 16 {0}]", "[A # 16 {!}]"), 8);
        // Zero padding is promised to read as zero: it cannot be filled.
        assert_eq!(violated("[B = 16]", "[B = 8 # 16 {0}]"), 8);
        assert_eq!(violated("[B = 8 # 16]", "[B = 16]"), 8);
        assert_eq!(violated("[A]", "[A # 16]"), 8);
        assert_eq!(violated("[B, A]", "[A, B]"), 1);
        assert!(matches!(refine("[A / 3]", "[A]"), Refinement::Unknown { .. }));
    }

    #[test]
    fn views_are_held_where_they_stand() {
        let table = axes();
        let (a, b) = (table.id("A").unwrap(), table.id("B").unwrap());
        let missing = |part: &str, shift: &[(crate::expr::axes::AxisId, u64)], whole: &str, start: u64| {
            let (part, whole) = (Expr::parse(part).unwrap(), Expr::parse(whole).unwrap());
            first_missing(&part, &Index::from_iter(shift.iter().copied()), &whole, start, &table)
        };
        // Book 03: the tile [A, B = 2 # 4] of [A, B], here with B of 512.
        assert_eq!(missing("[A, B = 2 # 512]", &[(b, 2)], "[A, B]", 2), Ok(None));
        assert_eq!(missing("[A, B = 2 # 512]", &[(b, 1)], "[A, B]", 2), Ok(Some(0)));
        assert_eq!(missing("[A, B = 2 # 256]", &[(b, 2)], "[A, B]", 2), Ok(Some(256)));
        assert_eq!(missing("[A, B = 2 # 512]", &[(b, 511)], "[A, B]", 511), Ok(Some(1)));
        assert_eq!(missing("[A = 2, B]", &[(a, 6)], "[A, B]", 6 * 512), Ok(None));
        assert_eq!(missing("[A = 2, B]", &[(a, 7)], "[A, B]", 7 * 512), Ok(Some(512)));
        assert_eq!(missing("[A @ 6, B]", &[], "[A, B]", 6 * 512), Ok(None));
        assert_eq!(missing("[A # 16, B]", &[], "[A, B]", 0), Ok(None));
        assert_eq!(missing("[A]", &[], "[A]", 8), Ok(Some(0)));
    }

    #[test]
    fn a_broken_mapping_is_unknown() {
        let unknown = |a, b| matches!(compare(a, b), Equality::Unknown { .. });
        assert!(unknown("[A / 3]", "[A / 3]"));
        assert!(unknown("[A]", "[Q]"));
        assert_eq!(
            compare("[B / 48]", "[B]"),
            Equality::Unknown { why: "`B / 48`: 48 does not divide 512, the size of `B`".to_owned() }
        );
    }

    #[test]
    fn parts_of_any_mapping_make_it_up() {
        // `B = 3 # 4` ends inside a block of two, and blocks of 5 or 10 cut C of 13.
        assert_eq!(compare("[[B = 3 # 4] / 2, [B = 3 # 4] % 2]", "[B = 3 # 4]"), Equality::Equal);
        assert_eq!(compare("[[A, C] / 8, [A, C] % 8]", "[A, C]"), Equality::Equal);
        assert_eq!(compare("[[A, C] / 8, [A, 1, C] / 2 % 4, [A, C / 1] % 2]", "[A, C]"), Equality::Equal);
        assert_eq!(by("[[E, C] / 1048576, [E, C] % 1048576]", "[E, C]"), (true, Tier::Digits));
        // The parts alone hold the same as next to those of another mapping.
        assert_eq!(compare("[[A, C] % 8]", "[C = 8]"), Equality::Equal);
        assert_eq!(witness("[[A, C] / 8, C = 8]", "[A, C]"), "13: padding / A=1");
        assert_eq!(witness("[[A, C] / 8, [A, C # 14] % 8]", "[A, C]"), "13: padding / A=1");
        assert_eq!(witness("[[A, C] / 8, [A, C] % 4]", "[A, C]"), "4: C=8 / C=4");
        assert_eq!(witness("[[A, C] % 8, [A, C] / 8]", "[A, C]"), "1: C=8 / C=1");
    }

    #[test]
    fn parts_that_are_apart_are_compared_at_any_size() {
        assert_eq!(
            by("[[E, C] / 8, B, [E, C] % 8]", "[[E, C] / 8, B, [[E, C] / 4 % 2, [E, C] % 4]]"),
            (true, Tier::Runs)
        );
        let wrong = "[[E, C] / 8, B, [E, C] % 4, [E, C] / 4 % 2]";
        assert_eq!(by("[[E, C] / 8, B, [E, C] % 8]", wrong), (false, Tier::Runs));
        assert_eq!(witness("[[E, C] / 8, B, [E, C] % 8]", wrong), "1: C=1 / C=4");
        assert_eq!(witness("[[E, C] / 8, A, [E, C] % 8]", "[[E, C] / 8, A, C = 8]"), "69: E=1 / padding");
    }
}
