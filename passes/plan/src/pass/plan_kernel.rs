//! Plans kernels: replaces functions of the tensor level by kernels of the memory level.

use crate::array::{Array, GROUP_BYTES};
use crate::chips::{chips, plan_on};
use crate::collapse::Collapses;
use crate::counters::Counters;
use crate::effort::{Effort, Ending, Lowered, Meeting, limit};
use crate::explain::remark;
use crate::fixes::{fix, other_tree};
use crate::flow::Ways;
use crate::joint::Joint;
use crate::joint::assemble::Assembly;
use crate::joint::straight::straight_parts;
use crate::loads::check_loaded;
use crate::memo::Memo;
use crate::memory::Transfers;
use crate::opened::{Kernels, Request, plan_open};
use crate::placement::{InPlace, pairs};
use crate::program::{Kernel, Step};
use crate::read::fallbacks::{Fallbacks, Form};
use crate::read::read;
use crate::search::{Outcome, Plan, Search};
use crate::shared::Shared;
use crate::tables::Tables;
use crate::unused::erase_unused;
use crate::vocabulary::Vocabulary;
use crate::written::Written;
use std::collections::BTreeMap;
use std::rc::Rc;
use visa_cost::MemoryModel;
use visa_ir::diag::{Diagnostic, Severity, counted};
use visa_ir::module::OpId;
use visa_ir::open::{self, Opening};
use visa_ir::span::Span;
use visa_ir::symbols::declared;
use visa_machine::Machine;
use visa_mapping::Dim;
use visa_mapping::facts::DeclaredAxes;
use visa_mapping::facts::calls::CallGraph;
use visa_mapping::ops::func::{ALIAS, AXES, FUNC};
use visa_mapping::ops::table::TABLE;
use visa_mapping::tensor::value::Value;
use visa_memory::HBM_UNIT;
use visa_pass::{Configured, Level, Options, Pass, PassCx};
use visa_select::effort::watch::Watch;

/// Most steps of a function.
const MOST_STEPS: usize = 512;

