//! Warns about uses of memory that come before its writes.

use visa_hw::ops::program::{PROGRAM, Program};
use visa_hw::{EarlyUse, compile, early_uses, machine};
use visa_ir::diag::{Diagnostic, Severity};
use visa_ir::span::Span;
use visa_pass::{Level, Pass, PassCx};

/// The pass.
pub static PASS: Pass = Pass {
    name: "lint-uses",
    summary: "warns about uses of memory that come before its writes",
    doc: "Changes nothing. Each warning has a number:\n\n\
          - U1: in some iteration a command reads bytes that only a later command writes, or itself in a later \
          iteration. The warning names an iteration.\n\
          - U2: a read could not be decided in bounded time.\n\n\
          All iterations are decided, and none is run (docs/loops.md). Bytes that are never written are ignored: \
          padding is never written, and `visa-run --shadow` reports uses of it. The tensor and vector register \
          files are treated as ranges.",
    takes: Level::Hardware,
    gives: Level::Hardware,
    statistics: &[("warnings", "warnings given")],
    run,
    ..Pass::BASE
};

fn run(cx: &mut PassCx<'_>) -> Result<(), Vec<Diagnostic>> {
    for id in cx.module.ops(cx.module.body()).to_vec() {
        let op = cx.module.op(cx.ctx, id);
        if !op.is(&PROGRAM) {
            continue;
        }
        let name = Program::of(op).and_then(|program| program.name()).map_err(|error| vec![error])?;
        let program = compile(cx.ctx, cx.module, Some(&*name))?;
        let uses = early_uses(&program, &machine(op));
        for early in &uses.early {
            warn(cx, early_use(early));
        }
        for &span in &uses.undecided {
            let message =
                "the lint could not decide in bounded time if it reads bytes that are written only later";
            warn(cx, Diagnostic::error("lint-U2", span, message));
        }
    }
    Ok(())
}

fn warn(cx: &mut PassCx<'_>, mut warning: Diagnostic) {
    warning.severity = Severity::Warning;
    cx.count("warnings", 1);
    cx.report(warning);
}

fn early_use(early: &EarlyUse) -> Diagnostic {
    let memory = format!("{:?}", early.space).to_uppercase();
    let iteration: Vec<String> = early.iteration.iter().map(u64::to_string).collect();
    let when = match iteration.as_slice() {
        [] => String::new(),
        [only] => format!("in iteration {only} "),
        all => format!("in iterations {} of the loops around it, ", all.join(", ")),
    };
    let message = format!("{when}it reads bytes of {memory} that are written only after that");
    let note = match early.written == early.read {
        true => ("it writes them itself, afterwards", None::<Span>),
        false => ("they are written here", Some(early.written)),
    };
    let fix = "write them before the loop, or move the read after the write".to_owned();
    Diagnostic::error("lint-U1", early.read, message).note(note.0, note.1).fix(fix)
}
