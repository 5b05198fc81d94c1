//! `hw.generate`: one number into data memory (book 09, generate mode).

use crate::build::{Build, verify};
use crate::clauses::{at_least, machine};
use visa_engine::place::rngd;
use visa_engine::shadow::Shadow;
use visa_engine::{
    Access, Engine, Flow, Mismatch, RunCx, SliceMemory, Space, Stage, StageCost, Store, Stream, Unit, Wire,
};
use visa_ir::decl::{ClauseDecl, ClauseKind, Interface, OpDecl, Trait};
use visa_ir::diag::Diagnostic;
use visa_ir::effects::{Effects, Target, writes};
use visa_ir::module::OpRef;
use visa_machine::Machine;
use visa_numerics::DType;

/// Bytes of the number.
const BYTES: u64 = 4;

/// The operations of this file.
pub static OPS: &[&OpDecl] = &[&GENERATE];

/// `hw.generate`.
#[visa_ir::view(Generate)]
pub static GENERATE: OpDecl = OpDecl {
    name: "hw.generate",
    summary: "writes one number to data memory",
    doc: "The immediate-to-memory command of the sub context (book 09): 4 bytes in every active slice. No engine \
          before the Commit Engine takes part, so it is alone.",
    constraints: &[
        ("C1", "the number has 32 bits (book 09)"),
        ("C2", "the address is a multiple of 4, and in the slice's data memory"),
    ],
    clauses: &[
        ClauseDecl::lead("value", ClauseKind::Int, "The 32 bits, as an unsigned number."),
        ClauseDecl::required("at", ClauseKind::Int, "Data memory address, bytes."),
    ],
    traits: &[Trait::Inside("hw.exec")],
    effects: Effects::Are(&[writes(Target::Memory("dm"))]),
    verify: Some(|op, _| verify(op)),
    example: "hw.generate 5, at 4096",
    interfaces: &[Interface(&rngd::GENERATE), Interface(&Build::Alone(|op| Ok(Stage::store(read(op)?))))],
    ..OpDecl::BASE
};

struct GenerateUnit {
    value: u32,
    at: u64,
}

fn read(op: OpRef<'_>) -> Result<GenerateUnit, Diagnostic> {
    let op = Generate::of(op)?;
    let value = op.value()?;
    let Ok(value) = u32::try_from(value) else {
        return Err(op.clause_error("C1", "value", format!("{value}, expected 0 to {}", u32::MAX)));
    };
    let (at, capacity) = (at_least(*op, "C2", ("at", op.at()?), 0)?, machine(*op).memory.dm_bytes_per_slice);
    if !at.is_multiple_of(BYTES) || at.saturating_add(BYTES) > capacity {
        let message = format!(
            "address {at}, expected a multiple of {BYTES} and the number to end at {capacity} or before"
        );
        return Err(op.clause_error("C2", "at", message));
    }
    Ok(GenerateUnit { value, at })
}

impl Unit for GenerateUnit {
    fn connect(&self, _machine: &Machine, _input: Wire) -> Result<Wire, Mismatch> {
        Ok(Wire { dtype: DType::I32, packets: 1, packet: BYTES, rows: None, ..Wire::NOTHING })
    }

    fn cost(&self, machine: &Machine, _input: Flow) -> StageCost {
        let out = Flow { packets: 1, packet: BYTES };
        StageCost { engine: Engine::COMMIT, cycles: machine.timing.generate_cycles, latency: 0, macs: 0, out }
    }

    fn assumed(&self) -> Vec<&'static str> {
        vec!["timing.generate_cycles"]
    }

    fn accesses(&self) -> Vec<Access> {
        vec![Access { space: Space::DM, write: true, range: self.at..self.at + BYTES }]
    }
}

impl Store for GenerateUnit {
    fn store(&self, cx: RunCx<'_>, memory: &mut SliceMemory, _stream: Stream) {
        let bytes = self.value.to_le_bytes();
        memory.dm.write(self.at as usize, &bytes);
        if cx.shadow.is_some() {
            memory.dm.write_shadow(self.at as usize, &bytes.map(|_| Shadow::DEFINED));
        }
    }
}
