//! The unread part of a buffer digit (book 07, "Buf After"), and the check for exact reads.

use crate::meaning::digits::Digit;
use crate::meaning::placement::{PlacedDigit, times};

/// The part of one buffer digit that the stream reads.
#[derive(Clone, Debug, Default)]
pub(super) struct Used {
    /// The digit's value at the stream's first index.
    pub(super) start: u64,
    /// Steps: how far each moves the digit, and how often.
    pub(super) steps: Vec<(u64, u64)>,
}

/// The factors of a buffer digit, minor first, with those that were read as padding.
pub(super) fn leftover(placed: &PlacedDigit, used: &Used) -> Vec<PlacedDigit> {
    let PlacedDigit { digit, weight } = *placed;
    let mut steps = used.steps.clone();
    steps.sort();
    let mut all: Vec<PlacedDigit> = Vec::new();
    let mut done = 1;
    let mut push = |from: u64, extent: u64, live: u64| {
        let stride = digit.stride.saturating_mul(from);
        let factor = match live {
            1 => Digit { axis: None, stride: 0, live: 1, axis_size: 1, extent, ..digit },
            _ => Digit { stride, extent, live, ..digit },
        };
        if extent > 1 {
            all.push(PlacedDigit { digit: factor, weight: times(weight, from) });
        }
    };
    for (number, &(factor, live)) in steps.iter().enumerate() {
        // The part below the step is left over where it is a factor.
        if factor > done && factor.is_multiple_of(done) {
            push(done, factor / done, factor / done);
            done = factor;
        }
        let end = factor.saturating_mul(live);
        let above = steps[number + 1..].iter().map(|step| step.0).find(|above| *above >= end);
        let block = above.unwrap_or(digit.extent);
        // After the last live position there is padding, regardless of the part that was read.
        let end = match above {
            None if end >= digit.live => digit.extent,
            Some(_) | None if digit.live.is_multiple_of(end) => end,
            Some(_) | None => block,
        };
        if end > done && end.is_multiple_of(done) {
            push(done, end / done, 1);
            done = end;
        }
    }
    if done < digit.extent {
        push(done, digit.extent.div_ceil(done), digit.live.div_ceil(done));
    }
    all
}

/// Returns true if the steps count through all values of the digit, each once.
pub(super) fn counts_once(digit: Digit, used: &Used) -> bool {
    let mut steps = used.steps.clone();
    steps.sort();
    let end = steps
        .iter()
        .try_fold(1_u64, |done, &(factor, live)| (factor == done).then(|| done.saturating_mul(live)));
    used.start == 0 && end.is_some_and(|end| end >= digit.live)
}
