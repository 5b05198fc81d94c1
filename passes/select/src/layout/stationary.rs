//! The stationary operand of a contraction: products commute, so that the tensor in the register file and the streamed
//! one may be exchanged (book 15). No explicit clause of either pipeline depends on their roles, as nothing but their
//! operations is explicit.

use crate::config::graph::open_clauses;
use crate::config::memo::Means;
use crate::distribution::search;
use crate::driver::Driver;
use crate::effort::budget::{Budget, Cut};
use crate::layout::sharing::{self, Shared};
use crate::layout::trf_layouts::is_open_load;
use std::collections::BTreeSet;
use visa_engine::place::Slot;
use visa_ir::context::Context;
use visa_ir::diag::Diagnostic;
use visa_ir::effects::{self, EffectKind};
use visa_ir::infer::infer_all;
use visa_ir::module::{Module, OpId, OpRef};
use visa_ir::open::Opening;
use visa_mapping::DM;
use visa_stream::ops::begin;
use visa_stream::pipeline;
use visa_stream::pipeline::Pipeline;

/// The choice for pipelines that share tensors.
pub(crate) struct LayoutChoice {
    /// Their layouts.
    pub shared: Shared,
    /// The loads of register files whose tensor is the one that was to stream by, and the other way round.
    pub exchanged: Vec<OpId>,
}

/// Writes the shared layouts of the pipelines that end in `ends`, and exchanges the tensors of contractions if all
/// together then take fewer cycles.
///
/// # Errors
/// As of [`sharing::choose_layouts`], for the tensors as they are written.
pub(crate) fn choose_layouts(
    ctx: &Context,
    module: &mut Module,
    ends: &[OpId],
    means: &Means<'_>,
) -> Result<LayoutChoice, Diagnostic> {
    let mut best = module.clone();
    let mut shared = sharing::choose_layouts(ctx, &mut best, ends, means);
    let (mut written, mut exchanged) = (module.clone(), Vec::new());
    for &load in ends.iter().filter(|&&end| is_open_load(module.op(ctx, end))) {
        let Some(mut other) = exchange(ctx, &written, load) else { continue };
        let before = other.clone();
        let found =
            unless_ended(means.budget, &shared, || sharing::choose_layouts(ctx, &mut other, ends, means));
        let Some(found) = found else {
            means.budget.cut(Cut::Exchange(module.op(ctx, load).span()));
            break;
        };
        let cheaper = match (&found, &shared) {
            (Ok(found), Ok(known)) => {
                found.cycles < known.cycles && !dearer(ctx, (&other, &best), load, means)
            }
            (Ok(_), Err(_)) => true,
            (Err(_), Ok(_) | Err(_)) => false,
        };
        if cheaper {
            (best, shared, written) = (other, found, before);
            exchanged.push(load);
        }
    }
    let shared = shared?;
    *module = best;
    Ok(LayoutChoice { shared, exchanged })
}

/// The result of `work`, unless the budget ends before or meanwhile and something is known already.
fn unless_ended<T, E>(
    budget: &Budget,
    known: &Result<T, E>,
    work: impl FnOnce() -> Result<T, E>,
) -> Option<Result<T, E>> {
    let stops = || known.is_ok() && budget.ended();
    if stops() {
        return None;
    }
    let found = work();
    (!stops()).then_some(found)
}

/// Returns true if the kernel of `load` takes more cycles in the first module than in the second: the result of the
/// cheaper pair may cost more in its reader.
fn dearer(ctx: &Context, (other, known): (&Module, &Module), load: OpId, means: &Means<'_>) -> bool {
    let kernel = |module: &Module| {
        let mut module = module.clone();
        Driver { ctx, means, tell: &mut |_| () }.pipelines(&mut module).ok()?;
        search::cycles(ctx, &module, module.op(ctx, load).parent()?.id).ok()
    };
    match (kernel(other), kernel(known)) {
        (Some(other), Some(known)) => other > known,
        (found, known) => found.is_none() && known.is_some(),
    }
}

/// The module with the two tensors exchanged; `None` if something is written against it.
fn exchange(ctx: &Context, module: &Module, load: OpId) -> Option<Module> {
    let loaded = Pipeline::up_to(module.op(ctx, load)).ops;
    let [reader] = readers(ctx, module, load)[..] else { return None };
    let reader = Pipeline::up_to(module.op(ctx, reader)).ops;
    let (first, second) = (loaded[0], reader[0]);
    let align = reader.iter().position(|&id| module.op(ctx, id).operands().len() > 1)?;
    let front = loaded.iter().chain(&reader[..=align]);
    if !front.clone().all(|&id| is_open(module.op(ctx, id))) {
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

/// The readers of a register file.
fn readers(ctx: &Context, module: &Module, load: OpId) -> Vec<OpId> {
    let files = module.op(ctx, load).results();
    files.iter().flat_map(|&file| module.uses(file).to_vec()).collect()
}

/// Returns true if no clause of an operation before the product is explicit: all its configuration is open, if it has
/// any.
fn is_open(op: OpRef<'_>) -> bool {
    let open: BTreeSet<&str> = open_clauses(op).collect();
    let written = op.clauses().iter().filter(|clause| !open.contains(&*clause.name));
    let place = |name: &str| {
        op.decl().is_some_and(|decl| {
            decl.clauses.iter().any(|clause| clause.name == name && clause.opening == Opening::Address)
        })
    };
    let in_front =
        pipeline::places(op).is_some_and(|places| places.iter().any(|place| place.slot <= Slot::ALIGN));
    let opens = in_front && written.clone().all(|clause| place(&clause.name));
    opens || op.is(&begin::DECL)
}

/// Returns true if both tensors are available when the first of the two pipelines begins, and neither is overwritten
/// until the second does.
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
        !pipeline::contains(op) && !placed || !effects::may(op, EffectKind::Write, DM.def.name)
    };
    known && from < to && ops[from..to].iter().all(|&id| moves(id))
}
