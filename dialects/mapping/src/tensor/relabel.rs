//! The parts that a `tm.relabel` changes: positions that get other indices.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::tensor::{Dim, Tensor};
use visa_algebra::{Axes, Expr, MapError, Refinement, refines};

type Names = BTreeSet<Arc<str>>;

/// A part of a dimension, without the terms around it that stay.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    /// The dimension.
    pub(crate) dim: Dim,
    /// The old expression.
    pub(crate) old: Expr,
    /// The new expression.
    pub(crate) new: Expr,
}

/// Parts that get other indices together: an axis of one, before or after, is in no other relabelling.
#[derive(Clone, Debug)]
pub(crate) struct Relabelling(pub(crate) Vec<Part>);

impl Relabelling {
    /// The old expressions of all parts together.
    pub(crate) fn held(&self) -> Expr {
        together(self.0.iter().map(|part| &part.old))
    }

    /// The axes of the old expressions.
    pub(crate) fn old_axes(&self, axes: &Axes) -> Names {
        names(&[&self.held()], axes)
    }

    /// The axes of the new expressions.
    pub(crate) fn new_axes(&self, axes: &Axes) -> Names {
        names(&[&self.holds()], axes)
    }

    /// Returns true if a new index may be at a position that was padding.
    pub(crate) fn reaches_padding(&self, axes: &Axes) -> bool {
        let anything = |map: Expr| map.expanded(axes).and_then(|map| without_axes(&map, axes));
        match (anything(self.held()), anything(self.holds())) {
            (Ok(old), Ok(new)) => refines(&old, &new, axes) != Refinement::Refines,
            (Err(_), _) | (_, Err(_)) => true,
        }
    }

    /// The new expressions of all parts together.
    pub(crate) fn holds(&self) -> Expr {
        together(self.0.iter().map(|part| &part.new))
    }
}

/// The same positions, of which all that hold an element hold the same.
fn without_axes(map: &Expr, axes: &Axes) -> Result<Expr, MapError> {
    match map {
        Expr::Axis(name) => Ok(Expr::Literal(axes.size(axes.resolve(name)?))),
        _ => map.map_children(|child| without_axes(child, axes)),
    }
}

/// One mapping, or the pair of several.
fn together<'a>(maps: impl Iterator<Item = &'a Expr>) -> Expr {
    let mut maps: Vec<Expr> = maps.cloned().collect();
    if maps.len() == 1 { maps.remove(0) } else { Expr::Pair(maps) }
}

/// The parts of a tensor's positions that get other indices, in the same dimensions.
pub(crate) fn relabellings(old: &Tensor, new: &Tensor, axes: &Axes) -> Vec<Relabelling> {
    let dims = old.kind.dims.iter().zip(old.maps.iter().zip(&new.maps));
    let mut groups: Vec<(Names, Relabelling)> = Vec::new();
    for (&dim, (held, holds)) in dims {
        let mut part = Part { dim, old: held.clone(), new: holds.clone() };
        trim(&mut part, axes);
        let mut names = names(&[&part.old, &part.new], axes);
        let mut parts = vec![part];
        let meets = |(own, _): &(Names, Relabelling)| !own.is_disjoint(&names);
        let (linked, apart): (Vec<_>, Vec<_>) = groups.into_iter().partition(meets);
        groups = apart;
        for (own, Relabelling(others)) in linked {
            names.extend(own);
            parts.extend(others);
        }
        parts.sort_by_key(|part| old.kind.dims.iter().position(|dim| *dim == part.dim));
        groups.push((names, Relabelling(parts)));
    }
    let changed = |own: &Relabelling| own.0.iter().any(|part| part.old != part.new);
    groups.into_iter().map(|(_, own)| own).filter(changed).collect()
}

/// Leaves out the unchanged terms at both ends, if the terms between have none of their axes.
fn trim(part: &mut Part, axes: &Axes) {
    let terms = |map: &Expr| if let Expr::Pair(terms) = map { terms.clone() } else { vec![map.clone()] };
    let (mut old, mut new, mut kept) = (terms(&part.old), terms(&part.new), Vec::new());
    while old.len() > 1 && new.len() > 1 && old.last() == new.last() {
        kept.extend(old.pop());
        new.pop();
    }
    while old.len() > 1 && new.len() > 1 && old.first() == new.first() {
        kept.push(old.remove(0));
        new.remove(0);
    }
    let (old, new) = (together(old.iter()), together(new.iter()));
    let kept: Vec<&Expr> = kept.iter().collect();
    if old != new && names(&kept, axes).is_disjoint(&names(&[&old, &new], axes)) {
        *part = Part { dim: part.dim, old, new };
    }
}

fn names(maps: &[&Expr], axes: &Axes) -> Names {
    maps.iter().flat_map(|map| map.axis_names(axes)).collect()
}
