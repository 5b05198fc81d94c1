//! Puts the bodies of functions in place of their calls.

use std::collections::HashMap;
use visa_ir::analysis::{AnalysisKind, Preserved};
use visa_ir::diag::{Diagnostic, counted};
use visa_ir::module::{OpId, OpRef, ValueId};
use visa_ir::span::Span;
use visa_ir::symbols;
use visa_ir::verify::has_errors;
use visa_mapping::facts::DeclaredAxes;
use visa_mapping::facts::calls::CallGraph;
use visa_mapping::ops::call;
use visa_mapping::ops::call::{BeginLaunch, LAUNCH, calling};
use visa_mapping::ops::func::{FUNC, RETURN, signature};
use visa_pass::{Configured, Level, Pass, PassCx};

visa_pass::options! {
    /// The options.
    struct Settings {
        erase: bool = ("erase", "false", "whether functions that were called, and are not any more, are erased"),
        max_operations: i64 = ("max-operations", "1048576", "most operations that are copied; a module that needs \
             more is refused"),
    }
}

/// The pass.
pub static PASS: Pass = Pass {
    name: "inline",
    summary: "replaces calls by the bodies of their functions",
    doc: "A call becomes a copy of the callee's body: its arguments are the caller's tensors, its results those of \
          the callee. Before a launch's body is `tm.begin_launch`. Functions are visited after those that they \
          call, so no call is left.\n\n\
          Addresses in a body stay unchanged, and those of the callee's arguments (`at`) do not apply here \
          (`tm.call`). So the module is verified: if tensors of callee and caller overlap that are needed at the \
          same time, the pass refuses the module and names both functions. With `at auto` in the callee, `allocate` \
          finds separate addresses for each call.\n\n\
          With `erase`, functions that were called are erased; without it they stay, as kernels by themselves.",
    preserves: Preserved::Only(&[AnalysisKind::of::<DeclaredAxes>()]),
    takes: Level::Memory,
    gives: Level::Memory,
    statistics: &[
        ("calls", "calls inlined"),
        ("operations", "operations copied"),
        ("erased", "functions erased"),
    ],
    open: true,
    ..Pass::with::<Settings>()
};

/// Most calls that an error names.
const MAX_NOTES: usize = 4;

impl Configured for Settings {
    fn run(self, cx: &mut PassCx<'_>) -> Result<(), Vec<Diagnostic>> {
        let Settings { erase, max_operations } = self;
        let most = u64::try_from(max_operations).map_err(|_| {
            let message = format!("found `max-operations={max_operations}`, expected 0 or more");
            vec![Diagnostic::error("inline", Span::default(), message)]
        })?;
        let graph = cx.analysis::<CallGraph>();
        let mut inlined = Vec::new();
        for &func in graph.callees_first() {
            for call in calls(cx, func) {
                let callee = call::callee(cx.module.op(cx.ctx, call)).map_err(|error| vec![error])?.id;
                inlined.push((callee, cx.module.op(cx.ctx, call).span()));
                inline(cx, call, callee).map_err(|error| vec![error])?;
                if cx.counted("operations") > most {
                    return Err(vec![too_many(cx.module.op(cx.ctx, func), max_operations)]);
                }
            }
        }
        let left = cx.walk().into_iter().find(|&id| calling(cx.module.op(cx.ctx, id)).is_some());
        if let Some(op) = left.map(|id| cx.module.op(cx.ctx, id)) {
            return Err(vec![
                op.error("C4", "this call leads to a function that calls itself, so it cannot be inlined"),
            ]);
        }
        if erase {
            erase_unused(cx, inlined.iter().map(|&(callee, _)| callee));
        }
        let found = cx.verify();
        if inlined.is_empty() || !has_errors(&found) {
            return Ok(());
        }
        let note = "found after calls were replaced by the bodies of their functions: addresses in them stay \
                unchanged";
        let fix = "leave addresses of the callee open (`at auto`), and let `--allocate` choose them";
        let explained = found.into_iter().map(|error| {
            let callers = inlined.iter().take(MAX_NOTES);
            let error =
                callers.fold(error.note(note, None), |error, &(_, at)| error.note("called here", Some(at)));
            if error.fix.is_some() { error } else { error.fix(fix.to_owned()) }
        });
        Err(explained.collect())
    }
}

/// The calls in a function.
fn calls(cx: &PassCx<'_>, func: OpId) -> Vec<OpId> {
    let regions = cx.module.op(cx.ctx, func).regions().iter();
    let ops = regions.flat_map(|&region| cx.module.walk(region));
    ops.filter(|&id| calling(cx.module.op(cx.ctx, id)).is_some()).collect()
}

/// Puts the body of `callee` in place of a call.
fn inline(cx: &mut PassCx<'_>, call: OpId, callee: OpId) -> Result<(), Diagnostic> {
    let (callee, caller) = (cx.module.op(cx.ctx, callee), cx.module.op(cx.ctx, call));
    let (arguments, returned) = signature(callee);
    if arguments.len() != caller.operands().len() || returned.len() != caller.results().len() {
        return Err(caller.error("C2", "the call does not fit the function"));
    }
    let mut values: HashMap<ValueId, ValueId> =
        arguments.iter().copied().zip(caller.operands().iter().copied()).collect();
    let (returned, results) = (returned.to_vec(), caller.results().to_vec());
    let body = callee.regions().iter().flat_map(|&block| cx.module.ops(block)).copied();
    let body: Vec<OpId> = body.filter(|&id| !cx.module.op(cx.ctx, id).is(&RETURN)).collect();
    cx.count("calls", 1);
    let launch = cx.module.op(cx.ctx, call);
    if launch.is(&LAUNCH) {
        let begin = BeginLaunch::build(launch).kernel(call::Calling::seen(launch).callee()?).spec();
        cx.module.insert_before(call, begin);
    }
    for op in body {
        let copy = cx.module.copy_before(op, call, &mut values);
        let inside = cx.module.op(cx.ctx, copy).regions().iter().map(|&region| cx.module.walk(region).len());
        let copied = 1 + inside.sum::<usize>();
        cx.count("operations", copied as u64);
    }
    for (result, returned) in results.into_iter().zip(returned) {
        let value = values.get(&returned).copied().unwrap_or(returned);
        cx.module.replace_uses(result, value);
        // A value that the body makes gets the caller's name for it; an argument that comes back keeps its name.
        if cx.module.def_op(returned).is_some()
            && let Some(name) = cx.module.value_name(result).cloned()
        {
            cx.module.set_value_name(value, Some(name));
        }
    }
    cx.module.erase(call);
    Ok(())
}

/// Erases the functions of `called` that nothing calls any more.
fn erase_unused(cx: &mut PassCx<'_>, called: impl Iterator<Item = OpId>) {
    let called: std::collections::BTreeSet<OpId> = called.collect();
    for func in called {
        let op = cx.module.op(cx.ctx, func);
        let used =
            symbols::declared(op).is_none_or(|name| !symbols::uses(cx.ctx, cx.module, &name).is_empty());
        if op.is(&FUNC) && !used {
            cx.module.erase(func);
            cx.count("erased", 1);
        }
    }
}

fn too_many(func: OpRef<'_>, most: i64) -> Diagnostic {
    let message = format!("inlining copies more than {} by here", counted(most, "operation"));
    let fix = format!("if it needs more, write `inline{{max-operations={}}}`", most.saturating_mul(4).max(4));
    Diagnostic::error("inline", func.span(), message).fix(fix)
}
