//! Figures measured on silicon, over the book's figures. A tick is a step of the device's counter, in which authors
//! report times; a cycle is one of the book's, and of the vendor's schedule.

use serde::{Deserialize, Serialize};

use crate::error::FieldError;

/// The figures of a machine that was measured. All of them are there, or the machine counts the book's cycles.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measured {
    /// Ticks a cycle.
    pub ticks_per_cycle: Figure,
    /// Ticks before a pass of the Tensor Unit has its first packet.
    pub pass_startup_ticks: Figure,
    /// Ticks of each row of 32 bytes that a pass reads of a register file or of the stash.
    pub register_row_ticks: Figure,
    /// Ticks that a contraction takes longer than another pass before it has its first packet.
    pub contraction_startup_ticks: Figure,
    /// Ticks of 32 bytes that a table gives at the fetch.
    pub table_ticks: Figure,
    /// Ticks before a transfer moves its first byte, unless it reads the data memory of one cluster.
    pub dma_startup_ticks: Figure,
    /// Ticks before a transfer that reads the data memory of one cluster moves its first byte.
    pub store_startup_ticks: Figure,
    /// Ticks of each round of writes that cover units of HBM in part: an engine has up to four of a slice in flight.
    pub partial_round_ticks: Figure,
    /// Bytes a tick that all engines together write into the data memory of a cluster, in requests of the most bytes.
    /// A shorter request takes as long.
    pub dm_write_bytes_per_tick: Figure,
    /// Ticks of an inter-slice reduction for each slice of its ring, once a pass.
    pub inter_slice_ticks: Figure,
    /// Spread of runs.
    pub noise: Noise,
    /// Contractions whose weights start at an odd multiple of 256 bytes; `None` if they take no longer than others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub odd_fetch: Option<OddFetch>,
    /// Reads over a boundary of HBM; `None` if each takes two transfers, as in book 11.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub crossing: Option<Crossing>,
    /// Transfers within data memory; `None` if reads and writes take its networks at the book's rate alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared_networks: Option<SharedNetworks>,
    /// Waits of clusters for each other. Without them none costs anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub syncs: Option<Syncs>,
    /// Commands of the sub context in parallel with passes of main; `None` if they take no longer than alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parallel: Option<Parallel>,
}

/// Extra time of a command of the sub context and a pass of main in parallel, as observed: no figure is fitted to it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parallel {
    /// Ticks for each command of the sub context: the least and the most.
    pub ticks: [f64; 2],
    /// Where that is from.
    pub source: String,
}

/// An effect that authors report and no row shows: a contraction whose fetch starts at an odd multiple of
/// [`ODD_UNIT`] bytes of data memory.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OddFetch {
    /// Ticks of an access of the fetch: the least and the most that were reported.
    pub ticks: [f64; 2],
    /// Where that is from.
    pub source: String,
}

/// A law without a figure: reads of data memory at the book's rate keep its networks from writes at the measured one.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SharedNetworks {
    /// Where that is from.
    pub source: String,
}

/// Extra time of requests that read HBM over a boundary of 256 bytes, as observed: no figure is fitted to it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Crossing {
    /// Share of the time of writing a request: the least and the most.
    pub share: [f64; 2],
    /// Where that is from.
    pub source: String,
}

impl Crossing {
    /// Bytes that `requests` of `bytes` each count in addition: for each, the middle of the observed shares.
    #[must_use]
    pub const fn bytes(&self, requests: u64, bytes: u64) -> u64 {
        let [least, most] = self.share;
        (requests as f64 * bytes as f64 * f64::midpoint(least, most)).round() as u64
    }
}

/// Bytes of data memory of which an odd multiple is a slow start of a contraction's weights.
pub const ODD_UNIT: u64 = 256;

impl OddFetch {
    /// Ticks of the accesses of a fetch: for each, the middle of the reported ones.
    #[must_use]
    pub const fn ticks(&self, accesses: u64) -> f64 {
        let [least, most] = self.ticks;
        accesses as f64 * f64::midpoint(least, most)
    }

    /// Returns true if `address` is an odd multiple of [`ODD_UNIT`].
    #[must_use]
    pub const fn is_odd(address: u64) -> bool {
        address % (2 * ODD_UNIT) == ODD_UNIT
    }
}

