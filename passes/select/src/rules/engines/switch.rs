//! The switch: which slices' packets each slice gets, and when (book 13).

use crate::layout::digit_lists::mapping;
use crate::rules::rule::{Proposal, Rule, Site, Value};
use std::collections::BTreeMap;
use visa_algebra::{AxisId, Digit, Digits, Expr};
use visa_engine::words::TopologyName;
use visa_mapping::Dim;
use visa_mapping::facts::written;
use visa_stream::ops;
use visa_stream::ops::switch::Switch;
use visa_stream::topology::{Topology, same};

/// The rules of this file.
pub(crate) static RULES: &[&Rule] = &[&TOPOLOGY, &BITMAP];

/// A named topology, with its parameters.
pub(super) static TOPOLOGY: Rule = Rule {
    name: "topology",
    equation: "switch of slices S, time T is S', T' as each topology makes them, for every ring that divides the \
               slices and time0 that divides T",
    op: &ops::switch::DECL,
    propose: |site| named(site).iter().map(|made| made.proposal(site)).collect(),
};

/// A bitmap, which makes any slices. It has to be written first, which the price takes in.
pub(super) static BITMAP: Rule = Rule {
    name: "bitmap",
    equation: "switch custom of slices S, time T is S', [T, what S' lacks of S]",
    op: &ops::switch::DECL,
    propose: bitmap,
};

/// A topology and its result.
struct Made {
    topology: Option<Topology>,
    slice: Expr,
    time: Expr,
}

impl Made {
    fn proposal(&self, site: &Site<'_>) -> Proposal {
        let name = self.topology.map_or(TopologyName::Custom, |topology| topology.name());
        // The smallest ring that does, unless a larger one is written.
        let ring = Switch::seen(site.written).ring_unless_auto().ok().flatten();
        let ring = ring.filter(|_| self.topology.is_none());
        let mut proposal =
            vec![("topology", Value::Word(name.word())), ("ring", ring.map_or(Value::Absent, Value::Int))];
        for clause in ["slice1", "slice0", "time0"] {
            let value = self.topology.and_then(|topology| topology.parameter(clause));
            let value = value.and_then(|value| i64::try_from(value).ok()).map_or(Value::Absent, Value::Int);
            proposal.push((clause, value));
        }
        proposal.extend([("slice", Value::Map(self.slice.clone())), ("time", Value::Map(self.time.clone()))]);
        proposal
    }
}

/// The mapping that the slices must hold after the switch, if it is given.
fn wanted(site: &Site<'_>) -> Option<Expr> {
    let own = written(site.written, "slice").map(|slice| (*slice).clone());
    own.or_else(|| site.task.constraints.slice.clone())
}

/// Every named topology that makes the wanted slices and time.
fn named(site: &Site<'_>) -> Vec<Made> {
    let (slice, time) = (site.dim(Dim::Slice), site.dim(Dim::Time));
    let Ok(steps) = time.size(site.axes) else { return Vec::new() };
    let free = site.free(0);
    let (wanted, when) = (wanted(site), written(site.written, "time"));
    let switch = Switch::seen(site.written);
    let Ok(name) = switch.topology_unless_auto() else { return Vec::new() };
    let mut every = match (&name, &when) {
        (None, None) if stays(site, &slice, wanted.as_ref(), &free) => vec![Topology::FORWARDING],
        _ => Topology::every(site.machine.topology.slices_per_cluster, steps),
    };
    if let Some(name) = name {
        every.retain(|topology| topology.name() == name);
    }
    let parameters = [
        ("slice1", switch.slice1_unless_auto()),
        ("slice0", switch.slice0_unless_auto()),
        ("time0", switch.time0_unless_auto()),
    ];
    for (clause, value) in parameters {
        let Ok(value) = value else { return Vec::new() };
        if let Some(value) = value {
            every.retain(|own| own.parameter(clause).and_then(|own| i64::try_from(own).ok()) == Some(value));
        }
    }
    let fits = |found: &Expr, wanted: Option<&Expr>| {
        wanted.is_none_or(|wanted| same(found, wanted, &free, site.axes).is_ok())
    };
    let lost = lost(site, &slice);
    // The content of slices does not depend on time0, so all of a ring fit or none.
    let mut rings = BTreeMap::new();
    let made = every.into_iter().filter_map(|topology| {
        let ring = (topology.name(), topology.slice1, topology.slice0);
        let slices_fit = || fits(&topology.result(&slice, &time).0, wanted.as_ref());
        if !*rings.entry(ring).or_insert_with(slices_fit) {
            return None;
        }
        let made = topology.result(&slice, &time);
        let all = lost.is_empty() || streams_layout(site, &made.1);
        (fits(&made.1, when.as_deref()) && all).then(|| Made {
            topology: Some(topology),
            slice: wanted.clone().unwrap_or_else(|| site.tidy(made.0)),
            time: when.as_deref().cloned().unwrap_or_else(|| site.tidy(made.1)),
        })
    });
    made.collect()
}

