//! `hw.cast`: the Cast Engine (book 26).

use crate::attrs::DTYPE;
use crate::build::{Build, verify};
use crate::clauses::machine;
use visa_engine::place::rngd;
use visa_engine::shadow::Shadow;
use visa_engine::{Engine, Flow, Map, Mismatch, RunCx, SliceMemory, Stage, StageCost, Stream, Unit, Wire};
use visa_ir::decl::{ClauseDecl, ClauseKind, Interface, OpDecl, Trait};
use visa_ir::diag::Diagnostic;
use visa_ir::effects::{Effects, Target, reads, writes};
use visa_ir::module::OpRef;
use visa_machine::Machine;
use visa_numerics::{CAST_ENGINE, CastRow, DType, load, store};

/// The operations of this file.
pub static OPS: &[&OpDecl] = &[&CAST];

/// `hw.cast`.
#[visa_ir::view(Cast)]
pub static CAST: OpDecl = OpDecl {
    name: "hw.cast",
    summary: "narrows 32-bit elements",
    doc: "Every packet of 8 values of 32 bits becomes 8 narrower values at its start, filled up with zeros to 32 \
          bytes (book 26). The zeros are defined.",
    constraints: &[
        ("C1", "the Cast Engine has a conversion to this format (book 26)"),
        ("C2", "the stream's elements are of the format that this conversion takes (book 26)"),
    ],
    clauses: &[ClauseDecl::lead("dtype", ClauseKind::body::<DType>(&DTYPE), "Format to convert to.")],
    traits: &[Trait::Inside("hw.exec")],
    effects: Effects::Are(&[reads(Target::Stream), writes(Target::Stream)]),
    verify: Some(|op, _| verify(op)),
    example: "hw.cast bf16",
    interfaces: &[Interface(&rngd::CAST), Interface(&Build::Alone(|op| Ok(Stage::map(read(op)?))))],
    ..OpDecl::BASE
};

struct CastUnit {
    row: &'static CastRow,
    flit: usize,
}

/// Each format has one conversion that gives it, so that the target names the row of the table.
fn read(op: OpRef<'_>) -> Result<CastUnit, Diagnostic> {
    let op = Cast::of(op)?;
    let to = *op.dtype()?;
    let Some(row) = CAST_ENGINE.iter().find(|row| row.to == to) else {
        let names: Vec<_> = CAST_ENGINE.iter().map(|row| row.to.name()).collect();
        let message = format!("the Cast Engine does not give {to}, expected {}", names.join(", "));
        return Err(op.clause_error("C1", "dtype", message));
    };
    Ok(CastUnit { row, flit: machine(*op).limits.flit_bytes as usize })
}

impl CastUnit {
    /// The values of each packet, narrowed by `narrow` (the values of one byte, or of one element of more: bytes
    /// in, bytes out), then `pad` up to a flit.
    fn packets<T: Copy>(&self, items: &[T], pad: T, mut narrow: impl FnMut(&[T], &mut [T])) -> Vec<T> {
        let mut out = vec![pad; items.len()];
        let to = self.row.to.align() as usize;
        let from = to * self.row.from.bits() as usize / self.row.to.bits() as usize;
        for (packet, out) in items.chunks_exact(self.flit).zip(out.chunks_exact_mut(self.flit)) {
            for (value, out) in packet.chunks_exact(from).zip(out.chunks_exact_mut(to)) {
                narrow(value, out);
            }
        }
        out
    }
}

impl Unit for CastUnit {
    fn connect(&self, _machine: &Machine, input: Wire) -> Result<Wire, Mismatch> {
        if input.dtype != self.row.from {
            let (to, from) = (self.row.to, self.row.from);
            let message =
                format!("the stream's elements are {}, expected {from} for a cast to {to}", input.dtype);
            return Err(Mismatch::new("C2", "dtype", message));
        }
        Ok(Wire { dtype: self.row.to, ..input })
    }

    fn cost(&self, _machine: &Machine, input: Flow) -> StageCost {
        StageCost { engine: Engine::CAST, cycles: input.packets, latency: 1, macs: 0, out: input }
    }
}

impl Map for CastUnit {
    fn run(&self, cx: RunCx<'_>, _memory: &SliceMemory, input: Stream) -> Stream {
        let row = self.row;
        let bytes = self.packets(&input.bytes, 0, |values, out| {
            for index in 0..row.from.elements(values.len() as u64) as usize {
                store(row.to, out, index, (row.apply)(load(row.from, values, index)));
            }
        });
        let shadow = cx.marker().zip(input.shadow).map(|(mut marker, marks)| {
            self.packets(&marks, Shadow::DEFINED, |value, out| out.fill(marker.through(Shadow::all(value))))
        });
        Stream { dtype: row.to, bytes, shadow, ..input }
    }
}
