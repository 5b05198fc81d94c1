//! Warns about commands that are legal by the book and slow or faulty on the chip, as measured or reported.

use crate::chip::warning::ChipWarning;
use crate::chip::{pipelines, transfers};
use visa_hw::machine;
use visa_hw::ops::dma::Dma;
use visa_hw::ops::exec::Exec;
use visa_ir::diag::{Diagnostic, Severity};
use visa_machine::Machine;
use visa_pass::{Level, Pass, PassCx};

/// The pass.
pub static PASS: Pass = Pass {
    name: "lint-chip",
    summary: "warns about commands that are slow or faulty on the chip",
    doc: "Changes nothing. The book allows all of these commands. Each warning has a number:\n\n\
          - S1: a contraction fetches weights that start at an odd multiple of 256 bytes of data memory. An author \
          reports more than twice the time.\n\
          - S2: a load takes longer than the same bytes in another layout of the tensor in HBM, which the host can \
          prepare before the job.\n\
          - S3: a store writes parts of units of 256 bytes of HBM, and these take a tenth of its time or more.\n\
          - S4: a ring of the Switch Engine has active and inactive slices. Authors report that the device hangs.\n\
          - S5: `broadcast1` has several packets of each slice. Authors report that the chip keeps the first one \
          only.\n\n\
          S1 to S3 give the ticks of both ways on a calibrated machine: on the selected one (`--machine`), otherwise \
          on `rngd-silicon`. S2 and S3 price a transfer by itself, S2 by the `detailed` model of memories, which \
          follows each request.\n\n\
          The other warnings about transfers are those of `lint-dma` (docs/memory.md).",
    takes: Level::Hardware,
    gives: Level::Hardware,
    statistics: &[("warnings", "warnings given")],
    run,
    ..Pass::BASE
};

fn run(cx: &mut PassCx<'_>) -> Result<(), Vec<Diagnostic>> {
    for id in cx.module.walk_all() {
        let op = cx.module.op(cx.ctx, id);
        let (span, selected) = (op.span(), machine(op));
        let calibrated = calibrated(&selected);
        let found = if let Some(dma) = Dma::cast(op) {
            transfers::warnings(dma, calibrated.as_ref())
        } else if let Some(exec) = Exec::cast(op) {
            pipelines::warnings(exec, calibrated.as_ref())
        } else {
            continue;
        };
        for ChipWarning { number, message, fix, note } in found.map_err(|error| vec![error])? {
            let mut warning =
                Diagnostic::error(format!("lint-{number}"), span, message).fix(Some(fix.to_owned()));
            warning.severity = Severity::Warning;
            cx.count("warnings", 1);
            cx.report(note.into_iter().fold(warning, |warning, note| warning.note(note, None)));
        }
    }
    Ok(())
}

/// The machine that prices are of: the selected one if it is calibrated, otherwise that of the chip.
fn calibrated(selected: &Machine) -> Option<Machine> {
    if selected.measured.is_some() { Some(selected.clone()) } else { Machine::named("rngd-silicon") }
}
