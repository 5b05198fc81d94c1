//! Stamps: states of a module, so that results computed from another state are not used.

use std::cell::Cell;
use std::rc::Rc;

/// A state of a module. A module and its copies never share one, unless neither was changed since the copy was made.
#[derive(Clone, Debug)]
pub struct Stamp {
    clock: Rc<Cell<u64>>,
    time: u64,
}

impl PartialEq for Stamp {
    fn eq(&self, other: &Self) -> bool {
        self.time == other.time && Rc::ptr_eq(&self.clock, &other.clock)
    }
}

impl Eq for Stamp {}

/// Counts the changes of a module and of all its copies together.
#[derive(Clone, Debug, Default)]
pub(crate) struct Clock {
    shared: Rc<Cell<u64>>,
    time: u64,
}

impl Clock {
    pub(crate) fn tick(&mut self) {
        self.time = self.shared.get() + 1;
        self.shared.set(self.time);
    }

    pub(crate) fn stamp(&self) -> Stamp {
        Stamp { clock: self.shared.clone(), time: self.time }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_that_change_apart_have_different_stamps() {
        let mut first = Clock::default();
        first.tick();
        let mut second = first.clone();
        assert_eq!(first.stamp(), second.stamp(), "nothing changed yet");
        first.tick();
        second.tick();
        assert_ne!(first.stamp(), second.stamp());
        assert_ne!(first.stamp(), Clock::default().stamp(), "another module");
    }
}
