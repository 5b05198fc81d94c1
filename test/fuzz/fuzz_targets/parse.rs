//! Any bytes as a text: reading never panics, and what reads without errors is printed, in either form, as a text that
//! reads back to the same module.

#![no_main]

use libfuzzer_sys::fuzz_target;
use visa_ir::context::Context;
use visa_ir::module::Module;
use visa_ir::parse::{limits, parse};
use visa_ir::print::{Form, print};
use visa_ir::span::Source;
use visa_ir::verify::{has_errors, verify};

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = limits::decode(bytes.to_vec()) else { return };
    let ctx = Context::new(&visa_opt::standard_dialects());
    let Some(module) = read(&ctx, &text) else { return };
    // Only a module that verifies has a pretty form: a missing clause, for one, cannot be written.
    if has_errors(&verify(&ctx, &module)) {
        return;
    }
    let printed = [Form::Pretty, Form::Generic].map(|form| print(&ctx, &module, form));
    for text in &printed {
        let again = read(&ctx, text).unwrap_or_else(|| panic!("what was printed does not read:\n{text}"));
        let twice = [Form::Pretty, Form::Generic].map(|form| print(&ctx, &again, form));
        assert_eq!(printed, twice, "what was printed reads as another module");
    }
});

fn read(ctx: &Context, text: &str) -> Option<Module> {
    let parsed = parse(ctx, &Source::new("fuzz", text), 0..text.len());
    (!has_errors(&parsed.diagnostics)).then_some(parsed.module)
}
