//! Gathered terms of a mapping (`E @ (o, p, ...)`, book 03): which coordinates their entries add along their axis.

use visa_algebra::{Axes, AxisId, Cell, Expr, Map, digits};

/// A gathered term: the coordinates that it adds to the others of an axis.
pub(crate) struct Gathered {
    pub(crate) axis: AxisId,
    pub(crate) adds: Vec<u64>,
}

/// Takes the gathered terms out of a mapping: the rest holds the same coordinates without their contribution.
///
/// # Errors
/// If a gathered term moves along several axes: then the indices that it holds are no product.
pub(crate) fn split(map: &Expr, axes: &Axes) -> Result<(Expr, Vec<Gathered>), String> {
    let mut gathered = Vec::new();
    let rest = strip(map, axes, &mut gathered)?;
    Ok((rest, gathered))
}

fn strip(map: &Expr, axes: &Axes, gathered: &mut Vec<Gathered>) -> Result<Expr, String> {
    match map {
        Expr::Alias(name) => strip(axes.alias(name).map_err(|error| error.message)?, axes, gathered),
        Expr::Pair(_) | Expr::Outer(_) | Expr::Slide(_) => {
            map.map_children(|term| strip(term, axes, gathered))
        }
        Expr::Gather { .. }
        | Expr::Pad { .. }
        | Expr::Resize { .. }
        | Expr::Stride { .. }
        | Expr::Modulo { .. }
        | Expr::Slice { .. }
            if gathers(map) && digits(map, axes).is_err() =>
        {
            let size = map.size(axes).map_err(|error| error.message)?;
            gathered.extend(added(map, axes)?);
            Ok(Expr::Literal(1).pad(size, visa_algebra::PadKind::Top))
        }
        Expr::Axis(_)
        | Expr::Literal(_)
        | Expr::Gather { .. }
        | Expr::Pad { .. }
        | Expr::Resize { .. }
        | Expr::Stride { .. }
        | Expr::Modulo { .. }
        | Expr::Slice { .. } => Ok(map.clone()),
    }
}

fn gathers(map: &Expr) -> bool {
    matches!(map, Expr::Gather { .. }) || map.children().into_iter().any(gathers)
}

/// The contribution of the positions of a term; `None` if they all hold the empty index.
fn added(term: &Expr, axes: &Axes) -> Result<Option<Gathered>, String> {
    let map = Map::new(term, axes).map_err(|error| error.message)?;
    let mut axis = None;
    let mut adds = Vec::new();
    for at in 0..map.size() {
        let Some(Cell::Live(index)) = map.cell(at) else { continue };
        let mut steps = index.iter();
        let (first, second) = (steps.next(), steps.next());
        if let Some((moved, _)) = first {
            let along = *axis.get_or_insert(moved);
            if second.is_some() || along != moved {
                return Err(
                    "a table that picks along several axes is more than the evaluator follows".to_owned()
                );
            }
        }
        adds.push(first.map_or(0, |(_, coordinate)| coordinate));
    }
    adds.sort_unstable();
    adds.dedup();
    Ok(axis.map(|axis| Gathered { axis, adds }))
}
