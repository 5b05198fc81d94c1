//! The check of a lowering: every defined element against the logical evaluator.

use crate::data::{Value, near};
use std::collections::BTreeMap;
use visa_ir::diag::counted;
use visa_numerics::{Bits, DType, load, to_f64};
use visa_reference::{Allowed, LogicalResult};

/// Result of a check.
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
    /// The tolerance of `fast` expressions, if results depend on some.
    pub fast: Option<FastReport>,
}

/// The tolerance of `fast` expressions (docs/numerics.md, fast expressions).
#[derive(Clone, Debug, Default, serde::Serialize)]
pub struct FastReport {
    /// Elements that depend on such an expression and were compared.
    pub elements: u64,
    /// Those of them with other bits than the evaluator's, within their bounds.
    pub differ: u64,
    /// The largest distance of one.
    pub largest: f64,
    /// The tolerance of that element.
    pub allowed: f64,
    /// The greatest tolerance of an element.
    pub widest: f64,
    /// Elements without a bound, which were not compared.
    pub without_bound: u64,
    /// The operation that took the bound away.
    pub through: Option<String>,
}

/// Comparison of a plan's results with those of its function, as JSON.
#[derive(Clone, Debug, serde::Serialize)]
pub struct PlanReport<'a> {
    /// Elements compared, of all results.
    pub compared: u64,
    /// Elements that the function leaves undefined.
    pub undefined: u64,
    /// Elements that differ by more than their bounds.
    pub mismatches: u64,
    /// The first of them, in words.
    pub first: Option<&'a str>,
    /// The elements with bounds, if sums are in any order.
    pub bounds: Option<&'a FastReport>,
}

impl<'a> From<&'a CheckReport> for PlanReport<'a> {
    fn from(report: &'a CheckReport) -> Self {
        let CheckReport { compared, undefined, mismatches, first, fast } = report;
        let (compared, undefined, mismatches) = (*compared, *undefined, *mismatches);
        Self { compared, undefined, mismatches, first: first.as_deref(), bounds: fast.as_ref() }
    }
}

/// Comparison of a plan's results with those of its function, as a line of text.
pub(crate) fn plan_line(report: &CheckReport, function: &str) -> String {
    let CheckReport { compared, mismatches, fast, .. } = report;
    let line = format!("plan: {} compared with `@{function}`, {mismatches}", counted(*compared, "element"));
    let Some(FastReport { differ, largest, allowed, widest, without_bound, through, .. }) = fast else {
        return line + " differ\n";
    };
    let mut line =
        format!("{line} outside the bounds of its sums, which are at most {widest:.3e}; {differ} differ");
    if *differ > 0 {
        line += &format!(", the most by {largest:.3e} of {allowed:.3e}");
    }
    if let Some(through) = through {
        line += &format!("; {without_bound} were not compared: `{through}` has no bound");
    }
    line + "\n"
}

/// Compares results (C-order little-endian elements by name) with the evaluator's, bit by bit, or up to a number of
/// ulps.
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
            if let Allowed::Anything(through) = &result.allowed {
                let fast = report.fast.get_or_insert_default();
                fast.without_bound += 1;
                fast.through.get_or_insert_with(|| through.clone());
                continue;
            }
            report.compared += 1;
            let (found, wanted) = (load(result.dtype, bytes, at), load(result.dtype, &result.bytes, at));
            if let Allowed::Between { low, high } = &result.allowed {
                let ends = [low, high].map(|end| load(result.dtype, end, at));
                if report.fast.get_or_insert_default().holds(result.dtype, (found, wanted), ends) {
                    continue;
                }
            }
            if found != wanted && !near(result.dtype, found, wanted, ulps) {
                report.mismatches += 1;
                report.first.get_or_insert_with(|| describe(result, at, found, wanted));
            }
        }
    }
    report
}

impl FastReport {
    /// Returns true if a value is allowed instead of the evaluator's; counts it.
    fn holds(&mut self, dtype: DType, (found, wanted): (Bits, Bits), ends: [Bits; 2]) -> bool {
        self.elements += 1;
        let is_same = found == wanted;
        let [found, wanted, low, high] = [found, wanted, ends[0], ends[1]].map(|bits| to_f64(dtype, bits));
        self.widest = self.widest.max(wanted - low).max(high - wanted);
        if is_same {
            return true;
        }
        let unpromised = found.is_nan() && (low == f64::NEG_INFINITY || high == f64::INFINITY);
        if !(unpromised || (low..=high).contains(&found)) {
            return false;
        }
        self.differ += 1;
        let distance = (found - wanted).abs();
        if distance > self.largest || self.differ == 1 {
            self.largest = distance;
            self.allowed = if found < wanted { wanted - low } else { high - wanted };
        }
        true
    }
}

