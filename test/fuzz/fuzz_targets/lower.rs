//! Any bytes as a kernel: read, verified, lowered with verification after each pass, compiled, and, where it is
//! small, run. Whatever is wrong with it is a diagnostic or an error value; a pass that takes what verifies leaves
//! what verifies.

#![no_main]

mod mutate;

use libfuzzer_sys::{fuzz_mutator, fuzz_target};
use visa_engine::Flow;
use visa_hw::program::{CommandKind, Program};
use visa_interpreter::{Interpreter, Options};
use visa_ir::context::Context;
use visa_ir::module::Module;
use visa_ir::parse::limits;
use visa_ir::span::Source;
use visa_machine::Machine;
use visa_opt::load_module;
use visa_pass::{Cause, PassManager, Pipeline, Silent};
use visa_passes::standard_passes;

/// The memory bound of a run, in bytes.
const MAX_MEMORY_BYTES: u64 = 1 << 26;
/// The most loop steps and packets of a program that is run, over all its slices.
const MAX_STEPS: u64 = 1 << 18;

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    mutate::mutate(data, size, max_size, seed)
});

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = limits::decode(bytes.to_vec()) else { return };
    let ctx = Context::new(&visa_opt::standard_dialects());
    let source = Source::new("fuzz", text);
    let Some(mut module) = load_module(&ctx, &source, 0..source.text.len()).module else { return };
    lower(&ctx, &mut module);
    if let Ok(program) = visa_hw::compile(&ctx, &module, None) {
        run(&program.started_first());
    }
});

/// Runs each lowering that takes the module. Refusing one is fine, leaving a wrong one is not.
fn lower(ctx: &Context, module: &mut Module) {
    for name in ["lower-to-seq", "lower-to-hw"] {
        let pipeline = Pipeline::parse(name, &standard_passes()).expect("a pass of this name exists");
        let done = PassManager::new(&pipeline, &standard_passes()).run(ctx, module, &mut Silent);
        match done.map_err(|failure| failure.cause) {
            Ok(_) | Err(Cause::Level(_)) => {}
            Err(Cause::Refused(_)) => return,
            Err(
                cause @ (Cause::Invalid(_)
                | Cause::WrongLevel { .. }
                | Cause::NotPreserved(_)
                | Cause::Panicked(_)),
            ) => {
                panic!("{name} left {cause:?}")
            }
        }
    }
}

/// Runs a small program on arguments of ones.
fn run(program: &Program) {
    let machine = Machine::rngd();
    if steps(program, &machine) > MAX_STEPS {
        return;
    }
    let options = Options { threads: Some(1), shadow: true, memory_bytes: MAX_MEMORY_BYTES };
    let Ok(mut interpreter) = Interpreter::new(program, &machine, options) else { return };
    for buffer in program.buffers.iter().filter(|buffer| buffer.argument) {
        let bytes = buffer.layout.steps().and_then(|elements| buffer.dtype.bytes(elements)).unwrap_or(0);
        if interpreter.set_argument(&buffer.name, &vec![1; bytes as usize]).is_err() {
            return;
        }
    }
    if interpreter.run(&mut |_, _| ()).is_ok() {
        for buffer in program.buffers.iter().filter(|buffer| !buffer.argument) {
            let _ = interpreter.result(&buffer.name);
        }
    }
}

/// An upper bound of the loop steps and packets of a run.
fn steps(program: &Program, machine: &Machine) -> u64 {
    let layouts = program.buffers.iter().map(|buffer| buffer.layout.steps().unwrap_or(u64::MAX));
    let commands = program.commands.iter().map(|command| command_steps(&command.kind, machine));
    layouts.chain(commands).fold(0, u64::saturating_add).saturating_mul(program.chips as u64)
}

/// An upper bound of those of a command, of one chip.
fn command_steps(kind: &CommandKind, machine: &Machine) -> u64 {
    match kind {
        CommandKind::Loop(repeat) => {
            let body = repeat.body.iter().map(|command| command_steps(&command.kind, machine));
            body.fold(1, u64::saturating_add).saturating_mul(repeat.times)
        }
        CommandKind::Launch(_) => 0,
        CommandKind::Dma(dma) => dma.bytes().unwrap_or(u64::MAX),
        CommandKind::Indexed(indexed) => indexed.part.loops.steps().unwrap_or(u64::MAX),
        CommandKind::Exec(exec) => {
            let slices: u64 = exec.slices.iter().map(|range| range.len() as u64).sum();
            let mut flow = Flow { packets: 0, packet: 0 };
            let mut packets = 0_u64;
            for stage in &exec.stages {
                flow = stage.cost(machine, flow).out;
                packets = packets.saturating_add(flow.packets.saturating_mul(flow.packet.max(1)));
            }
            packets.saturating_mul(slices)
        }
    }
}
