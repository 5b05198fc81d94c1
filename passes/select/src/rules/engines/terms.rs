//! Terms that are no plain digits: parts of an axis, gathered rows, padding in front or zeros at the end. A fetch
//! takes each as it is written (book 07, 08).

use super::fetch::{beyond, format, in_turns, interleaved};
use crate::config::constraints::Ordered;
use crate::layout::digit_lists::orders;
use crate::rules::rule::{Proposal, Rule, Site, Value};
use visa_algebra::{Expr, PadKind, Side};
use visa_mapping::Dim;
use visa_stream::ops;

/// The rules of this file.
pub(crate) static RULES: &[&Rule] = &[&TERMS];

/// The terms of the input or of the result, whole except for the last one.
pub(super) static TERMS: Rule = Rule {
    name: "terms",
    equation: "fetch [T], [P] = fetch [T', E / n], [E % n] where [T', E] holds the terms of the tensor or of the \
               result in any order",
    op: &ops::fetch::DECL,
    propose: terms,
};

/// Most terms whose every order is proposed.
const MOST_TERMS: usize = 4;

fn terms(site: &Site<'_>) -> Vec<Proposal> {
    let wanted = site.task.constraints.layout.as_ref().filter(|_| !site.task.computation.contracts);
    let most = if matches!(site.task.constraints.ordered, Ordered::None) { MOST_TERMS } else { 0 };
    let mut found = Vec::new();
    for list in wanted.cloned().into_iter().chain([site.dim(Dim::Packet)]) {
        let list = own(list, site);
        if list.iter().all(|term| is_plain(term, site)) {
            continue;
        }
        let masked = list.iter().map(masked).collect::<Vec<_>>();
        // As with other fetches, a sum never takes in padding that anybody may have written.
        let sums_padding = site.task.computation.contracts
            && list.iter().any(|term| holds_anything(term) && is_summed(term, site));
        let masked = (site.task.sums() && masked != list).then_some(masked);
        let lists = [(!sums_padding).then_some(list), masked];
        for order in lists.iter().flatten().flat_map(|list| orders(list, most)) {
            cut(site, &order, &mut found);
        }
    }
    found
}

/// The terms of a mapping, without the axis between two tensors that take turns.
fn own(list: Expr, site: &Site<'_>) -> Vec<Expr> {
    let mut terms = match list {
        Expr::Pair(terms) | Expr::Outer(terms) => terms,
        Expr::Axis(_)
        | Expr::Alias(_)
        | Expr::Literal(_)
        | Expr::Pad { .. }
        | Expr::Resize { .. }
        | Expr::Stride { .. }
        | Expr::Modulo { .. }
        | Expr::Slice { .. }
        | Expr::Gather { .. }
        | Expr::Slide(_) => vec![list],
    };
    let turns = interleaved(site);
    terms.retain(|term| *term != Expr::Literal(1) && turns.as_ref() != Some(term));
    terms
}

/// Returns true if digits describe all of a term.
fn is_plain(term: &Expr, site: &Site<'_>) -> bool {
    let full = |digits: visa_algebra::Digits| {
        digits.live_count() == Some(digits.size()) && digits.offset().is_empty()
    };
    site.digits(term).is_some_and(full)
}

/// Returns true if a term has padding that may hold anything.
fn holds_anything(term: &Expr) -> bool {
    matches!(term, Expr::Pad { kind: PadKind::Top, .. }) || term.children().into_iter().any(holds_anything)
}

/// Returns true if a contraction sums along some axis of a term.
fn is_summed(term: &Expr, site: &Site<'_>) -> bool {
    let mut axes = term.axis_names(site.axes).into_iter().filter_map(|name| site.axes.id(&name));
    axes.any(|axis| site.task.computation.contracted.contains(&axis))
}

/// A term whose padding after it is zeros.
fn masked(term: &Expr) -> Expr {
    match term {
        Expr::Pad { inner, size, kind: PadKind::Top, side: Side::High } => {
            (**inner).clone().pad(*size, PadKind::Zero)
        }
        Expr::Axis(_)
        | Expr::Alias(_)
        | Expr::Literal(_)
        | Expr::Pair(_)
        | Expr::Outer(_)
        | Expr::Pad { .. }
        | Expr::Resize { .. }
        | Expr::Stride { .. }
        | Expr::Modulo { .. }
        | Expr::Slice { .. }
        | Expr::Gather { .. }
        | Expr::Slide(_) => term.clone(),
    }
}

/// Proposes every cut between terms, and the last term cut into packets.
fn cut(site: &Site<'_>, order: &[Expr], found: &mut Vec<Proposal>) {
    for at in 0..=order.len() {
        let (time, packet) = order.split_at(at);
        add(site, time.to_vec(), Expr::pair(packet.iter().cloned()), found);
    }
    let Some((last, outer)) = order.split_last() else { return };
    let Ok(size) = last.size(site.axes) else { return };
    let limits = &site.machine.limits;
    let flits = [1, 2, 4, 8].map(|flits| flits * limits.flit_bytes);
    for packet in limits.commit_sizes.iter().chain(&flits).map(|&bytes| format(site).elements(bytes)) {
        if packet < size && size.is_multiple_of(packet) {
            let [high, low] = site.divided(last, packet);
            add(site, outer.iter().cloned().chain([high]).collect(), low, found);
        }
    }
}

/// Proposes a time and a packet, filled up to a size that a fetch can deliver.
fn add(site: &Site<'_>, time: Vec<Expr>, packet: Expr, found: &mut Vec<Proposal>) {
    let dtype = format(site);
    let Some(bytes) = packet.size(site.axes).ok().and_then(|size| dtype.bytes(size)) else { return };
    let time = in_turns(Expr::pair(time), site);
    let kind = if site.task.sums() { PadKind::Zero } else { PadKind::Top };
    let padded = beyond(site, bytes).map(|size| packet.clone().pad(dtype.elements(size), kind));
    for packet in [packet.clone()].into_iter().chain(padded) {
        let proposal = vec![("time", Value::Map(time.clone())), ("packet", Value::Map(packet))];
        if !found.contains(&proposal) {
            found.push(proposal);
        }
    }
}
