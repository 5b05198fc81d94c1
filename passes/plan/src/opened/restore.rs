//! The interface of a kernel around the plan of its function.

use crate::changed::{Change, Origins};
use std::rc::Rc;
use visa_algebra::{Axes, Expr};
use visa_ir::build::NewOp;
use visa_ir::context::Context;
use visa_ir::diag::Diagnostic;
use visa_ir::module::{AttrId, BlockId, Module, OpId, OpRef, TypeId, ValueId};
use visa_ir::open::is_open;
use visa_ir::span::Span;
use visa_ir::verify::Analysis as _;
use visa_mapping::facts::DeclaredAxes;
use visa_mapping::facts::placed::placements;
use visa_mapping::ops::control::FOR;
use visa_mapping::ops::empty::EMPTY;
use visa_mapping::ops::func::signature;
use visa_mapping::ops::indexed::{GATHER_TO_DM, GATHER_TO_HBM, SCATTER};
use visa_mapping::ops::to_tile::ToTile;
use visa_mapping::ops::transfer::{TO_HBM, ToHbm};
use visa_mapping::{Dim, Tensor};
use visa_raise::interface::Interface;

/// The names of arguments and results that are copied within HBM.
#[derive(Default)]
pub struct Copies {
    /// Arguments.
    pub arguments: Vec<String>,
    /// Results, by the name of the planned value.
    pub results: Vec<String>,
    /// Arguments whose final values are copied over them.
    pub changed: Vec<String>,
}

/// The clauses of a kernel that its plan keeps.
pub struct Restored {
    /// The clause `at` of the function.
    arguments: Option<AttrId>,
    /// The clause `inout` of the function.
    inout: Option<AttrId>,
    /// The address of each result; `None` if it is open.
    results: Vec<Option<AttrId>>,
    /// The arguments that the kernel writes over.
    pub changes: Vec<Change>,
}

impl Restored {
    /// The clauses of a kernel that makes these changes.
    #[must_use]
    pub fn of(func: OpRef<'_>, changes: Vec<Change>) -> Self {
        let (ctx, module) = (func.ctx, func.module);
        let address = |&value: &ValueId| {
            let op = module.op(ctx, module.def_op(value)?);
            let store = ToHbm::cast(op).filter(|_| !is_open(op, "at"))?;
            store.attr("at").map(|at| ctx.attr(at))
        };
        let results = signature(func).1.iter().map(address).collect();
        let clause = |name: &str| func.attr(name).map(|clause| ctx.attr(clause));
        Self { arguments: clause("at"), inout: clause("inout"), results, changes }
    }

    /// The numbers of the `inout` arguments and of their results.
    fn inout(&self) -> impl Iterator<Item = (usize, usize)> {
        self.changes.iter().filter(|change| change.is_inout).map(|change| (change.argument, change.result))
    }
}

/// Gives a planned kernel the types of `interface`, the addresses of its arguments and results, and its `inout`
/// arguments. Tensors with another layout in the plan are copied within HBM.
///
/// # Errors
/// A function without an end, or a value that is no tensor.
pub fn restore(
    ctx: &Context,
    (module, func): (&mut Module, OpId),
    interface: &Interface,
    restored: &Restored,
) -> Result<Copies, Diagnostic> {
    let op = module.op(ctx, func);
    let no_end = || op.error("C0", "the plan has no end");
    let block = *op.regions().first().ok_or_else(no_end)?;
    let end = *module.ops(block).last().ok_or_else(no_end)?;
    let (arguments, results) = signature(op);
    let (arguments, results) = (arguments.to_vec(), results.to_vec());
    let mut copies = Copies::default();
    // Reports tell commands apart by their spans.
    let mut span = op.span();
    for (index, (&result, &written)) in results.iter().zip(&interface.results).enumerate() {
        let is_inout = restored.inout().any(|(_, own)| own == index);
        if module.ty(result) != written && !is_inout {
            span.end = span.end.saturating_sub(1);
            let name = name(module, result);
            let comment = format!("The layout of %{name} that is written.");
            let copy = copy(ctx, (module, end), (result, written, span), &comment)?;
            module.set_operand(end, index, copy);
            copies.results.push(name);
        }
    }
    for (&argument, &written) in arguments.iter().zip(&interface.arguments) {
        let planned = module.ty(argument);
        if planned != written && is_index(ctx, module, argument) {
            module.set_type(argument, written);
        } else if planned != written {
            let (name, span) = (name(module, argument), module.value_span(argument));
            let comment = format!("A copy of %{name}, in the layout that the plan reads.");
            module.set_type(argument, written);
            let first = first_of(module, block).ok_or_else(|| op_error(ctx, module, func))?;
            let value = copy(ctx, (module, first), (argument, planned, span), &comment)?;
            let made = module.def_op(value);
            module.replace_uses(argument, value);
            made.into_iter().for_each(|made| module.set_operand(made, 0, argument));
            copies.arguments.push(name);
        }
    }
    module.set_clause(func, "at", restored.arguments);
    let axes = DeclaredAxes::build(ctx, module).0;
    for (argument, result) in restored.inout() {
        span.end = span.end.saturating_sub(1);
        if write_back(ctx, (module, func, end), (arguments[argument], result, span), &axes)? {
            copies.changed.push(name(module, arguments[argument]));
        }
    }
    module.set_clause(func, "inout", restored.inout);
    place_results(ctx, module, (func, end), restored)?;
    Ok(copies)
}

