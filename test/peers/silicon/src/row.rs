//! Measured rows, and what our model says of their kernels.

use std::path::Path;

use serde::Deserialize;
use serde_json::Value;
use visa_cost::{Anatomy, Sample};
use visa_opt::{Io, Registry};

/// A line of `rows.json`, which `rows.py` writes.
#[derive(Clone, Deserialize)]
pub(crate) struct Row {
    /// Its kernel; nothing where we have none like it.
    pub(crate) file: Option<String>,
    /// The queue that runs the command: `dma`, `main`, `sub`, `core`.
    pub(crate) kind: String,
    /// Which command of that queue it is.
    pub(crate) which: Which,
    /// The kernels in which it was measured.
    pub(crate) kernels: Vec<String>,
    /// What the command does.
    pub(crate) what: String,
    /// Cycles of the vendor's schedule.
    pub(crate) static_cycles: f64,
    /// Measured ticks, the median.
    pub(crate) ticks: f64,
    /// Bytes moved by a transfer, 0 of a pass.
    pub(crate) bytes: u64,
    /// Commands that ran in parallel with it.
    pub(crate) beside: String,
}

/// A command of a queue.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Which {
    First,
    Second,
    Last,
}

/// A row whose command we price.
#[derive(Clone)]
pub(crate) struct Priced {
    pub(crate) row: Row,
    /// The kernel's name.
    pub(crate) name: String,
    pub(crate) anatomy: Anatomy,
}

/// What a row is compared with.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Against {
    /// The chip: ticks.
    Chip,
    /// The vendor's schedule: cycles.
    Schedule,
}

impl Row {
    pub(crate) fn time(&self, against: Against) -> f64 {
        match against {
            Against::Chip => self.ticks,
            Against::Schedule => self.static_cycles,
        }
    }

    /// Kind of the command, for sums.
    pub(crate) fn group(&self) -> &'static str {
        match (self.kind.as_str(), self.bytes) {
            ("dma", LARGE..) => "loads of 256 KB and more",
            ("dma", _) => "smaller transfers",
            (_, _) if self.beside.is_empty() => "passes alone",
            (_, _) => "passes in parallel",
        }
    }
}

/// Bytes from which a transfer is a large one.
const LARGE: u64 = 256 << 10;

impl Priced {
    pub(crate) fn sample(&self, against: Against) -> Sample {
        Sample { anatomy: self.anatomy, ticks: self.row.time(against) }
    }

    pub(crate) fn is_of(&self, kernel: &str) -> bool {
        self.row.kernels.iter().any(|own| own == kernel)
    }
}

/// Reads the rows and prices their kernels.
///
/// # Errors
/// A file that is missing or wrong, or a kernel without the command.
pub(crate) fn priced(folder: &Path) -> Result<(Vec<Priced>, Vec<Row>), String> {
    let path = folder.join("rows.json");
    let text =
        std::fs::read_to_string(&path).map_err(|why| format!("cannot read {}: {why}", path.display()))?;
    let rows: Vec<Row> = serde_json::from_str(&text).map_err(|why| format!("{}: {why}", path.display()))?;
    let (mut found, mut without) = (Vec::new(), Vec::new());
    for row in rows {
        match &row.file {
            Some(file) => {
                let anatomy = anatomy(folder, file, &row).map_err(|why| format!("{file}: {why}"))?;
                let name = file.trim_end_matches(".visa").to_owned();
                found.push(Priced { row, name, anatomy });
            }
            None => without.push(row),
        }
    }
    Ok((found, without))
}

fn anatomy(folder: &Path, file: &str, row: &Row) -> Result<Anatomy, String> {
    let flags = [file, "--allocate", "--cost", "--machine", "rngd-silicon", "--report", "json"];
    let mut io = Io::buffered("", folder.join("data"));
    if visa_run::run(&Registry::standard(), &flags.map(str::to_owned), &mut io) != 0 {
        return Err(String::from_utf8_lossy(&io.stderr).into_owned());
    }
    let document: Value = serde_json::from_slice(&io.stdout).map_err(|why| why.to_string())?;
    let commands = document["report"]["commands"].as_array().ok_or("the report has no commands")?;
    let mut own = commands.iter().filter(|command| command["kind"] == row.kind.as_str());
    let command = match row.which {
        Which::First => own.next(),
        Which::Second => own.nth(1),
        Which::Last => own.next_back(),
    };
    let command = command.ok_or_else(|| format!("it has no such command of {}", row.kind))?;
    serde_json::from_value(command["anatomy"].clone()).map_err(|why| why.to_string())
}
