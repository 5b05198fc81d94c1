//! Streams that slide, as convolutions read them: a window in each packet, which the adapter shifts (book 15, 17).

use super::contraction::repeats;
use super::fetch::{self, beyond, format};
use crate::layout::digit_lists::{mapping, orders};
use crate::rules::rule::{Proposal, Rule, Site, Value};
use visa_algebra::{Expr, PadKind};
use visa_mapping::Dim;
use visa_stream::ops;

/// The rules of this file.
pub(crate) static RULES: &[&Rule] = &[&WINDOWS, &SHIFTS, &APART];

/// A window in a packet, and everything else in time, the axes of other windows by themselves.
pub(super) static WINDOWS: Rule = Rule {
    name: "windows",
    equation: "fetch of [A, $(H:s, F:d), $(W:t, G:e)] is [T], [$(W:t, G:e)] where [T] holds A, H and F in any \
               order",
    op: &ops::fetch::DECL,
    propose: windows,
};

/// A packet for each shift, repeated for axes that only the register file has.
pub(super) static SHIFTS: Rule = Rule {
    name: "shifts",
    equation: "align of [T], [$(W:s, F:d)] is [T, F / n, R], [W # m, F % n], R being the register file's own \
               digits in any order",
    op: &ops::contract::ALIGN_DECL,
    propose: shifts,
};

/// Zeros between the elements of a register file, for windows whose elements are apart.
pub(super) static APART: Rule = Rule {
    name: "apart",
    equation: "fetch of [T], [P] for a register file of [E, 1 # n {0}] is [T], [P, 1 # n {0}]",
    op: &ops::fetch::DECL,
    propose: apart,
};

/// Most terms of time whose every order is proposed.
const MOST_TERMS: usize = 5;

/// The strides of everything that slides in a mapping.
pub(crate) fn strides(map: &Expr) -> Vec<u64> {
    map.counting().filter_map(Expr::slide).flatten().map(|(_, stride)| *stride).collect()
}

fn windows(site: &Site<'_>) -> Vec<Proposal> {
    let layout = site.dim(Dim::Packet);
    let all: Vec<&Expr> = layout.counting().collect();
    let mut found = Vec::new();
    for (at, window) in all.iter().enumerate().filter(|(_, term)| term.slide().is_some()) {
        let others = all.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, term)| *term);
        let time: Vec<Expr> = others
            .flat_map(|term| match term.slide() {
                Some(terms) => terms.iter().map(|(coordinate, _)| coordinate.clone()).collect(),
                None => vec![term.clone()],
            })
            .collect();
        let packets = packets(site, window);
        for order in orders(&time, MOST_TERMS) {
            let time = Expr::pair(order);
            found.extend(packets.iter().map(|packet| {
                vec![("time", Value::Map(time.clone())), ("packet", Value::Map(packet.clone()))]
            }));
        }
    }
    found
}

/// A window as it is, and read on up to a flit.
fn packets(site: &Site<'_>, window: &Expr) -> Vec<Expr> {
    let dtype = format(site);
    let Some(bytes) = window.size(site.axes).ok().and_then(|size| dtype.bytes(size)) else {
        return Vec::new();
    };
    let longer = beyond(site, bytes).map(|size| window.clone().pad(dtype.elements(size), PadKind::Top));
    [window.clone()].into_iter().chain(longer).collect()
}

fn shifts(site: &Site<'_>) -> Vec<Proposal> {
    let (time, packet) = (site.dim(Dim::Time), site.dim(Dim::Packet));
    let Some([first, second]) = packet.slide() else { return Vec::new() };
    let time = Expr::pair(time.counting().filter(|term| term.slide().is_none()).cloned());
    let repeats: Vec<Expr> = repeats(site).iter().filter_map(|order| mapping(order, site.axes)).collect();
    let mut found = Vec::new();
    for (kept, (moved, _)) in [(first, second), (second, first)] {
        for (shift, packet) in parts(site, kept, moved) {
            found.extend(repeats.iter().map(|repeat| {
                let time = Expr::pair([time.clone(), shift.clone(), repeat.clone()]);
                site.cut(time, packet.clone())
            }));
        }
    }
    found
}

/// Decompositions of a window: the part that counts the shifts, and the packet of each.
fn parts(site: &Site<'_>, (kept, stride): &(Expr, u64), moved: &Expr) -> Vec<(Expr, Expr)> {
    let width = site.source.dtype.elements(site.machine.limits.mac_width_bytes);
    let (Ok(size), Ok(shifts)) = (kept.size(site.axes), moved.size(site.axes)) else { return Vec::new() };
    let mut found = Vec::new();
    for inner in (1..=shifts).filter(|inner| shifts.is_multiple_of(*inner) && width.is_multiple_of(*inner)) {
        let lanes = width / inner;
        if size > lanes {
            continue;
        }
        let packet = Expr::pair([kept.clone().pad(lanes, PadKind::Top), moved.clone().modulo(inner)]);
        found.push((moved.clone().stride(inner), packet));
    }
    // Where elements are apart, zeros of the register file meet the elements between them.
    if *stride > 1 && width.is_multiple_of(*stride) && size <= width / stride {
        let gap = Expr::Literal(1).pad(*stride, PadKind::Zero);
        found.push((moved.clone(), Expr::pair([kept.clone().pad(width / stride, PadKind::Top), gap])));
    }
    found
}

fn apart(site: &Site<'_>) -> Vec<Proposal> {
    let layout = site.task.constraints.layout.as_ref().and_then(|layout| layout.counting().last());
    let Some(gap) = layout.filter(|term| is_gap(term)) else { return Vec::new() };
    let mut found = (fetch::REGROUP.propose)(site);
    for (name, value) in found.iter_mut().flatten() {
        if let ("packet", Value::Map(packet)) = (*name, &mut *value) {
            let own = std::mem::replace(packet, Expr::Literal(1));
            *packet = Expr::pair([own, gap.clone()]);
        }
    }
    found
}

/// Returns true if a term is `1 # n {0}`.
fn is_gap(term: &Expr) -> bool {
    matches!(term, Expr::Pad { inner, kind: PadKind::Zero, .. } if **inner == Expr::Literal(1))
}
