//! `hw.vector`: an ALU of the Vector Engine (books 20, 21).

use crate::attrs::PROGRAM;
use crate::clauses::{machine, word};
use crate::loops::{Loops, Written};
use crate::stage::{
    Access, Build, Engine, Flow, Mismatch, RunCx, SliceMemory, Space, Stage, StageCost, Stream, Wire,
};
use crate::taint::Taint;
use visa_ir::decl::{ClauseDecl, ClauseKind, Interface, OpDecl, Trait};
use visa_ir::diag::Diagnostic;
use visa_ir::module::OpRef;
use visa_ir::span::Span;
use visa_machine::Machine;
use visa_numerics::{ALU_NAMES, AluOp, Bits, alu_op, load, store};

/// The operations of this file.
pub static OPS: &[&OpDecl] = &[&VECTOR];

/// `hw.vector`.
pub static VECTOR: OpDecl = OpDecl {
    name: "hw.vector",
    summary: "applies one ALU to every element",
    doc: "Every element x of the stream becomes `op(x, y)` (book 21). The operand y is a constant, or the element at the \
          same place of what the vector register file delivers: one access of a packet's size for each packet (book 20).",
    constraints: &[
        ("C1", "the operand is either a constant or a register-file program"),
        ("C2", "the constant fits a signed 32-bit integer"),
        ("C3", "the stream's elements are of the operation's format (book 21)"),
        ("C4", "the loops fit the sequencer, with accesses of one packet (book 07)"),
        ("C5", "every address lies in the vector register file (book 04)"),
        ("C6", "the loops make one access for each packet"),
    ],
    clauses: &[
        ClauseDecl::lead("op", ClauseKind::Word(&ALU_NAMES), "What the ALU computes."),
        ClauseDecl::optional("constant", ClauseKind::Int, "The operand: a signed 32-bit integer."),
        ClauseDecl::optional("vrf", ClauseKind::Body(&PROGRAM), "Addresses in the vector register file, bytes."),
    ],
    traits: &[Trait::Inside("hw.exec")],
    verify: Some(|op, _| read(op).map(drop)),
    example: "hw.vector AddFxp, constant 1",
    interfaces: &[Interface(&Build(|op| Ok(Box::new(read(op)?))))],
    ..OpDecl::BASE
};

enum Source {
    Constant(Bits),
    Vrf(Loops),
}

struct Vector {
    span: Span,
    op: &'static AluOp,
    source: Source,
}

fn read(op: OpRef<'_>) -> Result<Vector, Diagnostic> {
    let name = word(op, "op")?;
    let Some(alu) = alu_op(&name) else {
        let message = format!("unknown ALU operation `{name}`, expected one of `{}`", ALU_NAMES.join("`, `"));
        return Err(op.clause_error("C3", "op", message));
    };
    let source = match (op.int("constant"), op.attr("vrf").is_some()) {
        (Some(constant), false) => {
            let Ok(constant) = i32::try_from(constant) else {
                let message = format!("`constant` is {constant}, expected {} to {}", i32::MIN, i32::MAX);
                return Err(op.clause_error("C2", "constant", message));
            };
            Source::Constant(constant.cast_unsigned())
        }
        (None, true) => Source::Vrf(register_file(op)?),
        (Some(_), true) => {
            return Err(op.clause_error("C1", "vrf", "`constant` and `vrf` are both there, expected one of them"));
        }
        (None, false) => return Err(op.error("C1", "there is no operand, expected `constant` or `vrf`")),
    };
    Ok(Vector { span: op.span(), op: alu, source })
}

fn register_file(op: OpRef<'_>) -> Result<Loops, Diagnostic> {
    let machine = machine(op);
    let written = Written::read(op, "vrf")?;
    written.sequencer("C4", &[machine.limits.flit_bytes])?;
    written.within("C5", machine.memory.vrf_bytes, "the vector register file")?;
    Ok(written.loops())
}

impl Stage for Vector {
    fn name(&self) -> &'static str {
        VECTOR.name
    }

    fn span(&self) -> Span {
        self.span
    }

    fn connect(&self, _machine: &Machine, input: Wire) -> Result<Wire, Mismatch> {
        if input.dtype != self.op.dtype {
            let message = format!("{} works on {}, the stream's elements are {}", self.op.name, self.op.dtype, input.dtype);
            return Err(Mismatch::new("C3", "op", message));
        }
        match &self.source {
            Source::Vrf(loops) if loops.accesses() != input.packets => {
                let message =
                    format!("the loops make {} accesses, expected {}, one a packet", loops.accesses(), input.packets);
                Err(Mismatch::new("C6", "vrf", message))
            }
            Source::Vrf(_) | Source::Constant(_) => Ok(input),
        }
    }

    fn run(&self, cx: RunCx<'_>, memory: &SliceMemory, mut input: Stream) -> Stream {
        let dtype = self.op.dtype;
        let elements = input.bytes.len() * 8 / dtype.bits() as usize;
        let mut operands = Vec::new();
        if let Source::Vrf(loops) = &self.source {
            loops.runs().iter().for_each(|run| memory.vrf.read(run.clone(), &mut operands));
            operands.resize(input.bytes.len(), 0);
        }
        for index in 0..elements {
            let operand = match &self.source {
                Source::Constant(constant) => *constant,
                Source::Vrf(_) => load(dtype, &operands, index),
            };
            let value = (self.op.apply)(load(dtype, &input.bytes, index), operand);
            store(dtype, &mut input.bytes, index, value);
        }
        self.mark(cx, memory, &mut input);
        input
    }

    fn cost(&self, machine: &Machine, input: Flow) -> StageCost {
        let latency = machine.timing.alu_latency_cycles;
        StageCost { engine: Engine::Vector, cycles: input.packets, latency, macs: 0, out: input }
    }

    fn accesses(&self) -> Vec<Access> {
        match &self.source {
            Source::Constant(_) => Vec::new(),
            Source::Vrf(loops) => vec![Access { space: Space::Vrf, write: false, range: loops.extent() }],
        }
    }
}

impl Vector {
    /// One mark an element: of the stream's element and the operand's.
    fn mark(&self, cx: RunCx<'_>, memory: &SliceMemory, stream: &mut Stream) {
        let (Some(mut marker), Some(marks)) = (cx.marker(), &mut stream.taint) else { return };
        let size = self.op.dtype.bits() as usize / 8;
        let mut operands = Vec::new();
        if let Source::Vrf(loops) = &self.source {
            for run in loops.runs() {
                memory.vrf.read_taint(run.clone(), Taint::NEVER_WRITTEN, &mut operands);
            }
        }
        operands.resize(marks.len(), Taint::DEFINED);
        for (element, operand) in marks.chunks_mut(size).zip(operands.chunks(size)) {
            let mark = marker.through(Taint::all(element).or(Taint::all(operand)));
            element.fill(mark);
        }
    }
}
