//! Streams whose packets cut through padding: rows of 65 elements in packets of 32, or `[[A, B] # 32]` of 3 x 5.
//! Data memory takes them with their padding (book 33, example 3).

use super::fetch::{FetchMatch, arrangements, factors, in_turns, is_summed};
use crate::layout::digit_lists::mapping;
use crate::rules::rule::{Proposal, Rule, Site, Value};
use visa_algebra::{Expr, PadKind};
use visa_mapping::Dim;
use visa_stream::ops;

/// The rules of this file.
pub(crate) static RULES: &[&Rule] = &[&CUT, &AS_IT_IS];

/// Packets of every size that a commit keeps, regardless of their contents.
pub(super) static CUT: Rule = Rule {
    name: "cut",
    equation: "fetch [T], [P] = fetch [T, P # n / m], [P # n % m] where m divides n",
    op: &ops::fetch::DECL,
    propose: cuts,
};

/// Data memory takes the stream with its padding.
pub(super) static AS_IT_IS: Rule = Rule {
    name: "as-it-is",
    equation: "commit of [T], [P] may have the layout [T, P]",
    op: &ops::commit::DECL,
    propose: |site| {
        let all = stream(site);
        let axes = all.axis_names(site.axes);
        match axes
            .iter()
            .filter_map(|name| site.axes.id(name))
            .any(|axis| site.task.computation.sums_over(axis))
        {
            true => Vec::new(),
            false => vec![vec![("element", Value::Map(site.tidy(all)))]],
        }
    },
};

fn cuts(site: &Site<'_>) -> Vec<Proposal> {
    let Some(factors) = factors(site) else { return Vec::new() };
    let dtype = site.source.dtype;
    let mut found = FetchMatch::default();
    for order in arrangements(&factors, site) {
        for at in 0..order.len() {
            let (outer, inner) = order.split_at(at);
            if is_summed(inner, site) {
                continue;
            }
            let size: u64 = inner.iter().map(|digit| digit.extent).product();
            let packets = site.machine.limits.commit_sizes.iter().map(|&bytes| dtype.elements(bytes));
            // Where packets cut nothing, the digits state so themselves.
            for packet in packets.filter(|&packet| packet < size && !size.is_multiple_of(packet)) {
                let (Some(time), Some(whole)) = (mapping(outer, site.axes), mapping(inner, site.axes)) else {
                    continue;
                };
                let whole = whole.pad(size.next_multiple_of(packet), PadKind::Top);
                let time = in_turns(Expr::pair([time, whole.clone().stride(packet)]), site);
                found.add(vec![("time", Value::Map(time)), ("packet", Value::Map(whole.modulo(packet)))]);
            }
        }
    }
    found.proposals
}

/// Time and packet; without a time of one step.
fn stream(site: &Site<'_>) -> Expr {
    let parts = [Dim::Time, Dim::Packet].map(|dim| site.dim(dim));
    Expr::pair(parts.into_iter().filter(|part| *part != Expr::Literal(1)))
}
