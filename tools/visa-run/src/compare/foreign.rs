//! Another source's data of a kernel's commands, and ours in the same words.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::Serialize;
use visa_cost::{CommandReport, Resource, TimeUnit};

/// A kind of command, as both sides tell them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    /// A transfer.
    Dma,
    /// A run of the Tensor Unit that commits.
    Pass,
    /// A load of the tensor register file.
    Trf,
    /// A load of the vector register file.
    Vrf,
    /// A load of a look-up table, once its bytes are in data memory.
    Table,
}

impl Kind {
    /// All of them, in the order of the enumeration.
    pub(crate) const ALL: [Self; 5] = [Self::Dma, Self::Pass, Self::Trf, Self::Vrf, Self::Table];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Dma => "dma",
            Self::Pass => "pass",
            Self::Trf => "trf",
            Self::Vrf => "vrf",
            Self::Table => "table",
        }
    }

    /// The kind of a command of ours; `None` for commands that the device does not run.
    pub(crate) fn of(command: &CommandReport) -> Option<Self> {
        match command.kind {
            Resource::Dma => Some(Self::Dma),
            Resource::Pcie => None,
            Resource::Main | Resource::Sub | Resource::Dual => match command.label.rsplit('>').next() {
                Some("store_trf") => Some(Self::Trf),
                Some("store_vrf") => Some(Self::Vrf),
                Some("store_table") => Some(Self::Table),
                Some(_) | None if command.label.starts_with("launch") => None,
                Some(_) | None => Some(Self::Pass),
            },
        }
    }
}

/// A command of theirs.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entry {
    /// `None` if both clusters are one.
    pub(crate) cluster: Option<u64>,
    pub(crate) kind: Kind,
    /// From the first begin of its cluster on.
    pub(crate) begin: u64,
    pub(crate) end: u64,
    /// Its name; may be empty.
    pub(crate) name: String,
    /// True if it ended when the clusters had waited for each other: its time includes the wait.
    pub(crate) synced: bool,
}

impl Entry {
    /// Where the author's text begins it: the name is `FILE:LINE:COLUMN`.
    pub(crate) fn place(&self) -> Option<(&str, usize)> {
        let (file, rest) = self.name.split_once(':')?;
        let line = rest.split(':').next()?.parse().ok()?;
        Some((file, line))
    }

    /// Its duration.
    pub(crate) const fn time(&self) -> u64 {
        self.end.saturating_sub(self.begin)
    }
}

/// A trace or a schedule.
#[derive(Debug)]
pub(crate) struct Foreign {
    /// `the trace`, `the schedule`.
    pub(crate) what: &'static str,
    pub(crate) unit: TimeUnit,
    /// In the order of their begins, for each cluster.
    pub(crate) entries: Vec<Entry>,
    /// For each cluster, from the begin of the kernel to its first entry.
    pub(crate) starts: BTreeMap<Option<u64>, u64>,
    /// From the first begin to the last end.
    pub(crate) makespan: u64,
    /// Warnings about the file.
    pub(crate) warnings: Vec<String>,
}

impl Foreign {
    /// The begin of an entry, from that of the kernel on its cluster.
    pub(crate) fn since_start(&self, entry: usize) -> u64 {
        let entry = &self.entries[entry];
        self.starts.get(&entry.cluster).copied().unwrap_or_default() + entry.begin
    }

    /// Returns true if a command may be a run of ours, by their kinds.
    ///
    /// The vendor's schedule names the register file at the end of a pass. The device's trace has plain loads of it
    /// alone: a load of the vector register file that converts, or a pass that ends there, is a pass.
    pub(crate) fn may_be(&self, own: &Ours, theirs: &Entry) -> bool {
        let kind = match (self.unit, own.kind) {
            (TimeUnit::Tick, Kind::Vrf) if !own.plain => Kind::Pass,
            (TimeUnit::Tick, Kind::Trf) if !own.plain && theirs.kind == Kind::Pass => Kind::Pass,
            (TimeUnit::Tick | TimeUnit::Cycle, kind) => kind,
        };
        kind == theirs.kind
    }
}

/// A run of a command of ours.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Ours {
    /// Its place among all runs.
    pub(crate) run: usize,
    pub(crate) command: usize,
    /// The tensor that it moves or makes, in the kernel's names.
    pub(crate) name: Option<String>,
    pub(crate) kind: Kind,
    /// Resource that runs it.
    pub(crate) queue: Resource,
    /// The clusters whose data memory a transfer touches; `None` if they are not known.
    pub(crate) clusters: Option<Range<u64>>,
    /// True for a load of a register file that neither converts nor computes.
    pub(crate) plain: bool,
    /// The runs of the same list whose results it reads.
    pub(crate) sources: Vec<usize>,
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// Where the author's text ends it, if it is known: a file's name without its folder, and a line.
    pub(crate) place: Option<(String, usize)>,
}

impl Ours {
    pub(crate) const fn time(&self) -> u64 {
        self.end.saturating_sub(self.start)
    }

    /// Returns true if an entry is of a cluster in which the transfer moves nothing: the device's trace has a transfer
    /// on every cluster.
    pub(crate) fn is_idle(&self, theirs: &Entry) -> bool {
        let moves = |cluster: u64| self.clusters.as_ref().is_none_or(|own| own.contains(&cluster));
        self.kind == Kind::Dma && theirs.cluster.is_some_and(|cluster| !moves(cluster))
    }
}
