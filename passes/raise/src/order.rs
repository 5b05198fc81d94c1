//! The order of a sum, and sums without their order.

use visa_algebra::{Axes, Cell, Expr, Index, Map};
use visa_mapping::raise::order::order_expr;

/// The indices that the positions of a mapping hold; `None` for padding.
pub(crate) fn positions(over: &Expr, axes: &Axes) -> Option<Vec<Option<Index>>> {
    let map = Map::new(over, axes).ok()?;
    let live = |at: u64| match map.cell(at) {
        Some(Cell::Live(index)) => Some(index),
        Some(Cell::Shared(_) | Cell::Pad(_)) | None => None,
    };
    Some((0..map.size()).map(live).collect())
}

/// A mapping that holds the same indices as another, each as often, in the order of their coordinates: the same text
/// for all orders of one sum. Padding adds an identity however often: one position of it stays if `padding` counts.
pub(crate) fn without_order(over: &Expr, axes: &Axes, padding: bool) -> Option<Expr> {
    let all = positions(over, axes)?;
    let mut names = over.axis_names(axes);
    names.sort();
    names.dedup();
    let ids: Vec<_> = names.iter().filter_map(|name| axes.id(name)).collect();
    let pads = padding && all.contains(&None);
    let mut live: Vec<Index> = all.into_iter().flatten().collect();
    live.sort_by_key(|index| ids.iter().map(|&axis| index.get(axis)).collect::<Vec<u64>>());
    let order: Vec<Option<Index>> = live.into_iter().map(Some).chain(pads.then_some(None)).collect();
    Some(order_expr(&order, axes))
}

/// A mapping without the groups of `tree` positions at its end that hold nothing.
pub(crate) fn without_last_padding(over: &Expr, tree: usize, axes: &Axes) -> Option<Expr> {
    let mut all = positions(over, axes)?;
    while all.len() > tree && all.iter().rev().take(tree).all(Option::is_none) {
        all.truncate(all.len() - tree);
    }
    Some(order_expr(&all, axes))
}
