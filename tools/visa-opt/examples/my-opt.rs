//! A visa-opt of one's own: an operation more, with its meaning, its lowering and its hardware, and a pass more.
//! `docs/tutorial.md` goes through it part by part; `tests/my_opt.rs` runs it.

use std::process::ExitCode;
use visa_engine::place::rngd;
use visa_engine::shadow::Shadow;
use visa_engine::{Engine, Flow, Map, Mismatch, RunCx, SliceMemory, Stage, StageCost, Stream, Unit, Wire};
use visa_hw::build::Build;
use visa_ir::decl::{Dialect, Interface, OpDecl, OperandDecl, Trait};
use visa_ir::diag::Diagnostic;
use visa_ir::effects::{Effects, Target, reads, writes};
use visa_ir::module::OpRef;
use visa_ir::verify::VerifyCx;
use visa_machine::Machine;
use visa_numerics::{Bits, DType, load, store};
use visa_opt::Tool;
use visa_pass::{Level, Pass, PassCx};
use visa_stream::lower::LowerStage;
use visa_stream::meaning::{Function, Meaning};
use visa_stream::{VECTOR, chain};

fn main() -> ExitCode {
    tool().main()
}

/// Everything that comes with visa, and what is below.
pub(crate) fn tool() -> Tool {
    Tool::standard().dialect(&MY).pass(&CANCEL)
}

static MY: Dialect = Dialect {
    name: "my",
    level: visa_ir::level::Level::Any,
    doc: "A vector unit that negates.",
    ops: &[&[&NEGATE, &HW_NEGATE]],
    types: &[],
    attrs: &[],
};

/// What both operations compute of an element.
fn negate(x: Bits) -> Bits {
    x.wrapping_neg()
}

static NEGATE: OpDecl = OpDecl {
    name: "my.negate",
    summary: "Negates every element.",
    doc: "Wraps: the least integer is its own negation.",
    constraints: &[("C1", "the format is i32")],
    operands: &[OperandDecl::one("stream", &["stream.vector"])],
    results: &["stream"],
    effects: Effects::PURE,
    infer: Some(|op| chain::next(op, &VECTOR, None)),
    verify: Some(verify),
    example: "%n = my.negate %x",
    interfaces: &[
        Interface(&rngd::VECTOR),
        Interface(&Meaning::Elementwise(|_| Ok(Function::unary(negate)))),
        Interface(&LowerStage(|cx, op| cx.spec("my.hw_negate", op).map(Some))),
    ],
    ..OpDecl::BASE
};

fn verify(op: OpRef<'_>, _: &VerifyCx<'_>) -> Result<(), Diagnostic> {
    let found = chain::input(op)?.dtype;
    if found == DType::I32 {
        return Ok(());
    }
    Err(op.error("C1", format!("the stream is `{found}`, expected `i32`")))
}

static HW_NEGATE: OpDecl = OpDecl {
    name: "my.hw_negate",
    summary: "Negates every element of the stream.",
    constraints: &[("C1", "the stream's elements are i32")],
    traits: &[Trait::Inside("hw.exec")],
    example: "my.hw_negate",
    interfaces: &[Interface(&rngd::VECTOR), Interface(&Build(|_, _| Ok(Stage::map(HwNegate))))],
    effects: Effects::Are(&[reads(Target::Stream), writes(Target::Stream)]),
    ..OpDecl::BASE
};

struct HwNegate;

impl Unit for HwNegate {
    fn connect(&self, _: &Machine, input: Wire) -> Result<Wire, Mismatch> {
        if input.dtype == DType::I32 {
            return Ok(input);
        }
        let message = format!("the stream's elements are {}, expected i32", input.dtype);
        Err(Mismatch::new("C1", "", message))
    }

    fn cost(&self, machine: &Machine, input: Flow) -> StageCost {
        let latency = machine.timing.alu_latency_cycles;
        StageCost { engine: Engine::Vector, cycles: input.packets, latency, macs: 0, out: input }
    }
}

impl Map for HwNegate {
    fn run(&self, cx: RunCx<'_>, _: &SliceMemory, mut stream: Stream) -> Stream {
        for index in 0..stream.bytes.len() / 4 {
            let value = negate(load(DType::I32, &stream.bytes, index));
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

static CANCEL: Pass = Pass {
    name: "my-cancel",
    summary: "removes pairs of negations",
    doc: "-(-x) is x for every x, the least integer included, because negation wraps.",
    takes: Level::Tensor,
    gives: Level::Tensor,
    statistics: &[("pairs", "pairs of negations removed")],
    run: cancel,
    ..Pass::BASE
};

fn cancel(cx: &mut PassCx<'_>) -> Result<(), Vec<Diagnostic>> {
    for id in cx.module.walk_all() {
        let op = cx.module.op(cx.ctx, id);
        let inner = op.operand_def(0).filter(|inner| op.is(&NEGATE) && inner.is(&NEGATE));
        let Some(inner) = inner else { continue };
        let (negated_twice, plain) = (op.results()[0], inner.operands()[0]);
        cx.module.replace_uses(negated_twice, plain);
        cx.module.erase(id);
        cx.count("pairs", 1);
    }
    Ok(())
}
