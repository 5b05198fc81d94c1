//! Parts of tensors at offsets, under their own indices: `A @ 4 = 8`. The language's mappings begin at 0, so a part is
//! a tile, whose indices are counted from its first one. The semantics stays the same as long as all tensors of an
//! operation count from the same index.

use crate::body::Body;
use crate::refusals::{Export, refuse, refuse_with_fix};
use crate::values::Step;
use proc_macro2::Literal;
use quote::quote;
use std::collections::{BTreeMap, BTreeSet};
use visa_algebra::{Axes, Expr, PadKind, Side};
use visa_ir::module::OpRef;
use visa_mapping::view::tile::keeping;
use visa_mapping::{Dim, Tensor, ops as tm};
use visa_stream::ops as stream;

/// Consecutive positions of an expression.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Span {
    along: Expr,
    start: u64,
    size: u64,
}

/// A part of a term of a tensor's elements.
struct TermPart {
    /// The position of the term.
    term: usize,
    start: u64,
    size: u64,
    /// The term of the part, with its padding.
    held: Expr,
}

impl Body<'_, '_> {
    /// The tiles of the parts of a tensor's elements whose terms are those of the tensor, some of them shortened.
    pub(crate) fn shortened(
        &mut self,
        op: OpRef<'_>,
        (whole, part): (&Expr, &Expr),
        is_written: bool,
    ) -> Export<Vec<Step>> {
        let axes = self.file.mappings.axes;
        let (before, after) = (whole.terms(), part.terms());
        let refused = || {
            let message =
                format!("`{part}` does not shorten terms of `{whole}`, and the language's tiles do");
            refuse_with_fix(op, message, "use `tm.tile`, whose indices are counted from the tile's first")
        };
        if before.len() != after.len() {
            return Err(refused());
        }
        let mut parts = Vec::new();
        for (term, (whole, own)) in
            before.iter().zip(&after).enumerate().filter(|(_, (whole, own))| whole != own)
        {
            let (start, size) = part_of(whole, own, axes).ok_or_else(refused)?;
            let held = if is_written { keeping(own) } else { (*own).clone() };
            parts.push(TermPart { term, start, size, held });
        }
        self.tiles_of(op, whole, parts)
    }

    /// The tiles of the parts of a tensor's elements that other mappings read.
    pub(crate) fn read_parts(&mut self, op: OpRef<'_>, source: &Tensor, read: &[Expr]) -> Export<Vec<Step>> {
        let axes = self.file.mappings.axes;
        let mut spans = BTreeSet::new();
        read.iter().for_each(|map| spans_of(map, axes, &mut spans));
        let whole = source.dim(Dim::Element);
        let mut parts: Vec<TermPart> = Vec::new();
        for span in spans {
            let at_offset = span.along.clone().slice(span.start).resize(span.size);
            let found = whole
                .terms()
                .into_iter()
                .enumerate()
                .find_map(|(term, own)| Some((term, own.clone(), part_of(own, &at_offset, axes)?)));
            let Some((term, own, (start, size))) = found else {
                let mut dims = source.kind.dims.iter().filter(|dim| **dim != Dim::Element);
                if dims.any(|dim| source.dim(*dim).terms().into_iter().any(|own| same(own, &span, axes))) {
                    continue;
                }
                let message = format!("`{at_offset}` is no part of a term of the elements `{whole}`");
                let fix = "read the part with `tm.tile`";
                return Err(refuse_with_fix(op, message, fix));
            };
            let full = own.size(axes).map_err(|error| refuse(op, error.message))?;
            if start == 0 && unpadded(&own).size(axes).is_ok_and(|all| all == size) {
                continue;
            }
            if parts.iter().any(|known| known.term == term) {
                let message =
                    format!("it reads two parts of `{own}` at once, and a view of the language has one");
                return Err(refuse(op, message));
            }
            // Inner terms keep their distances.
            let is_outermost =
                whole.terms()[..term].iter().all(|own| own.size(axes).is_ok_and(|size| size == 1));
            let held =
                if is_outermost || size == full { at_offset } else { at_offset.pad(full, PadKind::Top) };
            parts.push(TermPart { term, start, size, held });
        }
        parts.sort_by_key(|part| part.term);
        self.tiles_of(op, &whole, parts)
    }

