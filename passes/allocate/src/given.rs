//! What addresses depend on besides the function.

use super::policy::Reuse;
use visa_machine::Machine;
use visa_mapping::facts::frames::Frames;
use visa_mapping::facts::{DeclaredAxes, Support};

/// What a plan depends on besides the function.
pub struct Given<'a> {
    /// The module's axes.
    pub axes: &'a DeclaredAxes,
    /// The axes that values depend on.
    pub support: &'a Support,
    /// The chips and slices that the mappings of values are counted from.
    pub frames: &'a Frames,
    /// The machine.
    pub machine: &'a Machine,
    /// How eagerly bytes are used again.
    pub reuse: Reuse,
}