/// Returns true if a tensor is nothing but an index of rows, which is read element by element in any layout.
fn is_index(ctx: &Context, module: &Module, value: ValueId) -> bool {
    let indexes = [&GATHER_TO_HBM, &GATHER_TO_DM, &SCATTER];
    let reads = |user: &OpId| {
        let op = module.op(ctx, *user);
        let at: Vec<usize> = (0..op.operands().len()).filter(|&at| op.operands()[at] == value).collect();
        at == [1] && indexes.into_iter().any(|own| op.is(own))
    };
    module.uses(value).iter().all(reads)
}

/// Puts a result into the memory of an `inout` argument. The operation that stores the result writes there if nothing
/// reads the argument afterwards; else a copy at the end does, and the function returns true.
///
/// # Errors
/// An argument that is no tensor.
fn write_back(
    ctx: &Context,
    (module, func, end): (&mut Module, OpId, OpId),
    (argument, index, span): (ValueId, usize, Span),
    axes: &Axes,
) -> Result<bool, Diagnostic> {
    let returned = module.op(ctx, end).operands();
    let result = returned[index];
    let is_shared = returned.iter().filter(|own| **own == result).count() > 1;
    let func = module.op(ctx, func);
    let first = Origins::of(func, axes)?.first(result);
    if first == argument {
        return Ok(false);
    }
    let all = placements(func, axes)?;
    let placed = |value| all.iter().find(|placed| placed.value == value);
    let is_free = placed(argument).zip(placed(first)).is_some_and(|(old, new)| old.until < new.from);
    let is_same = module.ty(result) == module.ty(argument) && !is_shared;
    let site = module.def_op(first).filter(|_| is_free && is_same).map(|site| module.op(ctx, site));
    let site = site.filter(|site| Some(&site.block()) == func.regions().first());
    match site.map(|site| (site.id, site.is(&TO_HBM), site.is(&EMPTY))) {
        Some((site, true, _)) => {
            let source = module.op(ctx, site).operands()[0];
            let span = module.op(ctx, site).span();
            let written = write_over(ctx, (module, site, span), (source, argument), axes)?;
            let clauses = ["padded", "queue", "engines", "time", "packet"];
            let stored = module.op(ctx, site);
            let kept = clauses.map(|name| (name, stored.attr(name).map(|clause| ctx.attr(clause))));
            kept.into_iter().for_each(|(name, clause)| module.set_clause(written.0, name, clause));
            module.replace_uses(first, written.1);
            module.erase(site);
            Ok(false)
        }
        Some((site, false, true)) => {
            module.replace_uses(first, argument);
            module.erase(site);
            Ok(false)
        }
        Some((_, false, false)) | None => {
            let (copy, value) = write_over(ctx, (module, end, span), (result, argument), axes)?;
            let comment = format!("The new value of %{}, written at the end.", name(module, argument));
            module.set_comment(copy, &comment);
            module.set_operand(end, index, value);
            Ok(true)
        }
    }
}

