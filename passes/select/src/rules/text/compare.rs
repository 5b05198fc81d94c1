//! Comparison of the elements that two configurations of an operation hold. Cells are those of [`Map`], the readable
//! semantics of a mapping, not those of its digits, which rules are applied with.

use crate::rules::rule::{Proposal, Value};
use std::collections::BTreeMap;
use visa_algebra::{Axes, Cell, Expr, Map, PadKind, describe};
use visa_ir::decl::OpDecl;
use visa_ir::diag::counted;
use visa_stream::ops;

/// The compared clauses of an operation's configurations.
pub(super) struct Compared {
    /// The operation.
    pub(super) op: &'static OpDecl,
    /// The clause for the contents of each slice, if the operation changes them.
    spread: Option<&'static str>,
    /// The clauses that together give the contents of a slice, major to minor.
    held: &'static [&'static str],
}

/// The operations whose configurations can be compared by themselves. Sums of others show only at the end of a
/// pipeline.
pub(super) const COMPARED: &[Compared] = &[
    Compared { op: &ops::fetch::DECL, spread: None, held: &["time", "packet"] },
    Compared { op: &ops::switch::DECL, spread: Some("slice"), held: &["time"] },
    Compared { op: &ops::collect::DECL, spread: None, held: &["time", "packet"] },
    Compared { op: &ops::contract::ALIGN_DECL, spread: None, held: &["time", "packet"] },
    Compared { op: &ops::cast::DECL, spread: None, held: &["packet"] },
    Compared { op: &ops::commit::DECL, spread: None, held: &["element"] },
    Compared { op: &ops::store::TO_TRF, spread: None, held: &["row", "element"] },
    Compared { op: &ops::store::TO_VRF, spread: None, held: &["element"] },
];

/// Most positions of a side.
const MAX_POSITIONS: u64 = 4096;

/// The contents of a side.
struct Held {
    /// The contents of each slice, if the operation changes them.
    slices: Vec<Option<Cell>>,
    /// The contents of a slice, position by position.
    cells: Vec<Option<Cell>>,
}

impl Compared {
    /// The difference of the sides; an error where one of them is no mapping, or too long to be written out.
    pub(super) fn difference(
        &self,
        left: &Proposal,
        right: &Proposal,
        axes: &Axes,
    ) -> Result<Option<String>, ()> {
        let (left, right) = (self.held(left, axes)?, self.held(right, axes)?);
        let spread = (0..left.slices.len().max(right.slices.len())).find_map(|slice| {
            let (old, new) = (left.slices.get(slice)?, right.slices.get(slice)?);
            let shown = |cell: &Option<Cell>| describe(cell.as_ref(), axes);
            (old != new).then(|| {
                format!(
                    "slice {slice} holds {} on the left side and {} on the right side",
                    shown(old),
                    shown(new)
                )
            })
        });
        Ok(spread
            .or_else(|| elements(&left.cells, &right.cells, axes))
            .or_else(|| masks(&left.cells, &right.cells)))
    }

    fn held(&self, side: &Proposal, axes: &Axes) -> Result<Held, ()> {
        let map = |name: &str| match side.iter().find(|(own, _)| *own == name) {
            Some((_, Value::Map(map))) => Ok(map.clone()),
            Some((_, Value::Word(_) | Value::Int(_) | Value::Absent)) | None => Err(()),
        };
        let parts = self.held.iter().map(|name| map(name)).collect::<Result<Vec<_>, ()>>()?;
        let slices = self.spread.map(map).transpose()?;
        let slices = slices.map(|slices| cells(&slices, axes)).transpose()?.unwrap_or_default();
        Ok(Held { slices, cells: cells(&Expr::pair(parts), axes)? })
    }
}

fn cells(map: &Expr, axes: &Axes) -> Result<Vec<Option<Cell>>, ()> {
    let map = Map::new(map, axes).map_err(drop)?;
    if map.size() > MAX_POSITIONS {
        return Err(());
    }
    Ok((0..map.size()).map(|at| map.cell(at)).collect())
}

/// The first element that one side holds more often than the other.
fn elements(left: &[Option<Cell>], right: &[Option<Cell>], axes: &Axes) -> Option<String> {
    let mut counts: BTreeMap<&Cell, (u64, u64)> = BTreeMap::new();
    let live = |cells: &'_ [Option<Cell>]| -> Vec<usize> {
        let held = |cell: &Option<Cell>| matches!(cell, Some(Cell::Live(_) | Cell::Shared(_)));
        (0..cells.len()).filter(|&at| held(&cells[at])).collect()
    };
    for at in live(left) {
        left[at].iter().for_each(|cell| counts.entry(cell).or_default().0 += 1);
    }
    for at in live(right) {
        right[at].iter().for_each(|cell| counts.entry(cell).or_default().1 += 1);
    }
    let order = left.iter().chain(right).flatten();
    let (cell, (before, after)) =
        order.filter_map(|cell| counts.get_key_value(cell)).find(|(_, (before, after))| before != after)?;
    let element = describe(Some(cell), axes);
    Some(match (before, after) {
        (_, 0) => format!("{element} is lost: the left side holds it, the right side does not"),
        (0, _) => format!("the right side holds {element}, the left side does not"),
        _ => format!("the left side holds {element} {}, the right side {}", times(*before), times(*after)),
    })
}

fn times(count: u64) -> String {
    if count == 1 { "once".to_owned() } else { counted(count, "time") }
}

/// Difference where an element that is masked on the left side may hold anything on the right side.
fn masks(left: &[Option<Cell>], right: &[Option<Cell>]) -> Option<String> {
    let count = |cells: &[Option<Cell>], kind: PadKind| {
        cells.iter().filter(|cell| matches!(cell, Some(Cell::Pad(own)) if *own == kind)).count()
    };
    let looser = count(right, PadKind::Top) > count(left, PadKind::Top);
    let strict = [PadKind::Zero, PadKind::Bottom].into_iter();
    let mut lost = strict.filter(|kind| looser && count(right, *kind) < count(left, *kind));
    lost.next().map(|kind| {
        let (before, after) = (count(left, kind), count(right, kind));
        format!(
            "{} of the left side are {kind}, {after} of the right side: others may hold anything",
            counted(before, "position")
        )
    })
}
