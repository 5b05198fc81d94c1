//! Modules of MLIR, linalg on tensors, as functions of the tensor level.
//!
//! MLIR parses and verifies the file, and makes `linalg.generic` of its named operations ([`parse`]). A first walk
//! over the operations finds the dimensions that are one axis ([`structure`]). A second one builds the operations of
//! the tensor level ([`function`]), which visa verifies.

mod emit;
mod function;
mod importer;
mod ops;
mod read;
mod structure;
mod tensor;

pub use importer::Precision;

use crate::mlir::Finding;
use importer::Importer;
use melior::ir::RegionLike as _;
use melior::ir::operation::OperationLike as _;
use melior::ir::{BlockRef, Module};
use read::attributes::operations;
use read::limits;
use read::operations::{TensorOp, known};
use read::parse::{self, Reader};
use read::place::{Origin, position};
use std::collections::{HashMap, HashSet};
use structure::Structure;
use visa_ir::context::Context;
use visa_ir::diag::{Diagnostic, Severity};
use visa_ir::infer::infer_all;
use visa_ir::print::{Form, print};
use visa_ir::span::{Source, Span};
use visa_ir::verify::{has_errors, verify};
use visa_mapping::ops::func::AxesOp;
use visa_mapping::tensor::attrs::{AxisSize, AxisSizes};
use visa_mapping::tensor::value::Value;
use visa_opt::{Io, standard_dialects};

/// The code of MLIR's findings.
const CODE: &str = "mlir";

/// An imported file.
pub struct Imported {
    /// The input, which findings point into; empty for bytecode.
    pub source: Source,
    /// Findings of MLIR and of visa.
    pub findings: Vec<Diagnostic>,
    /// The module; `None` if a finding is an error.
    pub text: Option<String>,
}

/// Imports a file, or standard input for `-`.
///
/// # Errors
/// A file that cannot be read.
pub fn import(io: &mut Io, name: &str, precision: Option<Precision>) -> Result<Imported, Diagnostic> {
    let title = if name == "-" { "<stdin>" } else { name };
    let bytes = io
        .read(name, limits::MAX_BYTES)
        .map_err(|why| Diagnostic::error("file", Span::default(), format!("cannot read `{name}`: {why}")))?;
    Ok(module(title, &bytes, precision))
}

/// Imports a module.
fn module(title: &str, bytes: &[u8], precision: Option<Precision>) -> Imported {
    let text = if parse::is_bytecode(bytes) { "" } else { std::str::from_utf8(bytes).unwrap_or_default() };
    let source = Source::new(title, text);
    let is_text = !text.is_empty() || bytes.is_empty();
    let built = if is_text || parse::is_bytecode(bytes) {
        built(&source, bytes, precision)
    } else {
        let message = format!("`{title}` is neither UTF-8 text nor MLIR bytecode");
        Err(vec![Diagnostic::error("not-text", Span::default(), message)])
    };
    let (text, findings) = match built {
        Ok((text, findings)) => (Some(text).filter(|_| !has_errors(&findings)), findings),
        Err(findings) => (None, findings),
    };
    Imported { source, findings, text }
}

/// The text of the module, and warnings.
fn built(
    source: &Source,
    bytes: &[u8],
    precision: Option<Precision>,
) -> Result<(String, Vec<Diagnostic>), Vec<Diagnostic>> {
    parse::check(bytes).map_err(|error| vec![error])?;
    let mut origin = Origin::new(source);
    let reader = Reader::new();
    let of_mlir = |origin: &Origin<'_>, found: Vec<Finding>| -> Vec<Diagnostic> {
        found.into_iter().map(|finding| diagnostic(origin, finding)).collect()
    };
    let mut module = reader.parse(bytes).map_err(|found| of_mlir(&origin, found))?;
    reader.check_size(&module).map_err(|found| of_mlir(&origin, found))?;
    origin.named = named(&module);
    reader.inline(&mut module).map_err(|found| of_mlir(&origin, found))?;
    reader.generalize(&mut module).map_err(|found| of_mlir(&origin, found))?;
    let ctx = Context::new(&standard_dialects());
    let structure = Structure::of(module.body());
    let mut importer = Importer::new(&ctx, &origin, precision, structure);
    importer.functions(module.body()).map_err(|error| vec![error])?;
    let (mut ours, sizes) = importer.finish();
    let used = used_axes(&ctx, &ours);
    let sizes = sizes.into_iter().filter(|(name, _)| used.contains(name));
    let sizes = sizes.map(|(name, size)| (name.to_string(), AxisSize::Size(size))).collect::<Vec<_>>();
    if !sizes.is_empty() {
        let axes = AxesOp::build_at(&ctx, Span::default()).sizes(AxisSizes(sizes)).spec();
        ours.insert(ours.body(), 0, axes);
    }
    infer_all(&ctx, &mut ours).map_err(|error| vec![error])?;
    let findings = verify(&ctx, &ours);
    Ok((print(&ctx, &ours, Form::Pretty), findings))
}

/// The axes of all values.
fn used_axes(ctx: &Context, module: &visa_ir::module::Module) -> HashSet<emit::axes::Axis> {
    let mut used = HashSet::new();
    for id in module.walk_all() {
        let op = module.op(ctx, id);
        let arguments = op.regions().iter().flat_map(|&region| module.args(region));
        for &value in op.results().iter().chain(arguments) {
            if let Some(ty) = ctx.type_value::<Value>(module.ty(value)) {
                used.extend(ty.axes.iter().cloned());
            }
        }
    }
    used
}

/// Names of the operations of linalg, by line and column.
fn named(module: &Module<'_>) -> HashMap<(usize, usize), String> {
    let mut names = HashMap::new();
    for function in operations(module.body()) {
        let blocks = function.regions().filter_map(|region| region.first_block());
        blocks.for_each(|block: BlockRef<'_, '_>| {
            for op in operations(block) {
                let name = op.name();
                let name = name.as_string_ref().as_str().unwrap_or_default();
                if let Some(at) = position(op.location()).filter(|_| known(op) != Some(TensorOp::Generic)) {
                    names.insert(at, name.to_owned());
                }
            }
        });
    }
    names
}

/// A finding of MLIR as ours.
fn diagnostic(origin: &Origin<'_>, finding: Finding) -> Diagnostic {
    let span = finding.place.and_then(|(line, column)| origin.span_at(line, column));
    let fix = fix(&finding.message);
    let error = Diagnostic {
        severity: finding.severity,
        ..Diagnostic::error(CODE, span.unwrap_or_default(), finding.message)
    };
    let error = finding.notes.iter().fold(error, |error, note| error.note(note.trim_end(), None));
    if finding.severity == Severity::Error { error.fix(fix) } else { error }
}

/// The command that lowers a dialect that MLIR does not have.
fn fix(message: &str) -> Option<String> {
    let is = |dialect: &str| {
        message.contains(&format!("`{dialect}'")) || message.contains(&format!("`{dialect}`"))
    };
    if is("stablehlo") || is("chlo") || is("mhlo") || is("vhlo") {
        return Some(
            "lower it to linalg first: torch-mlir-opt --stablehlo-legalize-to-linalg --canonicalize --cse \
             FILE"
                .to_owned(),
        );
    }
    is("torch").then(|| "export with output_type=linalg-on-tensors".to_owned())
}
