//! Values over time: bytes and multiply-accumulates, spread evenly over their runs.

use crate::document::{Command, Counter, Run};

/// The counters of some runs; those that stay 0 are left out. `hbm_peak` is the most bytes of HBM in a unit of time.
pub(crate) fn counters(commands: &[Command], runs: &[Run], hbm_peak: f64) -> Vec<Counter> {
    let counter = |name, unit, peak: Option<f64>, of: fn(&Command) -> f64| {
        let work = runs.iter().map(|run| (run.start, run.end, of(&commands[run.command])));
        let (times, values) = over_time(work);
        let most = values.iter().copied().fold(0.0, f64::max);
        Counter { name, unit, peak: peak.unwrap_or(most), times, values }
    };
    let all = [
        counter("HBM", "bytes", Some(hbm_peak), |command| command.bytes[0] as f64 + command.bytes[1] as f64),
        counter("data memory", "bytes", None, |command| command.bytes[2] as f64 + command.bytes[3] as f64),
        counter("MACs", "% of the peak", Some(100.0), |command| 100.0 * command.peak),
    ];
    all.into_iter().filter(|counter| counter.values.iter().any(|value| *value > 0.0)).collect()
}

/// The work in a unit of time, from each time on at which that changes. Work that takes no time is left out.
fn over_time(work: impl Iterator<Item = (u64, u64, f64)>) -> (Vec<u64>, Vec<f64>) {
    let spread = work.filter(|&(start, end, amount)| amount > 0.0 && start < end);
    let mut changes: Vec<(u64, i8, f64)> = spread
        .flat_map(|(start, end, amount)| {
            let rate = amount / (end - start) as f64;
            [(start, 1, rate), (end, -1, rate)]
        })
        .collect();
    changes.sort_by_key(|&(time, sign, _)| (time, sign));
    let (mut times, mut values): (Vec<u64>, Vec<f64>) = (Vec::new(), Vec::new());
    let (mut active, mut now) = (0_i64, 0.0);
    for (time, sign, rate) in changes {
        active += i64::from(sign);
        // Rounding must not leave anything where no run is active.
        now = if active == 0 { 0.0 } else { now + f64::from(sign) * rate };
        if times.last() == Some(&time) {
            values.pop();
        } else {
            times.push(time);
        }
        values.push(now);
    }
    (times, values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_add_up_and_end_in_nothing() {
        let (times, values) =
            over_time([(0, 10, 100.0), (5, 10, 10.0), (10, 10, 7.0), (12, 14, 3.0)].into_iter());
        assert_eq!(times, [0, 5, 10, 12, 14]);
        assert_eq!(values, [10.0, 12.0, 0.0, 1.5, 0.0]);
        assert_eq!(over_time(std::iter::empty()), (Vec::new(), Vec::new()));
    }
}
