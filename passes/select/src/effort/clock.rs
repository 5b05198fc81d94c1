//! Where the time of choosing goes, for `--timing`. Nothing depends on it.

use std::cell::Cell;
use std::time::{Duration, Instant};

/// Wall time of each phase so far, in this context.
#[derive(Debug, Default)]
pub struct Clock {
    spent: [Cell<Duration>; Phase::ALL.len()],
}

/// A phase of choosing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Rules propose clauses.
    Propose,
    /// Verifiers, lowering and the cost function check the proposals.
    Check,
    /// The cheapest is taken out of an e-graph.
    Extract,
    /// Layouts that pipelines share are taken by variable elimination.
    Program,
    /// Whole kernels are lowered and priced.
    Price,
}

impl Phase {
    /// All of them, in order.
    pub const ALL: [Self; 5] = [Self::Propose, Self::Check, Self::Extract, Self::Program, Self::Price];

    /// Its name in `--timing`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Propose => "propose",
            Self::Check => "verify, lower and price candidates",
            Self::Extract => "extract trees",
            Self::Program => "extract what pipelines share",
            Self::Price => "price distributions",
        }
    }
}

impl Clock {
    /// The result of `work`; its time counts as the phase's.
    pub fn time<T>(&self, phase: Phase, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let made = work();
        let spent = &self.spent[phase as usize];
        spent.set(spent.get() + start.elapsed());
        made
    }

    /// The time of a phase so far.
    #[must_use]
    pub fn spent(&self, phase: Phase) -> Duration {
        self.spent[phase as usize].get()
    }
}
