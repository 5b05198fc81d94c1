//! The contexts of the Tensor Unit.

/// A context of the Tensor Unit: what runs one pipeline at a time (books 12, 28).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Unit {
    /// The one that computes.
    Main,
    /// The one that prefetches.
    Sub,
    /// Both as one, whose flits have twice the bytes (book 08: dual channel mode).
    Dual,
}

impl Unit {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Main, Self::Sub, Self::Dual];

    /// Their names, in the same order.
    pub const NAMES: &'static [&'static str] = &["main", "sub", "dual"];

    /// `main`, `sub` or `dual`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }

    /// The context of that name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|unit| unit.name() == name)
    }

    /// Whether it has the engines that compute: all but the sub context.
    #[must_use]
    pub const fn computes(self) -> bool {
        match self {
            Self::Main | Self::Dual => true,
            Self::Sub => false,
        }
    }
}
