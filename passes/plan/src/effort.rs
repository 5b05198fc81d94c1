//! The limits of a search: node limits by default, and time if the user limits it; and its progress.

use std::cell::Cell;
use std::rc::Rc;
use std::time::{Duration, Instant};
use visa_ir::diag::Diagnostic;
use visa_ir::span::Span;
use visa_select::effort::watch::{Progress, Watch};

/// Plans between two looks at the clock.
const STRIDE: u64 = 256;

/// The reason why a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Every plan was explored, or left out by a bound.
    Complete,
    /// Plans that could be better were not lowered, because their number is limited.
    Nodes,
    /// The time ended: another machine may find another plan.
    Time,
}

/// Where the steps of a function meet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Meeting {
    /// In data memory where that takes fewer cycles, else in HBM.
    #[default]
    Anywhere,
    /// In HBM.
    Hbm,
    /// In HBM, where rows end with no more padding than to groups of 8 bytes.
    PlainHbm,
}

/// The effort of planning a function.
pub struct Effort {
    limit: Option<Limit>,
    /// The plans of a step that are lowered.
    lowered: Lowered,
    /// Where steps meet.
    meeting: Cell<Meeting>,
    watch: Rc<Watch>,
    /// The number of the step, and of all steps.
    step: Cell<(usize, usize)>,
    /// Plans of the step.
    plans: Cell<u64>,
}

/// The plans of a step that are lowered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lowered {
    /// The best by their ranks.
    Best,
    /// All: ranks decide nothing.
    Every,
    /// This number of them, spread evenly over all ranks.
    Sample(usize),
}

/// A limit of the time.
struct Limit {
    end: Instant,
    ended: Cell<bool>,
}

impl Effort {
    /// An effort that ends after `limit`, if there is one.
    #[must_use]
    pub fn new(limit: Option<Duration>, watch: Rc<Watch>) -> Self {
        let end = limit.and_then(|limit| Instant::now().checked_add(limit));
        let limit = end.map(|end| Limit { end, ended: Cell::new(false) });
        let (meeting, step, plans) = (Cell::default(), Cell::new((0, 0)), Cell::new(0));
        Self { limit, lowered: Lowered::Best, meeting, watch, step, plans }
    }

    /// The same effort, which lowers other plans of a step.
    #[must_use]
    pub fn with_lowered(self, lowered: Lowered) -> Self {
        Self { lowered, ..self }
    }

    /// Returns true if ranks leave no plan out.
    #[must_use]
    pub fn is_every(&self) -> bool {
        self.lowered != Lowered::Best
    }

    /// The number of plans of a step in a sample; `None` if all or the best are lowered.
    #[must_use]
    pub fn sample(&self) -> Option<usize> {
        match self.lowered {
            Lowered::Sample(count) => Some(count),
            Lowered::Best | Lowered::Every => None,
        }
    }

    /// From now on, steps meet there.
    pub fn set_meeting(&self, meeting: Meeting) {
        self.meeting.set(meeting);
    }

    /// Where steps meet.
    #[must_use]
    pub fn meeting(&self) -> Meeting {
        self.meeting.get()
    }

    /// Begins step `number` of `count`, the first one 1.
    pub fn begin(&self, number: usize, count: usize) {
        self.step.set((number, count));
        self.plans.set(0);
    }

    /// Counts a plan. Returns true if the time has ended.
    #[must_use]
    pub fn ends(&self) -> bool {
        let plans = self.plans.get() + 1;
        self.plans.set(plans);
        if plans % STRIDE != 1 {
            return self.is_over();
        }
        let (step, steps) = self.step.get();
        self.watch.tell(Some(Progress::Plans { step, steps, plans }));
        self.look()
    }

    /// Looks at the clock. Returns true if the time has ended.
    #[must_use]
    pub fn look(&self) -> bool {
        let Some(limit) = &self.limit else { return false };
        limit.ended.set(limit.ended.get() || Instant::now() >= limit.end);
        limit.ended.get()
    }

    /// Returns true if the time had ended when the clock was looked at last.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.limit.as_ref().is_some_and(|limit| limit.ended.get())
    }
}

/// Reads a time limit in seconds; `None` for an empty text.
///
/// # Errors
/// A text that is no number of seconds above 0.
pub fn limit(text: &str) -> Result<Option<Duration>, Diagnostic> {
    if text.is_empty() {
        return Ok(None);
    }
    let seconds = text.parse::<f64>().ok().filter(|seconds| *seconds > 0.0);
    let limit = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    if let Some(limit) = limit.filter(|limit| !limit.is_zero()) {
        return Ok(Some(limit));
    }
    let message = format!("found a time limit of `{text}`, expected a number of seconds above 0");
    let fix = "leave the time limit out: the number of plans is limited without it".to_owned();
    Err(Diagnostic::error("time-limit", Span::default(), message).fix(fix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_seconds_above_zero() {
        assert_eq!(limit(""), Ok(None));
        assert_eq!(limit("0.25"), Ok(Some(Duration::from_millis(250))));
        assert_eq!(limit("3"), Ok(Some(Duration::from_secs(3))));
        for wrong in ["0", "-0", "0.0", "-1", "NaN", "inf", "-inf", "1e300", "1e-20", "1s", " ", "ten"] {
            let error = limit(wrong).expect_err(wrong);
            let message = format!("found a time limit of `{wrong}`, expected a number of seconds above 0");
            assert_eq!(error.message, message);
        }
    }

    #[test]
    fn the_end_is_seen_at_a_look_and_stays() {
        let effort = Effort::new(Some(Duration::from_nanos(1)), Rc::default());
        std::thread::sleep(Duration::from_millis(1));
        assert!(!effort.is_over());
        effort.begin(1, 1);
        assert!(effort.ends());
        assert!(effort.is_over());
        let unlimited = Effort::new(None, Rc::default());
        assert!(!unlimited.ends() && !unlimited.look() && !unlimited.is_over());
    }

    #[test]
    fn progress_counts_plans_of_a_step() {
        let told = Rc::new(Cell::new((0, 0, 0)));
        let seen = Rc::clone(&told);
        let watch = Watch::new(move |progress| {
            if let Some(Progress::Plans { step, steps, plans }) = progress {
                seen.set((step, steps, plans));
            }
        });
        let effort = Effort::new(None, Rc::new(watch));
        effort.begin(2, 3);
        for _ in 0..STRIDE {
            assert!(!effort.ends());
        }
        assert_eq!(told.get(), (2, 3, 1));
        assert!(!effort.ends());
        assert_eq!(told.get(), (2, 3, STRIDE + 1));
        effort.begin(3, 3);
        assert!(!effort.ends());
        assert_eq!(told.get(), (3, 3, 1));
    }
}
