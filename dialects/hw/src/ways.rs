//! The ways of the vector engine: how wide a packet is at a stage (book 21).

use visa_machine::Machine;
use visa_numerics::VectorStage;

/// Bytes of a packet at `stage`: 8 lanes of 32 bits, or 4.
pub(crate) fn way_bytes(stage: VectorStage, machine: &Machine) -> u64 {
    let wide = machine.limits.flit_bytes;
    if stage.is_narrow() { wide / 2 } else { wide }
}
