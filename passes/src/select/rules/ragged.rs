//! Streams whose padding ends inside no digit: `[[A, B] # 32]` of 3 x 5. They have no normal form, and can only be taken as they are.

use crate::select::rule::{Rule, Site, Value};
use visa_mapping::{Dim, Expr};

/// Data memory takes such a stream with its padding (book 33, example 3).
pub(super) static AS_IT_IS: Rule = Rule {
    name: "as-it-is",
    equation: "commit of [T], [P] may have the layout [T, P]",
    op: "stream.commit",
    propose: |site| {
        let all = stream(site);
        match site.digits(&all) {
            Some(_) => Vec::new(),
            None => vec![vec![("element", Value::Map(all))]],
        }
    },
};

/// Time and packet; without a time of one step.
fn stream(site: &Site<'_>) -> Expr {
    let parts = [Dim::Time, Dim::Packet].map(|dim| site.dim(dim));
    Expr::pair(parts.into_iter().filter(|part| *part != Expr::Literal(1)))
}
