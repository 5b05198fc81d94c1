//! `hw.vector_stash`: keeps a copy of the stream for an operand further on (book 21).

use crate::build::Build;
use visa_engine::place::rngd;
use visa_engine::{
    Engine, Flow, Map, Mismatch, RunCx, SliceMemory, Stage, StageCost, Stash, Stream, Unit, Wire,
};
use visa_ir::decl::{Interface, OpDecl, Trait};
use visa_ir::effects::{Effects, Target, reads, writes};
use visa_machine::Machine;

/// The operations of this file.
pub static OPS: &[&OpDecl] = &[&VECTOR_STASH];

/// `hw.vector_stash`.
#[visa_ir::view(VectorStash)]
pub static VECTOR_STASH: OpDecl = OpDecl {
    name: "hw.vector_stash",
    summary: "keeps a copy of the stream",
    doc: "The stream goes on unchanged; an `hw.vector` further on in the pass reads the copy as its operand \
          `stash`, in packets of the width that the stream has there (book 21).",
    constraints: &[("C1", "the stash is written once a pass (book 21)")],
    traits: &[Trait::Inside("hw.exec")],
    effects: Effects::Are(&[reads(Target::Stream), writes(Target::Stream)]),
    example: "hw.vector_stash",
    interfaces: &[Interface(&rngd::VECTOR), Interface(&Build::Alone(|_| Ok(Stage::map(VectorStashUnit))))],
    ..OpDecl::BASE
};

struct VectorStashUnit;

impl Unit for VectorStashUnit {
    fn connect(&self, _machine: &Machine, input: Wire) -> Result<Wire, Mismatch> {
        if input.stash.is_some() {
            return Err(Mismatch::new(
                "C1",
                "",
                "the stash already holds an earlier stream of this pass".to_owned(),
            ));
        }
        Ok(Wire { stash: Some((input.dtype, input.flow())), ..input })
    }

    fn cost(&self, _machine: &Machine, input: Flow) -> StageCost {
        StageCost { engine: Engine::VECTOR, cycles: input.packets, latency: 0, macs: 0, out: input }
    }
}

impl Map for VectorStashUnit {
    fn run(&self, cx: RunCx<'_>, _memory: &SliceMemory, mut input: Stream) -> Stream {
        input.pass_marks(cx);
        let stash = Stash { bytes: input.bytes.clone(), packet: input.packet, shadow: input.shadow.clone() };
        input.lanes.get_or_insert_default().stash = Some(stash);
        input
    }
}
