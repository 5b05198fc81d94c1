//! Replaces each kernel by its function of the tensor level.

use crate::direct::{direct, order_results};
use crate::free::free_sums;
use crate::function::append;
use crate::interface::Interface;
use crate::tensor::canonical::{Canonical, MAX_OPERATIONS, Statistics, canonical};
use crate::tensor::reals::notes::KeptLoop;
use crate::tensor::reals::{Folded, folded};
use crate::tensor::ruleset::RuleSet;
use std::collections::HashMap;
use visa_ir::diag::{Diagnostic, Severity, counted};
use visa_ir::effects::Effects;
use visa_ir::module::{OpId, OpRef, ValueId};
use visa_ir::span::Span;
use visa_mapping::ops::control::For;
use visa_mapping::ops::func::{ALIAS, AXES, FUNC};
use visa_mapping::raise::function::Raised;
use visa_pass::{Configured, Level, Pass, PassCx};

visa_pass::options! {
    /// The settings of the pass.
    struct Settings {
        explain: bool = ("explain", "false", "report the proof that the canonical function is equal, step by step, as \
             a remark"),
        reals: bool = ("reals", "false", "fold loops that carry sums and maxima of blocks, by rules of real \
             arithmetic; report the differences as a remark"),
        arrays: bool = ("arrays", "false", "give each result its axes in the order of the kernel's array"),
        free_sums: bool = ("free-sums", "false", "sums of `f32` may be in any order: the function is `free` to add \
             its terms otherwise than the kernel"),
    }
}

/// The pass.
pub static PASS: Pass = Pass {
    name: "raise",
    summary: "replaces each kernel by its computation, at the tensor level",
    doc: "A function of the tensor level has values with axes, and no memories, engines or layouts. Calls \
          are inlined; values that nothing uses, and those that are there already, are left out. The \
          order of sums and the rounding points are the kernel's. `visa-run` evaluates the result.\n\n\
          The function is canonical: the smallest that the rules of the tensor level find equal to it, bit \
          for bit. `--tensor-rules` adds rules. A function of more than 1,000 operations is kept.\n\n\
          With `reals`, loops that carry sums and maxima of blocks are folded into reductions of the whole axis. The \
          results differ by rounding, and a remark names the sums.\n\n\
          Clauses may be open: they decide where elements are, and the order of sums, which then is `free`. A \
          result that depends on another order, such as that of packed elements, needs its mappings \
          (`--select-configs`).",
    takes: Level::Any,
    gives: Level::Tensor,
    open: true,
    statistics: &[
        ("operations", "operations of the tensor level"),
        ("e-nodes", "terms of the e-graphs in which canonical forms were searched"),
    ],
    ..Pass::with::<Settings>()
};

impl Configured for Settings {
    fn run(self, cx: &mut PassCx<'_>) -> Result<(), Vec<Diagnostic>> {
        replace(cx, &self)
    }
}

/// Replaces each kernel.
fn replace(cx: &mut PassCx<'_>, settings: &Settings) -> Result<(), Vec<Diagnostic>> {
    let rules = RuleSet::of(cx.ctx)?;
    let top = cx.module.body();
    let all: Vec<OpId> = cx.module.ops(top).to_vec();
    let mut findings = Vec::new();
    let mut raised: Vec<(OpId, Raised)> = Vec::new();
    for &id in &all {
        if !cx.module.op(cx.ctx, id).is(&FUNC) {
            continue;
        }
        match direct(cx.ctx, cx.module, id)
            .and_then(|direct| canonical(cx.ctx, direct, &rules, settings.explain))
        {
            Ok(canonical) => {
                cx.count("e-nodes", canonical.statistics.map_or(0, |statistics| statistics.e_nodes as u64));
                if settings.explain {
                    cx.report(explained(cx.module.op(cx.ctx, id), &canonical));
                }
                let folded = folded_if(cx, id, canonical, &rules, settings.reals);
                match folded.and_then(|function| ordered_if(cx, id, function, settings.arrays)) {
                    Ok(function) => raised.push((id, function)),
                    Err(finding) => findings.push(finding),
                }
            }
            Err(finding) => findings.push(finding),
        }
    }
    if !findings.is_empty() {
        return Err(findings);
    }
    for (old, raised) in raised {
        let (new, copied) = append(cx.ctx, cx.module, &raised);
        cx.count("operations", copied);
        if settings.free_sums {
            free_sums(cx.ctx, cx.module, new).map_err(|error| vec![error])?;
        }
        cx.module.erase(old);
    }
    // What only the memory level needs, such as tables, is left out.
    let others = all.iter().filter(|&&id| !cx.module.is_erased(id));
    let others: Vec<OpId> = others
        .copied()
        .filter(|&id| {
            let op = cx.module.op(cx.ctx, id);
            !op.is(&AXES) && !op.is(&ALIAS) && !op.is(&FUNC)
        })
        .collect();
    others.into_iter().for_each(|id| cx.module.erase(id));
    leave_out_copies(cx);
    leave_out_unused(cx);
    Ok(())
}

/// A remark about a function.
fn remark(func: OpRef<'_>, message: String) -> Diagnostic {
    Diagnostic { severity: Severity::Remark, ..Diagnostic::error("raise", func.span(), message) }
}