impl std::fmt::Display for FastReport {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.elements > 0 {
            write!(f, "fast: {} of {} elements that depend on `fast` differ", self.differ, self.elements)?;
            if self.differ > 0 {
                write!(
                    f,
                    " by at most {:.3e}, of {:.3e} that their roundings allow",
                    self.largest, self.allowed
                )?;
            }
            writeln!(f)?;
        }
        if let Some(through) = &self.through {
            writeln!(
                f,
                "fast: {} were not compared: `{through}` depends on a `fast` expression, and has no bound",
                counted(self.without_bound, "element")
            )?;
        }
        Ok(())
    }
}

fn describe(result: &LogicalResult, at: usize, found: Bits, wanted: Bits) -> String {
    let value = |bits: Bits| Value::of(result.dtype, bits);
    let mut rest = at as u64;
    let mut index: Vec<u64> = Vec::new();
    for &extent in result.shape.iter().rev() {
        index.push(rest % extent);
        rest /= extent;
    }
    index.reverse();
    format!("{}{index:?} is {}, the logical evaluator computes {}", result.name, value(found), value(wanted))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(values: [f32; 2]) -> Vec<u8> {
        values.iter().flat_map(|value| value.to_le_bytes()).collect()
    }

    /// The check of two elements of which the evaluator wants 1 and 8.
    fn checked(found: [f32; 2], allowed: Allowed) -> CheckReport {
        let result = LogicalResult {
            name: "out".to_owned(),
            dtype: DType::F32,
            shape: vec![2],
            bytes: bytes([1.0, 8.0]),
            defined: None,
            allowed,
        };
        compare(&[result], &BTreeMap::from([("out".to_owned(), bytes(found))]), 0)
    }

    fn between(low: [f32; 2], high: [f32; 2]) -> Allowed {
        Allowed::Between { low: bytes(low), high: bytes(high) }
    }

    #[test]
    fn the_ends_of_a_range_are_allowed_and_nothing_beyond() {
        let range = || between([0.5, 8.0], [2.0, 8.0]);
        for (found, mismatches) in [
            ([1.0, 8.0], 0),
            ([0.5, 8.0], 0),
            ([2.0, 8.0], 0),
            ([0.5_f32.next_down(), 8.0], 1),
            ([2.0_f32.next_up(), 8.0], 1),
            ([1.0, 8.0_f32.next_up()], 1),
            ([f32::NAN, 8.0], 1),
        ] {
            assert_eq!(checked(found, range()).mismatches, mismatches, "{found:?}");
        }
        assert_eq!(checked([2.0, 8.0], Allowed::Same).mismatches, 1);
    }

    #[test]
    fn the_largest_distance_is_told_with_what_was_allowed_there() {
        let fast = checked([0.75, 10.0], between([0.5, 4.0], [2.0, 16.0])).fast.unwrap();
        assert_eq!((fast.elements, fast.differ, fast.largest, fast.allowed), (2, 2, 2.0, 8.0));
        assert_eq!(
            fast.to_string(),
            "fast: 2 of 2 elements that depend on `fast` differ by at most 2.000e0, of 8.000e0 that their \
             roundings allow\n"
        );
    }

    #[test]
    fn where_nothing_is_promised_a_nan_is_allowed() {
        let anything = || between([f32::NEG_INFINITY, 8.0], [f32::INFINITY, 8.0]);
        assert_eq!(checked([f32::NAN, 8.0], anything()).mismatches, 0);
        assert_eq!(checked([1.0, f32::NAN], anything()).mismatches, 1);
    }

    #[test]
    fn elements_without_a_bound_are_not_compared_and_that_is_said() {
        let report = checked([5.0, 5.0], Allowed::Anything("stream.x".to_owned()));
        assert_eq!((report.compared, report.mismatches), (0, 0));
        let fast = report.fast.unwrap().to_string();
        assert_eq!(
            fast,
            "fast: 2 elements were not compared: `stream.x` depends on a `fast` expression, and has no bound\n"
        );
    }
}
