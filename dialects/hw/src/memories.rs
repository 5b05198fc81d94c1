//! The memories that a transfer or a buffer names, and their capacities.

use crate::program::CHIP_STRIDE;
use visa_engine::Space;
use visa_ir::diag::{Diagnostic, counted};
use visa_ir::module::OpRef;
use visa_loops::{Entry, Program, Stride};
use visa_machine::Machine;

/// The memories against which the sides of a transfer, or of a buffer, are checked.
pub(crate) struct Memories<'a> {
    pub(crate) op: OpRef<'a>,
    pub(crate) machine: &'a Machine,
    /// Chips that an address of HBM or data memory counts, [`CHIP_STRIDE`] apart.
    pub(crate) chips: u64,
    /// Units of an address that make a byte: 2 where it counts half bytes, otherwise 1.
    pub(crate) per_byte: u64,
}

impl Memories<'_> {
    /// Bytes of `space`, of one chip.
    fn capacity(&self, space: Space) -> u64 {
        match space {
            Space::HOST => CHIP_STRIDE.cast_unsigned(),
            Space::Memory(medium) => medium.bytes_per_chip(self.machine),
            Space::Trf => self.machine.memory.trf_rows * self.machine.memory.trf_bytes_per_row,
            Space::Vrf => self.machine.memory.vrf_bytes,
        }
    }

    /// Chips that an address of `space` can name.
    fn chips(&self, space: Space) -> u64 {
        match space {
            Space::Memory(medium) if medium.decl().crosses_chips => self.chips,
            Space::Memory(_) | Space::Trf | Space::Vrf => 1,
        }
    }

    /// Checks that every address of one side is in `space`; otherwise gives the error.
    pub(crate) fn inside(&self, side: &Program, space: Space) -> Result<(), String> {
        let per_chip = self.chips(space) > 1;
        let chip_stride = CHIP_STRIDE * self.per_byte.cast_signed();
        let is_chip = |entry: &&Entry| per_chip && between_chips(&entry.stride, chip_stride);
        let base_chip = if per_chip { side.base.div_euclid(chip_stride) } else { 0 };
        let chip_entries = side.entries.iter().filter(is_chip);
        let chips = Program {
            entries: chip_entries
                .filter_map(|entry| {
                    Some(Entry { limit: entry.limit, stride: entry.stride.divided(chip_stride)? })
                })
                .collect(),
            packet: 1,
            base: base_chip,
        };
        let local = Program {
            entries: side.entries.iter().filter(|entry| !is_chip(entry)).cloned().collect(),
            packet: side.packet,
            base: side.base - base_chip * chip_stride,
        };
        let (capacity, unit) = (
            self.capacity(space).saturating_mul(self.per_byte),
            if self.per_byte == 1 { "bytes" } else { "half bytes" },
        );
        for (program, most, what) in [(local, capacity, unit), (chips, self.chips(space), "chips")] {
            let (start, end) = program.extent().map_err(|error| error.message)?;
            if start < 0 || end.cast_unsigned() > most {
                return Err(format!(
                    "`{side}` touches {what} {start} to {end} of {space:?}, expected 0 to {most}"
                ));
            }
        }
        Ok(())
    }

    /// C4, by counting: more bytes than the memory holds must overlap. `clause` has the programs.
    pub(crate) fn no_more_than_fits(
        &self,
        writes: &[Program],
        space: Space,
        clause: &str,
    ) -> Result<(), Diagnostic> {
        let most = self.capacity(space).saturating_mul(self.chips(space));
        let steps = writes.iter().try_fold(0_u64, |sum, write| sum.checked_add(write.steps()?));
        if steps.is_some_and(|steps| steps <= most) {
            return Ok(());
        }
        let found: Vec<String> = writes.iter().map(|write| format!("`{write}`")).collect();
        let writes = if found.len() == 1 { "writes" } else { "write" };
        let message =
            format!("{} {writes} more than the {} of {space:?}", found.join(", "), counted(most, "byte"));
        Err(self.op.clause_error("C4", clause, message))
    }
}

/// Returns true if iterations go from chip to chip, `chip_stride` apart, or in the order of a table.
pub(crate) fn between_chips(stride: &Stride, chip_stride: i64) -> bool {
    stride.divided(chip_stride).is_some_and(|chips| chips.numbers().iter().any(|&chip| chip != 0))
}
