//! The files of a run with their roles, and their errors.

use crate::flags::Flags;
use visa_files::{FileRoles, SharedFile};
use visa_ir::diag::Diagnostic;
use visa_ir::span::Span;
use visa_pass::Pipeline;

/// Every file that a run over modules reads or writes, except the outputs of its passes ([`pass_outputs`]). A flag
/// that is added has to be named here: the pattern is complete.
pub(crate) fn roles(flags: &Flags, folder: &std::path::Path) -> FileRoles {
    let Flags {
        input,
        output,
        crash_reproducer,
        prove_equal,
        shared,
        mapping_rules,
        tensor_rules,
        // They are a run without input and other outputs.
        docs: _,
        check_docs: _,
        // Files in this folder are those of passes.
        reproducer_outputs: _,
        pipeline: _,
        split: _,
        verify_diagnostics: _,
        wanted: _,
        timing: _,
        statistics: _,
        show_dialects: _,
        list_passes: _,
        emit_irdl: _,
        generic: _,
        registered: _,
        locations: _,
        allow_unregistered: _,
        verify_each: _,
        verify_analyses: _,
        run_reproducer: _,
        validate: _,
    } = flags;
    let mut roles = FileRoles::new(folder);
    roles.input(input, input);
    prove_equal.iter().for_each(|name| roles.input(format!("--prove-equal {name}"), name));
    shared.inputs(&mut roles);
    mapping_rules.iter().for_each(|name| roles.input(format!("--mapping-rules {name}"), name));
    tensor_rules.iter().for_each(|name| roles.input(format!("--tensor-rules {name}"), name));
    roles.output(format!("-o {output}"), output);
    crash_reproducer.iter().for_each(|name| roles.output(format!("--crash-reproducer {name}"), name));
    roles
}

/// Registers the files that the passes of a pipeline write: by their names, or in `folder`.
pub fn pass_outputs(pipeline: &Pipeline, folder: Option<&str>, roles: &mut FileRoles) {
    for step in &pipeline.steps {
        for (option, name) in step.options.outputs() {
            let text = format!("{}{{{option}={name}}}", step.pass.name);
            match folder {
                Some(folder) => roles.output(text, std::path::Path::new(folder).join(name)),
                None => roles.output(text, name),
            }
        }
    }
}

/// An error for each two options that name one file where that loses data.
#[must_use]
pub fn shared_files(roles: &FileRoles) -> Vec<Diagnostic> {
    let error =
        |SharedFile { message, fix }| Diagnostic::error("same-file", Span::default(), message).fix(Some(fix));
    roles.shared().into_iter().map(error).collect()
}
