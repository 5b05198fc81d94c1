//! `hw.store_ids`: the branch logger (book 21).

use crate::build::Build;
use crate::clauses::at_least;
use visa_engine::place::rngd;
use visa_engine::shadow::Shadow;
use visa_engine::{
    Access, Engine, Flow, Mismatch, RunCx, SliceMemory, Space, Stage, StageCost, Store, Stream, Unit, Wire,
};
use visa_ir::decl::{ClauseDecl, ClauseKind, Interface, OpDecl, Trait};
use visa_ir::diag::{Diagnostic, counted};
use visa_ir::effects::{Effects, Target, reads, writes};
use visa_ir::module::OpRef;
use visa_machine::Machine;

/// The operations of this file.
pub static OPS: &[&OpDecl] = &[&STORE_IDS];

/// `hw.store_ids`.
#[visa_ir::view(StoreIds)]
pub static STORE_IDS: OpDecl = OpDecl {
    name: "hw.store_ids",
    summary: "stores the execution ids of the stream in the vector register file",
    doc: "Ids go to consecutive words of 32 bits, from `at`, where a later `hw.vector_branch vrf` reads them \
          (book 21).",
    constraints: &[
        ("C1", "the words are in the vector register file (book 04)"),
        ("C2", "the stream's elements have 32 bits"),
    ],
    clauses: &[ClauseDecl::required("at", ClauseKind::Int, "Address of the first byte.")],
    traits: &[Trait::Inside("hw.exec")],
    effects: Effects::Are(&[reads(Target::Stream), writes(Target::Memory("vrf"))]),
    verify: Some(|op, _| address(op).map(drop)),
    example: "hw.store_ids at 0",
    interfaces: &[
        Interface(&rngd::STORE_IDS),
        Interface(&Build::After(|op, input| Ok(Stage::store(read(op, input)?)))),
    ],
    ..OpDecl::BASE
};

struct StoreIdsUnit {
    at: u64,
    /// Bytes of the stream.
    bytes: u64,
}

fn address(op: OpRef<'_>) -> Result<u64, Diagnostic> {
    let op = StoreIds::of(op)?;
    at_least(*op, "C1", ("at", op.at()?), 0)
}

fn read(op: OpRef<'_>, input: &Wire) -> Result<StoreIdsUnit, Diagnostic> {
    Ok(StoreIdsUnit { at: address(op)?, bytes: super::exec::bytes(op, "C1", input)? })
}

impl Unit for StoreIdsUnit {
    fn connect(&self, machine: &Machine, input: Wire) -> Result<Wire, Mismatch> {
        if input.dtype.bits() != 32 {
            return Err(Mismatch::new(
                "C2",
                "at",
                format!("elements of {}, expected i32 or f32", input.dtype),
            ));
        }
        let capacity = machine.memory.vrf_bytes;
        let end = input.bytes().and_then(|bytes| bytes.checked_add(self.at));
        if end.is_none_or(|end| end > capacity) {
            let (packets, packet, at) = (input.packets, input.packet, self.at);
            let message = format!(
                "{} of {} at {at} end past the register file's {}",
                counted(packets, "packet"),
                counted(packet, "byte"),
                counted(capacity, "byte")
            );
            return Err(Mismatch::new("C1", "at", message));
        }
        Ok(input)
    }

    fn cost(&self, _machine: &Machine, input: Flow) -> StageCost {
        StageCost { engine: Engine::COMMIT, cycles: input.packets, latency: 1, macs: 0, out: input }
    }

    fn accesses(&self) -> Vec<Access> {
        vec![Access { space: Space::Vrf, write: true, range: self.at..self.at.saturating_add(self.bytes) }]
    }
}

impl Store for StoreIdsUnit {
    fn store(&self, cx: RunCx<'_>, memory: &mut SliceMemory, stream: Stream) {
        let elements = stream.bytes.len() / 4;
        let lanes = stream.lanes.unwrap_or_default();
        let words: Vec<u8> = (0..elements).flat_map(|at| u32::from(lanes.id(at)).to_le_bytes()).collect();
        memory.vrf.write(self.at as usize, &words);
        if let Some(mut marker) = cx.marker() {
            let mut marks: Vec<Shadow> = (0..elements).flat_map(|at| [lanes.id_mark(at); 4]).collect();
            marker.through_all(&mut marks);
            memory.vrf.write_shadow(self.at as usize, &marks);
        }
    }
}
