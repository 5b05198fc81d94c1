//! Any bytes as a text: reading never panics, and what reads without errors is printed, in either form, as a text
//! that reads back to the same module.

#![no_main]

mod mutate;

use libfuzzer_sys::{fuzz_mutator, fuzz_target};
use visa_ir::context::Context;
use visa_ir::module::Module;
use visa_ir::parse::{limits, parse};
use visa_ir::print::{Form, print};
use visa_ir::span::Source;
use visa_ir::verify::{has_errors, same, verify};

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    mutate::mutate(data, size, max_size, seed)
});

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = limits::decode(bytes.to_vec()) else { return };
    let ctx = Context::new(&visa_opt::standard_dialects());
    let Some(module) = read(&ctx, &text) else { return };
    // Only a module that verifies has a text: a missing clause, for one, cannot be written.
    if has_errors(&verify(&ctx, &module)) {
        return;
    }
    for form in [Form::Pretty, Form::Generic] {
        let printed = print(&ctx, &module, form);
        let again =
            read(&ctx, &printed).unwrap_or_else(|| panic!("what was printed does not read:\n{printed}"));
        assert!(same(&ctx, &module, &again), "what was printed is another module:\n{printed}");
        assert_eq!(printed, print(&ctx, &again, form), "printing is no fixed point");
    }
});

fn read(ctx: &Context, text: &str) -> Option<Module> {
    let parsed = parse(ctx, &Source::new("fuzz", text), 0..text.len());
    (!has_errors(&parsed.diagnostics)).then_some(parsed.module)
}
