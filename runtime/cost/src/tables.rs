//! Loads of look-up tables. Our dialects have a table at its fetch; the chip loads it before the pass that uses it.
//! The vendor's schedules have two commands for that: a transfer of 4 KB, 8 bytes for each slice, and a run of the sub
//! context that takes 1,030 cycles in addition to its start. No slice reaches the other cluster's part, so that each
//! cluster gets the same 2 KB. The pass waits for its table as if it read bytes that the run writes.

use std::ops::Range;
use std::sync::Arc;

use visa_engine::{
    Access, Engine, Flow, Pace, RunCx, SliceMemory, Space, Stage, StageCost, Store, Stream, Unit, Wire,
};
use visa_hw::program::{Context, Dma, DmaPart, Exec, PlacedStage};
use visa_ir::span::Span;
use visa_loops::{PairedEntry, PairedProgram, Steps, Stride};
use visa_machine::Machine;

/// Bytes of a slice.
const SLICE_BYTES: u64 = 8;

/// Steps of the run that stores a table.
const STEPS: u64 = 1024;

/// Where a slice gets its part of a table, of which two have room.
pub(crate) fn place(machine: &Machine, number: u64) -> Range<u64> {
    let end = machine.memory.dm_bytes_per_slice.saturating_sub(number * SLICE_BYTES);
    end.saturating_sub(SLICE_BYTES)..end
}

/// The bytes that stand for a stored table.
fn stored(machine: &Machine) -> Range<u64> {
    let end = place(machine, 1).start;
    end.saturating_sub(SLICE_BYTES)..end
}

/// The bytes that a pass reads of its table, on a machine for which tables are loaded.
pub(crate) fn table_read(exec: &Exec, machine: &Machine) -> Option<Range<u64>> {
    (machine.measured.is_some() && uses_table(exec)).then(|| stored(machine))
}

/// Returns true if a pass looks up a table.
pub(crate) fn uses_table(exec: &Exec) -> bool {
    exec.stages.iter().any(|stage| stage.pace() == Pace::Table)
}

/// Each engine of a cluster gives as many slices as the others their part; all clusters get the same.
pub(crate) fn load(machine: &Machine, place: &Range<u64>) -> Dma {
    let clusters = machine.topology.clusters_per_chip;
    let engines = machine.topology.dma_engines_per_chip / clusters.max(1);
    let slices = machine.topology.slices_per_cluster / engines.max(1);
    let slice = machine.memory.dm_bytes_per_slice;
    let entry = |limit: u64, read: u64, write: u64| PairedEntry {
        limit,
        read: Stride::Fixed(read.cast_signed()),
        write: Stride::Fixed(write.cast_signed()),
    };
    let loops = PairedProgram {
        entries: vec![
            entry(clusters, 0, machine.topology.slices_per_cluster * slice),
            entry(engines, slices * SLICE_BYTES, slices * slice),
            entry(slices, SLICE_BYTES, slice),
            entry(SLICE_BYTES, 1, 1),
        ],
        packet: SLICE_BYTES,
        read_base: machine.memory.hbm_bytes.saturating_sub(4096).cast_signed(),
        write_base: place.start.cast_signed(),
    };
    let parts = vec![DmaPart { first: 0, engine_loops: 2, loops }];
    Dma { pcie: false, from: Space::HBM, to: Space::DM, parts, steps: [Steps::default(), Steps::default()] }
}

/// The run that stores the loaded table.
pub(crate) fn store(pass: &Exec, machine: &Machine, place: Range<u64>, span: Span) -> Exec {
    let stage = Stage::store(TableStore { read: place, write: stored(machine) });
    let (stage, entering) = (Arc::new(stage), Wire::NOTHING);
    let stage = PlacedStage { name: "hw.store_table", span, stage, entering, steps: Steps::default() };
    Exec { context: Context::Sub, slices: pass.slices.clone(), steps: Steps::default(), stages: vec![stage] }
}

/// Stores a table where the fetch finds it.
struct TableStore {
    read: Range<u64>,
    write: Range<u64>,
}

impl Unit for TableStore {
    fn cost(&self, _machine: &Machine, input: Flow) -> StageCost {
        StageCost { engine: Engine::COMMIT, cycles: STEPS, latency: 0, macs: 0, out: input }
    }

    fn accesses(&self) -> Vec<Access> {
        let access = |write, range: &Range<u64>| Access { space: Space::DM, write, range: range.clone() };
        vec![access(false, &self.read), access(true, &self.write)]
    }
}

impl Store for TableStore {
    /// The fetch has its table already: a program with these is priced, not run.
    fn store(&self, _cx: RunCx<'_>, _memory: &mut SliceMemory, _stream: Stream) {}
}
