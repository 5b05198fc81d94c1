//! Functions of the tensor level become linalg on tensors. An operation without a counterpart is refused at its line.
//!
//! The dimensions of a tensor are the axes of its value, in their order. A value that is a part, as a tile is, has
//! shorter dimensions (`mlir/shape.rs`). Elements that the kernel leaves undefined have unspecified contents in MLIR.
//!
//! MLIR's loops have no order of additions, so the clauses `tree` and `free`, and the order of `over`, have no
//! counterpart: all orders are allowed. Arithmetic is that of IEEE 754: subnormals are not flushed to zero, and a NaN
//! may have any payload.

pub(crate) mod command;
mod function;
mod indices;
mod known;
mod mlir;
mod ops;
mod scope;
mod shapes;
mod summed;

use melior::Context as MlirContext;
use melior::dialect::DialectRegistry;
use melior::ir::operation::OperationLike;
use melior::ir::{Location, Module as MlirModule};
use melior::utility::register_all_dialects;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;
use visa_ir::analysis::Analysis;
use visa_ir::context::Context;
use visa_ir::diag::{Diagnostic, nearest};
use visa_ir::module::Module;
use visa_ir::span::{Source, Span};
use visa_mapping::facts::DeclaredAxes;
use visa_mapping::ops::call::calling;
use visa_mapping::ops::func::Func;

use crate::export::function::{Writer, check};
use crate::export::mlir::refusals::{CODE, refuse};
use crate::mlir::printed;

/// A module of linalg.
pub(crate) struct Exported {
    /// Its text, with the functions that have a counterpart.
    pub(crate) text: String,
    /// Number of those functions.
    pub(crate) functions: usize,
    /// The refusals of the others.
    pub(crate) refused: Vec<Diagnostic>,
}

/// Writes the functions of a verified module: all, or the entry with those that it calls.
///
/// # Errors
/// A module without functions, or without the entry; a text that MLIR does not verify.
pub(crate) fn linalg(
    ctx: &Context,
    module: &Module,
    source: &Source,
    entry: Option<&str>,
) -> Result<Exported, Diagnostic> {
    let functions = chosen(ctx, module, entry)?;
    let axes = DeclaredAxes::build(ctx, module).0;
    let registry = DialectRegistry::new();
    register_all_dialects(&registry);
    let context = MlirContext::new_with_registry(&registry, false);
    context.load_all_available_dialects();
    let found = Rc::new(RefCell::new(Vec::new()));
    let kept = Rc::clone(&found);
    context.attach_diagnostic_handler(move |diagnostic| {
        kept.borrow_mut().push(printed(&diagnostic));
        true
    });
    let written = MlirModule::new(Location::unknown(&context));
    let writer = Writer { context: &context, axes: &axes, source };
    let (mut refused, mut absent) = (Vec::new(), BTreeSet::new());
    for func in &functions {
        let own = calls_refused(*func, &absent).and_then(|()| check(*func));
        let own = own.and_then(|()| writer.function(*func, &written.body()));
        if let Err(finding) = own {
            refused.push(with_notes(finding, &found.take()));
            absent.insert(name(*func));
        }
    }
    if !written.as_operation().verify() {
        let message = "MLIR does not verify the exported module: a mistake of the export";
        return Err(with_notes(Diagnostic::error(CODE, Span::default(), message), &found.take()));
    }
    let functions = functions.len() - refused.len();
    Ok(Exported { text: format!("{}\n", written.as_operation()), functions, refused })
}

fn with_notes(finding: Diagnostic, found: &[String]) -> Diagnostic {
    found.iter().fold(finding, |finding, note| finding.note(note, None))
}

fn name(func: Func<'_>) -> String {
    func.name().map(|name| name.to_string()).unwrap_or_default()
}

/// The functions to write: callees before their callers.
fn chosen<'a>(
    ctx: &'a Context,
    module: &'a Module,
    entry: Option<&str>,
) -> Result<Vec<Func<'a>>, Diagnostic> {
    let all: Vec<Func<'a>> =
        module.ops(module.body()).iter().filter_map(|&id| Func::cast(module.op(ctx, id))).collect();
    if all.is_empty() {
        let message = "there is no function: found no `tm.func`";
        let fix = "give a text of the tensor level, such as `visa-opt --raise` prints";
        return Err(Diagnostic::error(CODE, Span::default(), message).fix(fix.to_owned()));
    }
    let names: Vec<String> = all.iter().map(|func| name(*func)).collect();
    let first: Vec<&str> = match entry {
        None => names.iter().map(String::as_str).collect(),
        Some(entry) if names.iter().any(|name| name == entry) => vec![entry],
        Some(entry) => {
            let near = nearest(entry, names.iter().map(String::as_str));
            let near = near.map(|near| format!("did you mean `{near}`?"));
            let fix = near.unwrap_or_else(|| format!("the functions are `{}`", names.join("`, `")));
            let message = format!("there is no function `{entry}`");
            return Err(Diagnostic::error(CODE, Span::default(), message).fix(fix));
        }
    };
    let mut ordered: Vec<Func<'a>> = Vec::new();
    let mut left: Vec<String> = first.iter().rev().map(|&name| name.to_owned()).collect();
    while let Some(next) = left.last().cloned() {
        let Some(func) = all.iter().find(|func| name(**func) == next) else {
            left.pop();
            continue;
        };
        let is_written = |name: &String| ordered.iter().any(|own| self::name(*own) == *name);
        let missing: Vec<String> =
            called(*func).into_iter().filter(|name| names.contains(name) && !is_written(name)).collect();
        if missing.is_empty() || is_written(&next) {
            left.pop();
            if !is_written(&next) {
                ordered.push(*func);
            }
        } else {
            left.extend(missing);
        }
    }
    Ok(ordered)
}

/// The functions that one calls.
fn called(func: Func<'_>) -> BTreeSet<String> {
    let ops = func.regions().iter().flat_map(|&body| func.module.walk(body));
    ops.filter_map(|id| Some(calling(func.other(id))?.callee().ok()?.to_string())).collect()
}

fn calls_refused(func: Func<'_>, absent: &BTreeSet<String>) -> Result<(), Diagnostic> {
    match called(func).intersection(absent).next() {
        Some(callee) => Err(refuse(*func, format!("it calls `@{callee}`, which is refused"))),
        None => Ok(()),
    }
}
