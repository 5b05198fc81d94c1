//! Tensors that a kernel relabels: nothing checks that the new indices are correct.

use serde::Serialize;
use visa_ir::context::Context;
use visa_ir::module::{Module, OpRef};
use visa_ir::span::Span;
use visa_mapping::Tensor;
use visa_mapping::ops::func::Func;
use visa_mapping::ops::view::RELABEL;

/// A dimension that a `tm.relabel` calls otherwise.
#[derive(Clone, Debug)]
pub(crate) struct Relabelled {
    function: String,
    span: Span,
    dimension: &'static str,
    from: String,
    to: String,
}

/// A relabelling in a JSON document.
#[derive(Clone, Serialize)]
pub struct RelabelledEntry {
    /// Where it is.
    pub place: String,
    /// The dimension.
    pub dimension: &'static str,
    /// Its mapping before.
    pub from: String,
    /// Its mapping after, by the author's relabelling.
    pub to: String,
}

/// All relabellings of a module.
pub(crate) fn relabelled(ctx: &Context, module: &Module) -> Vec<Relabelled> {
    let ops = module.walk_all().into_iter().map(|id| module.op(ctx, id));
    ops.filter(|op| op.is(&RELABEL)).flat_map(of).collect()
}

fn of(op: OpRef<'_>) -> Vec<Relabelled> {
    let (Some(old), Some(new)) = (op.operand_type::<Tensor>(0), op.result_type::<Tensor>(0)) else {
        return Vec::new();
    };
    let function = op.ancestors().find_map(Func::cast).and_then(|func| Some(func.name().ok()?.to_string()));
    let Some(function) = function else { return Vec::new() };
    let maps = old.kind.dims.iter().zip(old.maps.iter().zip(&new.maps));
    let changed = maps.filter(|(_, (old, new))| old != new);
    let entry =
        |(dim, (old, new)): (&visa_mapping::Dim, (&visa_algebra::Expr, &visa_algebra::Expr))| Relabelled {
            function: function.clone(),
            span: op.span(),
            dimension: dim.name(),
            from: old.to_string(),
            to: new.to_string(),
        };
    changed.map(entry).collect()
}

/// Those of a function, with where they are.
pub(crate) fn entries(
    all: &[Relabelled],
    function: &str,
    place: impl Fn(Span) -> String,
) -> Vec<RelabelledEntry> {
    let own = all.iter().filter(|own| own.function == function);
    own.map(|own| RelabelledEntry {
        place: place(own.span),
        dimension: own.dimension,
        from: own.from.clone(),
        to: own.to.clone(),
    })
    .collect()
}

/// As a line of the text report.
pub(crate) fn line(own: &RelabelledEntry) -> String {
    let RelabelledEntry { place, dimension, from, to } = own;
    format!("relabel   {place} {dimension} {from} as {to}, by the author's word\n")
}