/// A measured number.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// The number.
    pub value: f64,
    /// Interval of the value: nine in ten fits to drawn rows lie in it.
    pub interval: [f64; 2],
    /// Number of measured rows that fix it. If 0, it is assumed.
    pub rows: u64,
    /// Where it is from.
    pub source: String,
}

/// Spread of runs of one program, as shares of their ticks.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Noise {
    /// Medians of jobs: the least and the most.
    pub jobs: [f64; 2],
    /// Extra time of a cold run compared with a warm one.
    pub cold: [f64; 2],
    /// Where that is from.
    pub source: String,
}

/// Waits of clusters for each other, as observed: no figure is fitted to them.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Syncs {
    /// Ticks from the end of a store to the start of a transfer that reads its bytes back, if clusters exchange bytes
    /// with it: the least, the median and the most.
    pub reload: [f64; 3],
    /// Ticks of a kernel before its first command and after its last one.
    pub kernel: f64,
    /// Where that is from.
    pub source: String,
}

impl Syncs {
    /// Fields with invalid values.
    fn wrong_fields(&self) -> Vec<FieldError> {
        let [least, median, most] = self.reload;
        let reload = (0.0 <= least && least <= median && median <= most && most <= MAX_SYNC).then_some(());
        let kernel = (0.0..=MAX_SYNC).contains(&self.kernel).then_some(());
        let wrong = |field, found: String, expected: &str| FieldError {
            field,
            found,
            expected: format!("{expected}, each from 0 to {MAX_SYNC}"),
        };
        let reload = reload.is_none().then(|| {
            let found = format!("[{least}, {median}, {most}]");
            wrong("measured.syncs.reload", found, "the least, the median and the most ticks")
        });
        let kernel = kernel.is_none().then(|| {
            wrong("measured.syncs.kernel", self.kernel.to_string(), "the ticks around the commands")
        });
        reload.into_iter().chain(kernel).collect()
    }
}

/// Most ticks of a wait.
const MAX_SYNC: f64 = 1e6;

/// Numbers of the figures in [`FIGURES`].
pub mod figure {
    /// Of [`ticks_per_cycle`](super::Measured::ticks_per_cycle).
    pub const TICK: usize = 0;
    /// Of [`pass_startup_ticks`](super::Measured::pass_startup_ticks).
    pub const PASS: usize = 1;
    /// Of [`register_row_ticks`](super::Measured::register_row_ticks).
    pub const REGISTER_ROW: usize = 2;
    /// Of [`contraction_startup_ticks`](super::Measured::contraction_startup_ticks).
    pub const CONTRACTION: usize = 3;
    /// Of [`table_ticks`](super::Measured::table_ticks).
    pub const TABLE: usize = 4;
    /// Of [`dma_startup_ticks`](super::Measured::dma_startup_ticks).
    pub const DMA: usize = 5;
    /// Of [`store_startup_ticks`](super::Measured::store_startup_ticks).
    pub const STORE: usize = 6;
    /// Of [`partial_round_ticks`](super::Measured::partial_round_ticks).
    pub const PARTIAL_ROUND: usize = 7;
    /// Of [`dm_write_bytes_per_tick`](super::Measured::dm_write_bytes_per_tick).
    pub const DM_WRITE: usize = 8;
    /// Of [`inter_slice_ticks`](super::Measured::inter_slice_ticks).
    pub const INTER_SLICE: usize = 9;
}

/// Names of the figures, as fields of a description.
pub const FIGURES: [&str; 10] = [
    "measured.ticks_per_cycle",
    "measured.pass_startup_ticks",
    "measured.register_row_ticks",
    "measured.contraction_startup_ticks",
    "measured.table_ticks",
    "measured.dma_startup_ticks",
    "measured.store_startup_ticks",
    "measured.partial_round_ticks",
    "measured.dm_write_bytes_per_tick",
    "measured.inter_slice_ticks",
];

impl Measured {
    /// The figures in the order of [`FIGURES`].
    #[must_use]
    pub const fn figures(&self) -> [&Figure; FIGURES.len()] {
        [
            &self.ticks_per_cycle,
            &self.pass_startup_ticks,
            &self.register_row_ticks,
            &self.contraction_startup_ticks,
            &self.table_ticks,
            &self.dma_startup_ticks,
            &self.store_startup_ticks,
            &self.partial_round_ticks,
            &self.dm_write_bytes_per_tick,
            &self.inter_slice_ticks,
        ]
    }

