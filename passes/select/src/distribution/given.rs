//! The kernel's constraints on its distributions: the axes of its results and of the loaded tensors, and the required
//! content of slices.

use crate::config::constraints::{names, reduced_within};
use crate::layout::digit_lists::mapping;
use std::collections::{BTreeMap, BTreeSet};
use visa_algebra::{Axes, AxisId, Digit, Digits, Expr, digits};
use visa_ir::module::{OpId, OpRef, ValueId};
use visa_ir::verify::Analysis as _;
use visa_mapping::facts::{Support, mappings, written};
use visa_mapping::ops::transfer::{TO_DM, TO_HBM, is_transfer};
use visa_mapping::view::ViewKind;
use visa_mapping::{Dim, HBM, operand, view};
use visa_stream::ops::{commit_view, fill_view, vector_inter};
use visa_stream::pipeline;

/// Clauses that name axes without specifying the slices' content.
const NAMES: [&str; 3] = ["slice", "over", "axis"];

/// An axis that may be spread.
pub(super) struct Part {
    /// The axis.
    pub(super) axis: AxisId,
    /// Number of its coordinates in the tensors.
    pub(super) reach: u64,
    /// Into how many parts it must be cut, if that is known.
    pub(super) parts: Option<u64>,
    /// The content of slices along it, outermost first, if that is known digit by digit.
    pub(super) written: Vec<Digit>,
}

