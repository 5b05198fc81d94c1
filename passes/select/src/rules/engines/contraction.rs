//! The contraction: how flits meet the register file, how deep the tree adds, and how sums come out (book 15 to 19).

use crate::config::constraints::names;
use crate::layout::digit_lists::{mapping, orders};
use crate::rules::rule::{Proposal, Rule, Site, Value};
use std::collections::BTreeSet;
use visa_algebra::{AxisId, Digit, Expr, PadKind, rebuild};
use visa_engine::words::AccumulatorOrder;
use visa_mapping::facts::written;
use visa_mapping::{Dim, operand};
use visa_stream::ops;

/// The rules of this file.
pub(crate) static RULES: &[&Rule] = &[&JOIN, &TREE, &INTERLEAVE, &SEQUENCE];

/// One or two flits a packet (one of the dual context), repeated for axes that only the register file has.
pub(super) static JOIN: Rule = Rule {
    name: "join",
    equation: "align of [T], [P] is [T / n, W], [T % n, P] for n = 1 or 2, W being the register file's own digits \
               in any order",
    op: &ops::contract::ALIGN_DECL,
    propose: join,
};

/// Every depth of the tree that adds only summed elements.
pub(super) static TREE: Rule = Rule {
    name: "tree",
    equation: "contract of [P] is [P / 2^d] where all of P % 2^d is summed",
    op: &ops::contract::CONTRACT_DECL,
    propose: tree,
};

/// A sum of each row a flit.
pub(super) static INTERLEAVE: Rule = Rule {
    name: "interleave",
    equation: "accumulate interleaved of [T], [P] is [T without what is summed, P], [row # 8]",
    op: &ops::contract::ACCUMULATE_DECL,
    propose: |site| {
        let flit = site.dim(Dim::Row).pad(site.machine.limits.vector_lanes, PadKind::Top);
        let time = kept(site).map(|time| Expr::pair([time, site.dim(Dim::Packet)]));
        sums(site, AccumulatorOrder::Interleaved, time, flit)
    },
};

/// Sums of one row a flit.
pub(super) static SEQUENCE: Rule = Rule {
    name: "sequence",
    equation: "accumulate sequential of [T], [P] is [T without what is summed, row, P / 8], [P % 8]",
    op: &ops::contract::ACCUMULATE_DECL,
    propose: |site| {
        let (packet, lanes) = (site.dim(Dim::Packet), site.machine.limits.vector_lanes);
        let Ok(columns) = packet.size(site.axes) else { return Vec::new() };
        let whole = columns.next_multiple_of(lanes);
        let packet = if whole == columns { packet } else { packet.pad(whole, PadKind::Top) };
        let all = Expr::pair([site.dim(Dim::Row), packet]);
        let time = kept(site).map(|time| Expr::pair([time, all.clone().stride(lanes)]));
        sums(site, AccumulatorOrder::Sequential, time, all.modulo(lanes))
    },
};

/// Explicit time specifies the summed part itself: it can be part of an axis.
fn sums(site: &Site<'_>, mode: AccumulatorOrder, time: Option<Expr>, packet: Expr) -> Vec<Proposal> {
    let own = written(site.written, "time").map(|time| (*time).clone());
    let proposal = own.or(time).map(|time| {
        let mut proposal = site.cut(time, packet);
        proposal.insert(0, ("mode", Value::Word(mode.word())));
        proposal
    });
    proposal.into_iter().collect()
}

/// The time that is not summed.
fn kept(site: &Site<'_>) -> Option<Expr> {
    unsummed(site, &site.dim(Dim::Time))
}