    fn tiles_of(&mut self, op: OpRef<'_>, whole: &Expr, parts: Vec<TermPart>) -> Export<Vec<Step>> {
        let mut terms: Vec<Expr> = whole.terms().into_iter().cloned().collect();
        let mut steps = Vec::new();
        for TermPart { term, start, size, held } in parts {
            let along = self.map(op, unpadded(&terms[term]))?;
            terms[term] = held;
            let held = self.map(op, &Expr::pair(terms.iter().cloned()))?;
            let (size, start) = (Literal::u64_unsuffixed(size), Literal::u64_unsuffixed(start));
            steps.push(Step { call: quote!(.tile::<#along, #size, #held>(#start)), is_unsafe: false });
        }
        Ok(steps)
    }
}

/// Refuses an operation whose tensors count an axis from several indices.
pub(crate) fn counts_alike(op: OpRef<'_>, axes: &Axes) -> Export<()> {
    // These read or write parts, and their exports write tiles.
    let cuts = [
        &tm::view::SLICE,
        &tm::view::TILE,
        &tm::transfer::TO_HBM,
        &tm::transfer::TO_DM,
        &tm::transfer::TO_SPM,
        &stream::fetch::DECL,
        &stream::commit_view::DECL,
    ];
    if cuts.into_iter().any(|decl| op.is(decl)) {
        return Ok(());
    }
    let mut tensors: Vec<Tensor> = Vec::new();
    for &value in op.operands().iter().chain(op.results()) {
        tensors.extend(op.value(value).of_type::<Tensor>().ok().map(|tensor| (*tensor).clone()));
    }
    same_first(op, &tensors, axes)
}

/// Refuses tensors of an operation that count an axis from several indices.
pub(crate) fn same_first(op: OpRef<'_>, tensors: &[Tensor], axes: &Axes) -> Export<()> {
    let mut firsts: BTreeMap<String, u64> = BTreeMap::new();
    for tensor in tensors {
        for (axis, first) in first_indices(op, tensor, axes)? {
            firsts.insert(axis, first);
        }
    }
    for (axis, first) in firsts {
        for tensor in tensors {
            let named = tensor.axis_names(axes).iter().any(|own| **own == *axis);
            let own = first_indices(op, tensor, axes)?.get(&axis).copied();
            if named && own != Some(first) {
                let message = format!(
                    "a part of axis `{axis}` from index {first} on meets a tensor that has `{axis}` from another \
                     index on, and the language's tiles count from 0"
                );
                let fix = "cut the same part out of both tensors, with `tm.tile`, before they are loaded";
                return Err(refuse_with_fix(op, message, fix));
            }
        }
    }
    Ok(())
}

/// Refuses a tensor at the edge of a function that has a part of an axis from an offset on: its indices would change.
pub(crate) fn counts_from_zero(op: OpRef<'_>, tensor: &Tensor, axes: &Axes) -> Export<()> {
    match first_indices(op, tensor, axes)?.into_iter().next() {
        Some((axis, first)) => {
            let message = format!(
                "an argument or a result has a part of axis `{axis}` from index {first} on, and the language's \
                 mappings begin at 0"
            );
            Err(refuse_with_fix(op, message, "give the part an axis of its size, with `tm.reshape`"))
        }
        None => Ok(()),
    }
}

/// The first index of each axis that a tensor has from an offset on.
fn first_indices(op: OpRef<'_>, tensor: &Tensor, axes: &Axes) -> Export<BTreeMap<String, u64>> {
    let mut spans = BTreeSet::new();
    tensor.maps.iter().for_each(|map| spans_of(map, axes, &mut spans));
    let mut firsts = BTreeMap::new();
    for span in spans {
        let Some((axis, unit)) = digit(&span.along) else {
            let along = &span.along;
            return Err(refuse(op, format!("`{along} @ {}` is a part of several axes", span.start)));
        };
        let first = unit.checked_mul(span.start);
        let first = first.ok_or_else(|| refuse(op, format!("a part of `{axis}` begins past 64 bits")))?;
        *firsts.entry(axis.to_owned()).or_insert(0) += first;
    }
    Ok(firsts)
}

/// The first position and the number of positions of a term that a part of it has; `None` if it is no part.
fn part_of(whole: &Expr, own: &Expr, axes: &Axes) -> Option<(u64, u64)> {
    let own = span(own, axes)?;
    if own.along == *unpadded(whole) {
        return Some((own.start, own.size));
    }
    let whole = span(whole, axes)?;
    let is_inside = own.start >= whole.start && own.start + own.size <= whole.start + whole.size;
    (own.along == whole.along && is_inside).then(|| (own.start - whole.start, own.size))
}

/// Returns true if a term has exactly these positions.
fn same(term: &Expr, own: &Span, axes: &Axes) -> bool {
    span(term, axes).is_some_and(|span| span == *own)
}

/// The positions that a term has of its digit; `None` if it has padding before them, or an unknown size.
fn span(term: &Expr, axes: &Axes) -> Option<Span> {
    let sliced = |inner: &Expr| {
        let Expr::Slice { inner, offset } = inner else { return None };
        Some(((**inner).clone(), *offset))
    };
    match term {
        Expr::Pad { inner, side: Side::High, .. } => span(inner, axes),
        Expr::Pad { side: Side::Low, .. } => None,
        Expr::Resize { inner, size } => {
            let (along, start) = sliced(inner).unwrap_or_else(|| ((**inner).clone(), 0));
            Some(Span { along, start, size: *size })
        }
        term => {
            let (along, start) = sliced(term).unwrap_or_else(|| (term.clone(), 0));
            let size = along.size(axes).ok()?.checked_sub(start)?;
            Some(Span { along, start, size })
        }
    }
}

/// The parts at offsets in a mapping.
fn spans_of(map: &Expr, axes: &Axes, found: &mut BTreeSet<Span>) {
    let resized = if let Expr::Resize { inner, .. } = map { inner } else { map };
    let is_part = matches!(resized, Expr::Slice { .. });
    match span(map, axes).filter(|_| is_part) {
        Some(span) => {
            spans_of(&span.along, axes, found);
            found.insert(span);
        }
        None => map.children().into_iter().for_each(|child| spans_of(child, axes, found)),
    }
}

/// The axis of a digit, and the indices of a position of it.
fn digit(along: &Expr) -> Option<(&str, u64)> {
    match along {
        Expr::Axis(name) => Some((name, 1)),
        Expr::Stride { inner, n } => {
            let (axis, unit) = digit(inner)?;
            Some((axis, unit.checked_mul(*n)?))
        }
        Expr::Modulo { inner, .. } | Expr::Resize { inner, .. } => digit(inner),
        Expr::Pad { .. }
        | Expr::Alias(_)
        | Expr::Literal(_)
        | Expr::Pair(_)
        | Expr::Outer(_)
        | Expr::Slide(_)
        | Expr::Slice { .. }
        | Expr::Gather { .. } => None,
    }
}

/// A term without the padding after it.
fn unpadded(term: &Expr) -> &Expr {
    match term {
        Expr::Pad { inner, side: Side::High, .. } => unpadded(inner),
        term => term,
    }
}
