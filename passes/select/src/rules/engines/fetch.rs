//! The fetch: any order of the tensor's digits, cut anywhere (book 07, 08, 33).

use crate::config::constraints::Ordered;
use crate::layout::digit_lists::{mapping, orders};
use crate::rules::rule::{Proposal, Rule, Site, Value};
use std::collections::{BTreeSet, HashSet};
use visa_algebra::{AxisId, Digit, Digits, Expr, PadKind};
use visa_mapping::Dim;
use visa_numerics::DType;
use visa_stream::ops;
use visa_stream::ops::begin_interleaved;
use visa_stream::ops::fetch::Fetch;

/// The rules of this file.
pub(crate) static RULES: &[&Rule] = &[&REGROUP, &OVER_FETCH, &MASK];

/// Digits in any order, any of them the packet.
pub(super) static REGROUP: Rule = Rule {
    name: "regroup",
    equation: "fetch [T], [P] = fetch [T'], [P'] where [T', P'] holds the digits of [T, P] in any order",
    op: &ops::fetch::DECL,
    propose: |site| cuts(site, |_, bytes| vec![(bytes, PadKind::Top)]),
};

/// The same with packets that read on beyond their elements.
pub(super) static OVER_FETCH: Rule = Rule {
    name: "over-fetch",
    equation: "fetch [T], [P] = fetch [T], [P # n] up to the next flit",
    op: &ops::fetch::DECL,
    propose: |site| cuts(site, |site, bytes| beyond(site, bytes).map(|size| (size, PadKind::Top)).collect()),
};

/// The bytes read beyond the elements are masked: sums may run over them.
pub(super) static MASK: Rule = Rule {
    name: "mask",
    equation: "fetch [T], [P] = fetch [T], [P # n {0}] up to the next flit",
    op: &ops::fetch::DECL,
    propose: |site| match site.task.sums() {
        true => cuts(site, |site, bytes| beyond(site, bytes).map(|size| (size, PadKind::Zero)).collect()),
        false => Vec::new(),
    },
};

/// Bytes to which a packet of `bytes` may be padded: the sizes that a fetch can deliver, up to whole flits, and the
/// size that a contraction takes at once.
pub(super) fn beyond(site: &Site<'_>, bytes: u64) -> impl Iterator<Item = u64> + use<> {
    let limits = &site.machine.limits;
    let (align, flit) = (limits.fetch_align, site.flit_bytes());
    let (first, last) = ((bytes + 1).next_multiple_of(align), bytes.next_multiple_of(flit));
    let paired = bytes.next_multiple_of(limits.mac_width_bytes);
    let paired = (site.task.computation.contracts && paired > last).then_some(paired);
    (0..).map(move |more| first + more * align).take_while(move |&size| size <= last).chain(paired)
}

/// Most digits whose every order is proposed: of 6 there are 720, which is too many unless a register file specifies
/// the order.
const MOST_FACTORS: usize = 6;

/// Most digits into which explicit clauses and flits cut a tensor, if any order will do: more would take more than a
/// second.
const MOST_FREE_FACTORS: usize = 5;

/// Every order and cut; `sizes` gives the sizes in bytes to which a packet is padded, and the kind of padding.
fn cuts(site: &Site<'_>, sizes: impl Fn(&Site<'_>, u64) -> Vec<(u64, PadKind)>) -> Vec<Proposal> {
    let Some(factors) = factors(site) else { return Vec::new() };
    let mut found = FetchMatch::default();
    for order in arrangements(&factors, site).into_iter().chain(wanted_order(site)) {
        (0..=order.len()).for_each(|cut| add(site, &sizes, order.split_at(cut), &mut found));
    }
    for (factors, [high, low]) in cut_again(&factors) {
        for order in arrangements(&factors, site) {
            let place = |part: Digit| order.iter().position(|digit| *digit == part);
            let (Some(outer), Some(inner)) = (place(high), place(low)) else { continue };
            if !fills_flits_with_less(&order[inner..], site) {
                add(site, &sizes, order.split_at(inner), &mut found);
            }
            (outer + 1..inner).for_each(|cut| add(site, &sizes, order.split_at(cut), &mut found));
        }
    }
    found.proposals
}

/// The elements of the tensor in the order of the result's layout, where that has the same elements: of many digits
/// not every order is proposed, and then this one counts.
fn wanted_order(site: &Site<'_>) -> Option<Vec<Digit>> {
    let held = site.digits(&site.dim(Dim::Packet))?;
    let free = !site.task.computation.contracts && matches!(site.task.constraints.ordered, Ordered::None);
    let layout = site.task.constraints.layout.as_ref().filter(|_| free)?;
    let within = |digit: &Digit| {
        held.iter().any(|own| {
            let ends = [own, digit].map(|each| each.stride.saturating_mul(each.live));
            own.axis == digit.axis && own.stride <= digit.stride && ends[1] <= ends[0]
        })
    };
    let digits = site.digits(layout)?;
    let own = digits.iter().rev().filter(|digit| digit.axis.is_some() && digit.live > 1 && within(digit));
    let order: Vec<Digit> = own.map(|digit| Digit { extent: digit.live, ..*digit }).collect();
    let count = order.iter().map(|digit| digit.live).product::<u64>();
    (Some(count) == held.live_count()).then_some(order)
}

