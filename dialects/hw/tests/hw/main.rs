//! The hw dialect: text, constraints, the results of each stage, and its marks.

mod between_slices;
mod compile;
mod constraints;
mod contraction;
mod declared;
mod formats;
mod lanes;
mod reduce;
mod ring;
mod shadow;
mod stages;
mod switch;
mod text;
mod transpose;
mod uses;

use visa_engine::shadow::ShadowLog;
use visa_engine::{RunCx, SliceMemory, Stream};
use visa_hw::program::{CommandKind, Exec, Program};
use visa_ir::context::Context;
use visa_ir::module::Module;
use visa_ir::parse::parse;
use visa_ir::span::Source;
use visa_ir::verify::verify;
use visa_machine::Machine;

fn context() -> Context {
    Context::new(&[&visa_hw::DIALECT])
}

fn parsed(ctx: &Context, text: &str) -> Module {
    let source = Source::new("test", text);
    let parsed = parse(ctx, &source, 0..text.len());
    assert!(parsed.diagnostics.is_empty(), "{text}\n{:?}", parsed.diagnostics);
    parsed.module
}

/// A program of one command; `stages` are separated by `;`.
fn exec_text(context: &str, stages: &str) -> String {
    let stages = stages.replace(';', "\n");
    format!("visa 1\nhw.program @p, chips 1 {{\nhw.exec {context}, slices [0, 256] {{\n{stages}\n}}\n}}\n")
}

/// The codes of everything that is wrong with a text.
fn codes(text: &str) -> Vec<String> {
    let ctx = context();
    let module = parsed(&ctx, text);
    verify(&ctx, &module).into_iter().map(|finding| finding.code).collect()
}

fn program_on(machine: &Machine, text: &str) -> Program {
    let mut ctx = context();
    ctx.set_data(machine.clone());
    let module = parsed(&ctx, text);
    let findings = verify(&ctx, &module);
    assert!(findings.is_empty(), "{text}\n{findings:?}");
    visa_hw::compile(&ctx, &module, None).unwrap_or_else(|errors| panic!("{text}\n{errors:?}"))
}

fn program(text: &str) -> Program {
    program_on(&Machine::rngd(), text)
}

/// The only command of a program: a run of the main context.
fn exec_on(machine: &Machine, stages: &str) -> Exec {
    let program = program_on(machine, &exec_text("main", stages));
    match program.commands.into_iter().next().map(|command| command.kind) {
        Some(CommandKind::Exec(exec)) => exec,
        Some(
            CommandKind::Dma(_) | CommandKind::Indexed(_) | CommandKind::Loop(_) | CommandKind::Launch(_),
        )
        | None => {
            panic!("no run in {stages}")
        }
    }
}

fn exec(stages: &str) -> Exec {
    exec_on(&Machine::rngd(), stages)
}

/// The flow after stage `count - 1` of a run; operations are numbered as stages are.
fn flow(
    machine: &Machine,
    exec: &Exec,
    memory: &SliceMemory,
    count: usize,
    log: Option<&ShadowLog>,
) -> Stream {
    let mut stream = Stream::empty(visa_numerics::DType::I8);
    for (op, stage) in exec.stages[..count].iter().enumerate() {
        let cx = RunCx { machine, shadow: log, op: op as u32, chip: 0, slice: 0, moved: 0 };
        stream = match stage.as_exchange() {
            Some(unit) => {
                let others = (1..512).map(|_| Stream::empty(stream.dtype));
                let inputs: Vec<_> = [stream.clone()].into_iter().chain(others).collect();
                unit.exchange(cx, &inputs, 0).unwrap()
            }
            None => stage.as_map().unwrap().run(cx, memory, stream),
        };
    }
    stream
}

/// Runs all stages, the last one storing.
fn run(machine: &Machine, exec: &Exec, memory: &mut SliceMemory, log: Option<&ShadowLog>) {
    let last = exec.stages.len() - 1;
    let stream = flow(machine, exec, memory, last, log);
    exec.stages[last].as_store().unwrap().store(
        RunCx { machine, shadow: log, op: last as u32, chip: 0, slice: 0, moved: 0 },
        memory,
        stream,
    );
}

/// A memory whose data memory holds `bytes` at 0.
fn data(bytes: &[u8]) -> SliceMemory {
    let mut memory = SliceMemory::default();
    memory.dm.write(0, bytes);
    memory
}

fn f32s(bytes: &[u8]) -> Vec<f32> {
    bytes.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect()
}

fn i32s(bytes: &[u8]) -> Vec<i32> {
    bytes.chunks_exact(4).map(|b| i32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect()
}

fn i32_bytes(values: impl IntoIterator<Item = i32>) -> Vec<u8> {
    values.into_iter().flat_map(i32::to_le_bytes).collect()
}

/// bf16 of numbers that it holds exactly.
fn bf16_bytes(values: impl IntoIterator<Item = f32>) -> Vec<u8> {
    values.into_iter().flat_map(|value| ((value.to_bits() >> 16) as u16).to_le_bytes()).collect()
}
