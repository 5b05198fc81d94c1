//! The files that the flags name, with their roles.

use crate::data::Source;
use crate::flags::Flags;
use crate::passes;
use visa_files::FileRoles;
use visa_opt::Io;
use visa_pass::{Pass, Pipeline};

/// Every file that a run reads or writes. A flag that is added has to be named here: the pattern is complete.
pub(crate) fn roles(flags: &Flags, known: &[&'static Pass], io: &Io) -> FileRoles {
    let Flags {
        file,
        args,
        outs,
        expects,
        plan,
        emit,
        emit_rust,
        select_configs,
        schedule,
        pass_pipeline,
        timeline,
        trace,
        viewer,
        compare,
        order,
        fit,
        shared,
        entry: _,
        ulps: _,
        tolerance: _,
        addresses: _,
        allocate: _,
        select_transfers: _,
        check: _,
        shadow: _,
        report: _,
        width: _,
        cost: _,
        assume_indices: _,
        threads: _,
        sum_order: _,
        time_limit: _,
        advise: _,
        rust_version: _,
        memory: _,
    } = flags;
    let mut roles = FileRoles::new(&io.cwd);
    roles.input(file, file);
    for text in args {
        let source = text.split_once('=').and_then(|(_, source)| Source::parse(source).ok());
        if let Some(Source::Npy(path) | Source::Safetensors { path, .. }) = source {
            roles.input(format!("--arg {text}"), io.cwd.join(path));
        }
    }
    // Of data, `-` is the name of a file.
    let named = |text: &str| text.split_once('=').map(|(_, file)| io.path(file));
    for text in expects {
        named(text).into_iter().for_each(|file| roles.input(format!("--expect {text}"), file));
    }
    shared.inputs(&mut roles);
    compare.iter().for_each(|name| roles.input(format!("--compare {name}"), name));
    order.iter().for_each(|name| roles.input(format!("--order {name}"), name));
    for text in outs {
        named(text).into_iter().for_each(|file| roles.output(format!("--out {text}"), file));
    }
    let written = [
        ("--emit", emit),
        ("--emit-rust", emit_rust),
        ("--timeline", timeline),
        ("--trace", trace),
        ("--viewer", viewer),
        ("--fit", fit),
    ];
    for (option, name) in written {
        name.iter().for_each(|name| roles.output(format!("{option} {name}"), name));
    }
    let chosen = [("select-configs", select_configs.as_deref()), ("schedule", schedule.as_deref())];
    // The options of a plan are those of one of two passes.
    let plans =
        ["plan-kernel", "select-configs"].map(|pass| passes::pipeline_text(&[(pass, plan.as_deref())]));
    let texts = [passes::pipeline_text(&chosen), pass_pipeline.clone().unwrap_or_default()];
    for text in texts.into_iter().chain(plans) {
        // Faults of a pipeline are reported where it is run.
        let Ok(pipeline) = Pipeline::parse(&text, known) else { continue };
        visa_opt::pass_outputs(&pipeline, None, &mut roles);
    }
    roles
}
