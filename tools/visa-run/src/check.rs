//! The check of a lowering: every defined element against the logical evaluator.

use crate::data::near;
use std::collections::BTreeMap;
use visa_numerics::{Bits, load, to_f64};
use visa_reference::LogicalResult;

/// What a check found.
#[derive(Clone, Debug, Default, serde::Serialize)]
pub struct CheckReport {
    /// Elements compared, of all results.
    pub compared: u64,
    /// Elements that the kernel leaves undefined.
    pub undefined: u64,
    /// Elements that differ.
    pub mismatches: u64,
    /// The first element that differs, in words.
    pub first: Option<String>,
}

/// Compares results (C-order little-endian elements by name) with the evaluator's, bit by bit, or up to so many ulps.
pub(crate) fn compare(
    expected: &[LogicalResult],
    found: &BTreeMap<String, Vec<u8>>,
    ulps: u32,
) -> CheckReport {
    let mut report = CheckReport::default();
    for result in expected {
        let Some(bytes) = found.get(&result.name) else { continue };
        let count = result.shape.iter().product::<u64>().min(result.dtype.elements(bytes.len() as u64));
        for at in 0..count as usize {
            if result.defined.as_ref().is_some_and(|defined| !defined[at]) {
                report.undefined += 1;
                continue;
            }
            report.compared += 1;
            let (found, wanted) = (load(result.dtype, bytes, at), load(result.dtype, &result.bytes, at));
            if found != wanted && !near(result.dtype, found, wanted, ulps) {
                report.mismatches += 1;
                report.first.get_or_insert_with(|| describe(result, at, found, wanted));
            }
        }
    }
    report
}

fn describe(result: &LogicalResult, at: usize, found: Bits, wanted: Bits) -> String {
    let value = |bits: Bits| to_f64(result.dtype, bits);
    let mut rest = at as u64;
    let mut index: Vec<u64> = Vec::new();
    for &extent in result.shape.iter().rev() {
        index.push(rest % extent);
        rest /= extent;
    }
    index.reverse();
    format!("{}{index:?} is {}, the logical evaluator says {}", result.name, value(found), value(wanted))
}
