//! Components of the time of a command, before the length of each part is known. On a calibrated machine its price and
//! the fit of the machine's figures are based on them.

use serde::{Deserialize, Serialize};
use visa_engine::Pace;
use visa_machine::{Machine, Measured, figure};

/// The parts of a command's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Anatomy {
    /// A run of the Tensor Unit.
    Pass {
        /// Cycles until the pipeline has filled, without the way around `ring`.
        fill: u64,
        /// Slices that a reduction goes around.
        ring: u64,
        /// Steps of the busiest engine of each pace, in the order of [`Pace::ALL`].
        steps: [u64; Pace::ALL.len()],
        /// Rows of 32 bytes of register operands, or of the stash. Each is read once, for any number of steps.
        rows: u64,
        /// Contractions: 1, or 0 in another pass.
        contractions: u64,
        /// Accesses of a contraction's fetch that starts at an odd multiple of [`visa_machine::ODD_UNIT`] bytes.
        #[serde(default, skip_serializing_if = "is_none")]
        odd: u64,
    },
    /// A transfer.
    Transfer {
        /// Start-ups but those of `stores`, one after the other: of indices too, where these choose rows.
        starts: u64,
        /// Start-ups that read the data memory of one cluster.
        stores: u64,
        /// Cycles after its start-up by a model of memories, without the limit of `written` and without `rounds`.
        moving: u64,
        /// Bytes that it writes into the data memory of the cluster that gets the most. A request writes as long as
        /// one of the most bytes.
        written: u64,
        /// Cycles in which that cluster's networks carry bytes that are read; 0 unless a machine shares them
        /// ([`visa_machine::SharedNetworks`]).
        #[serde(default, skip_serializing_if = "is_none")]
        reading: u64,
        /// Rounds of writes that cover units of HBM in part ([`visa_memory::partial_rounds`]).
        rounds: u64,
    },
    /// Anything else, in cycles.
    Other(u64),
}

impl Anatomy {
    /// Ticks by the figures of a machine that was measured.
    #[must_use]
    pub fn ticks(&self, measured: &Measured) -> f64 {
        let cycle = measured.ticks_per_cycle.value;
        match *self {
            Self::Pass { fill, ring, steps, rows, contractions, odd } => {
                let busiest = longest(steps, measured).max(at_odd_start(odd, measured));
                let around = ring as f64 * measured.inter_slice_ticks.value;
                let operands = rows as f64 * measured.register_row_ticks.value;
                let more = contractions as f64 * measured.contraction_startup_ticks.value;
                let start = measured.pass_startup_ticks.value + more;
                start + fill as f64 * cycle + around + busiest + operands
            }
            Self::Transfer { starts, stores, moving, written, reading, rounds } => {
                let longest = in_data_memory(written, reading, measured).max(moving as f64 * cycle);
                let in_part = rounds as f64 * measured.partial_round_ticks.value;
                started(starts, stores, measured) + longest + in_part
            }
            Self::Other(cycles) => cycles as f64 * cycle,
        }
    }

    /// The engine that a pass waits for on a calibrated machine; `None` for a command that is no pass.
    #[must_use]
    pub fn busiest(&self, measured: &Measured) -> Option<Pace> {
        let Self::Pass { steps, .. } = self else { return None };
        let time = |(pace, steps): &(Pace, u64)| *steps as f64 * ticks(*pace, measured);
        let all = Pace::ALL.into_iter().zip(*steps);
        all.max_by(|own, other| time(own).total_cmp(&time(other))).map(|(pace, _)| pace)
    }

    /// Returns true if a pass takes longer to read the rows of its operands than its busiest engine for its steps.
    pub(crate) fn reads_rows_longest(&self, measured: &Measured) -> bool {
        match *self {
            Self::Pass { steps, rows, .. } => {
                rows as f64 * measured.register_row_ticks.value > longest(steps, measured)
            }
            Self::Transfer { .. } | Self::Other(_) => false,
        }
    }

