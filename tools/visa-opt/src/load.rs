//! From a file name to a verified module.

use crate::io::Io;
use std::ops::Range;
use std::path::Path;
use visa_ir::context::Context;
use visa_ir::diag::{Diagnostic, nearest};
use visa_ir::location::Origins;
use visa_ir::module::Module;
use visa_ir::parse::{limits, parse};
use visa_ir::span::{Source, Span};
use visa_ir::verify::{has_errors, verify};
use visa_machine::Machine;
use visa_mapping::GivenSizes;
use visa_select::rules::ruleset::RuleSet;

/// A module that was read, and its findings.
pub struct Loaded {
    /// The module; `None` if it has errors.
    pub module: Option<Module>,
    /// Findings of the parser or the verifier, in source order; their spans point into the source.
    pub findings: Vec<Diagnostic>,
}

/// The longest machine description, and the longest text of rules, in bytes: both are written by hand.
pub const MAX_HAND_WRITTEN_BYTES: u64 = 1 << 20;

/// Reads the source text called `name` (`-` is standard input).
///
/// # Errors
/// A file that cannot be read, has more than [`limits::MAX_SOURCE_BYTES`], or is no text; the source then has a
/// name and no text.
#[allow(clippy::result_large_err, reason = "made at most once a run")]
pub fn read_source(io: &mut Io, name: &str) -> Result<Source, (Source, Diagnostic)> {
    read_text(io, name, limits::MAX_SOURCE_BYTES as u64)
}

/// Reads a text of rules.
#[allow(clippy::result_large_err, reason = "made at most once a run")]
pub(crate) fn read_rules(io: &mut Io, name: &str) -> Result<Source, (Source, Diagnostic)> {
    read_text(io, name, MAX_HAND_WRITTEN_BYTES)
}

#[allow(clippy::result_large_err, reason = "made at most once a run")]
fn read_text(io: &mut Io, name: &str, bound: u64) -> Result<Source, (Source, Diagnostic)> {
    let title = if name == "-" { "<stdin>" } else { name };
    let refuse = |finding| (Source::new(title, ""), finding);
    let bytes = io.read(name, bound).map_err(|why| refuse(unreadable(io, name, &why)))?;
    let named =
        |finding: Diagnostic| Diagnostic { message: format!("`{title}`: {}", finding.message), ..finding };
    let text = limits::decode(bytes).map_err(|finding| refuse(named(finding)))?;
    Ok(Source::new(title, text))
}

/// Reads one module from `range` of `source` and verifies it, its axes with the [`GivenSizes`] of the context.
#[must_use]
pub fn load_module(ctx: &Context, source: &Source, range: Range<usize>) -> Loaded {
    let mut parsed = parse(ctx, source, range);
    let mut findings = parsed.diagnostics;
    if !has_errors(&findings) {
        let given = ctx.data::<GivenSizes>().apply(ctx, &mut parsed.module);
        findings.extend(given.err().into_iter().flatten());
    }
    if !has_errors(&findings) {
        findings.extend(verify(ctx, &parsed.module));
        if !findings.is_empty() {
            Origins::of(ctx, &parsed.module).explain(ctx, &mut findings);
        }
    }
    let module = (!has_errors(&findings)).then_some(parsed.module);
    Loaded { module, findings }
}

/// The machine that a `--machine` flag names: a built-in one, or the description in a file.
///
/// # Errors
/// If the file cannot be read or describes no machine.
pub fn load_machine(io: &mut Io, name: &str) -> Result<Machine, Diagnostic> {
    if let Some(machine) = Machine::named(name) {
        return Ok(machine);
    }
    let bytes = io.read(name, MAX_HAND_WRITTEN_BYTES).map_err(|why| {
        let known: Vec<_> = Machine::builtin().map(|machine| format!("`{}`", machine.name)).collect();
        let error = unreadable(io, name, &why);
        let near = error.fix.as_ref().map(|fix| format!("{fix} Or ")).unwrap_or_default();
        error.fix(format!("{near}give a file, or the name of a machine: {}", known.join(" or ")))
    })?;
    Machine::from_json(&String::from_utf8_lossy(&bytes))
        .map_err(|why| Diagnostic::error("machine", Span::default(), format!("`{name}`: {why}")))
}

/// The rules of `select-configs`: the built-in ones and those of the file called `name`, which are checked for the
/// machine of the context.
///
/// # Errors
/// A file that cannot be read, and the errors in its rules, with the text that the spans point into.
pub fn load_config_rules(
    io: &mut Io,
    ctx: &Context,
    name: &str,
) -> Result<RuleSet, (Source, Vec<Diagnostic>)> {
    let source = read_rules(io, name).map_err(|(source, finding)| (source, vec![finding]))?;
    RuleSet::with_user_rules(ctx, &source.text).map_err(|findings| (source, findings))
}

/// A file that cannot be read; for one that is missing, the nearest name.
pub(crate) fn unreadable(io: &Io, name: &str, why: &std::io::Error) -> Diagnostic {
    let error = Diagnostic::error("cannot-read", Span::default(), format!("cannot read `{name}`: {why}"));
    let missing = why.kind() == std::io::ErrorKind::NotFound;
    error.fix(
        missing.then(|| near_file(&io.path(name))).flatten().map(|near| format!("did you mean `{near}`?")),
    )
}

/// Most names of a folder that are looked at for a missing file.
const MOST_NAMES: usize = 4096;

/// The name in a file's folder that is nearest to the file's own; `None` if none is near.
#[must_use]
pub fn near_file(path: &Path) -> Option<String> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let entries = std::fs::read_dir(folder).ok()?.take(MOST_NAMES);
    let mut names: Vec<String> =
        entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
    names.sort();
    nearest(path.file_name()?.to_str()?, names.iter().map(String::as_str)).map(str::to_owned)
}

/// A file that cannot be written.
pub(crate) fn unwritable(name: &str, why: &std::io::Error) -> Diagnostic {
    Diagnostic::error("cannot-write", Span::default(), format!("cannot write `{name}`: {why}"))
}
