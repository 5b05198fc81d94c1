//! An engine that RNGD does not have: it flips bits of every element. This file is all of it: its place, the stream
//! that leaves it, the operation with its semantics and its lowering, and the hardware, which runs and has a price.

use visa::engine::place::{Place, Places, Slot};
use visa::engine::shadow::Shadow;
use visa::engine::{Engine, Flow, Map, Mismatch, RunCx, SliceMemory, Stage, StageCost, Stream, Unit, Wire};
use visa::hw::build::Build;
use visa::ir::decl::{ClauseDecl, ClauseKind, Interface, OpDecl, OperandDecl, Trait};
use visa::ir::diag::Diagnostic;
use visa::ir::effects::{Effects, Target, reads, writes};
use visa::ir::module::{OpRef, OpSpec};
use visa::ir::verify::VerifyCx;
use visa::machine::Machine;
use visa::mapping::expression::Term;
use visa::mapping::raise::{Raising, Semantics};
use visa::mapping::tensor_kind;
use visa::numerics::{Bits, DType, default_mode, load, store, to_f64};
use visa::stream::formula::{Elementwise, Formula};
use visa::stream::lower::{LowerStage, StageCx};
use visa::stream::raise::{call, mapped, result};
use visa::stream::{chain, pipeline};

pub(crate) static OPS: &[&OpDecl] = &[&FLIP, &HW_FLIP];

/// After the cast engine, or after any engine between collect and that; before commit.
static FLIPPER: Places = Places(&[Place::after(Slot(850), Slot::COLLECT, Slot::CAST)]);

tensor_kind!(
    /// Out of the engine.
    FLIPPED, "my.flipped", "CONTEXT, DTYPE, CHIP, CLUSTER, SLICE, TIME, PACKET", true,
    [Chip, Cluster, Slice, Time, Packet],
    "Flits of elements with flipped bits.",
    left &FLIPPER
);

/// The common parts of the operation and its hardware.
#[visa::ir::view(Keyed)]
const KEYED: OpDecl = OpDecl {
    constraints: &[("C1", "the format is i32"), ("C2", "the key is a signed 32-bit integer")],
    clauses: &[ClauseDecl::required("key", ClauseKind::Int, "the bits to flip")],
    ..OpDecl::BASE
};

/// The key of either.
fn key(op: OpRef<'_>) -> Result<Bits, Diagnostic> {
    let key = Keyed::seen(op).key()?;
    let wrong = |_| op.clause_error("C2", "key", format!("`key` is {key}, expected a signed 32-bit integer"));
    i32::try_from(key).map(i32::cast_unsigned).map_err(wrong)
}

static FLIP: OpDecl = OpDecl {
    name: "my.flip",
    summary: "Flips the bits of the key in every element.",
    operands: &[OperandDecl::accepting("stream", pipeline::after!(&FLIPPER))],
    results: &["stream"],
    effects: Effects::PURE,
    infer: Some(|op| chain::next(op, &FLIPPED, None)),
    verify: Some(verify),
    example: "%f = my.flip %c key 255",
    interfaces: &[
        Interface(&FLIPPER),
        Interface(&Semantics(flipped)),
        Interface(&Formula::Elementwise(|op| {
            Ok(Elementwise { mode: default_mode(2), constants: [Some(key(op)?), None] })
        })),
        Interface(&LowerStage(lower)),
    ],
    ..KEYED
};

fn verify(op: OpRef<'_>, _: &VerifyCx<'_>) -> Result<(), Diagnostic> {
    key(op)?;
    match chain::input(op)?.dtype {
        DType::I32 => Ok(()),
        found => Err(op.error("C1", format!("the stream is `{found}`, expected `i32`"))),
    }
}

/// `xor(x, key)` of each element `x`.
fn flipped(cx: &mut Raising<'_>, op: OpRef<'_>) -> Result<(), Diagnostic> {
    let stream = cx.held(op, 0, &*result(op)?)?;
    let key = Term::Number(to_f64(DType::I32, key(op)?));
    let flipped = mapped(cx, op, &[&stream], call("xor", vec![Term::Name(0), key]))?;
    cx.bind(op, flipped)
}

fn lower(_: &StageCx<'_>, op: OpRef<'_>) -> Result<Option<OpSpec>, Diagnostic> {
    let key = Keyed::seen(op).key()?;
    Ok(Some(HwFlip::build(op, []).common(|common| common.key(key)).spec()))
}

#[visa::ir::view(HwFlip: Keyed)]
static HW_FLIP: OpDecl = OpDecl {
    name: "my.hw_flip",
    summary: "Flips the bits of the key in every element of the stream.",
    traits: &[Trait::Inside("hw.exec")],
    effects: Effects::Are(&[reads(Target::Stream), writes(Target::Stream)]),
    verify: Some(|op, _| key(op).map(drop)),
    example: "my.hw_flip key 255",
    interfaces: &[
        Interface(&FLIPPER),
        Interface(&Build::Alone(|op| Ok(Stage::map(Flipper { key: key(op)? })))),
    ],
    ..KEYED
};

/// The engine, set up.
struct Flipper {
    key: Bits,
}

impl Unit for Flipper {
    fn connect(&self, _: &Machine, input: Wire) -> Result<Wire, Mismatch> {
        match input.dtype {
            DType::I32 => Ok(input),
            found => Err(Mismatch::new("C1", "", format!("the elements are {found}, expected i32"))),
        }
    }

    /// A flit a cycle, and one cycle from its input to its output.
    fn cost(&self, _: &Machine, input: Flow) -> StageCost {
        StageCost { engine: Engine("flipper"), cycles: input.packets, latency: 1, macs: 0, out: input }
    }
}

impl Map for Flipper {
    fn run(&self, cx: RunCx<'_>, _: &SliceMemory, mut stream: Stream) -> Stream {
        for index in 0..stream.bytes.len() / 4 {
            let value = load(DType::I32, &stream.bytes, index) ^ self.key;
            store(DType::I32, &mut stream.bytes, index, value);
        }
        // In shadow mode every byte has a mark; an element that is undefined in part is undefined.
        if let (Some(mut marker), Some(marks)) = (cx.marker(), &mut stream.shadow) {
            for element in marks.chunks_mut(4) {
                element.fill(marker.through(Shadow::all(element)));
            }
        }
        stream
    }
}
