//! Kernels of one chip as kernels of all: each divided axis has its full size, and mappings name the positions within
//! its parts.

use crate::chips::parts::Parts;
use std::collections::HashMap;
use std::sync::Arc;
use visa_algebra::{Axes, Expr};
use visa_ir::context::{Attr, Context};
use visa_ir::diag::Diagnostic;
use visa_ir::module::{Module, OpId, OpRef, ValueId};
use visa_mapping::facts::mappings;
use visa_mapping::ops::empty::EMPTY;
use visa_mapping::ops::func::signature;
use visa_mapping::ops::transfer::{TO_DM, TO_HBM};
use visa_mapping::tensor::attrs::MAP;
use visa_mapping::tensor::make;
use visa_mapping::{Dim, HBM, Tensor};
use visa_stream::ops::{fill, generate};

/// The axis that chips divide around a value in the memories of clusters, or in a pipeline.
type Divided = HashMap<ValueId, Arc<str>>;

/// Writes `kernels` of a module for all chips.
///
/// # Errors
/// A mapping that an operation does not take.
pub fn restored(
    ctx: &Context,
    mut module: Module,
    kernels: &[OpId],
    (parts, axes): (&Parts, &Axes),
) -> Result<Module, Vec<Diagnostic>> {
    let divided = divided(ctx, &module, kernels, (parts, axes));
    for &kernel in kernels {
        let chips = Attr::Int(parts.chips().cast_signed());
        for argument in signature(module.op(ctx, kernel)).0.to_vec() {
            if let Some(tensor) = ctx.type_value::<Tensor>(module.ty(argument)) {
                module.set_type(argument, make(ctx, parts.tensor(&tensor, axes)));
            }
        }
        let blocks = module.op(ctx, kernel).regions().iter();
        let inside: Vec<OpId> = blocks.flat_map(|&block| module.walk(block)).collect();
        for id in inside {
            let op = module.op(ctx, id);
            let chip = chip(op, &divided, (parts, axes));
            let maps: Vec<_> =
                mappings(op).map(|(clause, map)| (clause.name.to_string(), parts.within(&map))).collect();
            let maps = maps.into_iter().chain(chip.map(|chip| ("chip".to_owned(), chip)));
            maps.for_each(|(name, map)| module.set_clause(id, &name, Some(ctx.body_attr(&MAP, map))));
        }
        module.set_clause(kernel, "chips", Some(ctx.attr(chips)));
    }
    parts.sizes_of_all().apply(ctx, &mut module)?;
    Ok(module)
}

/// The chip mapping that an operation specifies, if its result has another one than its source.
fn chip(op: OpRef<'_>, divided: &Divided, (parts, axes): (&Parts, &Axes)) -> Option<Expr> {
    let &[result] = op.results() else { return None };
    let own = divided.get(&result);
    let in_order = |value| {
        let tensor = tensor(op, value)?;
        Some(parts.in_order(&tensor.dim(Dim::Element).axis_names(axes), axes))
    };
    if op.is(&fill::DECL) || op.is(&generate::DECL) {
        return Some(own.map_or_else(|| parts.copies(), |axis| parts.of_axis(axis)));
    }
    if op.is(&EMPTY) {
        return own.map_or_else(|| in_order(result), |axis| Some(parts.of_axis(axis)));
    }
    if op.is(&TO_DM) {
        let (chip, source) = (parts.of_axis(own?), in_order(*op.operands().first()?)?);
        return (chip != source).then_some(chip);
    }
    if op.is(&TO_HBM) {
        let (chip, source) = (in_order(result)?, divided.get(op.operands().first()?)?);
        return (chip != parts.copies() && chip != parts.of_axis(source)).then_some(chip);
    }
    None
}

fn tensor(op: OpRef<'_>, value: ValueId) -> Option<std::rc::Rc<Tensor>> {
    op.ctx.type_value::<Tensor>(op.module.ty(value))
}

/// The axis that chips divide in each pipeline, and in the tensors that it reads and writes in data memory: all of
/// them are on the chips alike (book 16, 20).
fn divided(ctx: &Context, module: &Module, kernels: &[OpId], (parts, axes): (&Parts, &Axes)) -> Divided {
    let blocks = kernels.iter().flat_map(|&kernel| module.op(ctx, kernel).regions());
    let ops: Vec<OpRef<'_>> =
        blocks.flat_map(|&block| module.walk(block)).map(|id| module.op(ctx, id)).collect();
    let mut divided = Divided::new();
    loop {
        let before = divided.len();
        for op in &ops {
            let values = || op.operands().iter().chain(op.results());
            let of = |value: &ValueId| match divided.get(value) {
                Some(axis) => Some(axis.clone()),
                None => tensor(*op, *value)?.axis_names(axes).into_iter().find(|axis| parts.divides(axis)),
            };
            let Some(axis) = values().find_map(of) else { continue };
            let within = |value: &&ValueId| tensor(*op, **value).is_some_and(|tensor| !tensor.is(&HBM));
            let reached: Vec<ValueId> = values().filter(within).copied().collect();
            reached.into_iter().for_each(|value| {
                divided.entry(value).or_insert_with(|| axis.clone());
            });
        }
        if divided.len() == before {
            return divided;
        }
    }
}
