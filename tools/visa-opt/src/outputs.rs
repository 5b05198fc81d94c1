//! Files that passes write. The command line may name any; a pipeline that came in a file may name those of one
//! folder, if the command line names the folder.

use crate::flags::Flags;
use crate::io::Io;
use crate::load::unwritable;
use visa_ir::diag::Diagnostic;
use visa_ir::span::Span;
use visa_pass::{Output, Pipeline};

/// Where an output may be written.
enum OutputTarget<'a> {
    /// At the path of its name.
    Anywhere,
    /// In this folder, by its name.
    In(&'a str),
}

fn place<'a>(flags: &'a Flags, name: &str) -> Result<OutputTarget<'a>, Diagnostic> {
    if flags.split {
        let message = format!(
            "with `--split-input-file` each part of the input would overwrite `{name}` of the part before it"
        );
        let fix = "run the parts one by one, or leave the option out".to_owned();
        return Err(Diagnostic::error("split-output", Span::default(), message).fix(fix));
    }
    if !flags.run_reproducer {
        return Ok(OutputTarget::Anywhere);
    }
    let refuse = |message, fix: &str| {
        Err(Diagnostic::error("reproducer-output", Span::default(), message).fix(fix.to_owned()))
    };
    match &flags.reproducer_outputs {
        Some(folder) if visa_files::is_plain_name(name) => Ok(OutputTarget::In(folder)),
        Some(folder) => refuse(
            format!("found output `{name}`, expected the plain name of a file in `{folder}`"),
            "write the name without a folder in the first line of the reproducer",
        ),
        None => refuse(
            format!("the reproducer names an output, `{name}`: an input file must not choose output paths"),
            "name a folder that it may write to: `--reproducer-outputs DIR`",
        ),
    }
}

/// The errors in the outputs that a pipeline's options name; the spans point into its text.
pub(crate) fn refused(flags: &Flags, pipeline: &Pipeline) -> Vec<Diagnostic> {
    let named =
        pipeline.steps.iter().flat_map(|step| step.options.outputs().map(move |output| (step, output)));
    let refused = named.filter_map(|(step, (option, name))| {
        let refused = place(flags, &name).err()?;
        let message = format!("option `{option}` of pass `{}`: {}", step.pass.name, refused.message);
        Some(Diagnostic { span: step.span, message, ..refused })
    });
    refused.collect()
}

/// Writes the outputs of passes, each file whole or not at all. Returns the failures.
pub(crate) fn write(io: &mut Io, flags: &Flags, wanted: &[Output]) -> Vec<Diagnostic> {
    let mut write = |Output { name, bytes }: &Output| match place(flags, name)? {
        OutputTarget::Anywhere => io.write(name, bytes).map_err(|why| unwritable(name, &why)),
        OutputTarget::In(folder) => {
            io.write_in(folder, name, bytes).map_err(|why| unwritable(&format!("{folder}/{name}"), &why))
        }
    };
    wanted.iter().filter_map(|output| write(output).err()).collect()
}
