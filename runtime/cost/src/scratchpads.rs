//! How long the scratchpad memories are busy with a transfer. Each has a bandwidth of its own (book 11), so it matters
//! how many take part.

use visa_engine::Space;
use visa_hw::program::Dma;
use visa_loops::Program;
use visa_machine::Machine;
use visa_memory::Scratchpads;

/// Cycles of the busiest scratchpad memory, one side and part after the other; `None` if a transfer reads and writes
/// other memories alone.
pub(crate) fn cycles(dma: &Dma, machine: &Machine) -> Option<u64> {
    let busiest = |side: &Program| match Scratchpads::of(side, machine) {
        Ok(asked) => asked.most(),
        // What cannot be counted takes the most that can be.
        Err(_) => u64::MAX,
    };
    let sides = dma.programs().flat_map(|loops| [(dma.from, loops.read()), (dma.to, loops.write())]);
    let own = sides.filter(|(space, _)| *space == Space::Spm);
    own.map(|(_, side)| busiest(&side)).reduce(u64::saturating_add)
}
