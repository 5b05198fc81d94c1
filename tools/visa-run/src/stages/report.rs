//! Report: the results and the price, in files and on standard output.

use crate::buffers::buffers;
use crate::compare::Comparison;
use crate::console::{Console, Outcome};
use crate::data;
use crate::flags::Flags;
use crate::formats::Shown;
use crate::pictures::{self, Kernel, Written};
use crate::ran::Ran;
use crate::stages::choose::Chosen;
use crate::stages::compile::Advice;
use crate::stages::cost::Costed;
use visa_hw::program::Program;
use visa_ir::diag::Severity;
use visa_machine::Machine;
use visa_timeline::Document;

/// Writes all that the flags ask for. Whether the file of `--compare` can be the kernel's.
pub(crate) fn report(
    chosen: &Chosen,
    ran: Option<&Ran>,
    costed: Costed,
    advice: Vec<Advice>,
    flags: &Flags,
    console: &mut Console<'_>,
) -> Outcome<()> {
    let Costed { program, report, timeline, compared } = costed;
    if let Some(ran) = ran {
        save(&program, ran, console)?;
    }
    let machine = chosen.ctx.data::<Machine>();
    let document = pictures::asked(flags).then(|| {
        let written = Written { source: console.source.as_ref(), rust: console.rust.as_ref() };
        let (machine, report, compared) = (&*machine, &report, compared.as_ref());
        let kernel = Kernel { program: &program, machine, report, compared, written, advice };
        pictures::document(kernel, timeline)
    });
    if let Some(document) = &document {
        pictures(document, flags, console)?;
    }
    let relabelled = console.relabelled(&chosen.relabelled, &program.name);
    let shown = flags.format().show(&Shown {
        program: &program,
        ran,
        report: &report,
        compared: compared.as_ref(),
        relabelled,
        document: document.as_ref(),
        whole: flags.report.is_some(),
        width: flags.width,
        line: &|span| console.line(span),
    });
    let text = shown.map_err(|(code, why)| console.stop(code, why))?;
    console.io.stdout.extend(text.into_bytes());
    comparison(compared.as_ref(), console)
}

/// Writes the results to their files.
fn save(program: &Program, ran: &Ran, console: &mut Console<'_>) -> Outcome<()> {
    for buffer in buffers(program, false) {
        let Some(file) = ran.outputs.get(&buffer.name) else { continue };
        let bytes = &ran.results[&buffer.name];
        let interrupts = console.io.interrupts.as_ref();
        data::save_npy(&console.io.path(file), buffer.dtype, &buffer.shape, bytes, interrupts)
            .map_err(|error| console.stop("output", format!("--out {}: {error}", buffer.name)))?;
    }
    Ok(())
}

/// Writes the pictures that are asked for as files.
fn pictures(document: &Document, flags: &Flags, console: &mut Console<'_>) -> Outcome<()> {
    let files = pictures::files(flags, document).map_err(|why| console.stop("timeline", why))?;
    for (name, picture) in files {
        let written = console.io.write_with(&name, |out| picture.write(document, out));
        console.written(&name, written)?;
    }
    Ok(())
}

/// The warnings of a comparison; stops where the file is of another kernel.
fn comparison(compared: Option<&Comparison>, console: &mut Console<'_>) -> Outcome<()> {
    let Some(found) = compared else { return Ok(()) };
    for warning in &found.warnings {
        console.note(Severity::Warning, "compare", warning.clone());
    }
    match found.other_kernel() {
        Some(why) => Err(console.stop("compare", why)),
        None => Ok(()),
    }
}
