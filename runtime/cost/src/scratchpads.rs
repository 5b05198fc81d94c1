//! How long the scratchpad memories are busy with a transfer. Each has a bandwidth of its own (book 11), so it matters
//! how many take part.

use visa_engine::Space;
use visa_hw::program::Dma;
use visa_loops::{Entry, Program};
use visa_machine::Machine;

/// Cycles of a transfer that moves so many bytes of a chip, one side after the other; `None` if it reads and writes
/// other memories alone.
pub(crate) fn cycles(dma: &Dma, bytes: u64, machine: &Machine) -> Option<u64> {
    let sides = [(dma.from, dma.loops.read()), (dma.to, dma.loops.write())];
    let own = sides.iter().filter(|(space, _)| *space == Space::Spm);
    let busy = own.map(|(_, side)| {
        let rate = touched(side, machine).saturating_mul(machine.timing.spm_bytes_per_cycle);
        bytes.div_ceil(rate.max(1))
    });
    busy.reduce(u64::saturating_add)
}

/// The scratchpad memories that one side touches: those that loops go through from PE to PE, times those that the
/// bytes in between reach.
fn touched(side: &Program, machine: &Machine) -> u64 {
    let pe = machine.memory.spm_bytes_per_pe.cast_signed();
    let (between, within): (Vec<&Entry>, Vec<&Entry>) =
        side.entries.iter().partition(|entry| entry.stride.divided(pe).is_some());
    let moves = between.iter().filter(|entry| entry.stride.fixed() != Some(0));
    let through = moves.map(|entry| entry.limit).fold(1, u64::saturating_mul);
    let within = Program {
        entries: within.into_iter().cloned().collect(),
        packet: side.packet,
        base: side.base.rem_euclid(pe),
    };
    let reached = match within.extent() {
        Ok((from, to)) => ((to - 1).div_euclid(pe) - from.div_euclid(pe) + 1).cast_unsigned(),
        Err(_) => u64::MAX,
    };
    through.saturating_mul(reached).clamp(1, machine.pes_per_chip())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(side: &str) -> u64 {
        touched(&side.parse().unwrap(), &Machine::rngd())
    }

    #[test]
    fn loops_from_pe_to_pe_count() {
        assert_eq!(found("[64 : 1] : 64 @ 4160"), 1);
        assert_eq!(found("[4 : 4096, 64 : 1] : 64"), 4);
        // A PE of each cluster.
        assert_eq!(found("[2 : 16384, 64 : 1] : 64"), 2);
        assert_eq!(found("[3 : (0, 8192, 4096), 64 : 1] : 64"), 3);
        // The same bytes again, for copies.
        assert_eq!(found("[256 : 0, 64 : 1] : 64"), 1);
    }

    #[test]
    fn bytes_that_run_on_count() {
        assert_eq!(found("[4096 : 1] : 4096"), 1);
        assert_eq!(found("[4097 : 1] : 1"), 2);
        assert_eq!(found("[8192 : 1] : 4096"), 2);
        assert_eq!(found("[16 : 1] : 8 @ 4088"), 2);
        assert_eq!(found("[2 : 8192, 8192 : 1] : 4096"), 4);
    }

    #[test]
    fn there_are_no_more_than_the_chip_has() {
        assert_eq!(found("[8 : 4096, 4096 : 1] : 4096"), 8);
        assert_eq!(found("[3 : 4096, 3 : 4096, 8 : 1] : 8"), 8);
        assert_eq!(found("[0 : 1] : 1"), 1);
        assert_eq!(found("[9223372036854775807 : 9223372036854775807] : 1"), 8);
    }
}
