//! The data of arguments and the names in `--arg`, `--out` and `--expect`.

use crate::console::{Console, Outcome};
use crate::data;
use crate::flags::{Flags, named, source};
use crate::ports::{Port, Ports, ScalarPort};
use crate::ran::Tensors;
use std::collections::BTreeMap;
use visa_cost::KnownIndices;
use visa_hw::program::Program;
use visa_ir::diag::{Diagnostic, Severity, counted, nearest};
use visa_ir::span::Span;

/// The value that a `NAME=VALUE` flag gives each argument, or each result; unknown and repeated names are refused.
pub(crate) fn by_name(
    flag: &str,
    values: &[String],
    ports: &Ports,
    argument: bool,
    console: &mut Console<'_>,
) -> Outcome<BTreeMap<String, String>> {
    let tensors = if argument { &ports.arguments } else { &ports.results };
    let scalars = ports.scalars.iter().filter(|_| argument).map(|scalar| scalar.name.as_str());
    let names: Vec<&str> = tensors.iter().map(|port| port.name.as_str()).chain(scalars).collect();
    let mut found = BTreeMap::new();
    for text in values {
        let (name, value) = named(flag, text).map_err(|why| console.stop("flags", why))?;
        if !names.contains(&name) {
            let kind = if argument { "argument" } else { "result" };
            let message = format!(
                "--{flag} {text}: `{}` has no {kind} `{name}`; it has `{}`",
                ports.kernel,
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
    ports: &Ports,
    given: &BTreeMap<String, String>,
    console: &mut Console<'_>,
) -> Outcome<BTreeMap<String, u64>> {
    let mut scalars = BTreeMap::new();
    for ScalarPort { name, count, span } in &ports.scalars {
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
    ports: &Ports,
    given: &BTreeMap<String, String>,
    flags: &Flags,
    console: &mut Console<'_>,
) -> Outcome<Tensors> {
    let indices = KnownIndices::arguments(program);
    let (indices, others): (Vec<&Port>, Vec<&Port>) = (ports.arguments.iter())
        .filter(|port| given.contains_key(&port.name))
        .partition(|port| indices.iter().any(|index| index.name == port.name));
    let Some(other) = others.first() else { return load(indices, given, flags, console) };
    let message = format!("--cost reads the data of indices alone, and `{}` holds none", other.name);
    let fix = format!("leave out `--arg {}=...`", other.name);
    Err(console.stop_with(Diagnostic::error("flags", Span::default(), message).fix(fix)))
}

/// The data of some arguments.
pub(crate) fn load<'p>(
    chosen: impl IntoIterator<Item = &'p Port>,
    given: &BTreeMap<String, String>,
    flags: &Flags,
    console: &mut Console<'_>,
) -> Outcome<Tensors> {
    // The arguments' own bytes are taken; their files may take the rest meanwhile.
    let chosen: Vec<&Port> = chosen.into_iter().collect();
    let left = flags.memory - check_bytes("arguments", &chosen, flags, console)?;
    let mut tensors = BTreeMap::new();
    for (index, port) in chosen.into_iter().enumerate() {
        let text = given.get(&port.name).map(String::as_str);
        let refused = |why: &dyn std::fmt::Display| format!("--arg {}: {why}", port.name);
        let mut source = source(text, index).map_err(|why| console.stop("argument", refused(&why)))?;
        match &mut source {
            data::Source::Npy(path) | data::Source::Safetensors { path, .. } => {
                *path = console.io.cwd.join(&*path);
            }
            data::Source::Rand(_) | data::Source::Zeros | data::Source::Iota => {}
        }
        let bytes = data::load(&source, port.dtype, &port.shape, left + port.bytes());
        let bytes = bytes.map_err(|error| console.stop("argument", refused(&error)))?;
        if let Some(narrowing) = data::narrowing(&source, port.dtype) {
            console.note(Severity::Remark, "argument", refused(&narrowing));
        }
        tensors.insert(port.name.clone(), bytes);
    }
    Ok(tensors)
}

/// Sums up the bytes of arrays that are resident together, and refuses more than `--memory`.
pub(crate) fn check_bytes(
    role: &str,
    arrays: &[&Port],
    flags: &Flags,
    console: &mut Console<'_>,
) -> Outcome<u64> {
    let needed = arrays.iter().map(|port| port.bytes()).fold(0, u64::saturating_add);
    if needed <= flags.memory {
        return Ok(needed);
    }
    let message = format!(
        "the {role} take {} of memory, expected at most {}: raise --memory",
        counted(needed, "byte"),
        flags.memory
    );
    Err(console.stop("run", message))
}