/// Axes that a view or an overwritten part does not name, though its tensor has them, and the results, `kept`, or it
/// is a part of that tensor: slices hold one coordinate each. Within a slice, such an axis would have only its first
/// coordinate. `brought` are the axes of all loaded tensors.
pub(super) fn left_out(
    ops: &[OpRef<'_>],
    kept: &[(AxisId, u64)],
    brought: &BTreeSet<AxisId>,
    axes: &Axes,
) -> BTreeMap<AxisId, u64> {
    let mut found = BTreeMap::new();
    for op in ops {
        let (kind, overwrites) = (view::kind(*op), op.is(&commit_view::DECL) || op.is(&fill_view::DECL));
        let Some(own) = written(*op, "element").filter(|_| kind.is_some() || overwrites) else { continue };
        let Some(whole) = made(*op) else { continue };
        let own = names(&own, axes);
        let missing = |(axis, _): &(AxisId, u64)| !own.contains(axis);
        let loaded = source(whole, axes).filter(|_| whole.is(&TO_DM));
        match loaded.and_then(|loaded| digits(&loaded, axes).ok()) {
            Some(loaded) => {
                let all = loaded.axes().into_keys().map(|axis| (axis, reach(&loaded, axis)));
                let is_kept = |axis: AxisId| kept.iter().any(|(own, _)| *own == axis);
                let all = all.filter(|(axis, _)| kind == Some(ViewKind::Slice) || is_kept(*axis));
                found.extend(all.filter(missing));
            }
            // A computed tensor has the loaded axes that the results have.
            None if pipeline::ends(whole) => {
                let all = kept.iter().copied().filter(|(axis, _)| brought.contains(axis));
                found.extend(all.filter(missing));
            }
            None => {}
        }
    }
    found
}

/// Axes that are reduced within slices and that results have, with the slices' content along them. If results have a
/// part, it is that: each slice reduces the rest. If they have all, it is empty: each slice reduces all of it.
pub(super) fn held_of_reduced(
    ops: &[OpRef<'_>],
    results: &[Expr],
    axes: &Axes,
) -> BTreeMap<AxisId, Vec<Digit>> {
    let reduced = reduced_within(ops, axes);
    let mut found: BTreeMap<AxisId, Vec<Digit>> = BTreeMap::new();
    for result in results.iter().filter_map(|result| digits(result, axes).ok()) {
        for digit in result.iter().rev() {
            if let Some(axis) = digit.axis.filter(|axis| reduced.contains(axis)) {
                let own = found.entry(axis).or_default();
                let digit = Digit { extent: digit.live, ..*digit };
                own.extend((!own.contains(&digit)).then_some(digit));
            }
        }
    }
    for (axis, own) in &mut found {
        if own.iter().map(|digit| digit.live).product::<u64>() >= axes.size(*axis) {
            own.clear();
        }
    }
    found
}

/// The operation that makes the first operand of an operation, through views.
fn made(op: OpRef<'_>) -> Option<OpRef<'_>> {
    op.operands().first().and_then(|&operand| view::origin(op, operand))
}

/// The number of parts that axes of results are cut into, where the layouts of both the commit and the store are
/// written.
pub(super) fn cuts(ops: &[OpRef<'_>], axes: &Axes) -> BTreeMap<AxisId, u64> {
    let mut found = BTreeMap::new();
    for store in ops.iter().filter(|op| op.is(&TO_HBM)) {
        let commit = made(*store).filter(|op| pipeline::ends(*op));
        let layout = |op: OpRef<'_>| digits(&*written(op, "element")?, axes).ok();
        let Some((own, whole)) = commit.and_then(layout).zip(layout(*store)) else { continue };
        let named: BTreeSet<AxisId> = whole.iter().filter_map(|digit| digit.axis).collect();
        // The overwritten elements may be a part of those that a slice holds.
        let overwrites = commit.is_some_and(|op| op.is(&commit_view::DECL));
        let part: BTreeSet<AxisId> =
            own.offset().iter().filter(|_| overwrites).map(|offset| offset.axis).collect();
        for axis in named.difference(&part) {
            let (all, held) = (reach(&whole, *axis), reach(&own, *axis));
            if held >= all || all.is_multiple_of(held) {
                found.insert(*axis, (all / held).max(1));
            }
        }
    }
    found
}

/// Axes that each slice holds whole: an explicit clause names all of it, a part that does not start at the first, or,
/// if it is a view's or names an overwritten part, any part. In several slices that would be several parts.
pub(super) fn whole(ops: &[OpRef<'_>], axes: &Axes) -> BTreeSet<AxisId> {
    let mut found = BTreeSet::new();
    for op in ops.iter().filter(|op| !is_transfer(**op)) {
        let views = view::kind(*op).is_some();
        // A view of a tensor in HBM is in no slice.
        if views && made(*op).is_none_or(|op| !op.is(&TO_DM) && !pipeline::contains(op)) {
            continue;
        }
        let any = views || op.is(&commit_view::DECL) || op.is(&fill_view::DECL);
        let named = mappings(*op).filter(|(clause, _)| !NAMES.contains(&&*clause.name));
        let maps = named.map(|(_, map)| map);
        for map in maps.filter_map(|map| digits(&map, axes).ok()) {
            found.extend(map.offset().iter().map(|offset| offset.axis));
            let all = |axis: &AxisId| reach(&map, *axis) >= axes.size(*axis);
            found.extend(map.iter().filter_map(|digit| digit.axis).filter(|axis| any || all(axis)));
        }
    }
    found
}

/// Number of coordinates of an axis that digits reach.
pub(super) fn reach(map: &Digits, axis: AxisId) -> u64 {
    let own = map.iter().filter(|digit| digit.axis == Some(axis));
    own.map(|digit| digit.stride.saturating_mul(digit.live)).max().unwrap_or(1)
}

/// Number of elements of a layout, without padding; 0 if it has no digits.
pub(super) fn elements(layout: &Expr, axes: &Axes) -> u64 {
    digits(layout, axes)
        .map_or(0, |layout| layout.iter().map(|digit| digit.live).fold(1, u64::saturating_mul))
}

/// The layout of an operation's source on a chip: in HBM its element mapping, with the parts from other chips; in
/// other memories also those of clusters and of slices or PEs, without copies.
pub(super) fn source(load: OpRef<'_>, axes: &Axes) -> Option<Expr> {
    let tensor = operand(load, 0)?;
    if tensor.is(&HBM) {
        let (chip, element) = (tensor.dim(Dim::Chip), tensor.dim(Dim::Element));
        // Elements that come from other chips are in the slices next to those that are there.
        let comes = written(load, "chip").is_some_and(|to| names(&to, axes).is_disjoint(&names(&chip, axes)));
        return Some(if comes { Expr::pair([chip, element]) } else { element });
    }
    let dims = tensor.kind.dims.iter().filter(|&&dim| dim != Dim::Chip);
    let whole = Expr::pair(dims.map(|&dim| tensor.dim(dim)));
    let value = *load.operands().first()?;
    let support = Support::build(load.ctx, load.module);
    let is_copied = |digit: &&Digit| digit.axis.is_some_and(|axis| !support.depends(value, axes.name(axis)));
    let found = digits(&whole, axes).ok().filter(|found| found.offset().is_empty());
    let Some(found) = found.filter(|found| found.iter().any(|digit| is_copied(&digit))) else {
        return Some(whole);
    };
    mapping(found.iter().rev().filter(|digit| !is_copied(digit)), axes)
}

/// The axes of some layouts, outermost first, and how many coordinates of each they hold.
pub(super) fn reaches(layouts: impl Iterator<Item = Expr>, axes: &Axes) -> Vec<(AxisId, u64)> {
    let mut found: Vec<(AxisId, u64)> = Vec::new();
    for layout in layouts.filter_map(|layout| digits(&layout, axes).ok()) {
        for digit in layout.iter().rev() {
            let Some(axis) = digit.axis else { continue };
            let reach = digit.stride.saturating_mul(digit.live).min(axes.size(axis));
            match found.iter_mut().find(|(own, _)| *own == axis) {
                Some((_, most)) => *most = reach.max(*most),
                None => found.push((axis, reach)),
            }
        }
    }
    found
}

/// Axes that reductions between slices reduce: those that they name, or else those that are loaded and that no
/// result has.
pub(super) fn reduced(
    ops: &[OpRef<'_>],
    kept: &[(AxisId, u64)],
    loaded: &[(AxisId, u64)],
    axes: &Axes,
) -> Vec<Part> {
    let reductions: Vec<_> = ops.iter().filter(|op| op.is(&vector_inter::DECL)).collect();
    let named: BTreeSet<AxisId> =
        reductions.iter().filter_map(|op| vector_inter::over(**op, axes)).flatten().collect();
    let unnamed = reductions.iter().any(|op| vector_inter::over(**op, axes).is_none());
    let gone = |axis: &AxisId| kept.iter().all(|(own, _)| own != axis);
    let own = loaded.iter().filter(|(axis, _)| named.contains(axis) || unnamed && gone(axis));
    let part = |&(axis, reach): &(AxisId, u64)| {
        let parts = named.contains(&axis).then_some(reach);
        Part { axis, reach, parts, written: Vec::new() }
    };
    own.map(part).collect()
}

/// The loads that a stream meets after an operation that specifies the slices, with that mapping.
pub(super) fn met(ops: &[OpRef<'_>]) -> BTreeMap<OpId, Expr> {
    let mut found = BTreeMap::new();
    let mut after: BTreeMap<ValueId, Expr> = BTreeMap::new();
    for op in ops.iter().filter(|op| pipeline::contains(**op)) {
        let own = written(*op, "slice").map(|slice| (*slice).clone());
        let first = op.operands().first().and_then(|stream| after.get(stream).cloned());
        let Some(slice) = own.or(first) else { continue };
        // The earlier state of the stream itself is no tensor that it meets.
        for &met in op.operands().iter().skip(1).filter(|met| !after.contains_key(met)) {
            found.extend(loaded(*op, met).map(|load| (load, slice.clone())));
        }
        if !pipeline::ends(*op) {
            after.extend(op.results().iter().map(|&value| (value, slice.clone())));
        }
    }
    found
}

/// The load of a tensor that is in data memory or in a register file.
fn loaded(op: OpRef<'_>, mut value: ValueId) -> Option<OpId> {
    loop {
        let made = op.module.def_op(value).map(|id| op.other(id))?;
        if made.is(&TO_DM) {
            return Some(made.id);
        }
        value = *made.operands().first()?;
    }
}