/// Returns true if packets stay in their slices. The slices hold the wanted mapping, if that is known, and nothing of
/// theirs is to be summed or to be in the layout at the end. Another topology takes longer, and so do the operations
/// after it.
fn stays(site: &Site<'_>, slice: &Expr, wanted: Option<&Expr>, free: &dyn Fn(AxisId) -> bool) -> bool {
    let fits = wanted.is_none_or(|wanted| same(slice, wanted, free, site.axes).is_ok());
    fits && !sums_slices(site, slice) && lost(site, slice).is_empty()
}

/// Axes that slices hold and the stream lacks, but the layout has that is written at the end.
fn lost(site: &Site<'_>, slice: &Expr) -> Vec<AxisId> {
    let axes = |map: &Expr| site.digits(map).map(|digits| digits.axes()).unwrap_or_default();
    let layout = site
        .task
        .constraints
        .layout
        .as_ref()
        .filter(|_| site.task.constraints.places && !site.task.computation.contracts);
    let streamed = axes(&Expr::pair([site.dim(Dim::Time), site.dim(Dim::Packet)]));
    let held = axes(slice);
    let wanted = layout.map(axes).unwrap_or_default().into_keys();
    wanted.filter(|axis| held.contains_key(axis) && !streamed.contains_key(axis)).collect()
}

/// Returns true if with this time the stream has of every axis as much as the layout at the end.
fn streams_layout(site: &Site<'_>, time: &Expr) -> bool {
    let counts = |map: &Expr| -> BTreeMap<AxisId, u64> {
        let mut counts = BTreeMap::new();
        for digit in site.digits(map).iter().flat_map(|digits| digits.iter().copied()) {
            if let Some(axis) = digit.axis.filter(|_| digit.live > 1) {
                *counts.entry(axis).or_insert(1) *= digit.live;
            }
        }
        counts
    };
    let stream = Expr::pair([time.clone(), site.dim(Dim::Packet)]);
    site.task.constraints.layout.as_ref().is_none_or(|layout| counts(layout) == counts(&stream))
}

/// Returns true if the slices hold an axis that is summed.
fn sums_slices(site: &Site<'_>, slice: &Expr) -> bool {
    let held = site.digits(slice).map(|digits| digits.axes());
    held.is_some_and(|axes| axes.into_keys().any(|axis| site.task.computation.sums_over(axis)))
}

fn bitmap(site: &Site<'_>) -> Vec<Proposal> {
    let Ok(topology) = Switch::seen(site.written).topology_unless_auto() else { return Vec::new() };
    if topology.is_some_and(|name| name != TopologyName::Custom) {
        return Vec::new();
    }
    let Some(slice) = wanted(site) else { return Vec::new() };
    let free = site.free(0);
    let bound = topology.is_some() || written(site.written, "time").is_some();
    if !bound && stays(site, &site.dim(Dim::Slice), Some(&slice), &free) {
        return Vec::new();
    }
    let own = written(site.written, "time").map(|time| (*time).clone());
    let Some(time) = own.or_else(|| moved(site, &slice, &free)) else { return Vec::new() };
    vec![Made { topology: None, slice, time }.proposal(site)]
}

/// Time after a custom switch: innermost the digits that the slices no longer hold, in their order.
fn moved(site: &Site<'_>, slice: &Expr, free: &dyn Fn(AxisId) -> bool) -> Option<Expr> {
    let (held, kept) = (site.digits(&site.dim(Dim::Slice))?, site.digits(slice)?);
    let digits = leaving(&held, &kept, free);
    Some(site.tidy(Expr::pair([site.dim(Dim::Time), mapping(&digits, site.axes)?])))
}

/// The digits that slices which hold `held` no longer hold when they hold `kept`, major to minor.
pub(crate) fn leaving(held: &Digits, kept: &Digits, free: &dyn Fn(AxisId) -> bool) -> Vec<Digit> {
    let parts = held.iter().rev().flat_map(|digit| parts(digit, kept));
    let lost = parts.filter(|part| {
        part.axis.is_some_and(|axis| !free(axis)) && !kept.iter().any(|own| covers(own, part))
    });
    lost.collect()
}

/// The live part of a digit, cut where digits of its axis end in `others`; major to minor.
fn parts(digit: &Digit, others: &Digits) -> Vec<Digit> {
    let end = digit.stride.saturating_mul(digit.live);
    let same = others.iter().filter(|own| own.axis == digit.axis);
    let mut ends: Vec<u64> =
        same.flat_map(|own| [own.stride, own.stride.saturating_mul(own.live)]).chain([end]).collect();
    ends.sort_unstable();
    let (mut parts, mut start) = (Vec::new(), digit.stride);
    for next in ends {
        if next > start && next <= end && next.is_multiple_of(start) && end.is_multiple_of(next) {
            let extent = next / start;
            parts.push(Digit { stride: start, extent, live: extent, ..*digit });
            start = next;
        }
    }
    parts.reverse();
    parts
}

fn covers(outer: &Digit, inner: &Digit) -> bool {
    let end = |digit: &Digit| digit.stride.saturating_mul(digit.live);
    outer.axis == inner.axis && outer.stride <= inner.stride && end(inner) <= end(outer)
}
