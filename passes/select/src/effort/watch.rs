//! The receiver of progress. The choice does not depend on it; only tools show it.

/// Told of progress: units of work that are done, and their limit; `None` when choosing has ended.
type Told = dyn Fn(Option<(u64, u64)>);

/// The receiver of progress, if there is one.
#[derive(Default)]
pub struct Watch(Option<Box<Told>>);

impl Watch {
    /// A watch that calls `told` at each unit of work and at the end.
    #[must_use]
    pub fn new(told: impl Fn(Option<(u64, u64)>) + 'static) -> Self {
        Self(Some(Box::new(told)))
    }

    /// Tells it.
    pub fn tell(&self, progress: Option<(u64, u64)>) {
        if let Some(told) = &self.0 {
            told(progress);
        }
    }
}
