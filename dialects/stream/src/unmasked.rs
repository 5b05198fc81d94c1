//! Unmasked padding that a contraction sums (books 08, 15).
//!
//! A sum takes in every element of a packet, and the padding of data memory has no defined content. A fetch type with
//! `{0}` requires zero there, and the Fetch Adapter masks it.

use crate::ops::contract::{ACCUMULATE_DECL, ALIGN_DECL, CONTRACT_DECL};
use crate::ops::fetch::DECL as FETCH_DECL;
use crate::ops::fill_padding::fetch_of;
use crate::plan::tree_depth;
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;
use visa_algebra::{Axes, Expr, PadKind, digits};
use visa_ir::diag::Diagnostic;
use visa_ir::module::OpRef;
use visa_mapping::{Dim, Tensor, operand};

/// Don't-care padding of a fetch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unmasked {
    /// The axis that is padded, the first where several are; none where a single element is, as in `1 # 4`.
    pub axis: Option<Arc<str>>,
    /// The padding as it is there.
    pub padding: Expr,
    /// The clauses that name it, with zeros in its place.
    pub masked: Vec<(Dim, Expr)>,
}

impl Unmasked {
    /// The corrected text.
    #[must_use]
    pub fn fix(&self) -> String {
        let clauses: Vec<_> =
            self.masked.iter().map(|(dim, map)| format!("`{} {map}`", dim.name())).collect();
        format!("mask it at the fetch: {}", clauses.join(", "))
    }
}

impl fmt::Display for Unmasked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.axis {
            Some(axis) => write!(f, "padding of axis `{axis}`"),
            None => write!(f, "padding"),
        }
    }
}

/// The don't-care padding that a `stream.fetch` asks for, of each axis that is padded, and of single elements.
#[must_use]
pub fn of_fetch(fetch: OpRef<'_>, axes: &Axes) -> Vec<Unmasked> {
    let Some(stream) = fetch.result_type::<Tensor>(0).filter(|_| fetch.is(&FETCH_DECL)) else {
        return Vec::new();
    };
    let clauses = [Dim::Time, Dim::Packet].map(|dim| (dim, stream.dim(dim).expanded(axes)));
    let clauses: Vec<(Dim, Expr)> =
        clauses.into_iter().filter_map(|(dim, map)| Some((dim, map.ok()?))).collect();
    let mut found: Vec<Unmasked> = Vec::new();
    for padding in clauses.iter().flat_map(|(_, map)| paddings(map, PadKind::Top, axes)) {
        let axis = padding.axis_names(axes).into_iter().next();
        if found.iter().any(|found| found.padding == padding) {
            continue;
        }
        let masked = clauses.iter().map(|(dim, map)| (*dim, masking(map, &padding)));
        let masked =
            masked.zip(&clauses).filter(|(masked, clause)| masked != *clause).map(|(masked, _)| masked);
        found.push(Unmasked { axis, masked: masked.collect(), padding });
    }
    found
}

/// The terms of a mapping that are padded with that kind; a term that fills its size is not.
fn paddings(map: &Expr, wanted: PadKind, axes: &Axes) -> Vec<Expr> {
    let is_padded = matches!(map, Expr::Pad { inner, size, kind, .. }
        if *kind == wanted && inner.size(axes).is_ok_and(|inner| inner < *size));
    let below = map.children().into_iter().flat_map(|child| paddings(child, wanted, axes));
    is_padded.then(|| map.clone()).into_iter().chain(below).collect()
}

/// The mapping with `padding` as zeros.
fn masking(map: &Expr, padding: &Expr) -> Expr {
    if let Expr::Pad { inner, size, side, .. } = map
        && map == padding
    {
        return Expr::Pad { inner: inner.clone(), size: *size, kind: PadKind::Zero, side: *side };
    }
    let children = map.map_children(|child| Ok::<_, std::convert::Infallible>(masking(child, padding)));
    children.unwrap_or_else(|never| match never {})
}