/// The steps from a kernel's function to its canonical form, as a remark.
fn explained(func: OpRef<'_>, canonical: &Canonical) -> Diagnostic {
    let count = counted(canonical.steps.len(), "step");
    let message = match (canonical.statistics, canonical.steps.is_empty()) {
        (None, _) => format!("the function has more than {MAX_OPERATIONS} operations, and is kept"),
        (Some(_), true) => "the function is canonical as it was raised".to_owned(),
        (Some(Statistics { saturated: true, .. }), false) => format!("the canonical form takes {count}"),
        (Some(_), false) => {
            format!("the form takes {count}; the search for a smaller one stopped at its bound")
        }
    };
    let remark = remark(func, message);
    canonical.steps.iter().fold(remark, |remark, step| remark.note(step.to_string(), None))
}

/// The function, with folded loops and a remark about the differences if `reals` is true.
fn folded_if(
    cx: &mut PassCx<'_>,
    id: OpId,
    canonical: Canonical,
    rules: &RuleSet,
    reals: bool,
) -> Result<Raised, Diagnostic> {
    if !reals {
        return Ok(canonical.function);
    }
    if canonical.statistics.is_none() {
        let func = cx.module.op(cx.ctx, id);
        let message = format!("the function has more than {MAX_OPERATIONS} operations: no loop is folded");
        cx.report(remark(func, message));
        return Ok(canonical.function);
    }
    let folded = folded(cx.ctx, &canonical.function, rules)?;
    if let Some(remark) = remark_of(cx.module.op(cx.ctx, id), &folded) {
        cx.report(remark);
    }
    Ok(folded.function)
}

/// The function, whose results have their axes in the order of the kernel's arrays if `arrays` is true.
fn ordered_if(cx: &PassCx<'_>, id: OpId, mut function: Raised, arrays: bool) -> Result<Raised, Diagnostic> {
    if arrays {
        let interface = Interface::of(cx.ctx, cx.module, id)?;
        order_results(cx.ctx, &mut function, &interface.result_axes)?;
    }
    Ok(function)
}

/// The differences of a folded function from the kernel, as a remark; `None` if no loop was looked at.
fn remark_of(func: OpRef<'_>, folded: &Folded) -> Option<Diagnostic> {
    let loops = folded.loops.join(", ");
    let message = match (folded.loops.is_empty(), folded.differences.is_empty(), folded.kept.is_empty()) {
        (true, _, true) => return None,
        (true, _, false) => "no loop is folded".to_owned(),
        (false, true, _) => format!("the loops over {loops} are folded, bit for bit"),
        (false, false, _) => {
            format!("the loops over {loops} are folded: equal in real arithmetic, and different by rounding")
        }
    };
    let remark = remark(func, message);
    let remark = folded.differences.iter().fold(remark, |remark, text| remark.note(text.clone(), None));
    let remark = match folded.rules.is_empty() {
        true => remark,
        false => remark.note(format!("rules of real arithmetic: {}", folded.rules.join(", ")), None),
    };
    let kept = |remark: Diagnostic, kept: &KeptLoop| {
        let span = kept.over.as_ref().and_then(|over| loop_span(func, over));
        remark.note(format!("kept: {}", kept.reason), span)
    };
    Some(folded.kept.iter().fold(remark, kept))
}

/// The position of the first loop of a kernel over a dimension.
fn loop_span(func: OpRef<'_>, over: &str) -> Option<Span> {
    let inside = func.regions().iter().flat_map(|&block| func.module.walk(block));
    let mut loops = inside.filter_map(|id| For::cast(func.other(id)));
    loops.find(|own| own.over().is_ok_and(|own| own.to_string() == over)).map(|own| own.span())
}

/// Uses the first of several equal values of a block in place of the others.
fn leave_out_copies(cx: &mut PassCx<'_>) {
    let mut blocks = vec![cx.module.body()];
    while let Some(block) = blocks.pop() {
        let mut known: HashMap<String, ValueId> = HashMap::new();
        for id in cx.module.ops(block).to_vec() {
            let op = cx.module.op(cx.ctx, id);
            blocks.extend(op.regions());
            let pure = op.decl().is_some_and(|decl| matches!(decl.effects, Effects::Are(&[])));
            let (true, [], &[result]) = (pure, op.regions(), op.results()) else { continue };
            let clauses: Vec<String> = op
                .clauses()
                .iter()
                .filter_map(|clause| Some(format!("{} {}", clause.name, op.attr(&clause.name)?.generic())))
                .collect();
            let text = format!("{op} {:?} {}", op.operands(), clauses.join(", "));
            match known.get(&text) {
                Some(&first) => cx.module.replace_uses(result, first),
                None => drop(known.insert(text, result)),
            }
        }
    }
}

/// Erases values that nothing uses.
fn leave_out_unused(cx: &mut PassCx<'_>) {
    for id in cx.module.walk_all().into_iter().rev() {
        let op = cx.module.op(cx.ctx, id);
        let pure = op.decl().is_some_and(|decl| matches!(decl.effects, Effects::Are(&[])));
        let unused = op.results().iter().all(|&result| op.module.uses(result).is_empty());
        if pure && unused && !op.results().is_empty() {
            cx.module.erase(id);
        }
    }
}
