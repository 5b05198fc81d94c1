//! The models of memories.

use std::str::FromStr;

/// Model of the cost of memories.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MemoryModel {
    /// A start-up, then bytes at the rate of the narrowest place on the way. All engines share every transfer.
    Flat,
    /// Requests, by the closed forms of books 10 and 11: engines, channels and rows of HBM, networks of data memory.
    #[default]
    Book,
    /// Requests, one by one: queues, open rows, banks and links as events.
    Detailed,
}

impl MemoryModel {
    /// All models, in the order of their detail.
    pub const ALL: [Self; 3] = [Self::Flat, Self::Book, Self::Detailed];

    /// Its name, as flags have it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Flat => "flat",
            Self::Book => "book",
            Self::Detailed => "detailed",
        }
    }
}

impl FromStr for MemoryModel {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|model| model.name() == name);
        found.ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join("`, `");
            format!("there is no model `{name}`: the models are `{names}`")
        })
    }
}
