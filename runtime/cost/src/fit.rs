//! Fits the figures of a machine to commands that were measured.
//!
//! The loss of a command is how many times as long, or as short, its price is: the sum of these, as logarithms without
//! their signs, is least. So a command that no figure explains counts as one, however far off it is. Each figure in
//! turn takes its best value, until none changes.

use visa_machine::{FIGURES, Figure, Measured};

use crate::anatomy::Anatomy;
use crate::rows::{GOLDEN, mixed};

/// A command that was measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// What its time is made of.
    pub anatomy: Anatomy,
    /// What was measured.
    pub ticks: f64,
}

/// Why nothing can be fitted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FitError {
    /// Fewer commands than figures that their prices rest on.
    TooFew {
        /// Commands.
        samples: usize,
        /// Those figures.
        figures: usize,
    },
    /// A command that took no time, or less.
    NoTime,
}

impl std::fmt::Display for FitError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::TooFew { samples, figures } => {
                write!(f, "{samples} measured commands, expected at least {figures}: one for each figure")
            }
            Self::NoTime => write!(f, "a command took 0 ticks, expected at least 1"),
        }
    }
}

impl std::error::Error for FitError {}

/// Part of a price that a figure must be to count as fixed by it, in per cent of its own change.
const FIXES: f64 = 0.1;

/// Fits that intervals are made of.
const DRAWS: usize = 200;

/// Fits the figures that prices of the samples rest on; others stay as they are in `start`. `tick` says whether ticks
/// a cycle are among them: a schedule counts cycles, so there they are 1. Intervals are those of nine in ten fits to
/// samples that are drawn from these, always the same ones.
///
/// # Errors
/// Fewer samples than figures, or one that took no time.
pub fn fit(samples: &[Sample], start: &Measured, tick: bool, source: &str) -> Result<Measured, FitError> {
    let used: Vec<usize> = (0..FIGURES.len())
        .filter(|&figure| (tick || figure != 0) && samples.iter().any(|sample| rests_on(sample, figure)))
        .collect();
    if samples.len() < used.len() || samples.is_empty() {
        return Err(FitError::TooFew { samples: samples.len(), figures: used.len().max(1) });
    }
    if samples.iter().any(|sample| sample.ticks <= 0.0) {
        return Err(FitError::NoTime);
    }
    let mut best = start.clone();
    settle(samples, &used, &mut best);
    let mut random = 23;
    let mut drawn: Vec<Vec<f64>> = vec![Vec::new(); FIGURES.len()];
    for _ in 0..DRAWS {
        let some: Vec<Sample> = samples.iter().map(|_| samples[draw(&mut random, samples.len())]).collect();
        let mut other = best.clone();
        settle(&some, &used, &mut other);
        for &figure in &used {
            drawn[figure].push(other.figures()[figure].value);
        }
    }
    for &figure in &used {
        let fixing = samples.iter().filter(|sample| fixes(sample, &best, figure)).count() as u64;
        let own = &mut *best.figures_mut()[figure];
        let (low, high) = interval(&mut drawn[figure], own.value);
        *own = Figure { value: own.value, interval: [low, high], rows: fixing, source: source.to_owned() };
    }
    Ok(best)
}

/// A number below `count`, by SplitMix64.
fn draw(state: &mut u64, count: usize) -> usize {
    *state = state.wrapping_add(GOLDEN);
    (mixed(*state) % count.max(1) as u64) as usize
}

fn rests_on(sample: &Sample, figure: usize) -> bool {
    sample.anatomy.figures().contains(&figure)
}

/// Whether a figure is a part of a price worth mentioning.
fn fixes(sample: &Sample, measured: &Measured, figure: usize) -> bool {
    let mut more = measured.clone();
    more.figures_mut()[figure].value *= 1.01;
    let (before, after) = (sample.anatomy.ticks(measured), sample.anatomy.ticks(&more));
    (after / before - 1.0).abs() * 100.0 >= FIXES
}

/// The range in which nine in ten values lie, and the value itself.
fn interval(values: &mut [f64], value: f64) -> (f64, f64) {
    values.sort_by(f64::total_cmp);
    let at = |share: f64| values.get(((values.len() as f64 - 1.0) * share).round() as usize).copied();
    let (low, high) = (at(0.05).unwrap_or(value), at(0.95).unwrap_or(value));
    (low.min(value), high.max(value))
}

/// Gives each figure its best value in turn, until none gets better.
fn settle(samples: &[Sample], used: &[usize], measured: &mut Measured) {
    let mut least = loss(samples, measured);
    loop {
        for &figure in used {
            search(samples, figure, measured);
        }
        let now = loss(samples, measured);
        if least - now < 1e-6 {
            return;
        }
        least = now;
    }
}

/// The best value of a figure: from steps of a fifth down to one in ten thousand.
fn search(samples: &[Sample], figure: usize, measured: &mut Measured) {
    let mut step = 0.2;
    let mut least = loss(samples, measured);
    while step > 1e-4 {
        let own = measured.figures()[figure].value;
        let mut better = false;
        for other in [own * (1.0 + step), own / (1.0 + step)] {
            measured.figures_mut()[figure].value = other;
            let found = loss(samples, measured);
            if found < least {
                (least, better) = (found, true);
                break;
            }
            measured.figures_mut()[figure].value = own;
        }
        if !better {
            step /= 2.0;
        }
    }
}

fn loss(samples: &[Sample], measured: &Measured) -> f64 {
    samples.iter().map(|sample| (sample.anatomy.ticks(measured) / sample.ticks).ln().abs()).sum()
}
