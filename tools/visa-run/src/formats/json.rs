//! `--report json`: a run as one JSON document, for programs.

use super::{Format, Shown};
use crate::check::{CheckReport, PlanReport};
use crate::compare::Comparison;
use crate::data::Value;
use crate::formats::text::{ResultLine, result_lines};
use crate::order_line::OrderLine;
use crate::relabelled::RelabelledEntry;
use serde::Serialize;
use visa_cost::Report;
use visa_ir::diag::visible_json;

pub(super) struct Json;

impl Format for Json {
    fn name(&self) -> &'static str {
        "json"
    }

    fn show(&self, run: &Shown<'_>) -> Result<String, (&'static str, String)> {
        let Shown { ports, ran, report, compared, .. } = *run;
        let document = Document {
            entry: &ports.kernel,
            results: result_lines(run).into_iter().map(ResultEntry::from).collect(),
            check: ran.and_then(|ran| ran.check.as_ref()),
            plan: ran.and_then(|ran| ran.plan.as_ref()).map(PlanReport::from),
            shadow: ran.and_then(|ran| ran.defined),
            report,
            order: run.order,
            compared,
            relabelled: run.relabelled.clone(),
        };
        let text = serde_json::to_string_pretty(&document).map_err(|error| ("report", error.to_string()))?;
        Ok(visible_json(&text).into_owned() + "\n")
    }
}

/// A run as one JSON document (`--report json`).
#[derive(Serialize)]
pub struct Document<'a> {
    /// The kernel.
    pub entry: &'a str,
    /// Its results.
    pub results: Vec<ResultEntry>,
    /// With `--check`, the result of the comparison.
    pub check: Option<&'a CheckReport>,
    /// With `--check` of a planned function, the comparison with the function.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<PlanReport<'a>>,
    /// With `--shadow`, whether every result is defined.
    pub shadow: Option<bool>,
    /// The cost; null for a kernel of the tensor level.
    pub report: Option<&'a Report>,
    /// The order of the commands, if it is not that of the text, and the total with `--schedule`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) order: Option<&'a OrderLine>,
    /// With `--compare`, the other prediction or measurement.
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
    /// Number of undefined elements; absent if there are none, and if the machine ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undefined: Option<usize>,
    /// CRC-32 of the array as NumPy holds it.
    pub checksum: String,
    /// The file it was written to.
    pub file: Option<String>,
}

impl From<ResultLine<'_>> for ResultEntry {
    fn from(line: ResultLine<'_>) -> Self {
        let ResultLine { port, summary, undefined, file } = line;
        Self {
            name: port.name.clone(),
            dtype: port.dtype.name(),
            shape: summary.shape.clone(),
            first: summary.first.iter().map(|value| value.as_f64()).collect(),
            min: summary.min.map(Value::as_f64),
            max: summary.max.map(Value::as_f64),
            mean: summary.mean,
            undefined: (undefined > 0).then_some(undefined),
            checksum: format!("{:08x}", summary.checksum),
            file: file.map(str::to_owned),
        }
    }
}
