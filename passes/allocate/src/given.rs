//! Inputs of the choice of addresses in addition to the function.

use super::policy::Reuse;
use visa_machine::Machine;
use visa_mapping::facts::frames::Frames;
use visa_mapping::facts::{DeclaredAxes, Support};

/// Inputs of a plan in addition to the function.
pub struct AllocationInput<'a> {
    /// The module's axes.
    pub axes: &'a DeclaredAxes,
    /// The axes that values depend on.
    pub support: &'a Support,
    /// The chips and slices that the mappings of values are counted from.
    pub frames: &'a Frames,
    /// The machine.
    pub machine: &'a Machine,
    /// Policy for the reuse of bytes.
    pub reuse: Reuse,
}
