//! Report: the results and the cost, in files and on standard output.

use crate::compare::{Comparison, LEAST_COMPARED};
use crate::console::{Console, Outcome};
use crate::data;
use crate::flags::Flags;
use crate::formats::Shown;
use crate::pictures::{self, Kernel, Written};
use crate::ports::{Port, Ports};
use crate::ran::Ran;
use crate::rust::RustLines;
use crate::stages::choose::Chosen;
use crate::stages::compile::Advice;
use crate::stages::cost::Costed;
use visa_ir::diag::Severity;
use visa_machine::Machine;
use visa_timeline::Document;

/// Writes all that the flags ask for. Whether the file of `--compare` can be the kernel's.
pub(crate) fn report(
    chosen: &Chosen,
    ports: &Ports,
    ran: Option<&Ran>,
    costed: Costed,
    advice: Vec<Advice>,
    flags: &Flags,
    console: &mut Console<'_>,
) -> Outcome<()> {
    let Costed { program, report, timeline, compared, order } = costed;
    if let Some(ran) = ran {
        save(ports, ran, console)?;
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
        ports,
        ran,
        report: Some(&report),
        order: order.as_ref(),
        compared: compared.as_ref(),
        relabelled,
        document: document.as_ref(),
        whole: flags.report.is_some(),
        width: flags.width,
        names: console.rust.as_ref().map(RustLines::names),
        line: &|span| console.line(span),
    });
    print(shown, console)?;
    comparison(compared.as_ref(), console)
}

/// Writes the results of a kernel that was evaluated: it has no cost.
pub(crate) fn evaluated(ports: &Ports, ran: &Ran, flags: &Flags, console: &mut Console<'_>) -> Outcome<()> {
    save(ports, ran, console)?;
    let shown = flags.format().show(&Shown {
        ports,
        ran: Some(ran),
        report: None,
        order: None,
        compared: None,
        relabelled: Vec::new(),
        document: None,
        whole: flags.report.is_some(),
        width: flags.width,
        names: console.rust.as_ref().map(RustLines::names),
        line: &|span| console.line(span),
    });
    print(shown, console)
}

/// Writes the text of a format to standard output.
fn print(shown: Result<String, (&'static str, String)>, console: &mut Console<'_>) -> Outcome<()> {
    let text = shown.map_err(|(code, why)| console.stop(code, why))?;
    console.io.stdout.extend(text.into_bytes());
    Ok(())
}

/// Writes the results to their files.
fn save(ports: &Ports, ran: &Ran, console: &mut Console<'_>) -> Outcome<()> {
    for Port { name, dtype, shape } in &ports.results {
        let Some(file) = ran.outputs.get(name) else { continue };
        let bytes = &ran.results[name];
        let interrupts = console.io.interrupts.as_ref();
        data::save_npy(&console.io.path(file), *dtype, shape, bytes, interrupts)
            .map_err(|error| console.stop("output", format!("--out {name}: {error}")))?;
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
    match found.other_kernel(LEAST_COMPARED) {
        Some(why) => Err(console.stop("compare", why)),
        None => Ok(()),
    }
}
