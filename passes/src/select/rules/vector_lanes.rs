//! The stages Narrow and Widen of the vector engine: packets of 8 lanes as two of 4, or as one where the upper lanes hold nothing, and back
//! (book 21).

use crate::select::rule::{Proposal, Rule, Site, Value};
use visa_mapping::{Dim, Expr, PadKind};

/// Two packets of each.
pub(super) static HALVES: Rule = Rule {
    name: "halves",
    equation: "vector_split of [T], [P] is [T, P / 4], [P % 4]",
    op: "stream.vector_split",
    propose: |site| regroup(site, site.machine.limits.vector_lanes / 2),
};

/// The lower lanes.
pub(super) static LOWER: Rule = Rule {
    name: "lower",
    equation: "vector_trim of [T], [P] is [T], [P = 4]",
    op: "stream.vector_trim",
    propose: |site| packet(site, site.dim(Dim::Packet).resize(site.machine.limits.vector_lanes / 2)),
};

/// One packet of two.
pub(super) static WHOLE: Rule = Rule {
    name: "whole",
    equation: "vector_concat of [T], [P] is [T / 2], [T % 2, P]",
    op: "stream.vector_concat",
    propose: |site| regroup(site, site.machine.limits.vector_lanes),
};

/// Padding in the upper lanes.
pub(super) static UPPER: Rule = Rule {
    name: "upper",
    equation: "vector_pad of [T], [P] is [T], [P # 8]",
    op: "stream.vector_pad",
    propose: |site| packet(site, site.dim(Dim::Packet).pad(site.machine.limits.vector_lanes, PadKind::Top)),
};

/// Time and packet again, with packets of so many lanes.
fn regroup(site: &Site<'_>, lanes: u64) -> Vec<Proposal> {
    let all = site.stream();
    match all.size(site.axes) {
        Ok(size) if size.is_multiple_of(lanes) => {
            vec![site.cut(all.clone().stride(lanes), all.modulo(lanes))]
        }
        Ok(_) | Err(_) => Vec::new(),
    }
}

fn packet(site: &Site<'_>, packet: Expr) -> Vec<Proposal> {
    vec![vec![("packet", Value::Map(site.tidy(packet)))]]
}
