//! The ends of a pipeline: the layout of its result (book 09, 18, 20).

use crate::layout::digit_lists::mapping;
use crate::rules::rule::{Proposal, Rule, Site, Value};
use visa_algebra::{Digit, Expr, PadKind};
use visa_mapping::Dim;
use visa_stream::ops;

/// The rules of this file.
pub(crate) static RULES: &[&Rule] = &[&IN_ORDER, &IN_LAYOUT, &TAIL, &ROWS, &FILE];

/// Data memory takes the stream as it comes.
pub(super) static IN_ORDER: Rule = Rule {
    name: "in-order",
    equation: "commit of [T], [P] may have the layout [T, P] without its padding",
    op: &ops::commit::DECL,
    propose: |site| layout(site, &live(site, &site.stream())),
};

/// Data memory holds the axes in the order in which they are wanted next: all of them, or those in time around the
/// packet as it is.
pub(super) static IN_LAYOUT: Rule = Rule {
    name: "in-layout",
    equation: "commit of [T], [P] may have any layout of the same elements: that of the tensor made of it",
    op: &ops::commit::DECL,
    propose: |site| {
        let Some(wanted) = site.task.constraints.layout.as_ref().and_then(|layout| site.digits(layout))
        else {
            return Vec::new();
        };
        let place = |digit: &Digit| wanted.iter().rev().position(|own| own.axis == digit.axis);
        let sorted = |map: &Expr| {
            let mut digits = live(site, map);
            digits.sort_by_key(|digit| (place(digit), std::cmp::Reverse(digit.stride)));
            digits
        };
        let around = [sorted(&site.dim(Dim::Time)), live(site, &site.dim(Dim::Packet))].concat();
        [sorted(&site.stream()), around].iter().flat_map(|digits| layout(site, digits)).collect()
    },
};

/// The part of each flit that a commit keeps may reach beyond its elements: writes get larger, and so does the tensor
/// (book 33, example 3).
pub(super) static TAIL: Rule = Rule {
    name: "tail",
    equation: "commit of [T], [P] may have the layout [T, P # n] up to a flit",
    op: &ops::commit::DECL,
    propose: tail,
};

/// The register file takes the stream as it comes, the outermost part of it in rows.
pub(super) static ROWS: Rule = Rule {
    name: "rows",
    equation: "to_trf of [T], [P] is row [T, P] / n, element [T, P] % n for 1, 2, 4 or 8 rows",
    op: &ops::store::TO_TRF,
    propose: rows,
};

/// The vector register file takes the stream as it comes.
pub(super) static FILE: Rule = Rule {
    name: "file",
    equation: "to_vrf of [T], [P] is [T, P]",
    op: &ops::store::TO_VRF,
    propose: |site| vec![vec![("element", Value::Map(site.tidy(site.stream())))]],
};

/// The live part of every digit of a mapping, major to minor.
fn live(site: &Site<'_>, map: &Expr) -> Vec<Digit> {
    let digits = site.digits(map);
    let own = digits.iter().flat_map(|digits| digits.iter().rev().copied());
    own.filter(|digit| digit.axis.is_some()).map(|digit| Digit { extent: digit.live, ..digit }).collect()
}

/// The layout of these digits, major to minor; none if the result lacks one of their axes, which then was to be
/// summed.
fn layout(site: &Site<'_>, digits: &[Digit]) -> Vec<Proposal> {
    if digits.iter().any(|digit| digit.axis.is_some_and(|axis| site.task.computation.sums_over(axis))) {
        return Vec::new();
    }
    mapping(digits, site.axes).map(|layout| vec![vec![("element", Value::Map(layout))]]).unwrap_or_default()
}

fn tail(site: &Site<'_>) -> Vec<Proposal> {
    let Some(packet) = site.digits(&site.dim(Dim::Packet)) else { return Vec::new() };
    let inner: u64 = packet.iter().filter(|digit| digit.axis.is_some()).map(|digit| digit.live).product();
    let all = live(site, &site.stream());
    if all.iter().any(|digit| digit.axis.is_some_and(|axis| site.task.computation.sums_over(axis))) {
        return Vec::new();
    }
    let Some(whole) = mapping(&all, site.axes) else { return Vec::new() };
    let sizes = site.machine.limits.commit_sizes.iter().map(|&bytes| site.source.dtype.elements(bytes));
    let padded = sizes.filter(|&elements| elements > inner).map(|elements| {
        let (outer, packet) = (whole.clone().stride(inner), whole.clone().modulo(inner));
        Expr::pair([outer, packet.pad(elements, PadKind::Top)])
    });
    padded.map(|layout| vec![("element", Value::Map(site.tidy(layout)))]).collect()
}

fn rows(site: &Site<'_>) -> Vec<Proposal> {
    let all = site.stream();
    let Ok(size) = all.size(site.axes) else { return Vec::new() };
    let counts = site.machine.limits.row_counts.iter().filter(|&&rows| size.is_multiple_of(rows));
    let proposals = counts.map(|rows| {
        let (row, element) = (all.clone().stride(size / rows), all.clone().modulo(size / rows));
        vec![("row", Value::Map(site.tidy(row))), ("element", Value::Map(site.tidy(element)))]
    });
    proposals.collect()
}
