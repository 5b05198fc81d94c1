//! Which operand of a contraction stays: products commute, so that the tensor in the register file and the one that streams by may change places
//! (book 15). What is written of neither pipeline depends on which is which, as nothing but their operations is.

use super::chain;
use super::graph::open_clauses;
use super::rule::Rule;
use super::shared::{Layout, choose_layout};
use std::collections::BTreeSet;
use visa_ir::context::Context;
use visa_ir::diag::Diagnostic;
use visa_ir::infer::infer_all;
use visa_ir::module::{Module, OpId, OpRef};
use visa_ir::open::Opening;

/// A register file's layout, and the module in which its tensor and the one that streams by have changed places, where that is cheaper.
pub struct Pair {
    /// The layout.
    pub layout: Layout,
    /// The module, if it has to be another.
    pub exchanged: Option<Module>,
}

/// The best layout of the register file that `load` fills and `reader` reads, holding either of the two tensors.
///
/// # Errors
/// As of [`choose_layout`], for the tensors as they are written.
pub fn choose_pair(
    ctx: &Context,
    module: &Module,
    (load, reader): (OpId, &[OpId]),
    rules: &[&'static Rule],
) -> Result<Pair, Diagnostic> {
    let written = choose_layout(ctx, module, (load, reader), rules);
    let Some(other) = exchanged(ctx, module, load, reader) else {
        return Ok(Pair { layout: written?, exchanged: None });
    };
    match (written, choose_layout(ctx, &other, (load, reader), rules)) {
        (Ok(written), Ok(layout)) if layout.cycles < written.cycles => {
            let tried = written.tried + layout.tried;
            Ok(Pair { layout: Layout { tried, ..layout }, exchanged: Some(other) })
        }
        (Ok(written), Ok(layout)) => {
            let tried = written.tried + layout.tried;
            Ok(Pair { layout: Layout { tried, ..written }, exchanged: None })
        }
        (Ok(layout), Err(_)) => Ok(Pair { layout, exchanged: None }),
        (Err(_), Ok(layout)) => Ok(Pair { layout, exchanged: Some(other) }),
        (Err(refused), Err(_)) => Err(refused),
    }
}

/// The module with the two tensors exchanged; `None` if something is written against it.
fn exchanged(ctx: &Context, module: &Module, load: OpId, reader: &[OpId]) -> Option<Module> {
    let loaded = chain(module.op(ctx, load));
    let (first, second) = (loaded[0], reader[0]);
    let align = reader.iter().position(|&id| module.op(ctx, id).operands().len() > 1)?;
    let front = loaded.iter().chain(&reader[..=align]);
    let alone = module.op(ctx, load).results().iter().all(|&file| module.uses(file).len() == 1);
    if !alone || !front.clone().all(|&id| is_open(module.op(ctx, id))) {
        return None;
    }
    let tensor = |begin: OpId| module.op(ctx, begin).operands().first().copied();
    let (kept, streamed) = (tensor(first)?, tensor(second)?);
    if !reads_alike(ctx, module, (first, second), module.def_op(streamed)) {
        return None;
    }
    let mut module = module.clone();
    module.set_operand(first, 0, streamed);
    module.set_operand(second, 0, kept);
    infer_all(ctx, &mut module).ok()?;
    Some(module)
}

/// Whether nothing is written of an operation in front of the product but that it is there: all its configuration is open, if it has any.
fn is_open(op: OpRef<'_>) -> bool {
    let open: BTreeSet<&str> = open_clauses(op).collect();
    let written = op.clauses().iter().filter(|clause| !open.contains(&*clause.name));
    let place = |name: &str| {
        op.decl().is_some_and(|decl| {
            decl.clauses.iter().any(|clause| clause.name == name && clause.opening == Opening::Address)
        })
    };
    match op.name() {
        "stream.begin" => true,
        "stream.fetch" | "stream.switch" | "stream.collect" | "stream.to_trf" | "stream.align" => {
            written.clone().all(|clause| place(&clause.name))
        }
        _ => false,
    }
}

/// Whether both tensors are there when the first of the two pipelines begins, and nothing writes over one of them until the second does.
fn reads_alike(
    ctx: &Context,
    module: &Module,
    (first, second): (OpId, OpId),
    streamed: Option<OpId>,
) -> bool {
    let block = module.op(ctx, first).block();
    let ops = module.ops(block);
    let at = |id: OpId| ops.iter().position(|&own| own == id);
    let (Some(from), Some(to)) = (at(first), at(second)) else { return false };
    // An argument is there from the start.
    let known = streamed.is_none_or(|def| at(def).is_some_and(|def| def < from));
    let moves = |id: OpId| {
        let op = module.op(ctx, id);
        let placed = op.attr("at").is_some() && !visa_ir::open::is_open(op, "at");
        (op.name().starts_with("tm.") && !placed) || PURE.contains(&op.name())
    };
    known && from < to && ops[from..to].iter().all(|&id| moves(id))
}

/// Operations of a pipeline that write no data memory.
const PURE: [&str; 6] =
    ["stream.begin", "stream.fetch", "stream.switch", "stream.collect", "stream.to_trf", "stream.to_vrf"];