visa_pass::options! {
    /// The options.
    struct Settings {
        explain: bool = ("explain", "false", "report the decisions of each step as remarks, with the bound and the \
             next best plan"),
        replan: bool = ("replan", "false", "plan each kernel of the memory level from its function, also if nothing \
             is open: its arguments and results keep their types, and nothing else stays. A remark names the reason \
             if a kernel has no such plan"),
        free_sums: bool = ("free-sums", "false", "with `replan`: sums of `f32` may be in any order, so results \
             differ from those of the kernel by rounding"),
        rust: bool = ("rust", "false", "plan with the operations of the vendor's Rust: no dual context, and no choice \
             of the DMA engines of a transfer"),
        time_limit: String = ("time-limit", "", "most seconds for all functions, such as `2.5`; then each step has \
             the best plan so far, which depends on the machine. Empty: the number of plans is limited alone"),
        every: bool = ("every", "false", "lower every plan of each step instead of the best by their ranks, to test \
             the ranks on small functions"),
        sample: i64 = ("sample", "0", "lower this number of plans of each step, spread evenly over all ranks, and \
             report the rank and the cycles of each (`~` in front if the plan has loops); 0 for none"),
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
          A kernel of the memory level whose distributions are open is planned from its function (`raise`) if no \
          clause that is written would be lost; its arguments and results keep their types. The configurations of \
          other kernels are chosen within their operations (`select-configs`). `explain` names the clause. With \
          `replan`, every kernel of the memory level is planned from its function.\n\n\
          Addresses, passes of the vector engine and the order of commands stay open: `plan-vector`, `schedule` and \
          `allocate` choose them.",
    takes: Level::Any,
    open: true,
    gives: Level::Memory,
    statistics: &[
        ("explored", "plans ranked by counts"),
        ("pruned", "distributions without a plan of interest, by their bound"),
        ("lowered", "plans lowered and priced"),
        ("node-limit", "steps whose search ended at its limit of plans"),
        ("time-limit", "steps whose search the time limit ended"),
        ("cycles", "cycles of all steps"),
        ("from-function", "kernels of the memory level that were planned from their functions"),
    ],
    ..Pass::with::<Settings>()
};

/// The functions that are planned.
#[derive(Default)]
struct Progress {
    /// The plans of their steps.
    memo: Memo,
    /// Results that may be written where arguments are.
    in_place: InPlace,
    /// The functions some of whose axes are one axis in the plan, with the way.
    collapsed: BTreeMap<OpId, usize>,
}

impl Configured for Settings {
    fn run(self, cx: &mut PassCx<'_>) -> Result<(), Vec<Diagnostic>> {
        let limit = limit(&self.time_limit).map_err(|error| vec![error])?;
        let lowered = self.lowered()?;
        let (watch, all) = (cx.ctx.data::<Watch>(), Effort::new(limit, cx.ctx.data()).with_lowered(lowered));
        check_level(cx)?;
        let vocabulary = if self.rust { Vocabulary::Rust } else { Vocabulary::Visa };
        let planning = Planning { effort: &all, explain: self.explain, vocabulary, chips: 1 };
        let opened = self.kernels().and_then(|kernels| from_functions(cx, &planning, kernels));
        let closed = opened.and_then(|()| close(cx, limit.is_some(), self.explain));
        let planned = closed.and_then(|()| plan_on_chips(cx, &planning));
        watch.tell(None);
        planned
    }
}

impl Settings {
    /// The kernels of the memory level that are planned from their functions.
    fn kernels(&self) -> Result<Kernels, Vec<Diagnostic>> {
        match (self.replan, self.free_sums) {
            (true, free_sums) => Ok(Kernels::Every { free_sums }),
            (false, false) => Ok(Kernels::Open),
            (false, true) => {
                let message =
                    "found `free-sums` without `replan`: a function has the order of its sums itself";
                let error = Diagnostic::error("plan-kernel", Span::default(), message);
                Err(vec![error.fix("add `replan`, or write `free` at the sums of the function".to_owned())])
            }
        }
    }

    /// The plans of a step that are lowered.
    fn lowered(&self) -> Result<Lowered, Vec<Diagnostic>> {
        let count = usize::try_from(self.sample).ok();
        match count.filter(|&count| count == 0 || !self.every) {
            Some(0) if self.every => Ok(Lowered::Every),
            Some(0) => Ok(Lowered::Best),
            Some(count) => Ok(Lowered::Sample(count)),
            None => {
                let message = format!(
                    "found `sample={}` and `every={}`, expected a sample of 0 or more plans, and 0 with `every=true`",
                    self.sample, self.every
                );
                let error = Diagnostic::error("plan-kernel", Span::default(), message);
                Err(vec![error.fix("leave one of them out".to_owned())])
            }
        }
    }
}

/// Refuses a module without tensors.
fn check_level(cx: &PassCx<'_>) -> Result<(), Vec<Diagnostic>> {
    match Level::of(cx.ctx, cx.module) {
        Level::Any | Level::Tensor | Level::Memory => Ok(()),
        level @ (Level::Sequencer | Level::Hardware) => {
            let message =
                format!("found a module at the {level} level, expected the tensor or the memory level");
            let error = Diagnostic::error("plan-kernel", Span::default(), message);
            Err(vec![error.fix("run the pass before `lower-to-seq`".to_owned())])
        }
    }
}

/// Bytes that HBM moves together.
fn unit(model: MemoryModel) -> u64 {
    match model {
        MemoryModel::Flat => GROUP_BYTES,
        MemoryModel::Book | MemoryModel::Detailed => HBM_UNIT,
    }
}

/// Plans kernels of the memory level from their functions.
fn from_functions(
    cx: &mut PassCx<'_>,
    planning: &Planning<'_>,
    kernels: Kernels,
) -> Result<(), Vec<Diagnostic>> {
    let explain = planning.explain;
    let unit = unit(*cx.ctx.data::<MemoryModel>());
    let one = |cx: &mut PassCx<'_>, func: OpId, written: Written| {
        plan_all(cx, planning, &Selected { only: Some(func), written })
    };
    plan_open(cx, &Request { pass: &PASS, kernels, unit, explain }, &one).map_err(|error| vec![error])
}