    /// Returns true if a pass waits for a fetch that starts at an odd multiple of [`visa_machine::ODD_UNIT`] bytes.
    pub(crate) fn fetches_oddly(&self, measured: &Measured) -> bool {
        match *self {
            Self::Pass { steps, odd, .. } => at_odd_start(odd, measured) > longest(steps, measured),
            Self::Transfer { .. } | Self::Other(_) => false,
        }
    }

    /// Returns true if a transfer waits for data memory to be written.
    pub(crate) fn writes_longest(&self, measured: &Measured) -> bool {
        match *self {
            Self::Transfer { starts, stores, moving, written, reading, .. } => {
                let others = moving as f64 * measured.ticks_per_cycle.value;
                in_data_memory(written, reading, measured) > others.max(started(starts, stores, measured))
            }
            Self::Pass { .. } | Self::Other(_) => false,
        }
    }

    /// The figures that its price rests on, by their numbers ([`figure`]).
    #[must_use]
    pub fn figures(&self) -> Vec<usize> {
        let (always, where_used) = match *self {
            Self::Pass { ring, steps, rows, contractions, .. } => {
                let paces = Pace::ALL.into_iter().zip(steps).map(|(pace, steps)| (of_pace(pace), steps));
                let others = [
                    (figure::INTER_SLICE, ring),
                    (figure::REGISTER_ROW, rows),
                    (figure::CONTRACTION, contractions),
                ];
                (vec![figure::TICK, figure::PASS], paces.chain(others).collect())
            }
            Self::Transfer { starts, stores, written, rounds, .. } => {
                let others = [
                    (figure::DMA, starts),
                    (figure::STORE, stores),
                    (figure::DM_WRITE, written),
                    (figure::PARTIAL_ROUND, rounds),
                ];
                (vec![figure::TICK], others.to_vec())
            }
            Self::Other(_) => (vec![figure::TICK], Vec::new()),
        };
        let used = where_used.into_iter().filter(|(figure, part)| *part > 0 && !always.contains(figure));
        let used: Vec<usize> = used.map(|(figure, _)| figure).collect();
        [always, used].concat()
    }

    /// Its price in whole cycles where the machine was measured; else the book's.
    pub(crate) fn cycles(&self, machine: &Machine, book: u64) -> u64 {
        match &machine.measured {
            None => book,
            Some(measured) => (self.ticks(measured) / measured.ticks_per_cycle.value).round() as u64,
        }
    }
}

/// Ticks of the steps of the busiest engine.
fn longest(steps: [u64; Pace::ALL.len()], measured: &Measured) -> f64 {
    let each = Pace::ALL.into_iter().zip(steps);
    each.map(|(pace, steps)| steps as f64 * ticks(pace, measured)).fold(0.0, f64::max)
}

/// Ticks of the accesses of a fetch that starts at an odd multiple of [`visa_machine::ODD_UNIT`] bytes.
fn at_odd_start(accesses: u64, measured: &Measured) -> f64 {
    measured.odd_fetch.as_ref().map_or(0.0, |reported| reported.ticks(accesses))
}

/// Returns true if there is none: the field is then left out of reports.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_none(count: &u64) -> bool {
    *count == 0
}

/// Ticks of a step.
const fn ticks(pace: Pace, measured: &Measured) -> f64 {
    measured.figures()[of_pace(pace)].value
}

/// The figure of a step.
const fn of_pace(pace: Pace) -> usize {
    match pace {
        Pace::Cycle => figure::TICK,
        Pace::Table => figure::TABLE,
    }
}

/// Ticks of the start-ups of a transfer.
fn started(starts: u64, stores: u64, measured: &Measured) -> f64 {
    starts as f64 * measured.dma_startup_ticks.value + stores as f64 * measured.store_startup_ticks.value
}

/// Ticks of writing `written` bytes into the data memory of a cluster, after its networks have carried the bytes that
/// are read there.
fn in_data_memory(written: u64, reading: u64, measured: &Measured) -> f64 {
    let read = reading as f64 * measured.ticks_per_cycle.value;
    written as f64 / measured.dm_write_bytes_per_tick.value + read
}
