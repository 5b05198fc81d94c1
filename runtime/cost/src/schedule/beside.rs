//! A run that is slower in parallel with others.

/// A run that goes first, in some cycles.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rival {
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// Cycles that the run would take if the rival ran all the time; `None` if it would stand still.
    pub(crate) slowed: Option<u64>,
}

/// Cycles that a run loses which starts at `start` and takes `alone` cycles alone: to which of its rivals, and how
/// many. These come by start, one after the other; of two at once the later one counts when the first has ended.
pub(crate) fn lost(start: u64, alone: u64, rivals: impl Iterator<Item = Rival>) -> Vec<(usize, u64)> {
    let mut found = Vec::new();
    let (mut now, mut left) = (start, alone);
    for (number, rival) in rivals.enumerate() {
        if left == 0 {
            break;
        }
        if rival.end <= now || rival.start >= now.saturating_add(left) {
            continue;
        }
        if rival.start > now {
            left -= rival.start - now;
            now = rival.start;
        }
        let window = rival.end - now;
        let (passed, done) = match rival.slowed {
            Some(slowed) if scaled(left, slowed, alone) <= window => (scaled(left, slowed, alone), left),
            Some(slowed) => (window, scaled(window, alone, slowed).min(left)),
            None => (window, 0),
        };
        if passed > done {
            found.push((number, passed - done));
        }
        now += passed;
        left -= done;
    }
    found
}

fn scaled(cycles: u64, by: u64, of: u64) -> u64 {
    (u128::from(cycles) * u128::from(by) / u128::from(of.max(1))) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(start: u64, alone: u64, rivals: &[(u64, u64, Option<u64>)]) -> Vec<(usize, u64)> {
        let rival = |&(start, end, slowed): &_| Rival { start, end, slowed };
        lost(start, alone, rivals.iter().map(rival))
    }

    #[test]
    fn a_run_loses_what_its_rivals_take() {
        // Half as fast for 40 cycles: 20 are left, then 20 more.
        assert_eq!(of(10, 40, &[(0, 50, Some(80))]), [(0, 20)]);
        // It ends while its rival still runs.
        assert_eq!(of(10, 40, &[(0, 500, Some(80))]), [(0, 40)]);
        // It stands still.
        assert_eq!(of(10, 40, &[(20, 50, None)]), [(0, 30)]);
        // One that has ended, one that begins when the run ends, one that does not slow it.
        assert_eq!(of(10, 40, &[(0, 10, None), (20, 30, Some(40)), (50, 60, None)]), []);
        // The first puts it off, so that it meets the second.
        assert_eq!(of(10, 40, &[(20, 30, None), (55, 60, None)]), [(0, 10), (1, 5)]);
        assert_eq!(of(10, 0, &[(0, 50, None)]), []);
    }
}