/// Chooses the open configurations of the other kernels that are written at the memory level.
fn close(cx: &mut PassCx<'_>, limited: bool, explain: bool) -> Result<(), Vec<Diagnostic>> {
    let Some((op, _)) = open::first(cx.ctx, cx.module, |opening| opening == Opening::Configuration) else {
        return Ok(());
    };
    if limited {
        return Err(vec![no_time_limit(cx, op)]);
    }
    let pass = &visa_select::passes::select_configs::PASS;
    let options = Options::defaults(pass.options);
    let options = if explain { options.with_flag("explain").map_err(|error| vec![error])? } else { options };
    cx.run_with(pass, &options)
}

/// The error for a time limit of a kernel that is chosen within its operations.
fn no_time_limit(cx: &PassCx<'_>, op: OpId) -> Diagnostic {
    let op = cx.module.op(cx.ctx, op);
    let func = op.ancestors().find(|around| around.is(&FUNC)).unwrap_or(op);
    let name = declared(func).map_or_else(String::new, |name| format!("@{name}"));
    let message = format!(
        "`--time-limit` limits plans of functions of the tensor level, but `{name}` is at the memory level: the work \
         of choosing its `auto` clauses within its operations is counted, not timed"
    );
    let fix = "leave `--time-limit` out, or limit the work with `--plan=budget=40000`".to_owned();
    Diagnostic::error("time-limit", func.span(), message).fix(fix)
}

/// Returns true if a function has values: it is one of the tensor level.
fn has_values(cx: &PassCx<'_>, func: OpId) -> bool {
    let func = cx.module.op(cx.ctx, func);
    let inside = func.regions().iter().flat_map(|&block| cx.module.walk(block)).map(|id| func.other(id));
    let arguments = func.regions().iter().flat_map(|&block| cx.module.args(block));
    let results = inside.flat_map(|op| op.results());
    arguments.chain(results).any(|&value| cx.ctx.type_value::<Value>(cx.module.ty(value)).is_some())
}

/// Plans all functions of the tensor level, on as many chips as they specify.
fn plan_on_chips(cx: &mut PassCx<'_>, planning: &Planning<'_>) -> Result<(), Vec<Diagnostic>> {
    let top = cx.module.ops(cx.module.body());
    let funcs: Vec<OpId> = top.iter().copied().filter(|&func| has_values(cx, func)).collect();
    let chips = match chips(cx, &funcs).map_err(|error| vec![error])? {
        None | Some(1) => return plan_all(cx, planning, &Selected::default()),
        Some(chips) => chips,
    };
    plan_on(cx, (&funcs, chips), &PASS, &mut |cx, meeting| {
        planning.effort.set_meeting(meeting);
        plan_all(cx, &Planning { chips, ..*planning }, &Selected::default())
    })
}

/// The settings of all searches.
struct Planning<'a> {
    /// The limits.
    effort: &'a Effort,
    /// Report the decisions.
    explain: bool,
    /// The operations that plans may use.
    vocabulary: Vocabulary,
    /// The chips, each of which has a part of the functions. Products of elements join steps whose results have no
    /// axis in common that chips could divide.
    chips: u64,
}

/// The functions that are planned.
#[derive(Default)]
struct Selected {
    /// The function, if it is one alone.
    only: Option<OpId>,
    /// Its written interface.
    written: Written,
}

