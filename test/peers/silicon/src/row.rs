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
    /// Cycles of the vendor's schedule, where they are known.
    static_cycles: Option<f64>,
    /// Measured ticks, the median, where it was measured.
    ticks: Option<f64>,
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
    /// Time that it is compared with.
    pub(crate) time: f64,
}

/// What a row is compared with.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Against {
    /// The chip: ticks.
    Chip,
    /// The vendor's schedule: cycles.
    Schedule,
}

impl Against {
    /// The machine that is fitted to it.
    pub(crate) const fn machine(self) -> &'static str {
        match self {
            Self::Chip => "rngd-silicon",
            Self::Schedule => "rngd-schedule",
        }
    }
}

impl Row {
    /// Its time on one side; `None` if that side has none.
    pub(crate) fn time(&self, against: Against) -> Option<f64> {
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
    pub(crate) fn sample(&self) -> Sample {
        Sample { anatomy: self.anatomy, ticks: self.time }
    }

    pub(crate) fn is_of(&self, kernel: &str) -> bool {
        self.row.kernels.iter().any(|own| own == kernel)
    }
}

/// Reads the rows.
///
/// # Errors
/// A file that is missing or wrong.
pub(crate) fn rows(folder: &Path) -> Result<Vec<Row>, String> {
    let path = folder.join("rows.json");
    let text =
        std::fs::read_to_string(&path).map_err(|why| format!("cannot read {}: {why}", path.display()))?;
    serde_json::from_str(&text).map_err(|why| format!("{}: {why}", path.display()))
}

/// The rows with a time on one side, with their kernels' prices, and those without a kernel.
///
/// # Errors
/// A kernel that is missing, wrong, or without the command.
pub(crate) fn priced(
    folder: &Path,
    rows: &[Row],
    against: Against,
) -> Result<(Vec<Priced>, Vec<Row>), String> {
    let (mut found, mut without) = (Vec::new(), Vec::new());
    for row in rows {
        match (&row.file, row.time(against)) {
            (Some(file), Some(time)) => {
                let anatomy = anatomy(folder, file, row, against).map_err(|why| format!("{file}: {why}"))?;
                let name = file.trim_end_matches(".visa").to_owned();
                found.push(Priced { row: row.clone(), name, anatomy, time });
            }
            (None, Some(_)) => without.push(row.clone()),
            (_, None) => {}
        }
    }
    Ok((found, without))
}

fn anatomy(folder: &Path, file: &str, row: &Row, against: Against) -> Result<Anatomy, String> {
    let flags = [file, "--allocate", "--cost", "--machine", against.machine(), "--report", "json"];
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