/// The part of a mapping that is not summed: term by term where it has no digits, since it cuts through padding.
fn unsummed(site: &Site<'_>, map: &Expr) -> Option<Expr> {
    if let Some(digits) = site.digits(map) {
        let kept = |digit: &&Digit| digit.axis.is_none_or(|axis| !is_summed(site, axis));
        return mapping(digits.iter().rev().filter(kept), site.axes);
    }
    if let Expr::Pair(terms) | Expr::Outer(terms) = map {
        let kept: Option<Vec<Expr>> = terms.iter().map(|term| unsummed(site, term)).collect();
        return Some(Expr::pair(kept?.into_iter().filter(|term| *term != Expr::Literal(1))));
    }
    let mut axes = axes(site, map).into_iter().map(|axis| is_summed(site, axis));
    let first = axes.next()?;
    let same = axes.all(|summed| summed == first);
    same.then(|| if first { Expr::Literal(1) } else { map.clone() })
}

/// Returns true if the contraction sums along the axis.
fn is_summed(site: &Site<'_>, axis: AxisId) -> bool {
    site.task.computation.contracted.contains(&axis)
}

/// The axes along which a mapping moves; where it has no digits, all that it names.
fn axes(site: &Site<'_>, map: &Expr) -> BTreeSet<AxisId> {
    match site.digits(map) {
        Some(digits) => digits.axes().into_keys().collect(),
        None => names(map, site.axes),
    }
}

fn join(site: &Site<'_>) -> Vec<Proposal> {
    let (time, packet) = (site.dim(Dim::Time), site.dim(Dim::Packet));
    let width = site.source.dtype.elements(site.machine.limits.mac_width_bytes);
    let mut ways = vec![(time.clone(), packet.clone().pad(width, PadKind::Top))];
    let two_fit = 2 * site.flit_bytes() <= site.machine.limits.mac_width_bytes;
    if two_fit && time.size(site.axes).is_ok_and(|steps| steps.is_multiple_of(2)) {
        let [outer, inner] = site.divided(&time, 2);
        ways.push((outer, Expr::pair([inner, packet])));
    }
    let repeats = repeats(site);
    let both = ways.into_iter().flat_map(|(time, packet)| {
        let repeats = repeats.iter().filter_map(|order| mapping(order, site.axes)).collect::<Vec<_>>();
        repeats.into_iter().map(move |repeat| (Expr::pair([time.clone(), repeat]), packet.clone()))
    });
    both.map(|(time, packet)| site.cut(time, packet)).collect()
}

/// Most digits of a register file whose every order is proposed.
const MOST_REPEATED: usize = 4;

/// Every order of the register file's digits along axes that the stream does not have.
pub(super) fn repeats(site: &Site<'_>) -> Vec<Vec<Digit>> {
    let Some(weights) = operand(site.op, 1) else { return Vec::new() };
    let streamed: BTreeSet<AxisId> =
        [Dim::Time, Dim::Packet].into_iter().flat_map(|dim| names(&site.dim(dim), site.axes)).collect();
    let Some(held) = site.digits(&weights.dim(Dim::Element)) else { return Vec::new() };
    let own = held.iter().rev().filter(|digit| digit.axis.is_some_and(|axis| !streamed.contains(&axis)));
    let own: Vec<Digit> = own.map(|digit| Digit { extent: digit.live, ..*digit }).collect();
    orders(&own, MOST_REPEATED)
}

fn tree(site: &Site<'_>) -> Vec<Proposal> {
    let packet = site.dim(Dim::Packet);
    let depths = 0..=site.source.dtype.tree_depth().unwrap_or(0);
    let sums = depths.filter_map(|depth| {
        let group = 1 << depth;
        let summed = axes(site, &packet.clone().modulo(group)).into_iter().all(|axis| is_summed(site, axis));
        let left = packet.clone().stride(group);
        let digits = site.digits(&left);
        let live = match &digits {
            Some(digits) => digits.live_count(),
            // Padding that is cut has no digits: all of it is kept.
            None => left.size(site.axes).ok(),
        }?;
        // A mapping that starts within an axis that is summed starts nowhere after the sum.
        let gone = digits.filter(|digits| {
            digits.axes().is_empty() && digits.offset().iter().all(|start| is_summed(site, start.axis))
        });
        let left = gone.map_or(Some(left), |digits| rebuild(&digits.without_offset(), site.axes).ok())?;
        summed.then(|| vec![("packet", Value::Map(site.tidy(left.resize(live))))])
    });
    sums.collect()
}
