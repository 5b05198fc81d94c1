//! Kernels of the memory level, planned from their functions: those whose distributions are open, or all. The written
//! operations specify the computation; the plan chooses its own. The types of arguments and results stay, and so do
//! the addresses of the arguments.

pub mod direct;
pub mod kept;
pub mod restore;

use crate::changed::changes;
use crate::opened::direct::make_direct;
use crate::opened::kept::{Reason, kept, kept_interface};
use crate::opened::restore::{Copies, Restored, restore};
use crate::placed::{Places, loaded_argument, places};
use crate::written::{Written, written};
use std::sync::Arc;
use visa_ir::diag::{Diagnostic, Severity};
use visa_ir::module::{Module, OpId};
use visa_ir::open::{self, Opening};
use visa_ir::span::Span;
use visa_ir::symbols::declared;
use visa_ir::verify::verify;
use visa_mapping::Tensor;
use visa_mapping::facts::DeclaredAxes;
use visa_mapping::ops::func::{FUNC, signature};
use visa_pass::{Options, Pass, PassCx};
use visa_raise::free::free_sums;
use visa_raise::function::{append, folded_function, function};
use visa_raise::interface::Interface;
use visa_raise::tensor::reals::Folded;

/// Plans one function of a module with a written interface.
type PlanOne<'p> = &'p dyn Fn(&mut PassCx<'_>, OpId, Written) -> Result<(), Vec<Diagnostic>>;

/// The kernels that are planned from their functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kernels {
    /// Those with an open distribution, if no written clause would be lost.
    Open,
    /// All: nothing but the interface of a kernel stays, and its loops are folded.
    Every {
        /// Sums of `f32` may be in any order.
        free_sums: bool,
    },
}

/// A request to plan kernels of the memory level.
pub struct Request<'p> {
    /// The pass that plans.
    pub pass: &'p Pass,
    /// The kernels.
    pub kernels: Kernels,
    /// Bytes that HBM moves together.
    pub unit: u64,
    /// Report which kernels are planned from their functions, and the reason for the others.
    pub explain: bool,
}

