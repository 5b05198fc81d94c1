//! What a run says: text for people, one JSON document for programs.

use crate::check::CheckReport;
use crate::compare::Comparison;
use crate::data::{Summary, Value};
use crate::relabelled::RelabelledEntry;
use serde::Serialize;
use visa_cost::Report;

/// A run as one JSON document (`--report json`).
#[derive(Serialize)]
pub struct Document<'a> {
    /// The kernel.
    pub entry: &'a str,
    /// Its results.
    pub results: Vec<ResultEntry>,
    /// With `--check`, what the comparison found.
    pub check: Option<&'a CheckReport>,
    /// With `--shadow`, whether every result is defined.
    pub shadow: Option<bool>,
    /// The price.
    pub report: &'a Report,
    /// With `--compare`, what somebody else says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) compared: Option<&'a Comparison>,
    /// Dimensions that the kernel calls otherwise by its author's word; not there where there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub relabelled: Vec<RelabelledEntry>,
}

/// A result in a JSON document.
#[derive(Serialize)]
pub struct ResultEntry {
    /// Its name.
    pub name: String,
    /// Its number format.
    pub dtype: &'static str,
    /// Extents, outermost first.
    pub shape: Vec<u64>,
    /// The first values.
    pub first: Vec<f64>,
    /// Least value.
    pub min: Option<f64>,
    /// Greatest value.
    pub max: Option<f64>,
    /// Mean.
    pub mean: f64,
    /// CRC-32 of the array as NumPy holds it.
    pub checksum: String,
    /// The file it was written to.
    pub file: Option<String>,
}

impl ResultEntry {
    /// A result's summary as an entry.
    #[must_use]
    pub fn new(name: &str, dtype: &'static str, summary: &Summary, file: Option<&str>) -> Self {
        Self {
            name: name.to_owned(),
            dtype,
            shape: summary.shape.clone(),
            first: summary.first.iter().map(|value| value.as_f64()).collect(),
            min: summary.min.map(Value::as_f64),
            max: summary.max.map(Value::as_f64),
            mean: summary.mean,
            checksum: format!("{:08x}", summary.checksum),
            file: file.map(str::to_owned),
        }
    }
}