/// A warning for each axis that a `stream.accumulate` has summed away, whose padding was fetched as don't-care,
/// and that the register file does not pad with zeros either: a zero on one side makes the product zero (book 15:
/// `1 + 1#` with `1 + 1z`).
#[must_use]
pub fn warnings(accumulate: OpRef<'_>, axes: &Axes) -> Vec<Diagnostic> {
    let Some(result) = accumulate.result_type::<Tensor>(0).filter(|_| accumulate.is(&ACCUMULATE_DECL)) else {
        return Vec::new();
    };
    let contract = accumulate.operand_def(0).filter(|op| op.is(&CONTRACT_DECL));
    let align = contract.and_then(|op| op.operand_def(0)).filter(|op| op.is(&ALIGN_DECL));
    let (Some(contract), Some(align)) = (contract, align) else { return Vec::new() };
    let Some(fetch) = fetch_of(align) else { return Vec::new() };
    let kept: Vec<_> = result.maps.iter().flat_map(|map| map.axis_names(axes)).collect();
    let zeros = |tensor: Option<Rc<Tensor>>, dim: Dim| {
        let map = tensor.and_then(|tensor| tensor.dim(dim).expanded(axes).ok());
        map.map_or(Vec::new(), |map| paddings(&map, PadKind::Zero, axes))
    };
    let held = zeros(operand(align, 1), Dim::Element);
    // Next to a single element the register file is read again, but for zeros that the packet claims.
    let claimed = zeros(operand(contract, 0), Dim::Packet);
    let summed = of_fetch(fetch, axes).into_iter().filter(|found| {
        let sums = match &found.axis {
            Some(axis) => !kept.contains(axis),
            None => sums_single(contract, &found.padding, &result, axes),
        };
        let zeros = if found.axis.is_some() { &held } else { &claimed };
        sums && !zeros.iter().any(|zeros| are_at(zeros, &found.padding, axes))
    });
    summed.map(|found| warning(contract, fetch, &found)).collect()
}

/// Returns true if zeros are at all positions of the other padding: after the same elements, and as many.
fn are_at(zeros: &Expr, padding: &Expr, axes: &Axes) -> bool {
    let (Expr::Pad { inner: own, size: least, .. }, Expr::Pad { inner, size, .. }) = (padding, zeros) else {
        return false;
    };
    least <= size && matches!((digits(own, axes), digits(inner, axes)), (Ok(own), Ok(inner)) if own == inner)
}

/// Returns true if padding of a single element is summed: by the tree, if a group of it reaches beyond the element, or
/// over time, if the result has no such padding.
fn sums_single(contract: OpRef<'_>, padding: &Expr, result: &Tensor, axes: &Axes) -> bool {
    let (Some(stream), Some(sums)) = (operand(contract, 0), contract.result_type::<Tensor>(0)) else {
        return false;
    };
    let packet = stream.dim(Dim::Packet);
    let depth = stream.dtype.tree_depth();
    let depth = depth.and_then(|most| tree_depth(&packet, &sums.dim(Dim::Packet), most, axes).ok());
    let group = depth.map_or(1, |depth| 1_u64 << depth);
    let left = paddings(&result.dim(Dim::Time), PadKind::Top, axes);
    let in_time = paddings(&stream.dim(Dim::Time), PadKind::Top, axes).contains(padding);
    let leaves_time = in_time && left.iter().all(|left| !left.axis_names(axes).is_empty());
    leaves_time || singles(&packet, axes).is_some_and(|below| below < group)
}

/// Number of positions within the innermost single element that is padded; `None` if there is none.
fn singles(map: &Expr, axes: &Axes) -> Option<u64> {
    let mut below = 1_u64;
    for term in map.terms().iter().rev() {
        if let Expr::Pad { inner, .. } = term
            && inner.axis_names(axes).is_empty()
        {
            return Some(below);
        }
        below = below.checked_mul(term.size(axes).ok()?)?;
    }
    None
}

fn warning(contract: OpRef<'_>, fetch: OpRef<'_>, found: &Unmasked) -> Diagnostic {
    let sum =
        found.axis.as_ref().map_or_else(|| "of each packet".to_owned(), |axis| format!("along `{axis}`"));
    let message = format!(
        "the sum {sum} takes in padding that is don't-care on both sides: `{}` is fetched unmasked",
        found.padding
    );
    let mut warning = Diagnostic::error("lint-M1", contract.span(), message).fix(Some(found.fix()));
    warning.severity = visa_ir::diag::Severity::Warning;
    warning.note("fetched here", Some(fetch.span()))
}
