//! The data of arguments and the names in `--arg`, `--out` and `--expect`.

use crate::buffers::buffers;
use crate::console::{Console, Outcome};
use crate::data;
use crate::flags::{Flags, named, source};
use crate::ran::Tensors;
use std::collections::BTreeMap;
use visa_cost::KnownIndices;
use visa_hw::program::{Buffer, Program, Scalar};
use visa_ir::diag::{Diagnostic, Severity, counted, nearest};
use visa_ir::span::Span;

/// The value that a `NAME=VALUE` flag gives each argument, or each result; unknown and repeated names are refused.
pub(crate) fn by_name(
    flag: &str,
    values: &[String],
    program: &Program,
    argument: bool,
    console: &mut Console<'_>,
) -> Outcome<BTreeMap<String, String>> {
    let scalars = program.scalars.iter().filter(|_| argument).map(|scalar| scalar.name.as_str());
    let names: Vec<&str> =
        buffers(program, argument).map(|buffer| buffer.name.as_str()).chain(scalars).collect();
    let mut found = BTreeMap::new();
    for text in values {
        let (name, value) = named(flag, text).map_err(|why| console.stop("flags", why))?;
        if !names.contains(&name) {
            let kind = if argument { "argument" } else { "result" };
            let message = format!(
                "--{flag} {text}: `{}` has no {kind} `{name}`; it has `{}`",
                program.name,
                names.join("`, `")
            );
            let near = nearest(name, names.iter().copied()).map(|near| format!("did you mean `{near}`?"));
            return Err(console.stop_with(Diagnostic::error("flags", Span::default(), message).fix(near)));
        }
        if found.insert(name.to_owned(), value.to_owned()).is_some() {
            return Err(console.stop("flags", format!("--{flag} {text}: `{name}` is given twice")));
        }
    }
    Ok(found)
}

/// The number of each scalar.
pub(crate) fn scalars(
    program: &Program,
    given: &BTreeMap<String, String>,
    console: &mut Console<'_>,
) -> Outcome<BTreeMap<String, u64>> {
    let mut scalars = BTreeMap::new();
    for Scalar { name, count, span } in &program.scalars {
        let last = count - 1;
        let Some(text) = given.get(name) else {
            let message = format!("`{name}` is a number that is known when the kernel starts");
            let fix = format!("give it: `--arg {name}=N`, 0 to {last}");
            return Err(console.refuse(vec![Diagnostic::error("argument", *span, message).fix(fix)]));
        };
        let number = text.parse().ok().filter(|number| number < count);
        let refused = || format!("--arg {name}={text}: expected a number, 0 to {last}");
        let number = number.ok_or_else(refused).map_err(|why| console.stop("argument", why))?;
        scalars.insert(name.clone(), number);
    }
    Ok(scalars)
}

/// The data that a price alone needs: those of indices, where they are given.
pub(crate) fn of_indices(
    program: &Program,
    given: &BTreeMap<String, String>,
    flags: &Flags,
    console: &mut Console<'_>,
) -> Outcome<Tensors> {
    let indices = KnownIndices::arguments(program);
    let (indices, others): (Vec<&Buffer>, Vec<&Buffer>) = buffers(program, true)
        .filter(|buffer| given.contains_key(&buffer.name))
        .partition(|buffer| indices.iter().any(|index| index.name == buffer.name));
    let Some(other) = others.first() else { return load(&indices, given, flags, console) };
    let message = format!("--cost reads the data of indices alone, and `{}` holds none", other.name);
    let fix = format!("leave out `--arg {}=...`", other.name);
    Err(console.stop_with(Diagnostic::error("flags", Span::default(), message).fix(fix)))
}

/// The data of some arguments.
pub(crate) fn load(
    chosen: &[&Buffer],
    given: &BTreeMap<String, String>,
    flags: &Flags,
    console: &mut Console<'_>,
) -> Outcome<Tensors> {
    // The arguments' own bytes are taken; their files may take the rest meanwhile.
    let left = flags.memory - all_bytes(chosen, flags.memory, console)?;
    let mut tensors = BTreeMap::new();
    for (index, &buffer) in chosen.iter().enumerate() {
        let text = given.get(&buffer.name).map(String::as_str);
        let refused = |why: &dyn std::fmt::Display| format!("--arg {}: {why}", buffer.name);
        let mut source = source(text, index).map_err(|why| console.stop("argument", refused(&why)))?;
        match &mut source {
            data::Source::Npy(path) | data::Source::Safetensors { path, .. } => {
                *path = console.io.cwd.join(&*path);
            }
            data::Source::Rand(_) | data::Source::Zeros | data::Source::Iota => {}
        }
        let bytes = data::load(&source, buffer.dtype, &buffer.shape, left + bytes_of(buffer));
        let bytes = bytes.map_err(|error| console.stop("argument", refused(&error)))?;
        if let Some(narrowing) = data::narrowing(&source, buffer.dtype) {
            console.note(Severity::Remark, "argument", refused(&narrowing));
        }
        tensors.insert(buffer.name.clone(), bytes);
    }
    Ok(tensors)
}

/// The bytes of all arguments, which are held as long as the run: refused before any is read if they are more than
/// `bound`.
fn all_bytes(chosen: &[&Buffer], bound: u64, console: &mut Console<'_>) -> Outcome<u64> {
    let needed = chosen.iter().map(|buffer| bytes_of(buffer)).fold(0, u64::saturating_add);
    if needed <= bound {
        return Ok(needed);
    }
    let message = format!(
        "the arguments take {} of memory, expected at most {bound}: raise --memory",
        counted(needed, "byte")
    );
    Err(console.stop("run", message))
}

/// Bytes of a buffer's array; past 2^64 as many as there can be.
fn bytes_of(buffer: &Buffer) -> u64 {
    data::array_bytes(buffer.dtype, &buffer.shape).unwrap_or(u64::MAX)
}
