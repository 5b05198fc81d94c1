//! Lifts: fetches whose chips, clusters or slices each read a part of the copy that they hold. The language fetches
//! all parts over time first, and then a method for each dimension takes its parts out of time.

use crate::body::Body;
use crate::refusals::{Export, refuse_with_fix};
use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use std::rc::Rc;
use visa_algebra::Expr;
use visa_ir::module::OpRef;
use visa_mapping::{Dim, Tensor};
use visa_stream::ops::fetch::Fetch;

impl Body<'_, '_> {
    /// The time of a fetch before its lifts, and the method calls of the lifts.
    pub(crate) fn lifts(
        &mut self,
        op: OpRef<'_>,
        fetch: Fetch<'_>,
        source: &Tensor,
        time: &Expr,
    ) -> Export<(Expr, TokenStream)> {
        let lifts: [(&str, Dim, Option<Rc<Expr>>); 3] = [
            ("fetch_chip_lift", Dim::Chip, fetch.chip()?),
            ("fetch_cluster_lift", Dim::Cluster, fetch.cluster()?),
            ("fetch_slice_lift", Dim::Slice, fetch.slice()?),
        ];
        let (mut before, mut calls) = (time.clone(), TokenStream::new());
        // The last lift leaves the time of the stream.
        for (method, dim, held) in lifts.into_iter().rev() {
            let Some(held) = held else { continue };
            if !self.file.spelling.since_07 {
                return Err(refuse_with_fix(
                    op,
                    "this version has no lifts",
                    "export `--for 0.8` or `--for 0.10`",
                ));
            }
            let (method, after) = (format_ident!("{method}"), self.map(op, &before)?);
            let part = self.map(op, &held)?;
            calls = quote!(.#method::<#part, #after>() #calls);
            before = with_lifted(&source.dim(dim), &held, &before);
        }
        Ok((before, calls))
    }
}

/// The time before a lift: the terms that the dimension gains, outside of the time after it.
fn with_lifted(copies: &Expr, held: &Expr, time: &Expr) -> Expr {
    let copies = copies.terms();
    let gained = held.terms().into_iter().filter(|term| !copies.contains(term));
    let after = time.terms().into_iter().filter(|term| **term != Expr::Literal(1));
    Expr::pair(gained.chain(after).cloned())
}