/// A planned kernel.
struct Planned {
    module: Module,
    /// The remarks of the plan.
    findings: Vec<Diagnostic>,
    /// The statistics of the plan.
    counts: Vec<(&'static str, u64)>,
    copies: Copies,
    /// The differences of its function from the kernel, by rounding.
    differences: Vec<String>,
}

/// Plans kernels from their functions.
///
/// # Errors
/// A clause of another kind than is declared.
pub fn plan_open(cx: &mut PassCx<'_>, request: &Request<'_>, plan: PlanOne<'_>) -> Result<(), Diagnostic> {
    let is_open =
        |id: OpId| open::first_below(cx.ctx, cx.module, id, |kind| kind == Opening::Configuration).is_some();
    let wanted = |id: &OpId| match request.kernels {
        Kernels::Open => is_open(*id),
        Kernels::Every { .. } => has_memory(cx, *id),
    };
    let top = cx.module.ops(cx.module.body()).iter().copied();
    let funcs: Vec<OpId> = top.filter(|id| cx.module.op(cx.ctx, *id).is(&FUNC)).filter(wanted).collect();
    for func in funcs {
        let op = cx.module.op(cx.ctx, func);
        let name = declared(op).map_or_else(String::new, |name| name.to_string());
        let span = op.span();
        let lost = match request.kernels {
            Kernels::Open => {
                let axes = cx.analysis::<DeclaredAxes>();
                kept(cx.ctx, (cx.module, &axes.0), func)?
            }
            Kernels::Every { .. } => kept_interface(cx.ctx, cx.module, func)?,
        };
        let planned = match lost {
            Some(reason) => Err(reason),
            None => planned(cx, func, &name, request, plan),
        };
        let contradicts = planned.as_ref().is_err_and(|reason| reason.other.is_some());
        if request.explain || contradicts || (request.kernels != Kernels::Open && planned.is_err()) {
            cx.report(route(&name, span, request.kernels, planned.as_ref()));
        }
        let Ok(planned) = planned else { continue };
        *cx.module = planned.module;
        planned.findings.into_iter().for_each(|finding| cx.report(finding));
        planned.counts.into_iter().for_each(|(name, count)| cx.count(name, count));
        cx.count("from-function", 1);
    }
    Ok(())
}

/// Returns true if a function has tensors in memories.
fn has_memory(cx: &PassCx<'_>, func: OpId) -> bool {
    let (arguments, results) = signature(cx.module.op(cx.ctx, func));
    let values = arguments.iter().chain(results);
    values.copied().any(|value| cx.ctx.type_value::<Tensor>(cx.module.ty(value)).is_some())
}

/// The plan of a kernel's function, with the interface of the kernel.
fn planned(
    cx: &PassCx<'_>,
    func: OpId,
    name: &str,
    request: &Request<'_>,
    plan: PlanOne<'_>,
) -> Result<Planned, Reason> {
    let pass = request.pass;
    let interface = Interface::of(cx.ctx, cx.module, func)?;
    let span = cx.module.op(cx.ctx, func).span();
    let of = |mut errors: Vec<Diagnostic>, what: &str| {
        errors.sort_by_key(|error| error.severity != Severity::Error);
        let why = errors.first().map_or_else(String::new, |error| format!(": {}", error.message));
        let fix = errors.first().and_then(|error| error.fix.clone());
        Reason { fix, ..Reason::new(format!("{what}{why}"), errors.first().map_or(span, |error| error.span)) }
    };
    let raised = match request.kernels {
        Kernels::Open => function(cx.ctx, cx.module, func).map(Folded::unchanged),
        Kernels::Every { .. } => folded_function(cx.ctx, cx.module, func),
    };
    let Folded { function: raised, differences, .. } =
        raised.map_err(|errors| of(errors, "it has no function"))?;
    if raised.module.walk_all().iter().all(|&id| computes_nothing(cx, &raised.module, id)) {
        return Err(Reason::new("it moves tensors, and computes nothing".to_owned(), span));
    }
    let axes = cx.analysis::<DeclaredAxes>();
    let changes = changes(cx.module.op(cx.ctx, func), &axes.0)?;
    let kept = Restored::of(cx.module.op(cx.ctx, func), changes);
    let mut module = cx.module.clone();
    module.erase(func);
    let (new, _) = append(cx.ctx, &mut module, &raised);
    if request.kernels == (Kernels::Every { free_sums: true }) {
        free_sums(cx.ctx, &mut module, new)?;
    }
    let places = match request.kernels {
        Kernels::Open => places(cx.ctx, (cx.module, &axes.0), func).0,
        Kernels::Every { .. } => Places::new(),
    };
    let options = Options::defaults(pass.options);
    let plan_at = |module: &mut Module, places: &Places| {
        let interface_of = (&interface, &kept.changes[..], places);
        let written = written(cx.ctx, (module, new), interface_of, (&axes.0, request.unit));
        let mut inner = PassCx::new(cx.ctx, module, &options);
        plan(&mut inner, new, written)?;
        let counts: Vec<_> = pass.statistics.iter().map(|&(name, _)| (name, inner.counted(name))).collect();
        Ok((inner.into_findings(), counts))
    };
    let unplanned = (places.len() > 1).then(|| module.clone());
    let (findings, counts) = plan_at(&mut module, &places).map_err(|errors| {
        let has_plan = |places: &Places| {
            unplanned.as_ref().is_some_and(|module| plan_at(&mut module.clone(), places).is_ok())
        };
        contradicting(cx, func, &places, &has_plan).unwrap_or_else(|| of(errors, "its function has no plan"))
    })?;
    let kernel = module.ops(module.body()).iter().copied().find(|&id| {
        let op = module.op(cx.ctx, id);
        op.is(&FUNC) && declared(op).is_some_and(|own| *own == *name)
    });
    let kernel = kernel.ok_or_else(|| Reason::new("its function has no plan".to_owned(), span))?;
    let copies = restore(cx.ctx, (&mut module, kernel), &interface, &kept)?;
    make_direct(cx.ctx, &mut module, kernel)?;
    let errors = verify(cx.ctx, &module);
    if errors.iter().any(|error| error.severity == Severity::Error) {
        return Err(of(errors, "the plan of its function does not fit its interface"));
    }
    Ok(Planned { module, findings, counts, copies, differences })
}

/// The reason that places of arguments contradict each other: there is no plan with all of them, and one if any of
/// these two is open.
fn contradicting(
    cx: &PassCx<'_>,
    func: OpId,
    places: &Places,
    has_plan: &dyn Fn(&Places) -> bool,
) -> Option<Reason> {
    let without = |argument: &usize| {
        let others = places.iter().filter(|(other, _)| *other != argument);
        has_plan(&others.map(|(other, place)| (*other, Arc::clone(place))).collect())
    };
    let mut guilty: Vec<usize> = places.keys().copied().filter(without).collect();
    guilty.sort_unstable();
    let [first, second, ..] = guilty[..] else { return None };
    let op = cx.module.op(cx.ctx, func);
    let load = |argument: usize| {
        let inside = op.regions().iter().flat_map(|&block| cx.module.walk(block));
        inside.map(|id| op.other(id)).find(|load| loaded_argument(*load, op) == Some(argument))
    };
    let name = |argument: usize| {
        let name = signature(op).0.get(argument).and_then(|&value| cx.module.value_name(value));
        name.map_or_else(|| format!("argument {}", argument + 1), |name| format!("`%{name}`"))
    };
    let written = |argument: usize| format!("the place of {}, `{}`", name(argument), places[&argument]);
    let message = format!(
        "{} contradicts {}: there is no plan with both, and one if either of them is open",
        written(first),
        written(second)
    );
    Some(Reason {
        message,
        span: load(first)?.span(),
        other: Some(load(second)?.span()),
        fix: Some(format!("write `auto` for the place of {}, or of {}", name(first), name(second))),
    })
}

/// Returns true if an operation of a raised module computes no value.
fn computes_nothing(cx: &PassCx<'_>, module: &Module, id: OpId) -> bool {
    let op = module.op(cx.ctx, id);
    op.results().is_empty() || op.operands().is_empty()
}

/// The remark that states how a kernel is planned, and why.
fn route(name: &str, span: Span, kernels: Kernels, planned: Result<&Planned, &Reason>) -> Diagnostic {
    let remark = |message| Diagnostic {
        severity: Severity::Remark,
        ..Diagnostic::error("plan-kernel", span, message)
    };
    match planned {
        Ok(planned) => {
            let stays = match kernels {
                Kernels::Open => "no clause that is written is lost",
                Kernels::Every { .. } => "its arguments and results keep their layouts",
            };
            let copies = [
                (&planned.copies.arguments, "copied within HBM first, to rows that the plan reads"),
                (&planned.copies.results, "copied within HBM at the end, to the layout that is written"),
                (&planned.copies.changed, "copied within HBM at the end, over the argument"),
            ];
            let lines = copies.into_iter().filter(|(names, _)| !names.is_empty());
            let remark = lines.fold(
                remark(format!("`@{name}` is planned from its function: {stays}")),
                |remark, (names, text)| remark.note(format!("`%{}`: {text}", names.join("`, `%")), None),
            );
            planned.differences.iter().fold(remark, |remark, text| remark.note(text.clone(), None))
        }
        Err(Reason { message, span, other, fix }) => {
            let stays = match kernels {
                Kernels::Open => "is chosen within its operations",
                Kernels::Every { .. } => "keeps its operations",
            };
            let remark = remark(format!("`@{name}` {stays}: {message}"));
            let remark = remark.note("the reason is here", Some(*span));
            let remark = other.iter().fold(remark, |remark, &other| remark.note("and here", Some(other)));
            // The author wrote both places, and other kernels have no such choice.
            let severity = if other.is_some() { Severity::Warning } else { remark.severity };
            Diagnostic { severity, ..remark.fix(fix.clone()) }
        }
    }
}