/// Plans the selected functions of the tensor level on one chip.
fn plan_all(
    cx: &mut PassCx<'_>,
    &Planning { effort, explain, vocabulary, chips }: &Planning<'_>,
    selected: &Selected,
) -> Result<(), Vec<Diagnostic>> {
    let chosen = |func: &OpId| selected.only.is_none_or(|only| only == *func);
    let top = cx.module.ops(cx.module.body()).iter().copied();
    let planned: Vec<OpId> = top.filter(|func| chosen(func) && has_values(cx, *func)).collect();
    planned.iter().for_each(|&func| erase_unused(cx, func));
    let mut axes = cx.analysis::<DeclaredAxes>().0.clone();
    let shared = Shared::new(cx.ctx, cx.module).map_err(|why| vec![why])?;
    let shared = shared.with_written(selected.written.clone());
    let (machine, model) = (cx.ctx.data::<Machine>(), cx.ctx.data::<MemoryModel>());
    let counters = Counters::new(cx.ctx, cx.module, &axes, &machine).map_err(|why| vec![why])?;
    counters.declare(cx.ctx, cx.module, &mut axes).map_err(|why| vec![why])?;
    // A part of a function on several chips has its own axes.
    let collapsible = if chips == 1 { &*planned } else { &[] };
    let collapses = Collapses::new(cx.ctx, cx.module, collapsible, &axes);
    let collapsed = collapses.declare(cx.ctx, cx.module, (None, &mut axes)).map_err(|why| vec![why])?;
    let tables = Tables::new(cx.ctx, cx.module, &machine).map_err(|why| vec![why])?;
    tables.declare(cx.ctx, cx.module);
    let top = cx.module.body();
    let all: Vec<OpId> = cx.module.ops(top).to_vec();
    let declares = |id: &OpId| {
        let op = cx.module.op(cx.ctx, *id);
        op.is(&AXES) || op.is(&ALIAS) || op.is(&TABLE)
    };
    let declared: Vec<OpId> = all.iter().copied().filter(declares).collect();
    let mut declarations = cx.module.clone();
    declarations.set_ops(top, declared);
    let (mut errors, mut progress) = (Vec::new(), Progress::default());
    let prices = Transfers::new(&axes, &machine, *model, vocabulary);
    let functions = cx.analysis::<CallGraph>();
    for &func in functions.callees_first() {
        if !has_values(cx, func) || !chosen(&func) {
            continue;
        }
        let search = Search {
            ctx: cx.ctx,
            declarations: &declarations,
            axes: &axes,
            machine: &machine,
            model: *model,
            effort,
            prices: &prices,
        };
        let names = Names { counters: &counters, tables: &tables, shared: &shared, collapses: &collapses };
        match plan(cx, &search, func, &names, (&mut progress, explain, chips)) {
            Ok(()) => cx.module.erase(func),
            Err(why) => errors.push(why),
        }
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    // The other ones are nowhere.
    if let Some(all) = collapsed {
        cx.module.erase(all);
        let (kept, mut axes) = (Some(&progress.collapsed), cx.analysis::<DeclaredAxes>().0.clone());
        collapses.declare(cx.ctx, cx.module, (kept, &mut axes)).map_err(|why| vec![why])?;
    }
    Ok(())
}

/// The axes and the tables that the planner declares, and the values that functions share.
struct Names<'a> {
    counters: &'a Counters,
    tables: &'a Tables,
    shared: &'a Shared,
    collapses: &'a Collapses,
}

/// A kernel with the plans of its steps.
struct Best {
    kernel: Kernel,
    outcomes: Vec<Rc<Outcome>>,
}

/// Plans a function, and appends its kernel. Axes that it always has together are one axis where that takes fewer
/// cycles.
fn plan(
    cx: &mut PassCx<'_>,
    search: &Search<'_>,
    func: OpId,
    names: &Names<'_>,
    (progress, explain, chips): (&mut Progress, bool, u64),
) -> Result<(), Diagnostic> {
    let mut best = best(cx, search, func, names, (progress, chips));
    for (way, mut module) in names.collapses.applied(cx.ctx, cx.module, func) {
        let options = Options::defaults(PASS.options);
        let inner = PassCx::new(cx.ctx, &mut module, &options);
        let other = self::best(&inner, search, func, names, (progress, chips));
        if let Ok(other) = other
            && best.as_ref().map_or(Ok(true), |own| faster(search, func, (&inner, &other), (cx, own)))?
        {
            (best, *cx.module) = (Ok(other), module);
            progress.collapsed.insert(func, way);
        }
    }
    let Best { kernel, outcomes } = best?;
    let plans = best_plans(&outcomes);
    let assembly = Assembly { search, kernel: &kernel, plans: &plans, source: cx.module };
    let written = assembly.write(cx.module.clone(), func)?;
    for (number, (step, outcome)) in kernel.steps.iter().zip(&outcomes).enumerate() {
        count(cx, outcome);
        cx.count("cycles", outcome.lowered[0].cycles);
        if explain {
            let span = cx.module.op(cx.ctx, step.op).span();
            let place = place(&kernel, number);
            remark(search, &step.work, outcome, (place, span))
                .into_iter()
                .for_each(|remark| cx.report(remark));
        }
    }
    cut(cx, func, &outcomes).into_iter().for_each(|remark| cx.report(remark));
    let stores_last = |step: usize| !plans[step].0.has_loops();
    progress.in_place.insert(kernel.name.clone(), pairs(&kernel, &stores_last, &progress.in_place));
    *cx.module = written;
    Ok(())
}

