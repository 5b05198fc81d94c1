//! Any bytes as a kernel: read, verified, lowered with verification after each pass, compiled, and, where it is small,
//! run. Whatever is wrong with it is a diagnostic or an error value; a pass that takes what verifies leaves what verifies.

#![no_main]

use libfuzzer_sys::fuzz_target;
use visa_hw::program::{CommandKind, Program};
use visa_interpreter::{Interpreter, Options};
use visa_ir::context::Context;
use visa_ir::module::Module;
use visa_ir::parse::limits;
use visa_ir::span::Source;
use visa_machine::Machine;
use visa_opt::load_module;
use visa_passes::{Cause, PassManager, Pipeline, Silent, standard_passes};

/// The largest argument of a program that is run, in bytes.
const MAX_ARGUMENT_BYTES: u64 = 1 << 16;
/// The memory bound of a run, in bytes.
const MAX_MEMORY_BYTES: u64 = 1 << 26;
/// The most packets of all loops of a program that is run.
const MAX_PACKETS: u64 = 1 << 16;

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = limits::decode(bytes.to_vec()) else { return };
    let ctx = Context::new(&visa_opt::standard_dialects());
    let source = Source::new("fuzz", text);
    let Some(mut module) = load_module(&ctx, &source, 0..source.text.len()).module else { return };
    lower(&ctx, &mut module);
    if let Ok(program) = visa_hw::compile(&ctx, &module, None) {
        run(&program);
    }
});

/// Runs each lowering that takes the module. Refusing one is fine, leaving a wrong one is not.
fn lower(ctx: &Context, module: &mut Module) {
    for name in ["lower-to-seq", "lower-to-hw"] {
        let pipeline = Pipeline::parse(name, standard_passes()).expect("a pass of this name exists");
        let done = PassManager::new(&pipeline, standard_passes()).run(ctx, module, &mut Silent);
        match done.map_err(|failure| failure.cause) {
            Ok(_) | Err(Cause::Level(_)) => {}
            Err(Cause::Refused(_)) => return,
            Err(cause @ (Cause::Invalid(_) | Cause::WrongLevel { .. } | Cause::Panicked(_))) => {
                panic!("{name} left {cause:?}")
            }
        }
    }
}

fn run(program: &Program) {
    let machine = Machine::rngd();
    let bytes = |shape: &[u64], unit: u64| shape.iter().try_fold(unit, |all, &extent| all.checked_mul(extent));
    let arguments: Vec<_> = program.buffers.iter().filter(|buffer| buffer.argument).collect();
    let sizes: Vec<_> = arguments
        .iter()
        .map(|buffer| buffer.dtype.bytes(bytes(&buffer.shape, 1)?).filter(|&size| size <= MAX_ARGUMENT_BYTES))
        .collect();
    if sizes.iter().any(Option::is_none) || packets(program, &machine) > MAX_PACKETS {
        return;
    }
    let options = Options { threads: Some(1), shadow: true, memory_bytes: MAX_MEMORY_BYTES };
    let Ok(mut interpreter) = Interpreter::new(program, &machine, options) else { return };
    for (buffer, size) in arguments.iter().zip(sizes.into_iter().flatten()) {
        if interpreter.set_argument(&buffer.name, &vec![1; size as usize]).is_err() {
            return;
        }
    }
    if interpreter.run(&mut |_, _| ()).is_err() {
        return;
    }
    for buffer in program.buffers.iter().filter(|buffer| !buffer.argument) {
        let _ = interpreter.result(&buffer.name);
    }
}
