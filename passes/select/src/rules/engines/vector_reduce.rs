//! Reductions within slices and of two groups: the axis leaves the stream, and nothing else changes (book 21, 22).

use crate::layout::digit_lists::mapping;
use crate::rules::rule::{Proposal, Rule, Site, Value};
use visa_mapping::Dim;
use visa_mapping::facts::written;
use visa_stream::ops;
use visa_stream::ops::vector_pair;
use visa_stream::reduce;

/// The rules of this file.
pub(crate) static RULES: &[&Rule] = &[&WITHOUT, &LOGIC_ZIP, &FXP_ZIP, &FP_ZIP, &CLIP_ZIP];

/// A reduction within each slice.
pub(super) static WITHOUT: Rule = Rule {
    name: "without",
    equation: "vector_intra_slice_reduce over R of [T], [P] is [T without R], [P], or [1 # 4] where P is of R",
    op: &ops::vector_intra_slice_reduce::DECL,
    propose: without,
};

fn without(site: &Site<'_>) -> Vec<Proposal> {
    let axis = reduce::axis_of(site.op, site.axes);
    let left = axis.ok().and_then(|axis| reduce::left(&site.source, axis, site.axes).ok());
    left.map(|(time, packet)| site.cut(time, packet)).into_iter().collect()
}

macro_rules! zip {
    ($rule:ident, $name:literal, $op:literal, $decl:ident) => {
        /// Two groups become one.
        pub(super) static $rule: Rule = Rule {
            name: $name,
            equation: concat!($op, " of [T, I], [P] is [T], [P], I being the axis of the groups"),
            op: &vector_pair::$decl,
            propose: one_group,
        };
    };
}

zip!(LOGIC_ZIP, "zip-logic", "vector_logic_zip", LOGIC_ZIP_DECL);
zip!(FXP_ZIP, "zip-fxp", "vector_fxp_zip", FXP_ZIP_DECL);
zip!(FP_ZIP, "zip-fp", "vector_fp_zip", FP_ZIP_DECL);
zip!(CLIP_ZIP, "zip-clip", "vector_clip_zip", CLIP_ZIP_DECL);

fn one_group(site: &Site<'_>) -> Vec<Proposal> {
    let axis = vector_pair::unzip(site.op).and_then(|unzip| written(unzip, "axis"));
    let axis = axis.and_then(|axis| axis.axis_names(site.axes).first().and_then(|name| site.axes.id(name)));
    let Some((axis, time)) = axis.zip(site.digits(&site.dim(Dim::Time))) else { return Vec::new() };
    let left = mapping(time.iter().rev().filter(|digit| digit.axis != Some(axis)), site.axes);
    left.map(|time| vec![("time", Value::Map(time))]).into_iter().collect()
}
