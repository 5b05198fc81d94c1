//! `hw.fill`: one number over and over into data memory (book 09, generate mode).

use crate::attrs::{PROGRAM, STEPS};
use crate::build::{Build, Moves, verify};
use crate::clauses::machine;
use crate::loops::{Loops, Written, overwrites};
use crate::ops::control::{Moving, steps_of_stage};
use std::ops::Range;
use std::rc::Rc;
use visa_engine::place::rngd;
use visa_engine::shadow::Shadow;
use visa_engine::{
    Access, Engine, Flow, Mismatch, RunCx, SliceMemory, Space, Stage, StageCost, Store, Stream, Unit, Wire,
};
use visa_ir::decl::{ClauseDecl, ClauseKind, Interface, OpDecl, Trait};
use visa_ir::diag::Diagnostic;
use visa_ir::effects::{Effects, Target, writes};
use visa_ir::module::OpRef;
use visa_loops::{Program, Steps};
use visa_machine::Machine;
use visa_numerics::DType;

/// Bytes of the number.
const BYTES: u64 = 4;

/// The operations of this file.
pub static OPS: &[&OpDecl] = &[&FILL];

/// `hw.fill`.
#[visa_ir::view(Fill)]
pub static FILL: OpDecl = OpDecl {
    name: "hw.fill",
    summary: "writes one number over and over to data memory",
    doc: "The immediate-to-memory command of the sub context (book 09), in loops: 32 bits in every active slice, as \
          often as the loops have room for them. Numbers of 4, 8 or 16 bits are in it several times. An access is \
          of 8 bytes, the width of a bank, or of 4, half of it. No engine before the Commit Engine takes part, so \
          it is alone.",
    constraints: &[
        ("C1", "the number has 32 bits (book 09)"),
        ("C2", "the loops fit the sequencer, in accesses of 4 or 8 bytes (book 07, 09)"),
        ("C3", "base and strides are multiples of the access"),
        (
            "C4",
            "no stride is 0, and no two offsets of a table are nearer than a write: nothing is written twice \
             (book 33)",
        ),
        ("C5", "every address is in the slice's data memory"),
        (
            "C6",
            "`steps` has a number for each scalar and each loop around the run at most, a multiple of the access, \
             0 for scalars: only transfers move with them",
        ),
    ],
    clauses: &[
        ClauseDecl::lead("value", ClauseKind::Int, "The 32 bits, as an unsigned number."),
        ClauseDecl::required(
            "loops",
            ClauseKind::body::<Program>(&PROGRAM),
            "Data memory addresses, bytes; the packet is the size of one access.",
        ),
        ClauseDecl::optional(
            "steps",
            ClauseKind::body::<Steps>(&STEPS),
            "How far all addresses move with each `hw.scalar` and then each `hw.for` around the run, the outermost \
             first, in bytes.",
        ),
    ],
    traits: &[Trait::Inside("hw.exec")],
    effects: Effects::Are(&[writes(Target::Memory("dm"))]),
    verify: Some(|op, _| verify(op)),
    example: "hw.fill 0, loops [32 : 128, 64 : 1] : 8 @ 8192",
    interfaces: &[
        Interface(&rngd::GENERATE),
        Interface(&Moves(|op| moving(op).map(Moving::after_first))),
        Interface(&Build::Alone(|op| Ok(Stage::store(read(op)?)))),
    ],
    ..OpDecl::BASE
};

struct FillUnit {
    value: u32,
    loops: Loops,
}

fn read(op: OpRef<'_>) -> Result<FillUnit, Diagnostic> {
    let op = Fill::of(op)?;
    let value = op.value()?;
    let Ok(value) = u32::try_from(value) else {
        return Err(op.clause_error("C1", "value", format!("{value}, expected 0 to {}", u32::MAX)));
    };
    let machine = machine(*op);
    let written = Written::new(*op, "loops", op.loops()?);
    written.sequencer("C2", &[BYTES, machine.limits.commit_size_sub])?;
    written.aligned("C3", written.program.packet)?;
    if let Some(message) = overwrites(&written.program) {
        return Err(written.error("C4", message));
    }
    let moving = moving(*op)?;
    for touched in moving.reaches(&written.program) {
        let touched = Written::new(*op, "loops", Rc::new(touched));
        touched.within("C5", machine.memory.dm_bytes_per_slice, "the slice's data memory")?;
    }
    Ok(FillUnit { value, loops: written.loops_from("C5", moving.first())? })
}

/// C6: how the addresses of a fill move with the loops around it.
fn moving(op: OpRef<'_>) -> Result<Moving, Diagnostic> {
    let fill = Fill::of(op)?;
    steps_of_stage(op, "C6", fill.steps()?, fill.loops()?.packet.max(1))
}

impl Unit for FillUnit {
    fn connect(&self, _machine: &Machine, _input: Wire) -> Result<Wire, Mismatch> {
        let packet = self.loops.program.packet;
        Ok(Wire { dtype: DType::I32, packets: self.loops.accesses(), packet, rows: None, ..Wire::NOTHING })
    }

    /// An access takes as long as that of one number.
    fn cost(&self, machine: &Machine, _input: Flow) -> StageCost {
        let accesses = self.loops.accesses();
        let out = Flow { packets: accesses, packet: self.loops.program.packet };
        let cycles = accesses.saturating_mul(machine.timing.generate_cycles);
        StageCost { engine: Engine::COMMIT, cycles, latency: 0, macs: 0, out }
    }

    fn assumed(&self) -> Vec<&'static str> {
        vec!["timing.generate_cycles"]
    }

    fn walk(&self) -> Option<&Program> {
        Some(&self.loops.program)
    }

    fn accesses(&self) -> Vec<Access> {
        vec![Access { space: Space::DM, write: true, range: self.loops.extent() }]
    }
}

impl Store for FillUnit {
    fn store(&self, cx: RunCx<'_>, memory: &mut SliceMemory, _stream: Stream) {
        let number = self.value.to_le_bytes();
        for Range { start, end } in self.loops.runs_from(cx.moved as isize) {
            memory.dm.write(start, &number.repeat((end - start) / number.len()));
            if cx.shadow.is_some() {
                memory.dm.write_shadow(start, &vec![Shadow::DEFINED; end - start]);
            }
        }
    }
}