/// Every order of the digits that the result allows; only the order of the register file where there is one.
pub(super) fn arrangements(factors: &[Digit], site: &Site<'_>) -> Vec<Vec<Digit>> {
    let mut orders = orders(factors, MOST_FACTORS);
    orders.retain(|order| site.task.constraints.allows(order, factors));
    let live = |digits: &[Digit]| mapping(digits, site.axes).and_then(|map| site.digits(&map));
    let wanted =
        site.task.constraints.filed.as_ref().and_then(|filed| site.digits(filed)).and_then(|filed| {
            let own = filed.iter().rev().filter(|digit| digit.axis.is_some());
            live(&own.map(|digit| Digit { extent: digit.live, ..*digit }).collect::<Vec<_>>())
        });
    if let Some(wanted) = wanted
        && orders.iter().any(|order| live(order).as_ref() == Some(&wanted))
    {
        orders.retain(|order| live(order).as_ref() == Some(&wanted));
    }
    orders
}

/// Proposals, each once.
#[derive(Default)]
pub(super) struct FetchMatch {
    /// In the order in which they were found.
    pub(super) proposals: Vec<Proposal>,
    known: HashSet<Proposal>,
}

impl FetchMatch {
    pub(super) fn add(&mut self, proposal: Proposal) {
        if self.known.insert(proposal.clone()) {
            self.proposals.push(proposal);
        }
    }
}

