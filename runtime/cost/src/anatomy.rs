//! What the time of a command is made of, before it is known how long each part takes. A machine that was measured
//! says that: its prices and the fit of its figures come from here.

use visa_engine::Pace;
use visa_machine::{Machine, Measured};

/// The parts of a command's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anatomy {
    /// A run of the Tensor Unit.
    Pass {
        /// Cycles until the pipeline has filled.
        fill: u64,
        /// Steps of the busiest engine of each pace, in the order of [`Pace::ALL`].
        steps: [u64; Pace::ALL.len()],
    },
    /// A transfer.
    Transfer {
        /// Cycles after its start-up by a model of memories, without the limit of `written`.
        moving: u64,
        /// Bytes that it writes into the data memory of the cluster that gets the most.
        written: u64,
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
            Self::Pass { fill, steps } => {
                let each = Pace::ALL.into_iter().zip(steps);
                let busiest = each.map(|(pace, steps)| steps as f64 * ticks(pace, measured)).fold(0.0, f64::max);
                measured.pass_startup_ticks.value + fill as f64 * cycle + busiest
            }
            Self::Transfer { moving, written } => {
                let writing = written as f64 / measured.dm_write_bytes_per_tick.value;
                measured.dma_startup_ticks.value + writing.max(moving as f64 * cycle)
            }
            Self::Other(cycles) => cycles as f64 * cycle,
        }
    }

    /// The figures that its price rests on, by their numbers in [`visa_machine::FIGURES`].
    #[must_use]
    pub fn figures(&self) -> Vec<usize> {
        match self {
            Self::Pass { steps, .. } => {
                let used = |pace: usize| steps[pace] > 0;
                let paces = [(1, 2), (2, 3), (3, 4)].into_iter().filter(|&(pace, _)| used(pace));
                [0, 1].into_iter().chain(paces.map(|(_, figure)| figure)).collect()
            }
            Self::Transfer { written, .. } => {
                if *written > 0 { vec![0, 5, 6] } else { vec![0, 5] }
            }
            Self::Other(_) => vec![0],
        }
    }

    /// Its price in whole cycles where the machine was measured; else the book's.
    pub(crate) fn cycles(&self, machine: &Machine, book: u64) -> u64 {
        match &machine.measured {
            None => book,
            Some(measured) => (self.ticks(measured) / measured.ticks_per_cycle.value).round() as u64,
        }
    }
}

/// Ticks of a step.
fn ticks(pace: Pace, measured: &Measured) -> f64 {
    match pace {
        Pace::Cycle => measured.ticks_per_cycle.value,
        Pace::RegisterOperand => measured.register_operand_ticks.value,
        Pace::Contraction => measured.contraction_ticks.value,
        Pace::Table => measured.table_ticks.value,
    }
}
