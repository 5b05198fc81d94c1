//! The receiver of progress. The choice does not depend on it; only tools show it.

/// Progress of a choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Candidates of open clauses.
    Candidates {
        /// Units of work that are done.
        done: u64,
        /// Their limit.
        most: u64,
    },
    /// Plans of a function.
    Plans {
        /// The number of the step that is planned, the first one 1.
        step: usize,
        /// The number of all steps.
        steps: usize,
        /// Plans of this step so far.
        plans: u64,
    },
}

/// Told of progress; `None` when choosing has ended.
type Told = dyn Fn(Option<Progress>);

/// The receiver of progress, if there is one.
#[derive(Default)]
pub struct Watch(Option<Box<Told>>);

impl Watch {
    /// A watch that calls `told` at each unit of work and at the end.
    #[must_use]
    pub fn new(told: impl Fn(Option<Progress>) + 'static) -> Self {
        Self(Some(Box::new(told)))
    }

    /// Tells it.
    pub fn tell(&self, progress: Option<Progress>) {
        if let Some(told) = &self.0 {
            told(progress);
        }
    }
}
