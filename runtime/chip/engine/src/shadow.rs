//! Shadow marks: for each byte, whether it is defined, and if not, which operations it came through.

use std::collections::HashMap;
use std::sync::Mutex;

/// The mark of a byte: defined, never written, or a chain of operations in a [`ShadowLog`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Shadow(u32);

impl Shadow {
    /// The byte is defined.
    pub const DEFINED: Self = Self(0);
    /// The byte was never written; only in memories.
    pub const NEVER_WRITTEN: Self = Self(u32::MAX);
    /// The byte is of an element that indexed past the end of a table; only where a chain begins.
    pub const OUTSIDE_TABLE: Self = Self(u32::MAX - 1);

    /// Returns true if the byte is defined.
    #[must_use]
    pub fn is_defined(self) -> bool {
        self == Self::DEFINED
    }
}

impl Shadow {
    /// The mark of a value that depends on both: the first undefined one.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        if self.is_defined() { other } else { self }
    }

    /// The mark of a value that depends on all of `marks`.
    #[must_use]
    pub fn all(marks: &[Self]) -> Self {
        marks.iter().copied().fold(Self::DEFINED, Self::or)
    }
}

/// A link of a chain: an operation and its inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Link {
    op: u32,
    from: Shadow,
}

#[derive(Default)]
struct Links {
    ids: HashMap<Link, u32>,
    list: Vec<Link>,
}

/// The chains of operations that undefined bytes came through. Operations are numbered by the interpreter.
#[derive(Default)]
pub struct ShadowLog {
    links: Mutex<Links>,
}

impl ShadowLog {
    /// The mark of a byte that operation `op` made from one with the mark `from`.
    #[must_use]
    pub fn through(&self, op: u32, from: Shadow) -> Shadow {
        if from.is_defined() {
            return from;
        }
        let mut links = self.links.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let link = Link { op, from };
        if let Some(&id) = links.ids.get(&link) {
            return Shadow(id);
        }
        links.list.push(link);
        let id = links.list.len() as u32;
        links.ids.insert(link, id);
        Shadow(id)
    }

    /// The operations that a mark came through, first to last.
    #[must_use]
    pub fn chain(&self, mark: Shadow) -> Vec<u32> {
        self.walk(mark).0
    }

    /// Where the chain of a mark begins: one of the constants of [`Shadow`].
    #[must_use]
    pub fn origin(&self, mark: Shadow) -> Shadow {
        self.walk(mark).1
    }

    fn walk(&self, mark: Shadow) -> (Vec<u32>, Shadow) {
        let links = self.links.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let mut chain = Vec::new();
        let mut at = mark;
        while !matches!(at, Shadow::DEFINED | Shadow::NEVER_WRITTEN | Shadow::OUTSIDE_TABLE) {
            let link = links.list[at.0 as usize - 1];
            chain.push(link.op);
            at = link.from;
        }
        chain.reverse();
        (chain, at)
    }
}

/// Marks that one operation makes. Runs of equal marks ask the log once.
pub struct Marker<'a> {
    log: &'a ShadowLog,
    op: u32,
    last: (Shadow, Shadow),
}

impl<'a> Marker<'a> {
    /// Marks of operation `op`.
    #[must_use]
    pub fn new(log: &'a ShadowLog, op: u32) -> Self {
        Self { log, op, last: (Shadow::DEFINED, Shadow::DEFINED) }
    }

    /// The mark of a byte made from one with the mark `from`.
    pub fn through(&mut self, from: Shadow) -> Shadow {
        if from != self.last.0 {
            self.last = (from, self.log.through(self.op, from));
        }
        self.last.1
    }

    /// [`Marker::through`] for each of `marks`.
    pub fn through_all(&mut self, marks: &mut [Shadow]) {
        for mark in marks {
            *mark = self.through(*mark);
        }
    }
}
