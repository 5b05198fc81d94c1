//! Functions on several chips. Each chip computes a part of an axis of every result, and has a copy of the arguments
//! that do not depend on it, so that no chip waits for another one. The kernel of a chip is planned as a function on
//! one chip whose axes are as long as a part.

pub mod parts;
pub mod restore;

use crate::chips::parts::{Parts, divisions};
use crate::chips::restore::restored;
use crate::effort::Meeting;
use visa_ir::diag::Diagnostic;
use visa_ir::module::{Module, OpId};
use visa_ir::verify::verify;
use visa_mapping::facts::DeclaredAxes;
use visa_mapping::ops::func::Func;
use visa_pass::{Options, Pass, PassCx};

/// The chips of functions that are planned together: all have the same. `None` without a function.
///
/// # Errors
/// Functions on different numbers of chips.
pub fn chips(cx: &PassCx<'_>, funcs: &[OpId]) -> Result<Option<u64>, Diagnostic> {
    let mut all = None;
    for &func in funcs {
        let own = visa_mapping::ops::func::chips(Func::of(cx.module.op(cx.ctx, func))?)?;
        let first = *all.get_or_insert(own);
        if own != first {
            let message = format!("the function is on {own} chips, and one before it on {first}");
            let span = cx.module.op(cx.ctx, func).clause_span("chips");
            let fix = "plan functions on different numbers of chips in files of their own".to_owned();
            return Err(Diagnostic::error("plan-kernel", span, message).fix(fix));
        }
    }
    Ok(all)
}

/// The kernels of a division.
struct Planned {
    module: Module,
    /// The remarks of the plan.
    findings: Vec<Diagnostic>,
    /// The statistics of the plan.
    counts: Vec<(&'static str, u64)>,
    cycles: u64,
}

/// The reason why a division has no kernels.
enum Refusal {
    /// The functions have no plan with axes of this size.
    Plan(Vec<Diagnostic>),
    /// The plan of one chip is none of all chips.
    Parts(Vec<Diagnostic>),
}

/// Plans the functions of a module, whose steps meet there.
type PlanAll<'p> = &'p mut dyn FnMut(&mut PassCx<'_>, Meeting) -> Result<(), Vec<Diagnostic>>;

/// Plans functions on `chips` chips. `plan` counts its cycles as the statistic of `pass`. Of several divisions the
/// fastest one is taken. Chips divide one axis of a value in data memory. Where steps with different axes would share
/// such a value, the steps meet in HBM; where padding would be positions of the next chip, without padding.
///
/// # Errors
/// No axis of a result that the chips can divide, or the errors of the first division without kernels.
pub fn plan_on(
    cx: &mut PassCx<'_>,
    (funcs, chips): (&[OpId], u64),
    pass: &Pass,
    plan: PlanAll<'_>,
) -> Result<(), Vec<Diagnostic>> {
    let (mut best, mut refused) = (None::<Planned>, None);
    for parts in divisions(cx, funcs, chips).map_err(|error| vec![error])? {
        let mut found = planned(cx, funcs, &parts, pass, (Meeting::Anywhere, plan));
        for meeting in [Meeting::Hbm, Meeting::PlainHbm] {
            if let Err(Refusal::Parts(_)) = found {
                found = planned(cx, funcs, &parts, pass, (meeting, plan));
            }
        }
        match found {
            Ok(found) if best.as_ref().is_none_or(|best| found.cycles < best.cycles) => best = Some(found),
            Ok(_) => {}
            Err(Refusal::Plan(errors) | Refusal::Parts(errors)) => refused = refused.or(Some(errors)),
        }
    }
    let Some(best) = best else { return refused.map_or(Ok(()), Err) };
    *cx.module = best.module;
    best.findings.into_iter().for_each(|finding| cx.report(finding));
    best.counts.into_iter().for_each(|(name, count)| cx.count(name, count));
    Ok(())
}

/// The kernels of a division, on all chips.
fn planned(
    cx: &PassCx<'_>,
    funcs: &[OpId],
    parts: &Parts,
    pass: &Pass,
    (meeting, plan): (Meeting, PlanAll<'_>),
) -> Result<Planned, Refusal> {
    let mut module = cx.module.clone();
    funcs.iter().for_each(|&func| module.set_clause(func, "chips", None));
    parts.sizes_of_a_part().apply(cx.ctx, &mut module).map_err(Refusal::Plan)?;
    let before: Vec<OpId> = module.ops(module.body()).to_vec();
    let options = Options::defaults(pass.options);
    let mut inner = PassCx::new(cx.ctx, &mut module, &options);
    plan(&mut inner, meeting).map_err(Refusal::Plan)?;
    let counts: Vec<_> = pass.statistics.iter().map(|&(name, _)| (name, inner.counted(name))).collect();
    let (cycles, findings) = (inner.counted("cycles"), inner.into_findings());
    let new = |id: &OpId| !before.contains(id);
    let kernels: Vec<OpId> = module.ops(module.body()).iter().copied().filter(new).collect();
    let axes = &cx.analysis::<DeclaredAxes>().0;
    let restored = restored(cx.ctx, module, &kernels, (parts, axes)).and_then(|module| {
        let errors = verify(cx.ctx, &module);
        if errors.is_empty() { Ok(module) } else { Err(errors) }
    });
    let module = restored.map_err(|errors| Refusal::Parts(parts.refused(errors)))?;
    Ok(Planned { module, findings, counts, cycles })
}
