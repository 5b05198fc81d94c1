//! `size` and `normalize`: a number, a mapping.

use super::{Answer, Query, YES, input};
use crate::run::Refusal;
use serde_json::json;

/// The number of positions.
pub(super) fn size(query: &Query) -> Result<Answer, Refusal> {
    let (axes, [mapping]) = query.mappings()?;
    let size = mapping.size(&axes).map_err(|error| input::refusal(error.code, None, error.message))?;
    Ok(Answer { text: format!("{size}\n"), json: json!({ "size": size }), code: YES })
}

/// The mapping rebuilt from its digits.
pub(super) fn normalize(query: &Query) -> Result<Answer, Refusal> {
    let (axes, [mapping]) = query.mappings()?;
    let mapping = visa_algebra::normalize(&mapping, &axes)
        .map_err(|error| input::refusal(error.code, None, error.message))?
        .to_string();
    Ok(Answer { text: format!("{mapping}\n"), json: json!({ "mapping": mapping }), code: YES })
}
