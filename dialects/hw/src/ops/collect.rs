//! `hw.collect`: the Collect Engine (book 14).

use crate::build::{Build, verify};
use crate::clauses::{at_least, machine};
use crate::ops::exec::context_of;
use visa_engine::place::rngd;
use visa_engine::shadow::Shadow;
use visa_engine::{Engine, Flow, Map, Mismatch, RunCx, SliceMemory, Stage, StageCost, Stream, Unit, Wire};
use visa_ir::decl::{ClauseDecl, ClauseKind, Interface, OpDecl, Trait};
use visa_ir::diag::{Diagnostic, counted};
use visa_ir::effects::{Effects, Target, reads, writes};
use visa_ir::module::OpRef;
use visa_machine::Machine;

/// The operations of this file.
pub static OPS: &[&OpDecl] = &[&COLLECT];

/// `hw.collect`.
#[visa_ir::view(Collect)]
pub static COLLECT: OpDecl = OpDecl {
    name: "hw.collect",
    summary: "cuts packets into flits",
    doc: "Every packet is filled up with zeros to whole flits of 32 bytes, in the dual context of 64 (book 08), and \
          cut into them (book 14); each flit is a separate packet from here on. The zeros are defined. With \
          `halves`, each of 64 bytes leaves as two of 32, for engines other than the aligner.",
    constraints: &[
        ("C1", "the flits hold a packet, and none of them is padding only (book 14)"),
        ("C2", "flits of 64 bytes have halves: those of the dual context"),
    ],
    clauses: &[
        ClauseDecl::required("flits", ClauseKind::Int, "Flits a packet."),
        ClauseDecl::optional("halves", ClauseKind::Flag, "Gives each flit of 64 bytes as two of 32."),
    ],
    traits: &[Trait::Inside("hw.exec")],
    effects: Effects::Are(&[reads(Target::Stream), writes(Target::Stream)]),
    verify: Some(|op, _| verify(op)),
    example: "hw.collect flits 2",
    interfaces: &[Interface(&rngd::COLLECT), Interface(&Build::Alone(|op| Ok(Stage::map(read(op)?))))],
    ..OpDecl::BASE
};

struct CollectUnit {
    flits: u64,
    flit: u64,
    /// Packets that a flit leaves as.
    parts: u64,
}

fn read(op: OpRef<'_>) -> Result<CollectUnit, Diagnostic> {
    let op = Collect::of(op)?;
    let machine = machine(*op);
    let flit = machine.flit_bytes(context_of(*op)?);
    let flits = at_least(*op, "C1", ("flits", op.flits()?), 1)?;
    if !op.halves() {
        return Ok(CollectUnit { flits, flit, parts: 1 });
    }
    let parts = flit / machine.limits.flit_bytes;
    if parts > 1 {
        return Ok(CollectUnit { flits, flit, parts });
    }
    let message = format!("a flit of {} leaves as it is", counted(flit, "byte"));
    Err(op.clause_error("C2", "halves", message).fix("leave `halves` out".to_owned()))
}

impl Unit for CollectUnit {
    fn connect(&self, _machine: &Machine, input: Wire) -> Result<Wire, Mismatch> {
        let needed = input.packet.div_ceil(self.flit);
        if self.flits != needed {
            let message = format!(
                "`flits` is {}, expected {needed}: a packet is {}, a flit {}",
                self.flits,
                counted(input.packet, "byte"),
                self.flit
            );
            return Err(Mismatch::new("C1", "flits", message));
        }
        // Padding less than doubles a packet of at least 1 byte per flit, and packets are bounded before.
        let packets = input.packets.saturating_mul(self.flits).saturating_mul(self.parts);
        Ok(Wire { packets, packet: self.flit / self.parts, ..input })
    }

    fn cost(&self, _machine: &Machine, input: Flow) -> StageCost {
        let flits = input.packets * self.flits;
        let out = Flow { packets: flits * self.parts, packet: self.flit / self.parts };
        StageCost { engine: Engine::COLLECT, cycles: flits, latency: 1, macs: 0, out }
    }
}

impl Map for CollectUnit {
    fn run(&self, cx: RunCx<'_>, _memory: &SliceMemory, mut input: Stream) -> Stream {
        let flit = self.flit as usize * input.dtype.wire_scale();
        let whole = self.flits as usize * flit;
        input.pass_marks(cx);
        if let Some(marks) = &mut input.shadow {
            *marks = padded(marks, input.packet, whole, Shadow::DEFINED);
        }
        if input.packet != whole {
            input.bytes = padded(&input.bytes, input.packet, whole, 0);
        }
        Stream { packet: flit / self.parts as usize, ..input }
    }
}

/// Every chunk of `from` items filled up with `pad` to `to` items.
pub(super) fn padded<T: Copy>(items: &[T], from: usize, to: usize, pad: T) -> Vec<T> {
    let mut out = vec![pad; items.len().div_ceil(from.max(1)) * to];
    for (out, chunk) in out.chunks_exact_mut(to.max(1)).zip(items.chunks(from.max(1))) {
        out[..chunk.len()].copy_from_slice(chunk);
    }
    out
}
