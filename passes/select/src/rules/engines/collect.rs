//! Flits: packets cut into them or filled up to one (book 14, 26).

use crate::rules::rule::{Proposal, Rule, Site, Value};
use visa_algebra::{Expr, PadKind};
use visa_mapping::Dim;
use visa_stream::ops;
use visa_stream::ops::cast::Cast;

/// The rules of this file.
pub(crate) static RULES: &[&Rule] = &[&FLITS, &PAD];

/// The Collect Engine has one way to cut a packet.
pub(super) static FLITS: Rule = Rule {
    name: "flits",
    equation: "collect of [T], [P] is [T, P / n], [P % n], P padded to whole flits, n a flit, or half of one in the \
               dual context where the aligner does not take it",
    op: &ops::collect::DECL,
    propose: flits,
};

/// The Cast Engine fills its narrow elements up to a flit.
pub(super) static PAD: Rule = Rule {
    name: "pad-flit",
    equation: "cast of [T], [P] is [T], [P # flit]",
    op: &ops::cast::DECL,
    propose: |site| {
        let Some(Ok(to)) = Cast::cast(site.op).map(|cast| cast.dtype()) else { return Vec::new() };
        let packet = site.dim(Dim::Packet).pad(to.elements(site.machine.limits.flit_bytes), PadKind::Top);
        vec![vec![("packet", Value::Map(site.tidy(packet)))]]
    },
};

fn flits(site: &Site<'_>) -> Vec<Proposal> {
    let (time, packet) = (site.dim(Dim::Time), site.dim(Dim::Packet));
    let Ok(size) = packet.size(site.axes) else { return Vec::new() };
    let whole = size.next_multiple_of(site.flit());
    let packet = if whole == size { packet } else { packet.pad(whole, PadKind::Top) };
    // The next engine takes whole flits, or halves of those of the dual context.
    let taken = ops::collect::taken(site.op, &site.source).unwrap_or(site.flit_bytes());
    let taken = site.source.dtype.elements(taken);
    if whole == taken {
        return vec![site.cut(time, packet)];
    }
    let [outer, inner] = site.divided(&packet, taken);
    vec![site.cut(Expr::pair([time, outer]), inner)]
}
