//! Plans kernels: replaces functions of the tensor level by kernels of the memory level.

use crate::array::{Array, GROUP_BYTES};
use crate::counters::Counters;
use crate::explain::remark;
use crate::read::{Kernel, Step, Work, read};
use crate::search::{Outcome, Search};
use crate::writer::{Writer, new};
use std::collections::{HashMap, HashSet};
use visa_cost::MemoryModel;
use visa_ir::diag::{Diagnostic, counted};
use visa_ir::module::{Module, OpId, ValueId};
use visa_machine::Machine;
use visa_mapping::Dim;
use visa_mapping::facts::DeclaredAxes;
use visa_mapping::ops::func::{ALIAS, AXES, FUNC, Return};
use visa_memory::HBM_UNIT;
use visa_pass::{Configured, Level, Pass, PassCx};

visa_pass::options! {
    /// The options.
    struct Settings {
        explain: bool = ("explain", "false", "report the decisions of each step as remarks, with the bound and the \
             next best plan"),
    }
}

/// The pass.
pub static PASS: Pass = Pass {
    name: "plan-kernel",
    summary: "plans kernels: distribution, tiles, transfers and pipelines",
    doc: "Replaces each function of the tensor level by a kernel of the memory level with the fewest cycles in the \
          report, for the machine and the memory model in force. It chooses the distribution of axes over clusters, \
          slices and rows, tiles, the operand in the register file, the copies of the other one through the switch, \
          and the sums between slices. Sums keep their order unless they are `free`.\n\n\
          Addresses, passes of the vector engine and the order of commands stay open: `plan-vector`, `schedule` and \
          `allocate` choose them.",
    takes: Level::Tensor,
    gives: Level::Memory,
    statistics: &[
        ("explored", "plans ranked by counts"),
        ("pruned", "distributions without a plan of interest, by their bound"),
        ("lowered", "plans lowered and priced"),
        ("cycles", "cycles of all steps"),
    ],
    ..Pass::with::<Settings>()
};

impl Configured for Settings {
    fn run(self, cx: &mut PassCx<'_>) -> Result<(), Vec<Diagnostic>> {
        plan_all(cx, self.explain)
    }
}

/// Plans all functions of the tensor level.
fn plan_all(cx: &mut PassCx<'_>, explain: bool) -> Result<(), Vec<Diagnostic>> {
    let mut axes = cx.analysis::<DeclaredAxes>().0.clone();
    let counters = Counters::new(cx.ctx, cx.module, &axes).map_err(|why| vec![why])?;
    counters.declare(cx.ctx, cx.module, &mut axes).map_err(|why| vec![why])?;
    let (machine, model) = (cx.ctx.data::<Machine>(), cx.ctx.data::<MemoryModel>());
    let top = cx.module.body();
    let all: Vec<OpId> = cx.module.ops(top).to_vec();
    let declares = |id: &OpId| {
        let op = cx.module.op(cx.ctx, *id);
        op.is(&AXES) || op.is(&ALIAS)
    };
    let declared: Vec<OpId> = all.iter().copied().filter(declares).collect();
    let mut declarations = cx.module.clone();
    declarations.set_ops(top, declared);
    let mut errors = Vec::new();
    for &func in &all {
        if !cx.module.op(cx.ctx, func).is(&FUNC) {
            continue;
        }
        let search = Search {
            ctx: cx.ctx,
            declarations: &declarations,
            axes: &axes,
            machine: &machine,
            model: *model,
        };
        match plan(cx, &search, func, (&counters, explain)) {
            Ok(()) => cx.module.erase(func),
            Err(why) => errors.push(why),
        }
    }
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

/// Plans a function, and appends its kernel.
fn plan(
    cx: &mut PassCx<'_>,
    search: &Search<'_>,
    func: OpId,
    (counters, explain): (&Counters, bool),
) -> Result<(), Diagnostic> {
    let unit = match search.model {
        MemoryModel::Flat => GROUP_BYTES,
        MemoryModel::Book | MemoryModel::Detailed => HBM_UNIT,
    };
    let mut separate = HashSet::new();
    let (kernel, outcomes) = loop {
        let kernel =
            read(cx.ctx, cx.module, func, (search.axes, counters), (search.machine, unit), &separate)?;
        check_size(cx, search, func, &kernel)?;
        match plan_steps(search, &kernel) {
            Ok(outcomes) => break (kernel, outcomes),
            // Perhaps no slice holds the other operands of its maps: another step reads them then.
            Err((step, _)) if has_operands(&step.work) && separate.insert(step.op) => {}
            Err((step, refused)) => return Err(impossible(cx.module, cx, step.op, refused)),
        }
    };
    for (step, outcome) in kernel.steps.iter().zip(&outcomes) {
        cx.count("explored", outcome.counted.explored);
        cx.count("pruned", outcome.counted.pruned);
        cx.count("lowered", outcome.lowered.len() as u64);
        cx.count("cycles", outcome.lowered[0].cycles);
        if explain {
            let span = cx.module.op(cx.ctx, step.op).span();
            remark(&step.work, outcome, span).into_iter().for_each(|remark| cx.report(remark));
        }
    }
    let written = write(cx, search, func, &kernel, &outcomes)?;
    *cx.module = written;
    Ok(())
}

/// The plans of all steps, or the first step that has none, with the error of its first plan.
fn plan_steps<'k>(
    search: &Search<'_>,
    kernel: &'k Kernel,
) -> Result<Vec<Outcome>, (&'k Step, Option<Diagnostic>)> {
    let mut outcomes = Vec::new();
    for step in &kernel.steps {
        let inputs: Vec<&Array> = step.inputs.iter().map(|&number| &kernel.arrays[number]).collect();
        let outcome = search.run(&step.work, &inputs);
        if outcome.lowered.is_empty() {
            return Err((step, outcome.refused));
        }
        outcomes.push(outcome);
    }
    Ok(outcomes)
}

