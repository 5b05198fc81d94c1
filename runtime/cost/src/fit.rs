//! Fits the figures of a machine to commands that were measured.
//!
//! The loss of a command is the factor by which its price is too long or too short, as a logarithm: squared up to a
//! twentieth, linear above that (Huber's loss). So a command that no figure explains does not pull the figures after
//! it, however far off it is. The figures take their best values one after another, until none changes.

use visa_machine::{FIGURES, Figure, Measured, figure};

use crate::anatomy::Anatomy;
use crate::rows::{GOLDEN, mixed};

/// A command that was measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// Components of its time.
    pub anatomy: Anatomy,
    /// Measured time.
    pub ticks: f64,
}

/// Reason that no figures can be fitted.
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

/// Least part of a price that rests on a figure, for the row to be one of those that fix it.
const FIXES: f64 = 0.1;

/// By how much a figure is changed to see that part.
const CHANGE: f64 = 0.01;

/// Fits that intervals are made of.
const DRAWS: usize = 200;

/// Weight of the figures from which a fit starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// None: the samples decide.
    Guess,
    /// Each counts as one sample, so that a figure which few samples fix stays near.
    Sample,
}

/// Fits the figures that prices of the samples rest on; others stay as they are in `start`. `tick` is true if ticks a
/// cycle are among them: a schedule counts cycles, so there they are 1. Intervals are those of nine in ten fits to
/// samples that are drawn from these, always the same ones.
///
/// # Errors
/// Fewer samples than figures, or one that took no time.
pub fn fit(
    samples: &[Sample],
    (start, weight): (&Measured, Start),
    tick: bool,
    source: &str,
) -> Result<Measured, FitError> {
    let used: Vec<usize> = (0..FIGURES.len())
        .filter(|&figure| {
            (tick || figure != figure::TICK) && samples.iter().any(|sample| rests_on(sample, figure))
        })
        .collect();
    if samples.len() < used.len() || samples.is_empty() {
        return Err(FitError::TooFew { samples: samples.len(), figures: used.len().max(1) });
    }
    if samples.iter().any(|sample| sample.ticks <= 0.0) {
        return Err(FitError::NoTime);
    }
    let near = (weight == Start::Sample).then_some(start);
    let mut best = start.clone();
    settle(&Data { samples, near }, &used, &mut best);
    let mut random = 23;
    let mut drawn: Vec<Vec<f64>> = vec![Vec::new(); FIGURES.len()];
    for _ in 0..DRAWS {
        let some: Vec<Sample> = samples.iter().map(|_| samples[draw(&mut random, samples.len())]).collect();
        let mut other = best.clone();
        settle(&Data { samples: &some, near }, &used, &mut other);
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

/// Returns true if a figure is a part of a price worth mentioning.
fn fixes(sample: &Sample, measured: &Measured, figure: usize) -> bool {
    let mut more = measured.clone();
    more.figures_mut()[figure].value *= 1.0 + CHANGE;
    let (before, after) = (sample.anatomy.ticks(measured), sample.anatomy.ticks(&more));
    (after / before - 1.0).abs() >= FIXES * CHANGE
}

/// The range in which nine in ten values lie, and the value itself.
fn interval(values: &mut [f64], value: f64) -> (f64, f64) {
    values.sort_by(f64::total_cmp);
    let at = |share: f64| values.get(((values.len() as f64 - 1.0) * share).round() as usize).copied();
    let (low, high) = (at(0.05).unwrap_or(value), at(0.95).unwrap_or(value));
    (low.min(value), high.max(value))
}

/// Gives the figures their best values one after another, until none gets better.
fn settle(data: &Data<'_>, used: &[usize], measured: &mut Measured) {
    let mut least = data.loss(measured);
    loop {
        for &figure in used {
            search(data, figure, measured);
        }
        let now = data.loss(measured);
        if least - now < 1e-6 {
            return;
        }
        least = now;
    }
}

/// The best value of a figure: from steps of a fifth down to one in ten thousand.
fn search(data: &Data<'_>, figure: usize, measured: &mut Measured) {
    let mut step = 0.2;
    let mut least = data.loss(measured);
    while step > 1e-4 {
        let own = measured.figures()[figure].value;
        let mut better = false;
        for other in [own * (1.0 + step), own / (1.0 + step)] {
            measured.figures_mut()[figure].value = other;
            let found = data.loss(measured);
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

/// The data of a fit.
struct Data<'a> {
    samples: &'a [Sample],
    /// Figures that count as one sample each.
    near: Option<&'a Measured>,
}

impl Data<'_> {
    fn loss(&self, measured: &Measured) -> f64 {
        let off = |own: f64, other: f64| huber((own / other).ln().abs());
        let samples = self.samples.iter().map(|sample| off(sample.anatomy.ticks(measured), sample.ticks));
        let figures = self.near.into_iter().flat_map(Measured::figures).zip(measured.figures());
        // A figure of 0 has no factor.
        let figures = figures.filter(|(near, _)| near.value > 0.0);
        samples.sum::<f64>() + figures.map(|(near, own)| off(own.value, near.value)).sum::<f64>()
    }
}

/// From here on a loss grows as it is, and not by its square.
const NEAR: f64 = 0.05;

/// Huber's loss.
fn huber(off: f64) -> f64 {
    if off < NEAR { off * off / (2.0 * NEAR) } else { off - NEAR / 2.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use visa_machine::Machine;

    fn known() -> Measured {
        let mut known =
            Machine::named("rngd-silicon").and_then(|machine| machine.measured).expect("a machine");
        for (figure, value) in known
            .figures_mut()
            .into_iter()
            .zip([2.0, 300.0, 5.0, 600.0, 6.0, 1000.0, 700.0, 11.0, 300.0, 20.0])
        {
            figure.value = value;
        }
        known
    }

    fn anatomies() -> Vec<Anatomy> {
        let pass = |fill, ring, steps, rows, contractions| Anatomy::Pass {
            fill,
            ring,
            steps,
            rows,
            contractions,
            odd: 0,
        };
        let moved = |starts, stores, moving, written, rounds| Anatomy::Transfer {
            starts,
            stores,
            moving,
            written,
            reading: 0,
            rounds,
        };
        let mut all = Vec::new();
        for steps in [16, 60, 120, 480, 2000] {
            all.extend([
                pass(4, 0, [steps, 0], 0, 0),
                pass(4, 0, [steps, 0], steps / 2, 0),
                pass(11, 0, [steps, 0], 0, 1),
                pass(5, 0, [0, steps], 0, 0),
                pass(3, steps, [1, 0], 0, 0),
                moved(1, 0, steps, 0, 0),
                moved(1, 0, steps, steps * 4000, 0),
                moved(0, 1, steps, 0, 0),
                moved(0, 1, steps, 0, steps),
            ]);
        }
        all
    }

    fn samples(by: &Measured) -> Vec<Sample> {
        anatomies().into_iter().map(|anatomy| Sample { anatomy, ticks: anatomy.ticks(by) }).collect()
    }

    /// From other figures the known ones are found; nearly so where one command in ten took three times as long.
    #[test]
    fn known_figures_are_found() {
        let known = known();
        let mut start = known.clone();
        for figure in start.figures_mut() {
            figure.value *= 1.7;
        }
        let mut slow = samples(&known);
        slow.iter_mut().step_by(10).for_each(|sample| sample.ticks *= 3.0);
        for (samples, off) in [(samples(&known), 0.001), (slow, 0.125)] {
            let found = fit(&samples, (&start, Start::Guess), true, "a test").expect("a fit");
            for (own, wanted) in found.figures().into_iter().zip(known.figures()) {
                assert!((own.value / wanted.value - 1.0).abs() < off, "{} for {}", own.value, wanted.value);
                assert!(own.interval[0] <= own.value && own.value <= own.interval[1] && own.rows > 0);
            }
        }
    }

    #[test]
    fn what_no_command_rests_on_stays() {
        let (known, mut start) = (known(), known());
        start.table_ticks.value = 99.0;
        let some: Vec<Sample> =
            samples(&known).into_iter().filter(|sample| !rests_on(sample, figure::TABLE)).collect();
        assert_eq!(
            fit(&some, (&start, Start::Guess), true, "a test").expect("a fit").table_ticks,
            start.table_ticks
        );
        // A schedule's cycles are cycles.
        let one = fit(&samples(&known), (&known, Start::Guess), false, "a test").expect("a fit");
        assert_eq!(one.ticks_per_cycle, known.ticks_per_cycle);
    }

    /// One pass around a ring takes three times as long: of the two, figure and command, neither is believed alone.
    #[test]
    fn figures_that_count_stay_near() {
        let known = known();
        let rings = |sample: &Sample| matches!(sample.anatomy, Anatomy::Pass { ring, .. } if ring > 0);
        let (own, mut all): (Vec<Sample>, Vec<Sample>) = samples(&known).into_iter().partition(rings);
        let slow = own.last().expect("passes around a ring");
        assert_eq!(
            slow.anatomy,
            Anatomy::Pass { fill: 3, ring: 2000, steps: [1, 0], rows: 0, contractions: 0, odd: 0 }
        );
        all.push(Sample { ticks: 3.0 * slow.ticks, ..*slow });
        let ring =
            |weight| fit(&all, (&known, weight), true, "a test").expect("a fit").inter_slice_ticks.value;
        // 40,000 of 40,308 ticks are the ring's, so alone it has three times the ticks.
        assert!((ring(Start::Guess) - 60.0).abs() < 1.0, "{}", ring(Start::Guess));
        assert!((20.0..59.0).contains(&ring(Start::Sample)), "{}", ring(Start::Sample));
    }

    #[test]
    fn fewer_commands_than_figures_are_refused() {
        let known = known();
        let refused =
            |samples: &[Sample]| fit(samples, (&known, Start::Guess), true, "a test").expect_err("refused");
        let all = samples(&known);
        // Ticks and the start of passes: two commands are enough, one is not.
        let passes = |count| [all[0], all[9]].into_iter().take(count).collect::<Vec<_>>();
        assert!(fit(&passes(2), (&known, Start::Guess), true, "a test").is_ok());
        assert_eq!(refused(&passes(1)), FitError::TooFew { samples: 1, figures: 2 });
        assert_eq!(refused(&[]), FitError::TooFew { samples: 0, figures: 1 });
        let stopped: Vec<Sample> = all.iter().map(|sample| Sample { ticks: 0.0, ..*sample }).collect();
        assert_eq!(refused(&stopped), FitError::NoTime);
    }
}
