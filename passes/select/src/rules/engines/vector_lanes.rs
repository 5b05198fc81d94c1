//! The stages Narrow and Widen of the vector engine: packets of 8 lanes as two of 4, or as one where the upper
//! lanes hold nothing, and back (book 21).

use crate::rules::rule::{Proposal, Rule, Site, Value};
use visa_algebra::{Expr, PadKind};
use visa_mapping::Dim;
use visa_stream::ops;

/// The rules of this file.
pub(crate) static RULES: &[&Rule] = &[&HALVES, &LOWER, &WHOLE, &UPPER];

/// Two packets of each.
pub(super) static HALVES: Rule = Rule {
    name: "halves",
    equation: "vector_split of [T], [P] is [T, P / 4], [P % 4]",
    op: &ops::vector_lanes::SPLIT_DECL,
    propose: halves,
};

/// The lower lanes.
pub(super) static LOWER: Rule = Rule {
    name: "lower",
    equation: "vector_trim of [T], [P] is [T], [P = 4]",
    op: &ops::vector_lanes::TRIM_DECL,
    propose: |site| packet(site, site.dim(Dim::Packet).resize(site.machine.limits.vector_lanes / 2)),
};

/// One packet of two.
pub(super) static WHOLE: Rule = Rule {
    name: "whole",
    equation: "vector_concat of [T], [P] is [T / 2], [T % 2, P]",
    op: &ops::vector_lanes::CONCAT_DECL,
    propose: whole,
};

/// Padding in the upper lanes.
pub(super) static UPPER: Rule = Rule {
    name: "upper",
    equation: "vector_pad of [T], [P] is [T], [P # 8]",
    op: &ops::vector_lanes::PAD_DECL,
    propose: |site| packet(site, site.dim(Dim::Packet).pad(site.machine.limits.vector_lanes, PadKind::Top)),
};

fn halves(site: &Site<'_>) -> Vec<Proposal> {
    let (time, packet, lanes) =
        (site.dim(Dim::Time), site.dim(Dim::Packet), site.machine.limits.vector_lanes / 2);
    vec![site.cut(Expr::pair([time, packet.clone().stride(lanes)]), packet.modulo(lanes))]
}

fn whole(site: &Site<'_>) -> Vec<Proposal> {
    let (time, packet) = (site.dim(Dim::Time), site.dim(Dim::Packet));
    match time.size(site.axes) {
        Ok(steps) if steps.is_multiple_of(2) => {
            vec![site.cut(time.clone().stride(2), Expr::pair([time.modulo(2), packet]))]
        }
        Ok(_) | Err(_) => Vec::new(),
    }
}

fn packet(site: &Site<'_>, packet: Expr) -> Vec<Proposal> {
    vec![vec![("packet", Value::Map(site.tidy(packet)))]]
}