/// The best kernel of a function.
fn best(
    cx: &PassCx<'_>,
    search: &Search<'_>,
    func: OpId,
    &Names { counters, tables, shared, .. }: &Names<'_>,
    (progress, chips): (&mut Progress, u64),
) -> Result<Best, Diagnostic> {
    let unit = match search.effort.meeting() {
        Meeting::Anywhere | Meeting::Hbm => unit(search.model),
        Meeting::PlainHbm => GROUP_BYTES,
    };
    let (numbering, memory) = ((search.axes, counters, tables), (shared, &progress.in_place));
    let reads = |fallbacks: &Fallbacks| {
        let kernel = read(cx.ctx, cx.module, func, numbering, memory, (search.machine, unit), fallbacks)?;
        check_steps(cx, func, &kernel)?;
        check_size(cx, search, func, &kernel)?;
        Ok(kernel)
    };
    let divided = divide(search, &reads, &mut progress.memo)?.map_err(|refused| impossible(cx, &refused))?;
    let Divided { kernel, outcomes, fallbacks } = divided;
    check_loaded(cx.module.op(cx.ctx, func), shared, &kernel)?;
    let products = (chips == 1)
        .then(|| in_form(Form::Products, search, &reads, (&kernel, &fallbacks), &mut progress.memo))
        .flatten();
    let products = products.filter(|other| cycles(&other.outcomes) < cycles(&outcomes));
    let best = Best { outcomes: together(cx, search, func, &kernel, outcomes)?, kernel };
    let Some(Divided { kernel, outcomes, .. }) = products else { return Ok(best) };
    let other = Best { outcomes: together(cx, search, func, &kernel, outcomes)?, kernel };
    Ok(if faster(search, func, (cx, &other), (cx, &best))? { other } else { best })
}

/// A step without a plan.
struct Refused {
    /// The operation at its beginning.
    op: OpId,
    /// The number of its operations.
    operations: usize,
    /// Its inputs whose places are written, with these.
    places: Vec<String>,
    outcome: Rc<Outcome>,
}

impl Refused {
    fn new(kernel: &Kernel, step: &Step, outcome: Rc<Outcome>) -> Self {
        let inputs = step.inputs.iter().zip(&step.places);
        let places = inputs.filter_map(|(&array, place)| {
            let place = place.as_ref()?;
            Some(format!("`%{}` at `{place}`", kernel.arrays[array].name))
        });
        Self { op: step.op, operations: step.work.operations(), places: places.collect(), outcome }
    }
}

/// A kernel, and the plans of its steps.
struct Divided {
    kernel: Kernel,
    outcomes: Vec<Rc<Outcome>>,
    /// The forms of its steps.
    fallbacks: Fallbacks,
}

/// Divides a function into steps with plans: contractions without a plan have their maps and their windows in other
/// steps. The forms of [`Form::MAYBE_FASTER`] are taken where they take fewer cycles.
fn divide(
    search: &Search<'_>,
    reads: &dyn Fn(&Fallbacks) -> Result<Kernel, Diagnostic>,
    memo: &mut Memo,
) -> Result<Result<Divided, Refused>, Diagnostic> {
    let mut fallbacks = Fallbacks::default();
    let mut best = loop {
        let kernel = reads(&fallbacks)?;
        let (step, outcome) = match plan_steps(search, &kernel, memo) {
            Ok(outcomes) => break Divided { kernel, outcomes, fallbacks },
            Err(refused) => refused,
        };
        if !fallbacks.add(step) {
            return Ok(Err(Refused::new(&kernel, step, outcome)));
        }
    };
    for form in Form::MAYBE_FASTER {
        let other = in_form(form, search, reads, (&best.kernel, &best.fallbacks), memo);
        if let Some(other) = other.filter(|other| cycles(&other.outcomes) < cycles(&best.outcomes)) {
            best = other;
        }
    }
    Ok(Ok(best))
}

