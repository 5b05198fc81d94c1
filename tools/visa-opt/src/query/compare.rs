//! `equal` and `refines`: yes, no with the first position and both cells, or unknown.

use super::{Answer, NO, Query, UNKNOWN, YES, cell};
use crate::run::Refusal;
use serde_json::json;
use visa_algebra::{Axes, Cell, Equality, Refinement, describe};

/// Compares the cells of two mappings.
pub(super) fn equal(query: &Query) -> Result<Answer, Refusal> {
    let (axes, [left, right]) = query.mappings()?;
    Ok(match visa_algebra::equal(&left, &right, &axes) {
        Equality::Equal => yes("equal"),
        Equality::Different { at, left, right } => no("different", at, left.as_ref(), right.as_ref(), &axes),
        Equality::Unknown { why } => unknown(&why),
    })
}

/// Decides if the left mapping may replace the right one.
pub(super) fn refines(query: &Query) -> Result<Answer, Refusal> {
    let (axes, [left, right]) = query.mappings()?;
    Ok(match visa_algebra::refines(&left, &right, &axes) {
        Refinement::Refines => yes("refines"),
        Refinement::Violated { at, left, right } => {
            no("does not refine", at, left.as_ref(), right.as_ref(), &axes)
        }
        Refinement::Unknown { why } => unknown(&why),
    })
}

fn yes(answer: &str) -> Answer {
    Answer { text: format!("{answer}\n"), json: json!({ "answer": answer }), code: YES }
}

fn no(answer: &str, at: u64, left: Option<&Cell>, right: Option<&Cell>, axes: &Axes) -> Answer {
    let (left_json, right_json) = (cell::json(left, axes), cell::json(right, axes));
    Answer {
        text: format!("{answer} at {at}: {} vs {}\n", describe(left, axes), describe(right, axes)),
        json: json!({ "answer": answer, "at": at, "left": left_json, "right": right_json }),
        code: NO,
    }
}

/// Not decided.
pub(super) fn unknown(why: &str) -> Answer {
    Answer {
        text: format!("unknown ({why})\n"),
        json: json!({ "answer": "unknown", "why": why }),
        code: UNKNOWN,
    }
}