/// Returns true if maps after a contraction have other operands.
fn has_operands(work: &Work) -> bool {
    match work {
        Work::Contraction(problem) => !problem.epilogue.operands.is_empty(),
        Work::Region(_) | Work::Single(_) => false,
    }
}

/// Refuses arrays that together are larger than HBM.
fn check_size(cx: &PassCx<'_>, search: &Search<'_>, func: OpId, kernel: &Kernel) -> Result<(), Diagnostic> {
    let bytes = |array: &Array| array.tensor(search.axes).dim_bytes(Dim::Element, search.axes);
    let sizes: Vec<u64> = kernel.arrays.iter().map(|array| bytes(array).unwrap_or(u64::MAX)).collect();
    let (all, most) =
        (sizes.iter().fold(0, |sum: u64, size| sum.saturating_add(*size)), search.machine.memory.hbm_bytes);
    if all <= most {
        return Ok(());
    }
    let largest = kernel.arrays.iter().zip(&sizes).max_by_key(|(_, size)| **size);
    let (name, size) = largest.map_or(("", 0), |(array, size)| (array.name.as_str(), *size));
    let message = format!(
        "arguments, results and the values between steps take {}, HBM has {most}: `%{name}` alone takes {size}",
        counted(all, "byte")
    );
    let span = cx.module.op(cx.ctx, func).span();
    Err(Diagnostic::error("plan-kernel", span, message)
        .fix("divide an axis of it among several functions".to_owned()))
}

/// That no plan of a step fits the machine.
fn impossible(module: &Module, cx: &PassCx<'_>, step: OpId, why: Option<Diagnostic>) -> Diagnostic {
    let op = module.op(cx.ctx, step);
    let message = format!("no plan of `{op}` fits the machine");
    let error = Diagnostic::error("plan-kernel", op.span(), message);
    match why {
        Some(why) => error.note(format!("the first plan was refused: {}", why.message), None),
        None => error
            .note("its operands do not fit data memory and the register file in any distribution", None)
            .fix("give large axes sizes with factors of two: loops and slices divide them evenly".to_owned()),
    }
}

/// The module with the kernel at its end.
fn write(
    cx: &PassCx<'_>,
    search: &Search<'_>,
    func: OpId,
    kernel: &Kernel,
    outcomes: &[Outcome],
) -> Result<Module, Diagnostic> {
    let mut writer = Writer::new(cx.ctx, cx.module.clone());
    writer.write_for(cx.module.op(cx.ctx, func).span());
    let body = writer.function(&kernel.name);
    let mut values: HashMap<usize, ValueId> = HashMap::new();
    for (number, array) in kernel.arrays[..kernel.arguments].iter().enumerate() {
        values.insert(number, writer.argument(body, array.ty(cx.ctx, search.axes), &array.name));
    }
    for (step, outcome) in kernel.steps.iter().zip(outcomes) {
        let best = &outcome.lowered[0];
        writer.write_for(cx.module.op(cx.ctx, step.op).span());
        let inputs: Vec<ValueId> = step.inputs.iter().map(|number| values[number]).collect();
        let results = search.write(&mut writer, &step.work, &best.plan, &inputs)?;
        values.extend(step.outputs.iter().copied().zip(results));
    }
    let results: Vec<ValueId> = kernel.results.iter().map(|number| values[number]).collect();
    writer.end(new!(writer, Return, results));
    Ok(writer.module)
}