/// Proposes a time and a packet with every padding.
fn add(
    site: &Site<'_>,
    sizes: &impl Fn(&Site<'_>, u64) -> Vec<(u64, PadKind)>,
    (time, packet): (&[Digit], &[Digit]),
    found: &mut FetchMatch,
) {
    let dtype = format(site);
    let elements: u64 = packet.iter().map(|digit| digit.extent).product();
    let Some(bytes) = dtype.bytes(elements) else { return };
    for (size, kind) in sizes(site, bytes) {
        let suits = match kind {
            PadKind::Top => !is_summed(packet, site),
            PadKind::Zero | PadKind::Bottom => may_mask(packet, site),
        };
        if size > bytes && !suits {
            continue;
        }
        let (Some(time), Some(packet)) = (mapping(time, site.axes), mapping(packet, site.axes)) else {
            continue;
        };
        let packet = if size > bytes { packet.pad(dtype.elements(size), kind) } else { packet };
        found.add(vec![("time", Value::Map(in_turns(time, site))), ("packet", Value::Map(packet))]);
    }
}

/// Returns true if a contraction sums the padding of a packet of these digits, and only a mask makes that zero. All of
/// it comes after the outermost digit.
pub(super) fn is_summed(packet: &[Digit], site: &Site<'_>) -> bool {
    padded_axis(packet, site).is_some_and(|axis| {
        !site.task.constraints.zeros.contains(&axis) && !site.task.computation.keeps(axis)
    })
}

/// Returns true if zeros after a packet of these digits are of any use: a product does not need them along an axis
/// that it keeps, unless they are written.
fn may_mask(packet: &[Digit], site: &Site<'_>) -> bool {
    padded_axis(packet, site)
        .is_none_or(|axis| site.task.constraints.masked.contains(&axis) || !site.task.computation.keeps(axis))
}

/// The axis after which a packet for a contraction is padded.
fn padded_axis(packet: &[Digit], site: &Site<'_>) -> Option<AxisId> {
    packet.first().filter(|_| site.task.computation.contracts)?.axis
}

/// The axis between two tensors that take turns, if there are two (book 08).
pub(super) fn interleaved(site: &Site<'_>) -> Option<Expr> {
    begin_interleaved::axis_of(site.op).ok()?.map(|axis| (*axis).clone())
}

/// A time that ends in the axis between two tensors, if there are two: packets alternate (book 08).
pub(super) fn in_turns(time: Expr, site: &Site<'_>) -> Expr {
    let Some(axis) = interleaved(site) else { return time };
    Expr::pair([time, axis].into_iter().filter(|term| *term != Expr::Literal(1)))
}

/// The format of an element after the fetch: its packets are counted in that.
pub(super) fn format(site: &Site<'_>) -> DType {
    let converted = Fetch::cast(site.op).and_then(|fetch| fetch.dtype().ok()?);
    converted.map_or(site.source.dtype, |dtype| *dtype)
}

/// Most digits of which one is cut again.
const MOST_CUT_AGAIN: usize = 3;

/// One digit is cut at any divisor; with its parts, the upper of which then is in time and the lower in the packet.
fn cut_again(factors: &[Digit]) -> Vec<(Vec<Digit>, [Digit; 2])> {
    let few = factors.len() <= MOST_CUT_AGAIN;
    let mut found = Vec::new();
    for (at, digit) in factors.iter().enumerate().filter(|_| few) {
        for extent in divisors(digit.extent) {
            let low = Digit { extent, live: extent, ..*digit };
            let rest = digit.extent / extent;
            let high = Digit { stride: digit.stride * extent, extent: rest, live: rest, ..*digit };
            found.push(([&factors[..at], &[high, low], &factors[at + 1..]].concat(), [high, low]));
        }
    }
    found
}

/// The divisors of a number, but for 1 and itself.
fn divisors(number: u64) -> impl Iterator<Item = u64> {
    let small = (2..).take_while(move |small| small * small <= number);
    let both = small
        .filter(move |&small| number.is_multiple_of(small))
        .flat_map(move |small| [small, number / small]);
    both.collect::<BTreeSet<u64>>().into_iter()
}

/// Returns true if a shorter part of the packet's outermost digit fills whole flits: then the collect makes the same
/// flits of both.
fn fills_flits_with_less(packet: &[Digit], site: &Site<'_>) -> bool {
    let Some((low, rest)) = packet.split_first() else { return false };
    let rest: u64 = rest.iter().map(|digit| digit.extent).product();
    let flit = site.flit_bytes();
    let fills = |part: u64| format(site).bytes(part * rest).is_some_and(|bytes| bytes.is_multiple_of(flit));
    fills(1) || divisors(low.extent).any(fills)
}

/// The digits that the stream must hold, major to minor, cut where explicit clauses are cut and at flits; none if the
/// tensor has no digits.
pub(super) fn factors(site: &Site<'_>) -> Option<Vec<Digit>> {
    let source = site.digits(&site.dim(Dim::Packet))?;
    let held = source.iter().rev().filter(|digit| digit.axis.is_some()).map(|digit| wanted(digit, site));
    let held: Vec<Digit> = held.filter(|digit| digit.live > 1).collect();
    let broadcast = broadcast(site, &source);
    let split = |flits: bool, written: bool| -> Vec<Digit> {
        held.iter().chain(&broadcast).flat_map(|digit| split(digit, site, flits, written)).collect()
    };
    let mut finer = [(true, true), (false, true)].into_iter().map(|(flits, written)| split(flits, written));
    let most = if site.task.constraints.filed.is_some() { MOST_FACTORS } else { MOST_FREE_FACTORS };
    Some(finer.find(|factors| factors.len() <= most).unwrap_or_else(|| split(false, false)))
}

/// The part of a digit that the result has.
fn wanted(digit: &Digit, site: &Site<'_>) -> Digit {
    let wanted = digit.axis.and_then(|axis| site.task.wanted(axis, site.axes));
    let live = wanted.map_or(digit.live, |wanted| digit.live.min(wanted.div_ceil(digit.stride).max(1)));
    Digit { live, ..*digit }
}

/// Digits of the result along axes that the tensor lacks: it is fetched again for each.
fn broadcast(site: &Site<'_>, source: &Digits) -> Vec<Digit> {
    let layout = site
        .task
        .constraints
        .layout
        .as_ref()
        .filter(|_| !site.task.computation.contracts)
        .and_then(|layout| site.digits(layout));
    let elsewhere: BTreeSet<AxisId> = [Dim::Chip, Dim::Cluster, Dim::Slice]
        .into_iter()
        .filter_map(|dim| site.digits(&site.dim(dim)))
        .flat_map(|digits| digits.axes().into_keys())
        .collect();
    let held = source.axes();
    let turns = interleaved(site).and_then(|axis| site.digits(&axis)).map(|axis| axis.axes());
    let own = |axis: AxisId| {
        held.contains_key(&axis)
            || elsewhere.contains(&axis)
            || site.task.constraints.brought.contains(&axis)
            || turns.as_ref().is_some_and(|turns| turns.contains_key(&axis))
    };
    let mut digits: Vec<Digit> = layout.iter().flat_map(|layout| layout.iter().rev().copied()).collect();
    let shown = |axis: Option<AxisId>| digits.iter().any(|digit| digit.axis == axis);
    let named: Vec<Digit> =
        site.task.constraints.named.iter().filter(|digit| !shown(digit.axis)).copied().collect();
    digits.extend(named);
    digits.retain(|digit| digit.axis.is_some_and(|axis| !own(axis)));
    digits
}

/// The live part of a digit, cut where the written mappings end a digit of its axis, and at flits. Major to minor.
fn split(digit: &Digit, site: &Site<'_>, flits: bool, written: bool) -> Vec<Digit> {
    let Some(axis) = digit.axis else { return Vec::new() };
    let end = digit.stride.saturating_mul(digit.live);
    let mut ends = if written { site.task.constraints.ends(axis, site.axes) } else { BTreeSet::new() };
    if flits {
        ends.insert(digit.stride.saturating_mul(site.flit()));
    }
    ends.insert(end);
    let (mut parts, mut start) = (Vec::new(), digit.stride);
    for next in ends {
        let cuts = next > start && next <= end && next.is_multiple_of(start) && end.is_multiple_of(next);
        if cuts {
            let live = next / start;
            let part = Digit { stride: start, extent: live, live, ..*digit };
            match site.task.wanted_part(&part, site.axes).unwrap_or(live) {
                1 => {}
                wanted => parts.push(Digit { extent: wanted, live: wanted, ..part }),
            }
            start = next;
        }
    }
    parts.reverse();
    parts
}
