//! Fetches of two tensors that take turns: the axis between them stays innermost in time (book 08).

use super::fetch;
use crate::select::rule::{Proposal, Rule, Site, Value};
use visa_mapping::Expr;
use visa_stream::ops::begin_interleaved::axis_of;

/// Whatever a fetch of one tensor may be, a packet of each in turn.
pub(super) static TURNS: Rule = Rule {
    name: "turns",
    equation: "fetch [T, I], [P] = fetch [T', I], [P'] where fetch [T], [P] = fetch [T'], [P'] and I is the axis between the tensors",
    op: "stream.fetch",
    propose: turns,
};

fn turns(site: &Site<'_>) -> Vec<Proposal> {
    let Some(axis) = axis_of(site.op) else { return Vec::new() };
    let of_one = [&fetch::REGROUP, &fetch::OVER_FETCH, &fetch::MASK];
    let mut found: Vec<Proposal> = of_one.iter().flat_map(|rule| (rule.propose)(site)).collect();
    for (name, value) in found.iter_mut().flatten() {
        if let ("time", Value::Map(time)) = (*name, &mut *value) {
            let own = std::mem::replace(time, Expr::Literal(1));
            *time = site.tidy(Expr::pair([own, (*axis).clone()]));
        }
    }
    found
}
