//! The interface of a kernel around the plan of its function.

use visa_ir::build::NewOp;
use visa_ir::context::Context;
use visa_ir::diag::Diagnostic;
use visa_ir::module::{AttrId, BlockId, Module, OpId, OpRef, TypeId, ValueId};
use visa_ir::open::is_open;
use visa_ir::span::Span;
use visa_mapping::ops::control::FOR;
use visa_mapping::ops::func::signature;
use visa_mapping::ops::to_tile::ToTile;
use visa_mapping::ops::transfer::ToHbm;
use visa_mapping::{Dim, Tensor};
use visa_raise::interface::Interface;

/// The names of arguments and results that are copied within HBM.
#[derive(Default)]
pub struct Copies {
    /// Arguments.
    pub arguments: Vec<String>,
    /// Results, by the name of the planned value.
    pub results: Vec<String>,
}

/// The written addresses of a kernel's arguments and results.
pub struct Addresses {
    /// The clause of the function.
    arguments: Option<AttrId>,
    /// The address of each result; `None` if it is open.
    results: Vec<Option<AttrId>>,
}

impl Addresses {
    /// The addresses of a kernel.
    #[must_use]
    pub fn of(func: OpRef<'_>) -> Self {
        let (ctx, module) = (func.ctx, func.module);
        let address = |&value: &ValueId| {
            let op = module.op(ctx, module.def_op(value)?);
            let store = ToHbm::cast(op).filter(|_| !is_open(op, "at"))?;
            store.attr("at").map(|at| ctx.attr(at))
        };
        let results = signature(func).1.iter().map(address).collect();
        Self { arguments: func.attr("at").map(|at| ctx.attr(at)), results }
    }
}

/// Gives a planned kernel the types of `interface` and the addresses of its arguments and results. Tensors with
/// another layout in the plan are copied within HBM.
///
/// # Errors
/// A function without an end, or a value that is no tensor.
pub fn restore(
    ctx: &Context,
    (module, func): (&mut Module, OpId),
    interface: &Interface,
    addresses: &Addresses,
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
        if module.ty(result) != written {
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
        if planned != written {
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
    module.set_clause(func, "at", addresses.arguments);
    place_results(ctx, module, (func, end), addresses)?;
    Ok(copies)
}

/// Gives the results their written addresses.
///
/// # Errors
/// A result that the plan stores elsewhere too, or does not store.
fn place_results(
    ctx: &Context,
    module: &mut Module,
    (func, end): (OpId, OpId),
    addresses: &Addresses,
) -> Result<(), Diagnostic> {
    let returned = module.op(ctx, end).operands().to_vec();
    let mut sites: Vec<OpId> = Vec::new();
    for (value, &address) in returned.into_iter().zip(&addresses.results) {
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
    let tensor = tensor.ok_or_else(|| Diagnostic::error("plan-kernel", span, "a value that is no tensor"))?;
    let new: NewOp<'_> =
        ToHbm::build_at(ctx, span, [value]).at_auto().element(tensor.dim(Dim::Element)).into();
    let name = format!("{}_copy", name(module, value));
    let id = module.insert_before(anchor, new.result(ty, Some(name.into())).spec());
    module.set_comment(id, comment);
    Ok(module.op(ctx, id).results()[0])
}
