//! Bytes moved out of and into the memories.

use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};
use visa_machine::Medium;

/// Bytes moved out of and into a memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moved {
    /// Read from it; in data memory, the output of the Fetch Engine counts after its conversion.
    pub read: u64,
    /// Written to it.
    pub written: u64,
}

impl Moved {
    /// Read and written together.
    #[must_use]
    pub const fn both(self) -> u64 {
        self.read.saturating_add(self.written)
    }
}

/// Bytes moved out of and into each memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic([Moved; Medium::ALL.len()]);

impl Traffic {
    /// The bytes of a memory.
    #[must_use]
    pub const fn of(&self, medium: Medium) -> Moved {
        self.0[medium as usize]
    }

    /// The bytes of a memory, to be changed.
    pub const fn of_mut(&mut self, medium: Medium) -> &mut Moved {
        &mut self.0[medium as usize]
    }

    /// So many times as much.
    #[must_use]
    pub fn times(self, times: u64) -> Self {
        let more = |moved: Moved| Moved {
            read: moved.read.saturating_mul(times),
            written: moved.written.saturating_mul(times),
        };
        Self(self.0.map(more))
    }

    /// Both together.
    #[must_use]
    pub fn plus(mut self, other: Self) -> Self {
        for (sum, more) in self.0.iter_mut().zip(other.0) {
            sum.read = sum.read.saturating_add(more.read);
            sum.written = sum.written.saturating_add(more.written);
        }
        self
    }
}

/// In JSON a memory that every kernel has is there with `_read` and `_written`; another one where it moves bytes.
impl Serialize for Traffic {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let always = [Medium::Dm, Medium::Hbm, Medium::Host];
        let others = Medium::ALL.iter().copied().filter(|medium| !always.contains(medium));
        let mut map = serializer.serialize_map(None)?;
        for medium in [always[0]].into_iter().chain(others).chain([always[1], always[2]]) {
            let Moved { read, written } = self.of(medium);
            for (what, bytes) in [("read", read), ("written", written)] {
                if always.contains(&medium) || bytes > 0 {
                    map.serialize_entry(&format!("{medium}_{what}"), &bytes)?;
                }
            }
        }
        map.end()
    }
}
