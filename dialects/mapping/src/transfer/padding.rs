//! Padding that a transfer to HBM moves along, so that it writes whole units (book 11): the clause `padded`.

use crate::tensor::Tensor;
use std::collections::BTreeMap;
use std::sync::Arc;
use visa_algebra::{Axes, Expr, PadKind, Side};

/// The sizes to which an axis is padded, one an occurrence; `None` where it occurs without padding after it.
type Occurrences = BTreeMap<Arc<str>, Vec<Option<u64>>>;

/// The axes of a transfer that moves padding: each axis that `to` has as `A # n` alone, and `from` as `A # m` with m
/// of at least n, has n positions. `None` if there is no such axis.
///
/// Plain padding holds any value, so that the values of the source's padding may be written there (book 03).
#[must_use]
pub fn padded_axes(from: &Tensor, to: &Tensor, axes: &Axes) -> Option<Axes> {
    let (held, written) = (occurrences(from, axes), occurrences(to, axes));
    let skewed = |name: &str| {
        let id = axes.id(name);
        axes.iter()
            .filter_map(|(axis, ..)| Some((axis, axes.skew(axis)?)))
            .any(|(axis, skew)| [Some(axis), Some(skew.of), Some(skew.by)].contains(&id))
    };
    let sizes = written.iter().filter_map(|(name, all)| {
        let size = (*all.first()?)?;
        let same = all.iter().all(|own| *own == Some(size));
        let holds = held.get(name)?.iter().all(|own| own.is_some_and(|own| own >= size));
        (same && holds && !skewed(name)).then_some((&**name, size))
    });
    let sizes: Vec<(&str, u64)> = sizes.collect();
    (!sizes.is_empty()).then(|| axes.resized(&sizes))
}

/// The axes of a tensor and their padding.
fn occurrences(tensor: &Tensor, axes: &Axes) -> Occurrences {
    let mut all = Occurrences::new();
    for map in &tensor.maps {
        match map.expanded(axes) {
            Ok(map) => collect(&map, &mut all),
            // An undefined alias mentions no axis; the verifier refuses it.
            Err(_) => return Occurrences::new(),
        }
    }
    all
}

fn collect(map: &Expr, all: &mut Occurrences) {
    if let Expr::Axis(name) = map {
        all.entry(Arc::clone(name)).or_default().push(None);
    } else if let Expr::Pad { inner, size, kind: PadKind::Top, side: Side::High } = map
        && let Expr::Axis(name) = &**inner
    {
        all.entry(Arc::clone(name)).or_default().push(Some(*size));
    } else {
        map.children().into_iter().for_each(|child| collect(child, all));
    }
}
