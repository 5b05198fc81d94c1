//! Context of a running stage.

use crate::shadow::{Marker, ShadowLog};
use visa_machine::Machine;

/// Context of a running stage, except its slice.
#[derive(Clone, Copy)]
pub struct RunCx<'a> {
    /// The machine.
    pub machine: &'a Machine,
    /// In shadow mode, where marks are made.
    pub shadow: Option<&'a ShadowLog>,
    /// The number of the operation whose stage runs, for its marks.
    pub op: u32,
    /// The chip that it runs on.
    pub chip: usize,
    /// The slice that it runs in, counted through the chip's clusters.
    pub slice: usize,
    /// Distance in bytes of the stage's addresses from those in the first iteration of the loops around the run.
    pub moved: i64,
}

impl<'a> RunCx<'a> {
    /// Makes the marks of the running stage, in shadow mode.
    #[must_use]
    pub fn marker(&self) -> Option<Marker<'a>> {
        self.shadow.map(|log| Marker::new(log, self.op))
    }
}
