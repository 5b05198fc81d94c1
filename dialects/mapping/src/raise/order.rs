//! The order of a sum as a mapping: the plainest one whose positions hold given indices.

use crate::raise::sets::coordinates_expr;
use visa_algebra::{Axes, AxisId, Cell, Expr, Index, Map, PadKind, normalize};

/// A mapping whose positions hold these indices, in their order, and padding where there is none: in digits if it has
/// some, otherwise as a table.
#[must_use]
pub fn order_expr(order: &[Option<Index>], axes: &Axes) -> Expr {
    let plain = padded(order, axes).or_else(|| digits(order, axes));
    let plain = plain.map(|expr| normalize(&expr, axes).unwrap_or(expr));
    plain.filter(|expr| holds(expr, order, axes)).unwrap_or_else(|| table(order, axes))
}

/// Returns true if the positions of a mapping hold these indices.
fn holds(expr: &Expr, order: &[Option<Index>], axes: &Axes) -> bool {
    let Ok(map) = Map::new(expr, axes) else { return false };
    let live = |at: usize| match map.cell(at as u64) {
        Some(Cell::Live(index)) => Some(index),
        Some(Cell::Shared(_) | Cell::Pad(_)) | None => None,
    };
    map.size() == order.len() as u64 && order.iter().enumerate().all(|(at, index)| live(at) == *index)
}

/// A whole number of positions with padding after them.
fn padded(order: &[Option<Index>], axes: &Axes) -> Option<Expr> {
    let live = order.iter().take_while(|index| index.is_some()).count();
    if live == order.len() || live == 0 || order[live..].iter().any(Option::is_some) {
        return None;
    }
    let inner = digits(&order[..live], axes).unwrap_or_else(|| table(&order[..live], axes));
    Some(inner.pad(order.len() as u64, PadKind::Top))
}

/// The mapping in digits: each is the longest run of multiples, from the innermost on.
fn digits(order: &[Option<Index>], axes: &Axes) -> Option<Expr> {
    let order: Vec<&Index> = order.iter().map(Option::as_ref).collect::<Option<_>>()?;
    let count = order.len();
    if order.first().is_none_or(|first| first.iter().next().is_some()) {
        return None;
    }
    let (mut terms, mut apart) = (Vec::new(), 1);
    while apart < count {
        let mut steps = order[apart].iter();
        let (step, other) = (steps.next(), steps.next());
        if other.is_some() {
            return None;
        }
        let is_multiple = |times: usize| {
            let mut wanted = Index::new();
            if let Some((axis, step)) = step {
                wanted.add(axis, step.saturating_mul(times as u64));
            }
            order.get(apart * times).is_some_and(|index| **index == wanted)
        };
        let run = (1..).take_while(|&times| is_multiple(times)).count() + 1;
        let extent = (2..=run).rev().find(|extent| count.is_multiple_of(apart * extent))?;
        terms.push(match step {
            None => Expr::Literal(extent as u64),
            Some((axis, step)) => {
                let coordinates: Vec<u64> = (0..extent as u64).map(|at| at * step).collect();
                coordinates_expr(Expr::axis(axes.name(axis)), axes.size(axis), &coordinates)
            }
        });
        apart *= extent;
    }
    terms.reverse();
    Some(Expr::pair(terms))
}

/// The mapping as a table of positions.
fn table(order: &[Option<Index>], axes: &Axes) -> Expr {
    let mut moved: Vec<AxisId> = order.iter().flatten().flat_map(Index::iter).map(|(axis, _)| axis).collect();
    moved.sort_unstable();
    moved.dedup();
    let whole = Expr::pair(moved.iter().map(|&axis| Expr::axis(axes.name(axis))));
    let size = moved.iter().map(|&axis| axes.size(axis)).product::<u64>();
    let position = |index: &Index| moved.iter().fold(0, |at, &axis| at * axes.size(axis) + index.get(axis));
    let entries: Vec<u64> = order.iter().map(|index| index.as_ref().map_or(size, position)).collect();
    let inner = if order.contains(&None) { whole.pad(size + 1, PadKind::Top) } else { whole };
    inner.gather(entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axes() -> Axes {
        let mut axes = Axes::new();
        for (name, size) in [("J", 64), ("N", 100), ("K", 8)] {
            axes.declare(name, size).unwrap();
        }
        axes
    }

    /// The indices that the positions of a mapping hold, and the mapping that is found for them.
    fn found(map: &str) -> String {
        let axes = axes();
        let expr = Expr::parse(map).unwrap();
        let prepared = Map::new(&expr, &axes).unwrap();
        let live = |at| match prepared.cell(at) {
            Some(Cell::Live(index)) => Some(index),
            Some(Cell::Shared(_) | Cell::Pad(_)) | None => None,
        };
        let order: Vec<Option<Index>> = (0..prepared.size()).map(live).collect();
        let found = order_expr(&order, &axes);
        assert!(holds(&found, &order, &axes), "{map}: {found}");
        found.to_string()
    }

    #[test]
    fn orders_are_written_plainly() {
        for (map, plain) in [
            ("[J]", "[J]"),
            ("[J / 16, J % 16]", "[J]"),
            ("[J % 16, J / 16]", "[J % 16, J / 16]"),
            ("[K, J / 8]", "[K, J / 8]"),
            ("[N # 128]", "[N # 128]"),
            ("[N # 128 / 32, N # 128 % 32]", "[N # 128]"),
            ("[4, K]", "[4, K]"),
            ("[1]", "[1]"),
        ] {
            assert_eq!(found(map), plain, "{map}");
        }
    }

    #[test]
    fn others_are_tables() {
        for map in ["[K @ (0, 3, 1, 2)]", "[N # 128 % 32, N # 128 / 32]", "[J @ 5]", "[[K, J] @ (0, 65, 2)]"]
        {
            found(map);
        }
    }
}
