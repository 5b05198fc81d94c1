//! Busy time of memories whose parts have a port each, such as scratchpad memory, for a transfer. Each part has a
//! separate bandwidth (book 11), so the number of parts that take part matters.

use visa_engine::Space;
use visa_hw::program::Dma;
use visa_loops::Program;
use visa_machine::{Machine, Medium, Ports};
use visa_memory::PortLoads;

/// Each such memory that a transfer reads or writes, with the cycles of its busiest part, one side and part of the
/// transfer after the other.
pub(crate) fn cycles(dma: &Dma, machine: &Machine) -> Vec<(Medium, u64)> {
    let busiest = |medium: Medium, side: &Program| match PortLoads::of(side, medium, machine) {
        Ok(asked) => asked.most(),
        // A number that cannot be counted becomes the greatest that can be.
        Err(_) => u64::MAX,
    };
    let of = |medium: Medium| {
        let sides = dma.programs().flat_map(|loops| [(dma.from, loops.read()), (dma.to, loops.write())]);
        let own = sides.filter(|(space, _)| *space == Space::Memory(medium));
        let cycles = own.map(|(_, side)| busiest(medium, &side)).reduce(u64::saturating_add)?;
        Some((medium, cycles))
    };
    let each = |medium: &&Medium| matches!(medium.decl().ports, Ports::Each(_));
    Medium::ALL.iter().filter(each).filter_map(|&medium| of(medium)).collect()
}