/// A kernel with all steps in a form for which it is another one; `None` if it is for none, or a step has no plan
/// then.
fn in_form(
    form: Form,
    search: &Search<'_>,
    reads: &dyn Fn(&Fallbacks) -> Result<Kernel, Diagnostic>,
    (kernel, fallbacks): (&Kernel, &Fallbacks),
    memo: &mut Memo,
) -> Option<Divided> {
    let fallbacks = fallbacks.with(form, &kernel.steps, search.axes)?;
    let kernel = reads(&fallbacks).ok()?;
    let outcomes = plan_steps(search, &kernel, memo).ok()?;
    Some(Divided { kernel, outcomes, fallbacks })
}

/// The best plan of each step.
fn best_plans(outcomes: &[Rc<Outcome>]) -> Vec<(&Plan, &Ways)> {
    let best = outcomes.iter().filter_map(|outcome| outcome.lowered.first());
    best.map(|best| (&best.plan, &best.ways)).collect()
}

/// The cycles of all steps.
fn cycles(outcomes: &[Rc<Outcome>]) -> u64 {
    outcomes.iter().map(|outcome| outcome.lowered[0].cycles).sum()
}

/// The plans of all steps, or the first step that has none, with its outcome.
fn plan_steps<'k>(
    search: &Search<'_>,
    kernel: &'k Kernel,
    memo: &mut Memo,
) -> Result<Vec<Rc<Outcome>>, (&'k Step, Rc<Outcome>)> {
    let mut outcomes = Vec::new();
    for (number, step) in kernel.steps.iter().enumerate() {
        search.effort.begin(number + 1, kernel.steps.len());
        let inputs: Vec<&Array> = step.inputs.iter().map(|&number| &kernel.arrays[number]).collect();
        let outcome = memo.outcome(step, &inputs, || search.run(step, &inputs));
        if outcome.lowered.is_empty() {
            return Err((step, outcome));
        }
        outcomes.push(outcome);
    }
    Ok(outcomes)
}

/// The function and the loops of a step, if there is more than the step.
fn place(kernel: &Kernel, number: usize) -> Option<String> {
    let (steps, loops) = (kernel.steps.len(), &kernel.steps[number].loops);
    let place = format!("step {} of {steps} of `@{}`", number + 1, kernel.name);
    match loops {
        Some(loops) => Some(format!("{place}, in {loops}")),
        None => (steps > 1 || kernel.body.len() > 1).then_some(place),
    }
}

/// Counts the extent of a search.
fn count(cx: &mut PassCx<'_>, outcome: &Outcome) {
    cx.count("explored", outcome.counted.explored);
    cx.count("pruned", outcome.counted.pruned);
    cx.count("lowered", outcome.lowered.len() as u64);
    match outcome.ending {
        Ending::Complete => {}
        Ending::Nodes => cx.count("node-limit", 1),
        Ending::Time => cx.count("time-limit", 1),
    }
}

/// Refuses functions with more steps than passes after this one order and allocate within seconds.
fn check_steps(cx: &PassCx<'_>, func: OpId, kernel: &Kernel) -> Result<(), Diagnostic> {
    let steps = kernel.steps.len();
    if steps <= MOST_STEPS {
        return Ok(());
    }
    let message = format!(
        "the function has {steps} steps, each a transfer, pipelines and a store; expected at most {MOST_STEPS}"
    );
    let fix = "divide it into functions, and plan them one by one".to_owned();
    Err(Diagnostic::error("plan-kernel", cx.module.op(cx.ctx, func).span(), message).fix(fix))
}

