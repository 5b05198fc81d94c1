//! Who is told how far choosing is. Nothing depends on it; only tools show it.

/// Told of progress: units of work that are done, and most that there may be; nothing when choosing has ended.
#[derive(Default)]
pub struct Watch(Option<Box<dyn Fn(Option<(u64, u64)>)>>);

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