    /// Returns true if a tick is a cycle, as in a description of the vendor's schedules.
    #[must_use]
    pub fn counts_cycles(&self) -> bool {
        (self.ticks_per_cycle.value - 1.0).abs() < f64::EPSILON
    }

    /// Cycles from the end of a store to the start of a transfer that reads its bytes back, between clusters.
    #[must_use]
    pub fn reload_cycles(&self) -> u64 {
        let [_, median, _] = self.syncs.as_ref().map_or([0.0; 3], |syncs| syncs.reload);
        (median / self.ticks_per_cycle.value).round() as u64
    }

    /// The same in ticks, as reports count them.
    #[must_use]
    pub fn reload_ticks(&self) -> u64 {
        (self.reload_cycles() as f64 * self.ticks_per_cycle.value).round() as u64
    }

    /// The figures, to change them.
    pub const fn figures_mut(&mut self) -> [&mut Figure; FIGURES.len()] {
        [
            &mut self.ticks_per_cycle,
            &mut self.pass_startup_ticks,
            &mut self.register_row_ticks,
            &mut self.contraction_startup_ticks,
            &mut self.table_ticks,
            &mut self.dma_startup_ticks,
            &mut self.store_startup_ticks,
            &mut self.partial_round_ticks,
            &mut self.dm_write_bytes_per_tick,
            &mut self.inter_slice_ticks,
        ]
    }

    /// Fields with invalid values.
    pub(crate) fn wrong_fields(&self) -> Vec<FieldError> {
        let each = FIGURES.into_iter().zip(self.figures()).zip(BOUNDS);
        let mut errors: Vec<FieldError> = each
            .filter_map(|((field, figure), bounds)| {
                let [low, high] = figure.interval;
                let held = bounds.contains(&figure.value) && (low..=high).contains(&figure.value);
                let expected = format!(
                    "{} to {} with an interval around it, as `\"value\": 2.0, \"interval\": [1.9, 2.1]`",
                    bounds.start(),
                    bounds.end()
                );
                let found = format!("{} in [{low}, {high}]", figure.value);
                (!held).then_some(FieldError { field, found, expected })
            })
            .collect();
        let noise = [("measured.noise.jobs", self.noise.jobs), ("measured.noise.cold", self.noise.cold)];
        if let Some(OddFetch { ticks: [least, most], .. }) = self.odd_fetch
            && !(0.0 < least && least <= most && most <= 1e4)
        {
            let expected = "two numbers of ticks, the smaller one first, as `[9.2, 9.5]`".to_owned();
            errors.push(FieldError {
                field: "measured.odd_fetch.ticks",
                found: format!("[{least}, {most}]"),
                expected,
            });
        }
        if let Some(Crossing { share: [least, most], .. }) = self.crossing
            && !(0.0 <= least && least <= most && most <= 10.0)
        {
            errors.push(FieldError {
                field: "measured.crossing.share",
                found: format!("[{least}, {most}]"),
                expected: "two shares from 0 to 10, the smaller one first, as `[0.4, 0.5]`".to_owned(),
            });
        }
        if let Some(Parallel { ticks: [least, most], .. }) = self.parallel
            && !(0.0 <= least && least <= most && most <= 1e6)
        {
            let expected = "two numbers of ticks, the smaller one first, as `[0, 750]`".to_owned();
            errors.push(FieldError {
                field: "measured.parallel.ticks",
                found: format!("[{least}, {most}]"),
                expected,
            });
        }
        errors.extend(
            noise.into_iter().filter(|(_, [low, high])| !(0.0 <= *low && low <= high && *high < 1.0)).map(
                |(field, [low, high])| FieldError {
                    field,
                    found: format!("[{low}, {high}]"),
                    expected: "two shares from 0 to 1, the smaller one first".to_owned(),
                },
            ),
        );
        errors.extend(self.syncs.iter().flat_map(Syncs::wrong_fields));
        errors
    }
}

/// Bounds of each figure. A figure that is a divisor cannot be 0.
const BOUNDS: [std::ops::RangeInclusive<f64>; FIGURES.len()] = [
    0.01..=1e3,
    0.0..=1e6,
    0.0..=1e4,
    0.0..=1e6,
    0.0..=1e4,
    0.0..=1e6,
    0.0..=1e6,
    0.0..=1e4,
    0.01..=1e6,
    0.0..=1e4,
];