/// Refuses arrays that together are larger than HBM.
fn check_size(cx: &PassCx<'_>, search: &Search<'_>, func: OpId, kernel: &Kernel) -> Result<(), Diagnostic> {
    let bytes = |array: &Array| array.tensor(search.axes).dim_bytes(Dim::Element, search.axes);
    let stored = |number: usize| !kernel.aliases.contains_key(&number);
    let arrays = kernel.arrays.iter().enumerate();
    let sizes: Vec<u64> = arrays
        .map(|(number, array)| if stored(number) { bytes(array).unwrap_or(u64::MAX) } else { 0 })
        .collect();
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

/// The remark that the time limit ended the search of some steps.
fn cut(cx: &PassCx<'_>, func: OpId, outcomes: &[Rc<Outcome>]) -> Option<Diagnostic> {
    let ended = outcomes.iter().filter(|outcome| outcome.ending == Ending::Time).count();
    if ended == 0 {
        return None;
    }
    let steps = counted(outcomes.len() as u64, "step");
    let message = format!(
        "the time limit ended the search of {ended} of {steps}: another machine, or another run, may find another plan"
    );
    let error = Diagnostic::error("time-limit", cx.module.op(cx.ctx, func).span(), message);
    let fix = "leave the time limit out for the same plan everywhere".to_owned();
    Some(Diagnostic { severity: Severity::Remark, ..error.fix(fix) })
}

/// That no plan of a step fits the machine, or none was found within the time limit.
fn impossible(cx: &PassCx<'_>, refused: &Refused) -> Diagnostic {
    let Refused { op, operations, places, outcome } = refused;
    let (op, operations) = (cx.module.op(cx.ctx, *op), *operations);
    if outcome.ending == Ending::Time {
        let message = format!("the time limit ended the search before a plan of `{op}` was found");
        let fix = "raise the time limit, or leave it out".to_owned();
        return Diagnostic::error("plan-kernel", op.span(), message).fix(fix);
    }
    let why = &outcome.refused;
    if why.is_none() && !places.is_empty() {
        let message = format!("no plan of `{op}` loads {}", places.join(", "));
        let fix = "write `auto` for one of these clauses".to_owned();
        return Diagnostic::error("plan-kernel", op.span(), message).fix(fix);
    }
    let message = format!("no plan of `{op}` fits the machine");
    let error = Diagnostic::error("plan-kernel", op.span(), message);
    if let Some((message, fix)) = other_tree(op) {
        return error.note(message, Some(op.clause_span("tree"))).fix(fix);
    }
    let error = match why {
        Some(why) => error.note(format!("the first plan was refused: {}", why.message), None),
        None if operations > 1 => error.note(
            format!(
                "it begins a step of {}, whose values do not fit data memory and the register file in any \
                 distribution",
                counted(operations as u64, "operation")
            ),
            None,
        ),
        None => {
            error.note("its operands do not fit data memory and the register file in any distribution", None)
        }
    };
    match (fix(op), why) {
        (Some(fix), _) => error.fix(fix),
        // Fixes of other passes are about operations of the plan, which the author has not written.
        (None, Some(why)) => error.fix(why.fix.clone().filter(|_| why.code == "plan-vector")),
        (None, None) => error
            .fix("give large axes sizes with factors of two: loops and slices divide them evenly".to_owned()),
    }
}

/// The outcomes of all steps, those of neighbouring steps planned together.
fn together(
    cx: &PassCx<'_>,
    search: &Search<'_>,
    func: OpId,
    kernel: &Kernel,
    mut outcomes: Vec<Rc<Outcome>>,
) -> Result<Vec<Rc<Outcome>>, Diagnostic> {
    if search.effort.meeting() != Meeting::Anywhere {
        return Ok(outcomes);
    }
    for (steps, part) in straight_parts(kernel) {
        let own = &outcomes[steps.clone()];
        let joint = Joint { search, kernel: &part, outcomes: own, source: cx.module }.run(func)?;
        outcomes.splice(steps, joint);
    }
    Ok(outcomes)
}

/// Returns true if a kernel takes fewer cycles than another one: by the report if both are straight, whose steps run
/// in parallel, else by the cycles of their steps.
fn faster(
    search: &Search<'_>,
    func: OpId,
    one: (&PassCx<'_>, &Best),
    other: (&PassCx<'_>, &Best),
) -> Result<bool, Diagnostic> {
    let whole = |Best { kernel, .. }: &Best| {
        straight_parts(kernel).iter().any(|(steps, _)| *steps == (0..kernel.steps.len()))
    };
    if !whole(one.1) || !whole(other.1) {
        return Ok(cycles(&one.1.outcomes) < cycles(&other.1.outcomes));
    }
    let report = |(cx, Best { kernel, outcomes }): (&PassCx<'_>, &Best)| {
        let plans = best_plans(outcomes);
        let assembly = Assembly { search, kernel, plans: &plans, source: cx.module };
        let module = assembly.write(search.declarations.clone(), func)?;
        Ok(search.report_of(module, true)?.totals.cycles)
    };
    Ok(report(one)? < report(other)?)
}
