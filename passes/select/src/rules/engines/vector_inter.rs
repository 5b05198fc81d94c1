//! Reductions between slices: the contents of the slices after them, and the digits that time gives up (book 25).

use crate::layout::digit_lists::mapping;
use crate::rules::rule::{Proposal, Rule, Site, Value};
use std::collections::BTreeSet;
use visa_algebra::{AxisId, Digit, PadKind};
use visa_ir::open::is_open;
use visa_mapping::Dim;
use visa_stream::ops;
use visa_stream::ops::vector_inter;

/// The rules of this file.
pub(crate) static RULES: &[&Rule] = &[&FREED];

/// The slices that are freed take digits that only the result has, a part of time, or nothing.
pub(super) static FREED: Rule = Rule {
    name: "freed",
    equation: "vector_inter_slice_reduce over R of slices [A, R], time [T, C] is [A, 1 # n], [T, C]; [A, X], [T, \
               C]; or [A, C], [T]",
    op: &ops::vector_inter::DECL,
    propose: freed,
};

/// The digits of the result that the stream does not hold anywhere, outermost first.
fn brought(site: &Site<'_>) -> Vec<Digit> {
    let held: BTreeSet<AxisId> = site
        .source
        .kind
        .dims
        .iter()
        .filter_map(|&dim| site.digits(&site.dim(dim)))
        .flat_map(|digits| digits.axes().into_keys())
        .collect();
    let layout = site.task.constraints.layout.as_ref().and_then(|layout| site.digits(layout));
    let digits = layout.iter().flat_map(|layout| layout.iter().rev().copied()).collect::<Vec<_>>();
    digits.into_iter().filter(|digit| digit.axis.is_some_and(|axis| !held.contains(&axis))).collect()
}

fn freed(site: &Site<'_>) -> Vec<Proposal> {
    let (Some(slices), Some(time)) = (site.digits(&site.dim(Dim::Slice)), site.digits(&site.dim(Dim::Time)))
    else {
        return Vec::new();
    };
    let over = vector_inter::over(site.op, site.axes);
    let reduced = |digit: &Digit| {
        digit.axis.is_some_and(|axis| match &over {
            Some(over) => over.contains(&axis),
            None => site.task.computation.between.contains(&axis),
        })
    };
    let slices: Vec<Digit> = slices.iter().rev().copied().collect();
    let time: Vec<Digit> = time.iter().rev().copied().collect();
    let whole_time = [(None, time.clone())];
    let moves = whole_time.into_iter().chain(moves(&time).into_iter().map(|(part, left)| (Some(part), left)));
    // A written stream may repeat the result in every slice: a number there holds nothing that another choice would
    // need.
    let fillers = if is_open(site.written, "slice") { &[false][..] } else { &[false, true] };
    let mut found = Vec::new();
    for (moved, time) in moves {
        let items: Vec<Digit> = brought(site).into_iter().chain(moved).collect();
        for slice in fill(&slices, &items, &reduced, fillers) {
            if let (Some(slice), Some(time)) = (mapping(&slice, site.axes), mapping(&time, site.axes)) {
                found.push(vec![("slice", Value::Map(slice)), ("time", Value::Map(time))]);
            }
        }
    }
    found
}

/// The parts of time that may move into the slices, a whole digit or the outer or inner part of one, each with the
/// remaining time.
fn moves(time: &[Digit]) -> Vec<(Digit, Vec<Digit>)> {
    let mut found = Vec::new();
    for (at, digit) in time.iter().enumerate().filter(|(_, digit)| digit.axis.is_some() && digit.is_full()) {
        for parts in (2..=digit.extent).filter(|parts| parts.is_power_of_two()) {
            if !digit.extent.is_multiple_of(parts) {
                continue;
            }
            let rest = digit.extent / parts;
            let part =
                |extent, stride| Digit { extent, live: extent, stride: digit.stride * stride, ..*digit };
            let mut ways = vec![(part(parts, rest), part(rest, 1))];
            if rest > 1 {
                ways.push((part(parts, 1), part(rest, parts)));
            }
            for (moved, left) in ways {
                let mut time = time.to_vec();
                time[at] = left;
                time.retain(|digit| digit.extent > 1);
                found.push((moved, time));
            }
        }
    }
    found
}

