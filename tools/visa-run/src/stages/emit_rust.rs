//! Emit Rust: the chosen kernel as a file of the vendor's Rust.

use crate::console::{Console, Outcome};
use crate::flags::Flags;
use visa_export::{Exported, Options, Version};
use visa_ir::Word as _;
use visa_ir::context::Context;
use visa_ir::diag::{Diagnostic, Severity};
use visa_ir::module::Module;
use visa_ir::span::Span;
use visa_pass::Level;

/// The code of the findings.
const CODE: &str = "emit-rust";

/// A kernel as the vendor's Rust, before it is written.
pub(crate) struct RustFile {
    name: String,
    text: String,
}

impl RustFile {
    /// Writes the file if all checks of the run hold.
    pub(crate) fn write(&self, holds: bool, console: &mut Console<'_>) -> Outcome<()> {
        let Self { name, text } = self;
        if !holds {
            let message = format!("`{name}` is not written: a check of its kernel failed");
            console.note(Severity::Warning, CODE, message);
            return Ok(());
        }
        let written = console.io.write(name, text.as_bytes());
        console.written(name, written)
    }
}

/// The kernel for the file of `--emit-rust`; `None` if it is the input, which no pass made faster.
pub(crate) fn rust_file(
    ctx: &Context,
    module: &Module,
    is_input: bool,
    flags: &Flags,
    console: &mut Console<'_>,
) -> Outcome<Option<RustFile>> {
    let Some(name) = &flags.emit_rust else { return Ok(None) };
    if is_input {
        let message =
            format!("`{name}` is not written: no faster kernel than that of `{}` was found", flags.file);
        let message = format!("{message}; the notes above give the reason");
        console.note(Severity::Warning, CODE, message);
        return Ok(None);
    }
    let level = Level::of(ctx, module);
    if level > Level::Memory || level == Level::Tensor {
        return Err(console.stop_with(other_level(level)));
    }
    let text = exported(ctx, module, flags, console)?;
    Ok(Some(RustFile { name: name.clone(), text }))
}

/// The operations of a kernel that the language lacks; empty without `--emit-rust`.
pub(crate) fn lacking(
    ctx: &Context,
    module: &Module,
    flags: &Flags,
    console: &mut Console<'_>,
) -> Outcome<Vec<Diagnostic>> {
    match &flags.emit_rust {
        Some(_) => Ok(in_rust(ctx, module, flags, console)?.refused().cloned().collect()),
        None => Ok(Vec::new()),
    }
}

/// The kernel in the version of the language that the flags name.
fn in_rust(ctx: &Context, module: &Module, flags: &Flags, console: &mut Console<'_>) -> Outcome<Exported> {
    // The command line takes no other word.
    let version = flags.rust_version.as_deref().and_then(Version::from_word);
    let entry = flags.entry.as_deref().map(|name| name.trim_start_matches('@').to_owned());
    let Some(source) = console.source.clone() else {
        return Err(console.stop(CODE, "the kernel has no text"));
    };
    let exported = visa_export::rust(ctx, module, &source, &Options { version, entry });
    exported.map_err(|finding| console.refuse(vec![finding]))
}

/// The text of the kernel, with one note about the clauses that the language lacks.
fn exported(ctx: &Context, module: &Module, flags: &Flags, console: &mut Console<'_>) -> Outcome<String> {
    let exported = in_rust(ctx, module, flags, console)?;
    let refused: Vec<Diagnostic> = exported.refused().cloned().collect();
    if !refused.is_empty() {
        return Err(console.refuse(refused));
    }
    if let Some(note) = exported.notes().text() {
        console.note(Severity::Remark, CODE, note);
    }
    Ok(exported.text)
}

/// The error for a module at a level without Rust.
fn other_level(level: Level) -> Diagnostic {
    let message = format!("the module is at the {level} level; Rust is written for the memory level");
    let fix = match level {
        Level::Tensor => "add `--plan`, which makes a kernel of the function",
        Level::Any | Level::Memory | Level::Sequencer | Level::Hardware => {
            "give the kernel before `--lower-to-seq`"
        }
    };
    Diagnostic::error(CODE, Span::default(), message).fix(fix.to_owned())
}
