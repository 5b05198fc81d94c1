//! The registered form: the generic form for an MLIR that has loaded the declarations ([`super::emit`]).

use super::{ABSENT, TERMINATOR, operand_segments, result_segments, syntax};
use crate::context::{Attr, Context, TypeId, quote};
use crate::decl::{BodyDef, OpDecl};
use crate::module::{Clause, Module, OpId, OpName, OpRef, OpSpec};
use crate::print::{Form, print};
use crate::span::Span;
use std::borrow::Cow;
use std::fmt::Display;

/// A module as text for MLIR.
#[derive(Clone, Debug)]
pub struct Registered {
    /// The text. It is not read back: MLIR's parser has no place for our bodies, so they are strings here.
    pub text: String,
    /// For each line of it, where its operation is in the source; `None` for lines without one.
    pub places: Vec<Option<Span>>,
}

/// The module in the registered form. It differs from the generic one where MLIR cannot look into that:
/// bodies are strings, clauses are attributes, a clause that is left out is `#visa.absent`, and each region ends
/// in a terminator of MLIR's.
#[must_use]
pub fn registered(ctx: &Context, module: &Module) -> Registered {
    // A separate context: to `ctx` these texts are no types and attributes.
    let own = Context::default();
    let mut out = module.clone();
    out.extra = module.extra.iter().map(|entry| translate_entry(ctx, &own, entry)).collect();
    for id in module.walk_all() {
        let op = module.op(ctx, id);
        translate_types(&own, op, &mut out);
        translate_op(&own, op, id, &mut out);
        for &region in op.regions() {
            out.append(region, OpSpec::named(OpName::Unknown(TERMINATOR.into()), op.span()));
        }
    }
    let text = print(&own, &out, Form::Generic);
    let places = places(&own, &out, &text);
    Registered { text, places }
}

/// The line of each operation: it starts on a separate line, in the order of the module.
fn places(ctx: &Context, module: &Module, text: &str) -> Vec<Option<Span>> {
    let mut spans = module.walk_all().into_iter().map(|id| module.op(ctx, id).span());
    let starts = |line: &str| line.starts_with("  ") && line.trim_start().starts_with(['"', '%']);
    text.lines().map(|line| starts(line).then(|| spans.next()).flatten()).collect()
}

fn translate_types(own: &Context, op: OpRef<'_>, out: &mut Module) {
    let arguments = op.regions().iter().flat_map(|&region| op.module.args(region));
    for &value in op.results().iter().chain(arguments) {
        out.set_type(value, translate_type(op.ctx, own, op.module.ty(value)));
    }
}

fn translate_type(ctx: &Context, own: &Context, ty: TypeId) -> TypeId {
    let data = ctx.type_data(ty);
    match data.body {
        Some((def, body)) => own.opaque_type(&with_strings('!', def, &body)),
        None => own.opaque_type(&data.text),
    }
}

/// A type or an attribute whose fields are strings: `!tm.hbm<"bf16", "[1]", "[A]">`.
fn with_strings(sigil: char, def: &BodyDef, body: &impl Display) -> String {
    let text = body.to_string();
    let fields: Vec<_> = syntax::cut(def, &text).into_iter().map(quote).collect();
    format!("{sigil}{}<{}>", def.name, fields.join(", "))
}

fn translate_op(own: &Context, op: OpRef<'_>, id: OpId, out: &mut Module) {
    let translated =
        |entries: &[Clause]| entries.iter().map(|entry| translate_entry(op.ctx, own, entry)).collect();
    let clauses: Vec<Clause> = translated(op.clauses());
    let extra: Vec<Clause> = translated(&op.data().extra);
    let data = out.data_mut(id);
    match op.decl() {
        // MLIR knows nothing of it, and reads it as it is.
        None => (data.clauses, data.extra) = (clauses, extra),
        Some(decl) => {
            data.name = OpName::Unknown(decl.name.into());
            data.clauses = Vec::new();
            data.extra = [clauses, extra, added(own, op, decl)].concat();
        }
    }
}

/// Attributes of an operation in this form only: omitted clauses, and the present operands and results if MLIR cannot
/// tell.
fn added(own: &Context, op: OpRef<'_>, decl: &OpDecl) -> Vec<Clause> {
    let entry = |name, text: &str| Clause {
        name: Cow::Borrowed(name),
        value: own.attr(Attr::Opaque(text.into())),
        span: op.span(),
    };
    let left_out = decl.clauses.iter().filter(|clause| op.attr(clause.name).is_none());
    let mut added: Vec<_> = left_out.map(|clause| entry(clause.name, ABSENT)).collect();
    let sizes = |most: usize, given: usize| {
        let sizes: Vec<_> = (0..most.max(given)).map(|index| if index < given { "1" } else { "0" }).collect();
        format!("array<i32: {}>", sizes.join(", "))
    };
    added.extend(
        operand_segments(decl).map(|most| entry("operandSegmentSizes", &sizes(most, op.operands().len()))),
    );
    added.extend(
        result_segments(decl).map(|most| entry("resultSegmentSizes", &sizes(most, op.results().len()))),
    );
    added
}

fn translate_entry(ctx: &Context, own: &Context, entry: &Clause) -> Clause {
    let attr = match ctx.attr_data(entry.value) {
        Attr::Body(def, body) => Attr::Opaque(with_strings('#', def, &body).into()),
        other => other,
    };
    Clause { value: own.attr(attr), ..entry.clone() }
}