/// Slices with all of `items` instead of the reduced digits, in every order; the remaining positions are its first
/// slice, or copies.
fn fill(
    slices: &[Digit],
    items: &[Digit],
    reduced: &dyn Fn(&Digit) -> bool,
    fillers: &[bool],
) -> Vec<Vec<Digit>> {
    let Some((first, rest)) = slices.split_first() else {
        return if items.is_empty() { vec![Vec::new()] } else { Vec::new() };
    };
    if !reduced(first) {
        let all = fill(rest, items, reduced, fillers);
        return all.into_iter().map(|after| [&[*first], &after[..]].concat()).collect();
    }
    let mut found = Vec::new();
    for (place, left) in places(first.extent, items, fillers) {
        let all = fill(rest, &left, reduced, fillers);
        found.extend(all.into_iter().map(|after| [&place[..], &after[..]].concat()));
    }
    found
}

/// The possible contents of `size` slices: some of `items` in any order, after them or in front of the last one a
/// filler; with the items that are left.
fn places(size: u64, items: &[Digit], fillers: &[bool]) -> Vec<(Vec<Digit>, Vec<Digit>)> {
    if size == 1 {
        return vec![(Vec::new(), items.to_vec())];
    }
    let mut found = Vec::new();
    for (at, item) in items.iter().enumerate().filter(|(_, item)| size.is_multiple_of(item.extent)) {
        let (rest, others) = (size / item.extent, [&items[..at], &items[at + 1..]].concat());
        let after = places(rest, &others, fillers);
        found.extend(after.into_iter().map(|(place, left)| ([&[*item], &place[..]].concat(), left)));
        if rest > 1 {
            found.extend(fillers.iter().map(|&copies| (vec![filler(rest, copies), *item], others.clone())));
        }
    }
    found.extend(fillers.iter().map(|&copies| (vec![filler(size, copies)], items.to_vec())));
    found
}

/// So many slices of which the first holds something, or all hold the same.
fn filler(extent: u64, copies: bool) -> Digit {
    let live = if copies { extent } else { 1 };
    Digit { axis: None, stride: 0, extent, live, kind: PadKind::Top, axis_size: 1 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use visa_algebra::{Axes, Expr, digits};

    /// The texts of the possible contents of four slices for one item.
    fn texts(item: &str) -> Vec<String> {
        let mut axes = Axes::new();
        axes.declare("C", 8).expect("a new axis");
        let map = Expr::axis("C").modulo(if item == "2" { 2 } else { 4 });
        let items: Vec<Digit> = digits(&map, &axes).expect("digits").iter().copied().collect();
        let found = places(4, &items, &[false]).into_iter().filter(|(_, left)| left.is_empty());
        found.map(|(place, _)| mapping(&place, &axes).expect("a mapping").to_string()).collect()
    }

    #[test]
    fn an_item_stands_at_either_end_of_its_place_or_fills_it() {
        // After 1 # 2 it is the first half: of 4 positions 2 are padding.
        assert_eq!(texts("2"), ["[C % 2, 1 # 2]", "[C % 2 # 4]"]);
        assert_eq!(texts("4"), ["[C % 4]"]);
    }

    #[test]
    fn parts_that_move_are_powers_of_two_of_one_digit() {
        let mut axes = Axes::new();
        axes.declare("C", 12).expect("a new axis");
        let time: Vec<Digit> = digits(&Expr::axis("C"), &axes).expect("digits").iter().copied().collect();
        let text = |digits: &[Digit]| mapping(digits, &axes).expect("a mapping").to_string();
        let found: Vec<_> = moves(&time).iter().map(|(part, left)| (text(&[*part]), text(left))).collect();
        let want =
            [("[C / 6]", "[C % 6]"), ("[C % 2]", "[C / 2]"), ("[C / 3]", "[C % 3]"), ("[C % 4]", "[C / 4]")];
        assert_eq!(found, want.map(|(part, left)| (part.to_owned(), left.to_owned())));
    }
}
