//! Evaluate: the results of a kernel of the tensor level. Its values are in no memory yet, so no command runs, and
//! there is no cost.

use crate::console::{Console, Outcome, Stopped};
use crate::flags::Flags;
use crate::ports::Ports;
use crate::ran::{Masks, Ran, Tensors};
use crate::stages::expect::expectations;
use crate::stages::load::Loaded;
use crate::stages::{arguments, choose, report};
use visa_cost::{AssumedRows, MemoryModel};
use visa_ir::context::Context;
use visa_ir::diag::Diagnostic;
use visa_ir::module::Module;
use visa_ir::span::Span;
use visa_machine::Machine;
use visa_opt::Registry;
use visa_reference::{KernelArguments, LogicalResult, Options};

/// Evaluates a kernel and reports its results. Returns true if every `--expect` held.
pub(crate) fn evaluate(
    loaded: Loaded,
    registry: &Registry,
    flags: &Flags,
    console: &mut Console<'_>,
) -> Outcome<bool> {
    refuse_flags(flags, console)?;
    let Loaded { ctx, mut module } = loaded;
    choose::pass_pipeline(&ctx, &mut module, registry, flags, console)?;
    let signature = visa_reference::interface(&ctx, &module, flags.entry.as_deref());
    let ports = Ports::from(signature.map_err(|finding| console.refuse(vec![finding]))?);
    let given = arguments::by_name("arg", &flags.args, &ports, true, console)?;
    let scalars = arguments::scalars(&ports, &given, console)?;
    let outputs = arguments::by_name("out", &flags.outs, &ports, false, console)?;
    let arrays: Vec<_> = ports.arguments.iter().chain(&ports.results).collect();
    arguments::check_bytes("arguments and results", &arrays, flags, console)?;
    let tensors = arguments::load(&ports.arguments, &given, flags, console)?;
    let arguments = KernelArguments { tensors, scalars };
    let (results, masks) = results(&ctx, &module, &arguments, flags, console)?;
    let expected = expectations(&ports, &results, &masks, flags, console)?;
    let tensors = arguments.tensors;
    let ran = Ran { tensors, results, masks, outputs, check: None, plan: None, defined: None, expected };
    report::evaluated(&ports, &ran, flags, console)?;
    Ok(ran.held())
}

/// The bytes of each result, and the masks of results with undefined elements.
fn results(
    ctx: &Context,
    module: &Module,
    arguments: &KernelArguments,
    flags: &Flags,
    console: &mut Console<'_>,
) -> Outcome<(Tensors, Masks)> {
    let options = Options { sum_order: ctx.data::<Machine>().sum_order, any_order: false };
    let evaluated = visa_reference::evaluate(ctx, module, flags.entry.as_deref(), arguments, options);
    let (mut results, mut masks) = (Tensors::new(), Masks::new());
    for result in evaluated.map_err(|finding| console.refuse(vec![finding]))? {
        let LogicalResult { name, bytes, defined, .. } = result;
        masks.extend(defined.map(|defined| (name.clone(), defined)));
        results.insert(name, bytes);
    }
    Ok((results, masks))
}

/// A flag that needs a kernel in memories.
struct MachineFlag {
    name: String,
    /// The action of the flag: a verb phrase.
    action: &'static str,
    fix: &'static str,
}

/// Refuses each flag that needs a kernel in memories.
fn refuse_flags(flags: &Flags, console: &mut Console<'_>) -> Outcome<()> {
    let refused = machine_flags(flags);
    for MachineFlag { name, action, fix } in &refused {
        let message = format!(
            "`{name}` {action}, but the kernel is at the tensor level: its values are in no memory yet, so no \
             command runs on the machine"
        );
        let finding = Diagnostic::error("flags", Span::default(), message);
        console.emit_about(None, &[finding.fix((*fix).to_owned())]);
    }
    if refused.is_empty() { Ok(()) } else { Err(Stopped) }
}

/// The flags of a run that need a kernel in memories.
fn machine_flags(flags: &Flags) -> Vec<MachineFlag> {
    const COST: &str =
        "add `--plan`, which chooses a kernel, or leave it out: the results are printed without a cost";
    const THREADS: &str = "leave it out: the evaluator has one thread";
    const CHOICE: &str = "use `--plan` instead, which makes all choices";
    let picture = flags.report.filter(|format| format.is_picture());
    let picture = picture.map(|format| format!("--report {}", format.name()));
    let is_given = |name: &str, given: bool| given.then(|| name.to_owned());
    let all = [
        (is_given("--cost", flags.cost), "estimates the cost of commands", COST),
        (is_given("--compare", flags.compare.is_some()), "compares the cost of commands", COST),
        (is_given("--timeline", flags.timeline.is_some()), "writes the commands over time", COST),
        (is_given("--trace", flags.trace.is_some()), "writes the commands over time", COST),
        (is_given("--viewer", flags.viewer.is_some()), "writes the commands over time", COST),
        (picture, "draws the commands over time", "use `--report text` or `--report json`"),
        (
            is_given("--check", flags.check),
            "compares the commands with the logical evaluator",
            "add `--plan`, which chooses a kernel, or leave it out: the results are the evaluator's; `--expect \
             NAME=FILE.npy` compares them with a file",
        ),
        (
            is_given("--shadow", flags.shadow),
            "follows undefined bytes through commands",
            "add `--plan`, which chooses a kernel, or leave it out: the undefined elements of each result are counted",
        ),
        (
            is_given("--emit", flags.emit.is_some()),
            "writes the kernel that runs",
            "add `--plan`, which chooses one",
        ),
        (is_given("--threads", flags.threads.is_some()), "divides commands among threads", THREADS),
        (is_given("--width", flags.width.is_some()), "is for the chart of commands over time", COST),
        (
            is_given("--memory-model", flags.shared.memory_model != MemoryModel::default()),
            "estimates the cost of transfers",
            COST,
        ),
        (
            is_given("--assume-indices", flags.assume_indices != AssumedRows::default()),
            "estimates the cost of gathers and scatters",
            COST,
        ),
        (is_given("--select-configs", flags.select_configs.is_some()), "chooses pipelines", CHOICE),
        (is_given("--schedule", flags.schedule.is_some()), "chooses the order of commands", CHOICE),
        (is_given("--allocate", flags.allocate), "chooses addresses in memories", CHOICE),
        (is_given("--select-transfers", flags.select_transfers), "chooses streams of transfers", CHOICE),
    ];
    all.into_iter().filter_map(|(name, action, fix)| Some(MachineFlag { name: name?, action, fix })).collect()
}
