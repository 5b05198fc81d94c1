//! Kernels of the memory level whose distributions are open, planned from their functions. The written operations
//! specify the computation; the plan chooses its own. The types of arguments and results stay, and so do the
//! addresses of the arguments.

pub mod kept;
pub mod restore;

use crate::opened::kept::{Reason, kept};
use crate::opened::restore::{Addresses, Copies, restore};
use crate::written::{Layouts, layouts};
use visa_ir::diag::{Diagnostic, Severity};
use visa_ir::module::{Module, OpId};
use visa_ir::open::{self, Opening};
use visa_ir::span::Span;
use visa_ir::symbols::declared;
use visa_ir::verify::verify;
use visa_mapping::facts::DeclaredAxes;
use visa_mapping::ops::func::FUNC;
use visa_pass::{Options, Pass, PassCx};
use visa_raise::function::{append, function};
use visa_raise::interface::Interface;

/// Plans one function of a module, whose arguments and results have these layouts.
type PlanOne<'p> = &'p dyn Fn(&mut PassCx<'_>, OpId, Layouts) -> Result<(), Vec<Diagnostic>>;

/// A planned kernel.
struct Planned {
    module: Module,
    /// The remarks of the plan.
    findings: Vec<Diagnostic>,
    /// The statistics of the plan.
    counts: Vec<(&'static str, u64)>,
    copies: Copies,
}

/// Plans each kernel with an open configuration from its function, if nothing that is written would be lost. HBM moves
/// `unit` bytes together. With `explain`, remarks state which kernels are planned so, and the reason for the others.
///
/// # Errors
/// A clause of another kind than is declared.
pub fn plan_open(
    cx: &mut PassCx<'_>,
    (pass, unit, explain): (&Pass, u64, bool),
    plan: PlanOne<'_>,
) -> Result<(), Diagnostic> {
    let is_open = |id: &OpId| {
        let wanted = |kind| kind == Opening::Configuration;
        cx.module.op(cx.ctx, *id).is(&FUNC) && open::first_below(cx.ctx, cx.module, *id, wanted).is_some()
    };
    let funcs: Vec<OpId> = cx.module.ops(cx.module.body()).iter().copied().filter(is_open).collect();
    for func in funcs {
        let op = cx.module.op(cx.ctx, func);
        let name = declared(op).map_or_else(String::new, |name| name.to_string());
        let span = op.span();
        let planned = match kept(cx.ctx, cx.module, func)? {
            Some(reason) => Err(reason),
            None => planned(cx, func, &name, (pass, unit, plan)),
        };
        if explain {
            cx.report(route(&name, span, planned.as_ref()));
        }
        let Ok(planned) = planned else { continue };
        *cx.module = planned.module;
        planned.findings.into_iter().for_each(|finding| cx.report(finding));
        planned.counts.into_iter().for_each(|(name, count)| cx.count(name, count));
        cx.count("from-function", 1);
    }
    Ok(())
}

/// The plan of a kernel's function, with the interface of the kernel.
fn planned(
    cx: &PassCx<'_>,
    func: OpId,
    name: &str,
    (pass, unit, plan): (&Pass, u64, PlanOne<'_>),
) -> Result<Planned, Reason> {
    let interface = Interface::of(cx.ctx, cx.module, func)?;
    let span = cx.module.op(cx.ctx, func).span();
    let of = |mut errors: Vec<Diagnostic>, what: &str| {
        errors.sort_by_key(|error| error.severity != Severity::Error);
        let why = errors.first().map_or_else(String::new, |error| format!(": {}", error.message));
        Reason::new(format!("{what}{why}"), errors.first().map_or(span, |error| error.span))
    };
    let raised = function(cx.ctx, cx.module, func).map_err(|errors| of(errors, "it has no function"))?;
    if raised.module.walk_all().iter().all(|&id| computes_nothing(cx, &raised.module, id)) {
        return Err(Reason::new("it moves tensors, and computes nothing".to_owned(), span));
    }
    let addresses = Addresses::of(cx.module.op(cx.ctx, func));
    let mut module = cx.module.clone();
    module.erase(func);
    let (new, _) = append(cx.ctx, &mut module, &raised);
    let axes = cx.analysis::<DeclaredAxes>();
    let layouts = layouts(cx.ctx, (&module, new), &interface, (&axes.0, unit));
    let options = Options::defaults(pass.options);
    let mut inner = PassCx::new(cx.ctx, &mut module, &options);
    plan(&mut inner, new, layouts).map_err(|errors| of(errors, "its function has no plan"))?;
    let counts = pass.statistics.iter().map(|&(name, _)| (name, inner.counted(name))).collect();
    let findings = inner.into_findings();
    let kernel = module.ops(module.body()).iter().copied().find(|&id| {
        let op = module.op(cx.ctx, id);
        op.is(&FUNC) && declared(op).is_some_and(|own| *own == *name)
    });
    let kernel = kernel.ok_or_else(|| Reason::new("its function has no plan".to_owned(), span))?;
    let copies = restore(cx.ctx, (&mut module, kernel), &interface, &addresses)?;
    let errors = verify(cx.ctx, &module);
    if errors.iter().any(|error| error.severity == Severity::Error) {
        return Err(of(errors, "the plan of its function does not fit its interface"));
    }
    Ok(Planned { module, findings, counts, copies })
}

/// Returns true if an operation of a raised module computes no value.
fn computes_nothing(cx: &PassCx<'_>, module: &Module, id: OpId) -> bool {
    let op = module.op(cx.ctx, id);
    op.results().is_empty() || op.operands().is_empty()
}

/// The remark that states how a kernel is planned, and why.
fn route(name: &str, span: Span, planned: Result<&Planned, &Reason>) -> Diagnostic {
    let remark = |message| Diagnostic {
        severity: Severity::Remark,
        ..Diagnostic::error("plan-kernel", span, message)
    };
    match planned {
        Ok(planned) => {
            let message =
                format!("`@{name}` is planned from its function: no clause that is written is lost");
            let copies = [
                (&planned.copies.arguments, "copied within HBM first, to rows that the plan reads"),
                (&planned.copies.results, "copied within HBM at the end, to the layout that is written"),
            ];
            let lines = copies.into_iter().filter(|(names, _)| !names.is_empty());
            lines.fold(remark(message), |remark, (names, text)| {
                remark.note(format!("`%{}`: {text}", names.join("`, `%")), None)
            })
        }
        Err(Reason { message, span, fix }) => {
            let remark = remark(format!("`@{name}` is chosen within its operations: {message}"));
            remark.note("the reason is here", Some(*span)).fix(fix.clone())
        }
    }
}
