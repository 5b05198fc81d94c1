//! Entry: the functions that the run needs, of a file with functions of the tensor level and of the memory level.

use crate::flags::Flags;
use crate::stages::load::Loaded;
use std::collections::BTreeSet;
use visa_ir::analysis::Analysis as _;
use visa_ir::context::Context;
use visa_ir::decl::Body;
use visa_ir::module::{Module, OpId};
use visa_ir::span::Span;
use visa_mapping::Tensor;
use visa_mapping::facts::calls::CallGraph;
use visa_mapping::ops::func::{FUNC, Func};
use visa_mapping::tensor::value::Value;

/// Returns true if a function has a value of a type, which the verifier lets no function mix with the other one.
fn has<T: Body>(ctx: &Context, module: &Module, id: OpId) -> bool {
    let func = module.op(ctx, id);
    let inside = func.regions().iter().flat_map(|&block| module.walk(block)).map(|id| func.other(id));
    std::iter::once(func).chain(inside).any(|op| {
        let arguments = op.regions().iter().flat_map(|&block| module.args(block));
        let mut values = op.results().iter().chain(arguments);
        values.any(|&value| ctx.type_value::<T>(module.ty(value)).is_some())
    })
}

/// Erases the functions that the entry does not call, if the file has functions of both levels: then the entry decides
/// the level. A file without the entry stays as it is.
pub(crate) fn of_one_level(loaded: &mut Loaded, flags: &Flags) {
    let Loaded { ctx, module } = loaded;
    let functions: Vec<(OpId, String)> = module
        .ops(module.body())
        .iter()
        .filter_map(|&id| Func::cast(module.op(ctx, id)))
        .filter_map(|func| Some((func.id, func.name().ok()?.to_string())))
        .collect();
    let ids = || functions.iter().map(|(id, _)| *id);
    let any = |has: fn(&Context, &Module, OpId) -> bool| ids().any(|id| has(ctx, module, id));
    if !any(has::<Value>) || !any(has::<Tensor>) {
        return;
    }
    let wanted = flags.entry.as_deref().map(|name| name.trim_start_matches('@'));
    let entry = functions.iter().find(|(_, name)| Some(name.as_str()) == wanted);
    let Some((entry, _)) = entry else { return };
    keep(ctx, module, *entry);
}

/// Erases the functions that a kernel does not call.
pub(crate) fn keep(ctx: &Context, module: &mut Module, kernel: OpId) {
    let reached: BTreeSet<OpId> = CallGraph::build(ctx, module).reached(kernel);
    let functions = module.ops(module.body()).iter().filter(|&&id| module.op(ctx, id).is(&FUNC));
    let others: Vec<OpId> = functions.copied().filter(|id| !reached.contains(id)).collect();
    others.into_iter().for_each(|id| module.erase(id));
}

/// The function of a name, and its position.
pub(crate) fn function(ctx: &Context, module: &Module, name: &str) -> Option<(OpId, Span)> {
    let functions = module.ops(module.body()).iter().filter_map(|&id| Func::cast(module.op(ctx, id)));
    let mut named = functions.filter(|func| func.name().is_ok_and(|own| *own == *name));
    named.next().map(|func| (func.id, func.span()))
}