/// Inserts a transfer of all elements of an argument. Returns it and its result.
fn write_over(
    ctx: &Context,
    (module, anchor, span): (&mut Module, OpId, Span),
    (source, argument): (ValueId, ValueId),
    axes: &Axes,
) -> Result<(OpId, ValueId), Diagnostic> {
    let ty = module.ty(argument);
    let tensor = ctx.type_value::<Tensor>(ty).ok_or_else(|| no_tensor(span))?;
    let outer = tensor.dim(Dim::Element).axis_names(axes).into_iter().next();
    let size = outer.as_ref().and_then(|axis| axes.id(axis)).map_or(1, |axis| axes.size(axis));
    let size = i64::try_from(size).map_err(|_| no_tensor(span))?;
    let along = outer.map_or(Expr::Literal(1), |axis| Expr::axis(&axis));
    let new: NewOp<'_> =
        ToTile::build_at(ctx, span, [source, argument]).along(Rc::new(along)).size(size).index(0).into();
    let id = module.insert_before(anchor, new.result(ty, Some(name(module, argument).into())).spec());
    Ok((id, module.op(ctx, id).results()[0]))
}

/// The error for a value that is no tensor.
fn no_tensor(span: Span) -> Diagnostic {
    Diagnostic::error("plan-kernel", span, "a value that is no tensor")
}

/// Gives the results their written addresses.
///
/// # Errors
/// A result that the plan stores elsewhere too, or does not store.
fn place_results(
    ctx: &Context,
    module: &mut Module,
    (func, end): (OpId, OpId),
    restored: &Restored,
) -> Result<(), Diagnostic> {
    let returned = module.op(ctx, end).operands().to_vec();
    let mut sites: Vec<OpId> = Vec::new();
    for (value, &address) in returned.into_iter().zip(&restored.results) {
        let site = stored_by(ctx, module, value);
        let is_shared = site.is_some_and(|site| sites.contains(&site));
        sites.extend(site);
        let Some(address) = address else { continue };
        let Some(site) = site.filter(|_| !is_shared) else {
            let message =
                "a result has a written address, and the plan has it in the memory of another tensor";
            return Err(module.op(ctx, func).error("C0", message));
        };
        module.set_clause(site, "at", Some(address));
    }
    Ok(())
}

/// The operation that has the address of a tensor in HBM: its store, or the empty tensor that a loop fills.
fn stored_by(ctx: &Context, module: &Module, mut value: ValueId) -> Option<OpId> {
    loop {
        let op = module.op(ctx, module.def_op(value)?);
        if op.is(&FOR) {
            let number = op.results().iter().position(|&result| result == value)?;
            value = *op.operands().get(number)?;
        } else if let Some(tile) = ToTile::cast(op) {
            value = tile.operands().get(1).copied()?;
        } else {
            return op.attr("at").map(|_| op.id);
        }
    }
}

fn op_error(ctx: &Context, module: &Module, func: OpId) -> Diagnostic {
    module.op(ctx, func).error("C0", "the plan has no operations")
}

fn first_of(module: &Module, block: BlockId) -> Option<OpId> {
    module.ops(block).first().copied()
}

fn name(module: &Module, value: ValueId) -> String {
    module.value_name(value).map_or_else(|| "out".to_owned(), |name| name.to_string())
}

/// Inserts a transfer of a tensor within HBM, to the layout of the type `ty`. Returns its result.
fn copy(
    ctx: &Context,
    (module, anchor): (&mut Module, OpId),
    (value, ty, span): (ValueId, TypeId, Span),
    comment: &str,
) -> Result<ValueId, Diagnostic> {
    let tensor = ctx.type_value::<Tensor>(ty);
    let tensor = tensor.ok_or_else(|| no_tensor(span))?;
    let new: NewOp<'_> =
        ToHbm::build_at(ctx, span, [value]).at_auto().element(tensor.dim(Dim::Element)).into();
    let name = format!("{}_copy", name(module, value));
    let id = module.insert_before(anchor, new.result(ty, Some(name.into())).spec());
    module.set_comment(id, comment);
    Ok(module.op(ctx, id).results()[0])
}
